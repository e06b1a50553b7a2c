//! The schema of resolvers: executes what has no plan. Its types are those of schema.graphql.

use async_graphql::{
    EmptyMutation, MergedObject, ObjectType, Request, Response, Schema, ValidationMode,
};

use super::built::scope::SchemaScope;
use super::federation::{FederationQueries, SubgraphSdl};
use super::mutation::fields::{Mutation, MutationWithoutAdmin};
use super::node::NodeQueries;
use super::query::DocumentQueries;
use super::subscription::SubscriptionRoot;
use crate::limits::Bounds;

/// Reads JSON documents by path. All fields of one query operation see the same version of the store.
#[derive(MergedObject, Default)]
#[graphql(name = "Query")]
pub(crate) struct QueryRoot(DocumentQueries, NodeQueries, FederationQueries);

/// A schema of one scope.
pub(crate) enum PhylloSchema {
    Full(Schema<QueryRoot, Mutation, SubscriptionRoot>),
    WithoutAdmin(Schema<QueryRoot, MutationWithoutAdmin, SubscriptionRoot>),
    ReadOnly(Schema<QueryRoot, EmptyMutation, SubscriptionRoot>),
}

impl PhylloSchema {
    pub(crate) fn new(scope: SchemaScope, sdl: &SubgraphSdl, bounds: &Bounds) -> Self {
        match scope {
            SchemaScope::Full => Self::Full(finish::<Mutation>(sdl, bounds)),
            SchemaScope::WithoutAdmin => {
                Self::WithoutAdmin(finish::<MutationWithoutAdmin>(sdl, bounds))
            }
            SchemaScope::ReadOnly => Self::ReadOnly(finish::<EmptyMutation>(sdl, bounds)),
        }
    }

    pub(crate) async fn execute(&self, request: Request) -> Response {
        match self {
            Self::Full(schema) => schema.execute(request).await,
            Self::WithoutAdmin(schema) => schema.execute(request).await,
            Self::ReadOnly(schema) => schema.execute(request).await,
        }
    }
}

fn finish<M: ObjectType + Default + 'static>(
    sdl: &SubgraphSdl,
    bounds: &Bounds,
) -> Schema<QueryRoot, M, SubscriptionRoot> {
    Schema::build(QueryRoot::default(), M::default(), SubscriptionRoot)
        .limit_recursive_depth(2 * bounds.query_levels)
        .validation_mode(ValidationMode::Fast)
        .data(sdl.clone())
        .finish()
}

#[cfg(test)]
mod tests {
    use async_graphql::SDLExportOptions;

    use super::*;
    use crate::graphql::schema::built::served::ServedSchema;

    /// The query that `GraphiQL` sends, with every option.
    const INTROSPECTION: &str = "query IntrospectionQuery {
        __schema {
            description
            queryType { name kind }
            mutationType { name kind }
            subscriptionType { name kind }
            types { ...FullType }
            directives {
                name description locations isRepeatable
                args(includeDeprecated: true) { ...InputValue }
            }
        }
    }
    fragment FullType on __Type {
        kind name description specifiedByURL isOneOf
        fields(includeDeprecated: true) {
            name description isDeprecated deprecationReason
            args(includeDeprecated: true) { ...InputValue }
            type { ...TypeRef }
        }
        inputFields(includeDeprecated: true) { ...InputValue }
        interfaces { ...TypeRef }
        enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
        possibleTypes { ...TypeRef }
    }
    fragment InputValue on __InputValue {
        name description type { ...TypeRef } defaultValue isDeprecated deprecationReason
    }
    fragment TypeRef on __Type {
        kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
        ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }
    }";

    fn sdl(schema: &PhylloSchema) -> String {
        let options = SDLExportOptions::new()
            .include_specified_by()
            .use_space_ident();
        match schema {
            PhylloSchema::Full(schema) => schema.sdl_with_options(options),
            PhylloSchema::WithoutAdmin(schema) => schema.sdl_with_options(options),
            PhylloSchema::ReadOnly(schema) => schema.sdl_with_options(options),
        }
    }

    #[tokio::test]
    async fn the_types_of_the_resolvers_are_those_of_the_schema() {
        for scope in [
            SchemaScope::Full,
            SchemaScope::WithoutAdmin,
            SchemaScope::ReadOnly,
        ] {
            let served = ServedSchema::of(scope, &Bounds::DEFAULT);
            let derived = PhylloSchema::new(scope, served.subgraph(), &Bounds::DEFAULT);
            assert_eq!(
                sdl(&derived).trim(),
                definitions(served.text()),
                "{scope:?}"
            );
            let expected = derived.execute(Request::new(INTROSPECTION)).await;
            let found = served.introspect(Request::new(INTROSPECTION)).await;
            assert_eq!(found.errors, [], "{scope:?}");
            assert!(
                found.data.to_string() == expected.data.to_string(),
                "{scope:?}: introspection differs"
            );
        }
    }

    /// The text of a schema without its comment.
    fn definitions(text: &str) -> &str {
        text[text.find("\"\"\"").expect("a description")..].trim()
    }
}
