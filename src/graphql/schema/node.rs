//! Objects by their global ids (GraphQL Global Object Identification).
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{ID, Interface, Object};

use super::declared::declared;
use super::types::document::{Document, Subdocument};
use crate::error::Result;

/// An object with a global id, under which clients can cache it.
#[derive(Interface)]
#[graphql(
    name = "Node",
    field(name = "id", ty = "ID", desc = "The global id, which `node` takes.")
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
        #[graphql(desc = "The `id` of a Document or a Subdocument.")] id: ID,
    ) -> Result<Option<NodeObject>> {
        declared()
    }

    /// The objects with these ids, in the order of the ids; null where nothing is stored.
    async fn nodes(
        &self,
        #[graphql(desc = "The ids of Documents and Subdocuments.")] ids: Vec<ID>,
    ) -> Result<Vec<Option<NodeObject>>> {
        declared()
    }
}
