//! What can be said of a server.

#![expect(clippy::doc_markdown, reason = "the comments are read in a terminal")]

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::bounds::LimitArguments;
use crate::error::{Error, Result};
use crate::server::{Host, Origin};

/// Serve the store over HTTP and GraphQL
///
/// The store is made if there is none. The server stops on SIGINT and SIGTERM, once what it has
/// accepted is answered. It logs to standard error; RUST_LOG says how much (for example
/// RUST_LOG=info,phyllo::request=debug for a line about each request).
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
    /// A name by which clients know the server, such as `db.example`; can be given several times
    /// (in the variable with commas). Requests to other names are refused; where it listens on
    /// loopback, also without this flag, but for localhost
    #[arg(
        long = "host",
        value_name = "NAME",
        env = "PHYLLO_HOSTS",
        value_delimiter = ','
    )]
    pub(crate) hosts: Vec<Host>,
    /// An origin, such as `https://app.example`, whose pages may send requests from a browser; can
    /// be given several times (in the variable with commas). Without, only pages of the server
    /// itself may
    #[arg(
        long = "cors-origin",
        value_name = "ORIGIN",
        env = "PHYLLO_CORS_ORIGINS",
        value_delimiter = ','
    )]
    pub(crate) cors_origins: Vec<Origin>,
    /// Take batches, which are JSON arrays of requests, of so many at most
    #[arg(long, value_name = "REQUESTS", value_parser = parse_positive)]
    pub(crate) batch_max: Option<usize>,
    /// Refuse queries for the schema (__schema, __type), which the page at / needs to complete
    /// and explain; a gateway's _service and /schema.graphql are answered all the same
    #[arg(long)]
    pub(crate) no_introspection: bool,
    /// Leave the mutations that make and drop indexes and drop collections out of the schema; the
    /// command line has them all the same
    #[arg(long)]
    pub(crate) no_admin: bool,
    /// Let in only those who send a token of this file, as `Authorization: Bearer …`. A line is a
    /// comment that begins with #, or a name for the log, read-only or read-write, and the token:
    /// "importer read-write a9LhE4uGd1PsXo6QiVrBtM". The file is read anew when it changes
    #[arg(long, value_name = "FILE", env = "PHYLLO_TOKEN_FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Refuse mutations, whoever sends them, and build no index. Commands on this machine, such as
    /// an import, go on
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Speak HTTPS, with this certificate and its chain (PEM); read anew when it changes
    #[arg(
        long,
        value_name = "FILE",
        env = "PHYLLO_TLS_CERT",
        requires = "tls_key"
    )]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(
        long,
        value_name = "FILE",
        env = "PHYLLO_TLS_KEY",
        requires = "tls_cert"
    )]
    pub(crate) tls_key: Option<PathBuf>,
    /// Listen on an address that others can reach although everybody may then read and change
    /// everything: there is no --token-file
    #[arg(long, env = "PHYLLO_INSECURE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) insecure: bool,
    /// How the log is written to standard error
    #[arg(long, value_enum, value_name = "FORMAT", env = "PHYLLO_LOG_FORMAT", default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// Send traces to the OpenTelemetry collector there, by OTLP over plain HTTP, such as
    /// http://127.0.0.1:4318; each shows what a request read of the store
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    pub(crate) otlp_endpoint: Option<String>,
    /// Memory for pages of the store's file, in MiB; a cluster has none here
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cache_mib: u32,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines to read
    Text,
    /// A JSON object a line
    Json,
}

fn parse_positive(text: &str) -> Result<usize> {
    let number = text.parse::<NonZeroUsize>();
    let number = number.map_err(|error| Error::bad_input(error.to_string()))?;
    Ok(number.get())
}
