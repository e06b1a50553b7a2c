//! Resets streams of HTTP/2 whose clients read responses too slowly. The timeout of the connection
//! does not see them, because a client can read the connection and give one stream no window.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Response;
use futures::future::BoxFuture;
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep_until};

use super::caller_slot::{CallerSlot, Rights, revoked};

tokio::task_local! {
    /// The progress of the response of the stream that is polled.
    static PROGRESS: Arc<ResponseProgress>;
}

/// Whether a response waits for its client.
#[derive(Default)]
struct ResponseProgress {
    /// Since when data waits to be sent. `None` while the body has no data.
    waiting: Mutex<Option<Instant>>,
    /// The sender of the request, once there is a response.
    caller: OnceLock<CallerSlot>,
}

impl ResponseProgress {
    fn set(&self, waiting: Option<Instant>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
    }

    fn waiting(&self) -> Option<Instant> {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream of HTTP/2: a request and its response. It ends, which resets it, if the client does not
/// take a piece of the response in time.
pub(super) struct TimedStream<F> {
    stream: Pin<Box<F>>,
    progress: Arc<ResponseProgress>,
    send_time: Duration,
    over: Option<Pin<Box<Sleep>>>,
    rights: Option<Arc<dyn Rights>>,
    /// Completes when the sender of the request loses its right to the response.
    revoked: Option<BoxFuture<'static, ()>>,
}

impl<F: Future> TimedStream<F> {
    pub(super) fn new(stream: F, send_time: Duration, rights: Option<Arc<dyn Rights>>) -> Self {
        Self {
            stream: Box::pin(stream),
            progress: Arc::default(),
            send_time,
            over: None,
            rights,
            revoked: None,
        }
    }
}

impl<F: Future> Future for TimedStream<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let stream = this.stream.as_mut();
        let polled = PROGRESS.sync_scope(this.progress.clone(), || stream.poll(context));
        if polled.is_ready() {
            return Poll::Ready(());
        }
        if this.revoked.is_none()
            && let Some(caller) = this.progress.caller.get()
        {
            this.revoked = Some(revoked(Some(caller.clone()), this.rights.clone()));
        }
        if let Some(revoked) = &mut this.revoked
            && revoked.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(());
        }
        let Some(since) = this.progress.waiting() else {
            this.over = None;
            return Poll::Pending;
        };
        let at = since + this.send_time;
        let over = this.over.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if over.deadline() != at {
            over.as_mut().reset(at);
        }
        let ended = over.as_mut().poll(context);
        if ended.is_ready() {
            tracing::debug!("a stream ended: its client did not read the response in time");
        }
        ended
    }
}

/// Tells the stream that is polled to whom its response is sent.
pub(super) fn sent_to(caller: CallerSlot) {
    // Without a stream, nothing ends it.
    let _set = PROGRESS.try_with(|progress| progress.caller.set(caller));
}

/// The body of a response that records its progress. It is polled again only when the client has a
/// window for the data before, also after the last data. So its memory counts until then.
pub(super) struct SentBody {
    body: Body,
    progress: Option<Arc<ResponseProgress>>,
    /// Whether data was taken.
    begun: bool,
    /// The permit to have an open request.
    _permit: Option<OwnedSemaphorePermit>,
}

impl SentBody {
    /// Wraps the body of the response of the stream that is polled.
    fn new(body: Body, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            body,
            _permit: permit,
            progress: PROGRESS.try_with(Arc::clone).ok(),
            begun: false,
        }
    }
}

impl HttpBody for SentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let data = matches!(frame, Poll::Ready(Some(_)));
        self.begun |= data;
        if let Some(progress) = &self.progress {
            progress.set(data.then(Instant::now));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        !self.begun && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Wraps the body of a response, which holds the permit of its request.
pub(super) fn sent(
    response: Result<Response<Body>, Infallible>,
    permit: Option<OwnedSemaphorePermit>,
) -> Result<Response<SentBody>, Infallible> {
    response.map(|response| response.map(|body| SentBody::new(body, permit)))
}
