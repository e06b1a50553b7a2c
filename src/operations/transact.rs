//! The transactions of commands.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::database::Database;
use crate::error::Result;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Decision, Transaction, TransactionResult};

/// Runs a transaction for at most [`IMPORT_BATCH_TIME_MAX`]. Returns the result of `body`, whether it
/// commits or not.
///
/// # Errors
/// As [`Database::transact`].
pub(super) async fn transact<T: Send + 'static>(
    database: &Database,
    body: impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Decision<T>>> + Send,
) -> Result<T> {
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    let result = database.transact(deadline, body).await;
    result.map(TransactionResult::into_result)
}
