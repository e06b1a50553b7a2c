//! The query fields for documents and collections.

use std::sync::Arc;

use async_graphql::{Context, ID, Object};

use crate::database::{self, DocumentKey};
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::objects::aggregation::{
    AggregateRequest, DocumentAggregation, GroupOrderInput,
};
use crate::graphql::objects::document::Subdocument;
use crate::graphql::objects::documents::{DocumentConnection, DocumentsRequest};
use crate::graphql::objects::filter::{FilterInput, KeyFilterInput, OrderInput};
use crate::graphql::objects::indexes::IndexObject;
use crate::graphql::objects::located::Located;
use crate::graphql::objects::page::AskedPage;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::types::{JsonPath, PathScalar, path_argument};

#[derive(Default)]
pub(crate) struct DocumentQueries;

#[Object]
impl DocumentQueries {
    /// The value at `path` in the document with the key `id`; null if nothing is stored there. A stored null is a Subdocument of kind NULL.
    async fn document(
        &self,
        context: &Context<'_>,
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
    ) -> Option<Result<Subdocument>> {
        let found = find(context, collection, &id, path.as_ref()).await;
        found.map(|found| found.map(Subdocument)).transpose()
    }

    /// A page of the documents of a collection that match `where`, sorted by key unless `orderBy` is given. Only documents in the catalog are found. Page forwards with `first` and `after`, or backwards with `last` and `before`.
    #[expect(clippy::too_many_arguments, reason = "they are the field's")]
    async fn documents(
        &self,
        context: &Context<'_>,
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
        let requested = DocumentsRequest {
            collection,
            filter,
            keys,
            order: order_by,
            page: AskedPage {
                first,
                after,
                last,
                before,
            },
            scan_limit,
        };
        requested.find(context).await
    }

    /// Groups the documents of a collection that match `where`, and computes aggregates of each group. No document is read if one index has all paths of `groupBy` and `of` and answers `where` exactly: first the paths that `where` compares with `eq` or `in`, then one that it compares otherwise, then the others. `groupBy` with the field `key` alone returns distinct values.
    #[expect(clippy::too_many_arguments, reason = "they are the field's")]
    async fn aggregate(
        &self,
        context: &Context<'_>,
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
        let requested = AggregateRequest {
            collection,
            filter,
            keys,
            group_by,
            order: order_by,
            descending,
            first,
            scan_limit,
        };
        requested.compute(context).await
    }

    /// The position in the change log of the version of the store that this query reads, for `Subscription.changes(after:)`: read a state, then follow the changes from exactly there. Null if the change log is off.
    async fn changes_cursor(&self, context: &Context<'_>) -> Result<Option<String>> {
        let read = Session::of(context).read().await?;
        let Some(cursor) = database::changes_cursor(&*read).await? else {
            return Ok(None);
        };
        Ok(Some(cursor.to_string()))
    }

    /// The collections that hold a document or an index, sorted by name.
    async fn collections(&self, context: &Context<'_>) -> Result<Vec<CollectionObject>> {
        let read = Session::of(context).read().await?;
        let found = database::collections(&*read).await?;
        let request_budget = Session::of(context).request_budget();
        request_budget.elements(found.len(), context.field())?;
        Ok(found.into_iter().map(CollectionObject).collect())
    }
}

async fn find(
    context: &Context<'_>,
    collection: String,
    id: &str,
    path: Option<&PathScalar>,
) -> Result<Option<Located>> {
    let document = DocumentKey::new(collection, DocumentId::parse(id)?)?;
    let path = path_argument(path)?;
    Located::find(context, Arc::new(document), path).await
}

pub(crate) struct CollectionObject(database::Collection);

/// A collection of documents.
#[Object(name = "DocumentCollection")]
impl CollectionObject {
    /// The name of the collection.
    async fn name(&self) -> CountedBytes<&str> {
        CountedBytes(&self.0.name)
    }

    /// The number of documents in the collection.
    async fn count(&self) -> i64 {
        self.0.count
    }

    /// The indexes of the collection, sorted by name.
    async fn indexes(&self, context: &Context<'_>) -> Result<Vec<IndexObject>> {
        let read = Session::of(context).read().await?;
        let found = database::indexes(&*read, &self.0.name).await?;
        let request_budget = Session::of(context).request_budget();
        request_budget.elements(found.len(), context.field())?;
        Ok(found.into_iter().map(IndexObject::from).collect())
    }
}
