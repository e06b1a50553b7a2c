//! A line of an export: exactly `{"id": …, "document": …}`.

use crate::database::{Foreign, Scanned};
use crate::document::flatten::json_error;
use crate::document::json::{Event, JsonError, Reader, write_string};
use crate::error::{Error, Result};
use crate::key::tuple_text;
use crate::limits::DOCUMENT_LEVELS_MAX;

/// The texts of the id and of the document.
pub struct ExportLine<'t> {
    /// The text form of the id.
    pub id: String,
    /// The document as JSON.
    pub document: &'t str,
}

/// Parses a line.
///
/// # Errors
/// `BAD_USER_INPUT`: the line is not a record of an export.
pub fn parse_line(line: &str) -> Result<ExportLine<'_>> {
    members(line)
        .map_err(|error| json_error(&error, line))?
        .ok_or_else(|| {
            Error::bad_input(
                "not exactly {\"id\": …, \"document\": …} with a string as the id, like each line \
                 of an export",
            )
        })
}

/// Whether a text is a line of an export.
pub fn is_line(line: &str) -> bool {
    matches!(members(line), Ok(Some(_)))
}

fn members(line: &str) -> Result<Option<ExportLine<'_>>, JsonError> {
    // The record itself adds one level.
    let mut reader = Reader::new(line, DOCUMENT_LEVELS_MAX + 1);
    if reader.next()? != Event::BeginObject {
        return Ok(None);
    }
    let (mut id, mut document) = (None, None);
    loop {
        match reader.next()? {
            Event::Name(name) if name == "id" && id.is_none() => match reader.next()? {
                Event::String(text) => id = Some(text.into_owned()),
                _ => return Ok(None),
            },
            Event::Name(name) if name == "document" && document.is_none() => {
                document = Some(reader.skip_value()?);
            }
            Event::EndObject => break,
            _ => return Ok(None),
        }
    }
    reader.next()?;
    let both = id.zip(document);
    Ok(both.map(|(id, document)| ExportLine { id, document }))
}

/// Writes the line of a document, with its end, in place of what is in `line`.
pub fn write_line(line: &mut Vec<u8>, document: &Scanned) {
    line.clear();
    append_line(line, document);
}

/// Appends the line of a document that another program has stored under an id that has no text form.
pub(super) fn append_foreign(line: &mut Vec<u8>, foreign: &Foreign) {
    append_omitted(line, "UNSUPPORTED_ID", &tuple_text(&foreign.key));
}

/// Appends the line of a document that is damaged.
pub(super) fn append_damaged(line: &mut Vec<u8>, error: &Error) {
    append_omitted(line, error.kind().code(), error.message());
}

/// Appends the line of a document that is not exported. It has no `id`.
fn append_omitted(line: &mut Vec<u8>, code: &str, reason: &str) {
    line.extend_from_slice(b"{\"code\":");
    write_string(line, code);
    line.extend_from_slice(b",\"omitted\":");
    write_string(line, reason);
    line.extend_from_slice(b"}\n");
}

/// Appends the line of a document, with its end.
pub(super) fn append_line(line: &mut Vec<u8>, document: &Scanned) {
    line.extend_from_slice(b"{\"id\":");
    write_string(line, &document.id.to_string());
    line.extend_from_slice(b",\"document\":");
    line.extend_from_slice(&document.json);
    line.extend_from_slice(b"}\n");
}
