//! The parsed types of a process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::head::{TypeDigest, TypeHead};
use crate::budget::{Budget, Steps};
use crate::error::Result;
use crate::limits::TYPES_CACHED_BYTES_MAX;
use crate::store::{Read, Transaction};
use crate::types::{CollectionType, Shape};

/// The parsed types that this process used last, by the digests of their texts. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct TypeCache(Arc<Mutex<CachedTypes>>);

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

    /// The type with this head. Its text is read and parsed if it is not cached.
    ///
    /// # Errors
    /// `INTERNAL`: the text is damaged. Errors of the store. As [`Budget::compute`].
    pub(crate) async fn find(
        &self,
        read: &dyn Read,
        budget: &Budget,
        collection: &str,
        head: &TypeHead,
    ) -> Result<CollectionType> {
        if let Some(cached) = self.lock().types.get(&head.digest) {
            return Ok(cached.clone());
        }
        let text = head.text(read, collection).await?;
        let parse = |steps: &Steps<'_>| CollectionType::parse(collection, &text, steps);
        let parsed = budget.compute(parse).await?;
        let bytes = approximate_bytes(&parsed);
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The approximate memory of a type: its text, its shapes, and its compiled patterns.
fn approximate_bytes(of: &CollectionType) -> usize {
    let shapes = of.shapes().map(|(_, shape)| {
        let has_pattern = shape.constraints.string.pattern.is_some();
        size_of::<Shape>() + if has_pattern { PATTERN_BYTES } else { 0 }
    });
    of.text().len() + shapes.sum::<usize>()
}

/// The memory of a typical compiled pattern.
const PATTERN_BYTES: usize = 64 << 10;
