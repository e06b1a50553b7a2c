//! What the server counts, for Prometheus: `/metrics`, in the text format of OpenMetrics.

pub(crate) mod counters;
pub(crate) mod names;
pub(crate) mod registered;
