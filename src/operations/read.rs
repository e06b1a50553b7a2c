//! Reading: values, raw pairs, collections, whole collections.

use crate::budget::Budget;
use crate::database;
use crate::database::{Answer, Collection, Database, DocumentKey, Extent, Part, Scan, Want, load};
use crate::document::path::Path;
use crate::error::Result;
use std::sync::Arc;

/// The JSON at a place of a document; none if nothing is stored there.
///
/// # Errors
/// As [`part`], and as [`Part::json`].
pub async fn get(
    database: &Database,
    document: DocumentKey,
    path: Path,
) -> Result<Option<Vec<u8>>> {
    let part = part(database, document, path).await?;
    part.map(|part| part.json()).transpose()
}

/// What is stored at a place of a document.
///
/// # Errors
/// As [`load`].
pub async fn part(database: &Database, document: DocumentKey, path: Path) -> Result<Option<Part>> {
    let snapshot = database.snapshot().await?;
    let want = Want::Part(Arc::new(document), path, Extent::Whole);
    let answers = load(&*snapshot, &[&want], &Budget::of_background().reserve()).await;
    Ok(match answers.into_iter().next().transpose()? {
        Some(Answer::Part(part)) => part,
        _ => None,
    })
}

/// All documents of a collection, from a snapshot taken now, and from later ones if the engine does
/// not keep it for so long.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. What the store fails with.
pub async fn scan(database: &Database, collection: &str) -> Result<Scan> {
    database::check_collection(collection)?;
    Scan::over(database, collection).await
}

/// The collections that hold a document.
///
/// # Errors
/// What the store fails with.
pub async fn collections(database: &Database) -> Result<Vec<Collection>> {
    database::collections(&*database.snapshot().await?).await
}

/// The names of the collections that are there, if `collection` is not.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. What the store fails with.
pub async fn other_names(database: &Database, collection: &str) -> Result<Option<Vec<String>>> {
    database::check_collection(collection)?;
    let snapshot = database.snapshot().await?;
    if database::is_there(&*snapshot, collection).await? {
        return Ok(None);
    }
    database::names(&*snapshot).await.map(Some)
}
