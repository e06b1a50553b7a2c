//! The types of all collections.

use super::define::{typed_collections, types_version};
use super::head::TypeHead;
use super::type_cache::TypeCache;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::store::{Read, Transaction};
use crate::types::CollectionType;

/// The types of all collections at one time.
#[derive(Clone, Debug, Default)]
pub struct CollectionTypes {
    /// The commit that last changed one of them. `None` if there was none yet.
    pub version: Option<Version>,
    /// In the order of the names of their collections, without those that are damaged.
    pub types: Vec<CollectionType>,
    /// The damaged types: the names of their collections, and what is wrong.
    pub damaged: Vec<(String, Error)>,
}

impl CollectionTypes {
    /// Reads the types. None if the last change was that of the version `known`.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn read(
        read: &dyn Read,
        cache: &TypeCache,
        known: Option<&Version>,
    ) -> Result<Option<Self>> {
        let version = types_version(read).await?;
        if version.as_ref() == known {
            return Ok(None);
        }
        let mut found = Self {
            version,
            ..Self::default()
        };
        for collection in typed_collections(read).await? {
            match stored(read, cache, &collection).await {
                Ok(of) => found.types.extend(of),
                Err(error) if error.kind() == ErrorKind::Internal => {
                    found.damaged.push((collection, error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(found))
    }
}

/// The types of the collections other than this one, as the transaction has them. It conflicts with those
/// that set other types. Damaged types are left out.
///
/// # Errors
/// Errors of the store.
pub async fn types_beside(
    transaction: &dyn Transaction,
    collection: &str,
) -> Result<Vec<CollectionType>> {
    let cache = TypeCache::of(transaction);
    let mut types = Vec::new();
    for other in typed_collections(transaction).await? {
        if other == collection {
            continue;
        }
        match stored(transaction, &cache, &other).await {
            Ok(of) => types.extend(of),
            Err(error) if error.kind() == ErrorKind::Internal => {}
            Err(error) => return Err(error),
        }
    }
    Ok(types)
}

/// The types of all collections. Damaged types are left out.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn all_types(read: &dyn Read, cache: &TypeCache) -> Result<Vec<CollectionType>> {
    let mut types = Vec::new();
    for collection in typed_collections(read).await? {
        match stored(read, cache, &collection).await {
            Ok(of) => types.extend(of),
            Err(error) if error.kind() == ErrorKind::Internal => {}
            Err(error) => return Err(error),
        }
    }
    Ok(types)
}

async fn stored(
    read: &dyn Read,
    cache: &TypeCache,
    collection: &str,
) -> Result<Option<CollectionType>> {
    match TypeHead::read(read, collection).await? {
        None => Ok(None),
        Some(head) => cache.find(read, collection, &head).await.map(Some),
    }
}
