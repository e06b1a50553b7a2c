//! Builds the schema of a server, and prints it.

use std::fmt::Write as _;
use std::sync::Arc;

use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextValidation};
use async_graphql::{
    EmptyMutation, MergedObject, ObjectType, Request, Response, SDLExportOptions, Schema,
    ServerError, ValidationMode, ValidationResult,
};

use super::federation::{FederationQueries, SubgraphSdl};
use super::mutation::fields::{Mutation, MutationWithoutAdmin};
use super::node::{NodeObject, NodeQueries};
use super::query::DocumentQueries;
use super::subscription::SubscriptionRoot;
use crate::limits::Bounds;

/// The beginning of a schema's text. It is a comment because parsers of the 2018 specification,
/// such as that of Rust's `graphql_client`, do not accept a description of the schema itself.
const COMMENT: &str = "\
# Phyllo: JSON documents, read and written by path. Each has a key in a collection; a part of one is
# read without the rest. A query sees one version of the store, and a mutation operation commits as a
# whole or not at all.

";

/// The first line of the type `Document` in a subgraph, without and with its federation keys.
const DOCUMENT: &str = "type Document implements Node {";
const DOCUMENT_WITH_KEYS: &str = "type Document implements Node @key(fields: \"id\") \
                                  @key(fields: \"collection key\") {";

/// The operations in the schema of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaScope {
    /// All operations.
    #[default]
    Full,
    /// All operations except those that create or drop indexes or drop collections.
    WithoutAdmin,
    /// Only queries: there is no type `Mutation`.
    ReadOnly,
}

impl SchemaScope {
    /// The scope of a server that is `read_only`, or that allows administration (`admin`) or not.
    pub fn of(read_only: bool, admin: bool) -> Self {
        match (read_only, admin) {
            (true, _) => Self::ReadOnly,
            (false, true) => Self::Full,
            (false, false) => Self::WithoutAdmin,
        }
    }
}

/// Reads JSON documents by path. All fields of one query operation see the same version of the store.
#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
pub(crate) struct QueryRoot(DocumentQueries, NodeQueries, FederationQueries);

/// Reads JSON documents by path. All fields of one query operation see the same version of the store.
// The queries in the text of a subgraph. They lack `node`: a gateway finds objects with
// `_entities`, and two subgraphs with a field `node` do not compose.
#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
struct SubgraphQuery(DocumentQueries);

/// The purpose of a schema. Both have the same types; a query text is validated once and executed
/// many times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Validate,
    Execute,
}

/// A schema of one scope.
pub(crate) enum PhylloSchema {
    Full(Schema<QueryRoot, Mutation, SubscriptionRoot>),
    WithoutAdmin(Schema<QueryRoot, MutationWithoutAdmin, SubscriptionRoot>),
    ReadOnly(Schema<QueryRoot, EmptyMutation, SubscriptionRoot>),
}

impl PhylloSchema {
    pub(crate) fn new(scope: SchemaScope, purpose: Purpose, bounds: &Bounds) -> Self {
        match scope {
            SchemaScope::Full => Self::Full(finish::<Mutation>(purpose, bounds)),
            SchemaScope::WithoutAdmin => {
                Self::WithoutAdmin(finish::<MutationWithoutAdmin>(purpose, bounds))
            }
            SchemaScope::ReadOnly => Self::ReadOnly(finish::<EmptyMutation>(purpose, bounds)),
        }
    }

    pub(crate) async fn execute(&self, request: Request) -> Response {
        match self {
            Self::Full(schema) => schema.execute(request).await,
            Self::WithoutAdmin(schema) => schema.execute(request).await,
            Self::ReadOnly(schema) => schema.execute(request).await,
        }
    }

    /// The schema definition language (SDL) text of the types.
    pub(crate) fn sdl(&self) -> String {
        let options = SDLExportOptions::new().include_specified_by();
        match self {
            Self::Full(schema) => schema.sdl_with_options(options),
            Self::WithoutAdmin(schema) => schema.sdl_with_options(options),
            Self::ReadOnly(schema) => schema.sdl_with_options(options),
        }
    }
}

fn finish<M: ObjectType + Default + 'static>(
    purpose: Purpose,
    bounds: &Bounds,
) -> Schema<QueryRoot, M, SubscriptionRoot> {
    let builder = Schema::build(QueryRoot::default(), M::default(), SubscriptionRoot)
        .limit_recursive_depth(2 * bounds.query_levels);
    match purpose {
        Purpose::Validate => builder.extension(ValidateOnly).finish(),
        Purpose::Execute => builder
            .validation_mode(ValidationMode::Fast)
            .data(SubgraphSdl::new(&subgraph::<M>()))
            .finish(),
    }
}

/// The text of the schema. `schema.graphql` contains that of the full scope.
pub fn schema_text(scope: SchemaScope) -> String {
    let schema = PhylloSchema::new(scope, Purpose::Validate, &Bounds::DEFAULT);
    format!("{COMMENT}{}", tidied(&schema.sdl()))
}

/// The text of the subgraph schema, which `_service { sdl }` returns to a gateway.
pub fn subgraph_text(scope: SchemaScope) -> String {
    match scope {
        SchemaScope::Full => subgraph::<Mutation>(),
        SchemaScope::WithoutAdmin => subgraph::<MutationWithoutAdmin>(),
        SchemaScope::ReadOnly => subgraph::<EmptyMutation>(),
    }
}

fn subgraph<M: ObjectType + Default + 'static>() -> String {
    let schema = Schema::build(SubgraphQuery::default(), M::default(), SubscriptionRoot)
        .enable_subscription_in_federation()
        .register_output_type::<NodeObject>()
        .finish();
    let options = SDLExportOptions::new().federation().include_specified_by();
    let sdl = tidied(&schema.sdl_with_options(options));
    sdl.replacen(DOCUMENT, DOCUMENT_WITH_KEYS, 1)
}

/// Indents each level by two spaces, and removes spaces at the ends of lines.
fn tidied(sdl: &str) -> String {
    let mut text = String::with_capacity(sdl.len());
    for line in sdl.trim().lines() {
        writeln!(text, "{}", line.trim_end().replace('\t', "  ")).expect("a string has room");
    }
    text
}

/// Stops the execution of a request after its validation.
struct ValidateOnly;

/// The message of the error that a valid request ends with.
pub(crate) const VALID: &str = "valid";

impl ExtensionFactory for ValidateOnly {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_trait::async_trait]
impl Extension for ValidateOnly {
    async fn validation(
        &self,
        context: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        next.run(context).await?;
        Err(vec![ServerError::new(VALID, None)])
    }
}
