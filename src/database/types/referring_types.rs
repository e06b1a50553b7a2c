//! The types whose documents refer to those of other collections: what a deletion has to act on.
//!
//! A deletion depends on the types of all collections, so it reads the version of the types under conflict.
//! A process reads the types again when the version has changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::all_types::all_types;
use super::define::types_version;
use super::type_cache::{TypeCache, TypesWritten};
use crate::document::jsonpath::Query;
use crate::error::Result;
use crate::key::Version;
use crate::store::Transaction;
use crate::types::{CollectionType, IndexedReference, OnDelete};

/// The references on which the deletion of their target acts, by the collection of the target.
#[derive(Debug, Default)]
pub(crate) struct ReferringTypes(HashMap<String, Vec<ReferringPlace>>);

/// A place of the documents of a collection that refers to those of another one.
#[derive(Clone, Debug)]
pub(crate) struct ReferringPlace {
    /// The collection with the references.
    pub(crate) collection: Arc<str>,
    pub(crate) reference: Arc<IndexedReference>,
    /// Selects the keys.
    pub(crate) keys: Query,
}

/// The types that a transaction has read.
#[derive(Default)]
struct KnownTypes(Mutex<Option<Arc<ReferringTypes>>>);

/// The types that a process has read last, and their version.
#[derive(Default)]
pub(super) struct LastTypes(Mutex<Option<(Version, Arc<ReferringTypes>)>>);

impl ReferringTypes {
    /// Those of the types as the transaction has them. It conflicts with those that change a type.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn of(transaction: &dyn Transaction) -> Result<Arc<Self>> {
        let cache = TypeCache::of(transaction);
        if transaction.attachments().find::<TypesWritten>().is_some() {
            // Their version is known after the commit.
            return Self::read(transaction, &cache).await.map(Arc::new);
        }
        let known = transaction.attachments().get::<KnownTypes>();
        let found = known
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(found) = found {
            return Ok(found);
        }
        let found = Self::last(transaction, &cache).await?;
        *known.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
        Ok(found)
    }

    async fn last(transaction: &dyn Transaction, cache: &TypeCache) -> Result<Arc<Self>> {
        let Some(version) = types_version(transaction).await? else {
            return Ok(Arc::default());
        };
        let last = cache.derived::<LastTypes>();
        let found = last
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((_, found)) = found.filter(|(of, _)| *of == version) {
            return Ok(found);
        }
        let found = Arc::new(Self::read(transaction, cache).await?);
        *last.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, found.clone()));
        Ok(found)
    }

    async fn read(transaction: &dyn Transaction, cache: &TypeCache) -> Result<Self> {
        // The version of the types is read under conflict.
        let types = all_types(transaction.without_conflict(), cache).await?;
        let mut found = Self::default();
        for of in &types {
            found.add(of)?;
        }
        Ok(found)
    }

    fn add(&mut self, of: &CollectionType) -> Result<()> {
        // A type that was set before its references were checked has none that acts.
        let references = of.indexed_references().unwrap_or_default();
        let acting = references.into_iter();
        for reference in acting.filter(|it| it.on_delete != OnDelete::Ignore) {
            let places = self.0.entry(reference.target.clone()).or_default();
            places.push(ReferringPlace {
                collection: of.collection().into(),
                keys: Query::parse(&reference.keys.path())?,
                reference: Arc::new(reference),
            });
        }
        Ok(())
    }

    /// The places that refer to documents of a collection.
    pub(crate) fn to(&self, collection: &str) -> &[ReferringPlace] {
        self.0.get(collection).map_or(&[], Vec::as_slice)
    }
}
