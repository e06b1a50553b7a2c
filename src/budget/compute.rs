//! Synchronous work: in place if it is short, otherwise on a blocking thread.

use std::sync::LazyLock;
use std::thread;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use super::slice::{count_steps, turn, turn_for, uncounted};
use super::{Budget, Share, Steps};
use crate::error::{Error, Result};
use crate::limits::{
    JSON_BYTES_AT_ONCE, JSON_BYTES_PER_STEP, MOVED_BYTES_AT_ONCE, PORTION_STEPS_MAX,
};

/// Items for which a large list has room beyond what it needs.
const ITEMS_BEHIND: usize = 1 << 10;

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
            let steps = Steps::at_most(self, PORTION_STEPS_MAX);
            let result = work(&steps);
            if !steps.interrupted() {
                return result;
            }
            steps.undo();
        }
        self.compute_long(|| work(&Steps::of(self))).await
    }

    /// Runs work of a known length, at its turn: on this thread if it is a portion, otherwise on a
    /// blocking thread. The steps say how long it takes, and are not spent. Use it for loops over what
    /// clients send or store that cannot ask for the slice inside. After the deadline, the work does not
    /// wait for a processor; the caller checks the budget.
    pub async fn portion<T>(&self, steps: u64, work: impl FnOnce() -> T) -> T {
        if is_short(steps).await {
            return work();
        }
        let _permit = timeout_at(self.deadline(), self.permits().acquire()).await;
        block_thread(work)
    }

    /// [`Budget::compute`] for work that is known to be long.
    ///
    /// # Errors
    /// As [`Budget::compute`].
    pub async fn compute_long<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let permit = timeout_at(self.deadline(), self.permits().acquire()).await;
        let Ok(permit) = permit else {
            self.check()?;
            return Err(Error::internal("the wait ended before the deadline"));
        };
        let _permit = permit.map_err(|closed| Error::internal(closed.to_string()))?;
        self.check()?;
        block_thread(work)
    }

    fn permits(&self) -> &'static Semaphore {
        if self.0.limits.writes {
            &LONG_WORK_OF_WRITERS
        } else {
            &LONG_WORK
        }
    }
}

/// As [`Budget::portion`], for work of a query that has no budget yet.
pub async fn portion<T>(steps: u64, work: impl FnOnce() -> T) -> T {
    if is_short(steps).await {
        return work();
    }
    let _permit = LONG_WORK.acquire().await;
    block_thread(work)
}

/// Waits for the turn of work of so many steps. Returns whether this thread does it, and then counts them.
async fn is_short(steps: u64) -> bool {
    turn_for(steps).await;
    let is_short = steps <= PORTION_STEPS_MAX;
    if is_short {
        count_steps(steps);
    }
    is_short
}

/// Makes room for so many further items in a list. A large list is moved on a blocking thread, and grows by a
/// quarter instead of doubling, so that the memory it takes is close to what counts as held.
#[inline]
pub fn grow<T>(list: &mut Vec<T>, additional: usize) {
    if list.capacity() - list.len() < additional {
        grow_by(list, additional);
    }
}

fn grow_by<T>(list: &mut Vec<T>, additional: usize) {
    let items_at_once = MOVED_BYTES_AT_ONCE / size_of::<T>().max(1);
    let is_moved_here = list.len() <= items_at_once;
    let mut reserve = || {
        if list.len() + additional > items_at_once {
            // With room for a few more, such as the end of a text behind a long string.
            list.reserve_exact((additional + ITEMS_BEHIND).max(list.len() / 4));
        } else {
            list.reserve(additional);
        }
    };
    if is_moved_here {
        reserve();
    } else {
        block_thread(reserve);
    }
}

impl Share {
    /// Makes room for so many further items in a list, and takes the memory for it. What the list had before
    /// counts twice while it is moved.
    ///
    /// # Errors
    /// As [`Share::take`].
    #[inline]
    pub(crate) fn grow<T>(&self, list: &mut Vec<T>, additional: usize) -> Result<()> {
        if list.capacity() - list.len() >= additional {
            return Ok(());
        }
        let before = list.capacity() * size_of::<T>();
        let moved = before + additional * size_of::<T>();
        self.take(moved)?;
        grow(list, additional);
        let taken = before + moved;
        let after = list.capacity() * size_of::<T>();
        if after > taken {
            self.take(after - taken)?;
        } else {
            self.give(taken - after);
        }
        Ok(())
    }
}

/// Releases the memory of a list that is complete, if much of it is unused.
pub fn release_unused<T>(list: &mut Vec<T>) {
    let unused = list.capacity() - list.len();
    if unused * size_of::<T>() > MOVED_BYTES_AT_ONCE && unused > list.len() / 4 {
        block_thread(|| list.shrink_to(list.len() + ITEMS_BEHIND));
    }
}

/// Runs work that blocks this thread. Other tasks continue on other threads of the runtime, if it
/// has any.
pub fn block_thread<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => uncounted(|| tokio::task::block_in_place(work)),
        _ => work(),
    }
}

/// Whether this thread reads a text of `bytes` bytes of JSON. If so, waits for its turn, and counts its steps.
pub(crate) async fn reads_here(bytes: usize) -> bool {
    let is_small = bytes <= JSON_BYTES_AT_ONCE;
    if is_small {
        turn().await;
        count_steps(bytes as u64 / JSON_BYTES_PER_STEP);
    }
    is_small
}

/// Runs `work` on a text of `bytes` bytes: directly if the text is small, otherwise on a blocking
/// thread.
///
/// # Errors
/// The error of `work`. `INTERNAL`: it panicked on the blocking thread.
pub async fn offload_if_large<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if reads_here(bytes).await {
        return work();
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::internal(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_texts_are_processed_on_a_blocking_thread() {
        let on = async |bytes| offload_if_large(bytes, || Ok(thread::current().id())).await;
        let here = thread::current().id();
        assert_eq!(on(JSON_BYTES_AT_ONCE).await.expect("done"), here);
        assert_ne!(on(JSON_BYTES_AT_ONCE + 1).await.expect("done"), here);
    }

    #[test]
    fn large_lists_have_little_unused_memory() {
        let mut list = Vec::new();
        while list.len() < 8 * MOVED_BYTES_AT_ONCE {
            grow(&mut list, 100);
            list.extend_from_slice(&[1; 100]);
            let most =
                (list.len() + list.len() / 4 + 2 * ITEMS_BEHIND).max(2 * MOVED_BYTES_AT_ONCE);
            assert!(
                list.capacity() <= most,
                "{} of {}",
                list.len(),
                list.capacity()
            );
        }
        list.truncate(100);
        release_unused(&mut list);
        assert!(list.capacity() <= 100 + ITEMS_BEHIND, "{}", list.capacity());
    }
}
