//! Writes the errors of responses as JSON text.

use std::borrow::Cow;

use async_graphql::{PathSegment, ServerError};

use crate::budget::grow;
use crate::document::json::{write_list, write_string};
use crate::error::{Error, ErrorKind, Facts, Limit, TypeViolation, Versions};
use crate::limits::{ERROR_MESSAGE_BYTES_MAX, ERRORS_MAX};

/// The response to a request that was not executed: it has no data.
pub(crate) fn without_data(errors: &[ServerError]) -> Vec<u8> {
    let mut writer = ResponseWriter {
        out: b"{\"errors\":".to_vec(),
    };
    writer.errors(errors);
    writer.out.push(b'}');
    writer.out
}

/// Completes a response that begins with `{"data":…`.
pub(crate) fn complete(data: Vec<u8>, errors: &[ServerError]) -> Vec<u8> {
    let mut writer = ResponseWriter { out: data };
    if !errors.is_empty() {
        writer.out.extend_from_slice(b",\"errors\":");
        writer.errors(errors);
    }
    grow(&mut writer.out, 1);
    writer.out.push(b'}');
    writer.out
}

/// Converts an error to the error type of `async_graphql`. The original error stays its source.
pub(crate) fn server_error(error: &Error) -> ServerError {
    let mut converted = ServerError::new(error.message(), None);
    converted.source = Some(std::sync::Arc::new(error.clone()));
    converted
}

/// Truncates a message, which can quote client input, to [`ERROR_MESSAGE_BYTES_MAX`].
pub(super) fn bounded(message: &str) -> Cow<'_, str> {
    if message.len() <= ERROR_MESSAGE_BYTES_MAX {
        return Cow::Borrowed(message);
    }
    let mut ends = (0..=ERROR_MESSAGE_BYTES_MAX).rev();
    let end = ends
        .find(|end| message.is_char_boundary(*end))
        .unwrap_or_default();
    Cow::Owned(format!("{}…", &message[..end]))
}

/// Writes the path of a field in the response.
pub(super) fn write_path(out: &mut Vec<u8>, path: &[PathSegment]) {
    write_list(out, path, |out, segment| match segment {
        PathSegment::Field(name) => write_string(out, name),
        PathSegment::Index(index) => out.extend_from_slice(index.to_string().as_bytes()),
    });
}

struct ResponseWriter {
    out: Vec<u8>,
}

impl ResponseWriter {
    /// Writes up to [`ERRORS_MAX`] errors, and the number of further ones.
    fn errors(&mut self, errors: &[ServerError]) {
        let Some(more) = errors
            .len()
            .checked_sub(ERRORS_MAX)
            .filter(|more| *more > 0)
        else {
            return self.list(errors, Self::error);
        };
        self.list(&errors[..ERRORS_MAX], Self::error);
        // Removes the closing bracket to append one more error.
        self.out.pop();
        self.out.push(b',');
        let message =
            format!("{more} more errors; at most {ERRORS_MAX} are reported, which is the limit");
        self.error(&server_error(&Error::too_complex(
            Limit::new("errors", ERRORS_MAX),
            message,
        )));
        self.out.push(b']');
    }

    fn error(&mut self, error: &ServerError) {
        let ours: Option<&Error> = error.source();
        self.out.push(b'{');
        self.member(0, "message");
        let message = ours.map_or(&*error.message, Error::message);
        write_string(&mut self.out, &bounded(message));
        if !error.locations.is_empty() {
            self.member(1, "locations");
            write_list(&mut self.out, &error.locations, |out, at| {
                let (line, column) = (at.line, at.column);
                let text = format!("{{\"line\":{line},\"column\":{column}}}");
                out.extend_from_slice(text.as_bytes());
            });
        }
        if !error.path.is_empty() {
            self.member(1, "path");
            write_path(&mut self.out, &error.path);
        }
        let kind = ours.map_or(ErrorKind::BadUserInput, Error::kind);
        self.member(1, "extensions");
        self.out.extend_from_slice(b"{\"code\":");
        write_string(&mut self.out, kind.code());
        if let Some(facts) = ours.and_then(Error::facts) {
            self.facts(facts);
        }
        self.out.extend_from_slice(b"}}");
    }

    /// The facts that docs/errors.md lists, after the code.
    fn facts(&mut self, facts: &Facts) {
        if let Some(limit) = facts.limit {
            self.member(1, "limit");
            self.out
                .extend_from_slice(limit.value().to_string().as_bytes());
            self.member(1, "limitName");
            write_string(&mut self.out, limit.name());
        }
        // A truncated place would be another place, so a long one is omitted.
        let place = facts.place.as_ref();
        if let Some(place) = place.filter(|place| place.len() <= ERROR_MESSAGE_BYTES_MAX) {
            self.member(1, "place");
            write_string(&mut self.out, place);
        }
        if let Some(operation) = facts.operation {
            self.member(1, "operation");
            self.out.extend_from_slice(operation.to_string().as_bytes());
        }
        if let Some(Versions { expected, current }) = &facts.versions {
            self.member(1, "expectedVersion");
            write_string(&mut self.out, expected);
            self.member(1, "currentVersion");
            match current {
                Some(current) => write_string(&mut self.out, current),
                None => self.out.extend_from_slice(b"null"),
            }
        }
        if !facts.violations.is_empty() {
            self.member(1, "violations");
            self.list(&facts.violations, Self::violation);
        }
    }

    fn violation(&mut self, violation: &TypeViolation) {
        let TypeViolation {
            place,
            keyword,
            expected,
            value,
        } = violation;
        let members = [
            ("place", place),
            ("keyword", keyword),
            ("expected", expected),
        ];
        self.out.push(b'{');
        for (at, (name, text)) in members.into_iter().enumerate() {
            self.member(at, name);
            write_string(&mut self.out, &bounded(text));
        }
        if let Some(value) = value {
            self.member(1, "value");
            write_string(&mut self.out, &bounded(value));
        }
        self.out.push(b'}');
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
