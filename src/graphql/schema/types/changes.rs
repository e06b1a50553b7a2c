//! The type `DocumentChange`. Its fields are executed from plans.
#![expect(
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{Enum, ID, Object};

use super::document::Document;
use crate::error::Result;
use crate::graphql::scalars::types::{Json, PathScalar, VersionScalar};
use crate::graphql::schema::declared::declared;

/// What happened to a document or a collection.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "DocumentChangeKind")]
pub(crate) enum ChangeKindName {
    /// The document was created.
    Created,
    /// The document was changed.
    Updated,
    /// The document was deleted.
    Deleted,
    /// The collection was dropped with all of its documents.
    CollectionDropped,
    /// One commit changed so many documents of the collection that the log does not name them.
    CollectionChanged,
}

pub(crate) struct DocumentChange;

/// A change of a document, or of a whole collection, by one commit.
#[Object]
impl DocumentChange {
    /// The position after this change, for `after`.
    async fn cursor(&self) -> Result<String> {
        declared()
    }

    /// The commit. All changes of one commit have the same version, and arrive one after another.
    async fn version(&self) -> Result<VersionScalar> {
        declared()
    }

    /// The name of the collection.
    async fn collection(&self) -> Result<String> {
        declared()
    }

    /// The key of the document in its collection; null for a change of the whole collection.
    async fn key(&self) -> Result<Option<ID>> {
        declared()
    }

    /// What happened.
    async fn kind(&self) -> Result<ChangeKindName> {
        declared()
    }

    /// The places that changed; whatever is below them may have changed too. Of an array whose elements moved, this is the array. The empty path is the whole document.
    async fn paths(&self) -> Result<Vec<PathScalar>> {
        declared()
    }

    /// The edits as a JSON Patch (RFC 6902), which turns the document before the commit into the one after it. If the document was created or replaced as a whole, it begins with an `add` at the empty path. Null if the document was deleted, or if `resync` is true.
    async fn patch(&self) -> Result<Option<Json>> {
        declared()
    }

    /// Whether the edits are not in the log, because they were too large, or unknown: read the document again.
    async fn resync(&self) -> Result<bool> {
        declared()
    }

    /// The document as it is now, which may be later than `version`; null if it does not exist, and for a change of the whole collection.
    async fn document(&self) -> Result<Option<Document>> {
        declared()
    }
}
