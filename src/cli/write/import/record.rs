//! A line of an export: exactly `{"id": …, "document": …}`.

use crate::document::flatten::json_error;
use crate::document::json::{Event, JsonError, Reader};
use crate::error::{Error, Result};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// The texts of the id and of the document.
pub(crate) struct ImportRecord<'t> {
    pub(crate) id: String,
    pub(crate) document: &'t str,
}

/// Parses a line.
///
/// # Errors
/// `BAD_USER_INPUT`: the line is not a record of an export.
pub(crate) fn parse(line: &str) -> Result<ImportRecord<'_>> {
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
pub(crate) fn is_record(line: &str) -> bool {
    matches!(members(line), Ok(Some(_)))
}

fn members(line: &str) -> Result<Option<ImportRecord<'_>>, JsonError> {
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
    Ok(both.map(|(id, document)| ImportRecord { id, document }))
}
