//! Synchronous work of unknown length.

use std::sync::LazyLock;
use std::thread;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use super::poll_clock::thread_time;
use super::slice::{blocked, turn};
use super::{Budget, Steps};
use crate::error::{Error, Result};
use crate::limits::STEPS_AT_A_TIME;

/// Permits for long work of queries, one per processor, so that the threads that serve requests get
/// a processor soon.
static LONG_WORK: LazyLock<Semaphore> = LazyLock::new(permits);

/// Permits for long work of writers. Other requests wait for writers, so writers do not wait for
/// queries.
static LONG_WORK_OF_WRITERS: LazyLock<Semaphore> = LazyLock::new(permits);

fn permits() -> Semaphore {
    let processors = thread::available_parallelism();
    Semaphore::new(processors.map_or(1, usize::from))
}

impl Budget {
    /// Runs work that spends [`Steps`] and has no effect except its result. It first runs on this
    /// thread. If it is not done after about half a millisecond, it starts again on a blocking
    /// thread.
    ///
    /// # Errors
    /// The error of the work. As [`Budget::check`].
    pub async fn compute<T>(&self, work: impl Fn(&Steps<'_>) -> Result<T>) -> Result<T> {
        turn().await;
        {
            let steps = Steps::at_most(self, STEPS_AT_A_TIME);
            let result = work(&steps);
            if !steps.interrupted() {
                return result;
            }
            steps.undo();
        }
        self.compute_long(|| work(&Steps::of(self))).await
    }

    /// [`Budget::compute`] for work that is known to be long.
    ///
    /// # Errors
    /// As [`Budget::compute`].
    pub async fn compute_long<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let permits = if self.0.limits.writes {
            &LONG_WORK_OF_WRITERS
        } else {
            &LONG_WORK
        };
        let permit = timeout_at(self.deadline(), permits.acquire()).await;
        let Ok(permit) = permit else {
            self.check()?;
            return Err(Error::internal("the wait ended before the deadline"));
        };
        let _permit = permit.map_err(|closed| Error::internal(closed.to_string()))?;
        self.check()?;
        block_thread(work)
    }
}

/// Runs work that blocks this thread. Other tasks continue on other threads of the runtime, if it
/// has any.
pub fn block_thread<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => {
            let begun = thread_time();
            let done = tokio::task::block_in_place(work);
            blocked(thread_time().saturating_sub(begun));
            done
        }
        _ => work(),
    }
}
