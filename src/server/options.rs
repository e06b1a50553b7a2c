//! How a server serves.

use super::access::Access;
use super::access::cors::Origin;
use super::access::host::Host;
use super::connection::tls::Tls;
use super::observe::metrics::counters::Metrics;
use crate::limits::Bounds;
use std::net::SocketAddr;
use std::path::PathBuf;

/// How a server serves.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where it listens. Port 0 is any that is free.
    pub listen: SocketAddr,
    /// The store's directory, where the local socket for the command line goes; none if the store
    /// has no directory.
    pub directory: Option<PathBuf>,
    /// What clients may ask for.
    pub bounds: Bounds,
    /// The names by which clients may know the server; none if any will do.
    pub hosts: Vec<Host>,
    /// The origins whose pages may send requests.
    pub cors_origins: Vec<Origin>,
    /// The requests of a batch, at most; none if batches are refused.
    pub batch_max: Option<usize>,
    /// Whether queries may ask for the schema.
    pub introspection: bool,
    /// Whether clients may make and drop indexes and drop collections.
    pub admin: bool,
    /// Who may come in, and what they may do.
    pub access: Access,
    /// What the server proves itself with; none if it speaks plain HTTP.
    pub tls: Option<Tls>,
    /// What it counts.
    pub metrics: Metrics,
}

impl ServeOptions {
    /// The defaults, on a given address.
    pub fn on(listen: SocketAddr) -> Self {
        Self {
            listen,
            directory: None,
            bounds: Bounds::DEFAULT,
            hosts: Vec::new(),
            cors_origins: Vec::new(),
            batch_max: None,
            introspection: true,
            admin: true,
            access: Access::default(),
            tls: None,
            metrics: Metrics::default(),
        }
    }
}
