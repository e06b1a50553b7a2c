//! Prometheus metrics: `/metrics`, in the OpenMetrics text format.

pub(crate) mod counters;
mod longest_poll;
pub(crate) mod measured;
pub(crate) mod names;
pub(crate) mod registered;
