//! Writes sketches as schemas.

use super::graphql_names::FieldNames;
use super::sketch::{Sketch, SketchId, Sketches};
use crate::budget::Steps;
use crate::document::leaf::Leaf;
use crate::error::Result;
use crate::limits::TYPE_SHAPES_MAX;
use crate::types::schema_json::SchemaJson;
use crate::types::shape::Kinds;

/// Levels of objects and arrays that are described. What is deeper is open.
const LEVELS_MAX: usize = 30;
/// Places that are described, and those right below them. Fewer than a type can have.
const PLACES_MAX: usize = TYPE_SHAPES_MAX * 4 / 5;
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

type Keywords = Vec<(String, SchemaJson)>;

/// The number of levels below the document that a schema can describe within the limits of types.
///
/// # Errors
/// As [`Steps::spend`].
pub(super) fn levels_described(sketches: &Sketches, steps: &Steps<'_>) -> Result<usize> {
    let mut places = 0;
    let mut next = vec![SketchId::ROOT];
    for level in 0..=LEVELS_MAX {
        places += next.len();
        steps.spend(next.len() as u64)?;
        let inside = next.iter().flat_map(|id| sketches.inside(*id));
        next = inside.collect();
        if next.is_empty() {
            return Ok(level);
        }
        // A level that is described lists the places of the next one.
        if places + next.len() > PLACES_MAX {
            return Ok(level.saturating_sub(1));
        }
    }
    Ok(LEVELS_MAX)
}

/// A schema that all values of the sketches fit. It describes this many levels below the document.
pub(super) fn propose(sketches: &Sketches, levels: usize) -> SchemaJson {
    Proposal { sketches, levels }.schema(SketchId::ROOT, 0)
}

struct Proposal<'s> {
    sketches: &'s Sketches,
    levels: usize,
}

impl Proposal<'_> {
    fn schema(&self, id: SketchId, level: usize) -> SchemaJson {
        let sketch = self.sketches.get(id);
        let kinds = sketch.kinds.without(Kinds::NULL);
        if kinds == Kinds::NONE || level > self.levels {
            return SchemaJson::Leaf(Leaf::Bool(true));
        }
        let mut members = vec![("type".to_owned(), kinds_of(sketch.kinds))];
        if kinds == Kinds::STRING {
            strings(sketch, &mut members);
        }
        if kinds.has(Kinds::OBJECT) {
            self.objects(id, level, &mut members);
        }
        if kinds.has(Kinds::ARRAY) {
            self.arrays(sketch, level, &mut members);
        }
        SchemaJson::Object(members)
    }

    fn objects(&self, id: SketchId, level: usize, members: &mut Keywords) {
        let sketch = self.sketches.get(id);
        let is_document = id == SketchId::ROOT;
        let has_fields = sketch.kinds.without(Kinds::NULL) == Kinds::OBJECT;
        let mut names = FieldNames::of(sketch.members.keys(), is_document);
        let mut properties = Vec::with_capacity(sketch.members.len());
        let mut required = Vec::new();
        for (name, member) in &sketch.members {
            let mut json = self.schema(*member, level + 1);
            if has_fields && let Some(other) = names.other_name(name, is_document) {
                json = with_field(json, &other);
            }
            properties.push((name.clone(), json));
            let is_everywhere = self.sketches.get(*member).values == sketch.objects;
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
            Some(map) => self.schema(map, level + 1),
            // Nothing is known about objects without members.
            None => SchemaJson::Leaf(Leaf::Bool(sketch.members.is_empty())),
        };
        members.push(("additionalProperties".to_owned(), additional));
    }

    fn arrays(&self, sketch: &Sketch, level: usize, members: &mut Keywords) {
        let Some(items) = sketch.items else {
            return;
        };
        members.push(("items".to_owned(), self.schema(items, level + 1)));
        let are_numbers = Kinds::NUMBER.has(self.sketches.get(items).kinds);
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

fn strings(sketch: &Sketch, members: &mut Keywords) {
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

/// The schema of a member whose field has another name.
fn with_field(schema: SchemaJson, field: &str) -> SchemaJson {
    let name = SchemaJson::object([("name", SchemaJson::string(field))]);
    let mut members = vec![("x-graphql".to_owned(), name)];
    if let SchemaJson::Object(others) = schema {
        members.extend(others);
    }
    SchemaJson::Object(members)
}
