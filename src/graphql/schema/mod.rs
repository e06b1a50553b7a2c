//! The schema: built from schema.graphql when the server starts.
//!
//! - `schema_source` has the definitions, `scope` says which of them a server has.
//! - `register` builds the library's schema from them, with their `annotations`, and `text` prints it.
//! - `served_schema` is a schema that is built, with its `types` and `inputs` in the form in which
//!   validation looks them up.
//! - `entities` and `subgraph_sdl` are what a federated graph needs.

mod annotations;
pub(crate) mod entities;
pub(crate) mod inputs;
mod register;
pub(crate) mod schema_source;
pub(crate) mod scope;
pub(crate) mod served_schema;
mod subgraph_sdl;
pub(crate) mod text;
pub(crate) mod types;
