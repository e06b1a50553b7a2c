//! Steps of synchronous work.

use std::cell::Cell;

use super::slice::count_steps;
use super::{Budget, Share};
use crate::error::{Error, Result};
use crate::limits::STEPS_PER_DRAW;

/// Steps drawn from a [`Budget`] in portions, so that counting them is cheap. Dropping it returns
/// the unused steps.
pub struct Steps<'b> {
    budget: &'b Budget,
    left: Cell<u64>,
    drawn: Cell<u64>,
    /// The number of steps after which the work is interrupted and started again elsewhere.
    drawn_max: u64,
    interrupted: Cell<bool>,
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
            left: Cell::new(0),
            drawn: Cell::new(0),
            drawn_max,
            interrupted: Cell::new(false),
        }
    }

    /// Spends steps.
    ///
    /// # Errors
    /// As [`Budget::check`].
    #[inline]
    pub fn spend(&self, steps: u64) -> Result<()> {
        if let Some(left) = self.left.get().checked_sub(steps) {
            self.left.set(left);
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
        if self.interrupted.get() {
            return Err(interrupted());
        }
        self.budget.check()
    }

    /// Whether the work was interrupted. Its result must then be ignored.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupted.get()
    }

    /// All steps, including the used ones, which the poll has done all the same.
    pub(super) fn undo(&self) {
        count_steps(self.drawn.get() - self.left.get());
        self.left.set(self.drawn.get());
    }

    #[cold]
    fn draw(&self, steps: u64) -> Result<()> {
        let drawn = steps.max(STEPS_PER_DRAW.min(self.budget.steps_left()));
        if self.drawn.get().saturating_add(drawn) > self.drawn_max {
            self.interrupted.set(true);
            return Err(interrupted());
        }
        self.budget.spend(drawn)?;
        self.budget.check()?;
        self.drawn.set(self.drawn.get() + drawn);
        self.left.set(self.left.get() + drawn - steps);
        Ok(())
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.budget.refund(self.left.get());
    }
}

/// The error inside interrupted work. [`Budget::compute`] never returns it.
fn interrupted() -> Error {
    Error::internal("work was interrupted to continue elsewhere")
}
