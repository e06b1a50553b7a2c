//! The shape of a place: what its values are, and what the schema says about it besides.

mod constraints;
mod enumeration;
mod format;
mod kinds;
mod shape_id;

use std::sync::Arc;

pub use constraints::{
    Additional, ArrayConstraints, Constraints, NumberConstraints, ObjectConstraints, Property,
    StringConstraints,
};
pub use enumeration::Enumeration;
pub use format::Format;
pub use kinds::Kinds;
pub use shape_id::ShapeId;

/// What a schema says about one place.
#[derive(Clone, Debug)]
pub struct Shape {
    /// `title`
    pub title: Option<Arc<str>>,
    /// `description`
    pub description: Option<Arc<str>>,
    /// `deprecated`
    pub deprecated: bool,
    /// `x-graphql.name`: the name of the type, if the shape is that of the document or a member of
    /// `$defs`. Otherwise it is the name of the field, which [`Property::field`] has.
    pub graphql_name: Option<Arc<str>>,
    /// `x-graphql.plural`. Only the shape of the document has it.
    pub graphql_plural: Option<Arc<str>>,
    /// `x-reference`
    pub reference: Option<Arc<Reference>>,
    /// The shape that has the same constraints and is the first to have them: the shape itself, or the
    /// member of `$defs` that its `$ref` leads to. Shapes with one definition are one type for clients.
    pub definition: ShapeId,
    /// The name of the shape in `$defs`.
    pub definition_name: Option<Arc<str>>,
    /// What its values are.
    pub constraints: Arc<Constraints>,
}

impl Shape {
    /// The single kind of the values, besides null.
    pub fn kind(&self) -> ShapeKind<'_> {
        self.constraints.kind()
    }

    /// Whether null is a value.
    pub fn is_nullable(&self) -> bool {
        self.constraints.is_nullable()
    }
}

/// The kind of the values of a shape, besides null.
#[derive(Clone, Copy, Debug)]
pub enum ShapeKind<'s> {
    /// Objects.
    Object(&'s ObjectConstraints),
    /// Arrays.
    Array(&'s ArrayConstraints),
    /// Strings.
    String(&'s StringConstraints),
    /// Numbers without a fraction. `1.0` is one of them (JSON Schema §4.2.3).
    Integer(&'s NumberConstraints),
    /// Numbers.
    Number(&'s NumberConstraints),
    /// Booleans.
    Boolean,
    /// Values of several kinds, or null alone. They are validated all the same.
    Any,
}

impl Constraints {
    /// The single kind of the values, besides null.
    pub fn kind(&self) -> ShapeKind<'_> {
        match self.kinds.without(Kinds::NULL) {
            Kinds::OBJECT => ShapeKind::Object(&self.object),
            Kinds::ARRAY => ShapeKind::Array(&self.array),
            Kinds::STRING => ShapeKind::String(&self.string),
            Kinds::INTEGER => ShapeKind::Integer(&self.number),
            Kinds::NUMBER => ShapeKind::Number(&self.number),
            Kinds::BOOLEAN => ShapeKind::Boolean,
            _ => ShapeKind::Any,
        }
    }

    /// Whether null is a value.
    pub fn is_nullable(&self) -> bool {
        self.kinds.has(Kinds::NULL)
    }
}

/// `x-reference`: the value is the key of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The collection of that document.
    pub collection: String,
    /// `as`: the name of the field that follows the reference.
    pub field: String,
    /// The name of the field of the other document that lists the documents which refer to it.
    pub inverse: Option<String>,
    /// Whether a write whose target is missing is refused.
    pub exists: bool,
    /// What happens to this document when the other is deleted.
    pub on_delete: OnDelete,
    /// The name of the field that follows the reference again and again. The reference is to the own
    /// collection.
    pub chain: Option<String>,
}

/// What the deletion of a document does to those that refer to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDelete {
    /// Nothing: the reference dangles.
    #[default]
    Ignore,
    /// The deletion is refused.
    Restrict,
    /// The reference becomes null.
    Nullify,
    /// The document is deleted, too.
    Cascade,
}
