//! The slice of time that a task has at each poll.
//!
//! The fields of a request, the operations of a WebSocket and the requests of a connection run in
//! one task. A part of the task that yields alone hands over to the next part, and the scheduler
//! waits for all of them. So a task is polled inside [`Sliced`], which begins a slice at each poll.
//! Once it is over, every part that reaches [`turn`] or [`pause`] is pending until the next poll
//! of the task. Parts ask before they work, so a poll takes one slice and one portion of work. Parts that
//! wait continue in the order in which they began to ([`WaitingParts`]).
//!
//! A task is not ready again at once when its parts wake each other: it continues in its slice, and then waits
//! until the scheduler has polled the other tasks and has checked what has arrived ([`TaskWaker`]).
//!
//! The first slice of a task that did not wait for one is longer than the next ones. Most requests end in it. What
//! others read in the meantime would replace what they have read in the caches of the processor.
//!
//! The scheduler polls tasks in turn. So the more tasks wait for their next slice, the shorter slices are:
//! a new request then waits about [`ROUND_TIME`] for them, not a whole slice for each. First slices are not shorter
//! beside some dozens of tasks: if they were, what ends in one would wait, too, and slow down the others.
//!
//! A slice is also over after [`SLICE_STEPS_MAX`] steps of work. So the most steps of one poll do not
//! depend on the machine, and tests assert them ([`longest_poll_steps`]).

mod poll_clock;
mod task_waker;
mod waiting_parts;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use poll_clock::thread_time;
use task_waker::TaskWaker;
use tokio::task::yield_now;
use waiting_parts::WaitingParts;

use crate::limits::{
    FIRST_SLICE_TIME, FIRST_SLICES_AMONG, LONG_POLL_TIME, PARTS_RESUMED_AT_ONCE, PORTION_STEPS_MAX,
    ROUND_TIME, SLICE_STEPS_MAX, SLICE_TIME, SLICE_TIME_MIN, UNTIMED_STEPS_MAX,
};

thread_local! {
    /// When the slice of the task that this thread polls ends. `None` outside of [`Sliced`].
    static SLICE_END: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The time that the current poll spent on a blocked thread, while other threads served.
    static BLOCKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// The steps of work that the current poll has done, without those on a blocked thread.
    static STEPS: Cell<u64> = const { Cell::new(0) };
    /// Those of them that it had done when it last read the clock.
    static TIMED_STEPS: Cell<u64> = const { Cell::new(0) };
    /// The parts of the current task that wait for its next slice.
    static PARTS: RefCell<WaitingParts> = RefCell::default();
}

/// The tasks of the process that wait for their next slice.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// The longest poll of any task of the process, in nanoseconds.
static LONGEST_POLL_NANOS: AtomicU64 = AtomicU64::new(0);

/// The polls of all tasks of the process that took more than [`LONG_POLL_TIME`].
static LONG_POLLS: AtomicU64 = AtomicU64::new(0);

/// The most steps of work that one poll of any task of the process has done.
static LONGEST_POLL_STEPS: AtomicU64 = AtomicU64::new(0);

/// A task whose polls have a slice of time each.
pub struct Sliced<F> {
    task: Pin<Box<F>>,
    parts: WaitingParts,
    /// Of the last poll.
    waker: Option<(Arc<TaskWaker>, Waker)>,
    /// Set while the task waits for its next slice.
    waiting: Option<Waiting>,
}

impl<F> Sliced<F> {
    /// Begins a slice at each poll of `task`. Wrap whole tasks only.
    pub fn new(task: F) -> Self {
        Self {
            task: Box::pin(task),
            parts: WaitingParts::default(),
            waker: None,
            waiting: None,
        }
    }
}

impl<F: Future> Future for Sliced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, scheduled: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let has_waited = this.waiting.take().is_some();
        let others = WAITING.load(Relaxed);
        let slice_time = if has_waited {
            slice_time(SLICE_TIME, others)
        } else {
            first_slice_time(others)
        };
        let known = this
            .waker
            .take_if(|(task, _)| task.wakes(scheduled.waker()));
        let (task, waker) = this.waker.insert(known.unwrap_or_else(|| {
            let task = TaskWaker::new(scheduled.waker());
            (task.clone(), task.into())
        }));
        let context = &mut Context::from_waker(waker);
        this.parts.begin(waker);
        let slice = Slice::begin(&mut this.parts, slice_time);
        let mut resumed = 1;
        let wakes = task.begin_poll();
        let polled = loop {
            wake_parts(resumed);
            wakes.forget();
            let polled = this.task.as_mut().poll(context);
            let goes_on = wakes.any() || PARTS.with_borrow(WaitingParts::have_wakers);
            if polled.is_ready() || !goes_on || slice_is_over() {
                break polled;
            }
            resumed = PARTS_RESUMED_AT_ONCE.min(2 * resumed);
        };
        drop(slice);
        if polled.is_pending() && (wakes.any() || this.parts.any()) {
            this.waiting = Some(Waiting::begin());
            let _ = pin!(yield_now()).poll(scheduled);
        }
        polled
    }
}

/// Wakes the parts of the current task that have waited longest.
fn wake_parts(count: usize) {
    for _ in 0..count {
        match PARTS.with_borrow_mut(WaitingParts::next) {
            Some(part) => part.wake(),
            None => return,
        }
    }
}

/// A task among those that wait for their next slice, until it is dropped.
struct Waiting;

impl Waiting {
    fn begin() -> Self {
        WAITING.fetch_add(1, Relaxed);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Relaxed);
    }
}

/// The processors that serve tasks.
static PROCESSORS: LazyLock<u32> = LazyLock::new(|| {
    let processors = thread::available_parallelism();
    processors.map_or(1, |processors| u32::try_from(processors.get()).unwrap_or(1))
});

/// The time of the first slice of a task, beside as many tasks that wait for theirs.
fn first_slice_time(waiting: u32) -> Duration {
    if waiting <= FIRST_SLICES_AMONG * *PROCESSORS {
        FIRST_SLICE_TIME
    } else {
        slice_time(FIRST_SLICE_TIME, waiting)
    }
}

/// The time of a slice of at most `slice_max`, beside as many tasks that wait for theirs: the share of one
/// of them in [`ROUND_TIME`].
fn slice_time(slice_max: Duration, waiting: u32) -> Duration {
    (ROUND_TIME * *PROCESSORS / waiting.max(1)).clamp(SLICE_TIME_MIN, slice_max)
}

/// One poll of a task. Restores the slice around it when it is dropped, also by a panic.
struct Slice<'t> {
    /// By the clock of the thread.
    begun: Duration,
    around: (Option<Instant>, Duration, u64),
    /// Those of the task around it. Between the polls of the task, its own.
    parts: &'t mut WaitingParts,
}

impl<'t> Slice<'t> {
    fn begin(parts: &'t mut WaitingParts, time: Duration) -> Self {
        let begun = thread_time();
        let end = Instant::now() + time;
        let around = (
            SLICE_END.replace(Some(end)),
            BLOCKED.replace(Duration::ZERO),
            STEPS.replace(0),
        );
        TIMED_STEPS.set(0);
        swap_parts(parts);
        Self {
            begun,
            around,
            parts,
        }
    }
}

impl Drop for Slice<'_> {
    fn drop(&mut self) {
        SLICE_END.set(self.around.0);
        let blocked = BLOCKED.replace(self.around.1);
        let steps = STEPS.replace(self.around.2);
        swap_parts(self.parts);
        if steps > LONGEST_POLL_STEPS.load(Relaxed) {
            LONGEST_POLL_STEPS.fetch_max(steps, Relaxed);
        }
        let polled = thread_time()
            .saturating_sub(self.begun)
            .saturating_sub(blocked);
        if polled > LONG_POLL_TIME {
            LONG_POLLS.fetch_add(1, Relaxed);
        }
        let nanos = u64::try_from(polled.as_nanos()).unwrap_or(u64::MAX);
        if nanos > LONGEST_POLL_NANOS.load(Relaxed) {
            LONGEST_POLL_NANOS.fetch_max(nanos, Relaxed);
        }
    }
}

fn swap_parts(parts: &mut WaitingParts) {
    PARTS.with_borrow_mut(|current| mem::swap(current, parts));
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

/// Runs work on which others do not wait. Its time and its steps do not count in this poll.
pub(super) fn uncounted<T>(work: impl FnOnce() -> T) -> T {
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
pub(super) fn uncount_steps(steps: u64) {
    STEPS.set(STEPS.get().saturating_sub(steps));
}

/// Whether the slice of the current task is over. False outside of [`Sliced`].
pub fn slice_is_over() -> bool {
    SLICE_END.get().is_some_and(|end| {
        TIMED_STEPS.set(STEPS.get());
        steps_are_over() || Instant::now() >= end
    })
}

/// Whether the current poll has done the steps of a slice and of a portion behind it. False outside of
/// [`Sliced`].
pub(super) fn portion_is_over() -> bool {
    SLICE_END.get().is_some() && STEPS.get() >= SLICE_STEPS_MAX + PORTION_STEPS_MAX
}

/// Whether the current poll has done the steps of a slice.
#[inline]
fn steps_are_over() -> bool {
    STEPS.get() >= SLICE_STEPS_MAX
}

/// [`turn`] before a portion of so many steps, which then count. The clock is read only before a portion of
/// more than [`UNTIMED_STEPS_MAX`] steps, or if the poll has done more since it was read.
#[inline]
pub(super) async fn turn_for(steps: u64) {
    let untimed_steps = STEPS.get().abs_diff(TIMED_STEPS.get());
    if steps > UNTIMED_STEPS_MAX || untimed_steps > UNTIMED_STEPS_MAX {
        turn().await;
    }
}

/// Waits for a slice that is not over. Call it before a portion of work.
pub async fn turn() {
    poll_fn(|context| {
        if !slice_is_over() {
            return Poll::Ready(());
        }
        PARTS.with_borrow_mut(|parts| parts.add(context.waker()));
        Poll::Pending
    })
    .await;
}

/// Yields to the scheduler between two portions of work: inside of [`Sliced`] if the slice is over,
/// elsewhere always.
pub async fn pause() {
    if SLICE_END.get().is_none() {
        yield_now().await;
    }
    turn().await;
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;

    /// Works in every sibling for one slice, and returns the most siblings that worked in one poll
    /// of the task.
    async fn most_at_once(siblings: usize, yields: impl AsyncFn()) -> usize {
        let worked = Cell::new(0);
        let all = join_all((0..siblings).map(async |_| {
            for _ in 0..3 {
                yields().await;
                let begun = Instant::now();
                while begun.elapsed() < FIRST_SLICE_TIME {
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

    /// The polls of this many parts, of which each works for two slices, and whether they end in their order.
    /// Slices end by steps only, because those that end by time would poll parts without need.
    async fn polls_of_parts(count: usize) -> (usize, bool) {
        let polls = Cell::new(0);
        let ended = RefCell::new(Vec::new());
        let (counted, noted) = (&polls, &ended);
        let parts = (0..count).map(async |part| {
            let mut works = pin!(async {
                for _ in 0..2 {
                    turn().await;
                    count_steps(SLICE_STEPS_MAX);
                }
            });
            poll_fn(|context| {
                counted.set(counted.get() + 1);
                works.as_mut().poll(context)
            })
            .await;
            noted.borrow_mut().push(part);
        });
        let mut parts = pin!(join_all(parts));
        let task = Sliced::new(poll_fn(|context| {
            SLICE_END.set(Some(Instant::now() + Duration::from_secs(60)));
            parts.as_mut().poll(context)
        }));
        tokio::time::timeout(Duration::from_secs(60), task)
            .await
            .expect("every part ends");
        (polls.get(), ended.take().is_sorted())
    }

    /// A part is polled when it can continue, and seldom without need.
    #[tokio::test]
    async fn many_parts_are_resumed_in_their_order() {
        const PARTS: usize = 10_000;
        let (polls, in_order) = polls_of_parts(PARTS).await;
        assert!(polls <= 4 * PARTS, "{polls} polls");
        assert!(in_order);
    }

    #[tokio::test]
    async fn a_part_that_ends_early_does_not_stop_those_behind_it() {
        let task = Sliced::new(async {
            let first = async {
                count_steps(SLICE_STEPS_MAX);
                tokio::select! {
                    biased;
                    () = turn() => {}
                    () = std::future::ready(()) => {}
                }
            };
            first.await;
            let parts = (0..100).map(async |_| turn().await);
            join_all(parts).await.len()
        });
        assert_eq!(task.await, 100);
    }

    #[tokio::test]
    async fn a_task_waits_from_the_end_of_its_slice_to_its_next_poll() {
        let mut task = pin!(Sliced::new(async {
            count_steps(SLICE_STEPS_MAX);
            turn().await;
            std::future::pending::<()>().await;
        }));
        for waits in [true, false] {
            let polled = poll_fn(|context| Poll::Ready(task.as_mut().poll(context))).await;
            assert!(polled.is_pending());
            assert_eq!(task.waiting.is_some(), waits);
        }
    }

    #[test]
    fn slices_are_shorter_beside_many_tasks() {
        let processors = thread::available_parallelism().expect("known").get();
        let processors = u32::try_from(processors).expect("not as many");
        for few in [0, FIRST_SLICES_AMONG, FIRST_SLICES_AMONG * processors] {
            assert_eq!(first_slice_time(few), FIRST_SLICE_TIME);
        }
        assert!(first_slice_time(FIRST_SLICES_AMONG * processors + 1) < FIRST_SLICE_TIME);
        for few in [0, 1] {
            assert_eq!(slice_time(SLICE_TIME, few), SLICE_TIME);
        }
        for tasks in [40, 100] {
            let share = ROUND_TIME / tasks;
            assert_eq!(first_slice_time(tasks * processors), share);
            assert_eq!(slice_time(SLICE_TIME, tasks * processors), share);
        }
        assert_eq!(first_slice_time(u32::MAX), SLICE_TIME_MIN);
        assert_eq!(slice_time(SLICE_TIME, u32::MAX), SLICE_TIME_MIN);
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
