//! Declares the fields of `Mutation`. `execute/mutations` has their functions.

mod append;
mod bulk;
mod dropped;
pub(crate) mod fields;
mod indexing;
mod results;
mod take;
