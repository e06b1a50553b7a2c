//! Synchronous work whose length is not known before.

use std::sync::LazyLock;
use std::thread;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use super::{Budget, Steps};
use crate::error::{Error, Result};
use crate::limits::STEPS_AT_A_TIME;

/// Long pieces of work that run at the same time: as many as there are processors, so that the
/// threads that serve requests always get one soon.
static LONG_WORK: LazyLock<Semaphore> = LazyLock::new(permits);

/// The same of work that others wait for: it does not wait behind that of queries.
static LONG_WORK_OF_WRITERS: LazyLock<Semaphore> = LazyLock::new(permits);

fn permits() -> Semaphore {
    let processors = thread::available_parallelism();
    Semaphore::new(processors.map_or(1, usize::from))
}

impl Budget {
    /// Does work that spends [`Steps`] and has no effect but its result. It is tried at once; if
    /// it is not done after about half a millisecond, it begins again on a thread that may block.
    ///
    /// # Errors
    /// What the work fails with; as [`Budget::check`].
    pub async fn compute<T>(&self, work: impl Fn(&Steps<'_>) -> Result<T>) -> Result<T> {
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

    /// As [`Budget::compute`], of work that is known to be long.
    ///
    /// # Errors
    /// As [`Budget::compute`].
    pub async fn compute_long<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let permits = if self.0.limits.writes {
            &LONG_WORK_OF_WRITERS
        } else {
            &LONG_WORK
        };
        let turn = timeout_at(self.deadline(), permits.acquire()).await;
        let Ok(turn) = turn else {
            self.check()?;
            return Err(Error::internal("the deadline passed and did not"));
        };
        let _turn = turn.map_err(|closed| Error::internal(closed.to_string()))?;
        self.check()?;
        let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        match flavor {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
            _ => work(),
        }
    }
}
