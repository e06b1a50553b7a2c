//! Executes mutations: the functions that the root fields call, one after the other in one transaction,
//! and after each the selection of its result, from its plan.

mod append;
pub(crate) mod attempt;
mod authorize;
mod bulk;
mod call;
mod definitions;
mod delete;
mod document;
mod executor;
mod field_permit;
mod function_places;
pub(crate) mod session;
mod writes;
