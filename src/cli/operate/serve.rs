//! `phyllo serve`

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::serve::units::Retention;
use crate::cli::arguments::serve::{LogFormat, Serve};
use crate::cli::connect::opening::{RecoveryProgress, open_to_serve};
use crate::cli::outcome::{Done, Ended};
use crate::cli::terminal::files::make_room;
use crate::error::{Error, Result};
use crate::limits::{CHANGE_RETENTION_OF_NEW_STORES, OPEN_TIME_MAX};
use crate::server::{
    Access, AccessOptions, AllowedOrigins, Metrics, OpenStreams, OperationFiles, Origin,
    ServeOptions, StartReport, Tls, Traces, serve,
};
use crate::store::EmbeddedOptions;

pub(crate) async fn run(store: &StoreLocation, arguments: Serve) -> Done {
    // From here on SIGHUP does not end the process, even while the store opens. Files need no
    // reload then, because the server has just read them.
    let _hangup = signal(SignalKind::hangup());
    let endpoint = arguments.otlp_endpoint.as_deref();
    let traces = endpoint.map(Traces::to).transpose();
    let format = arguments.log_format;
    log_to_stderr(format, traces.as_ref().ok().and_then(Option::as_ref));
    let (traces, mut served) = match traces {
        Ok(traces) => (traces, serve_store(store, arguments).await),
        Err(error) => (None, Err(error.into())),
    };
    if let (LogFormat::Json, Err(Ended::Failed(error))) = (format, &served) {
        // Programs that read the log expect nothing but its entries.
        tracing::error!("{error}");
        served = Err(Ended::Told);
    }
    if let Some(traces) = traces {
        traces.end().await;
    }
    served
}

async fn serve_store(store: &StoreLocation, arguments: Serve) -> Done {
    let origins = origins(
        arguments.listen,
        arguments.cors_origins,
        arguments.cors_localhost,
    )?;
    let operations = operations(arguments.operations, arguments.operations_only)?;
    let access = Access::new(AccessOptions {
        token_file: arguments.token_file,
        user_tokens: arguments.user_tokens.options(),
        rules: arguments.rules,
        read_only: arguments.read_only,
    })?;
    let tls = arguments.tls_cert.zip(arguments.tls_key);
    let tls = tls.map(|(certificate, key)| Tls::new(certificate, key));
    let tls = tls.transpose()?;
    check_reach(arguments.listen, &access, tls.is_some(), arguments.insecure)?;
    let cache_bytes = usize::try_from(arguments.cache_mib).unwrap_or(usize::MAX) << 20;
    let embedded = EmbeddedOptions {
        cache_bytes,
        ..EmbeddedOptions::default()
    };
    let retention = arguments.change_retention.map(|Retention(time)| time);
    let of_new = retention.unwrap_or(CHANGE_RETENTION_OF_NEW_STORES);
    let in_log = arguments.log_format == LogFormat::Json;
    let progress = if in_log {
        RecoveryProgress::InLog
    } else {
        RecoveryProgress::OnTerminal
    };
    let database = open_to_serve(store, embedded, of_new, progress).await?;
    if let Some(retention) = retention {
        let deadline = Instant::now() + OPEN_TIME_MAX;
        database.set_change_retention(deadline, retention).await?;
    }
    let options = ServeOptions {
        listen: arguments.listen,
        directory: match store {
            StoreLocation::Directory(directory) => Some(directory.clone()),
            StoreLocation::Cluster(_) => None,
        },
        bounds: make_room(&arguments.limits.into()),
        hosts: arguments.hosts,
        origins,
        operations,
        batch_max: arguments.batch_max,
        introspection: !arguments.no_introspection,
        hints: !arguments.no_hints,
        admin: !arguments.no_admin,
        access,
        tls,
        metrics: Metrics::default(),
        start_report: StartReport {
            store: store.absolute(),
            in_log,
        },
        streams: OpenStreams::default(),
    };
    serve(database, options).await?;
    Ok(())
}

/// Checks whether the server may listen on a non-loopback address. It requires tokens, rules or an
/// explicit `--insecure`.
fn check_reach(listen: SocketAddr, access: &Access, tls: bool, insecure: bool) -> Result<()> {
    if listen.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    if access.is_limited() {
        if access.asks_for_token() && !tls {
            tracing::warn!(
                "tokens and documents are sent in clear text on {listen}, unless a proxy in front \
                 of this server terminates TLS: see --tls-cert and --tls-key"
            );
        }
        return Ok(());
    }
    if insecure {
        tracing::warn!("everyone who can reach {listen} can read and change all data");
        return Ok(());
    }
    Err(Error::bad_input(format!(
        "{listen} is not a loopback address, and everyone who can reach it could read and change \
         all data: require tokens with --token-file, limit access with --rules, allow this with --insecure, or listen on \
         127.0.0.1"
    )))
}

/// The origins whose pages may send requests. All local ones are allowed on a loopback address only: on
/// another, they are those of the machines of everybody who can reach the server.
fn origins(listen: SocketAddr, listed: Vec<Origin>, local: bool) -> Result<AllowedOrigins> {
    if local && !listen.ip().to_canonical().is_loopback() {
        return Err(Error::bad_input(format!(
            "--cors-localhost is for development and needs a loopback address, and {listen} is not \
             one: listen on 127.0.0.1, or name each origin with --cors-origin"
        )));
    }
    if local {
        tracing::warn!(
            "pages of every web server on this machine may send requests (--cors-localhost): for \
             development only"
        );
    }
    Ok(AllowedOrigins::new(listed, local))
}

fn operations(files: Vec<PathBuf>, only: bool) -> Result<Option<OperationFiles>> {
    let read = (!files.is_empty()).then(|| OperationFiles::new(files, only));
    read.transpose()
}

/// Writes the log to standard error and collects traces.
fn log_to_stderr(format: LogFormat, traces: Option<&Traces>) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let registry = tracing_subscriber::registry();
    // This fails only if the embedding program has set a subscriber, which then stays.
    let _set = match traces {
        Some(traces) => registry
            .with(log_lines(format).with_filter(filter))
            .with(traces.layer())
            .try_init(),
        // A filter of all layers costs less for each request than one of a single layer.
        None => registry.with(filter).with(log_lines(format)).try_init(),
    };
}

fn log_lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .boxed(),
    }
}
