//! Executes a prepared query: by its plan, or by the resolvers of the schema.

pub(crate) mod filter_text;
pub(crate) mod normalize;
pub(crate) mod planned;
pub(crate) mod service;
