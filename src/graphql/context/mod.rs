//! What one request shares: its snapshot or transaction, its batched loads, its budget.

pub(crate) mod batcher;
pub(crate) mod request_budget;
pub(crate) mod request_stats;
pub(crate) mod session;
