//! The counters and limits of one budget.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use super::pool::{Pool, Share};
use super::slice::{count_steps, pause, turn_for, uncount_steps};
use crate::error::{Error, Limit, Resource, Result};
use crate::limits::{HELD_SMALL_BYTES, STEPS_AT_A_TIME};

/// What a request, or a portion of background work, may still use. Clones share the counters.
#[derive(Clone, Debug)]
pub struct Budget(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) limits: BudgetLimits,
    pub(super) deadline: Instant,
    pub(super) pool: Pool,
    pub(super) steps: AtomicU64,
    /// The number of steps spent at the last yield.
    pub(super) yielded_at: AtomicU64,
    pub(super) read_bytes: AtomicUsize,
    pub(super) write_bytes: AtomicUsize,
    pub(super) response_bytes: AtomicUsize,
    response_share: Share,
    pub(super) exhausted: OnceLock<Error>,
}

/// The limit of each resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BudgetLimits {
    pub(crate) steps: u64,
    pub(crate) read_bytes: usize,
    /// The most bytes of reads that are held until the response is written.
    pub(crate) reserved_bytes: usize,
    pub(crate) write_bytes: usize,
    pub(crate) response_bytes: usize,
    pub(crate) time: Duration,
    /// Whether other requests wait for this work, because it may hold the write lock.
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

    /// The deadline of the request.
    pub fn deadline(&self) -> Instant {
        self.0.deadline
    }

    /// The largest size of the response, in bytes.
    pub fn response_bytes_max(&self) -> usize {
        self.0.limits.response_bytes
    }

    /// The error of the resource that was used up first.
    pub fn exhausted(&self) -> Option<&Error> {
        self.0.exhausted.get()
    }

    /// Fails if a resource is used up or the deadline has passed.
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
                let outcome = if self.0.limits.writes {
                    "; nothing was written"
                } else {
                    ""
                };
                format!("the request exceeded its time limit ({time:?}){outcome}")
            },
        )
    }

    /// Spends steps of work.
    ///
    /// # Errors
    /// As [`Budget::check`].
    #[inline]
    pub fn spend(&self, steps: u64) -> Result<()> {
        count_steps(steps);
        self.charge(steps)
    }

    /// Spends steps of work that the current poll has counted before, or that others have done.
    ///
    /// # Errors
    /// As [`Budget::check`].
    #[inline]
    pub(crate) fn charge(&self, steps: u64) -> Result<()> {
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

    /// Spends steps of work, at most a portion in each slice of the task. Call it before the work.
    /// Outside of a task that has slices, yields to the scheduler after about half a millisecond of
    /// work.
    ///
    /// # Errors
    /// As [`Budget::check`].
    pub async fn pace(&self, steps: u64) -> Result<()> {
        let mut left = steps;
        loop {
            turn_for(left).await;
            let portion = left.min(STEPS_AT_A_TIME);
            self.spend(portion)?;
            left -= portion;
            let spent = self.0.steps.load(Relaxed);
            let since = spent.saturating_sub(self.0.yielded_at.load(Relaxed));
            if since >= STEPS_AT_A_TIME {
                self.0.yielded_at.store(spent, Relaxed);
                pause().await;
            }
            if left == 0 {
                return Ok(());
            }
        }
    }

    /// The number of steps that are left.
    pub(crate) fn steps_left(&self) -> u64 {
        let spent = self.0.steps.load(Relaxed);
        self.0.limits.steps.saturating_sub(spent)
    }

    /// Returns steps that were drawn and not used.
    pub(crate) fn refund(&self, steps: u64) {
        uncount_steps(steps);
        self.0.steps.fetch_sub(steps, Relaxed);
    }

    /// Counts bytes of keys and values that were read from the store.
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
                 of one request: request less, or create an index"
            )
        })
    }

    /// Counts bytes of keys and values to write.
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

    /// Checks and counts the length of a response that is written in one piece.
    ///
    /// # Errors
    /// As [`Budget::check`].
    #[inline]
    pub fn check_response(&self, bytes: usize) -> Result<()> {
        self.check_response_limit(bytes)?;
        if bytes <= HELD_SMALL_BYTES {
            return Ok(());
        }
        let before = self.0.response_bytes.fetch_max(bytes, Relaxed);
        self.hold_response(bytes.saturating_sub(before))
    }

    /// Takes memory for the response, which is held until it is sent.
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
                "the response would have more than {limit} bytes of JSON, which is the limit: read \
                 less at a time, by path or by pages"
            )
        })
    }

    /// An empty share of the memory of all requests.
    pub fn share(&self) -> Share {
        self.0.pool.share()
    }

    /// An empty share of the memory of all requests, without an uncounted part.
    pub fn counted_share(&self) -> Share {
        self.0.pool.counted_share()
    }

    /// Records an error that fails the whole request, and returns the first one recorded.
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
                 of work, which is the limit: begin JSONPaths with names, read less, or create an \
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
