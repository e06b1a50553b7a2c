//! Reading: the pairs of a value, and the names of collections.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database;
use crate::database::{
    Answer, Collection, Database, DocumentKey, Extent, ReadRequest, Value, load,
};
use crate::document::path::Path;
use crate::error::Result;

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
