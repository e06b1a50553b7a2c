//! Responses as bytes: values as `async_graphql` made them, JSON spliced in as it came from the
//! leaves.

use async_graphql::{PathSegment, ServerError, Value};

use super::scalars::THIS_COMMIT;
use crate::document::json::write_string;
use crate::error::{Error, ErrorKind};
use crate::key::Version;

/// Writes a response. `version` goes where the version of this commit belongs.
pub(super) fn write(
    data: Option<&Value>,
    errors: &[ServerError],
    version: Option<Version>,
) -> Vec<u8> {
    let mut writer = Writer {
        out: Vec::with_capacity(128 + data.map_or(0, spliced_bytes)),
        version,
    };
    writer.out.push(b'{');
    if let Some(data) = data {
        writer.out.extend_from_slice(b"\"data\":");
        writer.value(data);
    }
    if !errors.is_empty() {
        if data.is_some() {
            writer.out.push(b',');
        }
        writer.out.extend_from_slice(b"\"errors\":");
        writer.list(errors, Writer::error);
    }
    writer.out.push(b'}');
    writer.out
}

/// Our own error as GraphQL has it. What the log is told is logged here, once.
pub(super) fn server_error(error: &Error) -> ServerError {
    let mut told = ServerError::new(error.message(), None);
    told.source = Some(std::sync::Arc::new(error.clone()));
    told
}

/// The JSON that a response carries, in bytes.
fn spliced_bytes(value: &Value) -> usize {
    match value {
        Value::Binary(text) => text.len(),
        Value::List(elements) => elements.iter().map(spliced_bytes).sum(),
        Value::Object(members) => members.values().map(spliced_bytes).sum(),
        _ => 0,
    }
}

struct Writer {
    out: Vec<u8>,
    version: Option<Version>,
}

impl Writer {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Boolean(value) => {
                self.out
                    .extend_from_slice(if *value { b"true" } else { b"false" });
            }
            Value::Number(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Value::String(text) => write_string(&mut self.out, text),
            Value::Enum(name) => write_string(&mut self.out, name),
            Value::Binary(text) if *text == THIS_COMMIT => match self.version {
                Some(version) => write_string(&mut self.out, &version.to_string()),
                None => self.out.extend_from_slice(b"null"),
            },
            Value::Binary(text) => self.out.extend_from_slice(text),
            Value::List(elements) => self.list(elements, Self::value),
            Value::Object(members) => {
                self.out.push(b'{');
                for (at, (name, member)) in members.iter().enumerate() {
                    self.member(at, name);
                    self.value(member);
                }
                self.out.push(b'}');
            }
        }
    }

    fn error(&mut self, error: &ServerError) {
        let ours: Option<&Error> = error.source();
        self.out.push(b'{');
        self.member(0, "message");
        write_string(
            &mut self.out,
            ours.map_or(&error.message, |ours| ours.message()),
        );
        if !error.locations.is_empty() {
            self.member(1, "locations");
            self.list(&error.locations, |writer, at| {
                let (line, column) = (at.line, at.column);
                let text = format!("{{\"line\":{line},\"column\":{column}}}");
                writer.out.extend_from_slice(text.as_bytes());
            });
        }
        if !error.path.is_empty() {
            self.member(1, "path");
            self.list(&error.path, |writer, segment| match segment {
                PathSegment::Field(name) => write_string(&mut writer.out, name),
                PathSegment::Index(index) => {
                    writer.out.extend_from_slice(index.to_string().as_bytes())
                }
            });
        }
        let kind = ours.map_or(ErrorKind::BadUserInput, Error::kind);
        self.member(1, "extensions");
        self.out.extend_from_slice(b"{\"code\":");
        write_string(&mut self.out, kind.code());
        self.out.extend_from_slice(b"}}");
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            write(self, item);
        }
        self.out.push(b']');
    }

    fn member(&mut self, at: usize, name: &str) {
        if at > 0 {
            self.out.push(b',');
        }
        write_string(&mut self.out, name);
        self.out.push(b':');
    }
}
