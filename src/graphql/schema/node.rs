//! Objects by their global ids (GraphQL Global Object Identification).

use std::sync::Arc;

use async_graphql::{Context, ID, Interface, Object};
use futures::future::join_all;

use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::objects::document::{Document, Subdocument};
use crate::graphql::objects::located::Located;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::node_id::NodeId;

/// An object with a global id, under which clients can cache it.
#[derive(Interface)]
#[graphql(
    name = "Node",
    field(
        name = "id",
        ty = "CountedBytes<ID>",
        desc = "The global id, which `node` takes."
    )
)]
pub(crate) enum NodeObject {
    Document(Document),
    Subdocument(Subdocument),
}

#[derive(Default)]
pub(crate) struct NodeQueries;

#[Object]
impl NodeQueries {
    /// The object with this id: a document (`COLLECTION/KEY`) or a part of one (`COLLECTION/KEY#POINTER`). Null if nothing is stored there.
    async fn node(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The `id` of a Document or a Subdocument.")] id: ID,
    ) -> Option<Result<NodeObject>> {
        let request_budget = Session::of(context).request_budget();
        if let Err(error) = request_budget.entities(1) {
            return Some(Err(error));
        }
        find(context, &id).await.transpose()
    }

    /// The objects with these ids, in the order of the ids; null where nothing is stored.
    async fn nodes(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The ids of Documents and Subdocuments.")] ids: Vec<ID>,
    ) -> Result<Vec<Option<Result<NodeObject>>>> {
        let request_budget = Session::of(context).request_budget();
        request_budget.entities(ids.len())?;
        request_budget.elements(ids.len(), context.field())?;
        let found = join_all(ids.iter().map(|id| find(context, id))).await;
        Ok(found.into_iter().map(Result::transpose).collect())
    }
}

async fn find(context: &Context<'_>, id: &str) -> Result<Option<NodeObject>> {
    match NodeId::parse(id)? {
        NodeId::Document(document) => {
            let found = Located::find(context, Arc::new(document), Path::default()).await?;
            Ok(found.map(|found| NodeObject::Document(Document(found))))
        }
        NodeId::Subdocument(document, path) => {
            let found = Located::find(context, Arc::new(document), path).await?;
            Ok(found.map(|found| NodeObject::Subdocument(Subdocument(found))))
        }
    }
}
