//! The constructors of budgets, one for each kind of work. Budgets are created nowhere else.

use std::time::Duration;

use tokio::time::Instant;

use super::counters::BudgetLimits;
use super::{Budget, Pool};
use crate::limits::{Bounds, CHECKED_DOCUMENT_STEPS_MAX, MOVED_BYTES_MAX, READ_PER_RESPONSE};

/// The time of work that has no deadline of its own.
const UNBOUNDED: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Budget {
    /// The budget of a query.
    pub fn of_request(bounds: &Bounds, pool: &Pool, deadline: Instant) -> Self {
        Self::new(of_request(bounds), pool, deadline)
    }

    /// The budget of one try of a mutation.
    pub fn of_mutation(bounds: &Bounds, pool: &Pool, deadline: Instant) -> Self {
        let limits = BudgetLimits {
            writes: true,
            ..of_request(bounds)
        };
        Self::new(limits, pool, deadline)
    }

    /// The budget of one transaction that writes lines of a stream: that of a mutation.
    pub fn of_lines_written(bounds: &Bounds, pool: &Pool) -> Self {
        Self::of_mutation(bounds, pool, Instant::now() + bounds.request_time)
    }

    /// The budget of a stream of lines that are read. The stream has any length, and what it holds at a
    /// time is limited.
    pub fn of_lines_read(bounds: &Bounds, pool: &Pool) -> Self {
        let limits = BudgetLimits {
            steps: u64::MAX,
            read_bytes: usize::MAX,
            time: UNBOUNDED,
            ..of_request(bounds)
        };
        Self::new(limits, pool, Instant::now() + UNBOUNDED)
    }

    /// The budget of a request with enough time for a test.
    #[cfg(test)]
    pub(crate) fn of_test(bounds: &Bounds) -> Self {
        Self::of_test_in(&Pool::new(1 << 30), bounds)
    }

    /// The budget of a request with enough time for a test, in a pool of memory.
    #[cfg(test)]
    pub(crate) fn of_test_in(pool: &Pool, bounds: &Bounds) -> Self {
        let deadline = Instant::now() + Duration::from_secs(600);
        Self::of_request(bounds, pool, deadline)
    }

    /// The budget of a portion of background work, or of a command that has the store to itself.
    /// Such work limits its portions itself, so only the memory that it holds at a time is limited
    /// here.
    pub fn of_background() -> Self {
        Self::of_background_steps(u64::MAX)
    }

    /// The budget of the validation of one document by a check of stored documents.
    pub fn of_checked_document() -> Self {
        Self::of_background_steps(CHECKED_DOCUMENT_STEPS_MAX)
    }

    fn of_background_steps(steps: u64) -> Self {
        let limits = BudgetLimits {
            steps,
            read_bytes: usize::MAX,
            reserved_bytes: MOVED_BYTES_MAX,
            write_bytes: usize::MAX,
            response_bytes: usize::MAX,
            time: UNBOUNDED,
            writes: true,
        };
        Self::new(limits, &Pool::new(usize::MAX), Instant::now() + UNBOUNDED)
    }
}

fn of_request(bounds: &Bounds) -> BudgetLimits {
    BudgetLimits {
        steps: bounds.steps,
        read_bytes: bounds.read_bytes,
        reserved_bytes: bounds.response_bytes.saturating_mul(READ_PER_RESPONSE),
        write_bytes: bounds.write_bytes,
        response_bytes: bounds.response_bytes,
        time: bounds.request_time,
        writes: false,
    }
}
