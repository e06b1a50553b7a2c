//! What the parts of one request share: the budget and the statistics.

pub(crate) mod request_budget;
pub(crate) mod request_stats;
pub(crate) mod rules_in_force;
