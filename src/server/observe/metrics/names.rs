//! Operation names as metric labels.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use crate::limits::{METRICS_OPERATIONS_MAX, OPERATION_NAME_CHARACTERS_MAX};

/// The operation names that have a label of their own. Only the first names do, so that clients
/// cannot create labels without bound.
#[derive(Default)]
pub(crate) struct Names(RwLock<HashSet<Arc<str>>>);

impl Names {
    /// The name, or `other` once the limit is reached. Empty for an unnamed operation.
    pub(crate) fn bounded(&self, name: Option<&str>) -> Arc<str> {
        let name = abridged(name.unwrap_or_default());
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(name) {
            return known.clone();
        }
        let full = known.len() >= METRICS_OPERATIONS_MAX;
        drop(known);
        if full {
            return "other".into();
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let name: Arc<str> = name.into();
        // Another thread may have added names meanwhile.
        if known.len() >= METRICS_OPERATIONS_MAX && !known.contains(&name) {
            return "other".into();
        }
        known.insert(name.clone());
        name
    }
}

/// Truncates an operation's name, which is ASCII.
pub(crate) fn abridged(name: &str) -> &str {
    name.get(..OPERATION_NAME_CHARACTERS_MAX).unwrap_or(name)
}
