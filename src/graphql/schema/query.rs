//! The queries for documents and collections.

use std::sync::Arc;

use async_graphql::{Context, ID, Object};

use crate::database::{self, DocumentKey};
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::objects::document::Subdocument;
use crate::graphql::objects::documents::{DocumentConnection, DocumentsRequest};
use crate::graphql::objects::filter::{FilterInput, OrderInput};
use crate::graphql::objects::indexes::IndexObject;
use crate::graphql::objects::located::Located;
use crate::graphql::objects::page::AskedPage;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::types::{PathScalar, path_argument};

#[derive(Default)]
pub(crate) struct DocumentQueries;

#[Object]
impl DocumentQueries {
    /// What is stored under the key `id` at `path`; null if nothing is. A stored null is a Subdocument of kind NULL.
    async fn document(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "The key of the document in its collection (`Document.key`), not its global id. The decimal text of a 64-bit integer is that integer, any other text is that string; a string of digits is written as a JSON string, with its quotation marks."
        )]
        id: ID,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The place in the document; the empty path is the whole."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
    ) -> Option<Result<Subdocument>> {
        let found = find(context, collection, &id, path.as_ref()).await;
        found.map(|found| found.map(Subdocument)).transpose()
    }

    /// Documents of a collection that pass `where`, a page at a time, by id unless ordered otherwise. Those count that are in the catalog. A page goes forwards (`first`, `after`) or backwards (`last`, `before`).
    #[expect(clippy::too_many_arguments, reason = "they are the field's")]
    async fn documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(
            name = "where",
            desc = "What documents have to pass; every document if not given."
        )]
        filter: Option<FilterInput>,
        #[graphql(desc = "Their order; by id if not given.")] order_by: Option<OrderInput>,
        #[graphql(desc = "How many at most, the first ones; 100 if not given, 10,000 at most.")]
        first: Option<i32>,
        #[graphql(desc = "The cursor behind which to go on.")] after: Option<String>,
        #[graphql(desc = "How many at most, the last ones; 100 if not given, 10,000 at most.")]
        last: Option<i32>,
        #[graphql(desc = "The cursor before which to go back.")] before: Option<String>,
        #[graphql(
            desc = "How many documents may be looked at where no index serves; 1,000 if not given, 100,000 at most. `TOO_COMPLEX` if the page is not full then."
        )]
        scan_limit: Option<i32>,
    ) -> Result<DocumentConnection> {
        let asked = DocumentsRequest {
            collection,
            filter,
            order: order_by,
            page: AskedPage {
                first,
                after,
                last,
                before,
            },
            scan_limit,
        };
        asked.find(context).await
    }

    /// The collections that hold a document or an index, by name.
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
    /// Its name.
    async fn name(&self) -> CountedBytes<&str> {
        CountedBytes(&self.0.name)
    }

    /// How many documents it holds.
    async fn count(&self) -> i64 {
        self.0.count
    }

    /// Its indexes, by name.
    async fn indexes(&self, context: &Context<'_>) -> Result<Vec<IndexObject>> {
        let read = Session::of(context).read().await?;
        let found = database::indexes(&*read, &self.0.name).await?;
        let request_budget = Session::of(context).request_budget();
        request_budget.elements(found.len(), context.field())?;
        Ok(found.into_iter().map(IndexObject::from).collect())
    }
}
