//! What one request, mutation or background job may use, and what it has used.

use super::pool::{Pool, Share};
use crate::error::{Error, Result};
use crate::error::{Limit, Resource};
use crate::limits::{HELD_UNCOUNTED_BYTES, STEPS_AT_A_TIME};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

/// What a request, or a batch of background work, may still use. A clone shares it.
#[derive(Clone, Debug)]
pub struct Budget(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) limits: BudgetLimits,
    pub(super) deadline: Instant,
    pub(super) pool: Pool,
    pub(super) steps: AtomicU64,
    /// The steps that were spent at the last yield.
    pub(super) yielded_at: AtomicU64,
    pub(super) read_bytes: AtomicUsize,
    pub(super) write_bytes: AtomicUsize,
    pub(super) response_bytes: AtomicUsize,
    response_share: Share,
    pub(super) exhausted: OnceLock<Error>,
}

/// How much of each resource there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BudgetLimits {
    pub(crate) steps: u64,
    pub(crate) read_bytes: usize,
    /// Of what is read, the most that is held until the response is written.
    pub(crate) reserved_bytes: usize,
    pub(crate) write_bytes: usize,
    pub(crate) response_bytes: usize,
    pub(crate) time: Duration,
    /// Whether others wait while it works, because it holds the lock of a writer.
    pub(crate) writes: bool,
}

impl Budget {
    pub(crate) fn new(limits: BudgetLimits, pool: &Pool, deadline: Instant) -> Self {
        Self(Arc::new(Inner {
            limits,
            deadline,
            pool: pool.clone(),
            steps: AtomicU64::new(0),
            yielded_at: AtomicU64::new(0),
            read_bytes: AtomicUsize::new(0),
            write_bytes: AtomicUsize::new(0),
            response_bytes: AtomicUsize::new(0),
            response_share: pool.share(),
            exhausted: OnceLock::new(),
        }))
    }

    /// When the time is over.
    pub fn deadline(&self) -> Instant {
        self.0.deadline
    }

    /// The bytes that the response may have.
    pub fn response_bytes_max(&self) -> usize {
        self.0.limits.response_bytes
    }

    /// The error of the resource that ran out first.
    pub fn exhausted(&self) -> Option<&Error> {
        self.0.exhausted.get()
    }

    /// Checks that nothing has run out, the time included.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub fn check(&self) -> Result<()> {
        if let Some(error) = self.exhausted() {
            return Err(error.clone());
        }
        if Instant::now() < self.0.deadline {
            return Ok(());
        }
        let time = self.0.limits.time;
        self.exhaust(
            Resource::Time,
            Limit::of_time("requestMilliseconds", time),
            || {
                format!(
                    "the time for the request is over ({time:?}, which is the limit); nothing was \
                 written"
                )
            },
        )
    }

    /// Spends steps of work.
    ///
    /// # Errors
    /// As [`Budget::check`].
    #[inline]
    pub fn spend(&self, steps: u64) -> Result<()> {
        let before = self.0.steps.fetch_add(steps, Relaxed);
        let after = before.saturating_add(steps);
        if after > self.0.limits.steps {
            return self.out_of_steps();
        }
        if before / STEPS_AT_A_TIME == after / STEPS_AT_A_TIME && self.exhausted().is_none() {
            return Ok(());
        }
        self.check()
    }

    /// Spends steps of work, and yields to the scheduler when about a millisecond of work was done
    /// since the last time.
    ///
    /// # Errors
    /// As [`Budget::check`].
    pub async fn pace(&self, steps: u64) -> Result<()> {
        self.spend(steps)?;
        let spent = self.0.steps.load(Relaxed);
        let since = spent.saturating_sub(self.0.yielded_at.load(Relaxed));
        if since >= STEPS_AT_A_TIME {
            self.0.yielded_at.store(spent, Relaxed);
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// The steps that may still be spent.
    pub(crate) fn steps_left(&self) -> u64 {
        let spent = self.0.steps.load(Relaxed);
        self.0.limits.steps.saturating_sub(spent)
    }

    /// Gives steps back that were drawn and not used.
    pub(crate) fn refund(&self, steps: u64) {
        self.0.steps.fetch_sub(steps, Relaxed);
    }

    /// Counts bytes of keys and values that were read of the store.
    ///
    /// # Errors
    /// As [`Budget::check`].
    pub fn read(&self, bytes: usize) -> Result<()> {
        let limit = self.0.limits.read_bytes;
        if add(&self.0.read_bytes, bytes) <= limit {
            return Ok(());
        }
        self.exhaust(Resource::ReadBytes, Limit::new("readBytes", limit), || {
            format!(
                "the request reads more than {limit} bytes of keys and values, which is the limit \
                 of one request: ask for less, or make an index"
            )
        })
    }

    /// Counts bytes of keys and values that are to be written.
    ///
    /// # Errors
    /// As [`Budget::check`].
    pub fn write(&self, bytes: usize) -> Result<()> {
        let limit = self.0.limits.write_bytes;
        if add(&self.0.write_bytes, bytes) <= limit {
            return Ok(());
        }
        self.exhaust(Resource::WriteBytes, Limit::new("writeBytes", limit), || {
            format!(
                "the request writes more than {limit} bytes of keys and values, which is the limit \
                 of one operation; nothing was changed"
            )
        })
    }

    /// Counts bytes of the response: values, names and punctuation.
    ///
    /// # Errors
    /// As [`Budget::check`].
    pub fn respond(&self, bytes: usize) -> Result<()> {
        let total = add(&self.0.response_bytes, bytes);
        self.check_response_limit(total)?;
        self.hold_response(bytes)
    }

    /// Takes note of the length that a response has when it is written in one piece.
    ///
    /// # Errors
    /// As [`Budget::check`].
    #[inline]
    pub fn check_response(&self, bytes: usize) -> Result<()> {
        self.check_response_limit(bytes)?;
        if bytes <= HELD_UNCOUNTED_BYTES {
            return Ok(());
        }
        let before = self.0.response_bytes.fetch_max(bytes, Relaxed);
        self.hold_response(bytes.saturating_sub(before))
    }

    /// The response is held until it is sent.
    fn hold_response(&self, bytes: usize) -> Result<()> {
        match self.0.response_share.take(bytes) {
            Ok(_) => Ok(()),
            Err(error) => self.fail(error),
        }
    }

    #[inline]
    fn check_response_limit(&self, bytes: usize) -> Result<()> {
        let limit = self.0.limits.response_bytes;
        if bytes <= limit {
            return Ok(());
        }
        self.exhaust(Resource::ResponseBytes, Limit::new("responseBytes", limit), || {
            format!(
                "the response would carry more than {limit} bytes of JSON, which is the limit: ask \
                 for less at a time, by path or by pages"
            )
        })
    }

    /// A share of the memory of all requests, of nothing yet.
    pub fn share(&self) -> Share {
        self.0.pool.share()
    }

    /// A share of the memory of all requests for one of many parts of this one.
    pub fn counted_share(&self) -> Share {
        self.0.pool.counted_share()
    }

    /// Notes an error after which the whole request fails, and returns the first of its kind.
    ///
    /// # Errors
    /// Always.
    pub fn fail(&self, error: Error) -> Result<()> {
        Err(self.0.exhausted.get_or_init(|| error).clone())
    }

    #[cold]
    fn out_of_steps(&self) -> Result<()> {
        let limit = self.0.limits.steps;
        self.exhaust(Resource::Steps, Limit::of_steps(limit), || {
            format!(
                "the JSONPaths, filters and changes of this request take more than {limit} steps \
                 of work, which is the limit: begin JSONPaths with names, look at less, or make an \
                 index"
            )
        })
    }

    fn exhaust(
        &self,
        resource: Resource,
        limit: Limit,
        message: impl FnOnce() -> String,
    ) -> Result<()> {
        let error = || Error::exhausted(resource, limit, message());
        Err(self.0.exhausted.get_or_init(error).clone())
    }
}

pub(crate) fn add(counter: &AtomicUsize, by: usize) -> usize {
    counter.fetch_add(by, Relaxed).saturating_add(by)
}
