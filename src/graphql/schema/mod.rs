//! The schema: the root fields for queries, mutations and federation, and how the schema is built.

pub(crate) mod build;
pub(crate) mod entities;
pub(crate) mod federation;
pub(crate) mod mutation;
pub(crate) mod node;
pub(crate) mod query;
pub(crate) mod subscription;
