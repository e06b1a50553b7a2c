//! The schema: built from schema.graphql when the server starts, and the resolvers of the root fields,
//! which execute what has no plan.

pub(crate) mod built;
pub(crate) mod entities;
pub(crate) mod federation;
pub(crate) mod mutation;
pub(crate) mod node;
pub(crate) mod query;
pub(crate) mod resolvers;
pub(crate) mod subscription;
