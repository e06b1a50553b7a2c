//! The types of collections and indexes. Their fields are executed from plans.
#![expect(
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{Enum, Object};

use crate::error::Result;
use crate::graphql::scalars::types::{Json, JsonPath};
use crate::graphql::schema::declared::declared;

pub(crate) struct CollectionObject;

/// A collection of documents.
#[Object(name = "DocumentCollection")]
impl CollectionObject {
    /// The name of the collection.
    async fn name(&self) -> Result<String> {
        declared()
    }

    /// The number of documents in the collection.
    async fn count(&self) -> Result<i64> {
        declared()
    }

    /// The indexes of the collection, sorted by name.
    async fn indexes(&self) -> Result<Vec<IndexObject>> {
        declared()
    }
}

pub(crate) struct IndexObject;

/// An index of a collection.
#[Object(name = "DocumentIndex")]
impl IndexObject {
    /// The name of the index, unique in its collection.
    async fn name(&self) -> Result<String> {
        declared()
    }

    /// The indexed paths, from left to right.
    async fn on(&self) -> Result<Vec<JsonPath>> {
        declared()
    }

    /// Whether the values must be unique across documents.
    async fn unique(&self) -> Result<bool> {
        declared()
    }

    /// The filter of a partial index, in the notation of `DocumentFilter`; null if the index has all documents.
    #[graphql(name = "where")]
    async fn filter(&self) -> Result<Option<Json>> {
        declared()
    }

    /// Whether queries use the index.
    async fn state(&self) -> Result<IndexState> {
        declared()
    }

    /// Why the index failed; null unless `state` is `FAILED`.
    async fn error(&self) -> Result<Option<String>> {
        declared()
    }
}

/// Whether queries use an index.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "DocumentIndexState")]
pub(crate) enum IndexState {
    /// The index is being built while writes continue. Queries ignore it. A unique index already rejects writes that violate it.
    Building,
    /// Queries use the index.
    Ready,
    /// The index cannot contain some document; `error` names the document and the reason. The index is no longer maintained: drop it and create it again.
    Failed,
}
