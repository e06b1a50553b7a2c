//! The root type `Mutation`.

use super::arguments::given;
use super::arguments::in_argument;
use super::arguments::number;
use std::sync::Arc;

use async_graphql::{Context, ID, MaybeUndefined, MergedObject, Object};

use super::bulk::BulkMutations;
use super::deletion::DocumentDeletion;
use super::dropped::CollectionMutations;
use super::json_argument::{leaves, parsed};
use crate::database::{self, DocumentKey};
use crate::document::id::DocumentId;
use crate::document::merge::MergePatch;
use crate::document::patch;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::objects::document::Document;
use crate::graphql::objects::indexes::IndexMutations;
use crate::graphql::objects::located::Located;
use crate::graphql::scalars::types::{Json, PathScalar, VersionScalar, path_argument};
use crate::store::Transaction;

/// Writes. All the fields of one mutation operation commit together or not at all, in one serializable transaction, each seeing what the ones before it wrote; any error, also of a nullable field further down, undoes all of them and `data` is null. `ifVersion` refuses the operation (`VERSION_MISMATCH`) unless the document had that version before it; a document that does not exist never matches. Given as null it is as if left out. JSON arguments must be given, but may be null: null is a document like any other. Those that change a document return the whole of it; its new `version` is known once the operation is committed, and is the old one if nothing was changed. A write to a document that was not written by Phyllo enters it into the catalog. With the HTTP header `Idempotency-Key` an operation takes effect once, however often it is sent within a day, and answers the same.
#[derive(MergedObject, Default)]
pub(crate) struct Mutation(
    DocumentMutations,
    BulkMutations,
    IndexMutations,
    CollectionMutations,
);

/// Writes. All the fields of one mutation operation commit together or not at all, in one serializable transaction, each seeing what the ones before it wrote; any error, also of a nullable field further down, undoes all of them and `data` is null. `ifVersion` refuses the operation (`VERSION_MISMATCH`) unless the document had that version before it; a document that does not exist never matches. Given as null it is as if left out. JSON arguments must be given, but may be null: null is a document like any other. Those that change a document return the whole of it; its new `version` is known once the operation is committed, and is the old one if nothing was changed. A write to a document that was not written by Phyllo enters it into the catalog. With the HTTP header `Idempotency-Key` an operation takes effect once, however often it is sent within a day, and answers the same.
#[derive(MergedObject, Default)]
#[graphql(name = "Mutation")]
pub(crate) struct MutationWithoutAdmin(DocumentMutations, BulkMutations);

#[derive(Default)]
pub(crate) struct DocumentMutations;

#[Object]
impl DocumentMutations {
    /// Stores a new document; `ALREADY_EXISTS` if anything is stored under the key `id`. Without `id` the document's own top-level `doc_id` is used (a string or a 64-bit integer), and without that a random unused integer. `doc_id` is never added to a document.
    async fn insert_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Any JSON value. It must be given, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(desc = "The key to store it under.")] id: Option<ID>,
        #[graphql(default = "D", desc = "The collection to store it in.")] collection: String,
    ) -> Result<Document> {
        database::check_collection(&collection)?;
        let id = id.map(|id| DocumentId::parse(&id)).transpose()?;
        let session = Session::of(context);
        let text = given("document", &document)?;
        let leaves = leaves(text, session.request_budget()).await;
        let leaves = leaves.map_err(|error| in_argument("document", error))?;
        let transaction = session.transaction()?;
        let document = database::insert(
            transaction,
            Session::of(context).budget(),
            &collection,
            id,
            &leaves,
        )
        .await?;
        let document = Arc::new(document);
        session.inserted(&document);
        written(context, document, true).await
    }

    /// Puts `document` at `path`, in the place of whatever stood there. The empty path creates the document if need be. Otherwise the parent must exist (`NOT_FOUND`); the last segment is a present or new member of an object, or an index up to the array's length, which appends, as `-` at the end of a JSON Pointer does; else `INVALID_PATH`.
    async fn replace_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(desc = "Any JSON value. It must be given, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The place to put it at; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let text = given("document", &document)?;
        let leaves = leaves(text, Session::of(context).request_budget()).await;
        let leaves = leaves.map_err(|error| in_argument("document", error))?;
        let Change {
            transaction,
            document,
            path,
        } = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let changed = database::replace(
            transaction,
            Session::of(context).budget(),
            &document,
            &path,
            &leaves,
        )
        .await?;
        written(context, document, changed).await
    }

    /// Applies a JSON Merge Patch (RFC 7396) at `path`. Creates the document, and object members on the way; array indexes on the way must exist. A patch that is null stores null.
    async fn merge_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(
            desc = "An object says what becomes of its members: null removes one, an object is merged, anything else is put in its place. Anything but an object is put at `path`."
        )]
        patch: MaybeUndefined<Json>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The place to merge into; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let text = given("patch", &patch)?;
        let patch = parsed(
            text,
            Session::of(context).request_budget(),
            MergePatch::parse,
        )
        .await;
        let patch = patch.map_err(|error| in_argument("patch", error))?;
        let Change {
            transaction,
            document,
            path,
        } = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let changed = database::merge(
            transaction,
            Session::of(context).budget(),
            &document,
            &path,
            &patch,
        )
        .await?;
        written(context, document, changed).await
    }

    /// Applies a JSON Patch (RFC 6902) at `path`: all of its operations or none. `NOT_FOUND` if nothing is at `path`; `test` compares numbers by value, and one that fails is `TEST_FAILED`. An error names the operation by its number, from 0.
    async fn patch_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(desc = "An array of operations: add, remove, replace, move, copy, test.")]
        patch: MaybeUndefined<Json>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The place that the operations' paths begin at; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let text = given("patch", &patch)?;
        let operations = parsed(text, Session::of(context).request_budget(), patch::parse).await;
        let operations = operations.map_err(|error| in_argument("patch", error))?;
        let Change {
            transaction,
            document,
            path,
        } = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let changed = database::patch(
            transaction,
            Session::of(context).budget(),
            &document,
            &path,
            &operations,
        )
        .await?;
        written(context, document, changed).await
    }

    /// Adds `by` to the number at `path` and creates it as `by` where nothing stands; exact for integers.
    async fn increment_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The place of the number; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(
            default_with = "Json::one()",
            desc = "A number, which may be negative."
        )]
        by: Json,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<Document> {
        let by = number(&by).map_err(|error| in_argument("by", error))?;
        let Change {
            transaction,
            document,
            path,
        } = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let changed = database::increment(
            transaction,
            Session::of(context).budget(),
            &document,
            &path,
            &by,
        )
        .await?;
        written(context, document, changed).await
    }

    /// Removes the value at `path`, or the whole document, and returns what it was. The elements behind one of an array move up. That nothing was there is no error.
    async fn delete_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The place to remove; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
        #[graphql(desc = "The version that the document must have.")] if_version: Option<
            VersionScalar,
        >,
    ) -> Result<DocumentDeletion> {
        let Change {
            transaction,
            document,
            path,
        } = Change::begin(context, collection, &id, path.as_ref(), if_version).await?;
        let before = DocumentDeletion::before(context, &document, &path).await?;
        let session = Session::of(context);
        let deleted = database::delete(transaction, session.budget(), &document, &path).await?;
        if deleted {
            session.wrote(document.clone());
        }
        Ok(DocumentDeletion::new(document, path, deleted, before))
    }
}

/// What every change of a document begins with.
struct Change<'c> {
    transaction: &'c dyn Transaction,
    document: Arc<DocumentKey>,
    path: Path,
}

impl<'c> Change<'c> {
    async fn begin(
        context: &Context<'c>,
        collection: String,
        id: &str,
        path: Option<&PathScalar>,
        if_version: Option<VersionScalar>,
    ) -> Result<Self> {
        let document = Arc::new(DocumentKey::new(collection, DocumentId::parse(id)?)?);
        let path = path_argument(path)?;
        let session = Session::of(context);
        session.request_budget().check()?;
        let expected = match if_version {
            Some(VersionScalar::Known(version)) => Some(version),
            Some(VersionScalar::OfThisCommit) | None => None,
        };
        session.expect_version(&document, expected).await?;
        Ok(Self {
            transaction: session.transaction()?,
            document,
            path,
        })
    }
}

/// The whole document after a change.
async fn written(
    context: &Context<'_>,
    document: Arc<DocumentKey>,
    changed: bool,
) -> Result<Document> {
    if changed {
        Session::of(context).wrote(document.clone());
    }
    Located::written(context, document).await.map(Document)
}
