//! Commands that serve, check, copy and back up a store.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod copy;
pub(crate) mod schema;
pub(crate) mod serve;
