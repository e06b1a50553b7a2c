//! The parsed types of a process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::head::{TypeDigest, TypeHead};
use crate::budget::{Budget, Steps};
use crate::error::Result;
use crate::limits::TYPES_CACHED_BYTES_MAX;
use crate::store::{Attachments, Read, Transaction};
use crate::types::CollectionType;

/// The parsed types that this process used last, by the digests of their texts. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct TypeCache {
    cached: Arc<Mutex<CachedTypes>>,
    /// What others have made of the types.
    derived: Arc<Attachments>,
}

/// Marks a transaction that changes a type.
#[derive(Default)]
pub(crate) struct TypesWritten;

#[derive(Default)]
struct CachedTypes {
    types: HashMap<TypeDigest, CollectionType>,
    /// Their approximate memory.
    bytes: usize,
}

impl TypeCache {
    /// Lets the operations of a transaction use this cache.
    pub(crate) fn attach(&self, transaction: &dyn Transaction) {
        transaction.attachments().set(Arc::new(self.clone()));
    }

    /// The cache of a transaction.
    pub(crate) fn of(transaction: &dyn Transaction) -> Arc<Self> {
        transaction.attachments().get()
    }

    /// What a process keeps besides the types.
    pub(crate) fn derived<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.derived.get()
    }

    /// The type with this head. Its text is read and parsed if it is not cached. No request pays for that,
    /// so that each one can use a type that was set: its size was limited then.
    ///
    /// # Errors
    /// `INTERNAL`: the text is damaged. Errors of the store.
    pub(crate) async fn find(
        &self,
        read: &dyn Read,
        collection: &str,
        head: &TypeHead,
    ) -> Result<CollectionType> {
        if let Some(cached) = self.lock().types.get(&head.digest) {
            return Ok(cached.clone());
        }
        let text = head.text(read, collection).await?;
        let parse = |steps: &Steps<'_>| CollectionType::parse(collection, &text, steps);
        let parsed = Budget::of_background().compute(parse).await?;
        let bytes = parsed.held();
        let mut cached = self.lock();
        if cached.bytes + bytes > TYPES_CACHED_BYTES_MAX {
            *cached = CachedTypes::default();
        }
        if cached.types.insert(head.digest, parsed.clone()).is_none() {
            cached.bytes += bytes;
        }
        Ok(parsed)
    }

    fn lock(&self) -> MutexGuard<'_, CachedTypes> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
