//! JSONPath queries in arguments: parsed once and cached.

use std::num::NonZeroUsize;
use std::sync::{LazyLock, Mutex, PoisonError};

use lru::LruCache;

use super::scalar_types::JsonPath;
use crate::budget::{Budget, Steps};
use crate::document::jsonpath::Query;
use crate::error::Result;
use crate::limits::{JSONPATH_AHEAD_BYTES_MAX, JSONPATHS_CACHED_MAX, STEPS_PER_JSONPATH_BYTE};

impl JsonPath {
    /// Parses the text, or takes the query from the cache.
    ///
    /// # Errors
    /// As [`Query::parse`], [`Query::compile`] and [`Budget::check`].
    pub(crate) async fn query(&self, budget: &Budget) -> Result<Query> {
        if let Some(query) = kept(&self.0) {
            return Ok(query);
        }
        budget.compute(|steps| self.parse(steps)).await
    }

    /// As [`JsonPath::query`], inside synchronous work.
    ///
    /// # Errors
    /// As [`JsonPath::query`].
    pub(crate) fn query_within(&self, steps: &Steps<'_>) -> Result<Query> {
        if let Some(query) = kept(&self.0) {
            return Ok(query);
        }
        self.parse(steps)
    }

    fn parse(&self, steps: &Steps<'_>) -> Result<Query> {
        steps.spend(parse_steps(&self.0))?;
        let query = parse(&self.0)?;
        query.compile(steps)?;
        Ok(query)
    }
}

fn parse_steps(text: &str) -> u64 {
    text.len() as u64 * STEPS_PER_JSONPATH_BYTE
}

/// The query, without compiled regular expressions. None if the text is invalid or longer than
/// [`JSONPATH_AHEAD_BYTES_MAX`].
pub(crate) fn query_in(text: &str, budget: &Budget) -> Option<Query> {
    if text.len() > JSONPATH_AHEAD_BYTES_MAX {
        return None;
    }
    kept(text).or_else(|| {
        budget.spend(parse_steps(text)).ok()?;
        parse(text).ok()
    })
}

/// The most recently used queries. Binding a plan needs a query, and so does each document of a page;
/// parsing takes longer than most evaluations.
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
    // A compiled regular expression holds far more memory than its text.
    let small = text.len() <= JSONPATH_AHEAD_BYTES_MAX && !query.has_regexps();
    if small {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(text.to_owned(), query.clone());
    }
    Ok(query)
}
