//! The filters and orders of typed documents, which become those of untyped ones.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::indexmap::IndexMap;
use async_graphql::{Name, Value};

use crate::error::{Error, Result};
use crate::graphql::scalars::scalar_types::name;

/// The members of filters that combine others.
pub(super) const ALL: &str = "_all";
pub(super) const ANY: &str = "_any";
pub(super) const NOT: &str = "_not";

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
    /// An input of this type about the members of an object.
    Object(String),
    /// The order by key.
    Key,
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
    /// `BAD_USER_INPUT`: it is no object.
    pub(crate) fn filter(&self, ty: &str, filter: Value) -> Result<Value> {
        let mut parts = Vec::new();
        self.add_parts(ty, "$", filter, &mut parts)?;
        Ok(match parts.pop() {
            None => Value::Object(IndexMap::new()),
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                object([("all", Value::List(parts))])
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
        parts: &mut Vec<Value>,
    ) -> Result<()> {
        for (member, value) in members(filter)? {
            if value == Value::Null {
                continue;
            }
            let each = |listed| {
                let listed = elements(listed).into_iter();
                let filters = listed.map(|filter| self.filter(ty, filter));
                filters.collect::<Result<_>>().map(Value::List)
            };
            match member.as_str() {
                ALL => parts.push(object([("all", each(value)?)])),
                ANY => parts.push(object([("any", each(value)?)])),
                NOT => parts.push(object([("not", self.filter(ty, value)?)])),
                member => {
                    let TypedInput { path, of } = self.get(ty, member)?;
                    let path = format!("{above}{path}");
                    match of {
                        InputOf::Object(ty) => self.add_parts(ty, &path, value, parts)?,
                        InputOf::Values | InputOf::Key => parts.extend(tests(path, value)?),
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
        let orders = elements(orders).into_iter();
        let orders = orders.map(|order| self.one_order(ty, "$", order));
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
        let path = format!("{above}{path}");
        let descending = Value::Boolean(text(&value) == Some(DESCENDING));
        Ok(match of {
            InputOf::Object(ty) => self.one_order(ty, &path, value)?,
            InputOf::Values => object([("by", Value::String(path)), ("descending", descending)]),
            InputOf::Key => object([("descending", descending)]),
        })
    }
}

/// The filter with these tests of the values at a JSONPath. None if there are none.
fn tests(path: String, tests: Value) -> Result<Option<Value>> {
    let tests = members(tests)?.into_iter();
    let mut tests: IndexMap<Name, Value> = tests.map(|(test, value)| (test, json(value))).collect();
    if tests.is_empty() {
        return Ok(None);
    }
    tests.insert(Name::new("at"), Value::String(path));
    Ok(Some(Value::Object(tests)))
}

/// A value as JSON, in which the values of enums are strings.
fn json(value: Value) -> Value {
    match value {
        Value::Enum(name) => Value::String(name.to_string()),
        Value::List(elements) => Value::List(elements.into_iter().map(json).collect()),
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
    let members = members.into_iter();
    let members = members.map(|(member, value)| (name(member), value));
    Value::Object(members.collect::<IndexMap<_, _>>())
}
