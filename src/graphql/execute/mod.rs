//! Executes a prepared operation from its plan.

pub(crate) mod allowed;
pub(crate) mod change_targets;
pub(crate) mod failures;
pub(crate) mod filter_text;
pub(crate) mod hints;
pub(crate) mod interface;
pub(crate) mod mutations;
pub(crate) mod operation;
pub(crate) mod planned;
pub(crate) mod replaceable;
pub(crate) mod service;
pub(crate) mod streaming;
pub(crate) mod subscriptions;
