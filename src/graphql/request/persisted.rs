//! Persisted queries: a client sends the id of a query instead of its text.
//!
//! - The operator lists operations with their ids ([`OperationList`]). These are never dropped.
//! - Automatic persisted queries: the id is the SHA-256 of the text. If the server does not know it, the
//!   client sends the hash and the text
//!   (<https://www.apollographql.com/docs/apollo-server/performance/apq>).
//!
//! An id identifies only the text: each request carries its operation name and variables. The server
//! checks the hash before it stores a text, so no client can store another text under a hash.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use sha2::{Digest as _, Sha256};

use super::body::Request;
use super::operation_list::OperationList;
use super::query_id::{QueryHash, QueryId};
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::lru_cache::LruCache;
use crate::limits::{PERSISTED_QUERIES_BYTES_MAX, PERSISTED_QUERIES_MAX};

/// The texts by their ids: listed ones, and others by their hash in an LRU cache.
pub(crate) struct PersistedQueries {
    listed: ArcSwap<OperationList>,
    kept: Mutex<LruCache<QueryHash, Arc<str>>>,
}

/// A request that has the text of its query.
pub(crate) struct ResolvedRequest {
    pub(crate) request: Request,
    /// Whether the request has the id of a listed operation, and is thus for this operation.
    pub(crate) is_listed: bool,
}

impl ResolvedRequest {
    /// Checks that the request is for a listed operation, by its id. A text that is also listed is not
    /// sufficient.
    ///
    /// # Errors
    /// `FORBIDDEN`: it is not.
    pub(crate) fn check_listed(&self) -> Result<()> {
        if self.is_listed {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Forbidden,
            "only listed operations are allowed: send the id of one in `documentId`",
        ))
    }
}

impl PersistedQueries {
    pub(crate) fn new() -> Self {
        Self::bounded(PERSISTED_QUERIES_BYTES_MAX)
    }

    fn bounded(bytes_max: usize) -> Self {
        Self {
            listed: ArcSwap::default(),
            kept: Mutex::new(LruCache::new(PERSISTED_QUERIES_MAX, bytes_max)),
        }
    }

    /// Replaces the list of operations.
    pub(crate) fn list(&self, operations: Arc<OperationList>) {
        self.listed.store(operations);
    }

    /// Adds the text of the query if the client sent only its id.
    ///
    /// # Errors
    /// `PERSISTED_QUERY_NOT_FOUND`: no text with this id is listed or cached. `BAD_USER_INPUT`: the
    /// text that the client sent has another id.
    pub(crate) fn resolve(&self, mut request: Request) -> Result<ResolvedRequest> {
        let Some(id) = &request.query_id else {
            return Ok(ResolvedRequest {
                request,
                is_listed: false,
            });
        };
        let text = self.listed.load().text(id);
        let is_listed = text.is_some();
        if request.query.is_empty() {
            let text = text.or_else(|| self.kept_text(id)).ok_or_else(not_found)?;
            text.as_ref().clone_into(&mut request.query);
        } else if !has_id(&request.query, id, text.as_deref()) {
            return Err(Error::bad_input(
                "the text of the query is not the one that `documentId` or \
                 `extensions.persistedQuery` identifies",
            ));
        }
        Ok(ResolvedRequest { request, is_listed })
    }

    /// Caches the text of a valid request.
    pub(crate) fn keep(&self, resolved: &ResolvedRequest) {
        let Some(QueryId::Hash(hash)) = resolved.request.query_id else {
            return;
        };
        let mut kept = self.kept();
        if !resolved.is_listed && !kept.contains(&hash) {
            let text = &*resolved.request.query;
            kept.keep(hash, text.into(), text.len());
        }
    }

    fn kept_text(&self, id: &QueryId) -> Option<Arc<str>> {
        match id {
            QueryId::Hash(hash) => self.kept().get(hash),
            QueryId::Name(_) => None,
        }
    }

    fn kept(&self) -> MutexGuard<'_, LruCache<QueryHash, Arc<str>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a text has this id. An id that is not listed and is no hash can belong to any text.
fn has_id(text: &str, id: &QueryId, listed: Option<&str>) -> bool {
    match (listed, id) {
        (Some(listed), _) => text == listed,
        (None, QueryId::Hash(hash)) => QueryHash::from(Sha256::digest(text)) == *hash,
        (None, QueryId::Name(_)) => true,
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
            query_id: Some(QueryId::Hash(Sha256::digest(hashed).into())),
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
        let long = "x".repeat(101);
        let long = queries.resolve(request(&long, &long));
        queries.keep(&long.expect("the hash is right"));
        let kept = queries.kept();
        assert_eq!(kept.size(), (0, 0));
    }

    #[test]
    fn texts_with_another_hash_are_rejected_and_not_kept() {
        let queries = PersistedQueries::new();
        let error = queries.resolve(request("{ a }", "{ b }")).map(|_| ());
        assert_eq!(error.expect_err("another").kind(), ErrorKind::BadUserInput);
        let error = queries.resolve(request("", "{ b }")).map(|_| ());
        let kind = error.expect_err("not kept").kind();
        assert_eq!(kind, ErrorKind::PersistedQueryNotFound);
    }

    #[test]
    fn listed_operations_are_resolved_by_id_and_are_not_cached() {
        let queries = PersistedQueries::new();
        let list = OperationList::read(&[r#"{"a": "{ a }"}"#]).expect("a list");
        queries.list(Arc::new(list));
        let named = |query: &str, id: &str| Request {
            query: query.to_owned(),
            query_id: Some(QueryId::Name(id.into())),
            ..Request::default()
        };
        for listed in [
            named("", "a"),
            named("{ a }", "a"),
            request("", "{ a }"),
            request("{ a }", "{ a }"),
        ] {
            let resolved = queries.resolve(listed).expect("it is listed");
            assert_eq!(resolved.request.query, "{ a }");
            assert!(resolved.check_listed().is_ok());
            queries.keep(&resolved);
        }
        assert_eq!(queries.kept().size(), (0, 0));
        for other in [
            Request {
                query: "{ a }".to_owned(),
                ..Request::default()
            },
            named("{ a }", "b"),
            request("{ b }", "{ b }"),
        ] {
            let resolved = queries.resolve(other).expect("it has a text");
            let error = resolved.check_listed().expect_err("it has no listed id");
            assert_eq!(error.kind(), ErrorKind::Forbidden);
        }
        let kind = |request| {
            queries
                .resolve(request)
                .map(|_| ())
                .expect_err("refused")
                .kind()
        };
        assert_eq!(kind(named("{ b }", "a")), ErrorKind::BadUserInput);
        assert_eq!(kind(named("", "b")), ErrorKind::PersistedQueryNotFound);
        // Another list replaces the whole list.
        queries.list(Arc::default());
        assert_eq!(kind(named("", "a")), ErrorKind::PersistedQueryNotFound);
        assert_eq!(
            kind(request("", "{ a }")),
            ErrorKind::PersistedQueryNotFound
        );
    }
}
