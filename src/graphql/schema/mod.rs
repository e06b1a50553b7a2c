//! The schema: built from schema.graphql and the types of collections, and again when these change.
//!
//! - `schema_source` has the definitions, `scope` says which of them a server has.
//! - `register` builds the library's schema from them, with their `annotations`, and `text` prints it.
//! - `served_schema` is a schema that is built, with its `types` in the form in which validation looks
//!   them up.
//! - `typed` makes the types of collections that have a JSON Schema.
//! - `entities` reads what the gateway of a federated graph sends.

mod annotations;
pub(crate) mod entities;
mod register;
pub(crate) mod schema_source;
pub(crate) mod scope;
pub(crate) mod served_schema;
pub(crate) mod text;
pub(crate) mod typed;
pub(crate) mod types;
