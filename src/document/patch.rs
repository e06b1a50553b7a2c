//! Parses JSON Patch (RFC 6902).

use std::fmt;

use bytes::Bytes;

use super::flatten::{json_error, json_text};
use super::json::{Event, Reader};
use super::leaf::abridged;
use super::path::Path;
use crate::error::{Error, Result};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// One operation of a patch. Values are JSON text.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchOperation {
    /// Adds a member, or replaces it if it exists, or inserts before an element of an array.
    Add(Path, Bytes),
    /// Removes the value at a place.
    Remove(Path),
    /// Replaces the value at a place.
    Replace(Path, Bytes),
    /// Removes the value at the first place and adds it at the second.
    Move(Path, Path),
    /// Adds a copy of the value at the first place at the second.
    Copy(Path, Path),
    /// Tests that the value at a place equals a value.
    Test(Path, Bytes),
}

impl PatchOperation {
    /// The target place.
    pub fn path(&self) -> &Path {
        match self {
            Self::Add(path, _)
            | Self::Remove(path)
            | Self::Replace(path, _)
            | Self::Move(_, path)
            | Self::Copy(_, path)
            | Self::Test(path, _) => path,
        }
    }

    /// The source place of a move or copy.
    pub fn from(&self) -> Option<&Path> {
        match self {
            Self::Move(from, _) | Self::Copy(from, _) => Some(from),
            _ => None,
        }
    }
}

/// The operation's name and target, for messages.
impl fmt::Display for PatchOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Add(..) => "add",
            Self::Remove(_) => "remove",
            Self::Replace(..) => "replace",
            Self::Move(..) => "move",
            Self::Copy(..) => "copy",
            Self::Test(..) => "test",
        };
        let path = self.path().to_string();
        write!(f, "{name} \"{}\"", abridged(&path))
    }
}

/// Parses a patch, a JSON array of operations. Values share the memory of its text.
///
/// # Errors
/// `BAD_USER_INPUT`: the text is not JSON or not a JSON Patch; the message has the number of the
/// operation, from 0. `INVALID_PATH`: a `path` or `from` is not a JSON Pointer. `TOO_LARGE`: a
/// value nests deeper than [`DOCUMENT_LEVELS_MAX`].
pub fn parse(patch: &Bytes) -> Result<Vec<PatchOperation>> {
    let text = json_text(patch)?;
    // A value is two levels down; its own nesting is counted when it is flattened.
    let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX + 2);
    let in_text = |error| json_error(&error, text);
    if reader.next().map_err(in_text)? != Event::BeginArray {
        return Err(Error::bad_input(
            "a JSON Patch is an array of operations (RFC 6902 §3)",
        ));
    }
    let mut operations = Vec::new();
    while let Some(operation) = reader.next_element().map_err(in_text)? {
        let parsed = parse_operation(patch, operation);
        operations.push(parsed.map_err(|error| error.at_operation(operations.len()))?);
    }
    reader.next().map_err(in_text)?;
    Ok(operations)
}

fn parse_operation(patch: &Bytes, text: &str) -> Result<PatchOperation> {
    let mut members = OperationMembers {
        patch,
        op: None,
        path: None,
        from: None,
        value: None,
    };
    let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX + 1);
    let in_text = |error| json_error(&error, text);
    if reader.next().map_err(in_text)? != Event::BeginObject {
        return Err(Error::bad_input("it is not an object (RFC 6902 §4)"));
    }
    while let Some((name, value)) = reader.next_member().map_err(in_text)? {
        match name.as_ref() {
            "op" => members.op = Some(value),
            "path" => members.path = Some(value),
            "from" => members.from = Some(value),
            "value" => members.value = Some(value),
            // "MUST be ignored" (RFC 6902 §4).
            _ => {}
        }
    }
    members.operation()
}

/// The members of an operation, as JSON text.
struct OperationMembers<'t> {
    /// The whole patch.
    patch: &'t Bytes,
    op: Option<&'t str>,
    path: Option<&'t str>,
    from: Option<&'t str>,
    value: Option<&'t str>,
}

impl OperationMembers<'_> {
    fn operation(&self) -> Result<PatchOperation> {
        let op = string("op", self.op)?;
        Ok(match op.as_str() {
            "add" => PatchOperation::Add(self.path()?, self.value()?),
            "remove" => PatchOperation::Remove(self.path()?),
            "replace" => PatchOperation::Replace(self.path()?, self.value()?),
            "move" => PatchOperation::Move(pointer("from", self.from)?, self.path()?),
            "copy" => PatchOperation::Copy(pointer("from", self.from)?, self.path()?),
            "test" => PatchOperation::Test(self.path()?, self.value()?),
            other => {
                return Err(Error::bad_input(format!(
                    "its `op` is {:?}, and must be add, remove, replace, move, copy or test",
                    abridged(other)
                )));
            }
        })
    }

    fn path(&self) -> Result<Path> {
        pointer("path", self.path)
    }

    fn value(&self) -> Result<Bytes> {
        let value = self
            .value
            .map(|value| self.patch.slice_ref(value.as_bytes()));
        value.ok_or_else(|| Error::bad_input("it has no member `value`, which may be null"))
    }
}

fn pointer(name: &str, text: Option<&str>) -> Result<Path> {
    Path::pointer(&string(name, text)?).map_err(|error| error.at(format!("`{name}`")))
}

fn string(name: &str, text: Option<&str>) -> Result<String> {
    let Some(text) = text else {
        return Err(Error::bad_input(format!("it has no member `{name}`")));
    };
    match Reader::new(text, 0).next() {
        Ok(Event::String(text)) => Ok(text.into_owned()),
        _ => Err(Error::bad_input(format!(
            "its `{name}` is {}, and must be a string",
            abridged(text)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn path(pointer: &str) -> Path {
        Path::pointer(pointer).expect(pointer)
    }

    #[test]
    fn a_patch_is_a_list_of_operations() {
        let text = r#" [
            {"op": "add", "path": "/a/-", "value": {"b": [1]}},
            {"path": "/a~1b", "op": "remove", "value": 1, "more": {}},
            {"op": "move", "from": "/a/0", "path": ""},
            {"op": "test", "path": "/n", "value": null}
        ] "#;
        let expected = vec![
            PatchOperation::Add(path("/a/-"), Bytes::from_static(br#"{"b": [1]}"#)),
            PatchOperation::Remove(path("/a~1b")),
            PatchOperation::Move(path("/a/0"), path("")),
            PatchOperation::Test(path("/n"), Bytes::from_static(b"null")),
        ];
        assert_eq!(parse(&text.into()).expect("a patch"), expected);
        assert_eq!(parse(&"[]".into()).expect("a patch"), vec![]);
    }

    #[test]
    fn invalid_patches_are_rejected_with_the_operation() {
        for (text, expected) in [
            ("", "not valid JSON"),
            ("{}", "an array of operations"),
            ("[] 1", "not valid JSON"),
            ("[1]", "operation 0 of the patch: it is not an object"),
            ("[{}]", "operation 0 of the patch: it has no member `op`"),
            (
                r#"[{"op":"remove","path":"/a"},{"op":"add","path":"/a"}]"#,
                "operation 1 of the patch: it has no member `value`",
            ),
            (r#"[{"op":"remove"}]"#, "no member `path`"),
            (r#"[{"op":"copy","path":"/a"}]"#, "no member `from`"),
            (r#"[{"op":"spam","path":"/a"}]"#, "\"spam\""),
            (r#"[{"op":"remove","path":1}]"#, "`path` is 1"),
            (r#"[{"op":"remove","path":"a"}]"#, "does not begin with"),
        ] {
            let error = parse(&text.into()).expect_err(text);
            assert!(error.message().contains(expected), "{text}: {error}");
        }
        let error = parse(&r#"[{"op":"remove","path":"a"}]"#.into()).expect_err("no pointer");
        assert_eq!(error.kind(), ErrorKind::InvalidPath);
    }
}
