//! Dropping a collection.

use super::collections;
use crate::database::document_key::check_collection;
use crate::database::format::clear_large_range;
use crate::error::Result;
use crate::key::{Family, ranges_of_collection};
use crate::limits::COUNT_SHARDS;
use crate::store::Transaction;

/// Removes a collection of any size: documents, also those that no catalog knows, indexes in any
/// state, counts and versions. Returns how many documents the catalog counted.
///
/// The transaction does not depend on the documents or their number: those that others store
/// before it commits are removed as well. Whoever reads anything of the collection and writes
/// conflicts with it, because it clears all that can be read of it; so does a batch of an index
/// that is being built, which then finds nothing to build.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: its name. What the store fails
/// with.
pub async fn drop_collection(transaction: &dyn Transaction, collection: &str) -> Result<i64> {
    check_collection(collection)?;
    Family::Count(collection, COUNT_SHARDS - 1).key()?;
    let documents = collections::count(transaction.without_conflict(), collection).await?;
    for range in &ranges_of_collection(collection) {
        clear_large_range(transaction, range).await?;
    }
    Ok(documents.max(0))
}
