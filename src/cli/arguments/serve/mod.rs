//! The arguments of `phyllo serve`.

#![expect(clippy::doc_markdown, reason = "the comments are read in a terminal")]

pub(crate) mod bounds;
pub(crate) mod units;
pub(crate) mod user_tokens;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use bounds::LimitArguments;
use clap::{Args, ValueEnum};
use units::Retention;
use user_tokens::UserTokenArguments;

use super::location::file_path;
use crate::error::{Error, Result};
use crate::server::{Host, Origin};

/// Serve the store over HTTP and GraphQL
///
/// The store is created if it does not exist. On SIGINT or SIGTERM, the server finishes the
/// accepted requests and stops. It logs to standard error. RUST_LOG sets the log level (for example
/// RUST_LOG=info,phyllo::request=debug for a line for each request).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo serve
  phyllo serve --store /var/lib/phyllo --listen 0.0.0.0:8443 --token-file tokens \
      --tls-cert cert.pem --tls-key key.pem
  phyllo serve --store fdb:/etc/foundationdb/fdb.cluster")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Serve {
    /// The address and port to listen on
    #[arg(
        long,
        value_name = "ADDR:PORT",
        env = "PHYLLO_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    pub(crate) listen: SocketAddr,
    /// A host name of the server, such as `db.example`; repeatable (comma-separated in the
    /// variable). Requests for other hosts are rejected. On a loopback address they are also
    /// rejected without this flag, except for localhost
    #[arg(
        long = "host",
        value_name = "NAME",
        env = "PHYLLO_HOSTS",
        value_delimiter = ','
    )]
    pub(crate) hosts: Vec<Host>,
    /// An origin, such as `https://app.example`, whose pages may send requests from a browser;
    /// repeatable (comma-separated in the variable). By default, only the server's own pages may
    #[arg(
        long = "cors-origin",
        value_name = "ORIGIN",
        env = "PHYLLO_CORS_ORIGINS",
        value_delimiter = ','
    )]
    pub(crate) cors_origins: Vec<Origin>,
    /// For development: allow pages of every web server on this machine (http and https, localhost and
    /// loopback addresses, any port). Only with --listen on a loopback address
    #[arg(long)]
    pub(crate) cors_localhost: bool,
    /// List the operations of this manifest, which clients can send by `documentId` alone: a JSON file as
    /// the tools of Apollo, Relay and GraphQL Code Generator write it; repeatable. The files are reloaded
    /// when they change
    #[arg(long, value_name = "FILE", value_parser = file_path())]
    pub(crate) operations: Vec<PathBuf>,
    /// Reject all operations that are not listed by --operations, also introspection and those of the page
    /// at /
    #[arg(long, requires = "operations")]
    pub(crate) operations_only: bool,
    /// Accept batches (JSON arrays of requests) with at most this number of requests
    #[arg(long, value_name = "REQUESTS", value_parser = parse_positive)]
    pub(crate) batch_max: Option<usize>,
    /// Reject introspection queries (__schema, __type), which the page at / needs for completion
    /// and documentation; a gateway's _service and /schema.graphql still work
    #[arg(long)]
    pub(crate) no_introspection: bool,
    /// Leave out extensions.hints of responses, which names mistakes that can explain an empty result
    #[arg(long)]
    pub(crate) no_hints: bool,
    /// Omit the mutations that define indexes and types, and drop collections, from the schema; the
    /// commands for these still work
    #[arg(long)]
    pub(crate) no_admin: bool,
    /// Require a token from this file, sent as `Authorization: Bearer …`. A line is a comment that
    /// begins with #, or a name for the log, read-only or read-write, and the token: "importer
    /// read-write a9LhE4uGd1PsXo6QiVrBtM". The file is reloaded when it changes
    #[arg(
        long,
        value_name = "FILE",
        env = "PHYLLO_TOKEN_FILE",
        value_parser = file_path()
    )]
    pub(crate) token_file: Option<PathBuf>,
    /// Allow only what the rules of this file allow (TOML, docs/access.md); commands on this machine can
    /// still do everything. The file is reloaded when it changes. `phyllo rules check` checks it
    #[arg(
        long,
        value_name = "FILE",
        env = "PHYLLO_RULES",
        value_parser = file_path()
    )]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) user_tokens: UserTokenArguments,
    /// Reject all mutations and build no indexes. Commands on this machine, such as an import, can
    /// still write
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Serve HTTPS with this certificate chain (PEM); reloaded when it changes
    #[arg(
        long,
        value_name = "FILE",
        env = "PHYLLO_TLS_CERT",
        requires = "tls_key",
        value_parser = file_path()
    )]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(
        long,
        value_name = "FILE",
        env = "PHYLLO_TLS_KEY",
        requires = "tls_cert",
        value_parser = file_path()
    )]
    pub(crate) tls_key: Option<PathBuf>,
    /// Set the time for which the change log of the store keeps changes, which subscriptions need;
    /// 0 switches the log off. The setting belongs to the store: without this flag it stays as it
    /// is, and a new store keeps changes for 1h
    #[arg(long, value_name = "TIME", env = "PHYLLO_CHANGE_RETENTION")]
    pub(crate) change_retention: Option<Retention>,
    /// Allow listening on a non-loopback address without tokens and rules, so that everyone who can
    /// reach it can read and change all data
    #[arg(long, env = "PHYLLO_INSECURE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) insecure: bool,
    /// The format of the log on standard error
    #[arg(long, value_enum, value_name = "FORMAT", env = "PHYLLO_LOG_FORMAT", default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// Export traces to this OpenTelemetry collector by OTLP over plain HTTP, for example
    /// http://127.0.0.1:4318; each trace shows what a request read from the store
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    pub(crate) otlp_endpoint: Option<String>,
    /// Memory for cached pages of the store's file, in MiB; ignored for a cluster
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cache_mib: u32,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text lines
    Text,
    /// One JSON object per line
    Json,
}

fn parse_positive(text: &str) -> Result<usize> {
    let number = text.parse::<NonZeroUsize>();
    let number = number.map_err(|error| Error::bad_input(error.to_string()))?;
    Ok(number.get())
}
