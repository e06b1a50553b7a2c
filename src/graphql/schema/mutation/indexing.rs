//! The mutations that create and drop indexes.
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::Object;

use crate::error::Result;
use crate::graphql::objects::filter::FilterInput;
use crate::graphql::scalars::types::JsonPath;
use crate::graphql::schema::declared::declared;
use crate::graphql::schema::types::indexes::IndexObject;

#[derive(Default)]
pub(crate) struct IndexMutations;

#[Object]
impl IndexMutations {
    /// Creates an index on one or more JSONPaths, which consist of names, indexes and, in all, at most one `[*]`. `~` after `[*]` selects the names of the members of an object; the index then serves `exists` on a member. A query uses the index if it tests the indexed paths from the left. With `where`, the index is partial: it has only documents that match, and queries use it if their filter implies `where`. A unique index rejects two documents with the same values; a document in which a path selects nothing, or that does not match `where`, never conflicts. On an empty collection the index is `READY` at once; otherwise it is built while writes continue. If the same index exists, it is returned unchanged. Fails with `ALREADY_EXISTS` if another index has the name.
    async fn create_index(
        &self,
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
        declared()
    }

    /// Drops an index. Returns false if there is no index with this name.
    async fn drop_index(
        &self,
        #[graphql(default = "D", desc = "The collection that the index belongs to.")]
        collection: String,
        #[graphql(desc = "The name of the index.")] name: String,
    ) -> Result<bool> {
        declared()
    }
}
