//! The one place that tries a transaction again.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout_at};

use super::unknown_commit::{Resolution, UnknownCommit};
use super::{CommitError, Store, Transaction};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::limits::TRANSACTION_TRIES_MAX;

/// What the body of a transaction wants done.
pub enum Decision<T> {
    /// Keep what was written.
    Commit(T),
    /// Undo it; the answer is told all the same.
    Abort(T),
}

/// How a transaction ended.
pub enum TransactionResult<T> {
    /// All of it holds, as this commit.
    Committed(T, Version),
    /// None of it holds.
    Aborted(T),
}

/// Runs `body` in a transaction and commits it; after a conflict again, with the engine's pauses
/// or growing ones, up to [`TRANSACTION_TRIES_MAX`] times and until `deadline`. `body` must have no
/// effect but through its transaction.
///
/// Where a commit ends unknown, the next try finds out whether it took effect before anything
/// else, so that `body` takes effect once at most; the answer is that of the try that did.
///
/// # Errors
/// What `body` fails with; `CONFLICT`: the tries are used up; `TIMEOUT`: the deadline passed, and
/// either nothing was written or, which the message then says, it is not known whether it was;
/// what the engine fails with.
pub async fn transact<T: Send>(
    store: &dyn Store,
    deadline: Instant,
    mut body: impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Decision<T>>> + Send,
) -> Result<TransactionResult<T>> {
    let doubt = store.commits_can_end_unknown().then(UnknownCommit::new);
    let mut tries = Tries {
        store,
        deadline,
        number: 0,
        doubt: doubt.transpose()?,
        end: None,
    };
    let mut next = None;
    loop {
        let (error, failed) = match tries.one(next.take(), &mut body).await {
            Tried::Done(settled) => return settled,
            Tried::Again(error, failed) => (error, failed),
        };
        if tries.number >= TRANSACTION_TRIES_MAX as u64 {
            return Err(tries.given_up(error));
        }
        match within(deadline, tries.pause(failed)).await {
            Ok(begun) => next = begun,
            Err(_) if tries.in_doubt() && Instant::now() < deadline => {}
            Err(error) => return Err(tries.given_up(error)),
        }
    }
}

struct Tries<'s, T> {
    store: &'s dyn Store,
    deadline: Instant,
    number: u64,
    /// None for an engine that always knows.
    doubt: Option<UnknownCommit<T>>,
    /// How it ends, once it is certain that no try in doubt takes effect.
    end: Option<Result<TransactionResult<T>>>,
}

enum Tried<T> {
    Done(Result<TransactionResult<T>>),
    /// Another try may do better than this one, which failed so.
    Again(Error, Option<Arc<dyn Transaction>>),
}

impl<T: Send> Tries<'_, T> {
    fn in_doubt(&self) -> bool {
        self.doubt.as_ref().is_some_and(UnknownCommit::is_open)
    }

    /// The error to end with when there is no time or no try left.
    fn given_up(&self, error: Error) -> Error {
        if self.in_doubt() {
            return UnknownCommit::<T>::error(&error);
        }
        error
    }

    /// Waits for as long as the engine finds right, and begins the next try where it has a say.
    async fn pause(
        &self,
        failed: Option<Arc<dyn Transaction>>,
    ) -> Result<Option<Arc<dyn Transaction>>> {
        if let Some(failed) = failed
            && let Some(next) = failed.retry().await?
        {
            return Ok(Some(next));
        }
        let pause = Duration::from_millis(1 << self.number.min(7));
        sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
        Ok(None)
    }

    async fn one(
        &mut self,
        begun: Option<Arc<dyn Transaction>>,
        body: &mut (impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Decision<T>>> + Send),
    ) -> Tried<T> {
        self.number += 1;
        let transaction = match begun {
            Some(transaction) => transaction,
            None => match within(self.deadline, self.store.begin()).await {
                Ok(transaction) => transaction,
                Err(error) => return self.failed(error, None),
            },
        };
        if let Some(doubt) = self.doubt.as_mut().filter(|doubt| doubt.is_open()) {
            match within(self.deadline, doubt.find(&*transaction)).await {
                Ok(Resolution::Nothing) => {}
                Ok(Resolution::Committed(value, version)) => {
                    return Tried::Done(Ok(TransactionResult::Committed(value, version)));
                }
                Ok(Resolution::Barred) => {
                    if let Some(end) = self.end.take() {
                        return Tried::Done(end);
                    }
                }
                Err(error) => return self.failed(error, Some(transaction)),
            }
        }
        if self.end.is_some() {
            return self.bar(transaction).await;
        }
        match within(self.deadline, body(transaction.clone())).await {
            Ok(Decision::Commit(value)) => self.commit(transaction, value).await,
            Ok(Decision::Abort(value)) => {
                let aborted = transaction.abort().await;
                self.ended(aborted.map(|()| TransactionResult::Aborted(value)))
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                Tried::Again(error, Some(transaction))
            }
            Err(error) => match transaction.abort().await {
                Ok(()) => self.failed(error, None),
                Err(error) => self.failed(error, None),
            },
        }
    }

    async fn commit(&mut self, transaction: Arc<dyn Transaction>, value: T) -> Tried<T> {
        if transaction.is_read_only() {
            return match transaction.commit().await {
                Ok(version) => self.ended(Ok(TransactionResult::Committed(value, version))),
                Err(error) => self.failed(error.into(), Some(transaction)),
            };
        }
        match self.commit_marked(&*transaction).await {
            Ok(version) => Tried::Done(Ok(TransactionResult::Committed(value, version))),
            Err(CommitError::Refused(error)) => self.failed(error, Some(transaction)),
            Err(CommitError::Unknown(error)) => {
                self.doubt_this(Some(value));
                Tried::Again(error, Some(transaction))
            }
        }
    }

    /// Keeps the tries in doubt from taking effect, after one that ends without a commit.
    async fn bar(&mut self, transaction: Arc<dyn Transaction>) -> Tried<T> {
        match self.commit_marked(&*transaction).await {
            Ok(_) => match self.end.take() {
                Some(end) => Tried::Done(end),
                None => Tried::Done(Err(Error::internal("a transaction ended twice"))),
            },
            Err(CommitError::Refused(error)) => Tried::Again(error, Some(transaction)),
            Err(CommitError::Unknown(error)) => {
                self.doubt_this(None);
                Tried::Again(error, Some(transaction))
            }
        }
    }

    /// Commits. Where that can end unknown, a marker says that it took effect, and nobody waits
    /// past the deadline.
    async fn commit_marked(&self, transaction: &dyn Transaction) -> Result<Version, CommitError> {
        let Some(doubt) = &self.doubt else {
            return transaction.commit().await;
        };
        doubt.mark(transaction, self.number);
        let committed = timeout_at(self.deadline, transaction.commit()).await;
        committed.unwrap_or_else(|_| Err(CommitError::Unknown(out_of_time())))
    }

    fn doubt_this(&mut self, value: Option<T>) {
        if let Some(doubt) = &mut self.doubt {
            doubt.add(self.number, value);
        }
    }

    /// A try failed without effect. With another in doubt, nothing that passes ends it.
    fn failed(&mut self, error: Error, transaction: Option<Arc<dyn Transaction>>) -> Tried<T> {
        let passes = match error.kind() {
            ErrorKind::Conflict => true,
            ErrorKind::Unavailable | ErrorKind::Timeout => self.in_doubt(),
            _ => false,
        };
        if passes {
            return Tried::Again(error, transaction);
        }
        self.ended(Err(error))
    }

    /// A try ended without a commit; it is the last one unless another is in doubt.
    fn ended(&mut self, end: Result<TransactionResult<T>>) -> Tried<T> {
        if !self.in_doubt() {
            return Tried::Done(end);
        }
        self.end = Some(end);
        let why = "an earlier try of the operation may still take effect";
        Tried::Again(Error::new(ErrorKind::Conflict, why), None)
    }
}

async fn within<T>(deadline: Instant, work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout_at(deadline, work)
        .await
        .unwrap_or_else(|_| Err(out_of_time()))
}

fn out_of_time() -> Error {
    Error::timeout(
        None,
        "the time for the operation is over; nothing was written",
    )
}
