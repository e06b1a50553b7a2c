//! Automatic persisted queries: a client sends the SHA-256 of a query instead of its text, and
//! the text beside it once the server says that it does not know the hash
//! (<https://www.apollographql.com/docs/apollo-server/performance/apq>).
//!
//! A hash stands for a text and nothing else: the operation's name and the variables come with
//! each request. Since the text is hashed here before it is kept, no client can make a hash mean
//! another text for others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use super::lru_cache::LruCache;
use super::request::Request;
use crate::document::json::{Event, Reader, utf8};
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::limits::{EXTENSIONS_BYTES_MAX, PERSISTED_QUERIES_BYTES_MAX, PERSISTED_QUERIES_MAX};

/// The SHA-256 of a query's text.
pub type QueryHash = [u8; 32];

/// The hash in the JSON text of a request's extensions, if one is there.
///
/// # Errors
/// `BAD_USER_INPUT`: `persistedQuery` is of another version, or not of its form. `TOO_LARGE`: they
/// have more bytes than [`EXTENSIONS_BYTES_MAX`].
pub(super) fn persisted_query(extensions: &[u8]) -> Result<Option<QueryHash>> {
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

/// Reads a JSON string of hexadecimal digits.
fn from_hex(json: &str) -> Option<QueryHash> {
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

/// The texts that were kept, by their hash. The ones used last stay.
pub(super) struct PersistedQueries(Mutex<LruCache<QueryHash, Arc<str>>>);

impl PersistedQueries {
    pub(super) fn new() -> Self {
        Self::bounded(PERSISTED_QUERIES_BYTES_MAX)
    }

    fn bounded(bytes_max: usize) -> Self {
        Self(Mutex::new(LruCache::new(PERSISTED_QUERIES_MAX, bytes_max)))
    }

    /// The request with the text of its query, if only the hash was sent.
    ///
    /// # Errors
    /// `PERSISTED_QUERY_NOT_FOUND`: no text of this hash is kept. `BAD_USER_INPUT`: the text that
    /// was sent has another hash.
    pub(super) fn resolve(&self, mut request: Request) -> Result<Request> {
        let Some(hash) = &request.query_hash else {
            return Ok(request);
        };
        if request.query.is_empty() {
            let text = self.kept().get(hash).ok_or_else(not_found)?;
            text.as_ref().clone_into(&mut request.query);
        } else if QueryHash::from(Sha256::digest(&request.query)) != *hash {
            return Err(Error::bad_input(
                "the hash in `extensions.persistedQuery` is not that of the query's text",
            ));
        }
        Ok(request)
    }

    /// Keeps the text of a request that [`PersistedQueries::resolve`] gave and that was found
    /// valid.
    pub(super) fn keep(&self, request: &Request) {
        let Some(hash) = request.query_hash else {
            return;
        };
        let mut kept = self.kept();
        if !kept.contains(&hash) {
            let text = &*request.query;
            kept.keep(hash, text.into(), text.len());
        }
    }

    fn kept(&self) -> MutexGuard<'_, LruCache<QueryHash, Arc<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Clients know it by its message or its code, and send the text next.
fn not_found() -> Error {
    Error::new(ErrorKind::PersistedQueryNotFound, "PersistedQueryNotFound")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(query: &str, hashed: &str) -> Request {
        Request {
            query: query.to_owned(),
            query_hash: Some(Sha256::digest(hashed).into()),
            ..Request::default()
        }
    }

    #[test]
    fn texts_are_kept_within_their_bytes_and_the_ones_used_last_stay() {
        let queries = PersistedQueries::bounded(100);
        let texts: Vec<String> = (0..9).map(|at| format!("{{ a{at} {:40}}}", "")).collect();
        for text in &texts {
            queries.keep(
                &queries
                    .resolve(request(text, text))
                    .expect("the hash is right"),
            );
            assert!(queries.kept().size().1 <= 100);
            // The first is used each time, so it stays.
            assert!(queries.resolve(request("", &texts[0])).is_ok(), "{text}");
        }
        let known = |text: &&String| queries.resolve(request("", text)).is_ok();
        let known: Vec<&String> = texts.iter().filter(known).collect();
        assert_eq!(known, [&texts[0], &texts[8]]);
        queries.keep(&request(&"x".repeat(101), "too long"));
        let kept = queries.kept();
        assert_eq!(kept.size(), (0, 0));
    }

    #[test]
    fn a_text_of_another_hash_is_refused_and_not_kept() {
        let queries = PersistedQueries::new();
        let error = queries.resolve(request("{ a }", "{ b }"));
        assert_eq!(error.expect_err("another").kind(), ErrorKind::BadUserInput);
        let error = queries.resolve(request("", "{ b }"));
        let kind = error.expect_err("not kept").kind();
        assert_eq!(kind, ErrorKind::PersistedQueryNotFound);
    }
}
