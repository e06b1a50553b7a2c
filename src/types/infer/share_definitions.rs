//! Moves equal schemas of objects to `$defs`.

use std::collections::{HashMap, HashSet};

use super::graphql_names::is_name;
use super::write_schema::write;
use crate::document::leaf::Leaf;
use crate::types::schema_json::SchemaJson;

/// Properties of an object whose schema is shared.
const PROPERTIES_MIN: usize = 2;

/// The name of the whole schema, from which names of others may be made.
const DOCUMENT: &str = "document";

/// A schema in which each schema of an object is written once.
///
/// The schemas of objects are numbered from the inside out, and replaced by their numbers. So equal ones have
/// one number, and each is compared with others by its own text, whatever is inside it. Those that are used
/// once are then put back.
pub(super) fn share(mut schema: SchemaJson) -> SchemaJson {
    let mut sharing = Sharing::default();
    sharing.number_inside(&mut schema);
    sharing.count_inside(&mut schema, DOCUMENT);
    sharing.write_inside(&mut schema, DOCUMENT);
    let dialect = SchemaJson::string("https://json-schema.org/draft/2020-12/schema");
    let mut members = vec![("$schema".to_owned(), dialect)];
    if let SchemaJson::Object(given) = schema {
        members.extend(given);
    }
    if !sharing.definitions.is_empty() {
        members.push(("$defs".to_owned(), SchemaJson::Object(sharing.definitions)));
    }
    SchemaJson::Object(members)
}

/// In the place of a schema that was taken out.
const NOTHING: SchemaJson = SchemaJson::Leaf(Leaf::Null);

#[derive(Default)]
struct Sharing {
    schemas: Vec<NumberedSchema>,
    /// The numbers of the schemas, by text.
    numbers: HashMap<String, usize>,
    /// The names in `$defs`.
    taken: HashSet<String>,
    definitions: Vec<(String, SchemaJson)>,
}

/// A schema of objects. The schemas of objects inside it are replaced by their numbers.
struct NumberedSchema {
    body: SchemaJson,
    uses: usize,
    /// The best of the names of the places where it is used.
    place: Option<PlaceName>,
    /// Its name in `$defs`.
    name: Option<String>,
}

/// What a place suggests as the name of the values there.
enum PlaceName {
    /// One of several things: those in `addresses` are called `address`.
    Singular(String),
    /// The name of the member.
    Member(String),
    /// What is inside a member whose name is no plural.
    Inside(String),
}

impl PlaceName {
    fn text(&self) -> &str {
        let (Self::Singular(text) | Self::Member(text) | Self::Inside(text)) = self;
        text
    }

    fn is_better_than(&self, other: &Self) -> bool {
        let rank = |name: &Self| match name {
            Self::Singular(_) => 0,
            Self::Member(_) => 1,
            Self::Inside(_) => 2,
        };
        rank(self) < rank(other)
    }

    /// The name of the elements or values of what has this name.
    fn of_one(name: &str) -> Self {
        let stem = |suffix: &str| name.strip_suffix(suffix).filter(|stem| !stem.is_empty());
        if let Some(stem) = stem("ies") {
            return Self::Singular(format!("{stem}y"));
        }
        match stem("sses")
            .map(|stem| stem.len() + 2)
            .or(stem("s").map(str::len))
        {
            Some(length) if !name.ends_with("ss") => Self::Singular(name[..length].to_owned()),
            _ => Self::Inside(format!("{name}Item")),
        }
    }
}

impl Sharing {
    fn number_inside(&mut self, schema: &mut SchemaJson) {
        for (_, inside) in schemas_inside(schema, "") {
            self.number_inside(inside);
            if can_be_shared(inside) {
                let body = std::mem::replace(inside, NOTHING);
                let (field, body) = split_field(body);
                let number = i64::try_from(self.number(body)).unwrap_or(i64::MAX);
                *inside = reference(SchemaJson::Leaf(Leaf::Integer(number)), field);
            }
        }
    }

    fn number(&mut self, body: SchemaJson) -> usize {
        let new = self.schemas.len();
        let number = *self.numbers.entry(write(&body)).or_insert(new);
        if number == new {
            self.schemas.push(NumberedSchema {
                body,
                uses: 0,
                place: None,
                name: None,
            });
        }
        number
    }

    /// Counts how often each schema is used. What is inside equal schemas is counted once.
    fn count_inside(&mut self, schema: &mut SchemaJson, name: &str) {
        let mut used_here = HashSet::new();
        for (mut place, inside) in schemas_inside(schema, name) {
            let Some(number) = number_of(inside) else {
                self.count_inside(inside, place.text());
                continue;
            };
            if !used_here.insert(number) {
                // Members that are alike are called after what they are in.
                let of_one = PlaceName::of_one(name);
                if of_one.is_better_than(&place) {
                    place = of_one;
                }
            }
            let used = &mut self.schemas[number];
            used.uses += 1;
            if used.uses == 1 {
                let mut body = std::mem::replace(&mut used.body, NOTHING);
                self.count_inside(&mut body, place.text());
                self.schemas[number].body = body;
            }
            let known = &mut self.schemas[number].place;
            if known
                .as_ref()
                .is_none_or(|known| place.is_better_than(known))
            {
                *known = Some(place);
            }
        }
    }

    /// Replaces the numbers by schemas or by references to `$defs`.
    fn write_inside(&mut self, schema: &mut SchemaJson, name: &str) {
        for (place, inside) in schemas_inside(schema, name) {
            let Some(number) = number_of(inside) else {
                self.write_inside(inside, place.text());
                continue;
            };
            let (field, _) = split_field(std::mem::replace(inside, NOTHING));
            *inside = if self.schemas[number].uses > 1 {
                let target = format!("#/$defs/{}", self.definition(number));
                reference(SchemaJson::string(&target), field)
            } else {
                let mut body = std::mem::replace(&mut self.schemas[number].body, NOTHING);
                self.write_inside(&mut body, place.text());
                with_field(body, field)
            };
        }
    }

    /// The name of a schema in `$defs`, to which it is added the first time.
    fn definition(&mut self, number: usize) -> String {
        if let Some(known) = &self.schemas[number].name {
            return known.clone();
        }
        let place = self.schemas[number].place.take();
        let free = self.free_name(place.as_ref().map_or(DOCUMENT, PlaceName::text));
        self.schemas[number].name = Some(free.clone());
        let at = self.definitions.len();
        self.definitions.push((free.clone(), NOTHING));
        let mut body = std::mem::replace(&mut self.schemas[number].body, NOTHING);
        self.write_inside(&mut body, &free);
        self.definitions[at].1 = body;
        free
    }

    fn free_name(&mut self, name: &str) -> String {
        let name = if is_name(name) { name } else { "object" };
        let mut free = name.to_owned();
        let mut number = 1;
        while !self.taken.insert(free.clone()) {
            number += 1;
            free = format!("{name}_{number}");
        }
        free
    }
}

/// Whether a schema is that of an object with properties.
fn can_be_shared(schema: &SchemaJson) -> bool {
    match schema.member("properties") {
        Some(SchemaJson::Object(properties)) => properties.len() >= PROPERTIES_MIN,
        _ => false,
    }
}

/// A `$ref`, with the name of the field of the place.
fn reference(target: SchemaJson, field: Option<SchemaJson>) -> SchemaJson {
    let reference = Some(("$ref".to_owned(), target));
    let field = field.map(|field| (FIELD.to_owned(), field));
    SchemaJson::Object(reference.into_iter().chain(field).collect())
}

/// The number of the schema that a reference resolves to.
fn number_of(schema: &SchemaJson) -> Option<usize> {
    match schema.member("$ref")?.number()? {
        Leaf::Integer(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}

/// The keyword with the name of the field, which is not part of what is shared.
const FIELD: &str = "x-graphql";

fn split_field(schema: SchemaJson) -> (Option<SchemaJson>, SchemaJson) {
    let SchemaJson::Object(members) = schema else {
        return (None, schema);
    };
    let (field, others) = members.into_iter().partition(|(name, _)| name == FIELD);
    let field: Vec<(String, SchemaJson)> = field;
    let field = field.into_iter().next().map(|(_, field)| field);
    (field, SchemaJson::Object(others))
}

fn with_field(schema: SchemaJson, field: Option<SchemaJson>) -> SchemaJson {
    match (schema, field) {
        (SchemaJson::Object(members), Some(field)) => {
            let field = (FIELD.to_owned(), field);
            SchemaJson::Object(std::iter::once(field).chain(members).collect())
        }
        (schema, _) => schema,
    }
}

/// The schemas directly inside one that is called `name`, with names for them.
fn schemas_inside<'s>(
    schema: &'s mut SchemaJson,
    name: &str,
) -> Vec<(PlaceName, &'s mut SchemaJson)> {
    let SchemaJson::Object(members) = schema else {
        return Vec::new();
    };
    let mut inside = Vec::new();
    for (keyword, value) in members {
        match (&**keyword, value) {
            ("properties", SchemaJson::Object(properties)) => {
                let members = properties.iter_mut();
                inside.extend(members.map(|(name, it)| (PlaceName::Member(name.clone()), it)));
            }
            ("items" | "additionalProperties", value) => {
                inside.push((PlaceName::of_one(name), value));
            }
            _ => {}
        }
    }
    inside
}
