//! Reads the hash of a persisted query from the extensions of a request.

use crate::document::json::{Event, Reader, utf8};
use crate::document::leaf::abridged;
use crate::error::{Error, Limit, Result};
use crate::limits::EXTENSIONS_BYTES_MAX;

/// The SHA-256 of a query's text.
pub type QueryHash = [u8; 32];

/// The hash in the JSON text of a request's extensions, if there is one.
///
/// # Errors
/// `BAD_USER_INPUT`: `persistedQuery` has another version or is malformed. `TOO_LARGE`: the
/// extensions have more than [`EXTENSIONS_BYTES_MAX`] bytes.
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
            "`extensions.persistedQuery.version` must be 1, the only version",
        ));
    }
    hash.ok_or_else(|| {
        Error::bad_input(
            "`extensions.persistedQuery.sha256Hash` must be a string of 64 hexadecimal digits",
        )
    })
}

/// The names of an object's members and the JSON texts of their values. An empty text has no
/// members.
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

/// Reads a hash from a JSON string of 64 hexadecimal digits.
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
