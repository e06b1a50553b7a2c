//! Permits for the polls of tasks that use up their slices.
//!
//! The scheduler polls its tasks in turn. If hundreds of them always have work, as those of clients that
//! read streams of changes, each small request waits for a slice of every one. So a task that has used up
//! its slice and has more work needs a permit for its next poll, of which there is one for each processor.
//! The scheduler has only so many of these tasks at a time, and polls a request that arrives after one
//! slice of each.
//!
//! A task keeps its permit while it yields between two slices, and then gives it to the task that waits
//! longest. It gives it up when it waits for something else, or blocks its thread. Tasks with a
//! transaction that writes have permits of their own, because others wait for them.

use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use std::thread;

use futures::future::BoxFuture;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The permits of the tasks that only read, and of those that write.
static PERMITS: [LazyLock<Semaphore>; 2] = [LazyLock::new(permits), LazyLock::new(permits)];

fn permits() -> Semaphore {
    let processors = thread::available_parallelism();
    Semaphore::new(processors.map_or(1, usize::from))
}

/// A permit for polls, until it is dropped.
pub(super) type PollPermit = SemaphorePermit<'static>;

/// What a task needs before its next poll.
#[derive(Default)]
pub(super) struct NextPoll {
    /// The number of the permits, if it needs one.
    needs: Option<usize>,
    /// Whether the last poll used up its slice.
    was_long: bool,
    /// The permit of the last poll.
    kept: Option<PollPermit>,
    waiting: Option<BoxFuture<'static, Option<PollPermit>>>,
}

impl NextPoll {
    /// Waits for the permit, if the task needs one. Gives up that of the last poll if others wait.
    pub(super) fn poll_permit(&mut self, context: &mut Context<'_>) -> Poll<Option<PollPermit>> {
        let Some(permits) = self.needs else {
            return Poll::Ready(None);
        };
        let permits = &*PERMITS[permits];
        drop(self.kept.take());
        if self.waiting.is_none() {
            // Fails if others wait: a permit that is given up is theirs.
            if let Ok(permit) = permits.try_acquire() {
                return Poll::Ready(Some(permit));
            }
            let permit = async { permits.acquire().await.ok() };
            self.waiting = Some(Box::pin(permit));
        }
        let Some(waiting) = &mut self.waiting else {
            return Poll::Ready(None);
        };
        let permit = ready!(waiting.as_mut().poll(context));
        self.waiting = None;
        Poll::Ready(permit)
    }

    /// Records that a poll has ended and did not use up its slice.
    pub(super) fn is_free(&mut self) {
        self.needs = None;
        self.was_long = false;
    }

    /// Records that a poll with `permit` has used up its slice, and whether it ended because of that. Returns
    /// whether the permit is kept: then the task must be polled again, because others wait for it.
    ///
    /// A task needs a permit if it has more work, or if it used up two slices one after the other: a request
    /// that follows one long poll of its connection is not such a task.
    pub(super) fn is_long(
        &mut self,
        yields: bool,
        writes: bool,
        permit: Option<PollPermit>,
    ) -> bool {
        let permits = usize::from(writes);
        self.kept = permit.filter(|_| yields && self.needs == Some(permits));
        self.needs = (yields || self.was_long).then_some(permits);
        self.was_long = true;
        self.kept.is_some()
    }
}
