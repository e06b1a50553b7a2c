//! What one request may still use: steps of work, bytes read, written, held and returned, and time.
//!
//! A request has one [`Budget`]. It is made in `budget::kinds` and passed to all that does work in
//! proportion to what clients send or store. Loops draw steps from it: asynchronous ones by
//! [`Budget::pace`], which also yields to the scheduler, synchronous ones by [`Steps`] inside
//! [`Budget::compute`], which moves long work to a thread that may block.
//!
//! Whoever runs out gets [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted), a statement
//! about the request and never about the data. The first such error stays: whatever asks the budget
//! later gets the same one, so an operation cannot end as if nothing had happened.

mod compute;
mod counters;
mod kinds;
mod pool;
mod reservation;
mod steps;

pub use counters::Budget;

pub use crate::error::{Limit, Resource};
pub use pool::{Pool, Share};
pub use reservation::Reservation;
pub use steps::Steps;

#[cfg(test)]
mod tests;
