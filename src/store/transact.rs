//! The one place that tries a transaction again.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout_at};

use super::{Store, Transaction};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::limits::TRANSACTION_TRIES_MAX;

/// What the body of a transaction wants done.
pub enum Outcome<T> {
    /// Keep what was written.
    Commit(T),
    /// Undo it; the answer is told all the same.
    Abort(T),
}

/// How a transaction ended.
pub enum Settled<T> {
    /// All of it holds, as this commit.
    Committed(T, Version),
    /// None of it holds.
    Aborted(T),
}

/// Runs `body` in a transaction and commits it; after a conflict again, with growing pauses, up
/// to [`TRANSACTION_TRIES_MAX`] times and until `deadline`. `body` must have no effect but through
/// its transaction.
///
/// # Errors
/// What `body` fails with; `CONFLICT`: the tries are used up; `TIMEOUT`: the deadline passed
/// before the commit began; what the engine fails with.
pub async fn transact<T: Send>(
    store: &dyn Store,
    deadline: Instant,
    mut body: impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Outcome<T>>> + Send,
) -> Result<Settled<T>> {
    let mut tries = 0;
    loop {
        tries += 1;
        let settled = one_try(store, deadline, &mut body).await;
        match settled {
            Err(error) if error.kind() == ErrorKind::Conflict && tries < TRANSACTION_TRIES_MAX => {
                let pause = Duration::from_millis(1 << tries.min(7));
                within(deadline, async {
                    sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
                    Ok(())
                })
                .await?;
            }
            settled => return settled,
        }
    }
}

async fn one_try<T: Send>(
    store: &dyn Store,
    deadline: Instant,
    body: &mut (impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Outcome<T>>> + Send),
) -> Result<Settled<T>> {
    let transaction = within(deadline, store.begin()).await?;
    match within(deadline, body(transaction.clone())).await {
        Ok(Outcome::Commit(value)) => {
            let version = transaction.commit().await?;
            Ok(Settled::Committed(value, version))
        }
        Ok(Outcome::Abort(value)) => {
            transaction.abort().await?;
            Ok(Settled::Aborted(value))
        }
        Err(error) => {
            transaction.abort().await?;
            Err(error)
        }
    }
}

async fn within<T>(deadline: Instant, work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout_at(deadline, work).await.unwrap_or_else(|_| {
        Err(Error::new(
            ErrorKind::Timeout,
            "the time for the operation is over; nothing was written",
        ))
    })
}
