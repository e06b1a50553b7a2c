//! Inputs for typed documents, as the JSON that they mean.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::indexmap::IndexMap;
use async_graphql::{Name, Value};

use crate::document::leaf::abridged;
use crate::error::{Error, Result};

/// What the members of the input types of documents mean, by the name of the type and of the member. A
/// clone is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypedWrites(Arc<HashMap<String, HashMap<String, WrittenMember>>>);

/// What a member means.
#[derive(Clone, Debug)]
pub(super) struct WrittenMember {
    /// The name of the member in the document.
    pub(super) name: Box<str>,
    pub(super) of: Written,
    /// Whether null is written. Otherwise the member is left out.
    pub(super) keeps_null: bool,
}

/// How a value is written.
#[derive(Clone, Debug)]
pub(super) enum Written {
    Value,
    /// A value of an enum, as text.
    Enum,
    /// An object, from an input of this type.
    Object(String),
    List(Box<Written>),
    /// An object, from a list of entries of this type.
    Map(String),
}

impl TypedWrites {
    pub(super) fn new(members: HashMap<String, HashMap<String, WrittenMember>>) -> Self {
        Self(Arc::new(members))
    }

    /// The JSON that an input of this type means.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: two entries of a map have the same key, or one has no value.
    pub(crate) fn json(&self, ty: &str, value: Value) -> Result<Value> {
        let Some(known) = self.0.get(ty) else {
            return Ok(value);
        };
        let Value::Object(given) = value else {
            return Ok(value);
        };
        let mut written = IndexMap::new();
        for (field, value) in given {
            let member = known.get(field.as_str()).ok_or_else(no_meaning)?;
            if value == Value::Null && !member.keeps_null {
                continue;
            }
            let value = self
                .written(&member.of, value)
                .map_err(|error| error.at(format!("`{field}`")))?;
            written.insert(Name::new(&member.name), value);
        }
        Ok(Value::Object(written))
    }

    /// The recursion is bounded by the levels of a variable and of a text.
    fn written(&self, of: &Written, value: Value) -> Result<Value> {
        Ok(match (of, value) {
            (_, Value::Null) => Value::Null,
            (Written::Enum, Value::Enum(name)) => Value::String(name.to_string()),
            (Written::Value | Written::Enum, value) => value,
            (Written::Object(ty), value) => self.json(ty, value)?,
            (Written::List(of), Value::List(elements)) => {
                let elements = elements.into_iter();
                let written = elements.map(|element| self.written(of, element));
                Value::List(written.collect::<Result<_>>()?)
            }
            // A single value is coerced to a list.
            (Written::List(of), single) => Value::List(vec![self.written(of, single)?]),
            (Written::Map(ty), Value::List(entries)) => self.map(ty, entries)?,
            (Written::Map(ty), single) => self.map(ty, vec![single])?,
        })
    }

    fn map(&self, ty: &str, entries: Vec<Value>) -> Result<Value> {
        let of = self.0.get(ty).and_then(|members| members.get("value"));
        let of = &of.ok_or_else(no_meaning)?.of;
        let mut written = IndexMap::new();
        for entry in entries {
            let Value::Object(mut members) = entry else {
                return Err(Error::bad_input("an entry of a map is an object"));
            };
            let Some(Value::String(key)) = members.swap_remove("key") else {
                return Err(Error::bad_input("an entry of a map has a `key`"));
            };
            // A variable without a value leaves `value` out, and null would remove the stored entry.
            let value = members.swap_remove("value").ok_or_else(|| {
                Error::bad_input(format!(
                    "the entry {:?} has no `value`; null is given explicitly",
                    abridged(&key)
                ))
            })?;
            let value = self
                .written(of, value)
                .map_err(|error| error.at(format!("{:?}", abridged(&key))))?;
            if written.insert(Name::new(&key), value).is_some() {
                return Err(Error::bad_input(format!(
                    "two entries of a map have the key {:?}",
                    abridged(&key)
                )));
            }
        }
        Ok(Value::Object(written))
    }
}

fn no_meaning() -> Error {
    Error::internal("an input of the schema has no meaning")
}
