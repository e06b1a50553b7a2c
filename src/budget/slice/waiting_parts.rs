//! The parts of a task that wait for its next slice.

use std::collections::VecDeque;
use std::task::Waker;

/// Parts of a task, in the order in which they began to wait.
///
/// A task can have tens of thousands of parts, such as the streams of a merge in many fields. Waking all of
/// them for each slice would take longer than the slice.
#[derive(Default)]
pub(super) struct WaitingParts {
    /// Of parts that are not polled with the task. Some may be out of date; to wake them does no harm.
    wakers: VecDeque<Waker>,
    /// Wakes the task, and all parts that are polled with it.
    task: Option<Waker>,
    /// Whether a part has begun to wait in the current poll.
    any: bool,
}

impl WaitingParts {
    /// Before a poll of the task.
    pub(super) fn begin(&mut self, task: &Waker) {
        match &mut self.task {
            Some(known) => known.clone_from(task),
            None => self.task = Some(task.clone()),
        }
        self.any = false;
    }

    /// A part waits.
    pub(super) fn add(&mut self, part: &Waker) {
        self.any = true;
        let is_known = |known: &Waker| known.will_wake(part);
        if !self.task.as_ref().is_some_and(is_known) && !self.wakers.back().is_some_and(is_known) {
            self.wakers.push_back(part.clone());
        }
    }

    /// The part that is to be woken next.
    pub(super) fn next(&mut self) -> Option<Waker> {
        self.wakers.pop_front()
    }

    /// Whether parts wait that are not polled with the task.
    pub(super) fn have_wakers(&self) -> bool {
        !self.wakers.is_empty()
    }

    /// Whether any part waits.
    pub(super) fn any(&self) -> bool {
        self.any || self.have_wakers()
    }
}
