//! What serves a connection, whatever its version of HTTP.

use std::sync::Arc;

use axum::Router;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::caller_slot::Rights;
use crate::budget::Pool;
use crate::limits::Bounds;
use crate::server::observe::metrics::counters::GaugeGuard;

/// The place of a connection among those that are served, and its count.
pub(super) type Held = (OwnedSemaphorePermit, GaugeGuard);

/// What serves a connection.
pub(super) struct Served {
    pub(super) router: Router,
    /// Who may read responses. `None` if everybody may.
    pub(super) rights: Option<Arc<dyn Rights>>,
    /// The memory that all requests hold.
    pub(super) pool: Pool,
    /// Shared, because each connection keeps what it was given.
    pub(super) bounds: Arc<Bounds>,
    /// Permits of open requests, for all HTTP/2 connections together.
    pub(super) requests: Arc<Semaphore>,
    pub(super) stop: Stopping,
}

/// Whether the server stops. It waits for connections that have one.
pub(super) struct Stopping(watch::Receiver<bool>);

impl Stopping {
    pub(super) fn new(stopping: watch::Receiver<bool>) -> Self {
        Self(stopping)
    }

    pub(super) async fn stopped(&mut self) {
        // An error means that the sender, and so the server, is gone.
        let _stop = self.0.wait_for(|stop| *stop).await;
    }
}
