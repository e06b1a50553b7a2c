//! The options of a server.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::access::Access;
use super::access::cors::AllowedOrigins;
use super::access::host::Host;
use super::access::operation_files::OperationFiles;
use super::connection::tls::Tls;
use super::observe::metrics::counters::Metrics;
use super::streaming::open_streams::OpenStreams;
use crate::limits::Bounds;

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// The store's directory, which contains the local socket. `None` if the store has no
    /// directory.
    pub directory: Option<PathBuf>,
    /// The limits on requests.
    pub bounds: Bounds,
    /// The accepted host names. If empty, a server on a loopback address accepts only local names,
    /// and a server on another address accepts any name.
    pub hosts: Vec<Host>,
    /// The origins whose pages may send requests.
    pub origins: AllowedOrigins,
    /// The operations that clients can send by id. Only [`serve`](super::serve) loads them.
    pub operations: Option<OperationFiles>,
    /// The maximum number of requests in a batch. `None` disables batches.
    pub batch_max: Option<usize>,
    /// Whether introspection queries are allowed.
    pub introspection: bool,
    /// Whether responses to queries have hints.
    pub hints: bool,
    /// Whether clients may create and drop indexes and drop collections.
    pub admin: bool,
    /// Who may send requests, and which.
    pub access: Access,
    /// The certificate and key. `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// The metrics that the server records.
    pub metrics: Metrics,
    /// How the server reports that it has started.
    pub start_report: StartReport,
    /// The open streams, which end when the server stops.
    pub streams: OpenStreams,
}

/// How a server reports that it has started.
#[derive(Clone, Debug, Default)]
pub struct StartReport {
    /// The location of the store.
    pub store: String,
    /// Whether the report is an entry of the log. Otherwise it is text on standard output.
    pub in_log: bool,
}

impl ServeOptions {
    /// The default options for a given address.
    pub fn on(listen: SocketAddr) -> Self {
        Self {
            listen,
            directory: None,
            bounds: Bounds::DEFAULT,
            hosts: Vec::new(),
            origins: AllowedOrigins::default(),
            operations: None,
            batch_max: None,
            introspection: true,
            hints: true,
            admin: true,
            access: Access::default(),
            tls: None,
            metrics: Metrics::default(),
            start_report: StartReport::default(),
            streams: OpenStreams::default(),
        }
    }
}
