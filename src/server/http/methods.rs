//! The handlers of `/graphql`, by HTTP method.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header::{ACCEPT_ENCODING, ALLOW, CONNECTION};
use axum::http::{HeaderMap, HeaderName, Request as HttpRequest, Response, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate as _, SizeAbove};

use super::body::{Coding, body};
use super::endpoint::Endpoint;
use super::{batch, cached};
use crate::budget::offload_if_large;
use crate::error::{Error, ErrorKind};
use crate::graphql::{GraphQl, GraphQlResponse, Methods, Posted, Request};
use crate::limits::{COMPRESSED_BYTES_MIN, IDEMPOTENCY_KEY_BYTES_MAX};
use crate::server::access::admission::Admission;
use crate::server::access::caller::Caller;
use crate::server::access::cors::{self, RefusedOrigins};
use crate::server::options::ServeOptions;
use crate::server::response::json::{response, with};
use crate::server::response::media::{Accepted, Media, StreamMedia, is_json};
use crate::server::streaming::source::OperationSource as _;
use crate::server::streaming::stream_body::{self, StreamOptions};
use crate::server::streaming::websocket::handshake::{self, WebSockets};

/// The header of the idempotency key.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The header of the cursor after which a stream is resumed.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Which responses are compressed. In a stream, the encoder would delay events.
type Compressible = And<And<SizeAbove, NotForContentType>, NotForContentType>;

/// Compresses responses with gzip if the client accepts it. The fastest level gives most of the
/// gain for a fraction of the CPU time.
pub(crate) fn compression() -> CompressionLayer<Compressible> {
    let compressible = SizeAbove::new(COMPRESSED_BYTES_MIN)
        .and(NotForContentType::SSE)
        .and(NotForContentType::const_new("multipart/mixed"));
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(compressible)
}

/// Builds the routes of `/graphql`.
pub(crate) fn methods(endpoint: Arc<Endpoint>, options: &ServeOptions) -> MethodRouter {
    // Each request clones the states of its handlers, so each is behind one pointer.
    let sockets = Arc::new(WebSockets {
        source: endpoint.clone(),
        access: options.access.clone(),
        origins: options.origins.clone(),
        bounds: options.bounds,
        pool: endpoint.graphql.pool().clone(),
        streams: options.streams.clone(),
        metrics: options.metrics.clone(),
    });
    let reads = layered(get(by_get).with_state(endpoint.clone()), options)
        .layer(from_fn(cached::completed))
        .layer(from_fn_with_state(
            sockets,
            handshake::upgrade::<Arc<Endpoint>>,
        ));
    // POST does not pass through the layers that only concern GET.
    let others = post(by_post)
        .options(async || (StatusCode::NO_CONTENT, [(ALLOW, cors::METHODS)]))
        .with_state(endpoint);
    reads.merge(layered(others, options))
}

/// Wraps handlers in the middleware for access, compression and CORS.
pub(crate) fn layered(methods: MethodRouter, options: &ServeOptions) -> MethodRouter {
    let admission = Admission::layer(&options.access);
    let refused = RefusedOrigins::layer(&options.origins);
    // One call wraps the handlers once.
    if options.origins.is_empty() {
        return methods.layer((compression(), refused, admission));
    }
    // CORS is outside of `Admission`, so that pages of allowed origins can read its errors.
    let allowing = cors::allowing(&options.origins);
    methods.layer((compression(), admission)).layer((
        from_fn(cors::with_methods),
        refused,
        allowing,
    ))
}

/// Handles GET, which executes no mutations: `?query=…&variables=…&operationName=…`.
pub(crate) async fn by_get(
    State(endpoint): State<Arc<Endpoint>>,
    Extension(mut caller): Extension<Caller>,
    request: HttpRequest<Body>,
) -> Response<Body> {
    let (head, _) = request.into_parts();
    let Some(accepted) = Accepted::of(&head.headers) else {
        return not_acceptable();
    };
    let request = match Request::from_parameters(head.uri.query().unwrap_or_default()) {
        Ok(request) => Request {
            principal: caller.principal.clone(),
            ..request
        },
        Err(error) => return refused(accepted.for_errors(), &error),
    };
    let media = match accepted {
        Accepted::Whole(media) => media,
        Accepted::Stream(media) => {
            caller.methods = Methods::Queries;
            return match last_event_id(&head.headers) {
                Ok(after) => streamed(&endpoint, request, media, after, caller).await,
                Err(error) => refused(accepted.for_errors(), &error),
            };
        }
    };
    match endpoint.execute(request, Methods::Queries).await {
        (GraphQlResponse::Executed(json), false) => {
            let pool = endpoint.graphql.pool();
            let by_token = endpoint.access.asks_for_token();
            cached::executed(media, json, &head.headers, by_token, pool).await
        }
        (answer, _) => endpoint.answer(media, answer, &caller),
    }
}

/// Handles POST, which executes all operations. The body must be JSON, so that forms of other sites
/// cannot send one.
pub(crate) async fn by_post(
    State(endpoint): State<Arc<Endpoint>>,
    Extension(caller): Extension<Caller>,
    request: HttpRequest<Body>,
) -> Response<Body> {
    let Some(accepted) = Accepted::of(request.headers()) else {
        return not_acceptable();
    };
    let media = accepted.for_errors();
    if !is_json(request.headers()) {
        return unsupported(
            media,
            "the content type of the body must be application/json",
        );
    }
    let Some(coding) = Coding::of(request.headers()) else {
        let response = unsupported(
            media,
            "the content encoding of the body must be gzip, or none",
        );
        return with(response, ACCEPT_ENCODING, "gzip");
    };
    let idempotency_key = match idempotency_key(request.headers()) {
        Ok(key) => key,
        Err(error) => return refused(media, &error),
    };
    let share = endpoint.graphql.pool().share();
    let after = match last_event_id(request.headers()) {
        Ok(after) => after,
        Err(error) => return refused(media, &error),
    };
    let body = match body(request, coding, endpoint.graphql.bounds(), &share).await {
        Ok(body) => body,
        // The rest of the body is not read, so the connection is closed.
        Err(error) => return with(refused(media, &error), CONNECTION, "close"),
    };
    match posted(body, endpoint.batch_max).await {
        Ok(Posted::One(request)) => {
            let request = Request {
                idempotency_key,
                principal: caller.principal.clone(),
                ..request
            };
            if let Accepted::Stream(media) = accepted {
                return streamed(&endpoint, request, media, after, caller).await;
            }
            let (answer, _) = endpoint.execute(request, caller.methods).await;
            endpoint.answer(media, answer, &caller)
        }
        Ok(Posted::Batch(_)) if matches!(accepted, Accepted::Stream(_)) => {
            let error = Error::bad_input("the responses to a batch cannot be a stream");
            refused(media, &error)
        }
        Ok(Posted::Batch(_)) if idempotency_key.is_some() => {
            let error =
                Error::bad_input("an Idempotency-Key is not supported for a batch of requests");
            refused(media, &error)
        }
        Ok(Posted::Batch(requests)) => {
            let answers = batch::answer(&endpoint, requests, &caller).await;
            endpoint.executed(media, answers)
        }
        Err(error) => refused(media, &error),
    }
}

/// Executes a request whose responses are a stream.
async fn streamed(
    endpoint: &Arc<Endpoint>,
    request: Request,
    media: StreamMedia,
    after: Option<String>,
    caller: Caller,
) -> Response<Body> {
    let started = endpoint
        .start(request, caller.methods, after, media.into())
        .await;
    let options = StreamOptions {
        media,
        ping_time: endpoint.graphql.bounds().ping_time,
        pool: endpoint.graphql.pool().clone(),
        access: endpoint.access.clone(),
        open: endpoint.streams.open(),
        caller,
    };
    stream_body::response(started, options)
}

/// The cursor in the header `Last-Event-ID`, which a client sends to resume a stream.
fn last_event_id(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let Some(value) = headers.get(LAST_EVENT_ID) else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| {
        Error::bad_input("the header Last-Event-ID must be visible ASCII: send the last `id` again")
    })?;
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// Parses a body. Large bodies are parsed on another thread.
pub(crate) async fn posted(body: Bytes, batch_max: Option<usize>) -> Result<Posted, Error> {
    offload_if_large(body.len(), move || Posted::from_json(&body, batch_max)).await
}

/// The key in the `Idempotency-Key` header, without the quotes that its draft standard
/// requires.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = given.next() else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|_| given.next().is_none());
    let key = text.map(str::trim).map(|text| {
        let quoted = text.strip_prefix('"');
        quoted
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or(text)
    });
    match key {
        Some(key) if !key.is_empty() && key.len() <= IDEMPOTENCY_KEY_BYTES_MAX => {
            Ok(Some(key.to_owned()))
        }
        _ => Err(Error::bad_input(format!(
            "the header Idempotency-Key must have one value of 1 to {IDEMPOTENCY_KEY_BYTES_MAX} \
             visible ASCII characters"
        ))),
    }
}

/// The response to a request that could not be read.
pub(crate) fn refused(media: Media, error: &Error) -> Response<Body> {
    let status = match error.kind().for_clients() {
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Timeout => StatusCode::REQUEST_TIMEOUT,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    response(media, status, GraphQl::refuse(error))
}

pub(crate) fn not_acceptable() -> Response<Body> {
    let error = Error::bad_input(
        "the Accept header must allow application/graphql-response+json, application/json, \
         text/event-stream or multipart/mixed;subscriptionSpec=1.0",
    );
    response(
        Media::Json,
        StatusCode::NOT_ACCEPTABLE,
        GraphQl::refuse(&error),
    )
}

/// The response to a body whose headers declare an unsupported format.
pub(crate) fn unsupported(media: Media, message: &str) -> Response<Body> {
    let refusal = GraphQl::refuse(&Error::bad_input(message));
    response(media, StatusCode::UNSUPPORTED_MEDIA_TYPE, refusal)
}
