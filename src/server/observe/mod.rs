//! Observability: logs, metrics, traces and health checks.

pub(crate) mod health;
pub(crate) mod metrics;
pub(crate) mod refusal_log;
pub(crate) mod requests;
pub(crate) mod traces;
