//! The mutation that drops a collection.
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::Object;

use super::results::DocumentCollectionDrop;
use crate::error::Result;
use crate::graphql::schema::declared::declared;

#[derive(Default)]
pub(crate) struct CollectionMutations;

#[Object]
impl CollectionMutations {
    /// Drops a collection of any size in one operation: its documents, including those that other programs stored, its indexes in any state, and its count. Snapshots taken before the drop still contain it. The embedded engine reclaims the space in the background.
    async fn drop_collection(
        &self,
        #[graphql(desc = "The collection to drop; it has no default.")] collection: String,
        #[graphql(
            default = false,
            desc = "Confirms that everything in the collection is to be removed; the operation is rejected unless it is true."
        )]
        everything: bool,
    ) -> Result<DocumentCollectionDrop> {
        declared()
    }
}
