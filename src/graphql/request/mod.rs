//! A request as a client sends it: the body, raw variables, persisted queries and idempotency keys.

pub(crate) mod body;
pub(crate) mod condition;
pub(crate) mod idempotency;
pub(crate) mod operation_list;
pub(crate) mod persisted;
pub(crate) mod query_id;
pub(crate) mod raw_variables;
