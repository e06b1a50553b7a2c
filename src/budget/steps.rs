//! Steps of synchronous work.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::slice::count_steps;
use super::{Budget, Share};
use crate::error::{Error, Result};
use crate::limits::STEPS_PER_DRAW;

/// Steps drawn from a [`Budget`] in portions, so that counting them is cheap. Dropping it returns
/// the unused steps. One task spends them. The counters are atomic only so that the task can wait
/// meanwhile and continue on another thread.
pub struct Steps<'b> {
    budget: &'b Budget,
    left: AtomicU64,
    drawn: AtomicU64,
    /// The number of steps after which the work is interrupted and started again elsewhere.
    drawn_max: u64,
    interrupted: AtomicBool,
}

impl<'b> Steps<'b> {
    /// Steps for work that is never interrupted.
    pub fn of(budget: &'b Budget) -> Self {
        Self::at_most(budget, u64::MAX)
    }

    /// Steps for work that is interrupted after `drawn_max` steps.
    pub(super) fn at_most(budget: &'b Budget, drawn_max: u64) -> Self {
        Self {
            budget,
            left: AtomicU64::new(0),
            drawn: AtomicU64::new(0),
            drawn_max,
            interrupted: AtomicBool::new(false),
        }
    }

    /// Spends steps.
    ///
    /// # Errors
    /// As [`Budget::check`].
    #[inline]
    pub fn spend(&self, steps: u64) -> Result<()> {
        if let Some(left) = self.left.load(Relaxed).checked_sub(steps) {
            self.left.store(left, Relaxed);
            return Ok(());
        }
        self.draw(steps)
    }

    /// An empty share of the memory of all requests, without an uncounted part.
    pub fn counted_share(&self) -> Share {
        self.budget.counted_share()
    }

    /// Fails if an earlier call failed.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn check(&self) -> Result<()> {
        if self.interrupted.load(Relaxed) {
            return Err(interrupted());
        }
        self.budget.check()
    }

    /// Whether the work was interrupted. Its result must then be ignored.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupted.load(Relaxed)
    }

    /// All steps, including the used ones, which the poll has done all the same.
    pub(super) fn undo(&self) {
        count_steps(self.drawn.load(Relaxed) - self.left.load(Relaxed));
        self.left.store(self.drawn.load(Relaxed), Relaxed);
    }

    #[cold]
    fn draw(&self, steps: u64) -> Result<()> {
        let drawn = steps.max(STEPS_PER_DRAW.min(self.budget.steps_left()));
        if self.drawn.load(Relaxed).saturating_add(drawn) > self.drawn_max {
            self.interrupted.store(true, Relaxed);
            return Err(interrupted());
        }
        self.budget.spend(drawn)?;
        self.budget.check()?;
        self.drawn.store(self.drawn.load(Relaxed) + drawn, Relaxed);
        self.left
            .store(self.left.load(Relaxed) + drawn - steps, Relaxed);
        Ok(())
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.budget.refund(self.left.load(Relaxed));
    }
}

/// The error inside interrupted work. [`Budget::compute`] never returns it.
fn interrupted() -> Error {
    Error::internal("work was interrupted to continue elsewhere")
}
