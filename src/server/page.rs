//! stub
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> axum::Router<S> { axum::Router::new() }
