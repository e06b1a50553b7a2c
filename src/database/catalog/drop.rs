//! Dropping a collection.

use super::collections;
use crate::database::changes::record::dropped;
use crate::database::document_key::check_collection;
use crate::database::format::clear_large_range;
use crate::database::types::define::write_types_version;
use crate::database::types::head::TypeHead;
use crate::database::types::referring_types::ReferringTypes;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::key::{Family, ranges_of_collection};
use crate::limits::COUNT_SHARDS;
use crate::store::Transaction;

/// Removes a collection of any size: its documents (also those missing from the catalog), its
/// indexes in any state, its type, its counts and versions. Returns the number of documents that the catalog
/// counted.
///
/// The transaction reads neither the documents nor their count under conflict. It also removes
/// documents that other transactions store before it commits. It clears every readable key of the
/// collection, so it conflicts with each transaction that reads the collection and writes. That
/// includes a batch of an index build, whose retry finds nothing to build.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty, or its deletion would act on documents of another collection.
/// `TOO_LARGE`: the name is too long. Errors of the store.
pub async fn drop_collection(transaction: &dyn Transaction, collection: &str) -> Result<i64> {
    check_collection(collection)?;
    Family::Count(collection, COUNT_SHARDS - 1).key()?;
    check_unreferenced(transaction, collection).await?;
    if TypeHead::read(transaction, collection).await?.is_some() {
        write_types_version(transaction)?;
    }
    let documents = collections::count(transaction.without_conflict(), collection).await?;
    for range in &ranges_of_collection(collection) {
        clear_large_range(transaction, range).await?;
    }
    dropped(transaction, collection);
    Ok(documents.max(0))
}

/// # Errors
/// `BAD_USER_INPUT`: references of another collection say what the deletion of a document of this one does.
async fn check_unreferenced(transaction: &dyn Transaction, collection: &str) -> Result<()> {
    let referring = ReferringTypes::of(transaction).await?;
    let mut others = referring.to(collection).iter();
    let Some(other) = others.find(|other| *other.collection != *collection) else {
        return Ok(());
    };
    Err(Error::bad_input(format!(
        "the type of the collection {:?} has references to the collection {:?} with an `onDelete`: change or drop that \
         type first",
        abridged(&other.collection),
        abridged(collection)
    )))
}
