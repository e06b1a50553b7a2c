//! The slice of time that a task has at each poll.
//!
//! The fields of a request, the operations of a WebSocket and the requests of a connection run in
//! one task. A part of the task that yields alone hands over to the next part, and the scheduler
//! waits for all of them. So a task is polled inside [`Sliced`], which begins a slice at each poll.
//! Once it is over, every part that reaches [`turn`] or [`pause`] is pending until the next poll
//! of the task. Parts ask before they work, so a poll takes one slice and one portion of work.
//!
//! A slice is also over after [`STEPS_AT_A_TIME`] steps of work. So the most steps of one poll do not
//! depend on the machine, and tests assert them ([`longest_poll_steps`]).
//!
//! A task that has used up its slice is polled again when it is its turn among such tasks
//! (`budget::polls::poll_permits`).

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use super::poll_clock::thread_time;
use super::poll_permits::{NextPoll, PollPermit};
use crate::limits::{LONG_POLL_TIME, SLICE_TIME, STEPS_AT_A_TIME};

thread_local! {
    /// When the slice of the task that this thread polls ends. `None` outside of [`Sliced`].
    static SLICE_END: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The time that the current poll spent on a blocked thread, while other threads served.
    static BLOCKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// The steps of work that the current poll has done, without those on a blocked thread.
    static STEPS: Cell<u64> = const { Cell::new(0) };
    /// The permit of the current poll.
    static PERMIT: Cell<Option<PollPermit>> = const { Cell::new(None) };
    /// What the current poll has done.
    static DONE: Cell<PollDone> = const { Cell::new(PollDone::NOTHING) };
}

/// The longest poll of any task of the process, in nanoseconds.
static LONGEST_POLL_NANOS: AtomicU64 = AtomicU64::new(0);

/// The polls of all tasks of the process that took more than [`LONG_POLL_TIME`].
static LONG_POLLS: AtomicU64 = AtomicU64::new(0);

/// The most steps of work that one poll of any task of the process has done.
static LONGEST_POLL_STEPS: AtomicU64 = AtomicU64::new(0);

/// What a poll has done that matters for the next poll of its task.
#[derive(Clone, Copy)]
struct PollDone {
    /// Whether it ends because its slice is over.
    yields: bool,
    /// Whether it was of a transaction that writes.
    writes: bool,
}

impl PollDone {
    const NOTHING: Self = Self {
        yields: false,
        writes: false,
    };
}

/// A task whose polls have a slice of time each.
pub struct Sliced<F> {
    task: Pin<Box<F>>,
    next: NextPoll,
}

impl<F> Sliced<F> {
    /// Begins a slice at each poll of `task`. Wrap whole tasks only.
    pub fn new(task: F) -> Self {
        Self {
            task: Box::pin(task),
            next: NextPoll::default(),
        }
    }
}

impl<F: Future> Future for Sliced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let permit = ready!(self.next.poll_permit(context));
        let slice = Slice::begin(permit);
        let polled = self.task.as_mut().poll(context);
        if slice_is_over() {
            let PollDone { yields, writes } = DONE.get();
            if self.next.is_long(yields, writes, PERMIT.take()) {
                // The part that yields can be dropped in the same poll, and would wake nobody. To yield wakes
                // the task after the scheduler has looked for new requests.
                let mut yields = pin!(tokio::task::yield_now());
                let _pending = yields.as_mut().poll(context);
            }
        } else {
            self.next.is_free();
        }
        drop(slice);
        polled
    }
}

/// One poll of a task. Restores the slice around it when it is dropped, also by a panic.
struct Slice {
    /// By the clock of the thread.
    begun: Duration,
    around: (Option<Instant>, Duration, u64, PollDone),
    /// The permit of the poll around.
    permit_around: Option<PollPermit>,
}

impl Slice {
    fn begin(permit: Option<PollPermit>) -> Self {
        let begun = thread_time();
        let end = Instant::now() + SLICE_TIME;
        let around = (
            SLICE_END.replace(Some(end)),
            BLOCKED.replace(Duration::ZERO),
            STEPS.replace(0),
            DONE.replace(PollDone::NOTHING),
        );
        Self {
            begun,
            around,
            permit_around: PERMIT.replace(permit),
        }
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        SLICE_END.set(self.around.0);
        let blocked = BLOCKED.replace(self.around.1);
        let steps = STEPS.replace(self.around.2);
        DONE.set(self.around.3);
        PERMIT.set(self.permit_around.take());
        if steps > LONGEST_POLL_STEPS.load(Relaxed) {
            LONGEST_POLL_STEPS.fetch_max(steps, Relaxed);
        }
        let polled = thread_time().saturating_sub(self.begun);
        let polled = polled.saturating_sub(blocked);
        if polled > LONG_POLL_TIME {
            LONG_POLLS.fetch_add(1, Relaxed);
        }
        let nanos = u64::try_from(polled.as_nanos()).unwrap_or(u64::MAX);
        if nanos > LONGEST_POLL_NANOS.load(Relaxed) {
            LONGEST_POLL_NANOS.fetch_max(nanos, Relaxed);
        }
    }
}

/// The longest poll of any task of the process, without the time in which its thread was blocked
/// and others served. It is wall time, so it includes time in which the thread had no processor. In
/// builds with debug assertions on Linux it is time of the processor.
pub fn longest_poll() -> Duration {
    Duration::from_nanos(LONGEST_POLL_NANOS.load(Relaxed))
}

/// The number of polls of the tasks of the process that took more than [`LONG_POLL_TIME`], measured as
/// [`longest_poll`].
pub fn long_polls() -> u64 {
    LONG_POLLS.load(Relaxed)
}

/// The most steps of work that one poll of any task of the process has done, without those of a blocked
/// thread.
pub fn longest_poll_steps() -> u64 {
    LONGEST_POLL_STEPS.load(Relaxed)
}

/// Runs work on which others do not wait. Its time and its steps do not count in this poll, which gives up
/// its permit.
pub(in crate::budget) fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    drop(PERMIT.take());
    let (begun, steps) = (thread_time(), STEPS.get());
    let done = work();
    BLOCKED.set(BLOCKED.get() + thread_time().saturating_sub(begun));
    STEPS.set(steps);
    done
}

/// Counts steps of work of this poll.
#[inline]
pub(crate) fn count_steps(steps: u64) {
    STEPS.set(STEPS.get().saturating_add(steps));
}

/// Takes back steps that were counted and not done.
pub(in crate::budget) fn uncount_steps(steps: u64) {
    STEPS.set(STEPS.get().saturating_sub(steps));
}

/// Records that the current poll is of a transaction that writes.
pub(in crate::budget) fn writes() {
    DONE.set(PollDone {
        writes: true,
        ..DONE.get()
    });
}

/// Whether the slice of the current task is over. False outside of [`Sliced`].
pub fn slice_is_over() -> bool {
    SLICE_END
        .get()
        .is_some_and(|end| STEPS.get() >= STEPS_AT_A_TIME || Instant::now() >= end)
}

/// Waits for a slice that is not over. Call it before a portion of work.
pub async fn turn() {
    while slice_is_over() {
        DONE.set(PollDone {
            yields: true,
            ..DONE.get()
        });
        tokio::task::yield_now().await;
    }
}

/// Yields to the scheduler between two portions of work: inside of [`Sliced`] if the slice is over,
/// elsewhere always.
pub async fn pause() {
    if SLICE_END.get().is_none() {
        tokio::task::yield_now().await;
    }
    turn().await;
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::sync::Arc;

    use futures::StreamExt as _;
    use futures::future::join_all;
    use futures::stream::FuturesUnordered;

    use super::*;

    /// Works in every sibling for one slice, and returns the most siblings that worked in one poll
    /// of the task.
    async fn most_at_once(siblings: usize, yields: impl AsyncFn()) -> usize {
        let worked = Cell::new(0);
        let all = join_all((0..siblings).map(async |_| {
            for _ in 0..3 {
                yields().await;
                let begun = Instant::now();
                while begun.elapsed() < SLICE_TIME {
                    std::hint::spin_loop();
                }
                worked.set(worked.get() + 1);
            }
        }));
        let mut task = pin!(Sliced::new(all));
        let mut most = 0;
        poll_fn(|context| {
            let before = worked.get();
            let polled = task.as_mut().poll(context);
            most = most.max(worked.get() - before);
            polled.map(|_| ())
        })
        .await;
        assert_eq!(worked.get(), 3 * siblings);
        most
    }

    #[tokio::test]
    async fn siblings_share_one_slice() {
        for siblings in [1, 10, 60] {
            assert_eq!(most_at_once(siblings, turn).await, 1, "{siblings}");
            assert_eq!(most_at_once(siblings, pause).await, 1, "{siblings}");
        }
    }

    /// A task that has little to do waits for a slice of a few tasks that always have work, not of all of
    /// them, and these have equal shares.
    #[tokio::test]
    async fn tasks_that_use_up_their_slices_take_turns() {
        const TASKS: usize = 40;
        let slices: Arc<[AtomicU64]> = (0..TASKS).map(|_| AtomicU64::new(0)).collect();
        let tasks = (0..TASKS).map(|number| {
            let slices = slices.clone();
            tokio::spawn(Sliced::new(async move {
                loop {
                    turn().await;
                    let begun = Instant::now();
                    while begun.elapsed() < SLICE_TIME {
                        std::hint::spin_loop();
                    }
                    slices[number].fetch_add(1, Relaxed);
                }
            }))
        });
        let tasks: Vec<_> = tasks.collect();
        let sum = || {
            slices
                .iter()
                .map(|slices| slices.load(Relaxed))
                .sum::<u64>()
        };
        // Their first polls need no permits.
        while sum() < TASKS as u64 {
            tokio::task::yield_now().await;
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        while sum() < 5 * TASKS as u64 {
            let before = sum();
            tokio::task::yield_now().await;
            let between = sum() - before;
            assert!(between <= 2 * processors as u64, "{between} slices");
        }
        let slices = slices.iter().map(|slices| slices.load(Relaxed));
        assert!(
            slices.clone().min() >= Some(3),
            "{:?}",
            slices.collect::<Vec<_>>()
        );
        for task in tasks {
            task.abort();
        }
    }

    /// A task keeps no permit if the part that yielded is dropped and the task waits for something else.
    #[tokio::test]
    async fn permits_of_dropped_parts_are_given_up() {
        let spin = async || {
            turn().await;
            let begun = Instant::now();
            while begun.elapsed() < SLICE_TIME {
                std::hint::spin_loop();
            }
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let tasks = (0..2 * processors).map(|_| {
            tokio::spawn(Sliced::new(async move {
                let works = async {
                    loop {
                        spin().await;
                    }
                };
                let mut parts: FuturesUnordered<_> = [Box::pin(works)].into_iter().collect();
                let mut polls = 0;
                poll_fn(|context| {
                    assert!(parts.poll_next_unpin(context).is_pending());
                    polls += 1;
                    if polls < 4 {
                        Poll::Pending
                    } else {
                        Poll::Ready(())
                    }
                })
                .await;
                drop(parts);
                pending::<()>().await;
            }))
        });
        let tasks: Vec<_> = tasks.collect();
        let other = tokio::spawn(Sliced::new(async move {
            for _ in 0..20 {
                spin().await;
            }
        }));
        let ended = tokio::time::timeout(Duration::from_secs(20), other).await;
        ended.expect("no permit is kept").expect("it ends");
        for task in tasks {
            task.abort();
        }
    }

    #[tokio::test]
    async fn a_task_without_a_slice_yields_at_each_pause() {
        let mut paused = pin!(pause());
        let first = poll_fn(|context| Poll::Ready(paused.as_mut().poll(context))).await;
        assert!(first.is_pending());
        paused.await;
        let mut turn = pin!(turn());
        assert!(
            poll_fn(|context| Poll::Ready(turn.as_mut().poll(context)))
                .await
                .is_ready()
        );
    }

    #[tokio::test]
    async fn the_longest_poll_leaves_out_blocked_time() {
        let around = Instant::now() + Duration::from_secs(60);
        SLICE_END.set(Some(around));
        Sliced::new(async { BLOCKED.set(Duration::from_secs(3_600)) }).await;
        assert_eq!(SLICE_END.take(), Some(around));
        assert_eq!(BLOCKED.get(), Duration::ZERO);
        let before = long_polls();
        Sliced::new(async {
            let begun = thread_time();
            while thread_time().saturating_sub(begun) <= LONG_POLL_TIME {
                std::hint::spin_loop();
            }
        })
        .await;
        assert!(longest_poll() > LONG_POLL_TIME, "{:?}", longest_poll());
        assert!(long_polls() > before);
        assert!(longest_poll() < Duration::from_secs(3_600));
    }
}
