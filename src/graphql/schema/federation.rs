//! The fields that a gateway requests from a subgraph (Apollo Federation, subgraph specification
//! 2.5): its schema and its entities.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{
    Context, ContextSelectionSet, InputValueResult, Object, OutputType, Positioned, Scalar,
    ScalarType, ServerResult, SimpleObject, Union, Value,
};
use bytes::Bytes;
use futures::future::join_all;

use super::entities::{EntityKeys, Representation};
use crate::document::json::write_string;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::objects::document::Document;
use crate::graphql::objects::located::Located;
use crate::graphql::response::counted::CountedBytes;

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

/// A `String` in the schema.
impl OutputType for SubgraphSdl {
    fn type_name() -> Cow<'static, str> {
        String::type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        <String as OutputType>::create_type_info(registry)
    }

    async fn resolve(
        &self,
        _: &ContextSelectionSet<'_>,
        _: &Positioned<Field>,
    ) -> ServerResult<Value> {
        Ok(Value::Binary(self.0.clone()))
    }
}

/// The schema of this subgraph.
#[derive(SimpleObject)]
#[graphql(name = "_Service")]
struct Service {
    /// The text of the schema, with the federation directives.
    sdl: CountedBytes<SubgraphSdl>,
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
    async fn service(&self, context: &Context<'_>) -> Service {
        Service {
            sdl: CountedBytes(context.data_unchecked::<SubgraphSdl>().clone()),
        }
    }

    /// The entities that a gateway requests, in the order of their representations; null where nothing is stored.
    #[graphql(name = "_entities")]
    async fn entities(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "Each contains `__typename`, and either `id` or `collection` and `key`. If it contains all of them, they must name the same document."
        )]
        representations: Vec<Representation>,
    ) -> Result<Vec<Option<Result<Entity>>>> {
        let request_budget = Session::of(context).request_budget();
        request_budget.entities(representations.len())?;
        request_budget.elements(representations.len(), context.field())?;
        let found = representations.into_iter();
        let found = join_all(found.map(|representation| find(context, representation))).await;
        Ok(found.into_iter().map(Result::transpose).collect())
    }
}

async fn find(context: &Context<'_>, representation: Representation) -> Result<Option<Entity>> {
    let document = EntityKeys::of(representation).document()?;
    let found = Located::find(context, Arc::new(document), Path::default()).await?;
    Ok(found.map(|found| Entity::Document(Document(found))))
}
