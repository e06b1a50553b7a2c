//! Connections: accepted up to a limit, given a time to send their heads, and let finish at the
//! end.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;

use super::header_timeout::{HeadTimes, timed};
use super::tls::Tls;
use super::write_timeout::Patient;
use crate::error::{Error, Result};
use crate::limits::{Bounds, STOP_TIME_MAX};
use crate::server::observe::metrics::counters::Metrics;

/// Begins to listen.
///
/// # Errors
/// `UNAVAILABLE`: another program listens there, or the address is none of this machine.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AddrInUse => {
                "another program listens there; choose another port with --listen".to_owned()
            }
            _ => error.to_string(),
        };
        Error::unavailable(format!("cannot listen on {address}: {why}"), "")
    })
}

/// Serves connections in the clear until `stop`, then lets what was accepted be answered.
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

/// What a connection passes before it is served.
pub(crate) struct Door {
    pub(crate) bounds: Bounds,
    /// None for plain HTTP.
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Metrics,
}

/// Serves connections until `stop`, then lets what was accepted be answered.
pub(crate) async fn serve(
    listener: TcpListener,
    door: Door,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(door.bounds.connections));
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, place) = accepted;
        let stream = Patient::new(stream, door.bounds.send_time);
        let (router, watcher) = (router.clone(), graceful.watcher());
        let times = HeadTimes {
            head: door.bounds.header_time,
            idle: door.bounds.idle_time,
        };
        let tls = door.tls.clone();
        let counted = door.metrics.connection();
        tokio::spawn(async move {
            match tls {
                None => answer(stream, router, times, watcher).await,
                // Boxed, so that connections in the clear need not carry its room.
                Some(tls) => Box::pin(answer_by_tls(tls, stream, router, times, watcher)).await,
            }
            drop((place, counted));
        });
    }
    drop(listener);
    if timeout(STOP_TIME_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopped with requests unanswered after {STOP_TIME_MAX:?}");
    }
}

/// Answers what comes over one connection.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    times: HeadTimes,
    watcher: Watcher,
) {
    let (stream, timer) = timed(stream, times);
    let connection = http1::Builder::new()
        .timer(timer)
        .header_read_timeout(times.head)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!("a connection ended: {error}");
    }
}

/// Answers what comes over one connection once TLS is agreed on.
async fn answer_by_tls(
    tls: Tls,
    stream: Patient<TcpStream>,
    router: Router,
    times: HeadTimes,
    watcher: Watcher,
) {
    match greet(&tls, stream, times.head).await {
        Ok(stream) => answer(stream, router, times, watcher).await,
        Err(error) => tracing::debug!("a connection did not come to TLS: {error}"),
    }
}

/// Agrees on TLS, in the time that there is for the head of a request.
async fn greet(
    tls: &Tls,
    stream: Patient<TcpStream>,
    head_time: Duration,
) -> io::Result<TlsStream<Patient<TcpStream>>> {
    let agreed = timeout(head_time, tls.acceptor().accept(stream)).await;
    agreed.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// The next connection, when there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, tokio::sync::OwnedSemaphorePermit) {
    let place = places.clone().acquire_owned().await;
    let place = place.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Answers are small and complete: they gain nothing by waiting for more.
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
