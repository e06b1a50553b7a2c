//! Accepts connections up to a limit, serves them, and drains them on shutdown.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::caller_slot::Rights;
use super::http2::permits_for_requests;
use super::protocol::{serve_plain, serve_tls};
use super::served::{Served, Stopping};
use super::tls::Tls;
use super::write_timeout::TimedWrites;
use crate::budget::Pool;
use crate::error::{Error, Result};
use crate::limits::{Bounds, SEND_BUFFER_BYTES, STOP_TIME_MAX};
use crate::server::observe::metrics::counters::Metrics;

/// Binds the listening socket.
///
/// # Errors
/// `UNAVAILABLE`: the address is in use or cannot be bound.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AddrInUse => {
                "the address is in use; choose another port with --listen".to_owned()
            }
            _ => error.to_string(),
        };
        Error::unavailable(format!("cannot listen on {address}: {why}"), "")
    })
}

/// Serves connections without TLS until `stop`, then finishes the requests in flight.
pub async fn serve_connections(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let options = ListenerOptions {
        bounds: Bounds::DEFAULT,
        pool: Pool::new(Bounds::DEFAULT.held_bytes),
        rights: None,
        tls: None,
        metrics: Metrics::default(),
    };
    serve(listener, options, router, stop).await;
}

/// The settings that apply to every connection.
pub(crate) struct ListenerOptions {
    pub(crate) bounds: Bounds,
    /// The memory that all requests hold.
    pub(crate) pool: Pool,
    /// Who may read responses. `None` if everybody may.
    pub(crate) rights: Option<Arc<dyn Rights>>,
    /// `None` for plain HTTP.
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Metrics,
}

/// Serves connections until `stop`, then finishes the requests in flight.
pub(crate) async fn serve(
    listener: TcpListener,
    options: ListenerOptions,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let permits = Arc::new(Semaphore::new(options.bounds.connections));
    let requests = permits_for_requests(&options.bounds);
    let bounds = Arc::new(options.bounds);
    let stopping = watch::Sender::new(false);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let (stream, permit) = accepted;
        let held = (permit, options.metrics.connection());
        let stream = TimedWrites::new(stream, options.bounds.send_time, held);
        let served = Served {
            router: router.clone(),
            rights: options.rights.clone(),
            pool: options.pool.clone(),
            bounds: bounds.clone(),
            requests: requests.clone(),
            stop: Stopping::new(stopping.subscribe()),
        };
        match options.tls.clone() {
            None => tokio::spawn(serve_plain(stream, served)),
            Some(tls) => tokio::spawn(serve_tls(tls, stream, served)),
        };
    }
    drop(listener);
    stopping.send_replace(true);
    if timeout(STOP_TIME_MAX, stopping.closed()).await.is_err() {
        tracing::warn!("shutdown timed out after {STOP_TIME_MAX:?} with requests in flight");
    }
}

/// Accepts the next connection once fewer than the maximum are open.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    let permit = permits
        .clone()
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Responses are written as a whole, so delaying packets gains nothing.
                let _delayed = stream.set_nodelay(true);
                // Without the limit, a client is only served with less precise timeouts.
                let _unlimited = set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES);
                return (stream, permit);
            }
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
