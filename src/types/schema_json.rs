//! The JSON of a schema, with its members in their order.

use std::collections::HashSet;

use crate::document::flatten::json_error;
use crate::document::json::{Event, Reader};
use crate::document::leaf::{Kind, Leaf, abridged};
use crate::error::{Error, Result};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// A JSON value. It has at most [`DOCUMENT_LEVELS_MAX`] levels, so functions may recurse over it.
#[derive(Debug, PartialEq)]
pub(super) enum SchemaJson {
    Leaf(Leaf<'static>),
    Array(Vec<SchemaJson>),
    Object(Vec<(String, SchemaJson)>),
}

/// A container that is being read.
enum OpenJson {
    Array(Vec<SchemaJson>),
    /// Its members, the name of the next one, and all names.
    Object(Vec<(String, SchemaJson)>, String, HashSet<String>),
}

impl SchemaJson {
    /// Parses JSON text.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON, a number exceeds binary64, or an object has two members
    /// of one name. `TOO_LARGE`: the nesting or an integer exceeds its limit.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX);
        let mut open = Vec::new();
        let mut root = None;
        loop {
            let event = reader.next();
            let value = match event.map_err(|error| json_error(&error, text))? {
                Event::BeginObject => {
                    open.push(OpenJson::Object(Vec::new(), String::new(), HashSet::new()));
                    continue;
                }
                Event::BeginArray => {
                    open.push(OpenJson::Array(Vec::new()));
                    continue;
                }
                Event::Name(name) => {
                    if let Some(open) = open.last_mut() {
                        open.name(name.into_owned())?;
                    }
                    continue;
                }
                Event::EndObject | Event::EndArray => match open.pop() {
                    Some(OpenJson::Array(elements)) => Self::Array(elements),
                    Some(OpenJson::Object(members, ..)) => Self::Object(members),
                    None => return Err(Error::internal("a reader closed an unopened value")),
                },
                Event::String(text) => Self::Leaf(Leaf::String(text.into_owned().into())),
                Event::Number(text) => Self::Leaf(Leaf::number(text)?),
                Event::Bool(value) => Self::Leaf(Leaf::Bool(value)),
                Event::Null => Self::Leaf(Leaf::Null),
                Event::End => {
                    return root.ok_or_else(|| Error::internal("a reader ended before its value"));
                }
            };
            match open.last_mut() {
                Some(OpenJson::Array(elements)) => elements.push(value),
                Some(OpenJson::Object(members, name, _)) => {
                    members.push((std::mem::take(name), value));
                }
                None => root = Some(value),
            }
        }
    }

    /// A string.
    pub(super) fn string(text: &str) -> Self {
        Self::Leaf(Leaf::String(text.to_owned().into()))
    }

    /// An object with these members.
    pub(super) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Leaf(leaf) => leaf.kind(),
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }

    /// The member of an object.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else {
            return None;
        };
        let found = members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value)
    }

    /// The text, if it is a string.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Leaf(Leaf::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The leaf, if it is a number.
    pub(super) fn number(&self) -> Option<&Leaf<'static>> {
        match self {
            Self::Leaf(leaf) if leaf.kind() == Kind::Number => Some(leaf),
            _ => None,
        }
    }

    /// The value, if it is a boolean.
    pub(super) fn boolean(&self) -> Option<bool> {
        match self {
            Self::Leaf(Leaf::Bool(value)) => Some(*value),
            _ => None,
        }
    }
}

impl OpenJson {
    fn name(&mut self, name: String) -> Result<()> {
        let Self::Object(_, next, names) = self else {
            return Ok(());
        };
        if !names.insert(name.clone()) {
            return Err(Error::bad_input(format!(
                "an object of the schema has two members named {:?}",
                abridged(&name)
            )));
        }
        *next = name;
        Ok(())
    }
}
