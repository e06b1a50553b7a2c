//! Dropping collections.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::database;
use crate::database::Database;
use crate::error::Result;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Decision, Transaction, TransactionResult};

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
