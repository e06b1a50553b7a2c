//! The mutations that change every document that matches a filter.
#![expect(
    unused_variables,
    clippy::unused_async,
    clippy::too_many_arguments,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::Object;

use super::results::DocumentBulkResult;
use crate::error::Result;
use crate::graphql::objects::filter::{FilterInput, KeyFilterInput};
use crate::graphql::objects::updates::{
    AppendInput, IncrementInput, MergeInput, RemoveInput, SetInput,
};
use crate::graphql::scalars::types::JsonPath;
use crate::graphql::schema::declared::declared;

#[derive(Default)]
pub(crate) struct BulkMutations;

#[Object]
impl BulkMutations {
    /// Changes every document that matches `where`, at the places that JSONPaths select in it, for example `$.ancestors[?@._id == 'x'].name`. First come all elements of `set`, then `unset`, `increment`, `remove`, `append` and `merge`; within a list the order is that of the list. Each element applies to the result of the elements before it; at least one is required. A value `from` a place is read once, before the field changes anything. If one selected place is inside another, only the outer one is changed. `set`, `increment`, `append` and `merge` create the value at a missing place if the path consists of names and indexes alone and the place is a new member of an existing object, or the next element of an existing array. Like `deleteDocuments`, rejects a filter that is always true unless `everything` is true, and changes that exceed one transaction.
    async fn update_documents(
        &self,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "The filter that documents must match.")]
        filter: FilterInput,
        #[graphql(desc = "The keys that documents must have; by default every key.")] keys: Option<
            KeyFilterInput,
        >,
        #[graphql(desc = "Values to store.")] set: Option<Vec<SetInput>>,
        #[graphql(
            desc = "Paths whose values are removed. The later elements of an array move up. It cannot select the whole document."
        )]
        unset: Option<Vec<JsonPath>>,
        #[graphql(desc = "Numbers to add. A created value is the number itself.")]
        increment: Option<Vec<IncrementInput>>,
        #[graphql(
            desc = "Values to remove from arrays. Numbers are compared by value, objects and arrays as a whole. The later elements of an array move up."
        )]
        remove: Option<Vec<RemoveInput>>,
        #[graphql(
            desc = "Values to add at the end of arrays. A created value is an array of them."
        )]
        append: Option<Vec<AppendInput>>,
        #[graphql(desc = "JSON Merge Patches to apply.")] merge: Option<Vec<MergeInput>>,
        #[graphql(
            default = false,
            desc = "Whether to accept a filter that is always true, such as an empty one, without `keys`."
        )]
        everything: bool,
    ) -> Result<DocumentBulkResult> {
        declared()
    }

    /// Removes every document that matches `where`.
    async fn delete_documents(
        &self,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "The filter that documents must match.")]
        filter: FilterInput,
        #[graphql(desc = "The keys that documents must have; by default every key.")] keys: Option<
            KeyFilterInput,
        >,
        #[graphql(
            default = false,
            desc = "Whether to accept a filter that is always true, such as an empty one, without `keys`."
        )]
        everything: bool,
    ) -> Result<DocumentBulkResult> {
        declared()
    }
}
