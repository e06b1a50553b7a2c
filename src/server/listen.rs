//! Connections: accepted up to a limit, given a time to send their heads, and let finish at the
//! end.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::patience::Patient;
use crate::error::{Error, Result};
use crate::limits::{Bounds, STOP_TIME_MAX};

/// Begins to listen.
///
/// # Errors
/// `UNAVAILABLE`: another program listens there, or the address is none of this machine.
pub(super) async fn bind(address: SocketAddr) -> Result<TcpListener> {
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

/// Serves connections until `stop`, then lets what was accepted be answered.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    serve_bounded(listener, router, &Bounds::DEFAULT, stop).await;
}

/// As [`serve`], with bounds on connections and on the time for a head.
pub(super) async fn serve_bounded(
    listener: TcpListener,
    router: Router,
    bounds: &Bounds,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(bounds.connections));
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, place) = accepted;
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(bounds.header_time)
            .serve_connection(
                TokioIo::new(Patient::new(stream, bounds.send_time)),
                service,
            );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("a connection ended: {error}");
            }
            drop(place);
        });
    }
    drop(listener);
    if timeout(STOP_TIME_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopped with requests unanswered after {STOP_TIME_MAX:?}");
    }
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
