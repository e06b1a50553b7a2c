//! The types of pages of documents. Their fields are executed from plans.
#![expect(
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::Object;

use super::document::Document;
use super::page::PageInfo;
use crate::error::Result;
use crate::graphql::schema::declared::declared;

pub(crate) struct DocumentConnection;

/// A page of documents.
#[Object]
impl DocumentConnection {
    /// The documents, each with its cursor.
    async fn edges(&self) -> Result<Vec<DocumentEdge>> {
        declared()
    }

    /// The documents.
    async fn nodes(&self) -> Result<Vec<Document>> {
        declared()
    }

    /// Whether there are more pages, and the cursors to request them.
    async fn page_info(&self) -> Result<PageInfo> {
        declared()
    }

    /// The number of documents on all pages, at the same version of the store. It is computed only where that is cheap: without `where`, `keys` and `orderBy`, on a first page that is also the last, and where `keys` or indexes give the exact result in at most 10,000 keys or entries. Otherwise it is null, and `plan` gives the reason.
    async fn total_count(&self) -> Result<Option<i32>> {
        declared()
    }

    /// How the documents were found.
    async fn plan(&self) -> Result<QueryPlanObject> {
        declared()
    }
}

pub(crate) struct DocumentEdge;

/// A document and its cursor.
#[Object]
impl DocumentEdge {
    /// Pass it as `after` to request the documents after this one, or as `before` to request those before it.
    async fn cursor(&self) -> Result<String> {
        declared()
    }

    /// The document.
    async fn node(&self) -> Result<Document> {
        declared()
    }
}

pub(crate) struct QueryPlanObject;

/// How the documents of a page were found, and whether an index was used.
#[Object(name = "DocumentQueryPlan")]
impl QueryPlanObject {
    /// The index that was used. Several are joined by ` & ` if the plan intersects them, and by ` | ` if it unites them. Null if the collection was scanned.
    async fn index(&self) -> Result<Option<String>> {
        declared()
    }

    /// Whether one of the indexes is partial: the filter of the query implies its filter.
    async fn partial(&self) -> Result<bool> {
        declared()
    }

    /// The number of keys of index entries or of the catalog that were read, plus the number of documents that were examined.
    async fn scanned(&self) -> Result<usize> {
        declared()
    }

    /// The number of documents that were examined: read to evaluate `where` and `orderBy`. `scanLimit` limits it.
    async fn examined(&self) -> Result<usize> {
        declared()
    }

    /// Whether no document was read: the keys of the catalog or of an index answered `where`, `orderBy` and the selection.
    async fn covered(&self) -> Result<bool> {
        declared()
    }

    /// The number of documents on the page.
    async fn returned(&self) -> Result<usize> {
        declared()
    }

    /// Why `totalCount` is null. Null if `totalCount` has a value or is not selected.
    async fn total_count_reason(&self) -> Result<Option<String>> {
        declared()
    }
}
