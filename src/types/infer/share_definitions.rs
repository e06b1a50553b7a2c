//! Moves equal schemas of objects to `$defs`.

use std::collections::{HashMap, HashSet};

use super::graphql_names::is_name;
use super::write_schema::write;
use crate::types::schema_json::SchemaJson;

/// Properties of an object whose schema is shared.
const PROPERTIES_MIN: usize = 2;

/// The name of the whole schema, from which names of others may be made.
const DOCUMENT: &str = "document";

/// A schema in which each schema of an object is written once.
pub(super) fn share(mut schema: SchemaJson) -> SchemaJson {
    let mut sharing = Sharing::default();
    sharing.count_inside(&schema);
    sharing.replace_inside(&mut schema, DOCUMENT);
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

#[derive(Default)]
struct Sharing {
    /// How often the text of each schema occurs. What is inside equal schemas is counted once.
    counts: HashMap<String, usize>,
    /// The names of the shared schemas, by text.
    names: HashMap<String, String>,
    taken: HashSet<String>,
    definitions: Vec<(String, SchemaJson)>,
}

impl Sharing {
    fn count_inside(&mut self, schema: &SchemaJson) {
        for (_, inside) in schemas_inside(schema) {
            if can_be_shared(inside) {
                let count = self.counts.entry(text_of(inside)).or_default();
                *count += 1;
                if *count > 1 {
                    continue;
                }
            }
            self.count_inside(inside);
        }
    }

    fn replace_inside(&mut self, schema: &mut SchemaJson, name: &str) {
        for (inside_name, inside) in schemas_inside_mut(schema, name) {
            let text = can_be_shared(inside).then(|| text_of(inside));
            let is_shared = |text: &String| self.counts.get(text).is_some_and(|count| *count > 1);
            match text.filter(is_shared) {
                Some(text) => self.refer(text, inside, &inside_name),
                None => self.replace_inside(inside, &inside_name),
            }
        }
    }

    /// Replaces a schema by a reference to its definition, which is added the first time.
    fn refer(&mut self, text: String, schema: &mut SchemaJson, name: &str) {
        let field = field_of(schema);
        let known = self.names.get(&text).cloned();
        let definition = known.unwrap_or_else(|| {
            let definition = self.free_name(name);
            self.names.insert(text, definition.clone());
            let at = self.definitions.len();
            self.definitions
                .push((definition.clone(), SchemaJson::Object(Vec::new())));
            let mut body = without_field(std::mem::replace(schema, SchemaJson::Object(Vec::new())));
            self.replace_inside(&mut body, name);
            self.definitions[at].1 = body;
            definition
        });
        let target = SchemaJson::string(&format!("#/$defs/{definition}"));
        let mut members = vec![("$ref".to_owned(), target)];
        members.extend(field);
        *schema = SchemaJson::Object(members);
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

/// The text of a schema without the name of its field.
fn text_of(schema: &SchemaJson) -> String {
    let SchemaJson::Object(members) = schema else {
        return write(schema);
    };
    let members = members.iter().filter(|member| !is_field(member));
    let texts: Vec<_> = members
        .map(|(name, value)| format!("{name}:{}", write(value)))
        .collect();
    texts.join(",")
}

fn is_field(member: &(String, SchemaJson)) -> bool {
    member.0 == "x-graphql"
}

fn field_of(schema: &SchemaJson) -> Option<(String, SchemaJson)> {
    let name = schema.member("x-graphql")?.member("name")?.text()?;
    let field = SchemaJson::object([("name", SchemaJson::string(name))]);
    Some(("x-graphql".to_owned(), field))
}

fn without_field(schema: SchemaJson) -> SchemaJson {
    match schema {
        SchemaJson::Object(mut members) => {
            members.retain(|member| !is_field(member));
            SchemaJson::Object(members)
        }
        other => other,
    }
}

/// The schemas directly inside one, with names for them.
fn schemas_inside(schema: &SchemaJson) -> Vec<(&str, &SchemaJson)> {
    let SchemaJson::Object(members) = schema else {
        return Vec::new();
    };
    let mut inside = Vec::new();
    for (keyword, value) in members {
        match (&**keyword, value) {
            ("properties", SchemaJson::Object(properties)) => {
                inside.extend(properties.iter().map(|(name, it)| (&**name, it)));
            }
            ("items" | "additionalProperties", _) => inside.push((keyword, value)),
            _ => {}
        }
    }
    inside
}

/// [`schemas_inside`] of a schema that is called `name`.
fn schemas_inside_mut<'s>(
    schema: &'s mut SchemaJson,
    name: &str,
) -> Vec<(String, &'s mut SchemaJson)> {
    let SchemaJson::Object(members) = schema else {
        return Vec::new();
    };
    let mut inside = Vec::new();
    for (keyword, value) in members {
        match (&**keyword, value) {
            ("properties", SchemaJson::Object(properties)) => {
                inside.extend(properties.iter_mut().map(|(name, it)| (name.clone(), it)));
            }
            ("items" | "additionalProperties", value) => inside.push((singular(name), value)),
            _ => {}
        }
    }
    inside
}

/// The name of one of several things.
fn singular(name: &str) -> String {
    match name.strip_suffix("ies") {
        Some(stem) if !stem.is_empty() => format!("{stem}y"),
        _ => match name.strip_suffix('s') {
            Some(stem) if !stem.is_empty() && !stem.ends_with('s') => stem.to_owned(),
            _ => format!("{name}Item"),
        },
    }
}
