//! For whoever watches the server: is it alive, and does it serve?

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::database::Database;

/// `/healthz`: the process answers. `/readyz`: it serves, too; 503 with the reason if not.
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
