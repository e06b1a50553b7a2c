//! Parses the keywords that say what the values at a place are.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use super::Parser;
use super::pointer::Pointer;
use crate::document::leaf::{Kind, Leaf, abridged};
use crate::document::number;
use crate::document::regexp::{Regexp, check_steps};
use crate::error::{Error, Limit, Result};
use crate::limits::{
    TYPE_ENUM_VALUE_BYTES_MAX, TYPE_ENUM_VALUES_MAX, TYPE_PATTERNS_BYTES_MAX, TYPE_PATTERNS_MAX,
    TYPE_PROPERTIES_MAX,
};
use crate::types::schema_json::SchemaJson;
use crate::types::shape::{
    Additional, ArrayConstraints, Constraints, Enumeration, Format, Kinds, NumberConstraints,
    ObjectConstraints, Property, StringConstraints,
};
use crate::types::violation::shown;

/// The keywords that apply to values of one kind.
const OF_KINDS: [(&str, Kinds); 16] = [
    ("properties", Kinds::OBJECT),
    ("required", Kinds::OBJECT),
    ("additionalProperties", Kinds::OBJECT),
    ("items", Kinds::ARRAY),
    ("prefixItems", Kinds::ARRAY),
    ("minItems", Kinds::ARRAY),
    ("maxItems", Kinds::ARRAY),
    ("minLength", Kinds::STRING),
    ("maxLength", Kinds::STRING),
    ("pattern", Kinds::STRING),
    ("format", Kinds::STRING),
    ("minimum", Kinds::INTEGER),
    ("exclusiveMinimum", Kinds::INTEGER),
    ("maximum", Kinds::INTEGER),
    ("exclusiveMaximum", Kinds::INTEGER),
    ("multipleOf", Kinds::INTEGER),
];

impl<'s> Parser<'s> {
    pub(super) fn constraints(
        &mut self,
        schema: &'s SchemaJson,
        at: &Pointer<'_>,
    ) -> Result<Constraints> {
        let declared = self.kinds(schema, at);
        let enumeration = self.enumeration(schema, declared, at)?;
        let kinds = match &enumeration {
            Some(enumeration) => enumeration.kinds(),
            None => declared,
        };
        for (name, of) in OF_KINDS {
            if schema.member(name).is_some() && !declared.has(of) {
                self.problems.add(
                    &at.member(name),
                    format_args!(
                        "it has no effect, because `type` does not have {:?}",
                        of.names().first().unwrap_or(&"")
                    ),
                );
            }
        }
        Ok(Constraints {
            kinds,
            object: self.object(schema, at)?,
            array: self.array(schema, at)?,
            string: self.string(schema, at)?,
            number: self.number(schema, at),
            enumeration,
        })
    }

    /// `type`
    fn kinds(&mut self, schema: &SchemaJson, at: &Pointer<'_>) -> Kinds {
        let Some(given) = schema.member("type") else {
            return Kinds::ALL;
        };
        let at = at.member("type");
        let listed = match given {
            SchemaJson::Array(listed) => &listed[..],
            one => std::slice::from_ref(one),
        };
        let mut kinds = Kinds::NONE;
        for name in listed {
            let found = Kinds::NAMED.iter().find(|(it, _)| Some(*it) == name.text());
            match found {
                Some((_, kind)) => kinds = kinds.with(*kind),
                None => self.problems.add(
                    &at,
                    "write \"object\", \"array\", \"string\", \"number\", \"integer\", \"boolean\", \
                     \"null\" or a list of these",
                ),
            }
        }
        if kinds == Kinds::NONE {
            if listed.is_empty() {
                self.problems.add(&at, "the list is empty");
            }
            return Kinds::ALL;
        }
        kinds
    }

    /// `enum` or `const`
    fn enumeration(
        &mut self,
        schema: &SchemaJson,
        declared: Kinds,
        at: &Pointer<'_>,
    ) -> Result<Option<Enumeration>> {
        let (name, values) = match (schema.member("enum"), schema.member("const")) {
            (Some(_), Some(_)) => {
                let message = "remove it: `const` says which value it is";
                self.problems.add(&at.member("enum"), message);
                return Ok(None);
            }
            (Some(SchemaJson::Array(values)), None) => ("enum", &values[..]),
            (Some(_), None) => {
                self.problems.add(&at.member("enum"), "it is not a list");
                return Ok(None);
            }
            (None, Some(value)) => ("const", std::slice::from_ref(value)),
            (None, None) => return Ok(None),
        };
        let at = at.member(name);
        if values.is_empty() {
            self.problems.add(&at, "the list is empty");
            return Ok(None);
        }
        if values.len() > TYPE_ENUM_VALUES_MAX {
            return Err(Error::too_complex(
                Limit::new("typeEnumValues", TYPE_ENUM_VALUES_MAX),
                format!(
                    "the schema of the collection {:?}: at {:?}: the list has {} values; the limit is \
                     {TYPE_ENUM_VALUES_MAX}",
                    self.collection,
                    at.to_text(),
                    values.len()
                ),
            ));
        }
        self.steps.spend(values.len() as u64)?;
        let mut leaves = Vec::with_capacity(values.len());
        for value in values {
            match value {
                SchemaJson::Leaf(Leaf::String(text)) if text.len() > TYPE_ENUM_VALUE_BYTES_MAX => {
                    return Err(Error::too_large(
                        Limit::new("typeEnumValueBytes", TYPE_ENUM_VALUE_BYTES_MAX),
                        format!(
                            "the schema of the collection {:?}: at {:?}: the value {:?} has {} bytes; the \
                             limit is {TYPE_ENUM_VALUE_BYTES_MAX}",
                            self.collection,
                            at.to_text(),
                            abridged(text),
                            text.len()
                        ),
                    ));
                }
                SchemaJson::Leaf(leaf) if declared.has(Kinds::of_leaf(leaf)) => {
                    leaves.push(leaf.clone());
                }
                SchemaJson::Leaf(leaf) => self
                    .problems
                    .add(&at, format_args!("{} is not of the `type`", shown(leaf))),
                SchemaJson::Array(_) | SchemaJson::Object(_) => self.problems.add(
                    &at,
                    "objects and arrays cannot be listed: describe them with `properties` or `items`",
                ),
            }
        }
        Ok((!leaves.is_empty()).then(|| Enumeration::new(name, leaves)))
    }

    fn object(&mut self, schema: &'s SchemaJson, at: &Pointer<'_>) -> Result<ObjectConstraints> {
        let additional = match schema.member("additionalProperties") {
            None => Additional::Open,
            Some(json) => match json.boolean() {
                Some(true) => Additional::Open,
                Some(false) => Additional::Forbidden,
                None => Additional::Map(self.inside(json, &at.member("additionalProperties"))?),
            },
        };
        let required = self.required(schema, at)?;
        let mut unnamed: HashSet<&str> = required.iter().copied().collect();
        let at_properties = at.member("properties");
        let members = match schema.member("properties") {
            None => &[],
            Some(SchemaJson::Object(members)) => &members[..],
            Some(_) => {
                self.problems.add(&at_properties, "it is not an object");
                &[]
            }
        };
        self.count_properties(members.len())?;
        let mut properties = Vec::with_capacity(members.len());
        for (name, json) in members {
            let shape = self.inside(json, &at_properties.member(name))?;
            let given = json.member("x-graphql").and_then(|it| it.member("name"));
            let name: Arc<str> = (**name).into();
            properties.push(Property {
                field: given
                    .and_then(SchemaJson::text)
                    .map_or_else(|| name.clone(), Arc::from),
                shape,
                required: unnamed.remove(&*name),
                name,
            });
        }
        let others: Vec<&str> = required
            .into_iter()
            .filter(|name| unnamed.remove(name))
            .collect();
        self.count_properties(others.len())?;
        let at_required = at.member("required");
        for name in others {
            let shape = match additional {
                Additional::Map(shape) => shape,
                Additional::Open => self.inside(&OPEN, &at_required)?,
                Additional::Forbidden => {
                    let message = format!(
                        "it has {:?}, which is no property and which `additionalProperties` forbids",
                        abridged(name)
                    );
                    self.problems.add(&at_required, message);
                    continue;
                }
            };
            let name: Arc<str> = name.into();
            properties.push(Property {
                field: name.clone(),
                shape,
                required: true,
                name,
            });
        }
        Ok(ObjectConstraints::new(properties, additional))
    }

    fn required(&mut self, schema: &'s SchemaJson, at: &Pointer<'_>) -> Result<Vec<&'s str>> {
        let at = at.member("required");
        let names = match schema.member("required") {
            None => return Ok(Vec::new()),
            Some(SchemaJson::Array(names)) => names,
            Some(_) => {
                self.problems.add(
                    &at,
                    "it is not a list of names: it belongs to the object, and lists the properties that \
                     every object has",
                );
                return Ok(Vec::new());
            }
        };
        self.steps.spend(names.len() as u64)?;
        let texts: Vec<&str> = names.iter().filter_map(SchemaJson::text).collect();
        if texts.len() < names.len() {
            self.problems.add(&at, "it is not a list of names");
        }
        Ok(texts)
    }

    fn count_properties(&mut self, more: usize) -> Result<()> {
        self.properties += more;
        if self.properties <= TYPE_PROPERTIES_MAX {
            return Ok(());
        }
        Err(Error::too_complex(
            Limit::new("typeProperties", TYPE_PROPERTIES_MAX),
            format!(
                "the schema of the collection {:?} has more than {TYPE_PROPERTIES_MAX} properties, which \
                 is the limit: describe objects with many names by `additionalProperties`",
                self.collection
            ),
        ))
    }

    fn array(&mut self, schema: &'s SchemaJson, at: &Pointer<'_>) -> Result<ArrayConstraints> {
        let items_min = self.count(schema, "minItems", at).unwrap_or_default();
        let mut items_max = self.count(schema, "maxItems", at);
        let mut items = schema.member("items");
        let mut at_items = at.member("items");
        let at_prefix = at.member("prefixItems");
        if let Some(prefix) = schema.member("prefixItems") {
            let elements = match prefix {
                SchemaJson::Array(elements) => &elements[..],
                _ => &[],
            };
            let length = elements.len() as u64;
            self.steps.spend(length * PREFIX_STEPS)?;
            let ends_there = items.and_then(SchemaJson::boolean) == Some(false)
                || items_max.is_some_and(|max| max <= length);
            // Nothing is compared with itself: schemas in one another would be compared at each level.
            let first = elements.first();
            let agree = first.is_some_and(|first| elements[1..].iter().all(|it| it == first));
            if agree && (ends_there || items == first) {
                if let Some(behind) =
                    items.filter(|it| Some(*it) != first && it.boolean().is_none())
                {
                    // No element has it. It is parsed so that its keywords are checked.
                    self.inside(behind, &at_items)?;
                }
                if ends_there {
                    items_max = Some(items_max.map_or(length, |max| max.min(length)));
                }
                items = first;
                at_items = at_prefix.element(0);
            } else {
                let message = "all elements of an array have one schema: write it in `items`, with \
                               `maxItems` if the length is fixed, or make an object with a member for \
                               each position";
                self.problems.add(&at_prefix, message);
                items = None;
            }
        }
        let items = match items {
            None => None,
            Some(json) if json.boolean() == Some(true) => None,
            Some(json) if json.boolean() == Some(false) => {
                let message = "write \"maxItems\": 0 if arrays are empty";
                self.problems.add(&at_items, message);
                None
            }
            Some(json) => Some(self.inside(json, &at_items)?),
        };
        Ok(ArrayConstraints {
            items,
            items_min,
            items_max,
        })
    }

    fn string(&mut self, schema: &SchemaJson, at: &Pointer<'_>) -> Result<StringConstraints> {
        let format = schema.member("format").and_then(|given| {
            let found = Format::NAMED
                .iter()
                .find(|(name, _)| Some(*name) == given.text());
            if found.is_none() {
                let names = Format::NAMED.map(|(name, _)| name).join(", ");
                self.problems.add(
                    &at.member("format"),
                    format_args!(
                        "the formats are {names}: describe other forms with `pattern`, or in \
                         `description`"
                    ),
                );
            }
            found.map(|(_, format)| *format)
        });
        Ok(StringConstraints {
            length_min: self.count(schema, "minLength", at).unwrap_or_default(),
            length_max: self.count(schema, "maxLength", at),
            pattern: self.pattern(schema, at)?,
            format,
        })
    }

    fn pattern(&mut self, schema: &SchemaJson, at: &Pointer<'_>) -> Result<Option<Regexp>> {
        let Some(given) = schema.member("pattern") else {
            return Ok(None);
        };
        let at = at.member("pattern");
        if !self.of_kind(given, Kind::String, &at) {
            return Ok(None);
        }
        self.patterns += 1;
        if self.patterns > TYPE_PATTERNS_MAX {
            return Err(Error::too_complex(
                Limit::new("typePatterns", TYPE_PATTERNS_MAX),
                format!(
                    "the schema of the collection {:?} has more than {TYPE_PATTERNS_MAX} patterns, which \
                     is the limit: put equal ones into `$defs`",
                    self.collection
                ),
            ));
        }
        let text = given.text().unwrap_or_default();
        self.steps.spend(check_steps(text))?;
        let in_schema = |error: Error| {
            error.at(format!(
                "the schema of the collection {:?}: at {:?}",
                self.collection,
                at.to_text()
            ))
        };
        let pattern = Regexp::parse(text, false).map_err(in_schema)?;
        if pattern.compile(self.steps).map_err(in_schema)? {
            self.pattern_bytes += pattern.compiled_bytes();
            if self.pattern_bytes > TYPE_PATTERNS_BYTES_MAX {
                return Err(in_schema(Error::too_complex(
                    Limit::new("typePatternsBytes", TYPE_PATTERNS_BYTES_MAX),
                    format!(
                        "the patterns take more than {TYPE_PATTERNS_BYTES_MAX} bytes once they are \
                         compiled, which is the limit: bound lengths by `maxLength`"
                    ),
                )));
            }
            return Ok(Some(pattern));
        }
        self.problems.add(
            &at,
            format_args!(
                "{:?} is no I-Regexp (RFC 9485): write [0-9] for \\d, [a-zA-Z0-9_] for \\w, [ \\t\\n\\r] for \
                 \\s, and no groups that begin with `(?`",
                abridged(text)
            ),
        );
        Ok(None)
    }

    fn number(&mut self, schema: &SchemaJson, at: &Pointer<'_>) -> NumberConstraints {
        let multiple_of = self.limit(schema, "multipleOf", at);
        let zero = Leaf::Integer(0);
        let is_positive = |it: &Leaf<'_>| number::order(it, &zero).is_some_and(Ordering::is_gt);
        let multiple_of = multiple_of.filter(|it| {
            if !is_positive(it) {
                self.problems
                    .add(&at.member("multipleOf"), "it is not greater than 0");
            }
            is_positive(it)
        });
        NumberConstraints {
            minimum: self.limit(schema, "minimum", at),
            exclusive_minimum: self.limit(schema, "exclusiveMinimum", at),
            maximum: self.limit(schema, "maximum", at),
            exclusive_maximum: self.limit(schema, "exclusiveMaximum", at),
            multiple_of,
        }
    }

    /// A number.
    fn limit(
        &mut self,
        schema: &SchemaJson,
        name: &str,
        at: &Pointer<'_>,
    ) -> Option<Leaf<'static>> {
        let value = schema.member(name)?;
        self.of_kind(value, Kind::Number, &at.member(name));
        value.number().cloned()
    }

    /// A number of elements or characters.
    fn count(&mut self, schema: &SchemaJson, name: &str, at: &Pointer<'_>) -> Option<u64> {
        let value = self.limit(schema, name, at)?;
        let count = match number::split(&value) {
            Some((Leaf::Integer(count), 0.0)) => u64::try_from(count).ok(),
            _ => None,
        };
        if count.is_none() {
            let message = "it is not an integer from 0 to 9223372036854775807";
            self.problems.add(&at.member(name), message);
        }
        count
    }
}

/// Steps of work to compare the schemas of two elements.
const PREFIX_STEPS: u64 = 16;

/// The schema of a member that is required and not described.
static OPEN: SchemaJson = SchemaJson::Leaf(Leaf::Bool(true));
