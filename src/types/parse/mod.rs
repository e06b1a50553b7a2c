//! Parses a JSON Schema into shapes.
//!
//! Every schema inside the schema becomes one shape, except that a `$ref` without other keywords is the
//! shape that it refers to. A `$ref` beside annotations becomes a shape of its own with the constraints
//! of the other; it is completed after all others are parsed, because references may be recursive.

mod annotation_keywords;
mod annotations;
mod constraint_keywords;
mod field_names;
mod keywords;
mod pointer;
mod problems;
mod references;

use std::collections::HashMap;
use std::sync::Arc;

use super::schema_json::SchemaJson;
use crate::budget::Steps;
use crate::document::leaf::{Kind, abridged};
use crate::document::tree::Tree;
use crate::error::{Error, Limit, Result};
use crate::limits::{JSON_BYTES_PER_STEP, TYPE_BYTES_MAX, TYPE_SHAPES_MAX};
use crate::types::shape::{Constraints, Shape, ShapeId};
use annotations::Annotations;
pub use annotations::is_graphql_name;
use keywords::InsteadOf;
use pointer::{Pointer, decode_token};
use problems::Problems;

/// The names of fields that the GraphQL type of a document has besides its properties.
pub(super) const FIELDS_OF_DOCUMENT: [&str; 4] = ["id", "key", "version", "document"];

/// The shapes of a schema. The first is that of the document.
///
/// # Errors
/// As `CollectionType::parse`.
pub(super) fn shapes(collection: &str, text: &str, steps: &Steps<'_>) -> Result<Vec<Shape>> {
    if text.len() > TYPE_BYTES_MAX {
        return Err(Error::too_large(
            Limit::new("typeBytes", TYPE_BYTES_MAX),
            format!(
                "the schema of the collection {collection:?} has {} bytes; the limit is {TYPE_BYTES_MAX}",
                text.len()
            ),
        ));
    }
    steps.spend(1 + text.len() as u64 / JSON_BYTES_PER_STEP)?;
    let memory = steps.counted_share();
    memory.take(Tree::bytes_of(text))?;
    let in_schema = |error: Error| error.at(format!("the schema of the collection {collection:?}"));
    let json = SchemaJson::parse(text).map_err(in_schema)?;
    let mut parser = Parser {
        collection,
        steps,
        definitions: HashMap::new(),
        shapes: Vec::new(),
        pointers: Vec::new(),
        completions: Vec::new(),
        references: Vec::new(),
        problems: Problems::default(),
        properties: 0,
        patterns: 0,
        pattern_bytes: 0,
    };
    parser.document(&json)?;
    parser.finish()
}

/// Where a schema is.
#[derive(Clone, Copy, PartialEq)]
enum Site {
    /// The schema of the document.
    Document,
    /// A member of `$defs`.
    Definition,
    /// A property, the elements of an array, or the values of a map.
    Inside,
}

struct Parser<'s> {
    collection: &'s str,
    steps: &'s Steps<'s>,
    /// The shapes of the members of `$defs`.
    definitions: HashMap<&'s str, ShapeId>,
    /// None where a shape is not complete.
    shapes: Vec<Option<Shape>>,
    /// The place of each shape in the schema.
    pointers: Vec<String>,
    /// Shapes with a `$ref`.
    completions: Vec<Completion>,
    /// Shapes with an `x-reference`.
    references: Vec<ShapeId>,
    problems: Problems,
    /// The number of properties and of patterns so far.
    properties: usize,
    patterns: usize,
    /// The bytes of the compiled patterns so far.
    pattern_bytes: usize,
}

/// A shape whose constraints are those of another.
struct Completion {
    shape: ShapeId,
    target: ShapeId,
    annotations: Annotations,
    definition_name: Option<Arc<str>>,
}

impl<'s> Parser<'s> {
    fn document(&mut self, json: &'s SchemaJson) -> Result<()> {
        let root = self.reserve()?;
        let at = Pointer::ROOT;
        if let Some(dialect) = json.member("$schema") {
            let given = dialect.text().map(|it| it.trim_end_matches('#'));
            if given != Some(keywords::DIALECT) {
                let message = format!("write {:?}, or remove it", keywords::DIALECT);
                self.problems.add(&at.member("$schema"), message);
            }
        }
        let at_definitions = at.member("$defs");
        let definitions = match json.member("$defs") {
            Some(SchemaJson::Object(members)) => &members[..],
            Some(_) => {
                self.problems.add(&at_definitions, "it is not an object");
                &[]
            }
            None => &[],
        };
        for (name, _) in definitions {
            let id = self.reserve()?;
            self.definitions.insert(name, id);
        }
        self.schema(root, json, &at, Site::Document)?;
        for (name, definition) in definitions {
            let id = self.definitions[&**name];
            let at = at_definitions.member(name);
            self.schema(id, definition, &at, Site::Definition)?;
            if let Some(shape) = &mut self.shapes[id.index()] {
                shape.definition_name = Some((**name).into());
            } else if let Some(last) = self.completions.last_mut().filter(|it| it.shape == id) {
                last.definition_name = Some((**name).into());
            }
        }
        Ok(())
    }

    /// Reserves the number of a shape.
    fn reserve(&mut self) -> Result<ShapeId> {
        self.steps.spend(1)?;
        if self.shapes.len() >= TYPE_SHAPES_MAX {
            return Err(Error::too_complex(
                Limit::new("typeShapes", TYPE_SHAPES_MAX),
                format!(
                    "the schema of the collection {:?} has more than {TYPE_SHAPES_MAX} schemas inside it, \
                     which is the limit",
                    self.collection
                ),
            ));
        }
        let id = u32::try_from(self.shapes.len()).unwrap_or(u32::MAX);
        self.shapes.push(None);
        self.pointers.push(String::new());
        Ok(ShapeId(id))
    }

    /// The shape of a schema inside another.
    fn inside(&mut self, json: &'s SchemaJson, at: &Pointer<'_>) -> Result<ShapeId> {
        if let SchemaJson::Object(members) = json
            && let [(keyword, target)] = &members[..]
            && keyword == "$ref"
            && let Some(target) = self.target(target, &at.member("$ref"))
        {
            return Ok(target);
        }
        let id = self.reserve()?;
        self.schema(id, json, at, Site::Inside)?;
        Ok(id)
    }

    /// Parses the schema of a reserved shape.
    fn schema(
        &mut self,
        id: ShapeId,
        json: &'s SchemaJson,
        at: &Pointer<'_>,
        site: Site,
    ) -> Result<()> {
        self.pointers[id.index()] = at.to_text();
        let SchemaJson::Object(members) = json else {
            match json.boolean() {
                Some(true) => {}
                Some(false) => self.problems.add(
                    at,
                    "`false` is no schema here: name the members that can be there in `properties`, with \
                     \"additionalProperties\": false",
                ),
                None => self.problems.add(at, "a schema is an object or `true`"),
            }
            self.shapes[id.index()] = Some(shape(id, Annotations::default(), Constraints::open()));
            return Ok(());
        };
        self.check_keywords(members, at, site);
        let annotations = self.annotations(json, at, site);
        if annotations.reference.is_some() {
            self.references.push(id);
        }
        if let Some(target) = json.member("$ref") {
            let at_target = at.member("$ref");
            self.check_beside_ref(members, at);
            if let Some(target) = self.target(target, &at_target) {
                self.completions.push(Completion {
                    shape: id,
                    target,
                    annotations,
                    definition_name: None,
                });
                return Ok(());
            }
            self.shapes[id.index()] = Some(shape(id, annotations, Constraints::open()));
            return Ok(());
        }
        let constraints = self.constraints(json, at)?;
        self.shapes[id.index()] = Some(shape(id, annotations, constraints));
        Ok(())
    }

    fn check_keywords(
        &mut self,
        members: &'s [(String, SchemaJson)],
        at: &Pointer<'_>,
        site: Site,
    ) {
        for (name, _) in members {
            let name = &**name;
            let is_known = keywords::CONSTRAINTS.contains(&name)
                || keywords::ANNOTATIONS.contains(&name)
                || (site == Site::Document && keywords::OF_ROOT.contains(&name));
            if !is_known {
                let instead = InsteadOf(name);
                self.problems.add(
                    &at.member(name),
                    format_args!("a type cannot have this keyword: {instead}"),
                );
            }
        }
    }

    fn check_beside_ref(&mut self, members: &'s [(String, SchemaJson)], at: &Pointer<'_>) {
        for (name, _) in members {
            let name = &**name;
            if name != "$ref" && keywords::CONSTRAINTS.contains(&name) {
                self.problems.add(
                    &at.member(name),
                    "beside `$ref` there can be descriptions only: write it into the schema that `$ref` \
                     refers to",
                );
            }
        }
    }

    /// The shape that a `$ref` refers to.
    fn target(&mut self, json: &SchemaJson, at: &Pointer<'_>) -> Option<ShapeId> {
        let text = json.text().unwrap_or_default();
        if text == "#" {
            return Some(ShapeId::ROOT);
        }
        let name = text
            .strip_prefix("#/$defs/")
            .filter(|name| !name.contains('/'));
        let Some(name) = name.and_then(decode_token) else {
            let message = "write \"#/$defs/NAME\", the name of a member of `$defs`, or \"#\"";
            self.problems.add(at, message);
            return None;
        };
        let found = self.definitions.get(&*name).copied();
        if found.is_none() {
            self.problems.add(
                at,
                format_args!("`$defs` has no member {:?}", abridged(&name)),
            );
        }
        found
    }

    /// A value that has to be of one kind.
    fn of_kind(&mut self, json: &SchemaJson, kind: Kind, at: &Pointer<'_>) -> bool {
        let is = json.kind() == kind;
        if !is {
            let what = match kind {
                Kind::Object => "an object",
                Kind::Array => "a list",
                Kind::String => "a string",
                Kind::Number => "a number",
                Kind::Boolean => "`true` or `false`",
                Kind::Null => "null",
            };
            self.problems.add(at, format_args!("it is not {what}"));
        }
        is
    }
}

fn shape(id: ShapeId, annotations: Annotations, constraints: Constraints) -> Shape {
    Shape {
        title: annotations.title,
        description: annotations.description,
        deprecated: annotations.deprecated,
        graphql_name: annotations.graphql_name,
        graphql_plural: annotations.graphql_plural,
        reference: annotations.reference,
        definition: id,
        definition_name: None,
        constraints: Arc::new(constraints),
    }
}
