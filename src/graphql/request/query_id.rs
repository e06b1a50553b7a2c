//! How a request identifies a query whose text the server has: by `documentId` (the persisted documents
//! of GraphQL over HTTP, <https://github.com/graphql/graphql-over-http/pull/264>) or by
//! `extensions.persistedQuery` (Apollo's clients).

use crate::document::json::{Event, Reader, utf8};
use crate::document::leaf::abridged;
use crate::error::{Error, Limit, Result};
use crate::limits::{EXTENSIONS_BYTES_MAX, QUERY_ID_BYTES_MAX};

/// The SHA-256 of a query's text.
pub type QueryHash = [u8; 32];

/// The id of a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QueryId {
    /// 64 hexadecimal digits, with or without `sha256:` in front: the SHA-256 of the text.
    Hash(QueryHash),
    /// Any other text. Only the list of operations says which query it identifies.
    Name(Box<str>),
}

impl QueryId {
    /// The id with this text.
    ///
    /// # Errors
    /// `TOO_LARGE`: the text has more than [`QUERY_ID_BYTES_MAX`] bytes.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.len() > QUERY_ID_BYTES_MAX {
            return Err(Error::too_large(
                Limit::new("queryIdBytes", QUERY_ID_BYTES_MAX),
                format!(
                    "the id {:?} of a query has more than {QUERY_ID_BYTES_MAX} bytes, which is the \
                     limit",
                    abridged(text)
                ),
            ));
        }
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        Ok(from_hex(digits).map_or_else(|| Self::Name(text.into()), Self::Hash))
    }

    /// The id of a request's query, from `documentId` and from the hash in its extensions.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the two differ. Errors of [`QueryId::parse`].
    pub(crate) fn of_request(id: Option<&str>, hash: Option<QueryHash>) -> Result<Option<Self>> {
        let id = id.map(Self::parse).transpose()?;
        match (id, hash.map(Self::Hash)) {
            (Some(id), Some(hash)) if id != hash => Err(Error::bad_input(
                "`documentId` and `extensions.persistedQuery` identify different queries: send one \
                 of them",
            )),
            (id, hash) => Ok(id.or(hash)),
        }
    }
}

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

fn read(value: &str) -> Result<QueryHash> {
    let (mut version, mut hash) = ("", None);
    for (name, value) in members(value.as_bytes())? {
        match name.as_str() {
            "version" => version = value,
            "sha256Hash" => hash = unquoted(value).and_then(from_hex),
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
fn members(object: &[u8]) -> Result<Vec<(String, &str)>> {
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

fn unquoted(json: &str) -> Option<&str> {
    json.strip_prefix('"')?.strip_suffix('"')
}

/// Reads a hash from 64 hexadecimal digits.
fn from_hex(digits: &str) -> Option<QueryHash> {
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = QueryHash::default();
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(hash)
}
