//! The constraints of one shape on values of each kind.

use std::sync::Arc;

use super::enumeration::Enumeration;
use super::format::Format;
use super::kinds::Kinds;
use super::shape_id::ShapeId;
use crate::document::leaf::Leaf;
use crate::document::regexp::Regexp;

/// What a schema requires of the values at a place. The constraints on a kind hold if the value is of
/// that kind.
#[derive(Clone, Debug)]
pub struct Constraints {
    /// `type`. Only the kinds that `enum` has, if there is one.
    pub kinds: Kinds,
    /// Constraints on objects.
    pub object: ObjectConstraints,
    /// Constraints on arrays.
    pub array: ArrayConstraints,
    /// Constraints on strings.
    pub string: StringConstraints,
    /// Constraints on numbers.
    pub number: NumberConstraints,
    /// `enum`, and `const` as an enumeration of one value.
    pub enumeration: Option<Enumeration>,
}

impl Constraints {
    /// Whether every value fulfils them, whatever is inside it.
    pub fn accepts_everything(&self) -> bool {
        let StringConstraints {
            length_min,
            length_max,
            pattern,
            format,
        } = &self.string;
        let NumberConstraints {
            minimum,
            exclusive_minimum,
            maximum,
            exclusive_maximum,
            multiple_of,
        } = &self.number;
        let bounds = [
            minimum,
            exclusive_minimum,
            maximum,
            exclusive_maximum,
            multiple_of,
        ];
        self.kinds == Kinds::ALL
            && self.enumeration.is_none()
            && self.object.properties.is_empty()
            && self.object.additional == Additional::Open
            && self.array.items.is_none()
            && self.array.items_min == 0
            && self.array.items_max.is_none()
            && *length_min == 0
            && length_max.is_none()
            && pattern.is_none()
            && format.is_none()
            && bounds.iter().all(|bound| bound.is_none())
    }

    /// Their approximate memory, without that of names and values, which are parts of the schema.
    pub fn held(&self) -> usize {
        let property = size_of::<Property>() + size_of::<u32>() + 4 * size_of::<usize>();
        let pattern = self.string.pattern.as_ref();
        let enumeration = self.enumeration.as_ref();
        let values = enumeration.map_or(0, |it| it.values().len());
        size_of::<Self>()
            + self.object.properties.len() * property
            + pattern.map_or(0, Regexp::compiled_bytes)
            + values * (size_of::<Leaf<'_>>() + size_of::<u32>())
    }

    /// Those that all values fulfil.
    pub fn open() -> Self {
        Self {
            kinds: Kinds::ALL,
            object: ObjectConstraints::default(),
            array: ArrayConstraints::default(),
            string: StringConstraints::default(),
            number: NumberConstraints::default(),
            enumeration: None,
        }
    }
}

/// Constraints on objects.
#[derive(Clone, Debug, Default)]
pub struct ObjectConstraints {
    /// `properties`, in the order of the schema, and then further names of `required`.
    pub properties: Vec<Property>,
    /// The positions of the properties in the order of their names.
    pub(in crate::types) by_name: Vec<u32>,
    /// The number of required properties.
    pub(in crate::types) required: usize,
    /// `additionalProperties`
    pub additional: Additional,
}

/// A property of an object.
#[derive(Clone, Debug)]
pub struct Property {
    /// The name of the member.
    pub name: Arc<str>,
    /// The name of the field of GraphQL: `x-graphql.name` of its schema, else the name of the member. It
    /// is a name of GraphQL if the values of the shape are [objects alone](super::ShapeKind::Object).
    pub field: Arc<str>,
    /// The shape of its value.
    pub shape: ShapeId,
    /// Whether every object has it.
    pub required: bool,
}

/// `additionalProperties`: what members may there be that are no properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Additional {
    /// Any.
    #[default]
    Open,
    /// None.
    Forbidden,
    /// Any name, with a value of this shape: the object is a map.
    Map(ShapeId),
}

impl ObjectConstraints {
    pub(in crate::types) fn new(properties: Vec<Property>, additional: Additional) -> Self {
        let mut by_name: Vec<u32> = (0..).take(properties.len()).collect();
        by_name.sort_by(|a, b| {
            let name = |at: u32| &properties[at as usize].name;
            name(*a).cmp(name(*b))
        });
        let required = properties.iter().filter(|it| it.required).count();
        Self {
            properties,
            by_name,
            required,
            additional,
        }
    }

    /// The position of a property in `properties`.
    pub fn position(&self, name: &str) -> Option<usize> {
        let found = self
            .by_name
            .binary_search_by(|at| (*self.properties[*at as usize].name).cmp(name));
        Some(self.by_name[found.ok()?] as usize)
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        Some(&self.properties[self.position(name)?])
    }
}

/// Constraints on arrays.
#[derive(Clone, Debug, Default)]
pub struct ArrayConstraints {
    /// `items`. None if the elements are open.
    pub items: Option<ShapeId>,
    /// `minItems`
    pub items_min: u64,
    /// `maxItems`
    pub items_max: Option<u64>,
}

/// Constraints on strings.
#[derive(Clone, Debug, Default)]
pub struct StringConstraints {
    /// `minLength`, in characters.
    pub length_min: u64,
    /// `maxLength`, in characters.
    pub length_max: Option<u64>,
    /// `pattern`: some part of the string matches.
    pub pattern: Option<Regexp>,
    /// `format`
    pub format: Option<Format>,
}

/// Constraints on numbers.
#[derive(Clone, Debug, Default)]
pub struct NumberConstraints {
    /// `minimum`
    pub minimum: Option<Leaf<'static>>,
    /// `exclusiveMinimum`
    pub exclusive_minimum: Option<Leaf<'static>>,
    /// `maximum`
    pub maximum: Option<Leaf<'static>>,
    /// `exclusiveMaximum`
    pub exclusive_maximum: Option<Leaf<'static>>,
    /// `multipleOf`
    pub multiple_of: Option<Leaf<'static>>,
}
