//! The routes of a server, and the middleware around them.

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, get};

use super::access::admission::Admission;
use super::access::host::KnownHosts;
use super::access::operation_files::OperationFiles;
use super::documents;
use super::http;
use super::http::endpoint::Endpoint;
use super::observe;
use super::observe::requests::Observation;
use super::options::ServeOptions;
use crate::database::Database;
use crate::graphql::{GraphQl, GraphQlOptions, RulesInForce, SchemaScope};

/// The routes that clients and browsers use.
pub fn router(database: Database, options: &ServeOptions) -> Router {
    router_with(database, options, [])
}

/// Like [`router`], with additional routes behind the same middleware as `/graphql`: access, CORS,
/// compression and metrics.
pub fn router_with(
    database: Database,
    options: &ServeOptions,
    more: impl IntoIterator<Item = (&'static str, MethodRouter)>,
) -> Router {
    let graphql = interface(&database, options);
    routes(database, graphql, options, more)
}

/// The GraphQL interface with the options of a server.
pub(crate) fn interface(database: &Database, options: &ServeOptions) -> GraphQl {
    let scope = SchemaScope::of(options.access.is_read_only(), options.admin);
    let graphql = GraphQlOptions {
        scope,
        introspection: options.introspection,
        hints: options.hints,
        listed_only: options
            .operations
            .as_ref()
            .is_some_and(OperationFiles::only),
        bounds: options.bounds,
        rules: options.access.rules().map(RulesInForce::new),
    };
    GraphQl::with_options(database.clone(), graphql)
}

/// The routes of an interface that was made with these options.
pub(crate) fn routes(
    database: Database,
    graphql: GraphQl,
    options: &ServeOptions,
    more: impl IntoIterator<Item = (&'static str, MethodRouter)>,
) -> Router {
    let served = graphql.clone();
    let schema = get(move || std::future::ready(text(&served.schema_text())));
    let endpoint = Arc::new(Endpoint::new(graphql, options));
    let graphql = http::methods::methods(endpoint.clone(), options);
    let metrics = get(observe::requests::metrics).with_state(options.metrics.clone());
    let observation = Observation::new(options.metrics.clone());
    let router = Router::new()
        .route("/graphql", graphql)
        .route(
            "/schema.graphql",
            schema.layer((
                http::methods::compression(),
                Admission::layer(&options.access),
            )),
        )
        .route(
            "/openapi.json",
            get(async || ([("content-type", "application/json")], documents::OPENAPI)).layer((
                http::methods::compression(),
                Admission::layer(&options.access),
            )),
        )
        .merge(documents::routes(endpoint, database.clone(), options))
        .merge(http::web_page::routes());
    let router = more.into_iter().fold(router, |router, (path, methods)| {
        router.route(path, http::methods::layered(methods, options))
    });
    // One call wraps each route once.
    let router = router.layer((
        observation.clone(),
        KnownHosts::layer(options.listen, &options.hosts),
    ));
    // Monitoring programs name any host, such as the address of a container. These routes have no
    // content of documents.
    observe::health::routes(database, options.access.is_read_only())
        .route(
            "/metrics",
            metrics.layer(Admission::layer_with_token(&options.access)),
        )
        .layer(observation)
        .merge(router)
}

fn text(text: &Arc<str>) -> ([(&'static str, &'static str); 1], String) {
    (
        [("content-type", "text/plain; charset=utf-8")],
        text.to_string(),
    )
}
