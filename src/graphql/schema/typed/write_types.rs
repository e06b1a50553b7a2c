//! Makes the input types of a collection's documents: those that are stored, and patches of them.

use std::collections::{HashMap, HashSet, VecDeque};

use async_graphql::Positioned;
use async_graphql::parser::types::{
    InputValueDefinition, ObjectType, Type, TypeDefinition, TypeKind,
};

use super::definitions::{argument, input, list, named};
use super::object_types::ObjectTypes;
use super::type_names::{is_usable, too_long};
use super::typed_fields::{LeafType, TypedField, TypedPlace, TypedValue};
use super::typed_writes::{Written, WrittenMember};
use crate::document::path::{Path, Segment, Token};
use crate::graphql::schema::types::base_name;
use crate::limits::GRAPHQL_REQUIRED_FIELDS_MAX;

/// The input types of one collection.
#[derive(Default)]
pub(super) struct WriteTypes {
    pub(super) definitions: Vec<TypeDefinition>,
    /// What their members mean.
    pub(super) members: HashMap<String, HashMap<String, WrittenMember>>,
}

/// What an input type is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum InputFor {
    /// A value that is stored.
    Value,
    /// A merge patch of one.
    Patch,
}

impl InputFor {
    /// The name of the input for values of an object type.
    pub(super) fn name(self, ty: &str) -> String {
        match self {
            Self::Value => format!("{ty}Input"),
            Self::Patch => format!("{ty}Patch"),
        }
    }

    fn description(self, ty: &str) -> String {
        match self {
            Self::Value => format!(
                "A `{ty}` that is stored. A member that is null is left out, unless it can be null."
            ),
            Self::Patch => format!(
                "Changes of a `{ty}`. A member that is not given is unchanged, and null removes it. Lists are replaced."
            ),
        }
    }
}

/// Makes the input types that are reached from the type of documents. There are none if that has no
/// members.
///
/// # Errors
/// Why there are none.
pub(super) fn write_types(root: &str, made: &ObjectTypes) -> Result<WriteTypes, String> {
    let definitions = made.definitions.iter().filter_map(|it| match &it.kind {
        TypeKind::Object(object) => Some((it.name.node.as_str(), object)),
        _ => None,
    });
    let objects: HashMap<&str, &ObjectType> = definitions.collect();
    let sizes = RequiredSizes::of(&objects, made);
    let mut found = WriteTypes::default();
    let mut seen = HashSet::new();
    let mut open = VecDeque::new();
    for kind in [InputFor::Value, InputFor::Patch] {
        seen.insert((root, kind));
        open.push_back((root, kind));
    }
    while let Some((name, kind)) = open.pop_front() {
        let (Some(object), Some(reads)) = (objects.get(name), made.fields.get(name)) else {
            continue;
        };
        let mut members = HashMap::new();
        let mut inputs: Vec<Positioned<InputValueDefinition>> = Vec::new();
        let mut size = sizes.of_type();
        for field in &object.fields {
            let field = &field.node;
            let member = field.name.node.as_str();
            let about = field
                .description
                .as_ref()
                .map_or("", |about| about.node.as_str());
            match reads.get(member) {
                Some(TypedField::EntryKey) => {
                    inputs.push(argument(member, named("String", true), about));
                }
                Some(TypedField::Value(path, place)) => {
                    let base = base_name(&field.ty.node.base);
                    let mut reach = |kind| {
                        if seen.insert((base, kind)) {
                            open.push_back((base, kind));
                        }
                    };
                    let (ty, of) = input_of(place, base, kind, &mut reach);
                    let required = kind == InputFor::Value
                        && place.required
                        && (!matches!(place.value, TypedValue::Object) || size.adds(base));
                    let ty = Type {
                        nullable: !required,
                        ..ty
                    };
                    inputs.push(argument(member, ty, about));
                    let meaning = WrittenMember {
                        name: member_of(path).unwrap_or(member).into(),
                        of,
                        keeps_null: kind == InputFor::Patch || place.nullable,
                    };
                    members.insert(member.to_owned(), meaning);
                }
                _ => {}
            }
        }
        if inputs.is_empty() {
            continue;
        }
        let name = (kind.name(name), kind.description(name));
        if !is_usable(&name.0) {
            return Err(too_long(&name.0));
        }
        found.definitions.push(input(&name.0, &name.1, inputs));
        found.members.insert(name.0, members);
    }
    Ok(found)
}

/// The type and the meaning of a member whose field has the type `base`, without lists.
fn input_of(
    place: &TypedPlace,
    base: &str,
    kind: InputFor,
    reach: &mut impl FnMut(InputFor),
) -> (Type, Written) {
    match &place.value {
        TypedValue::Leaf(LeafType::Enum(_)) => (named(base, false), Written::Enum),
        TypedValue::Leaf(_) => (named(base, false), Written::Value),
        TypedValue::Object => {
            reach(kind);
            let name = kind.name(base);
            (named(&name, false), Written::Object(name))
        }
        TypedValue::Map => {
            reach(kind);
            let name = kind.name(base);
            (list(named(&name, true), false), Written::Map(name))
        }
        TypedValue::List(element) => {
            // Lists are replaced, so their elements are values.
            let (ty, of) = input_of(element, base, InputFor::Value, reach);
            let ty = Type {
                nullable: !element.required,
                ..ty
            };
            (list(ty, false), Written::List(Box::new(of)))
        }
    }
}

/// The library follows every path of required input objects when it builds a schema, and has no memory of
/// those that it has followed. The number of paths can double with each type, so it is limited here. A member
/// over the limit can be null in the input; the type of the collection still requires it.
///
/// For each object type of which there are finite values, the number of fields on all paths of required
/// objects from it. A type that has to be inside itself has no finite value, and GraphQL rejects such an
/// input.
struct RequiredSizes<'m>(HashMap<&'m str, usize>);

/// The required members of one type so far, in the order of its fields.
struct RequiredSize<'s> {
    sizes: &'s RequiredSizes<'s>,
    fields: usize,
}

impl<'m> RequiredSizes<'m> {
    fn of(objects: &HashMap<&'m str, &'m ObjectType>, made: &'m ObjectTypes) -> Self {
        let mut sizes = Self(HashMap::new());
        let mut open = Vec::new();
        // For each type, the number of its required objects that have no size yet.
        let mut unknown: HashMap<&str, usize> = HashMap::new();
        // The types that require an object of a type.
        let mut around: HashMap<&str, Vec<&'m str>> = HashMap::new();
        for (name, object) in objects {
            let mut count = 0;
            for ty in required_objects(name, object, made) {
                around.entry(ty).or_default().push(*name);
                count += 1;
            }
            if count == 0 {
                open.push(*name);
            } else {
                unknown.insert(*name, count);
            }
        }
        while let Some(name) = open.pop() {
            let Some(object) = objects.get(name) else {
                continue;
            };
            let mut size = sizes.of_type();
            for ty in required_objects(name, object, made) {
                size.adds(ty);
            }
            let fields = size.fields.saturating_add(object.fields.len());
            sizes.0.insert(name, fields);
            for around in around.remove(name).unwrap_or_default() {
                let Some(count) = unknown.get_mut(around) else {
                    continue;
                };
                *count -= 1;
                if *count == 0 {
                    open.push(around);
                }
            }
        }
        sizes
    }

    fn of_type(&self) -> RequiredSize<'_> {
        RequiredSize {
            sizes: self,
            fields: 0,
        }
    }
}

impl RequiredSize<'_> {
    /// Adds the next member with an object of a type, if it can be required. Returns whether it can.
    fn adds(&mut self, ty: &str) -> bool {
        let Some(fields) = self.sizes.0.get(ty) else {
            return false;
        };
        let fields = self.fields.saturating_add(*fields);
        let is_allowed = fields <= GRAPHQL_REQUIRED_FIELDS_MAX;
        if is_allowed {
            self.fields = fields;
        }
        is_allowed
    }
}

/// The types of the required objects of a type, in the order of its fields.
fn required_objects<'m>(
    name: &str,
    object: &'m ObjectType,
    made: &'m ObjectTypes,
) -> impl Iterator<Item = &'m str> {
    let reads = made.fields.get(name);
    object.fields.iter().filter_map(move |field| {
        let field = &field.node;
        match reads?.get(field.name.node.as_str())? {
            TypedField::Value(_, place)
                if place.required && matches!(place.value, TypedValue::Object) =>
            {
                Some(base_name(&field.ty.node.base))
            }
            _ => None,
        }
    })
}

/// The name of the member at a path.
fn member_of(path: &Path) -> Option<&str> {
    match path.tokens().last() {
        Some(Token::Segment(Segment::Key(name))) => Some(name),
        _ => None,
    }
}
