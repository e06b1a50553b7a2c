//! The GraphQL types of collections: definitions that are made from their JSON Schemas.
//!
//! - `typed_fields` says what each field of these types reads: the planner binds them with it.
//! - `type_names` chooses the names of a collection's type and of its root fields.
//! - `object_types` makes the types of one collection from its shapes, and `filter_types` the inputs that
//!   filter and order its documents, with `definitions` and `description`.
//! - `typed_inputs` turns such inputs into filters and orders of untyped documents.
//! - `collection_types` does that for all collections, and rejects names that are taken.

pub(crate) mod collection_types;
mod definitions;
mod description;
mod filter_types;
mod object_types;
mod type_names;
pub(crate) mod typed_fields;
pub(crate) mod typed_inputs;
