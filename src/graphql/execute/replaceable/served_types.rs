//! The types of collections that the current schema has.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::database::CollectionTypes;

/// The types of collections that the current schema has.
#[derive(Default)]
pub(in crate::graphql::execute) struct ServedTypes {
    current: ArcSwap<CollectionTypes>,
    built: Mutex<Option<Instant>>,
}

impl ServedTypes {
    pub(super) fn current(&self) -> Arc<CollectionTypes> {
        self.current.load_full()
    }

    /// When the last schema was built, if one was. Only who holds it replaces the types.
    pub(super) async fn refreshing(&self) -> MutexGuard<'_, Option<Instant>> {
        self.built.lock().await
    }

    pub(super) fn replace(&self, types: CollectionTypes) {
        self.current.store(Arc::new(types));
    }
}
