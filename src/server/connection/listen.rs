//! Accepts connections up to a limit, serves them, and drains them on shutdown.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;

use super::header_timeout::{HeadTimes, timed};
use super::tls::Tls;
use super::write_timeout::Patient;
use crate::error::{Error, Result};
use crate::limits::{Bounds, STOP_TIME_MAX};
use crate::server::observe::metrics::counters::{GaugeGuard, Metrics};

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
    let door = Door {
        bounds: Bounds::DEFAULT,
        tls: None,
        metrics: Metrics::default(),
    };
    serve(listener, door, router, stop).await;
}

/// The settings that apply to every connection.
pub(crate) struct Door {
    pub(crate) bounds: Bounds,
    /// `None` for plain HTTP.
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Metrics,
}

/// The place of a connection among those that are served, and its count.
type Held = (OwnedSemaphorePermit, GaugeGuard);

/// Serves connections until `stop`, then finishes the requests in flight.
pub(crate) async fn serve(
    listener: TcpListener,
    door: Door,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(door.bounds.connections));
    let stopping = watch::Sender::new(false);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, place) = accepted;
        let held = (place, door.metrics.connection());
        let stream = Patient::new(stream, door.bounds.send_time, held);
        let (router, stop) = (router.clone(), Stopping(stopping.subscribe()));
        let times = HeadTimes {
            head: door.bounds.header_time,
            idle: door.bounds.idle_time,
        };
        let tls = door.tls.clone();
        tokio::spawn(async move {
            match tls {
                None => answer(stream, router, times, stop).await,
                // Boxed, so that plain connections do not reserve memory for TLS.
                Some(tls) => Box::pin(answer_by_tls(tls, stream, router, times, stop)).await,
            }
        });
    }
    drop(listener);
    stopping.send_replace(true);
    if timeout(STOP_TIME_MAX, stopping.closed()).await.is_err() {
        tracing::warn!("shutdown timed out after {STOP_TIME_MAX:?} with requests in flight");
    }
}

/// Serves the requests of one connection.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    times: HeadTimes,
    mut stop: Stopping,
) {
    let (stream, timer) = timed(stream, times);
    let connection = http1::Builder::new()
        .timer(timer)
        .header_read_timeout(times.head)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

/// Whether the server stops. It waits for connections that have one.
struct Stopping(watch::Receiver<bool>);

impl Stopping {
    async fn stopped(&mut self) {
        // An error means that the sender, and so the server, is gone.
        let _stop = self.0.wait_for(|stop| *stop).await;
    }
}

/// Serves the requests of one connection after the TLS handshake.
async fn answer_by_tls(
    tls: Tls,
    stream: Patient<TcpStream, Held>,
    router: Router,
    times: HeadTimes,
    stop: Stopping,
) {
    match greet(&tls, stream, times.head).await {
        Ok(stream) => answer(stream, router, times, stop).await,
        Err(error) => tracing::debug!("a TLS handshake failed: {error}"),
    }
}

/// Performs the TLS handshake, within the time limit for a request head.
async fn greet(
    tls: &Tls,
    stream: Patient<TcpStream, Held>,
    head_time: Duration,
) -> io::Result<TlsStream<Patient<TcpStream, Held>>> {
    let agreed = timeout(head_time, tls.acceptor().accept(stream)).await;
    agreed.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// Accepts the next connection once fewer than the maximum are open.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    let place = places.clone().acquire_owned().await;
    let place = place.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Responses are written as a whole, so delaying packets gains nothing.
                let _delayed = stream.set_nodelay(true);
                return (stream, place);
            }
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
