//! The GraphQL types of collections: definitions that are made from their JSON Schemas.
//!
//! - `typed_fields` says what each field of these types reads: the planner binds them with it.
//! - `type_names` chooses the names of a collection's type and of its root fields.
//! - `object_types` makes the types of one collection from its shapes, and `filter_types` the inputs that
//!   filter and order its documents, and `write_types` those that store them, with `definitions`.
//! - `reference_fields` makes the fields that follow references, and `page_types` those of pages, also of the documents
//!   that refer to one.
//! - `typed_inputs` turns filters and orders into those of untyped documents, and `typed_writes` documents
//!   into JSON.
//! - `collection_types` does that for all collections, and rejects names that are taken. `check_schema` does so
//!   before a type is stored, and builds its schema.

pub(crate) mod check_schema;
pub(crate) mod collection_types;
mod definitions;
mod filter_types;
mod object_types;
mod page_types;
mod reference_fields;
mod type_names;
pub(crate) mod typed_fields;
pub(crate) mod typed_inputs;
pub(crate) mod typed_schema;
pub(crate) mod typed_writes;
mod write_types;
