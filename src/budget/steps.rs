//! Steps of synchronous work.

use std::cell::Cell;

use super::Budget;
use crate::error::{Error, Result};
use crate::limits::STEPS_PER_DRAW;

/// Steps drawn from a [`Budget`] a portion at a time, so that counting costs next to nothing. What
/// is not used goes back when it is dropped.
pub struct Steps<'b> {
    budget: &'b Budget,
    left: Cell<u64>,
    drawn: Cell<u64>,
    /// Steps after which the work is interrupted, to be done again elsewhere.
    drawn_max: u64,
    interrupted: Cell<bool>,
}

impl<'b> Steps<'b> {
    /// Steps for work that runs to its end.
    pub fn of(budget: &'b Budget) -> Self {
        Self::at_most(budget, u64::MAX)
    }

    /// Steps for work that is interrupted after so many.
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

    /// Checks that no earlier spending failed.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn check(&self) -> Result<()> {
        if self.interrupted.get() {
            return Err(interrupted());
        }
        self.budget.check()
    }

    /// Whether the work was interrupted: what it returned means nothing.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupted.get()
    }

    /// Gives back all steps, those that were used included.
    pub(super) fn undo(&self) {
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

/// The error inside work that is interrupted; nobody outside [`Budget::compute`] sees it.
fn interrupted() -> Error {
    Error::internal("work was interrupted to go on elsewhere")
}
