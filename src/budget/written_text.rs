//! Text of a response while it is written.

use super::{Budget, Reservation, pause};
use crate::error::Result;

/// Counts a text while it is written, so that an unfinished text is bounded like a finished one.
#[derive(Debug)]
pub struct WrittenText<'b> {
    budget: &'b Budget,
    counted_as: CountedAs<'b>,
    /// The bytes of the buffer that were counted.
    counted: usize,
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

    /// Counts the text in the buffer as [`WrittenText::count`], checks the budget, and yields to the
    /// scheduler.
    ///
    /// # Errors
    /// As [`WrittenText::count`].
    pub async fn pace(&mut self, length: usize) -> Result<()> {
        self.count(length)?;
        self.budget.check()?;
        pause().await;
        Ok(())
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
