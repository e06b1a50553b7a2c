//! Binds a plan to the variables of one request.

pub(super) mod arguments;
pub(super) mod bind;
mod bind_given;
mod bind_lookups;
mod bind_references;
mod bind_root;
mod bind_typed;
pub(super) mod bound;
pub(super) mod field_reads;
