//! The root type `Mutation`, and the fields that change one document.

use std::sync::Arc;

use async_graphql::{Context, ID, MaybeUndefined, MergedObject, Object};
use bytes::Bytes;

use super::append::AppendMutations;
use super::arguments::{document_argument, in_argument, path_of_change, required_json};
use super::bulk::BulkMutations;
use super::deletion::DocumentDeletion;
use super::dropped::CollectionMutations;
use super::json_argument::parsed;
use super::place::PlaceInput;
use super::take::QueueMutations;
use crate::budget::Budget;
use crate::database::{self, DocumentKey};
use crate::document::id::DocumentId;
use crate::document::merge::MergePatch;
use crate::document::path::Path;
use crate::document::{number, patch};
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::objects::document::Document;
use crate::graphql::objects::filter::FilterInput;
use crate::graphql::objects::indexes::IndexMutations;
use crate::graphql::objects::located::Located;
use crate::graphql::scalars::types::{Json, PathScalar, VersionScalar};
use crate::store::Transaction;

macro_rules! description {
    () => {
        "Writes. All fields of a mutation operation run in one serializable transaction, which \
         commits as a whole or not at all. Each field sees the writes of the fields before it. \
         Any error, even in a nullable nested field, rolls back the transaction, and `data` is \
         null. With `ifVersion` the operation fails with `VERSION_MISMATCH` unless the document \
         had that version before the operation; a document that does not exist never matches. A \
         null `ifVersion` is ignored. A null `path` is rejected, and so is a variable without a \
         value in a path, in `keys` or in a filter: more would be changed than is meant. JSON arguments are required but may be null: null is a \
         valid document. Fields that change a document return the whole document; its `version` \
         is that of this commit, or the old one if nothing changed. A write to a document that \
         Phyllo has not written adds it to the catalog. With the HTTP header `Idempotency-Key` an \
         operation takes effect only once; requests that repeat it within a day get the same \
         response."
    };
}

#[doc = description!()]
#[derive(MergedObject, Default)]
pub(crate) struct Mutation(
    DocumentMutations,
    AppendMutations,
    BulkMutations,
    QueueMutations,
    IndexMutations,
    CollectionMutations,
);

#[doc = description!()]
#[derive(MergedObject, Default)]
#[graphql(name = "Mutation")]
pub(crate) struct MutationWithoutAdmin(
    DocumentMutations,
    AppendMutations,
    BulkMutations,
    QueueMutations,
);

#[derive(Default)]
pub(crate) struct DocumentMutations;

#[Object]
impl DocumentMutations {
    /// Stores a new document. Fails with `ALREADY_EXISTS` if anything is stored under the key `id`. Without `id`, the key is the top-level `doc_id` of the document (a string or a 64-bit integer), or else a random unused integer. `doc_id` is never added to a document.
    async fn insert_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Any JSON value. It is required, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(desc = "The key of the new document.")] id: Option<ID>,
        #[graphql(default = "D", desc = "The collection to store the document in.")]
        collection: String,
    ) -> Result<Document> {
        database::check_collection(&collection)?;
        let id = id.map(|id| DocumentId::parse(&id)).transpose()?;
        let session = Session::of(context);
        let leaves = document_argument(context, &document).await?;
        let (transaction, budget) = (session.transaction()?, session.budget());
        let document = database::insert(transaction, budget, &collection, id, &leaves).await?;
        let document = Arc::new(document);
        session.inserted(&document);
        after_write(context, document, true).await
    }

    /// Stores `document` at `path` and replaces any value there. With the empty path, creates the document if it does not exist. Otherwise the parent of `path` must exist (`NOT_FOUND`), and the last segment must be the name of an existing or new object member, or an array index up to the array's length (`INVALID_PATH`). The array's length, or `-` at the end of a JSON Pointer, appends.
    async fn replace_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(desc = "Any JSON value. It is required, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path to store it at; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let leaves = document_argument(context, &document).await?;
        let change = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let (transaction, budget, document, path) = change.target();
        let changed = database::replace(transaction, budget, document, path, &leaves).await?;
        change.finish(changed).await
    }

    /// Stores a copy of the value at the place `from` at `path`, in the same way as `replaceDocument`. The value is read before anything is written, so the copy can be stored above or below the original.
    async fn copy_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(desc = "The place of the value to copy, in the same document or another one.")]
        from: PlaceInput,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path to store it at; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let change = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let (transaction, budget, document, path) = change.target();
        let memory = budget.reserve();
        let leaves = from.read(context, &memory).await?;
        let changed = database::replace(transaction, budget, document, path, &leaves).await?;
        change.finish(changed).await
    }

    /// Fails with `TEST_FAILED`, so that the operation changes nothing, unless the document exists and matches the filter. Returns the document.
    async fn test_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(desc = "The filter; an empty one tests only whether the document exists.")]
        matches: FilterInput,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
    ) -> Result<Document> {
        let whole = PathScalar::default();
        let change = Change::begin(context, collection, &id, Some(&whole), None).await?;
        let filter = matches.read(Session::of(context).request_budget()).await;
        let filter = filter.map_err(|error| in_argument("matches", error))?;
        let (transaction, budget, document, _) = change.target();
        database::test_document(transaction, budget, document, &filter).await?;
        change.finish(false).await
    }

    /// Applies a JSON Merge Patch (RFC 7396) at `path`. Creates the document and missing object members on the path; array indexes on the path must exist, and in a JSON Pointer `-` and integers need a parent that exists. A null patch stores null.
    async fn merge_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(
            desc = "The patch. In an object, a null member removes the member, an object is merged, and any other value replaces the member. A patch that is not an object replaces the value at `path`."
        )]
        patch: MaybeUndefined<Json>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path to merge into; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let patch = patch_argument(context, &patch, MergePatch::parse).await?;
        let change = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let (transaction, budget, document, path) = change.target();
        let changed = database::merge(transaction, budget, document, path, &patch).await?;
        change.finish(changed).await
    }

    /// Applies a JSON Patch (RFC 6902) at `path`: all of its operations or none. Fails with `NOT_FOUND` if nothing is stored at `path`, and with `TEST_FAILED` if a `test` fails; `test` compares numbers by value. An error gives the number of the operation, counted from 0.
    async fn patch_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(desc = "An array of operations: add, remove, replace, move, copy, test.")]
        patch: MaybeUndefined<Json>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path that the operations' paths are relative to; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let operations = patch_argument(context, &patch, patch::parse).await?;
        let change = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let (transaction, budget, document, path) = change.target();
        let changed = database::patch(transaction, budget, document, path, &operations).await?;
        change.finish(changed).await
    }

    /// Adds `by` to the number at `path`, or stores `by` if nothing is stored there. Exact for integers.
    async fn increment_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path of the number; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(
            default_with = "Json::one()",
            desc = "The number to add; may be negative."
        )]
        by: Json,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let by = number::parse(&by.0).map_err(|error| in_argument("by", error))?;
        let change = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let (transaction, budget, document, path) = change.target();
        let changed = database::increment(transaction, budget, document, path, &by).await?;
        change.finish(changed).await
    }

    /// Removes the value at `path`, or the whole document, and returns it. After the removal of an array element, the later elements move up. It is not an error if nothing is stored there.
    async fn delete_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path to remove; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<DocumentDeletion> {
        let change = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let (transaction, budget, document, path) = change.target();
        let targets = std::slice::from_ref(document);
        let before = DocumentDeletion::before(context, targets, path)
            .await?
            .pop();
        let deleted = database::delete(transaction, budget, document, path).await?;
        if deleted {
            Session::of(context).wrote(context, [document.clone()]);
        }
        Ok(DocumentDeletion::new(
            change.document,
            change.path,
            deleted,
            before.flatten(),
        ))
    }
}

/// A change of one document.
struct Change<'c> {
    context: &'c Context<'c>,
    transaction: &'c dyn Transaction,
    document: Arc<DocumentKey>,
    path: Path,
}

impl<'c> Change<'c> {
    /// Checks the arguments that select what to change, and the expected version.
    async fn begin(
        context: &'c Context<'c>,
        collection: String,
        id: &str,
        path: Option<&PathScalar>,
        if_version: Option<VersionScalar>,
    ) -> Result<Self> {
        let document = Arc::new(DocumentKey::new(collection, DocumentId::parse(id)?)?);
        let path = path_of_change(path)?;
        let session = Session::of(context);
        session.request_budget().check()?;
        let expected = match if_version {
            Some(VersionScalar::Known(version)) => Some(version),
            Some(VersionScalar::OfThisCommit) | None => None,
        };
        session.expect_version(&document, expected).await?;
        let transaction = session.transaction()?;
        // Under conflict: an element that another writer appends changes which one is the last.
        let memory = &session.request_budget().memory;
        let path = database::settled_path(transaction, &document, path, memory).await?;
        Ok(Self {
            context,
            transaction,
            document,
            path,
        })
    }

    /// The first arguments of every operation that changes a document.
    fn target(&self) -> (&'c dyn Transaction, &'c Budget, &Arc<DocumentKey>, &Path) {
        let budget = Session::of(self.context).budget();
        (self.transaction, budget, &self.document, &self.path)
    }

    /// The whole document after the change.
    async fn finish(self, changed: bool) -> Result<Document> {
        after_write(self.context, self.document, changed).await
    }
}

/// The whole document after an operation that may have changed it.
async fn after_write(
    context: &Context<'_>,
    document: Arc<DocumentKey>,
    changed: bool,
) -> Result<Document> {
    if changed {
        Session::of(context).wrote(context, [document.clone()]);
    }
    Located::written(context, document).await.map(Document)
}

/// The argument `patch`, parsed by `parse`.
async fn patch_argument<T: Send + 'static>(
    context: &Context<'_>,
    patch: &MaybeUndefined<Json>,
    parse: fn(&Bytes) -> Result<T>,
) -> Result<T> {
    let text = required_json("patch", patch)?;
    let patch = parsed(text, Session::of(context).request_budget(), parse).await;
    patch.map_err(|error| in_argument("patch", error))
}
