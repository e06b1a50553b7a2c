//! The root types `Query` and `Mutation`.

use std::sync::Arc;

use async_graphql::{Context, ID, MaybeUndefined, Object, SimpleObject};

use super::document::{Document, Subdocument};
use super::located::Located;
use super::scalars::{Json, PathScalar, path_argument};
use super::session::Session;
use crate::database::{self, DocumentKey};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::Leaves;

pub(super) struct Query;

/// Reads. All fields of one query operation see the same version of the store.
#[Object]
impl Query {
    /// What is stored under `id` at `path`; null if nothing is. A stored null is a Subdocument of kind NULL.
    async fn document(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "The decimal text of a 64-bit integer is that integer, any other text is that string. The string \"42\" is written as a JSON string: \"\\\"42\\\"\"."
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

    /// The collections that hold a document.
    async fn collections(&self, context: &Context<'_>) -> Result<Vec<Collection>> {
        let read = Session::of(context).read().await?;
        let found = database::collections(&*read).await?;
        Ok(found.into_iter().map(Collection::from).collect())
    }

    #[graphql(entity)]
    async fn entity(
        &self,
        context: &Context<'_>,
        collection: String,
        id: ID,
    ) -> Option<Result<Document>> {
        if collection.is_empty() {
            return None;
        }
        if let Err(error) = Session::of(context).count_entity() {
            return Some(Err(error));
        }
        let found = find(context, collection, &id, None).await;
        Some(found.transpose()?.map(Document))
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

/// A collection of documents.
#[derive(SimpleObject)]
pub(super) struct Collection {
    /// Its name.
    name: String,
    /// How many documents it holds.
    count: i64,
}

impl From<database::Collection> for Collection {
    fn from(collection: database::Collection) -> Self {
        Self {
            name: collection.name,
            count: collection.count,
        }
    }
}

pub(super) struct Mutation;

/// Writes. All the fields of one mutation operation commit together or not at all, in one serializable transaction, each seeing what the ones before it wrote; any error, also of a nullable field further down, undoes all of them and `data` is null. JSON arguments must be given, but may be null: null is a document like any other. Each returns the whole document; its new `version` is known once the operation is committed.
#[Object]
impl Mutation {
    /// Stores a new document; ALREADY_EXISTS if anything is stored under `id`. Without `id` the document's own top-level `doc_id` is used (a string or a 64-bit integer), and without that a random unused integer. `doc_id` is never added to a document.
    async fn insert_document(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Any JSON value. It must be given, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(desc = "What to store it under.")] id: Option<ID>,
        #[graphql(default = "D", desc = "The collection to store it in.")] collection: String,
    ) -> Result<Document> {
        database::check_collection(&collection)?;
        let id = id.map(|id| DocumentId::parse(&id)).transpose()?;
        let leaves = leaves("document", &document)?;
        let session = Session::of(context);
        let transaction = session.transaction()?;
        let document = database::insert(transaction, &collection, id, &leaves).await?;
        written(context, document).await
    }
}

/// The whole document that a mutation has just written.
async fn written(context: &Context<'_>, document: DocumentKey) -> Result<Document> {
    let document = Arc::new(document);
    Session::of(context).wrote(document.clone());
    let found = Located::find(context, document, Path::default()).await?;
    let found = found.ok_or_else(|| Error::internal("a written document is not there"))?;
    Ok(Document(found))
}

/// The leaves of a JSON argument that must be given but may be null.
fn leaves(name: &str, argument: &MaybeUndefined<Json>) -> Result<Leaves> {
    let text: &[u8] = match argument {
        MaybeUndefined::Value(Json(text)) => text,
        MaybeUndefined::Null => b"null",
        MaybeUndefined::Undefined => {
            return Err(Error::bad_input(format!(
                "the argument `{name}` is not given; null is a value, and must be written"
            )));
        }
    };
    let text = std::str::from_utf8(text).map_err(|_| Error::bad_input("not UTF-8"))?;
    Leaves::from_json(text).map_err(|error| error.at(format!("the argument `{name}`")))
}
