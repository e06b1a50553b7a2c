//! The mutation that drops a collection.

use async_graphql::{Context, Object, SimpleObject};

use crate::database;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;

/// The result of `dropCollection`.
#[derive(SimpleObject)]
pub(crate) struct DocumentCollectionDrop {
    /// The collection that was dropped.
    collection: CountedBytes<String>,
    /// The number of documents that the catalog counted in the collection; 0 if the collection did not exist.
    documents: i64,
}

#[derive(Default)]
pub(crate) struct CollectionMutations;

#[Object]
impl CollectionMutations {
    /// Drops a collection of any size in one operation: its documents, including those that other programs stored, its indexes in any state, and its count. Snapshots taken before the drop still contain it. The embedded engine reclaims the space in the background.
    async fn drop_collection(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The collection to drop; it has no default.")] collection: String,
        #[graphql(
            default = false,
            desc = "Confirms that everything in the collection is to be removed; the operation is rejected unless it is true."
        )]
        everything: bool,
    ) -> Result<DocumentCollectionDrop> {
        if !everything {
            return Err(Error::bad_input(format!(
                "dropping the collection {:?} removes all of its documents and indexes: give \
                 `everything: true` to confirm",
                abridged(&collection)
            )));
        }
        let transaction = Session::of(context).transaction()?;
        let documents = database::drop_collection(transaction, &collection).await?;
        Ok(DocumentCollectionDrop {
            collection: CountedBytes(collection),
            documents,
        })
    }
}
