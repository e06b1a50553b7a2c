//! The retry loop of transactions, the only one in the project.

mod unknown_commit;

use std::sync::Arc;
use std::time::Duration;

use futures::TryFutureExt;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout_at};

use self::unknown_commit::{Resolution, UnknownCommit, outcome_unknown};
use super::{CommitError, Store, Transaction};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::limits::TRANSACTION_TRIES_MAX;

/// What to do with the transaction when its body is done.
pub enum Decision<T> {
    /// Commit, and return the value.
    Commit(T),
    /// Abort, and return the value.
    Abort(T),
}

/// The outcome of a transaction.
pub enum TransactionResult<T> {
    /// It committed as this version.
    Committed(T, Version),
    /// It was aborted and has no effect.
    Aborted(T),
}

impl<T> TransactionResult<T> {
    /// The result of the body, whether it committed or not.
    pub fn into_result(self) -> T {
        match self {
            Self::Committed(result, _) | Self::Aborted(result) => result,
        }
    }
}

/// Runs `body` in a transaction and commits it. After a conflict it tries again, with the engine's
/// pause or an exponential backoff, up to [`TRANSACTION_TRIES_MAX`] times and until `deadline`.
/// `body` must have no effect outside its transaction.
///
/// If the outcome of a commit is unknown, the next try first finds out whether an earlier try took
/// effect. So `body` takes effect at most once, and the result is the result of the try that took
/// effect.
///
/// # Errors
/// The error of `body`. `CONFLICT`: all tries conflicted. `TIMEOUT`: the deadline passed, and
/// nothing was written. `OUTCOME_UNKNOWN`: it may have been written, and the deadline passed or the
/// store failed. Errors of the engine.
pub async fn transact<T: Send>(
    store: &dyn Store,
    deadline: Instant,
    mut body: impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Decision<T>>> + Send,
) -> Result<TransactionResult<T>> {
    let unknown_commit = store.commits_can_end_unknown().then(UnknownCommit::new);
    let mut tries = Tries {
        store,
        deadline,
        number: 0,
        unknown_commit: unknown_commit.transpose()?,
        end: None,
    };
    let mut next = None;
    loop {
        let (error, failed) = match tries.one(next.take(), &mut body).await {
            Tried::Done(settled) => return settled,
            Tried::Again(error, failed) => (error, failed),
        };
        if tries.number >= TRANSACTION_TRIES_MAX as u64 {
            let why = format!("{TRANSACTION_TRIES_MAX} tries of the operation failed");
            return Err(tries.given_up(&why, error));
        }
        match within(deadline, tries.pause(failed)).await {
            Ok(begun) => next = begun,
            Err(_) if tries.in_doubt() && Instant::now() < deadline => {}
            Err(error) => return Err(tries.given_up(OUT_OF_TIME, error)),
        }
    }
}

struct Tries<'s, T> {
    store: &'s dyn Store,
    deadline: Instant,
    number: u64,
    /// `None` for an engine whose commits never have an unknown outcome.
    unknown_commit: Option<UnknownCommit<T>>,
    /// The result of the operation, returned once no open commit can take effect any more.
    end: Option<Result<TransactionResult<T>>>,
}

enum Tried<T> {
    Done(Result<TransactionResult<T>>),
    /// The try failed with this error, and another one may succeed.
    Again(Error, Option<Arc<dyn Transaction>>),
}

impl<T: Send> Tries<'_, T> {
    fn in_doubt(&self) -> bool {
        self.unknown_commit
            .as_ref()
            .is_some_and(UnknownCommit::is_open)
    }

    /// The error to return if no time or no try is left.
    fn given_up(&self, why: &str, error: Error) -> Error {
        if self.in_doubt() {
            return outcome_unknown(why, &error);
        }
        error
    }

    /// Waits before the next try. Returns its transaction if the engine begins it.
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
        if let Some(unknown_commit) = self
            .unknown_commit
            .as_mut()
            .filter(|unknown_commit| unknown_commit.is_open())
        {
            match within(self.deadline, unknown_commit.find(&*transaction)).await {
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
                let aborted = within(self.deadline, transaction.abort()).await;
                self.ended(aborted.map(|()| TransactionResult::Aborted(value)))
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                Tried::Again(error, Some(transaction))
            }
            Err(error) => match within(self.deadline, transaction.abort()).await {
                Ok(()) => self.failed(error, None),
                Err(error) => self.failed(error, None),
            },
        }
    }

    async fn commit(&mut self, transaction: Arc<dyn Transaction>, value: T) -> Tried<T> {
        if transaction.is_read_only() {
            let committed = transaction.commit().map_err(Error::from);
            return match within(self.deadline, committed).await {
                Ok(version) => self.ended(Ok(TransactionResult::Committed(value, version))),
                Err(error) => self.failed(error, Some(transaction)),
            };
        }
        match self.commit_marked(&*transaction).await {
            Ok(version) => Tried::Done(Ok(TransactionResult::Committed(value, version))),
            Err(CommitError::Refused(error)) => self.failed(error, Some(transaction)),
            // Without a marker, the outcome cannot be read.
            Err(CommitError::Unknown(error)) if self.unknown_commit.is_none() => {
                Tried::Done(Err(outcome_unknown("the commit failed", &error)))
            }
            Err(CommitError::Unknown(error)) => {
                self.doubt_this(Some(value));
                Tried::Again(error, Some(transaction))
            }
        }
    }

    /// Commits the marker alone, after a try that ended without a commit, so that no earlier try
    /// can take effect.
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

    /// Commits, and waits no longer than the deadline. If the outcome can be unknown while the engine
    /// serves, it also writes a marker.
    async fn commit_marked(&self, transaction: &dyn Transaction) -> Result<Version, CommitError> {
        if let Some(unknown_commit) = &self.unknown_commit {
            unknown_commit.mark(transaction, self.number);
        }
        let committed = timeout_at(self.deadline, transaction.commit()).await;
        committed.unwrap_or_else(|_| {
            if !transaction.may_take_effect() {
                return Err(CommitError::Refused(out_of_time()));
            }
            let message = "the commit was not completed within the time limit";
            Err(CommitError::Unknown(Error::timeout(None, message)))
        })
    }

    fn doubt_this(&mut self, value: Option<T>) {
        if let Some(unknown_commit) = &mut self.unknown_commit {
            unknown_commit.add(self.number, value);
        }
    }

    /// Handles a try that failed without effect. If the outcome of an earlier try is unknown,
    /// transient errors are retried too.
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

    /// Handles a try that ended without a commit. It is the last one, unless the outcome of an
    /// earlier try is unknown.
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

const OUT_OF_TIME: &str = "the operation exceeded its time limit";

fn out_of_time() -> Error {
    Error::timeout(None, format!("{OUT_OF_TIME}; nothing was written"))
}
