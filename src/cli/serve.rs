//! `phyllo serve`

use std::path::Path;
use std::sync::Arc;

use tokio::time::Instant;
use tracing_subscriber::EnvFilter;

use super::Done;
use super::access::open_store;
use super::arguments::Serve;
use crate::database::Database;
use crate::limits::REQUEST_TIME_MAX;
use crate::server::{ServeOptions, serve};
use crate::store::EmbeddedOptions;

pub(super) async fn run(store: &Path, serve_: Serve) -> Done {
    log_to_stderr();
    let cache_bytes = usize::try_from(serve_.cache_mib).unwrap_or(usize::MAX) << 20;
    let store_ = open_store(store, EmbeddedOptions { cache_bytes })?;
    let database = Database::open(Arc::new(store_), Instant::now() + REQUEST_TIME_MAX).await?;
    let options = ServeOptions {
        listen: serve_.listen,
        directory: Some(store.to_owned()),
        body_bytes_max: serve_.body_bytes_max,
    };
    serve(database, options).await?;
    Ok(())
}

fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_writer(std::io::stderr);
    // Only a program that has set its own before can make it fail, and that one is kept.
    let _set = subscriber.try_init();
}
