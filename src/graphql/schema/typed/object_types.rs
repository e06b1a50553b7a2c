//! Makes the GraphQL types of one collection from the shapes of its type.
//!
//! Each shape with properties becomes an object type, each map an entry type, and each `enum` of names an
//! enum. Shapes with one definition share a type, so the number of types is bounded by that of the shapes,
//! also if the schema is recursive. Shapes are visited breadth first, because the name of a type that is
//! not in `$defs` begins with that of the type around it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use async_graphql::Positioned;
use async_graphql::parser::types::{FieldDefinition, InputValueDefinition, Type, TypeDefinition};

use super::definitions::{
    argument, enumeration, field, list, named, object, of_list, parts_of, printable,
};
use super::reference_fields::{ReadField, reference_fields};
use super::type_names::{CollectionNames, is_usable, pascal_case, too_long};
use super::typed_fields::{BIG_INTEGER, LeafType, TypedField, TypedPlace, TypedValue};
use crate::document::leaf::{Leaf, abridged};
use crate::document::path::{Path, Segment};
use crate::limits::{GRAPHQL_LISTS_MAX, GRAPHQL_MEMBER_BYTES_MAX, GRAPHQL_PARTS_MAX};
use crate::types::{
    Additional, CollectionType, Enumeration, NumberConstraints, ObjectConstraints, Shape, ShapeId,
    ShapeKind,
};

/// The fields of a document besides its members, with their descriptions.
const OF_DOCUMENT: [(&str, &str, bool, TypedField, &str); 4] = [
    (
        "id",
        "ID",
        true,
        TypedField::Id,
        "The global id, as `Document.id`.",
    ),
    (
        "key",
        "ID",
        true,
        TypedField::Key,
        "The key of the document in its collection.",
    ),
    (
        "version",
        "DocumentVersion",
        false,
        TypedField::Version,
        "The commit that last changed the document; null if Phyllo has not written it.",
    ),
    (
        "document",
        "Document",
        true,
        TypedField::Untyped,
        "The same document without its type, to read any part of it by path.",
    ),
];

/// The types of one collection.
#[derive(Default)]
pub(super) struct ObjectTypes {
    pub(super) definitions: Vec<TypeDefinition>,
    /// What the fields of each object type read.
    pub(super) fields: HashMap<String, HashMap<String, TypedField>>,
    /// The parts of these definitions.
    pub(super) parts: usize,
}

/// Makes the types of a collection whose document type has this name.
///
/// # Errors
/// Why there are none, with the place in the schema.
pub(super) fn object_types(
    of: &CollectionType,
    names: &CollectionNames,
) -> Result<ObjectTypes, String> {
    let mut maker = TypeMaker {
        of,
        root: &names.ty,
        named: HashMap::new(),
        taken: HashSet::from([names.ty.clone()]),
        open: VecDeque::new(),
        made: ObjectTypes::default(),
    };
    maker.document()?;
    while let Some(open) = maker.open.pop_front() {
        if maker.made.parts > GRAPHQL_PARTS_MAX {
            // The caller rejects them.
            break;
        }
        maker.make(&open)?;
    }
    Ok(maker.made)
}

struct TypeMaker<'t> {
    of: &'t CollectionType,
    /// The name of the type of documents.
    root: &'t str,
    /// The names of the types of shapes.
    named: HashMap<ShapeId, String>,
    taken: HashSet<String>,
    /// Types that are named and not made.
    open: VecDeque<OpenType>,
    made: ObjectTypes,
}

/// A type that is named and not made.
struct OpenType {
    shape: ShapeId,
    name: String,
    /// The JSON Pointer of the shape in the schema.
    at: String,
}

/// The type of a place in an object.
struct PlaceType {
    ty: Type,
    place: Arc<TypedPlace>,
    arguments: Vec<Positioned<InputValueDefinition>>,
}

/// A place in the schema.
#[derive(Clone, Copy)]
struct SchemaPlace<'p> {
    /// The name of a type that is made for this place alone.
    base: &'p str,
    /// The JSON Pointer in the schema.
    at: &'p str,
    /// The number of lists around it.
    lists: usize,
}

impl TypeMaker<'_> {
    /// Makes the type of documents.
    fn document(&mut self) -> Result<(), String> {
        let of = self.of;
        let root = of.root();
        let mut fields = Vec::new();
        let mut reads = HashMap::new();
        for (name, ty, required, read, description) in OF_DOCUMENT {
            fields.push(field(
                name,
                Vec::new(),
                named(ty, required),
                (description, false),
            ));
            reads.insert(name.to_owned(), read);
        }
        if let ShapeKind::Object(object) = root.kind() {
            self.members(object, self.root, "", &mut fields, &mut reads)?;
        }
        let description = described(root);
        let description = if description.is_empty() {
            printable(&format!(
                "A document of the collection `{}`.",
                of.collection()
            ))
        } else {
            description
        };
        self.add(self.root, &description, fields, reads);
        Ok(())
    }

    /// Makes a type that is named.
    fn make(&mut self, open: &OpenType) -> Result<(), String> {
        let OpenType { shape, name, at } = open;
        let of = self.of;
        let shape = of.shape(*shape);
        let ShapeKind::Object(object) = shape.kind() else {
            return Ok(());
        };
        let (mut fields, mut reads) = (Vec::new(), HashMap::new());
        if let Some(values) = map_of(object) {
            let key = "The name of the member.";
            fields.push(field(
                "key",
                Vec::new(),
                named("String", true),
                (key, false),
            ));
            reads.insert("key".to_owned(), TypedField::EntryKey);
            let place = SchemaPlace {
                base: &format!("{}Value", name.strip_suffix("Entry").unwrap_or(name)),
                at: &format!("{at}/additionalProperties"),
                lists: 0,
            };
            let value = self.place(values, place, true)?;
            let about = described(of.shape(values));
            fields.push(field("value", value.arguments, value.ty, (&about, false)));
            reads.insert(
                "value".to_owned(),
                TypedField::Value(Path::root().clone(), value.place),
            );
            let followed = reference_fields(of, (values, "value", Path::root()), false);
            for followed in followed.map_err(|why| format!("at {:?}: {why}", place.at))? {
                add_followed(followed, place.at, &mut fields, &mut reads)?;
            }
        } else {
            self.members(object, name, at, &mut fields, &mut reads)?;
        }
        self.add(name, &described(shape), fields, reads);
        Ok(())
    }

    fn define(&mut self, definition: TypeDefinition) {
        self.made.parts += parts_of(&definition);
        self.made.definitions.push(definition);
    }

    fn add(
        &mut self,
        name: &str,
        description: &str,
        fields: Vec<Positioned<FieldDefinition>>,
        reads: HashMap<String, TypedField>,
    ) {
        self.define(object(name, description, fields));
        self.made.fields.insert(name.to_owned(), reads);
    }

    /// The fields of the members of an object, which is at a place of the schema.
    fn members(
        &mut self,
        object: &ObjectConstraints,
        name: &str,
        at: &str,
        fields: &mut Vec<Positioned<FieldDefinition>>,
        reads: &mut HashMap<String, TypedField>,
    ) -> Result<(), String> {
        // The document is at the root of the schema, also where it contains itself.
        let is_of_document = at.is_empty();
        for property in &object.properties {
            let at = format!(
                "{at}/properties/{}",
                Segment::Key(property.name.to_string())
            );
            if !is_usable(&property.field) {
                return Err(format!("at {at:?}: {}", too_long(&property.field)));
            }
            if property.name.len() > GRAPHQL_MEMBER_BYTES_MAX {
                return Err(format!(
                    "at {:?}: the name of a property has {} bytes; the limit is {GRAPHQL_MEMBER_BYTES_MAX}",
                    abridged(&at),
                    property.name.len()
                ));
            }
            let place = SchemaPlace {
                base: &format!("{name}{}", pascal_case(&property.field)),
                at: &at,
                lists: 0,
            };
            let of = self.of;
            let shape = of.shape(property.shape);
            let value = self.place(property.shape, place, property.required)?;
            let about = described(shape);
            let annotations = (&*about, shape.deprecated);
            fields.push(field(
                &property.field,
                value.arguments,
                value.ty,
                annotations,
            ));
            let path = Path::of_segments(&[Segment::Key(property.name.to_string())]);
            let member = (property.shape, &*property.field, &path);
            let followed = reference_fields(of, member, is_of_document)
                .map_err(|why| format!("at {at:?}: {why}"))?;
            let read = TypedField::Value(path, value.place);
            reads.insert(property.field.to_string(), read);
            for followed in followed {
                add_followed(followed, &at, fields, reads)?;
            }
        }
        Ok(())
    }

    /// The type of a place with values of a shape.
    fn place(
        &mut self,
        id: ShapeId,
        at: SchemaPlace<'_>,
        is_there: bool,
    ) -> Result<PlaceType, String> {
        let of = self.of;
        let shape = of.shape(id);
        let required = is_there && !shape.is_nullable();
        let mut arguments = Vec::new();
        let (ty, value) = match shape.kind() {
            ShapeKind::Object(object) if map_of(object).is_some() => {
                let name = self.name(id, at, "Entry")?;
                if at.lists == 0 {
                    arguments = of_map();
                }
                (list(named(&name, true), required), TypedValue::Map)
            }
            ShapeKind::Object(object) if !object.properties.is_empty() => {
                let name = self.name(id, at, "")?;
                (named(&name, required), TypedValue::Object)
            }
            ShapeKind::Array(array) if at.lists < GRAPHQL_LISTS_MAX => {
                if at.lists == 0 {
                    arguments = of_list();
                }
                let (element, place) = match array.items {
                    None => {
                        let place = TypedPlace {
                            value: TypedValue::Leaf(LeafType::Json),
                            required: false,
                            nullable: true,
                        };
                        (named("JSON", false), Arc::new(place))
                    }
                    Some(items) => {
                        let place = SchemaPlace {
                            at: &format!("{}/items", at.at),
                            lists: at.lists + 1,
                            ..at
                        };
                        let element = self.place(items, place, true)?;
                        (element.ty, element.place)
                    }
                };
                (list(element, required), TypedValue::List(place))
            }
            kind => {
                let (name, leaf) = self.leaf(id, kind, at)?;
                (named(&name, required), TypedValue::Leaf(leaf))
            }
        };
        let place = Arc::new(TypedPlace {
            value,
            required,
            nullable: shape.is_nullable(),
        });
        Ok(PlaceType {
            ty,
            place,
            arguments,
        })
    }

    /// The type of values without selections.
    fn leaf(
        &mut self,
        id: ShapeId,
        kind: ShapeKind<'_>,
        at: SchemaPlace<'_>,
    ) -> Result<(String, LeafType), String> {
        let of = self.of;
        let (name, leaf) = match kind {
            ShapeKind::String(_) => {
                let values = of.shape(id).constraints.enumeration.as_ref();
                if let Some(values) = values.and_then(enum_values) {
                    return self.enumeration(id, values, at);
                }
                ("String", LeafType::String)
            }
            ShapeKind::Integer(number) => {
                let values = of.shape(id).constraints.enumeration.as_ref();
                if is_int(number) || values.is_some_and(are_ints) {
                    ("Int", LeafType::Int)
                } else {
                    (BIG_INTEGER, LeafType::BigInteger)
                }
            }
            ShapeKind::Number(_) => ("Float", LeafType::Float),
            ShapeKind::Boolean => ("Boolean", LeafType::Boolean),
            ShapeKind::Object(_) | ShapeKind::Array(_) | ShapeKind::Any => ("JSON", LeafType::Json),
        };
        Ok((name.to_owned(), leaf))
    }

    fn enumeration(
        &mut self,
        id: ShapeId,
        values: Vec<&str>,
        at: SchemaPlace<'_>,
    ) -> Result<(String, LeafType), String> {
        let of = self.of;
        let definition = of.shape(id).definition;
        let is_new = !self.named.contains_key(&definition);
        let name = self.name(id, at, "")?;
        if is_new {
            let about = described(of.shape(definition));
            self.define(enumeration(&name, &about, values.iter().copied()));
        }
        let mut sorted: Vec<Box<str>> = values.into_iter().map(Box::from).collect();
        sorted.sort_unstable();
        Ok((name, LeafType::Enum(sorted.into())))
    }

    /// The name of the type of a shape. A type that is new is made later, if it is an object type.
    fn name(&mut self, id: ShapeId, at: SchemaPlace<'_>, ending: &str) -> Result<String, String> {
        let of = self.of;
        let definition = of.shape(id).definition;
        if let Some(name) = self.named.get(&definition) {
            return Ok(name.clone());
        }
        let shape = of.shape(definition);
        let (name, at) = match &shape.definition_name {
            Some(defined) => {
                let at = format!("/$defs/{}", Segment::Key(defined.to_string()));
                let name = match &shape.graphql_name {
                    Some(given) => format!("{given}{ending}"),
                    None => format!("{}{}{ending}", self.root, pascal_case(defined)),
                };
                (name, at)
            }
            None if definition == ShapeId::ROOT => (format!("{}Value", self.root), String::new()),
            None => (format!("{}{ending}", at.base), at.at.to_owned()),
        };
        let why = if !is_usable(&name) {
            too_long(&name)
        } else if !self.taken.insert(name.clone()) {
            format!("a second type would have the name {:?}", abridged(&name))
        } else {
            self.named.insert(definition, name.clone());
            self.open.push_back(OpenType {
                shape: definition,
                name: name.clone(),
                at,
            });
            return Ok(name);
        };
        Err(format!(
            "at {at:?}: {why}: move the schema to `$defs`, and give it another one there, such as \
             \"x-graphql\": {{\"name\": \"Other\"}}"
        ))
    }
}

/// Adds the field that follows a reference.
fn add_followed(
    (field, read): ReadField,
    at: &str,
    fields: &mut Vec<Positioned<FieldDefinition>>,
    reads: &mut HashMap<String, TypedField>,
) -> Result<(), String> {
    let name = field.node.name.node.to_string();
    if !is_usable(&name) {
        return Err(format!("at {at:?}: {}", too_long(&name)));
    }
    if reads.insert(name.clone(), read).is_some() {
        return Err(format!(
            "at {at:?}: there is another field {:?}: give the reference another name in `as`",
            abridged(&name)
        ));
    }
    fields.push(field);
    Ok(())
}

/// The shape of the values of a map. None if the object is none.
fn map_of(object: &ObjectConstraints) -> Option<ShapeId> {
    match object.additional {
        Additional::Map(values) if object.properties.is_empty() => Some(values),
        _ => None,
    }
}

/// What a schema says about a place.
fn described(shape: &Shape) -> String {
    let text = shape.description.as_ref().or(shape.title.as_ref());
    text.map(|text| printable(text)).unwrap_or_default()
}

/// The values, if all are strings that are names of values of an enum. Null is not one of them.
fn enum_values(enumeration: &Enumeration) -> Option<Vec<&str>> {
    const RESERVED: [&str; 3] = ["true", "false", "null"];
    let values = enumeration
        .values()
        .iter()
        .filter(|value| !matches!(value, Leaf::Null));
    let names = values.map(|value| match value {
        Leaf::String(text) if is_usable(text) && !RESERVED.contains(&&**text) => Some(&**text),
        _ => None,
    });
    names.collect()
}

/// Whether all integers within the bounds have 32 bits.
fn is_int(number: &NumberConstraints) -> bool {
    let is_bound = |bound: &Option<Leaf<'_>>| bound.as_ref().is_some_and(is_int_value);
    let NumberConstraints {
        minimum,
        exclusive_minimum,
        maximum,
        exclusive_maximum,
        ..
    } = number;
    (is_bound(minimum) || is_bound(exclusive_minimum))
        && (is_bound(maximum) || is_bound(exclusive_maximum))
}

fn are_ints(enumeration: &Enumeration) -> bool {
    let mut values = enumeration.values().iter();
    values.all(|value| matches!(value, Leaf::Null) || is_int_value(value))
}

fn is_int_value(value: &Leaf<'_>) -> bool {
    match value {
        Leaf::Integer(integer) => i32::try_from(*integer).is_ok(),
        Leaf::Double(double) => (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(double),
        _ => false,
    }
}

/// The arguments of a map.
fn of_map() -> Vec<Positioned<InputValueDefinition>> {
    let text = || named("String", false);
    vec![
        argument("prefix", text(), "Only names that begin with this."),
        argument("from", text(), "Only names from this one."),
        argument("to", text(), "Only names before this one."),
        argument(
            "first",
            named("Int", false),
            "At most so many of the first entries.",
        ),
        argument("after", text(), "Only names after this one."),
    ]
}
