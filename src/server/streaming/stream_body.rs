//! The body of an HTTP response that is a stream of responses.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, VARY};
use axum::http::{HeaderValue, Response};
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::unfold;
use tokio::time::{Instant, Sleep, sleep};

use super::open_streams::OpenStream;
use crate::budget::Pool;
use crate::error::Error;
use crate::graphql::{GraphQl, ResponseStream, Started, StreamedResponse};
use crate::limits::SENT_BYTES_AT_A_TIME;
use crate::server::access::Access;
use crate::server::access::caller::Caller;
use crate::server::response::media::StreamMedia;
use crate::server::response::response_body::held;

/// Proxies of the kind of nginx otherwise collect events before they send them.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What a stream needs besides its responses.
pub(crate) struct StreamOptions {
    pub(crate) media: StreamMedia,
    pub(crate) ping_time: Duration,
    pub(crate) pool: Pool,
    pub(crate) access: Access,
    pub(crate) caller: Caller,
    pub(crate) open: OpenStream,
}

/// The responses that are still to be sent.
struct StreamBody {
    options: StreamOptions,
    /// `None` at the end.
    responses: Option<ResponseStream>,
    /// What is sent first.
    pieces: VecDeque<Bytes>,
    clock: Pin<Box<Sleep>>,
    /// Completes when the caller has lost its right to the responses.
    revoked: BoxFuture<'static, Error>,
    /// When something was sent last.
    sent: Instant,
}

/// Builds the response to an operation that was started. Errors before its execution are its only
/// response, because clients of events do not see the body of another status.
pub(crate) fn response(started: Started, options: StreamOptions) -> Response<Body> {
    let responses = match started {
        Started::Responses(responses) => responses,
        Started::Refused(json) => ResponseStream::once(json),
    };
    let media = options.media;
    let (access, caller) = (options.access.clone(), options.caller.clone());
    let body = StreamBody {
        responses: Some(responses),
        pieces: VecDeque::from([media.opening()]),
        clock: Box::pin(sleep(options.ping_time)),
        revoked: access.revoked(caller).boxed(),
        sent: Instant::now(),
        options,
    };
    let pieces = unfold(body, |mut body| async move {
        let piece = body.next().await?;
        Some((Ok::<_, Infallible>(piece), body))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media.content_type());
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-store, no-transform"),
    );
    headers.insert(VARY, HeaderValue::from_static("accept"));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

impl StreamBody {
    /// The next piece of the body. The next response is taken only once the last one was sent.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                self.sent = Instant::now();
                return Some(piece);
            }
            let responses = self.responses.as_mut()?;
            let media = self.options.media;
            tokio::select! {
                biased;
                () = self.options.open.stopped() => {
                    let error = Error::unavailable("the server is shutting down", "");
                    self.end(media.broken(&GraphQl::refuse(&error)));
                }
                // Before the responses, of which there may always be one.
                error = self.revoked.as_mut() => {
                    self.end(media.refused(GraphQl::refuse(&error)));
                }
                () = self.clock.as_mut() => self.time_passed(),
                response = responses.next() => match response {
                    Some(response) => self.respond(response),
                    None => self.end(media.complete()),
                },
            }
        }
    }

    fn respond(&mut self, mut response: StreamedResponse) {
        let pool = &self.options.pool;
        if response.json.len() > SENT_BYTES_AT_A_TIME {
            response.json = held(response.json, pool);
        }
        let pieces = self.options.media.response(response);
        if pieces.iter().map(Bytes::len).sum::<usize>() <= SENT_BYTES_AT_A_TIME {
            self.pieces.push_back(held(pieces.concat().into(), pool));
            return;
        }
        for mut piece in pieces {
            while !piece.is_empty() {
                let bytes = piece.len().min(SENT_BYTES_AT_A_TIME);
                self.pieces.push_back(piece.split_to(bytes));
            }
        }
    }

    fn time_passed(&mut self) {
        let now = Instant::now();
        let due = self.sent + self.options.ping_time;
        if due <= now {
            self.pieces.push_back(self.options.media.heartbeat());
        }
        let next = if due <= now {
            now + self.options.ping_time
        } else {
            due
        };
        self.clock.as_mut().reset(next);
    }

    fn end(&mut self, last: Bytes) {
        self.responses = None;
        self.pieces.push_back(last);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;

    use http_body_util::BodyExt as _;
    use tokio::time::timeout;

    use super::*;
    use crate::server::streaming::fake::FakeSource;
    use crate::server::streaming::open_streams::OpenStreams;

    struct Streamed {
        body: Body,
        source: FakeSource,
        streams: OpenStreams,
        pool: Pool,
    }

    impl Streamed {
        fn new(media: StreamMedia, query: &str, ping_time: Duration) -> Self {
            let (source, streams) = (FakeSource::default(), OpenStreams::default());
            let (access, pool) = (Access::default(), Pool::new(1 << 30));
            let options = StreamOptions {
                media,
                ping_time,
                pool: pool.clone(),
                caller: access.anonymous().expect("no token is required"),
                access,
                open: streams.open(),
            };
            let body = response(source.started(query), options).into_body();
            Self {
                body,
                source,
                streams,
                pool,
            }
        }

        async fn frame(&mut self) -> Option<String> {
            let frame = timeout(Duration::from_secs(60), self.body.frame())
                .await
                .expect("in time")?
                .expect("it cannot fail");
            let data = frame.into_data().expect("data");
            Some(String::from_utf8(data.into()).expect("UTF-8"))
        }

        async fn rest(&mut self) -> String {
            let mut rest = String::new();
            while let Some(frame) = self.frame().await {
                rest += &frame;
            }
            rest
        }
    }

    const LONG: Duration = Duration::from_secs(600);
    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn events_are_sent_and_completed() {
        let mut streamed = Streamed::new(StreamMedia::Events, "three", LONG);
        let mut events = String::new();
        for number in 1..=3 {
            let event = format!("event: next\nid: {number}\ndata: {{\"data\":{number}}}\n\n");
            events.push_str(&event);
        }
        let expected = format!(":\n\n{events}event: complete\ndata: \n\n");
        assert_eq!(streamed.rest().await, expected);
        assert_eq!(streamed.source.open.load(SeqCst), 0);
    }

    #[tokio::test]
    async fn errors_before_the_execution_are_events() {
        let mut streamed = Streamed::new(StreamMedia::Events, "no", LONG);
        let rest = streamed.rest().await;
        let begin = ":\n\nevent: next\ndata: {\"errors\":[{\"message\":\"no\",";
        assert!(rest.starts_with(begin), "{rest}");
        assert!(rest.ends_with("event: complete\ndata: \n\n"), "{rest}");
    }

    #[tokio::test]
    async fn silent_streams_have_heartbeats() {
        for (media, heartbeat) in [
            (StreamMedia::Events, ":\n\n"),
            (
                StreamMedia::Multipart,
                "\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql",
            ),
        ] {
            let mut streamed = Streamed::new(media, "silent", SHORT);
            assert!(streamed.frame().await.is_some());
            for _ in 0..3 {
                assert_eq!(streamed.frame().await.as_deref(), Some(heartbeat));
            }
            assert_eq!(streamed.source.open.load(SeqCst), 1);
            drop(streamed.body);
            assert_eq!(streamed.source.open.load(SeqCst), 0);
        }
    }

    #[tokio::test]
    async fn stopping_ends_streams_so_that_clients_connect_again() {
        for (media, end) in [
            (StreamMedia::Events, ": the server ends the stream\n\n"),
            (StreamMedia::Multipart, "}}]}\r\n--graphql--\r\n"),
        ] {
            let mut streamed = Streamed::new(media, "silent", LONG);
            assert!(streamed.frame().await.is_some());
            streamed.streams.stop();
            let rest = streamed.rest().await;
            assert!(rest.ends_with(end) && !rest.contains("complete"), "{rest}");
            drop(streamed.body);
            streamed.streams.ended().await;
        }
    }

    #[tokio::test]
    async fn large_responses_are_taken_and_held_one_at_a_time() {
        let mut streamed = Streamed::new(StreamMedia::Events, "endless", LONG);
        let (mut bytes, mut held) = (0, false);
        while bytes < 3 << 20 {
            let frame = streamed.frame().await.expect("it is endless").len();
            assert!(frame <= SENT_BYTES_AT_A_TIME);
            bytes += frame;
            held |= streamed.pool.held() > 0;
            assert!(streamed.source.taken.load(SeqCst) <= (bytes >> 20) + 1);
        }
        assert!(held, "a response counts until it was sent");
        drop(streamed.body);
        assert_eq!(streamed.pool.held(), 0);
    }
}
