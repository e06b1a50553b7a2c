//! The HTTP server. Only this module and its children use `axum`.

mod access;
mod connection;
mod documents;
mod file_reload;
mod http;
mod http_client;
pub mod local;
mod observe;
mod options;
mod response;
mod routes;
mod streaming;
pub(crate) mod trust;

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

pub use access::cors::{AllowedOrigins, Origin};
pub use access::host::Host;
pub use access::operation_files::OperationFiles;
pub use access::user_tokens::UserTokenOptions;
pub(crate) use access::user_tokens::claims::read as read_claims;
pub use access::{Access, AccessOptions};
use connection::listen::ListenerOptions;
pub use connection::listen::serve_connections;
pub use connection::tls::Tls;
use local::socket::LocalSocket;
pub use observe::metrics::counters::Metrics;
pub use observe::traces::Traces;
pub use options::{ServeOptions, StartReport};
use routes::{interface, routes};
pub use routes::{router, router_with};
pub use streaming::open_streams::OpenStreams;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::database::{Builder, Collection, Database, TypeChecker};
use crate::error::{Error, Result};
use crate::graphql::GraphQl;
use crate::limits::{COLLECTIONS_REPORT_TIME_MAX, COLLECTIONS_REPORTED_MAX, STOP_TIME_MAX};
use crate::operations::first_collections;

/// Serves until SIGTERM or SIGINT, then finishes the accepted requests and returns. On SIGHUP,
/// reloads the files of tokens, keys, rules, listed operations and certificates.
///
/// # Errors
/// `UNAVAILABLE`: the address cannot be bound, or the store failed while serving.
pub async fn serve(database: Database, options: ServeOptions) -> Result<()> {
    let listener = connection::listen::bind(options.listen).await?;
    let address = listener.local_addr().map_err(internal)?;
    let (stop, stopping) = watch::channel(false);
    let signals = stop_on_signal(stop.clone())?;
    let graphql = interface(&database, &options);
    let socket = options.directory.as_deref().map(LocalSocket::bind);
    let local = socket.transpose()?.map(|socket| {
        let socket = socket.with_schema_of(graphql.clone());
        let served = socket.serve(database.clone(), stopped(stopping.clone()));
        tokio::spawn(served)
    });
    let builder = (!options.access.is_read_only()).then(|| Builder::new(database.clone()));
    let building = builder.map(|builder| tokio::spawn(builder.run()));
    // Commands set types also through a server whose clients may only read.
    let checker = (!database.store().is_read_only()).then(|| TypeChecker::new(database.clone()));
    let checking = checker.map(|checker| tokio::spawn(checker.run()));
    if let Err(error) = graphql.refresh_types().await {
        tracing::warn!("the types of collections cannot be read: {error}");
    }
    if let Some(operations) = &options.operations {
        operations.load(&graphql).await;
    }
    let watching = watch(&database, &graphql, &options)?;
    database.store().observe(Arc::new(options.metrics.clone()));
    database.observe_changes(Arc::new(options.metrics.clone()));
    let maintaining = {
        let (database, expires) = (database.clone(), !options.access.is_read_only());
        tokio::spawn(async move { database.maintain_changes(expires).await })
    };
    announce(address, &database, &options).await;
    let pool = graphql.pool().clone();
    let router = routes(database.clone(), graphql, &options, []);
    let listener_options = ListenerOptions {
        bounds: options.bounds,
        pool,
        rights: options.access.rights(),
        tls: options.tls,
        metrics: options.metrics,
    };
    let served = async {
        let ended = end_streams(&options.streams, stopped(stopping.clone()));
        let served = connection::listen::serve(
            listener,
            listener_options,
            router,
            stopped(stopping.clone()),
        );
        tokio::join!(served, ended);
    };
    let failure = tokio::select! {
        () = served => None,
        failure = database.store().failed() => Some(failure),
    };
    stop.send_replace(true);
    signals.abort();
    watching.abort();
    maintaining.abort();
    // The current batch of an index build is rolled back. The next server repeats it.
    if let Some(building) = building {
        building.abort();
    }
    // As is that of a check of stored documents.
    if let Some(checking) = checking {
        checking.abort();
    }
    // Commands that follow changes through the local socket end.
    database.stop_following();
    if let Some(local) = local {
        local.await.map_err(internal)??;
    }
    failure.map_or(Ok(()), Err)
}

/// Ends the streams once the server stops. Clients of WebSockets get the reason.
async fn end_streams(streams: &OpenStreams, stop: impl Future<Output = ()>) {
    stop.await;
    streams.stop();
    if timeout(STOP_TIME_MAX, streams.ended()).await.is_err() {
        tracing::warn!("shutdown timed out after {STOP_TIME_MAX:?} with open streams");
    }
}

/// Reports the addresses and the store, in the log or in one write to standard output. A closed
/// output is not an error.
async fn announce(address: SocketAddr, database: &Database, options: &ServeOptions) {
    let scheme = if options.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let place = format!("{scheme}://{address}");
    let StartReport { store, in_log } = &options.start_report;
    let is_new = database.is_new();
    let collections = collections_text(database).await;
    if *in_log {
        tracing::info!(
            url = %format_args!("{place}/"),
            store,
            is_new,
            collections,
            "serving"
        );
        return;
    }
    let new = if is_new { " (new)" } else { "" };
    let text = format!(
        "Phyllo serves on {place}/\n\
         \x20 explore and try queries   {place}/\n\
         \x20 GraphQL                   {place}/graphql\n\
         \x20 the schema                {place}/schema.graphql\n\
         \x20 the store                 {store}{new}\n\
         \x20 its collections           {collections}\n\
         Stop it with Ctrl-C.\n"
    );
    let mut out = std::io::stdout().lock();
    let _said = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The first collections of the store and their counts of documents.
async fn collections_text(database: &Database) -> String {
    let found = first_collections(database, COLLECTIONS_REPORTED_MAX);
    let (mut first, more) = match timeout(COLLECTIONS_REPORT_TIME_MAX, found).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return format!("unknown: {error}"),
        Err(_) => return "unknown: the store does not respond".to_owned(),
    };
    if first.is_empty() {
        return "none".to_owned();
    }
    let mut texts: Vec<String> = first
        .drain(..)
        .map(|Collection { name, count }| format!("{} ({count})", name.escape_debug()))
        .collect();
    if more {
        texts.push("…".to_owned());
    }
    texts.join(", ")
}

/// Reloads files when they change and on SIGHUP, and follows the format version and the types of the store.
fn watch(
    database: &Database,
    graphql: &GraphQl,
    options: &ServeOptions,
) -> Result<tokio::task::JoinHandle<()>> {
    let mut hangup = signal(SignalKind::hangup()).map_err(internal)?;
    let (database, graphql) = (database.clone(), graphql.clone());
    let (access, tls) = (options.access.clone(), options.tls.clone());
    let operations = options.operations.clone();
    Ok(tokio::spawn(async move {
        let reloading = async {
            while hangup.recv().await.is_some() {
                reload(&access, tls.as_ref(), operations.as_ref()).await;
            }
        };
        let watching_tls = async {
            if let Some(tls) = tls.clone() {
                tls.watch().await;
            }
        };
        let watching_operations = async {
            if let Some(operations) = operations.clone() {
                operations.watch(graphql.clone()).await;
            }
        };
        tokio::join!(
            access.watch(),
            watching_tls,
            watching_operations,
            reloading,
            database.watch_format(),
            graphql.follow_types()
        );
    }))
}

async fn reload(access: &Access, tls: Option<&Tls>, operations: Option<&OperationFiles>) {
    if !access.is_limited() && tls.is_none() && operations.is_none() {
        tracing::info!(
            "SIGHUP: there is no file of tokens, keys, rules, operations or certificates to reload"
        );
        return;
    }
    tracing::info!(
        "SIGHUP: reloading the files of tokens, keys, rules, operations and certificates"
    );
    access.reload().await;
    if let Some(tls) = tls {
        tls.reload().await;
    }
    if let Some(operations) = operations {
        operations.reload().await;
    }
}

fn stop_on_signal(stop: watch::Sender<bool>) -> Result<tokio::task::JoinHandle<()>> {
    let mut terminate = signal(SignalKind::terminate()).map_err(internal)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(internal)?;
    Ok(tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stop.send_replace(true);
    }))
}

async fn stopped(mut stopping: watch::Receiver<bool>) {
    // An error means that the sender, and so the server, is gone.
    let _stop = stopping.wait_for(|stop| *stop).await;
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(error.to_string())
}
