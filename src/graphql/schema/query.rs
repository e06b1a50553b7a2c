//! The query fields for documents and collections. They are executed from plans.
#![expect(
    unused_variables,
    clippy::unused_async,
    clippy::too_many_arguments,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{ID, Object};

use super::declared::declared;
use super::types::aggregation::DocumentAggregation;
use super::types::document::Subdocument;
use super::types::documents::DocumentConnection;
use super::types::indexes::CollectionObject;
use crate::error::Result;
use crate::graphql::objects::aggregation::GroupOrderInput;
use crate::graphql::objects::filter::{FilterInput, KeyFilterInput, OrderInput};
use crate::graphql::scalars::types::{JsonPath, PathScalar};

#[derive(Default)]
pub(crate) struct DocumentQueries;

#[Object]
impl DocumentQueries {
    /// The value at `path` in the document with the key `id`; null if nothing is stored there. A stored null is a Subdocument of kind NULL.
    async fn document(
        &self,
        #[graphql(
            desc = "The key of the document in its collection (`Document.key`), not its global id. The decimal text of a 64-bit integer is that integer; any other text is that string. Write a string of digits as a JSON string, with its quotation marks."
        )]
        id: ID,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path in the document; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
    ) -> Result<Option<Subdocument>> {
        declared()
    }

    /// A page of the documents of a collection that match `where`, sorted by key unless `orderBy` is given. Only documents in the catalog are found. Page forwards with `first` and `after`, or backwards with `last` and `before`.
    async fn documents(
        &self,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(
            name = "where",
            desc = "The filter that documents must match; by default every document matches."
        )]
        filter: Option<FilterInput>,
        #[graphql(
            desc = "The keys that documents must have; by default every key. Only this range of the catalog, or of an index, is read."
        )]
        keys: Option<KeyFilterInput>,
        #[graphql(
            desc = "The order of the documents: by the first of the list, then by the next. By default they are sorted by key."
        )]
        order_by: Option<Vec<OrderInput>>,
        #[graphql(desc = "The page size when paging forwards; 100 by default, at most 10,000.")]
        first: Option<i32>,
        #[graphql(desc = "The page begins after this cursor.")] after: Option<String>,
        #[graphql(desc = "The page size when paging backwards; 100 by default, at most 10,000.")]
        last: Option<i32>,
        #[graphql(desc = "The page ends before this cursor.")] before: Option<String>,
        #[graphql(
            desc = "The number of documents that may be examined where no index answers the query; 10,000 by default. Fails with `TOO_COMPLEX` if the page is not full by then. The steps, the time and the memory of the request are limited, too. A subscription may examine at most 100,000."
        )]
        scan_limit: Option<i32>,
    ) -> Result<DocumentConnection> {
        declared()
    }

    /// Groups the documents of a collection that match `where`, and computes aggregates of each group. No document is read if one index has all paths of `groupBy` and `of` and answers `where` exactly: first the paths that `where` compares with `eq` or `in`, then one that it compares otherwise, then the others. `groupBy` with the field `key` alone returns distinct values.
    async fn aggregate(
        &self,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(
            name = "where",
            desc = "The filter that documents must match; by default every document matches."
        )]
        filter: Option<FilterInput>,
        #[graphql(desc = "The keys that documents must have; by default every key.")] keys: Option<
            KeyFilterInput,
        >,
        #[graphql(
            default,
            desc = "The values to group by, at most 8 paths. A document is in the group of each combination of values that they select, and in none if one of them selects nothing. Without them, all documents are one group."
        )]
        group_by: Vec<JsonPath>,
        #[graphql(
            default_with = "GroupOrderInput::Key",
            desc = "The order of the groups."
        )]
        order_by: GroupOrderInput,
        #[graphql(default, desc = "Whether to sort from the greatest to the least.")]
        descending: bool,
        #[graphql(desc = "The number of groups to return; 100 by default, at most 10,000.")]
        first: Option<i32>,
        #[graphql(
            desc = "The number of documents that may be examined where no index answers the query; 10,000 by default. Fails with `TOO_COMPLEX` if there are more. The steps, the time and the memory of the request are limited, too."
        )]
        scan_limit: Option<i32>,
    ) -> Result<DocumentAggregation> {
        declared()
    }

    /// The position in the change log of the version of the store that this query reads, for `Subscription.changes(after:)`: read a state, then follow the changes from exactly there. Null if the change log is off.
    async fn changes_cursor(&self) -> Result<Option<String>> {
        declared()
    }

    /// The collections that hold a document or an index, sorted by name.
    async fn collections(&self) -> Result<Vec<CollectionObject>> {
        declared()
    }
}
