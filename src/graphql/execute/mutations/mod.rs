//! Executes mutations: the functions that the root fields call, one after the other in one transaction,
//! and after each the selection of its result, from its plan.

mod append;
mod bulk;
mod call;
mod definitions;
mod delete;
mod document;
mod executor;
pub(crate) mod session;

pub(crate) use executor::{MutationExecutor, MutationResponse};
