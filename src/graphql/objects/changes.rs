//! The type `DocumentChange`.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object};

use super::document::Document;
use super::located::Located;
use crate::database::{DocumentKey, FollowedChange};
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::types::{Json, PathScalar, VersionScalar};
use crate::key::{ChangeKind, LoggedChange};

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

impl From<ChangeKind> for ChangeKindName {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Created => Self::Created,
            ChangeKind::Updated => Self::Updated,
            ChangeKind::Deleted => Self::Deleted,
            ChangeKind::CollectionDropped => Self::CollectionDropped,
            ChangeKind::CollectionChanged => Self::CollectionChanged,
        }
    }
}

pub(crate) struct DocumentChange(pub(crate) FollowedChange);

impl DocumentChange {
    fn change(&self) -> &LoggedChange {
        &self.0.commit.changes[self.0.change]
    }
}

/// A change of a document, or of a whole collection, by one commit.
#[Object]
impl DocumentChange {
    /// The position after this change, for `after`.
    async fn cursor(&self) -> CountedBytes<String> {
        CountedBytes(self.0.cursor.to_string())
    }

    /// The commit. All changes of one commit have the same version, and arrive one after another.
    async fn version(&self) -> VersionScalar {
        VersionScalar::Known(self.0.commit.version)
    }

    /// The name of the collection.
    async fn collection(&self) -> CountedBytes<&str> {
        CountedBytes(&self.change().collection)
    }

    /// The key of the document in its collection; null for a change of the whole collection.
    async fn key(&self) -> Option<CountedBytes<ID>> {
        let id = self.change().id.as_ref();
        id.map(|id| CountedBytes(ID(id.to_string())))
    }

    /// What happened.
    async fn kind(&self) -> ChangeKindName {
        self.change().kind.into()
    }

    /// The places that changed; whatever is below them may have changed too. Of an array whose elements moved, this is the array. The empty path is the whole document.
    #[expect(clippy::unused_async, reason = "resolvers are async")]
    async fn paths(&self, context: &Context<'_>) -> Result<CountedBytes<Vec<PathScalar>>> {
        let places = &self.change().places;
        let request_budget = Session::of(context).request_budget();
        request_budget.elements(places.len(), context.field())?;
        Ok(CountedBytes(places.iter().map(PathScalar::from).collect()))
    }

    /// The edits as a JSON Patch (RFC 6902), which turns the document before the commit into the one after it. If the document was created or replaced as a whole, it begins with an `add` at the empty path. Null if the document was deleted, or if `resync` is true.
    async fn patch(&self, context: &Context<'_>) -> Option<Result<Json>> {
        let patch = async {
            let request_budget = Session::of(context).request_budget();
            let patch = self.0.patch.read(request_budget.budget()).await?;
            if let Some(patch) = &patch {
                request_budget.carry(patch.len())?;
            }
            Ok(patch.map(|patch| Json(patch.into())))
        };
        patch.await.transpose()
    }

    /// Whether the edits are not in the log, because they were too large, or unknown: read the document again.
    async fn resync(&self) -> bool {
        self.change().needs_resync()
    }

    /// The document as it is now, which may be later than `version`; null if it does not exist, and for a change of the whole collection.
    async fn document(&self, context: &Context<'_>) -> Option<Result<Document>> {
        let change = self.change();
        let id = change.id.clone()?;
        let found = async {
            let document = DocumentKey::new(change.collection.clone(), id)?;
            Located::find(context, Arc::new(document), Path::default()).await
        };
        found.await.map(|found| found.map(Document)).transpose()
    }
}
