//! The fields that a gateway requests from a subgraph (Apollo Federation, subgraph specification
//! 2.5): its schema and its entities. They are executed from plans.
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{InputValueResult, Object, Scalar, ScalarType, Union, Value};
use bytes::Bytes;

use super::declared::declared;
use super::entities::Representation;
use super::types::document::Document;
use crate::document::json::write_string;
use crate::error::Result;

/// The text of the subgraph schema, encoded as a JSON string that all responses share. It is stored
/// in the data of the executable schema.
#[derive(Clone)]
pub(crate) struct SubgraphSdl(Bytes);

impl SubgraphSdl {
    pub(crate) fn new(sdl: &str) -> Self {
        let mut json = Vec::with_capacity(2 * sdl.len());
        write_string(&mut json, sdl);
        Self(json.into())
    }

    /// The text as JSON.
    pub(crate) fn json(&self) -> &[u8] {
        &self.0
    }
}

struct Service;

/// The schema of this subgraph.
#[Object(name = "_Service")]
impl Service {
    /// The text of the schema, with the federation directives.
    async fn sdl(&self) -> Result<String> {
        declared()
    }
}

/// The representation of an entity: the name of its type and one of its keys.
#[Scalar(name = "_Any")]
impl ScalarType for Representation {
    fn parse(value: Value) -> InputValueResult<Self> {
        // Errors are reported for the single entity, in [`EntityKeys::document`].
        Ok(Self(value))
    }

    fn to_value(&self) -> Value {
        self.0.clone()
    }
}

/// The types that are entities.
#[derive(Union)]
#[graphql(name = "_Entity")]
enum Entity {
    Document(Document),
}

#[derive(Default)]
pub(crate) struct FederationQueries;

#[Object]
impl FederationQueries {
    /// The schema of this subgraph, which a gateway composes into its own.
    #[graphql(name = "_service")]
    async fn service(&self) -> Result<Service> {
        declared()
    }

    /// The entities that a gateway requests, in the order of their representations; null where nothing is stored.
    #[graphql(name = "_entities")]
    async fn entities(
        &self,
        #[graphql(
            desc = "Each contains `__typename`, and either `id` or `collection` and `key`. If it contains all of them, they must name the same document."
        )]
        representations: Vec<Representation>,
    ) -> Result<Vec<Option<Entity>>> {
        declared()
    }
}
