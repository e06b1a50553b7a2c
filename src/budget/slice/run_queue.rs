//! The run queue: the tasks that wait for their next slice.
//!
//! As many tasks go on as there are processors, each for several slices; the others wait in the queue. If all went on
//! in turn, each would find in the caches of the processor what others have read, all would hold their memory at
//! once, and a new request would wait for a slice of each.
//!
//! Tasks that have not had a turn wait in a line of their own. Every other turn is one of theirs, so a task that has
//! little work left does not wait for all that have much.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use tokio::task::yield_now;

use crate::limits::{
    FIRST_SLICE_TIME, FIRST_SLICES_TIME, ROUND_TIME, SLICE_TIME, SLICE_TIME_MIN, TURN_TIME,
};

/// Of all tasks of the process.
static RUN_QUEUE: LazyLock<RunQueue> =
    LazyLock::new(|| RunQueue::new(thread::available_parallelism().map_or(1, usize::from)));

/// Tasks that have had their first slice.
struct RunQueue {
    /// The number of tasks that go on together.
    permits: usize,
    state: Mutex<QueueState>,
    /// The number of tasks that wait.
    length: AtomicUsize,
}

#[derive(Default)]
struct QueueState {
    /// Permits that are taken.
    taken: usize,
    /// Tasks that have not had a turn, and those that have.
    lines: [VecDeque<Arc<Ticket>>; 2],
    /// The line whose turn it is.
    line: usize,
}

/// What a task in the queue waits with.
struct Ticket {
    /// Set when the task has a permit. Changes only while the queue is locked.
    granted: AtomicBool,
    waker: Mutex<Waker>,
}

/// The permit of a task to go on, or its ticket in the queue for one. Dropping it gives it up.
pub(super) struct RunPermit {
    queue: &'static RunQueue,
    /// None if the task goes on.
    ticket: Option<Arc<Ticket>>,
    /// The time of the slices that it has had with this permit.
    used: Duration,
    /// The time of the current slice.
    slice: Duration,
}

impl RunQueue {
    fn new(permits: usize) -> Self {
        Self {
            permits,
            state: Mutex::default(),
            length: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free permit, or a ticket at the end of a line. `waker` wakes the task.
    fn enter(&self, state: &mut QueueState, line: usize, waker: &Waker) -> Option<Arc<Ticket>> {
        if state.taken < self.permits {
            state.taken += 1;
            return None;
        }
        let ticket = Arc::new(Ticket {
            granted: AtomicBool::new(false),
            waker: Mutex::new(waker.clone()),
        });
        state.lines[line].push_back(ticket.clone());
        Some(ticket)
    }

    /// The part of `time` for each task that waits, on one processor: from [`SLICE_TIME_MIN`] to `longest`.
    fn share(&self, time: Duration, longest: Duration) -> Duration {
        let length = self.length.load(Relaxed) / self.permits;
        match u32::try_from(length).unwrap_or(u32::MAX) {
            0 => longest,
            length => (time / length).clamp(SLICE_TIME_MIN, longest),
        }
    }

    /// The time for which a task goes on before another one does, if any waits.
    fn turn_time(&self) -> Duration {
        self.share(ROUND_TIME, TURN_TIME)
    }

    fn first_slice_time(&self) -> Duration {
        self.share(FIRST_SLICES_TIME, FIRST_SLICE_TIME)
    }

    /// Unlocks the queue, and wakes the task that goes on now, but not before the scheduler has looked for what
    /// has arrived: tasks that wake one another would keep it from doing so.
    fn unlock(&self, state: MutexGuard<'_, QueueState>, next: Option<Waker>) {
        self.length
            .store(state.lines.iter().map(VecDeque::len).sum(), Relaxed);
        drop(state);
        if let Some(next) = next {
            let _ = pin!(yield_now()).poll(&mut Context::from_waker(&next));
        }
    }
}

/// The time of the first slice of a task, which did not wait for one.
pub(super) fn first_slice_time() -> Duration {
    RUN_QUEUE.first_slice_time()
}

impl QueueState {
    /// Gives a permit to the first task of a line. Returns what wakes it.
    fn leave(&mut self) -> Option<Waker> {
        let other = 1 - self.line;
        let first = self.lines[self.line].pop_front();
        let Some(first) = first.or_else(|| self.lines[other].pop_front()) else {
            self.taken -= 1;
            return None;
        };
        self.line = other;
        first.granted.store(true, Relaxed);
        let waker = first.waker().clone();
        Some(waker)
    }
}

impl Ticket {
    fn waker(&self) -> MutexGuard<'_, Waker> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunPermit {
    /// For a task that has had its first slice.
    pub(super) fn new(waker: &Waker) -> Self {
        Self::of(&RUN_QUEUE, waker)
    }

    fn of(queue: &'static RunQueue, waker: &Waker) -> Self {
        let mut state = queue.lock();
        let ticket = queue.enter(&mut state, 0, waker);
        queue.unlock(state, None);
        Self {
            queue,
            ticket,
            used: Duration::ZERO,
            slice: Duration::ZERO,
        }
    }

    /// The time of the next slice if the task goes on. If not, `waker` is woken when it does.
    pub(super) fn begin_slice(&mut self, waker: &Waker) -> Option<Duration> {
        self.goes_on(waker).then(|| {
            self.slice = SLICE_TIME.min(self.queue.turn_time());
            self.slice
        })
    }

    /// Whether the task goes on. If not, `waker` is woken when it does.
    pub(super) fn goes_on(&mut self, waker: &Waker) -> bool {
        if let Some(ticket) = &self.ticket {
            let mut known = ticket.waker();
            if !ticket.granted.load(Relaxed) {
                known.clone_from(waker);
                return false;
            }
        }
        self.ticket = None;
        true
    }

    /// After a slice: whether the task goes on. If it has had its turn, it goes to the end of the queue.
    pub(super) fn end_slice(&mut self, waker: &Waker) -> bool {
        self.used += self.slice;
        if self.queue.length.load(Relaxed) == 0 || self.used < self.queue.turn_time() {
            return true;
        }
        let mut state = self.queue.lock();
        let next = state.leave();
        self.ticket = self.queue.enter(&mut state, 1, waker);
        self.queue.unlock(state, next);
        self.used = Duration::ZERO;
        self.ticket.is_none()
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        if let Some(ticket) = &self.ticket
            && !ticket.granted.load(Relaxed)
        {
            for line in &mut state.lines {
                line.retain(|other| !Arc::ptr_eq(other, ticket));
            }
            self.queue.unlock(state, None);
            return;
        }
        let next = state.leave();
        self.queue.unlock(state, next);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    const SLICES_PER_TURN: u128 = TURN_TIME.as_micros() / SLICE_TIME.as_micros();

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn queue(permits: usize) -> &'static RunQueue {
        Box::leak(Box::new(RunQueue::new(permits)))
    }

    #[test]
    fn the_tasks_of_a_queue_have_their_turns_in_order() {
        let queue = queue(2);
        let wakes: Vec<Arc<Wakes>> = (0..4).map(|_| Arc::default()).collect();
        let wakers: Vec<Waker> = wakes.iter().map(|wakes| wakes.clone().into()).collect();
        let mut permits: Vec<_> = wakers
            .iter()
            .map(|waker| RunPermit::of(queue, waker))
            .collect();
        let mut go_on = |turn: &[usize]| {
            for task in 0..4 {
                let goes_on = permits[task].begin_slice(&wakers[task]).is_some();
                assert_eq!(goes_on, turn.contains(&task), "task {task} of {turn:?}");
            }
            for slice in 1..=SLICES_PER_TURN {
                for task in turn {
                    let goes_on = permits[*task].end_slice(&wakers[*task]);
                    assert_eq!(goes_on, slice < SLICES_PER_TURN, "slice {slice}");
                }
            }
        };
        go_on(&[0, 1]);
        go_on(&[2, 0]);
        go_on(&[3, 1]);
        let woken = wakes.iter().map(|wakes| wakes.0.load(Relaxed));
        assert!(woken.eq([2, 1, 2, 1]));
    }

    #[test]
    fn every_other_turn_is_one_of_a_new_task() {
        let queue = queue(1);
        let waker = Waker::noop();
        let mut permits: Vec<_> = (0..3).map(|_| RunPermit::of(queue, waker)).collect();
        let mut next = |task: usize| {
            let begun = permits[task].begin_slice(waker);
            assert_eq!(begun, Some(SLICE_TIME), "{task}");
            while permits[task].end_slice(waker) {}
        };
        next(0);
        next(1);
        next(0);
        next(2);
        next(1);
    }

    #[test]
    fn a_permit_is_given_up_when_it_is_dropped() {
        let queue = queue(1);
        let waker = Waker::noop();
        let first = RunPermit::of(queue, waker);
        let mut permits: Vec<_> = (0..3).map(|_| RunPermit::of(queue, waker)).collect();
        // One in the queue, then the one that goes on, then one that has a permit and has not gone on yet.
        drop(permits.remove(1));
        drop(first);
        drop(permits.remove(0));
        assert!(permits[0].goes_on(waker));
        permits.clear();
        assert!(RunPermit::of(queue, waker).goes_on(waker));
        assert_eq!(queue.lock().taken, 0);
    }

    #[test]
    fn a_task_alone_goes_on_and_turns_are_shorter_in_a_long_queue() {
        let queue = queue(2);
        let waker = Waker::noop();
        let mut permit = RunPermit::of(queue, waker);
        assert!(permit.begin_slice(waker).is_some());
        assert!((0..100 * SLICES_PER_TURN).all(|_| permit.end_slice(waker)));
        let mut times = |length| {
            queue.length.store(length, Relaxed);
            let slice = permit.begin_slice(waker).expect("it has a permit");
            [slice, queue.turn_time(), queue.first_slice_time()]
        };
        assert_eq!(times(0), [SLICE_TIME, TURN_TIME, FIRST_SLICE_TIME]);
        assert_eq!(times(2), [SLICE_TIME, TURN_TIME, FIRST_SLICE_TIME]);
        assert_eq!(
            times(200),
            [ROUND_TIME / 100, ROUND_TIME / 100, FIRST_SLICES_TIME / 100]
        );
        assert_eq!(times(1_000_000), [SLICE_TIME_MIN; 3]);
    }
}
