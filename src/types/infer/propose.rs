//! Writes sketches as schemas.

use super::graphql_names::FieldNames;
use super::sketch::{Sketch, SketchId, Sketches};
use crate::document::leaf::Leaf;
use crate::types::schema_json::SchemaJson;
use crate::types::shape::Kinds;

/// Levels of objects and arrays that are described. What is deeper is open.
const LEVELS_MAX: usize = 30;
/// Values of an `enum`.
const ENUM_VALUES_MAX: usize = 12;
/// Strings of which few are different.
const ENUM_STRINGS_MIN: u64 = 30;
/// How often each value of an `enum` is there, on average.
const ENUM_REPEATED_MIN: u64 = 5;
/// Strings of one format from which the format is proposed.
const FORMAT_STRINGS_MIN: u64 = 3;
/// Arrays of one length from which the length is proposed.
const LENGTH_ARRAYS_MIN: u64 = 10;
/// The longest array of numbers whose length is proposed: a position, a color, a matrix.
const LENGTH_MAX: u64 = 4;
/// Objects of which a member that all have is required.
const REQUIRED_OBJECTS_MIN: u64 = 2;

type Members = Vec<(String, SchemaJson)>;

/// A schema that all values of the sketches fit.
pub(super) fn propose(sketches: &Sketches) -> SchemaJson {
    schema(sketches, SketchId::ROOT, 0)
}

fn schema(sketches: &Sketches, id: SketchId, level: usize) -> SchemaJson {
    let sketch = sketches.get(id);
    let kinds = sketch.kinds.without(Kinds::NULL);
    if kinds == Kinds::NONE || level > LEVELS_MAX {
        return SchemaJson::Leaf(Leaf::Bool(true));
    }
    let mut members = vec![("type".to_owned(), kinds_of(sketch.kinds))];
    if kinds == Kinds::STRING {
        strings(sketch, &mut members);
    }
    if kinds.has(Kinds::OBJECT) {
        objects(sketches, id, level, &mut members);
    }
    if kinds.has(Kinds::ARRAY) {
        arrays(sketches, sketch, level, &mut members);
    }
    SchemaJson::Object(members)
}

fn kinds_of(kinds: Kinds) -> SchemaJson {
    let fraction = Kinds::NUMBER.without(Kinds::INTEGER);
    let kinds = match kinds.both(fraction) {
        Kinds::NONE => kinds,
        _ => kinds.with(Kinds::NUMBER),
    };
    let mut names = kinds.names().into_iter().map(SchemaJson::string);
    match (names.next(), names.len()) {
        (Some(only), 0) => only,
        (first, _) => SchemaJson::Array(first.into_iter().chain(names).collect()),
    }
}

fn strings(sketch: &Sketch, members: &mut Members) {
    if let Some(format) = sketch.formats.first()
        && sketch.strings >= FORMAT_STRINGS_MIN
    {
        members.push(("format".to_owned(), SchemaJson::string(format.name())));
        return;
    }
    let Some(different) = &sketch.different else {
        return;
    };
    let repeated = sketch.strings / different.len().max(1) as u64;
    if (2..=ENUM_VALUES_MAX).contains(&different.len())
        && sketch.strings >= ENUM_STRINGS_MIN
        && repeated >= ENUM_REPEATED_MIN
    {
        let mut values: Vec<_> = different.iter().map(|it| SchemaJson::string(it)).collect();
        if sketch.kinds.has(Kinds::NULL) {
            values.push(SchemaJson::Leaf(Leaf::Null));
        }
        members.push(("enum".to_owned(), SchemaJson::Array(values)));
    }
}

fn objects(sketches: &Sketches, id: SketchId, level: usize, members: &mut Members) {
    let sketch = sketches.get(id);
    let is_document = id == SketchId::ROOT;
    let has_fields = sketch.kinds.without(Kinds::NULL) == Kinds::OBJECT;
    let mut names = FieldNames::of(sketch.members.keys(), is_document);
    let mut properties = Vec::with_capacity(sketch.members.len());
    let mut required = Vec::new();
    for (name, member) in &sketch.members {
        let mut json = schema(sketches, *member, level + 1);
        if has_fields && let Some(other) = names.other_name(name, is_document) {
            json = with_field(json, &other);
        }
        properties.push((name.clone(), json));
        let is_everywhere = sketches.get(*member).values == sketch.objects;
        if is_everywhere && sketch.objects >= REQUIRED_OBJECTS_MIN {
            required.push(SchemaJson::string(name));
        }
    }
    if !properties.is_empty() {
        members.push(("properties".to_owned(), SchemaJson::Object(properties)));
    }
    if !required.is_empty() {
        members.push(("required".to_owned(), SchemaJson::Array(required)));
    }
    let additional = match sketch.map {
        Some(map) => schema(sketches, map, level + 1),
        // Nothing is known about objects without members.
        None => SchemaJson::Leaf(Leaf::Bool(sketch.members.is_empty())),
    };
    members.push(("additionalProperties".to_owned(), additional));
}

/// The schema of a member whose field has another name.
fn with_field(schema: SchemaJson, field: &str) -> SchemaJson {
    let name = SchemaJson::object([("name", SchemaJson::string(field))]);
    let mut members = vec![("x-graphql".to_owned(), name)];
    if let SchemaJson::Object(others) = schema {
        members.extend(others);
    }
    SchemaJson::Object(members)
}

fn arrays(sketches: &Sketches, sketch: &Sketch, level: usize, members: &mut Members) {
    let Some(items) = sketch.items else {
        return;
    };
    members.push(("items".to_owned(), schema(sketches, items, level + 1)));
    let are_numbers = Kinds::NUMBER.has(sketches.get(items).kinds);
    if let Some((min, max)) = sketch.lengths
        && min == max
        && max <= LENGTH_MAX
        && are_numbers
        && sketch.arrays >= LENGTH_ARRAYS_MIN
    {
        let length = i64::try_from(min).unwrap_or(i64::MAX);
        for name in ["minItems", "maxItems"] {
            members.push((name.to_owned(), SchemaJson::Leaf(Leaf::Integer(length))));
        }
    }
}
