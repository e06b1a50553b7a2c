//! The mutation that drops a collection.

use async_graphql::{Context, Object, SimpleObject};

use crate::database;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;

/// What was dropped.
#[derive(SimpleObject)]
pub(crate) struct DocumentCollectionDrop {
    /// The collection that was dropped.
    collection: CountedBytes<String>,
    /// How many documents the catalog counted in it; 0 if there was no such collection.
    documents: i64,
}

#[derive(Default)]
pub(crate) struct CollectionMutations;

#[Object]
impl CollectionMutations {
    /// Removes a collection of any size, all at once: its documents, also those that other programs stored, its indexes in any state, its count. Whoever reads a version from before it still sees it. The embedded engine gives back the space in the background.
    async fn drop_collection(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The collection to drop; it has no default.")] collection: String,
        #[graphql(
            default = false,
            desc = "Whether you want everything in it removed: without it the operation is refused."
        )]
        everything: bool,
    ) -> Result<DocumentCollectionDrop> {
        if !everything {
            return Err(Error::bad_input(format!(
                "dropping the collection {:?} removes all of its documents and indexes: give \
                 `everything: true` if that is what you want",
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
