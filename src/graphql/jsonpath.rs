//! The scalar JSONPath, and the queries that are kept parsed.

use std::num::NonZeroUsize;
use std::sync::{LazyLock, Mutex, PoisonError};

use async_graphql::{InputValueResult, Scalar, ScalarType, Value};
use lru::LruCache;

use crate::document::jsonpath::Query;
use crate::error::{Error, Result};
use crate::limits::{JSONPATH_AHEAD_BYTES_MAX, JSONPATHS_CACHED_MAX};

/// As it was given: what is no query is an error of the field that takes it, with its own code.
#[derive(Clone, Debug)]
pub(super) struct JsonPathScalar(Value);

/// A JSONPath query (RFC 9535), such as "$.ancestors[*].slug".
#[Scalar(
    name = "JSONPath",
    specified_by_url = "https://www.rfc-editor.org/rfc/rfc9535"
)]
impl ScalarType for JsonPathScalar {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self(value))
    }

    fn to_value(&self) -> Value {
        self.0.clone()
    }
}

impl JsonPathScalar {
    /// The query, and the bytes of its text that had to be parsed for it.
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub(super) fn query(&self) -> Result<(Query, usize)> {
        let text = text(&self.0)?;
        match kept(text) {
            Some(query) => Ok((query, 0)),
            None => Ok((parse(text)?, text.len())),
        }
    }
}

/// The query that an argument gives, if it is one that is short enough to be looked at ahead.
pub(super) fn query_ahead(value: &Value) -> Option<Query> {
    let text = text(value).ok()?;
    if text.len() > JSONPATH_AHEAD_BYTES_MAX {
        return None;
    }
    kept(text).or_else(|| parse(text).ok())
}

fn text(value: &Value) -> Result<&str> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(Error::bad_input(format!(
            "a JSONPath query is a string (RFC 9535), not {}",
            crate::document::leaf::abridged(&other.to_string())
        ))),
    }
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
