//! What the resolvers of one request share: the snapshot or transaction, batched loads, the budget.

pub(crate) mod batcher;
pub(crate) mod request_budget;
pub(crate) mod request_stats;
pub(crate) mod session;
