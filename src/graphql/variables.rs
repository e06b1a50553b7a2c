//! Variables, as the operation declares them: JSON stays text, also inside input objects;
//! everything else is checked here.

use std::collections::{HashMap, HashSet};

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{BaseType, Type, VariableDefinition};
use async_graphql::{Number, Positioned, Value, Variables};
use bytes::Bytes;

use super::entities;
use super::inputs::{Inputs, Member};
use super::scalars::name;
use super::types::base_name;
use crate::document::flatten::json_error;
use crate::document::json::{Event, JsonError, Problem, Reader};
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Bounds, FILTER_LEVELS_MAX};

/// The variables that an operation declares, from the JSON text of an object (or nothing).
///
/// # Errors
/// `BAD_USER_INPUT`: one that is required is missing or null, or one is not of its type; names it.
/// `TOO_COMPLEX`, `TOO_LARGE`: one that is not JSON passes a bound.
pub(super) fn coerce(
    definitions: &[Positioned<VariableDefinition>],
    text: &Bytes,
    inputs: &Inputs,
    bounds: &Bounds,
) -> Result<Variables> {
    let mut reading = Reading {
        inputs,
        bounds,
        levels: 0,
        values: bounds.variable_values,
    };
    let mut given = members(definitions, text)?;
    let mut variables = Variables::default();
    for definition in definitions {
        let definition = &definition.node;
        let variable = definition.name.node.as_str();
        let ty = &definition.var_type.node;
        if let Some(text) = given.remove(variable) {
            let value = reading
                .value(ty, &text)
                .map_err(|error| error.at(format!("the variable `${}`", abridged(variable))))?;
            variables.insert(name(variable), value);
        } else if let Some(default) = &definition.default_value {
            let default = default.node.clone();
            let default = match base_name(&ty.base) {
                entities::REPRESENTATION => entities::all_known(default),
                _ => default,
            };
            variables.insert(name(variable), default);
        } else if !ty.nullable {
            return Err(Error::bad_input(format!(
                "the variable `${}` of the type {} is required and not given",
                abridged(variable),
                abridged(&ty.to_string())
            )));
        }
    }
    Ok(variables)
}

/// The texts of the variables that are declared; of two of the same name the last.
fn members(
    definitions: &[Positioned<VariableDefinition>],
    text: &Bytes,
) -> Result<HashMap<String, Bytes>> {
    let names = definitions
        .iter()
        .map(|definition| definition.node.name.node.as_str());
    let declared: HashSet<&str> = names.collect();
    let mut members = HashMap::new();
    if text.is_empty() {
        return Ok(members);
    }
    let object = utf8(text)?;
    let mut reader = Reader::new(object, usize::MAX);
    let error = |error| json_error(&error, object);
    reader.next().map_err(error)?;
    while let Some((name, value)) = reader.next_member().map_err(error)? {
        if declared.contains(name.as_ref()) {
            members.insert(name.into_owned(), text.slice_ref(value.as_bytes()));
        }
    }
    Ok(members)
}

/// Reads values as they are declared. JSON stays text; of all else there are so many at most.
struct Reading<'i> {
    inputs: &'i Inputs,
    bounds: &'i Bounds,
    /// How many input objects deep it is.
    levels: usize,
    /// How many values there may be still.
    values: usize,
}

impl<'i> Reading<'i> {
    fn value(&mut self, ty: &Type, text: &Bytes) -> Result<Value> {
        if &text[..] == b"null" {
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
            BaseType::Named(name) => match self.inputs.members(name) {
                Some(members) => self.input_object(name, members, text),
                None => self.scalar(name, text),
            },
            BaseType::List(element) if text[0] != b'[' => {
                Ok(Value::List(vec![self.value(element, text)?]))
            }
            BaseType::List(element) => {
                let list = utf8(text)?;
                let mut reader = Reader::new(list, usize::MAX);
                let error = |error| json_error(&error, list);
                reader.next().map_err(error)?;
                let mut elements = Vec::new();
                while let Some(value) = reader.next_element().map_err(error)? {
                    elements.push(self.value(element, &text.slice_ref(value.as_bytes()))?);
                }
                Ok(Value::List(elements))
            }
        }
    }

    /// Recurses no deeper than filters may nest, which is what nests.
    fn input_object(
        &mut self,
        ty: &str,
        members: &'i HashMap<String, Member>,
        text: &Bytes,
    ) -> Result<Value> {
        if self.levels == FILTER_LEVELS_MAX {
            return Err(Error::new(
                ErrorKind::TooComplex,
                format!("more than {FILTER_LEVELS_MAX} levels of {ty}, which is the limit"),
            ));
        }
        let object = utf8(text)?;
        if !object.starts_with('{') {
            return Err(not_of_type(text, ty));
        }
        self.count()?;
        self.levels += 1;
        let mut reader = Reader::new(object, usize::MAX);
        let error = |error| json_error(&error, object);
        reader.next().map_err(error)?;
        let mut given = IndexMap::new();
        while let Some((member, value)) = reader.next_member().map_err(error)? {
            let Some(Member { ty: of, .. }) = members.get(&*member) else {
                return Err(Error::bad_input(format!(
                    "the type {ty} has no member {:?}",
                    abridged(&member)
                )));
            };
            let value = self
                .value(of, &text.slice_ref(value.as_bytes()))
                .map_err(|error| error.at(format!("`{member}`")))?;
            given.insert(name(&member), value);
        }
        self.levels -= 1;
        let required = members.iter().filter(|(_, member)| !member.optional);
        let mut missing = required.filter(|(member, _)| !given.contains_key(member.as_str()));
        if let Some((missing, _)) = missing.next() {
            return Err(Error::bad_input(format!(
                "the type {ty} has the member `{missing}`, which is required and not given"
            )));
        }
        Ok(Value::Object(given))
    }

    fn scalar(&mut self, scalar: &str, text: &Bytes) -> Result<Value> {
        if scalar == "JSON" {
            self.count()?;
            return Ok(Value::Binary(text.clone()));
        }
        let value = self.tree(utf8(text)?)?;
        if scalar == entities::REPRESENTATION {
            return Ok(entities::known(value));
        }
        let fits = match (scalar, &value) {
            ("Int", Value::Number(number)) => number
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok()),
            ("ID", Value::Number(number)) => number.is_i64() || number.is_u64(),
            ("Float", Value::Number(_))
            | ("String" | "ID" | "Version" | "JSONPath", Value::String(_))
            | ("Boolean", Value::Boolean(_)) => true,
            ("Int" | "ID" | "Float" | "String" | "Version" | "JSONPath" | "Boolean", _) => false,
            _ => true,
        };
        if fits {
            return Ok(value);
        }
        Err(not_of_type(text, scalar))
    }

    /// A JSON text as a value, numbers exactly as they are written.
    fn tree(&mut self, text: &str) -> Result<Value> {
        let mut reader = Reader::new(text, self.bounds.variable_levels);
        let error = |error: JsonError| match error.problem {
            Problem::TooDeep(_) => Error::new(ErrorKind::TooComplex, error.describe(text)),
            _ => json_error(&error, text),
        };
        let event = reader.next().map_err(error)?;
        self.subtree(&mut reader, event, &error)
    }

    /// Recurses no deeper than the reader allows.
    fn subtree(
        &mut self,
        reader: &mut Reader<'_>,
        event: Event<'_>,
        error: &impl Fn(JsonError) -> Error,
    ) -> Result<Value> {
        self.count()?;
        Ok(match event {
            Event::BeginObject => {
                let mut members = IndexMap::new();
                while let Event::Name(member) = reader.next().map_err(error)? {
                    self.check_string(&member)?;
                    let event = reader.next().map_err(error)?;
                    members.insert(name(&member), self.subtree(reader, event, error)?);
                }
                Value::Object(members)
            }
            Event::BeginArray => {
                let mut elements = Vec::new();
                loop {
                    match reader.next().map_err(error)? {
                        Event::EndArray => break,
                        event => elements.push(self.subtree(reader, event, error)?),
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

    fn count(&mut self) -> Result<()> {
        let limit = self.bounds.variable_values;
        self.values = self.values.checked_sub(1).ok_or_else(|| {
            Error::new(
                ErrorKind::TooComplex,
                format!("more than {limit} values in variables, which is the limit"),
            )
        })?;
        Ok(())
    }

    fn check_string(&self, text: &str) -> Result<()> {
        let limit = self.bounds.variable_string_bytes;
        if text.len() <= limit {
            return Ok(());
        }
        Err(Error::too_large(format!(
            "the string {} has more than {limit} bytes, which is the limit where the type is not \
             JSON",
            abridged(text)
        )))
    }
}

fn not_of_type(text: &Bytes, ty: &str) -> Error {
    let found = utf8(text).unwrap_or_default();
    Error::bad_input(format!("{} is not of the type {ty}", abridged(found)))
}

fn utf8(text: &Bytes) -> Result<&str> {
    std::str::from_utf8(text).map_err(|error| Error::bad_input(format!("not UTF-8: {error}")))
}
