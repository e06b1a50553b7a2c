//! The hash of a persisted query, as a request carries it.

use crate::document::json::{Event, Reader, utf8};
use crate::document::leaf::abridged;
use crate::error::{Error, Limit, Result};
use crate::limits::EXTENSIONS_BYTES_MAX;

/// The SHA-256 of a query's text.
pub type QueryHash = [u8; 32];

/// The hash in the JSON text of a request's extensions, if one is there.
///
/// # Errors
/// `BAD_USER_INPUT`: `persistedQuery` is of another version, or not of its form. `TOO_LARGE`: they
/// have more bytes than [`EXTENSIONS_BYTES_MAX`].
pub(crate) fn persisted_query(extensions: &[u8]) -> Result<Option<QueryHash>> {
    if extensions.len() > EXTENSIONS_BYTES_MAX {
        return Err(Error::too_large(
            Limit::new("extensionsBytes", EXTENSIONS_BYTES_MAX),
            format!("`extensions` has more than {EXTENSIONS_BYTES_MAX} bytes, which is the limit"),
        ));
    }
    let mut found = None;
    for (name, value) in members(extensions)? {
        if name == "persistedQuery" {
            found = Some(value);
        }
    }
    match found {
        None | Some("null") => Ok(None),
        Some(value) => read(value).map(Some),
    }
}

pub(crate) fn read(value: &str) -> Result<QueryHash> {
    let (mut version, mut hash) = ("", None);
    for (name, value) in members(value.as_bytes())? {
        match name.as_str() {
            "version" => version = value,
            "sha256Hash" => hash = from_hex(value),
            _ => {}
        }
    }
    if version != "1" {
        return Err(Error::bad_input(
            "`extensions.persistedQuery.version` must be 1, which is the one there is",
        ));
    }
    hash.ok_or_else(|| {
        Error::bad_input(
            "`extensions.persistedQuery.sha256Hash` must be a string of 64 hexadecimal digits",
        )
    })
}

/// The members of an object, as names and texts; none of nothing.
pub(crate) fn members(object: &[u8]) -> Result<Vec<(String, &str)>> {
    let text = utf8(object).unwrap_or_default();
    let malformed = || {
        let text = abridged(text);
        Error::bad_input(format!(
            "`extensions.persistedQuery` is {text}, and must be an object"
        ))
    };
    let mut members = Vec::new();
    if text.is_empty() {
        return Ok(members);
    }
    let mut reader = Reader::new(text, usize::MAX);
    if !matches!(reader.next(), Ok(Event::BeginObject)) {
        return Err(malformed());
    }
    while let Some((name, value)) = reader.next_member().map_err(|_| malformed())? {
        members.push((name.into_owned(), value));
    }
    Ok(members)
}

/// Reads a JSON string of hexadecimal digits.
pub(crate) fn from_hex(json: &str) -> Option<QueryHash> {
    let digits = json.strip_prefix('"')?.strip_suffix('"')?;
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = QueryHash::default();
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(hash)
}
