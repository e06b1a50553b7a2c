//! JSONPath queries as arguments: parsed once, and kept.

use std::num::NonZeroUsize;
use std::sync::{LazyLock, Mutex, PoisonError};

use async_graphql::Value;
use lru::LruCache;

use super::scalars::JsonPath;
use crate::document::jsonpath::Query;
use crate::error::Result;
use crate::limits::{JSONPATH_AHEAD_BYTES_MAX, JSONPATHS_CACHED_MAX};

impl JsonPath {
    /// The query that the text writes.
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub(super) fn query(&self) -> Result<Query> {
        Ok(self.parsed()?.0)
    }

    /// The same, and the bytes of text that had to be parsed for it.
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub(super) fn parsed(&self) -> Result<(Query, usize)> {
        match kept(&self.0) {
            Some(query) => Ok((query, 0)),
            None => Ok((parse(&self.0)?, self.0.len())),
        }
    }
}

/// The query that an argument gives, if it is one that is short enough to be looked at ahead.
pub(super) fn query_ahead(value: &Value) -> Option<Query> {
    let Value::String(text) = value else {
        return None;
    };
    if text.len() > JSONPATH_AHEAD_BYTES_MAX {
        return None;
    }
    kept(text).or_else(|| parse(text).ok())
}

/// The queries that were used last. A query is looked at ahead, and again for each document of a
/// page; parsing it takes longer than most evaluations.
static KEPT: LazyLock<Mutex<LruCache<String, Query>>> = LazyLock::new(|| {
    let most = NonZeroUsize::new(JSONPATHS_CACHED_MAX).expect("some are kept");
    Mutex::new(LruCache::new(most))
});

fn kept(text: &str) -> Option<Query> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.get(text).cloned()
}

fn parse(text: &str) -> Result<Query> {
    let query = Query::parse(text)?;
    // What a regular expression holds once it has run is far more than its text.
    let small = text.len() <= JSONPATH_AHEAD_BYTES_MAX && !query.has_regexps();
    if small {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(text.to_owned(), query.clone());
    }
    Ok(query)
}
