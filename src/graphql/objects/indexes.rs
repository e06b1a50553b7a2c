//! Indexes: their type in the schema, and the mutations that create and drop them.

use async_graphql::{Context, Enum, Object, SimpleObject};
use bytes::Bytes;

use super::filter::FilterInput;
use crate::database;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::types::{Json, JsonPath};

/// An index of a collection.
#[derive(SimpleObject)]
#[graphql(name = "DocumentIndex")]
pub(crate) struct IndexObject {
    /// The name of the index, unique in its collection.
    name: CountedBytes<String>,
    /// The indexed paths, from left to right.
    on: Vec<CountedBytes<JsonPath>>,
    /// Whether the values must be unique across documents.
    unique: bool,
    /// The filter of a partial index, in the notation of `DocumentFilter`; null if the index has all documents.
    #[graphql(name = "where")]
    filter: Option<CountedBytes<Json>>,
    /// Whether queries use the index.
    state: IndexState,
    /// Why the index failed; null unless `state` is `FAILED`.
    error: Option<CountedBytes<String>>,
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

impl From<database::Index> for IndexObject {
    fn from(index: database::Index) -> Self {
        let on = index.on.iter();
        Self {
            on: on
                .map(|path| CountedBytes(JsonPath(path.text().to_owned())))
                .collect(),
            name: CountedBytes(index.name),
            unique: index.unique,
            filter: index
                .filter
                .map(|filter| CountedBytes(Json(Bytes::copy_from_slice(filter.json().as_bytes())))),
            state: match index.state {
                database::State::Building => IndexState::Building,
                database::State::Ready => IndexState::Ready,
                database::State::Failed => IndexState::Failed,
            },
            error: index.error.map(CountedBytes),
        }
    }
}

#[derive(Default)]
pub(crate) struct IndexMutations;

#[Object]
impl IndexMutations {
    /// Creates an index on one or more JSONPaths, which consist of names, indexes and, in all, at most one `[*]`. `~` after `[*]` selects the names of the members of an object; the index then serves `exists` on a member. A query uses the index if it tests the indexed paths from the left. With `where`, the index is partial: it has only documents that match, and queries use it if their filter implies `where`. A unique index rejects two documents with the same values; a document in which a path selects nothing, or that does not match `where`, never conflicts. On an empty collection the index is `READY` at once; otherwise it is built while writes continue. If the same index exists, it is returned unchanged. Fails with `ALREADY_EXISTS` if another index has the name.
    async fn create_index(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that the index belongs to.")]
        collection: String,
        #[graphql(desc = "The name of the index.")] name: String,
        #[graphql(desc = "The indexed paths, from left to right.")] on: Vec<JsonPath>,
        #[graphql(
            default = false,
            desc = "Whether the values must be unique across documents."
        )]
        unique: bool,
        #[graphql(
            name = "where",
            desc = "The documents that are in the index; by default all. Conditions are on paths of names and indexes, compare with null, booleans, numbers and strings, and have no `contains`."
        )]
        filter: Option<FilterInput>,
    ) -> Result<IndexObject> {
        let session = Session::of(context);
        let transaction = session.transaction()?;
        let on: Vec<String> = on.into_iter().map(|JsonPath(text)| text).collect();
        let filter = filter.unwrap_or_default();
        let filter = filter.read(session.request_budget()).await;
        let filter = filter.map_err(|error| error.at("the argument `where`"))?;
        let index = database::create_index(transaction, &collection, &name, &on, unique, filter);
        let index = index.await?;
        Ok(index.into())
    }

    /// Drops an index. Returns false if there is no index with this name.
    async fn drop_index(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that the index belongs to.")]
        collection: String,
        #[graphql(desc = "The name of the index.")] name: String,
    ) -> Result<bool> {
        let transaction = Session::of(context).transaction()?;
        database::drop_index(transaction, &collection, &name).await
    }
}
