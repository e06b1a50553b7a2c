//! Text of a response while it is written.

use super::slice::count_steps;
use super::{Budget, Reservation, pause};
use crate::error::Result;
use crate::limits::{
    COPIED_BYTES_PER_STEP, LEAVES_WRITTEN_AT_A_TIME, WRITTEN_LEAVES_BYTES_AT_A_TIME,
};

/// Counts a text while it is written, so that an unfinished text is bounded like a finished one.
#[derive(Debug)]
pub struct WrittenText<'b> {
    budget: &'b Budget,
    counted_as: CountedAs<'b>,
    /// The bytes of the buffer that were counted.
    counted: usize,
    /// The leaves of the present portion, and the bytes of their keys and values.
    leaves: usize,
    leaf_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
enum CountedAs<'b> {
    /// The buffer is the response.
    Response,
    /// The buffer has one value, which is held.
    Held(&'b Reservation),
}

impl Budget {
    /// Counts text that is written into the buffer of the whole response.
    pub fn response_text(&self) -> WrittenText<'_> {
        WrittenText::new(self, CountedAs::Response)
    }
}

impl Reservation {
    /// Counts text that is written into a buffer of its own, as memory of the reservation.
    pub fn text(&self) -> WrittenText<'_> {
        WrittenText::new(self.budget(), CountedAs::Held(self))
    }
}

impl<'b> WrittenText<'b> {
    fn new(budget: &'b Budget, counted_as: CountedAs<'b>) -> Self {
        Self {
            budget,
            counted_as,
            counted: 0,
            leaves: 0,
            leaf_bytes: 0,
        }
    }

    /// The most bytes that one response may have.
    pub fn bytes_max(&self) -> usize {
        self.budget.response_bytes_max()
    }

    /// Counts the text in the buffer, which now has this length in bytes.
    ///
    /// # Errors
    /// `TOO_LARGE`: the limit of the response, or of the reservation, is exceeded. As
    /// [`Budget::check`].
    pub fn count(&mut self, length: usize) -> Result<()> {
        let more = length.saturating_sub(self.counted);
        self.counted = length;
        match self.counted_as {
            CountedAs::Response => self.budget.check_response(length),
            CountedAs::Held(memory) => memory.hold(more),
        }
    }

    /// Counts leaves whose keys and values have so many bytes. Returns whether the portion is over, so
    /// that [`WrittenText::pace`] is to be called.
    #[inline]
    pub fn leaves(&mut self, leaves: usize, bytes: usize) -> bool {
        self.leaves += leaves;
        self.leaf_bytes += bytes;
        self.leaves >= LEAVES_WRITTEN_AT_A_TIME || self.leaf_bytes >= WRITTEN_LEAVES_BYTES_AT_A_TIME
    }

    /// Counts the steps of the present portion for the slice of the task, and begins the next one.
    fn end_portion(&mut self) {
        let bytes = std::mem::take(&mut self.leaf_bytes) as u64;
        count_steps(std::mem::take(&mut self.leaves) as u64 + bytes / COPIED_BYTES_PER_STEP);
    }

    /// Counts the text in the buffer as [`WrittenText::count`], checks the budget, and yields to the
    /// scheduler.
    ///
    /// # Errors
    /// As [`WrittenText::count`].
    pub async fn pace(&mut self, length: usize) -> Result<()> {
        self.end_portion();
        self.count(length)?;
        self.budget.check()?;
        pause().await;
        Ok(())
    }
}

impl Drop for WrittenText<'_> {
    fn drop(&mut self) {
        self.end_portion();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Bounds;

    #[tokio::test]
    async fn a_text_is_bounded_while_it_is_written() {
        let bounds = Bounds {
            response_bytes: 1_000,
            ..Bounds::DEFAULT
        };
        let budget = Budget::of_test(&bounds);
        let mut text = budget.response_text();
        for length in [200, 400, 1_000] {
            text.pace(length).await.expect("it fits");
        }
        let error = text.pace(1_001).await.expect_err("1,001 bytes");
        assert_eq!(error.kind().code(), "TOO_LARGE", "{error}");
    }
}
