//! The mutation that takes documents from a queue.
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::Object;

use super::results::DocumentDeletion;
use crate::error::Result;
use crate::graphql::objects::filter::KeyFilterInput;
use crate::graphql::schema::declared::declared;

#[derive(Default)]
pub(crate) struct QueueMutations;

#[Object]
impl QueueMutations {
    /// Removes the first documents of a collection, or of those with `keys`, in the order of their keys (strings, then integers, then versionstamps), and returns them. Returns fewer than `first` if there are fewer. Two operations never take the same document. Send an `Idempotency-Key` to get the same documents again if the response is lost. Documents that other programs stored and that were not adopted are not taken.
    async fn take_documents(
        &self,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(
            default = 1,
            desc = "The maximum number of documents to take, from 1 to 1,000."
        )]
        first: i32,
        #[graphql(desc = "The keys that documents must have; by default every key.")] keys: Option<
            KeyFilterInput,
        >,
    ) -> Result<Vec<DocumentDeletion>> {
        declared()
    }
}
