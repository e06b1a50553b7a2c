//! The result of `deleteDocument` and `takeDocuments`.

use std::sync::Arc;

use async_graphql::{Context, ID, Object};

use crate::database::{DocumentKey, Extent, ReadRequest};
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::objects::document::Document;
use crate::graphql::objects::located::Located;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::node_id;
use crate::graphql::scalars::types::Json;

/// A value that was removed, if there was one.
pub(crate) struct DocumentDeletion {
    document: Arc<DocumentKey>,
    path: Path,
    deleted: bool,
    before: Option<Json>,
}

impl DocumentDeletion {
    /// The JSON at `path` in each of `documents`, if the selection requests it. Must be called
    /// before the deletion.
    pub(crate) async fn before(
        context: &Context<'_>,
        documents: &[Arc<DocumentKey>],
        path: &Path,
    ) -> Result<Vec<Option<Json>>> {
        let field = context.field();
        if !field.selection_set().any(|below| below.name() == "value") {
            return Ok(vec![None; documents.len()]);
        }
        let session = Session::of(context);
        let whole = |document: &Arc<DocumentKey>| {
            ReadRequest::Value(document.clone(), path.clone(), Extent::Whole)
        };
        let loaded = session.load(documents.iter().map(whole).collect()).await?;
        let mut values = Vec::with_capacity(documents.len());
        for loaded in loaded.each(1) {
            let Some(part) = loaded.part()? else {
                values.push(None);
                continue;
            };
            let text = part.json_within(session.request_budget().memory.text());
            let text = text.await?;
            values.push(Some(Json(text.into())));
        }
        Ok(values)
    }

    pub(crate) fn new(
        document: Arc<DocumentKey>,
        path: Path,
        deleted: bool,
        before: Option<Json>,
    ) -> Self {
        Self {
            document,
            path,
            deleted,
            before,
        }
    }

    fn is_of_whole(&self) -> bool {
        self.path.tokens().is_empty()
    }
}

/// A document, or a part of one, that `deleteDocument` or `takeDocuments` removed.
#[Object]
impl DocumentDeletion {
    /// The key of the document in its collection (`Document.key`).
    async fn key(&self) -> CountedBytes<ID> {
        CountedBytes(ID(self.document.id.to_string()))
    }

    /// Whether a value was removed.
    async fn deleted(&self) -> bool {
        self.deleted
    }

    /// The global id of the removed Document or Subdocument; null if nothing was removed.
    async fn deleted_id(&self) -> Option<CountedBytes<ID>> {
        let id = || {
            if self.is_of_whole() {
                node_id::of_document(&self.document)
            } else {
                node_id::of_subdocument(&self.document, &self.path)
            }
        };
        self.deleted.then(|| CountedBytes(ID(id())))
    }

    /// The removed JSON. Null if nothing was removed, or if the removed value was null.
    async fn value(&self, context: &Context<'_>) -> Option<Result<Json>> {
        let value = self.before.clone()?;
        let carried = Session::of(context).request_budget().carry(value.0.len());
        Some(carried.map(|()| value))
    }

    /// The document after a part was removed from it; null if no document remains.
    async fn document(&self, context: &Context<'_>) -> Option<Result<Document>> {
        if self.is_of_whole() {
            return None;
        }
        let found = Located::find(context, self.document.clone(), Path::default()).await;
        found.transpose().map(|found| found.map(Document))
    }
}
