//! The root type `Mutation`, and the fields that change one document.
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{ID, MaybeUndefined, MergedObject, Object};

use super::append::AppendMutations;
use super::bulk::BulkMutations;
use super::dropped::CollectionMutations;
use super::indexing::IndexMutations;
use super::results::DocumentDeletion;
use super::take::QueueMutations;
use crate::error::Result;
use crate::graphql::objects::filter::FilterInput;
use crate::graphql::objects::place::PlaceInput;
use crate::graphql::scalars::types::{Json, PathScalar, VersionScalar};
use crate::graphql::schema::declared::declared;
use crate::graphql::schema::types::document::Document;

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
        #[graphql(desc = "Any JSON value. It is required, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(desc = "The key of the new document.")] id: Option<ID>,
        #[graphql(default = "D", desc = "The collection to store the document in.")]
        collection: String,
    ) -> Result<Document> {
        declared()
    }

    /// Stores `document` at `path` and replaces any value there. With the empty path, creates the document if it does not exist. Otherwise the parent of `path` must exist (`NOT_FOUND`), and the last segment must be the name of an existing or new object member, or an array index up to the array's length (`INVALID_PATH`). The array's length, or `-` at the end of a JSON Pointer, appends.
    async fn replace_document(
        &self,
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
        declared()
    }

    /// Stores a copy of the value at the place `from` at `path`, in the same way as `replaceDocument`. The value is read before anything is written, so the copy can be stored above or below the original.
    async fn copy_document(
        &self,
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
        declared()
    }

    /// Fails with `TEST_FAILED`, so that the operation changes nothing, unless the document exists and matches the filter. Returns the document.
    async fn test_document(
        &self,
        #[graphql(desc = "The key of the document in its collection (`Document.key`).")] id: ID,
        #[graphql(desc = "The filter; an empty one tests only whether the document exists.")]
        matches: FilterInput,
        #[graphql(default = "D", desc = "The collection that holds the document.")]
        collection: String,
    ) -> Result<Document> {
        declared()
    }

    /// Applies a JSON Merge Patch (RFC 7396) at `path`. Creates the document and missing object members on the path; array indexes on the path must exist, and in a JSON Pointer `-` and integers need a parent that exists. A null patch stores null.
    async fn merge_document(
        &self,
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
        declared()
    }

    /// Applies a JSON Patch (RFC 6902) at `path`: all of its operations or none. Fails with `NOT_FOUND` if nothing is stored at `path`, and with `TEST_FAILED` if a `test` fails; `test` compares numbers by value. An error gives the number of the operation, counted from 0.
    async fn patch_document(
        &self,
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
        declared()
    }

    /// Adds `by` to the number at `path`, or stores `by` if nothing is stored there. Exact for integers.
    async fn increment_document(
        &self,
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
        declared()
    }

    /// Removes the value at `path`, or the whole document, and returns it. After the removal of an array element, the later elements move up. It is not an error if nothing is stored there.
    async fn delete_document(
        &self,
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
        declared()
    }
}
