//! The interfaces for an operator: those of clients, without access rules and tokens and with wide limits, and the
//! routes that only an operator may use.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tokio::time::Instant;

use super::operator_routes;
use crate::database::Database;
use crate::graphql::GraphQl;
use crate::limits::Bounds;
use crate::server::options::ServeOptions;
use crate::server::routes::{interface, routes};

/// The interfaces for an operator: their routes, and the parts of them that a server stops.
pub(super) struct OperatorInterface {
    pub(super) router: Router,
    pub(super) graphql: GraphQl,
    pub(super) options: ServeOptions,
}

impl OperatorInterface {
    /// If a request changes types, the schema of `served` follows before the response is sent.
    pub(super) fn new(database: Database, served: Option<GraphQl>) -> Self {
        let options = ServeOptions {
            bounds: Bounds::OF_OPERATOR,
            ..ServeOptions::on(([127, 0, 0, 1], 0).into())
        };
        let graphql = interface(&database, &options);
        let router = routes(database.clone(), graphql.clone(), &options, []);
        let router = match served {
            Some(served) => router.layer(from_fn_with_state(served, refresh_types)),
            None => router,
        };
        let router = router
            .merge(operator_routes::routes(database))
            .layer(DefaultBodyLimit::disable());
        Self {
            router,
            graphql,
            options,
        }
    }
}

async fn refresh_types(State(served): State<GraphQl>, request: Request, next: Next) -> Response {
    let is_graphql = request.uri().path() == "/graphql";
    let response = next.run(request).await;
    if is_graphql {
        let deadline = Instant::now() + served.bounds().request_time;
        served.refresh_types_until(deadline).await;
    }
    response
}
