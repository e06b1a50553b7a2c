//! Commands that serve, check, compact, copy and back up a store, and those about its indexes, types, schema and rules.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod copy;
pub(crate) mod index;
pub(crate) mod rules;
pub(crate) mod salvage;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod types;
