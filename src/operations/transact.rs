//! The transactions of commands.

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::budget::Budget;
use crate::database::{Database, settle_references};
use crate::error::Result;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Decision, Transaction, TransactionResult};

/// Runs a transaction for at most [`IMPORT_BATCH_TIME_MAX`]. Returns the result of `body`, whether it
/// commits or not. The references that it has written and the documents that it has deleted are settled before the
/// commit.
///
/// # Errors
/// As [`Database::transact`] and [`settle_references`].
pub(super) async fn transact<T: Send + 'static>(
    database: &Database,
    mut body: impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Decision<T>>> + Send,
) -> Result<T> {
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    let settled = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let outcome = body(transaction.clone());
        Box::pin(async move {
            let outcome = outcome.await?;
            if matches!(outcome, Decision::Commit(_)) {
                settle(&*transaction).await?;
            }
            Ok(outcome)
        })
    };
    let result = database.transact(deadline, settled).await;
    result.map(TransactionResult::into_result)
}

async fn settle(transaction: &dyn Transaction) -> Result<()> {
    let budget = Budget::of_background();
    match settle_references(transaction, &budget, &HashSet::new()).await? {
        None => Ok(()),
        Some(violation) => Err(violation.error),
    }
}
