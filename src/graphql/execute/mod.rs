//! Executes a prepared query: from its plan, or with the resolvers of the schema.

pub(crate) mod filter_text;
pub(crate) mod normalize;
pub(crate) mod planned;
pub(crate) mod service;
pub(crate) mod streaming;
