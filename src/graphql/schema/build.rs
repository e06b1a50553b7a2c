//! The schema: which types a server has, and its text.

use std::fmt::Write as _;
use std::sync::Arc;

use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextValidation};
use async_graphql::{
    EmptyMutation, EmptySubscription, MergedObject, ObjectType, Request, Response,
    SDLExportOptions, Schema, ServerError, ValidationMode, ValidationResult,
};

use super::federation::{FederationQueries, SubgraphSdl};
use super::mutation::fields::{Mutation, MutationWithoutAdmin};
use super::node::{NodeObject, NodeQueries};
use super::query::DocumentQueries;
use crate::limits::Bounds;

/// What the text of a schema begins with. A comment, because parsers of the specification's text of
/// 2018, such as that of Rust's `graphql_client`, read no description of the schema itself.
const COMMENT: &str = "\
# Phyllo: JSON documents, read and written by path. Each has a key in a collection; a part of one is
# read without the rest. A query sees one version of the store, and a mutation operation commits as a
# whole or not at all.

";

/// The definition of `Document` in a subgraph, without and with its keys.
const DOCUMENT: &str = "type Document implements Node {";
const DOCUMENT_WITH_KEYS: &str = "type Document implements Node @key(fields: \"id\") \
                                  @key(fields: \"collection key\") {";

/// Which operations a server's schema has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaScope {
    /// All of them.
    #[default]
    Full,
    /// All but those that make and drop indexes and drop collections.
    WithoutAdmin,
    /// Queries only: there is no type `Mutation`.
    ReadOnly,
}

impl SchemaScope {
    /// What a server has that is `read_only`, or that serves administration or does not.
    pub fn of(read_only: bool, admin: bool) -> Self {
        match (read_only, admin) {
            (true, _) => Self::ReadOnly,
            (false, true) => Self::Full,
            (false, false) => Self::WithoutAdmin,
        }
    }
}

/// JSON documents, read by path. All fields of one query operation see the same version of the store.
#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
pub(crate) struct QueryRoot(DocumentQueries, NodeQueries, FederationQueries);

/// JSON documents, read by path. All fields of one query operation see the same version of the store.
// What a subgraph tells: its gateway finds objects by `_entities`, and two subgraphs with a field
// `node` do not compose.
#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
struct SubgraphQuery(DocumentQueries);

/// What a schema is for: the same types, but validation is done once for each text and execution
/// each time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Validate,
    Execute,
}

/// An executable schema of some scope.
pub(crate) enum PhylloSchema {
    Full(Schema<QueryRoot, Mutation, EmptySubscription>),
    WithoutAdmin(Schema<QueryRoot, MutationWithoutAdmin, EmptySubscription>),
    ReadOnly(Schema<QueryRoot, EmptyMutation, EmptySubscription>),
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

    /// Its types as text.
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
) -> Schema<QueryRoot, M, EmptySubscription> {
    let builder = Schema::build(QueryRoot::default(), M::default(), EmptySubscription)
        .limit_recursive_depth(2 * bounds.query_levels);
    match purpose {
        Purpose::Validate => builder.extension(ValidateOnly).finish(),
        Purpose::Execute => builder
            .validation_mode(ValidationMode::Fast)
            .data(SubgraphSdl::new(&subgraph::<M>()))
            .finish(),
    }
}

/// The schema as text, as `schema.graphql` has it for a server of full scope.
pub fn schema_text(scope: SchemaScope) -> String {
    let schema = PhylloSchema::new(scope, Purpose::Validate, &Bounds::DEFAULT);
    format!("{COMMENT}{}", tidied(&schema.sdl()))
}

/// The schema as a gateway composes it into its own, which `_service { sdl }` tells.
pub fn subgraph_text(scope: SchemaScope) -> String {
    match scope {
        SchemaScope::Full => subgraph::<Mutation>(),
        SchemaScope::WithoutAdmin => subgraph::<MutationWithoutAdmin>(),
        SchemaScope::ReadOnly => subgraph::<EmptyMutation>(),
    }
}

fn subgraph<M: ObjectType + Default + 'static>() -> String {
    let schema = Schema::build(SubgraphQuery::default(), M::default(), EmptySubscription)
        .register_output_type::<NodeObject>()
        .finish();
    let options = SDLExportOptions::new().federation().include_specified_by();
    let sdl = tidied(&schema.sdl_with_options(options));
    sdl.replacen(DOCUMENT, DOCUMENT_WITH_KEYS, 1)
}

/// Two blanks for each level, and none at the ends of lines.
fn tidied(sdl: &str) -> String {
    let mut text = String::with_capacity(sdl.len());
    for line in sdl.trim().lines() {
        writeln!(text, "{}", line.trim_end().replace('\t', "  ")).expect("a string has room");
    }
    text
}

/// Ends a request when it is found valid.
struct ValidateOnly;

/// The error that a valid request ends with.
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
