//! Reads the text of variables, value by value, and checks it against the types of the schema.

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{BaseType, Type};
use async_graphql::{Number, Value};
use bytes::Bytes;

use crate::document::flatten::{json_error, json_text};
use crate::document::json::{Event, JsonError, Problem, Reader};
use crate::document::leaf::abridged;
use crate::error::{Error, Limit, Result};
use crate::graphql::scalars::scalar_types::name;
use crate::graphql::schema::entities;
use crate::graphql::schema::typed::typed_fields::BIG_INTEGER;
use crate::graphql::schema::types::{ArgumentTypes, InputPosition, Types};
use crate::limits::{Bounds, FILTER_LEVELS_MAX};

/// Reads values of declared types. JSON stays text; the number of all other values is limited.
pub(crate) struct ValueReader<'i> {
    types: &'i Types,
    pub(crate) bounds: &'i Bounds,
    /// The current nesting of input objects.
    levels: usize,
    /// The number of further values that are allowed.
    pub(crate) values: usize,
}

/// The text of a variable, which is read once from beginning to end.
pub(crate) struct VariableReader<'t> {
    text: &'t Bytes,
    json: &'t str,
    reader: Reader<'t>,
}

impl<'t> VariableReader<'t> {
    pub(crate) fn new(text: &'t Bytes) -> Result<Self> {
        let json = json_text(text)?;
        Ok(Self {
            text,
            json,
            reader: Reader::new(json, usize::MAX),
        })
    }

    pub(crate) fn next(&mut self) -> Result<Event<'t>> {
        self.reader.next().map_err(|error| self.json_error(&error))
    }

    /// The first byte of the next value, and its offset.
    pub(crate) fn peek(&mut self) -> (Option<u8>, usize) {
        let first = self.reader.peek_value();
        (first, self.reader.offset())
    }

    pub(crate) fn begin_element(&mut self) -> Result<bool> {
        let begun = self.reader.begin_element();
        begun.map_err(|error| self.json_error(&error))
    }

    pub(crate) fn skip(&mut self) -> Result<Bytes> {
        let value = self
            .reader
            .skip_value()
            .map_err(|error| self.json_error(&error))?;
        Ok(self.text.slice_ref(value.as_bytes()))
    }

    pub(crate) fn json_error(&self, error: &JsonError) -> Error {
        json_error(error, self.json)
    }

    /// The error that the text since `begin` does not have the type `ty`.
    pub(crate) fn not_of_type(&self, begin: usize, ty: &str) -> Error {
        let found = abridged(&self.json[begin..self.reader.offset()]);
        Error::bad_input(format!("{found} is not of the type {ty}"))
    }
}

impl<'i> ValueReader<'i> {
    pub(crate) fn new(types: &'i Types, bounds: &'i Bounds) -> Self {
        Self {
            types,
            bounds,
            levels: 0,
            values: bounds.variable_values,
        }
    }

    pub(crate) fn variable(&mut self, ty: &Type, text: &Bytes) -> Result<Value> {
        if matches!(&ty.base, BaseType::Named(name) if name == JSON) && text[..] != *b"null" {
            // The text was checked to be JSON when the request was read.
            self.count()?;
            return Ok(Value::Binary(text.clone()));
        }
        self.value(ty, &mut VariableReader::new(text)?)
    }

    /// The recursion is bounded by the nesting of types and of filters.
    pub(crate) fn value(&mut self, ty: &Type, given: &mut VariableReader<'_>) -> Result<Value> {
        let (first, _) = given.peek();
        if first == Some(b'n') {
            self.count()?;
            given.next()?;
            return if ty.nullable {
                Ok(Value::Null)
            } else {
                Err(Error::bad_input(format!(
                    "null is not of the type {}",
                    abridged(&ty.to_string())
                )))
            };
        }
        match &ty.base {
            BaseType::Named(name) => match self.types.input(name) {
                Some(members) => self.input_object(name, members, given),
                None => self.scalar(name, given),
            },
            BaseType::List(element) if first != Some(b'[') => {
                Ok(Value::List(vec![self.value(element, given)?]))
            }
            BaseType::List(element) => {
                self.count()?;
                given.next()?;
                let mut elements = Vec::new();
                while given.begin_element()? {
                    elements.push(self.value(element, given)?);
                }
                Ok(Value::List(elements))
            }
        }
    }

    /// The recursion is bounded by the limit on nested filters, the only input objects that nest.
    pub(crate) fn input_object(
        &mut self,
        ty: &str,
        members: &'i ArgumentTypes,
        given: &mut VariableReader<'_>,
    ) -> Result<Value> {
        if self.levels == FILTER_LEVELS_MAX {
            return Err(Error::too_complex(
                Limit::new("filterLevels", FILTER_LEVELS_MAX),
                format!("more than {FILTER_LEVELS_MAX} levels of {ty}, which is the limit"),
            ));
        }
        let (first, begin) = given.peek();
        if first != Some(b'{') {
            given.skip()?;
            return Err(given.not_of_type(begin, ty));
        }
        self.count()?;
        self.levels += 1;
        given.next()?;
        let mut object = IndexMap::new();
        while let Event::Name(member) = given.next()? {
            let Some(InputPosition { ty: of, .. }) = members.get(&*member) else {
                return Err(Error::bad_input(format!(
                    "the type {ty} has no member {:?}",
                    abridged(&member)
                )));
            };
            let value = self
                .value(of, given)
                .map_err(|error| error.at(format!("`{member}`")))?;
            object.insert(name(&member), value);
        }
        self.levels -= 1;
        let required = members.iter().filter(|(_, member)| !member.is_optional());
        let mut missing = required.filter(|(member, _)| !object.contains_key(member.as_str()));
        if let Some((missing, _)) = missing.next() {
            return Err(Error::bad_input(format!(
                "the type {ty} has the member `{missing}`, which is required and not given"
            )));
        }
        Ok(Value::Object(object))
    }

    pub(crate) fn scalar(&mut self, scalar: &str, given: &mut VariableReader<'_>) -> Result<Value> {
        if scalar == JSON {
            self.count()?;
            return given.skip().map(Value::Binary);
        }
        let (_, begin) = given.peek();
        let event = given.next()?;
        if scalar == entities::REPRESENTATION
            && event == Event::BeginObject
            && let Some(below) = self.bounds.variable_levels.checked_sub(1)
        {
            return self.representation(given, begin, below);
        }
        let value = self.subtree(given, event, begin, self.bounds.variable_levels)?;
        if scalar == entities::REPRESENTATION {
            return Ok(entities::keys_only(value));
        }
        if let Some(values) = self.types.enum_values(scalar) {
            let is_one = |text: &str| values.contains(&name(text));
            return match value {
                Value::String(text) if is_one(&text) => Ok(Value::String(text)),
                _ => Err(given.not_of_type(begin, scalar)),
            };
        }
        let fits = match (scalar, &value) {
            (BIG_INTEGER, Value::Number(number)) => is_integer(number),
            (BIG_INTEGER, _) => false,
            ("Int", Value::Number(number)) => number
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok()),
            ("ID", Value::Number(number)) => number.is_i64() || number.is_u64(),
            ("PathSegment", Value::Number(number)) => number.is_u64(),
            ("Float", Value::Number(_))
            | (
                "String" | "ID" | "DocumentVersion" | "JSONPath" | "PathSegment",
                Value::String(_),
            )
            | ("Boolean", Value::Boolean(_)) => true,
            (
                "Int" | "ID" | "Float" | "String" | "DocumentVersion" | "JSONPath" | "PathSegment"
                | "Boolean",
                _,
            ) => false,
            _ => true,
        };
        if fits {
            return Ok(value);
        }
        Err(given.not_of_type(begin, scalar))
    }

    /// Reads the representation of an entity that begins at `begin`, and keeps only its keys. Its
    /// values recurse at most `levels` deep.
    pub(crate) fn representation(
        &mut self,
        given: &mut VariableReader<'_>,
        begin: usize,
        levels: usize,
    ) -> Result<Value> {
        self.count()?;
        let mut keys = entities::EntityKeys::default();
        while let Event::Name(member) = given.next()? {
            self.check_string(&member)?;
            let key = keys.named(&member);
            let event = given.next()?;
            let value = self.subtree(given, event, begin, levels)?;
            if let Some(key) = key {
                *key = Some(value);
            }
        }
        Ok(keys.into_representation())
    }

    /// Reads the value that begins with `event`, inside the value that begins at `begin`. Numbers
    /// are kept exactly as written. Recurses at most `levels` deep.
    pub(crate) fn subtree(
        &mut self,
        given: &mut VariableReader<'_>,
        event: Event<'_>,
        begin: usize,
        levels: usize,
    ) -> Result<Value> {
        self.count()?;
        let below = || {
            levels.checked_sub(1).ok_or_else(|| {
                let error = JsonError {
                    offset: given.reader.offset() - 1 - begin,
                    problem: Problem::TooDeep(self.bounds.variable_levels),
                };
                let detail = error.describe(&given.json[begin..]);
                Error::too_complex(
                    Limit::new("variableLevels", self.bounds.variable_levels),
                    detail,
                )
            })
        };
        Ok(match event {
            Event::BeginObject => {
                let below = below()?;
                let mut members = IndexMap::new();
                while let Event::Name(member) = given.next()? {
                    self.check_string(&member)?;
                    let event = given.next()?;
                    let value = self.subtree(given, event, begin, below)?;
                    members.insert(name(&member), value);
                }
                Value::Object(members)
            }
            Event::BeginArray => {
                let below = below()?;
                let mut elements = Vec::new();
                loop {
                    match given.next()? {
                        Event::EndArray => break,
                        event => elements.push(self.subtree(given, event, begin, below)?),
                    }
                }
                Value::List(elements)
            }
            Event::Number(text) => {
                self.check_string(text)?;
                text.parse()
                    .map_or(Value::Null, |number: Number| Value::Number(number))
            }
            Event::String(text) => {
                self.check_string(&text)?;
                Value::String(text.into_owned())
            }
            Event::Bool(value) => Value::Boolean(value),
            _ => Value::Null,
        })
    }

    pub(crate) fn count(&mut self) -> Result<()> {
        let limit = self.bounds.variable_values;
        self.values = self.values.checked_sub(1).ok_or_else(|| {
            Error::too_complex(
                Limit::new("variableValues", limit),
                format!("more than {limit} values in variables, which is the limit"),
            )
        })?;
        Ok(())
    }

    pub(crate) fn check_string(&self, text: &str) -> Result<()> {
        let limit = self.bounds.variable_string_bytes;
        if text.len() <= limit {
            return Ok(());
        }
        Err(Error::too_large(
            Limit::new("variableStringBytes", limit),
            format!(
                "the string {} has more than {limit} bytes, which is the limit where the type is not \
             JSON",
                abridged(text)
            ),
        ))
    }
}

/// Whether a number is written as an integer.
fn is_integer(number: &Number) -> bool {
    !number.to_string().contains(['.', 'e', 'E'])
}

/// The scalar type whose values stay text.
pub(crate) const JSON: &str = "JSON";
