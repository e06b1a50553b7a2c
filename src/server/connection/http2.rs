//! HTTP/2 (RFC 9113), within the limits that HTTP/1.1 has.
//!
//! A request is a stream. The timeouts of connections hold for each stream: that of the body is in
//! the handler, that of the response in [`super::stream_timeout`]. A connection without a stream is
//! idle. WebSockets use HTTP/1.1: without extended CONNECT (RFC 8441), browsers open another
//! connection for them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::RETRY_AFTER;
use axum::http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::caller_slot::{CallerSlot, Rights};
use super::served::Served;
use super::stream_timeout::{SentBody, TimedStream, sent, sent_to};
use crate::budget::Sliced;
use crate::error::{Error, Limit};
use crate::graphql::GraphQl;
use crate::limits::{
    Bounds, HTTP2_FAREWELL_TIME, HTTP2_HEADER_BYTES_MAX, HTTP2_RESETS_MAX, HTTP2_WINDOW_BYTES,
    SENT_BYTES_AT_A_TIME,
};
use crate::server::response::json::{response, with};
use crate::server::response::media::Media;

/// The permits of open requests, for all HTTP/2 connections together. Without them a connection
/// would hold the memory of many.
pub(super) fn permits_for_requests(bounds: &Bounds) -> Arc<Semaphore> {
    let permits = bounds.connections.min(Semaphore::MAX_PERMITS);
    Arc::new(Semaphore::new(permits))
}

/// Serves the requests of a connection.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    mut served: Served,
) {
    let bounds = served.bounds.clone();
    let open = Arc::new(OpenRequests::default());
    let asks_for_token = served.rights.is_some();
    let executor = StreamExecutor {
        open: open.clone(),
        send_time: bounds.send_time,
        rights: served.rights,
    };
    let streams_max = u32::try_from(bounds.connection_requests).unwrap_or(u32::MAX);
    let service = RequestService {
        router: TowerToHyperService::new(served.router),
        permits: served.requests,
        requests_max: bounds.connections,
        asks_for_token,
    };
    let connection = http2::Builder::new(executor)
        .timer(TokioTimer::new())
        .max_concurrent_streams(streams_max)
        .max_header_list_size(HTTP2_HEADER_BYTES_MAX)
        .max_pending_accept_reset_streams(HTTP2_RESETS_MAX)
        .max_local_error_reset_streams(HTTP2_RESETS_MAX)
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .max_send_buf_size(SENT_BYTES_AT_A_TIME)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = served.stop.stopped() => None,
        () = open.idle(bounds.header_time, bounds.idle_time) => None,
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        // Accepts what was sent before the client learns of it. A client that does not answer is
        // not waited for.
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = open.idle(HTTP2_FAREWELL_TIME, HTTP2_FAREWELL_TIME) => Ok(()),
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

/// The open requests of a connection.
#[derive(Default)]
struct OpenRequests(Mutex<Activity>);

#[derive(Clone, Copy, Default)]
struct Activity {
    /// Requests that are open now.
    open: usize,
    /// When the last request ended. `None` if none did.
    ended: Option<Instant>,
}

impl OpenRequests {
    fn change(&self, change: impl FnOnce(&mut Activity)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn activity(&self) -> Activity {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no request was open for some time: `first` from now if there was none yet, else
    /// `later` from the end of the last one.
    async fn idle(&self, first: Duration, later: Duration) {
        let begun = Instant::now();
        loop {
            let now = Instant::now();
            let over = match self.activity() {
                Activity { open: 1.., .. } => now + later,
                Activity { ended: None, .. } => begun + first,
                Activity {
                    ended: Some(ended), ..
                } => ended.max(begun) + later,
            };
            if over <= now {
                return;
            }
            sleep_until(over).await;
        }
    }
}

/// Counts a request as open until it is dropped.
struct OpenRequest(Arc<OpenRequests>);

impl OpenRequest {
    fn new(open: &Arc<OpenRequests>) -> Self {
        open.change(|activity| activity.open += 1);
        Self(open.clone())
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.change(|activity| {
            activity.open -= 1;
            activity.ended = Some(Instant::now());
        });
    }
}

/// Runs each stream of a connection as a task.
#[derive(Clone)]
struct StreamExecutor {
    open: Arc<OpenRequests>,
    send_time: Duration,
    rights: Option<Arc<dyn Rights>>,
}

impl<F: Future + Send + 'static> Executor<F> for StreamExecutor {
    fn execute(&self, stream: F) {
        let request = OpenRequest::new(&self.open);
        let stream = TimedStream::new(stream, self.send_time, self.rights.clone());
        tokio::spawn(Sliced::new(async move {
            stream.await;
            drop(request);
        }));
    }
}

/// Passes requests to the router, as many at the same time as there are permits.
#[derive(Clone)]
struct RequestService {
    router: TowerToHyperService<Router>,
    permits: Arc<Semaphore>,
    requests_max: usize,
    asks_for_token: bool,
}

/// What a stream holds until its response was sent.
type Answering = Pin<Box<dyn Future<Output = Result<Response<SentBody>, Infallible>> + Send>>;

impl Service<Request<Incoming>> for RequestService {
    type Response = Response<SentBody>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, mut request: Request<Incoming>) -> Answering {
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            let response = Ok(too_many(self.requests_max));
            return Box::pin(async move { sent(response, None) });
        };
        let caller = self.asks_for_token.then(CallerSlot::default);
        if let Some(caller) = &caller {
            request.extensions_mut().insert(caller.clone());
        }
        let answer = self.router.call(request);
        Box::pin(async move {
            let answer = answer.await;
            if let Some(caller) = caller {
                sent_to(caller);
            }
            sent(answer, Some(permit))
        })
    }
}

/// Builds the response to a request over the limit of the server.
fn too_many(requests_max: usize) -> Response<Body> {
    let message = format!(
        "{requests_max} requests of HTTP/2 connections are open, which is the limit: try later"
    );
    let error = Error::unavailable(message, "").with_limit(Limit::new("connections", requests_max));
    let body = GraphQl::refuse(&error);
    let response = response(Media::Json, StatusCode::SERVICE_UNAVAILABLE, body);
    with(response, RETRY_AFTER, "1")
}
