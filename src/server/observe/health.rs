//! Health checks.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::database::Database;

/// `/healthz`: the process responds. `/readyz`: the database is ready too, or else 503 with the
/// reason.
pub(crate) fn routes(database: Database) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .with_state(database)
}

async fn ready(State(database): State<Database>) -> (StatusCode, String) {
    match database.ready().await {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(error) => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{}\n", error.message()),
        ),
    }
}
