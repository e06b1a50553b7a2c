//! The types that mutations return. Their fields are executed from plans.
#![expect(
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{Enum, ID, Object};

use crate::error::Result;
use crate::graphql::scalars::types::{Json, JsonPath, VersionScalar};
use crate::graphql::schema::declared::declared;
use crate::graphql::schema::types::document::Document;

pub(crate) struct DocumentDeletion;

/// A document, or a part of one, that `deleteDocument` or `takeDocuments` removed.
#[Object]
impl DocumentDeletion {
    /// The key of the document in its collection (`Document.key`).
    async fn key(&self) -> Result<ID> {
        declared()
    }

    /// Whether a value was removed.
    async fn deleted(&self) -> Result<bool> {
        declared()
    }

    /// The global id of the removed Document or Subdocument; null if nothing was removed.
    async fn deleted_id(&self) -> Result<Option<ID>> {
        declared()
    }

    /// The removed JSON. Null if nothing was removed, or if the removed value was null.
    async fn value(&self) -> Result<Option<Json>> {
        declared()
    }

    /// The document after a part was removed from it; null if no document remains.
    async fn document(&self) -> Result<Option<Document>> {
        declared()
    }
}

pub(crate) struct DocumentAppend;

/// The result of `appendDocument`. The document is stored when the operation commits, so later fields of the operation cannot read it.
#[Object]
impl DocumentAppend {
    /// The global id of the new Document.
    async fn document_id(&self) -> Result<ID> {
        declared()
    }

    /// The key of the new document: `@` and the versionstamp of the commit in 24 hexadecimal digits.
    async fn key(&self) -> Result<ID> {
        declared()
    }

    /// The name of the collection that holds the document.
    async fn collection(&self) -> Result<String> {
        declared()
    }

    /// The commit that stores the document.
    async fn version(&self) -> Result<VersionScalar> {
        declared()
    }
}

pub(crate) struct DocumentBulkResult;

/// The result of `updateDocuments` or `deleteDocuments`.
#[Object]
impl DocumentBulkResult {
    /// The number of documents that match the filter.
    async fn matched(&self) -> Result<usize> {
        declared()
    }

    /// The number of matching documents that were changed or removed.
    async fn changed(&self) -> Result<usize> {
        declared()
    }

    /// The number of matching documents that were not changed.
    async fn unchanged(&self) -> Result<usize> {
        declared()
    }

    /// One entry for each element of the operator lists of `updateDocuments`, in the order in which they were applied. Empty for `deleteDocuments`.
    async fn updates(&self) -> Result<Vec<DocumentUpdateResult>> {
        declared()
    }
}

pub(crate) struct DocumentUpdateResult;

/// What one element of the operator lists of `updateDocuments` did, in all documents.
#[Object]
impl DocumentUpdateResult {
    /// The operator.
    async fn operator(&self) -> Result<OperatorName> {
        declared()
    }

    /// The JSONPath of the element.
    async fn at(&self) -> Result<JsonPath> {
        declared()
    }

    /// The number of places to which the operator was applied, including those whose value did not change.
    async fn places(&self) -> Result<u64> {
        declared()
    }
}

/// An operator of `updateDocuments`, named as the argument.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "DocumentUpdateOperator")]
pub(crate) enum OperatorName {
    /// Stores a value.
    Set,
    /// Removes values.
    Unset,
    /// Adds to numbers.
    Increment,
    /// Removes elements from arrays by value.
    Remove,
    /// Adds elements at the end of arrays.
    Append,
    /// Applies a JSON Merge Patch.
    Merge,
}

pub(crate) struct DocumentCollectionDrop;

/// The result of `dropCollection`.
#[Object]
impl DocumentCollectionDrop {
    /// The collection that was dropped.
    async fn collection(&self) -> Result<String> {
        declared()
    }

    /// The number of documents that the catalog counted in the collection; 0 if the collection did not exist.
    async fn documents(&self) -> Result<i64> {
        declared()
    }
}
