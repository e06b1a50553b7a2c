//! The schema: built from schema.graphql when the server starts.

pub(crate) mod built;
pub(crate) mod entities;
pub(crate) mod subgraph_sdl;
