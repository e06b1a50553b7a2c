//! The scalars of the schema: `JSON`, `Path`, `JSONPath`, `DocumentVersion`.

use std::sync::LazyLock;

use async_graphql::{
    InputType, InputValueError, InputValueResult, Name, Pos, Scalar, ScalarType, Value,
};
use bytes::Bytes;

use crate::document::json::write_string;
use crate::document::path::{Path, Segment, Token};
use crate::error::{Error, Limit, Result};
use crate::key;
use crate::limits::LISTED_PATHS_MAX;

/// JSON text from a variable or for the response. It passes through `async_graphql` as bytes, and
/// the response writer copies it unchanged.
#[derive(Clone, Debug)]
pub(crate) struct Json(pub(crate) Bytes);

impl Json {
    /// The number 1.
    pub(crate) const fn one() -> Self {
        Self(Bytes::from_static(b"1"))
    }
}

/// The scalar `JSON`, which schema.graphql describes.
#[Scalar(name = "JSON")]
impl ScalarType for Json {
    fn parse(value: Value) -> InputValueResult<Self> {
        if let Value::Binary(text) = value {
            return Ok(Self(text));
        }
        let mut text = Vec::new();
        write_value(&mut text, &value, EnumValues::Errors).map_err(InputValueError::custom)?;
        Ok(Self(text.into()))
    }

    fn to_value(&self) -> Value {
        Value::Binary(self.0.clone())
    }
}

/// How values of enums are written, which JSON does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnumValues {
    Strings,
    Errors,
}

/// Writes a value as JSON text.
///
/// # Errors
/// It has the value of an enum, and these are errors.
pub(crate) fn write_value(
    out: &mut Vec<u8>,
    value: &Value,
    enums: EnumValues,
) -> Result<(), &'static str> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Value::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::String(text) => write_string(out, text),
        Value::Binary(text) => out.extend_from_slice(text),
        Value::List(elements) => {
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(out, element, enums)?;
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_string(out, name);
                out.push(b':');
                write_value(out, member, enums)?;
            }
            out.push(b'}');
        }
        Value::Enum(name) if enums == EnumValues::Strings => write_string(out, name),
        Value::Enum(_) => return Err("an enum value is not JSON: strings need quotes"),
    }
    Ok(())
}

#[derive(Clone, Debug)]
pub(crate) struct PathScalar(Value);

/// The scalar `Path`, which schema.graphql describes.
#[Scalar(name = "Path")]
impl ScalarType for PathScalar {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self(value))
    }

    fn to_value(&self) -> Value {
        self.0.clone()
    }
}

/// An object key or an array index.
#[derive(Clone, Debug)]
pub(crate) struct SegmentScalar(pub(crate) Segment);

/// One step of a path: an object key (a string) or an array index (an integer from 0).
#[Scalar(name = "PathSegment")]
impl ScalarType for SegmentScalar {
    fn parse(value: Value) -> InputValueResult<Self> {
        let segment = match &value {
            Value::String(key) => Some(Segment::Key(key.clone())),
            Value::Number(number) => match Token::of_integer(&number.to_string()) {
                Some(Token::Segment(segment)) => Some(segment),
                _ => None,
            },
            _ => None,
        };
        segment
            .map(Self)
            .ok_or_else(|| InputValueError::expected_type(value))
    }

    fn to_value(&self) -> Value {
        segment_value(&self.0)
    }
}

fn segment_value(segment: &Segment) -> Value {
    match segment {
        Segment::Key(key) => Value::String(key.clone()),
        Segment::Index(index) => Value::Number((*index).into()),
    }
}

/// The text of a JSONPath query. It is not parsed yet; [`JsonPath::query`] reports errors.
#[derive(Clone, Debug)]
pub(crate) struct JsonPath(pub(crate) String);

/// A JSONPath query (RFC 9535), such as `$.ancestors[*].slug`.
#[Scalar(name = "JSONPath")]
impl ScalarType for JsonPath {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) => Ok(Self(text)),
            value => Err(InputValueError::expected_type(value)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

/// The whole document, as an empty string. An empty list is the same path, but GraphQL.js cannot
/// print it as the default of a scalar (docs/decisions/0008).
impl Default for PathScalar {
    fn default() -> Self {
        Self(Value::String(String::new()))
    }
}

/// The value of an argument as the type that the field takes.
///
/// # Errors
/// `BAD_USER_INPUT`: it does not have the type.
pub(crate) fn parsed<T: InputType>(argument: Option<Value>) -> Result<T> {
    T::parse(argument).map_err(|error| {
        let error = error.into_server_error(Pos::default());
        Error::bad_input(error.message)
    })
}

/// The path in an argument. An absent or null argument is the whole document.
///
/// # Errors
/// `INVALID_PATH`: the value is not a path.
pub(crate) fn path_argument(argument: Option<&PathScalar>) -> Result<Path> {
    argument.map_or_else(|| Ok(Path::default()), |path| path_of(&path.0))
}

/// Checks the number of paths in an argument.
///
/// # Errors
/// `TOO_COMPLEX`: there are too many.
pub(crate) fn check_listed_paths(paths: usize) -> Result<()> {
    if paths <= LISTED_PATHS_MAX {
        return Ok(());
    }
    Err(Error::too_complex(
        Limit::new("listedPaths", LISTED_PATHS_MAX),
        format!("the argument `paths` has {paths} paths; the limit is {LISTED_PATHS_MAX}"),
    ))
}

/// Converts a value to a path.
///
/// # Errors
/// `INVALID_PATH`: the value is not a path.
pub(crate) fn path_of(value: &Value) -> Result<Path> {
    match value {
        Value::Null => Ok(Path::default()),
        Value::String(pointer) => Path::pointer(pointer),
        Value::List(elements) => elements
            .iter()
            .map(token)
            .collect::<Result<_>>()
            .map(Path::new),
        other => Err(Error::invalid_path(
            None,
            format!("the path {other} is neither a list of keys and indexes nor a JSON Pointer"),
        )),
    }
}

fn token(element: &Value) -> Result<Token> {
    let segment = match element {
        Value::String(key) => Segment::Key(key.clone()),
        Value::Number(number) => {
            let text = number.to_string();
            return Token::of_integer(&text).ok_or_else(|| {
                Error::invalid_path(
                    None,
                    format!("the index {text} in a path is not an integer"),
                )
            });
        }
        other => {
            return Err(Error::invalid_path(
                None,
                format!("{other} in a path is neither a key (a string) nor an index (an integer)"),
            ));
        }
    };
    Ok(Token::Segment(segment))
}

pub(crate) struct VersionScalar(pub(crate) key::Version);

/// The scalar `DocumentVersion`, which schema.graphql describes.
#[Scalar(name = "DocumentVersion")]
impl ScalarType for VersionScalar {
    fn parse(value: Value) -> InputValueResult<Self> {
        let known = match &value {
            Value::String(text) => key::Version::parse(text),
            _ => None,
        };
        known
            .map(Self)
            .ok_or_else(|| InputValueError::expected_type(value))
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

/// A name for a map of values; shared for the keys of entities.
pub(crate) fn name(name: &str) -> Name {
    // The names in every representation of an entity are allocated once.
    static KEYS: LazyLock<[Name; 4]> =
        LazyLock::new(|| ["__typename", "collection", "key", "id"].map(Name::new));
    let known = KEYS.iter().find(|known| known.as_str() == name);
    known.cloned().unwrap_or_else(|| Name::new(name))
}
