//! The polls of tasks: how long one takes.

mod poll_clock;
mod slice;

pub(crate) use slice::count_steps;
pub use slice::{Sliced, long_polls, longest_poll, longest_poll_steps, pause, slice_is_over, turn};
pub(in crate::budget) use slice::{uncount_steps, uncounted};
