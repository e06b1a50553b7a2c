//! The filters and orders of typed documents, which become those of untyped ones.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::indexmap::IndexMap;
use async_graphql::{Name, Value};

use crate::error::{Error, Limit, Result};
use crate::graphql::scalars::scalar_types::name;
use crate::limits::{FILTERS_MAX, JSONPATH_BYTES_MAX};

/// The members of filters that combine others.
pub(super) const ALL: &str = "_all";
pub(super) const ANY: &str = "_any";
pub(super) const NOT: &str = "_not";

/// The members of `DocumentFilter` that combine others.
pub(super) const ALL_FILTER: &str = "all";
pub(super) const ANY_FILTER: &str = "any";
pub(super) const NOT_FILTER: &str = "not";

/// The directions of an order.
pub(super) const ASCENDING: &str = "ASC";
pub(super) const DESCENDING: &str = "DESC";

/// What the members of the input types of filters and orders mean, by the name of the type and of the
/// member. A clone is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypedInputs(Arc<HashMap<String, HashMap<String, TypedInput>>>);

/// What a member means.
#[derive(Clone, Debug)]
pub(super) struct TypedInput {
    /// What follows the JSONPath of the object around it: `["name"]`.
    pub(super) path: String,
    pub(super) of: InputOf,
}

#[derive(Clone, Debug)]
pub(super) enum InputOf {
    /// Tests of the values, or their order.
    Values,
    /// Tests of the values of an enum.
    Enum,
    /// An input of this type about the members of an object.
    Object(String),
    /// The order by key.
    Key,
    /// Filters of the same type, which the filter with this name combines.
    Combined(&'static str),
}

impl TypedInputs {
    pub(super) fn new(inputs: HashMap<String, HashMap<String, TypedInput>>) -> Self {
        Self(Arc::new(inputs))
    }

    fn get(&self, ty: &str, member: &str) -> Result<&TypedInput> {
        let member = self.0.get(ty).and_then(|members| members.get(member));
        member.ok_or_else(|| Error::internal("an input of the schema has no meaning"))
    }

    /// The `DocumentFilter` that a filter of this type means.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is no object. `TOO_COMPLEX`: it has more tests than a filter can have.
    /// `TOO_LARGE`: the JSONPath of a member is too long.
    pub(crate) fn filter(&self, ty: &str, filter: Value) -> Result<Value> {
        self.filter_at(ty, "$", filter, &mut 0)
    }

    /// The filter of the objects at a JSONPath. `tests` is the number of tests so far.
    fn filter_at(&self, ty: &str, above: &str, filter: Value, tests: &mut usize) -> Result<Value> {
        let mut parts = Vec::new();
        self.add_parts(ty, above, filter, (&mut parts, tests))?;
        Ok(match parts.pop() {
            None => Value::Object(IndexMap::new()),
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                object([(ALL_FILTER, Value::List(parts))])
            }
        })
    }

    /// Adds the filters that the members of a filter mean. The recursion is bounded by the levels of a
    /// variable and of a text.
    fn add_parts(
        &self,
        ty: &str,
        above: &str,
        filter: Value,
        (parts, tests): (&mut Vec<Value>, &mut usize),
    ) -> Result<()> {
        for (member, value) in members(filter)? {
            if value == Value::Null {
                continue;
            }
            let TypedInput { path, of } = self.get(ty, &member)?;
            let path = joined(above, path)?;
            match of {
                InputOf::Object(ty) => {
                    self.add_parts(ty, &path, value, (&mut *parts, &mut *tests))?;
                }
                InputOf::Combined(NOT_FILTER) => {
                    let filter = self.filter_at(ty, &path, value, tests)?;
                    parts.push(object([(NOT_FILTER, filter)]));
                }
                InputOf::Combined(name) => {
                    let filters = elements(value)
                        .into_iter()
                        .map(|filter| self.filter_at(ty, &path, filter, tests))
                        .collect::<Result<_>>()
                        .map(Value::List)?;
                    parts.push(object([(*name, filters)]));
                }
                InputOf::Values | InputOf::Enum | InputOf::Key => {
                    let is_enum = matches!(of, InputOf::Enum);
                    if let Some(test) = tests_at(path, value, is_enum)? {
                        *tests += 1;
                        // Each of them has its whole path.
                        check_tests(*tests)?;
                        parts.push(test);
                    }
                }
            }
        }
        Ok(())
    }

    /// The list of `DocumentOrder` that a list of orders of this type means.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: one of them has no member or several.
    pub(crate) fn order(&self, ty: &str, orders: Value) -> Result<Value> {
        if orders == Value::Null {
            return Ok(orders);
        }
        let orders = elements(orders)
            .into_iter()
            .map(|order| self.one_order(ty, "$", order));
        orders.collect::<Result<_>>().map(Value::List)
    }

    fn one_order(&self, ty: &str, above: &str, order: Value) -> Result<Value> {
        let mut given = members(order)?
            .into_iter()
            .filter(|(_, it)| *it != Value::Null);
        let (Some((member, value)), None) = (given.next(), given.next()) else {
            return Err(Error::bad_input(format!(
                "an element of `orderBy` has one member: list several elements to sort by several \
                 values ({ty})"
            )));
        };
        let TypedInput { path, of } = self.get(ty, &member)?;
        let path = joined(above, path)?;
        let descending = Value::Boolean(text(&value) == Some(DESCENDING));
        Ok(match of {
            InputOf::Object(ty) => self.one_order(ty, &path, value)?,
            InputOf::Values | InputOf::Enum => {
                object([("by", Value::String(path)), ("descending", descending)])
            }
            InputOf::Key => object([("descending", descending)]),
            InputOf::Combined(_) => return Err(Error::internal("an order combines filters")),
        })
    }
}

/// The JSONPath of a member of the object at a JSONPath.
///
/// # Errors
/// `TOO_LARGE`: it is longer than a JSONPath can be.
fn joined(above: &str, path: &str) -> Result<String> {
    let bytes = above.len() + path.len();
    if bytes <= JSONPATH_BYTES_MAX {
        return Ok(format!("{above}{path}"));
    }
    Err(Error::too_large(
        Limit::new("jsonPathBytes", JSONPATH_BYTES_MAX),
        format!(
            "the JSONPath of a member has {bytes} bytes; the limit is {JSONPATH_BYTES_MAX} bytes"
        ),
    ))
}

/// # Errors
/// `TOO_COMPLEX`: there are more tests than a filter can have.
fn check_tests(tests: usize) -> Result<()> {
    if tests <= FILTERS_MAX {
        return Ok(());
    }
    Err(Error::too_complex(
        Limit::new("filters", FILTERS_MAX),
        format!("more than {FILTERS_MAX} filters in one `where`, which is the limit"),
    ))
}

/// The filter with these tests of the values at a JSONPath, which can be those of an enum. None if there
/// are none.
fn tests_at(path: String, tests: Value, is_enum: bool) -> Result<Option<Value>> {
    let mut tests: IndexMap<Name, Value> = members(tests)?
        .into_iter()
        .map(|(test, value)| (test, if is_enum { names_as_text(value) } else { value }))
        .collect();
    if tests.is_empty() {
        return Ok(None);
    }
    tests.insert(Name::new("at"), Value::String(path));
    Ok(Some(Value::Object(tests)))
}

/// A value or a list, in which the values of enums are strings.
fn names_as_text(value: Value) -> Value {
    match value {
        Value::Enum(name) => Value::String(name.to_string()),
        Value::List(elements) => Value::List(elements.into_iter().map(names_as_text).collect()),
        other => other,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Enum(name) => Some(name.as_str()),
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn members(value: Value) -> Result<IndexMap<Name, Value>> {
    match value {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(IndexMap::new()),
        _ => Err(Error::bad_input("a filter or an order is an object")),
    }
}

/// The elements of a list. A single value is a list of one.
fn elements(value: Value) -> Vec<Value> {
    match value {
        Value::List(elements) => elements,
        Value::Null => Vec::new(),
        single => vec![single],
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members
        .into_iter()
        .map(|(member, value)| (name(member), value));
    Value::Object(members.collect::<IndexMap<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    const TYPE: &str = "ThingFilter";

    /// The inputs of a type with two members of names this long: one of its own type, and one that is
    /// tested.
    fn inputs(bytes: usize) -> TypedInputs {
        let path = format!("[\"{}\"]", "x".repeat(bytes));
        let members = [
            ("self", InputOf::Object(TYPE.to_owned())),
            ("a", InputOf::Values),
        ];
        let members = members.map(|(member, of)| {
            let path = path.clone();
            (member.to_owned(), TypedInput { path, of })
        });
        let any = TypedInput {
            path: String::new(),
            of: InputOf::Combined(ANY_FILTER),
        };
        let mut members = HashMap::from(members);
        members.insert(ANY.to_owned(), any);
        TypedInputs::new(HashMap::from([(TYPE.to_owned(), members)]))
    }

    fn test() -> Value {
        object([("a", object([("eq", Value::from(1))]))])
    }

    #[test]
    fn the_number_of_tests_is_limited_while_they_are_converted() {
        let inputs = inputs(1);
        for (count, is_allowed) in [(FILTERS_MAX, true), (FILTERS_MAX + 1, false)] {
            let filter = object([(ANY, Value::List(vec![test(); count]))]);
            let converted = inputs.filter(TYPE, filter);
            let refused = converted.err().map(|error| error.kind());
            assert_eq!(refused, (!is_allowed).then_some(ErrorKind::TooComplex));
        }
    }

    #[test]
    fn the_bytes_of_a_path_are_limited_while_it_is_made() {
        let inputs = inputs(JSONPATH_BYTES_MAX / 2 - 10);
        let nested = |levels| (0..levels).fold(test(), |inner, _| object([("self", inner)]));
        assert!(inputs.filter(TYPE, nested(1)).is_ok(), "two names fit");
        let refused = inputs.filter(TYPE, nested(2)).expect_err("too long");
        assert_eq!(refused.kind(), ErrorKind::TooLarge);
    }
}
