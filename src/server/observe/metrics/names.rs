//! Names of operations, as far as metrics tell them apart.

use crate::limits::OPERATION_NAME_CHARACTERS_MAX;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use crate::limits::METRICS_OPERATIONS_MAX;

/// The names of operations that are told apart: the first ones that come, so that clients cannot
/// make the server count without bound.
#[derive(Default)]
pub(crate) struct Names(RwLock<HashSet<Arc<str>>>);

impl Names {
    /// The name itself, or `other`; empty for an operation without a name.
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
        // Others may have been faster.
        if known.len() >= METRICS_OPERATIONS_MAX && !known.contains(&name) {
            return "other".into();
        }
        known.insert(name.clone());
        name
    }
}

/// The beginning of an operation's name, which is ASCII.
pub(crate) fn abridged(name: &str) -> &str {
    name.get(..OPERATION_NAME_CHARACTERS_MAX).unwrap_or(name)
}
