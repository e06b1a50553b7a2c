//! `phyllo serve`

use tracing_subscriber::EnvFilter;

use super::Done;
use super::access::open_to_serve;
use super::arguments::Serve;
use super::files::make_room;
use super::location::Location;
use crate::server::{ServeOptions, serve};
use crate::store::EmbeddedOptions;

pub(super) async fn run(store: &Location, asked: Serve) -> Done {
    log_to_stderr();
    let cache_bytes = usize::try_from(asked.cache_mib).unwrap_or(usize::MAX) << 20;
    let database = open_to_serve(store, EmbeddedOptions { cache_bytes }).await?;
    let options = ServeOptions {
        listen: asked.listen,
        directory: match store {
            Location::Directory(directory) => Some(directory.clone()),
            Location::Cluster(_) => None,
        },
        bounds: make_room(asked.limits.into()),
        hosts: asked.hosts,
        cors_origins: asked.cors_origins,
        batch_max: asked.batch_max,
        introspection: !asked.no_introspection,
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
