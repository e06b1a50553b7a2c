//! What operators see: logs, metrics, traces, health.

pub(crate) mod health;
pub(crate) mod metrics;
pub(crate) mod requests;
pub(crate) mod traces;
