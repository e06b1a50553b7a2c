//! What a request may still use: steps of work, bytes read, written, held and returned, and time.
//!
//! Each request has one [`Budget`], created in `budget::kinds`. All code whose work grows with what
//! clients send or store takes it. Asynchronous loops spend steps with [`Budget::pace`], which also
//! yields to the scheduler. Synchronous loops use [`Steps`] inside [`Budget::compute`], which moves
//! long work to a blocking thread. A task of the server has one slice of time for each poll
//! (`budget::slice`). Loops that spend no steps ask for the slice in [`in_turns`]; synchronous work of a
//! known length runs in [`Budget::portion`]. What owns much memory is freed as an [`OwnedList`].
//!
//! A used-up resource fails with [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted),
//! which is a statement about the request and never about the data. The budget keeps the first such
//! error and returns it to all later calls, so an operation that ignores the error cannot succeed.

mod compute;
mod counters;
mod kinds;
mod owned_list;
mod pool;
mod reservation;
mod shed_waiting;
mod slice;
mod steps;
mod turns;
mod waiting_client;
mod written_text;

pub(crate) use compute::reads_here;
pub use compute::{block_thread, grow, offload_if_large, portion, release_unused};
pub use counters::Budget;
pub use owned_list::{OwnedList, free};
pub use pool::{Pool, Share};
pub use reservation::Reservation;
pub(crate) use slice::count_steps;
pub use slice::{Sliced, long_polls, longest_poll, longest_poll_steps, pause, slice_is_over, turn};
pub use steps::Steps;
pub use turns::{InTurns, Turns, begun_in_turns, in_turns};
pub(crate) use waiting_client::WaitingClient;
pub use written_text::WrittenText;

pub use crate::error::{Limit, Resource};

#[cfg(test)]
mod tests;
