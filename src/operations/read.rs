//! Reading: values, raw pairs, collections, whole collections.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database;
use crate::database::{
    Answer, Collection, Database, DocumentKey, Extent, ReadRequest, Scan, Value, load,
};
use crate::document::path::Path;
use crate::error::Result;

/// The JSON at a path of a document, or `None` if nothing is stored there.
///
/// # Errors
/// Errors of [`part`] and [`Value::json`].
pub async fn get(
    database: &Database,
    document: DocumentKey,
    path: Path,
) -> Result<Option<Vec<u8>>> {
    let part = part(database, document, path).await?;
    part.map(|part| part.json()).transpose()
}

/// What is stored at a path of a document.
///
/// # Errors
/// Errors of [`load`].
pub async fn part(database: &Database, document: DocumentKey, path: Path) -> Result<Option<Value>> {
    let snapshot = database.snapshot().await?;
    let request = ReadRequest::Value(Arc::new(document), path, Extent::Whole);
    let answers = load(&*snapshot, &[&request], &Budget::of_background().reserve()).await;
    Ok(match answers.into_iter().next().transpose()? {
        Some(Answer::Value(part)) => part,
        _ => None,
    })
}

/// Scans all documents of a collection at the current snapshot. If the engine does not keep that
/// snapshot long enough, the scan continues at later ones.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. Errors of the store.
pub async fn scan(database: &Database, collection: &str) -> Result<Scan> {
    database::check_collection(collection)?;
    Scan::over(database, collection).await
}

/// Lists the collections that hold a document.
///
/// # Errors
/// Errors of the store.
pub async fn collections(database: &Database) -> Result<Vec<Collection>> {
    database::collections(&*database.snapshot().await?).await
}

/// The first collections that hold a document, in the order of their names, and whether
/// there are more.
///
/// # Errors
/// Errors of the store.
pub async fn first_collections(
    database: &Database,
    count_max: usize,
) -> Result<(Vec<Collection>, bool)> {
    database::first_collections(&*database.snapshot().await?, count_max).await
}

/// The names of the existing collections if `collection` does not exist.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. Errors of the store.
pub async fn other_names(database: &Database, collection: &str) -> Result<Option<Vec<String>>> {
    database::check_collection(collection)?;
    let snapshot = database.snapshot().await?;
    if database::is_there(&*snapshot, collection).await? {
        return Ok(None);
    }
    database::names(&*snapshot).await.map(Some)
}
