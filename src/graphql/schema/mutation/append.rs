//! The field `appendDocument`.

use async_graphql::{Context, MaybeUndefined, Object};

use super::arguments::document_argument;
use crate::database::{self, DocumentKey};
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::commit_text::CommitText;
use crate::graphql::scalars::node_id;
use crate::graphql::scalars::types::{Json, VersionScalar};

/// The result of `appendDocument`.
pub(crate) struct DocumentAppend {
    /// The key of the document, with the pending versionstamp as its id.
    document: DocumentKey,
}

/// The result of `appendDocument`. The document is stored when the operation commits, so later fields of the operation cannot read it.
#[Object]
impl DocumentAppend {
    /// The global id of the new Document.
    async fn document_id(&self) -> CountedBytes<CommitText> {
        CountedBytes(CommitText::of(&node_id::of_document(&self.document)))
    }

    /// The key of the new document: `@` and the versionstamp of the commit in 24 hexadecimal digits.
    async fn key(&self) -> CountedBytes<CommitText> {
        CountedBytes(CommitText::of(&self.document.id.to_string()))
    }

    /// The name of the collection that holds the document.
    async fn collection(&self) -> CountedBytes<&str> {
        CountedBytes(&self.document.collection)
    }

    /// The commit that stores the document.
    async fn version(&self) -> VersionScalar {
        VersionScalar::OfThisCommit
    }
}

#[derive(Default)]
pub(crate) struct AppendMutations;

#[Object]
impl AppendMutations {
    /// Stores a new document under a key that is the versionstamp of this commit: `@` and 24 hexadecimal digits. Sorted by key, such documents are in the order in which they were committed, and those of one operation in the order of its fields. Appends never conflict with each other, and read nothing. `documents(after:)` returns what was appended since the last page.
    async fn append_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Any JSON value. It is required, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(default = "D", desc = "The collection to store the document in.")]
        collection: String,
    ) -> Result<DocumentAppend> {
        database::check_collection(&collection)?;
        let session = Session::of(context);
        let leaves = document_argument(context, &document).await?;
        let document = database::append(
            session.transaction()?,
            session.budget(),
            &collection,
            session.next_append()?,
            &leaves,
        )
        .await?;
        Ok(DocumentAppend { document })
    }
}
