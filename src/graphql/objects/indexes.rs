//! Indexes: what they are told as, and the mutations that make and drop them.

use async_graphql::{Context, Enum, Object, SimpleObject};

use crate::database;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::types::JsonPath;

/// An index of a collection.
#[derive(SimpleObject)]
#[graphql(name = "DocumentIndex")]
pub(crate) struct IndexObject {
    /// Its name in the collection.
    name: CountedBytes<String>,
    /// What it is on, from the left.
    on: Vec<CountedBytes<JsonPath>>,
    /// Whether no two documents may have the same values.
    unique: bool,
    /// Whether queries use it.
    state: IndexState,
    /// Why it failed; null unless it did.
    error: Option<CountedBytes<String>>,
}

/// Whether queries use an index.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "DocumentIndexState")]
pub(crate) enum IndexState {
    /// It is being built, while documents change. Queries do as if it were not there; a unique index refuses what would violate it already.
    Building,
    /// It serves.
    Ready,
    /// A document cannot be in it; `error` says which, and why. It is kept no longer: drop it, and make it again.
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
    /// Makes an index, on one or several JSONPaths of names, indexes and, in all, at most one `[*]`. A query uses it if it tests its paths from the left. A unique index allows no two documents with the same values; one in which a path selects nothing is not held against any other. On a collection without documents it is `READY` at once, otherwise it is built while documents change. If the index is there already, it is returned as it is; `ALREADY_EXISTS` if another has its name.
    async fn create_index(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection whose documents it is of.")]
        collection: String,
        #[graphql(desc = "What to call it.")] name: String,
        #[graphql(desc = "What it is on, from the left.")] on: Vec<JsonPath>,
        #[graphql(
            default = false,
            desc = "Whether no two documents may have the same values."
        )]
        unique: bool,
    ) -> Result<IndexObject> {
        let transaction = Session::of(context).transaction()?;
        let on: Vec<String> = on.into_iter().map(|JsonPath(text)| text).collect();
        let index = database::create_index(transaction, &collection, &name, &on, unique).await?;
        Ok(index.into())
    }

    /// Drops an index; false if there is none of this name.
    async fn drop_index(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection whose documents it is of.")]
        collection: String,
        #[graphql(desc = "What it is called.")] name: String,
    ) -> Result<bool> {
        let transaction = Session::of(context).transaction()?;
        database::drop_index(transaction, &collection, &name).await
    }
}
