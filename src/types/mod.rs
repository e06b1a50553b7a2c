//! Types of collections: what documents of a collection look like, declared as a JSON Schema.
//!
//! A [`CollectionType`] is parsed from the text of a schema (2020-12). The schema of every place becomes
//! a [`Shape`]: its [annotations](Shape), and the [constraints](Constraints) on each kind of value. Shapes
//! refer to each other by [`ShapeId`], so that a schema can be recursive. A keyword that the parser does
//! not know is an error and never ignored: whoever reads the schema may rely on all of it.
//!
//! Documents are stored as leaves, so they are validated as a stream of leaves, without a tree. What a
//! keyword requires of a value depends on that value alone, with two exceptions: `required` on the names
//! of an object, and `minItems` and `maxItems` on the length of an array. So after a change only the
//! changed value and the container around it have to be looked at, however large the document is.

mod around_change;
mod collection_type;
mod compatible;
mod indexed_references;
mod infer;
mod parse;
mod schema_json;
mod shape;
mod validate;
mod violation;

#[cfg(test)]
mod tests;

pub use collection_type::{CollectionType, Resolved};
pub use compatible::is_compatible;
pub use indexed_references::{IndexedReference, ReferenceKeys};
pub use infer::{Inference, InferredDocument};
pub use parse::is_graphql_name;
pub use shape::{
    Additional, ArrayConstraints, Constraints, Enumeration, Format, Kinds, NumberConstraints,
    ObjectConstraints, OnDelete, Property, Reference, Shape, ShapeId, ShapeKind, StringConstraints,
};
pub use validate::{NotValidated, SeenReference, Validator, too_many_references};
pub use violation::{Violation, Violations};
