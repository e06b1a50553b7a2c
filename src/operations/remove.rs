//! Deleting documents by a filter, and dropping collections.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::budget::Budget;
use crate::database;
use crate::database::{Database, Swept, sweep};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::graphql::read_filter;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Decision, Transaction, TransactionResult};

/// The documents to delete.
#[derive(Clone, Debug)]
pub struct Deletion {
    /// The collection.
    pub collection: String,
    /// The filter that documents must match, as JSON.
    pub filter: String,
    /// Whether the filter may be empty, which matches every document.
    pub everything: bool,
}

/// Drops a collection and returns how many documents the catalog counted in it.
///
/// # Errors
/// Errors of [`database::drop_collection`].
pub async fn drop_collection(database: &Database, collection: &str) -> Result<i64> {
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let collection = collection.to_owned();
        Box::pin(async move {
            let dropped = database::drop_collection(&*transaction, &collection).await;
            dropped.map(Decision::Commit)
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(documents, _) | TransactionResult::Aborted(documents) => {
            Ok(documents)
        }
    }
}

/// Deletes the next matching documents of a collection, after the id `after`, in one transaction.
///
/// # Errors
/// `BAD_USER_INPUT`: the filter is invalid, or it is empty and `everything` is not set. Errors of
/// [`sweep`].
pub async fn delete_portion(
    database: &Database,
    deletion: &Deletion,
    after: Option<DocumentId>,
    documents_max: usize,
) -> Result<Swept> {
    let filter = Arc::new(filter(deletion).await?);
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let (collection, filter) = (deletion.collection.clone(), filter.clone());
        let after = after.clone();
        Box::pin(async move {
            let budget = Budget::of_background();
            let after = after.as_ref();
            let transaction = &*transaction;
            let swept = sweep(
                transaction,
                &budget,
                &collection,
                &filter,
                after,
                documents_max,
            );
            let swept = swept.await?;
            Ok(if swept.deleted > 0 {
                Decision::Commit(swept)
            } else {
                Decision::Abort(swept)
            })
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(swept, _) | TransactionResult::Aborted(swept) => Ok(swept),
    }
}

pub(crate) async fn filter(deletion: &Deletion) -> Result<Filter> {
    let filter = read_filter(&deletion.filter).await;
    let filter = filter.map_err(|error| error.at("the filter"))?;
    if filter.is_empty() && !deletion.everything {
        return Err(Error::bad_input(
            "the filter is empty and matches every document: add --everything if you want to \
             delete them all",
        ));
    }
    Ok(filter)
}
