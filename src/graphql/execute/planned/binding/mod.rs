//! Binds a plan to the variables of one request.

pub(super) mod arguments;
pub(super) mod bind;
pub(super) mod bound;
mod given;
mod lists;
mod root;
