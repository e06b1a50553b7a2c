//! Health checks.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::database::Database;

/// `/healthz`: the process responds. `/readyz`: the database is ready too, or else 503 with the
/// reason. A read-only server needs no database that can be written.
pub(crate) fn routes(database: Database, is_read_only: bool) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .with_state((database, is_read_only))
}

async fn ready(State((database, is_read_only)): State<(Database, bool)>) -> (StatusCode, String) {
    let ready = if is_read_only {
        database.ready_to_read().await
    } else {
        database.ready().await
    };
    match ready {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(error) => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{}\n", error.message()),
        ),
    }
}
