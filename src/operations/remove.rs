//! Dropping collections.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::transact::transact;
use crate::database;
use crate::database::Database;
use crate::error::Result;
use crate::store::{Decision, Transaction};

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
    transact(database, body).await
}
