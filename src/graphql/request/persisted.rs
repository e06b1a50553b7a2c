//! Automatic persisted queries: a client sends the SHA-256 of a query instead of its text. If the
//! server does not know the hash, the client sends the hash and the text
//! (<https://www.apollographql.com/docs/apollo-server/performance/apq>).
//!
//! A hash identifies only the text: each request carries its operation name and variables. The
//! server checks the hash before it stores a text, so no client can store another text under a
//! hash.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use super::body::Request;
use super::query_hash::QueryHash;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::lru_cache::LruCache;
use crate::limits::{PERSISTED_QUERIES_BYTES_MAX, PERSISTED_QUERIES_MAX};

/// The texts by their hash, in an LRU cache.
pub(crate) struct PersistedQueries(Mutex<LruCache<QueryHash, Arc<str>>>);

impl PersistedQueries {
    pub(crate) fn new() -> Self {
        Self::bounded(PERSISTED_QUERIES_BYTES_MAX)
    }

    fn bounded(bytes_max: usize) -> Self {
        Self(Mutex::new(LruCache::new(PERSISTED_QUERIES_MAX, bytes_max)))
    }

    /// Adds the text of the query if the client sent only the hash.
    ///
    /// # Errors
    /// `PERSISTED_QUERY_NOT_FOUND`: no text with this hash is cached. `BAD_USER_INPUT`: the text
    /// that the client sent has another hash.
    pub(crate) fn resolve(&self, mut request: Request) -> Result<Request> {
        let Some(hash) = &request.query_hash else {
            return Ok(request);
        };
        if request.query.is_empty() {
            let text = self.kept().get(hash).ok_or_else(not_found)?;
            text.as_ref().clone_into(&mut request.query);
        } else if QueryHash::from(Sha256::digest(&request.query)) != *hash {
            return Err(Error::bad_input(
                "the hash in `extensions.persistedQuery` does not match the text of the query",
            ));
        }
        Ok(request)
    }

    /// Caches the text of a valid request that [`PersistedQueries::resolve`] returned.
    pub(crate) fn keep(&self, request: &Request) {
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

/// Clients recognize this error by its message or code, and then send the text.
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
    fn recently_used_texts_are_kept_within_the_bytes() {
        let queries = PersistedQueries::bounded(100);
        let texts: Vec<String> = (0..9).map(|at| format!("{{ a{at} {:40}}}", "")).collect();
        for text in &texts {
            queries.keep(
                &queries
                    .resolve(request(text, text))
                    .expect("the hash is right"),
            );
            assert!(queries.kept().size().1 <= 100);
            // The first text is used each time, so it is not evicted.
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
    fn texts_with_another_hash_are_rejected_and_not_kept() {
        let queries = PersistedQueries::new();
        let error = queries.resolve(request("{ a }", "{ b }"));
        assert_eq!(error.expect_err("another").kind(), ErrorKind::BadUserInput);
        let error = queries.resolve(request("", "{ b }"));
        let kind = error.expect_err("not kept").kind();
        assert_eq!(kind, ErrorKind::PersistedQueryNotFound);
    }
}
