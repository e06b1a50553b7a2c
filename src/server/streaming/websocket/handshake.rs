//! The handshake (RFC 6455 §4.2).

use std::sync::Arc;

use async_graphql_axum::GraphQLProtocol;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::header::{
    AUTHORIZATION, CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use axum::middleware::Next;
use axum::response::Response;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tracing::{Instrument as _, Span};

use super::closing::Closing;
use super::session::{self, SessionOptions};
use super::unfinished_message::{CountedStream, UnfinishedMessage};
use crate::budget::{Pool, Sliced};
use crate::error::{Error, ErrorKind};
use crate::graphql::GraphQl;
use crate::limits::{Bounds, LINGER_SILENCE_MAX, WEBSOCKET_BUFFER_BYTES, WEBSOCKET_WRITTEN_BYTES};
use crate::server::access::Access;
use crate::server::access::admission::refused as unauthenticated;
use crate::server::access::cors::AllowedOrigins;
use crate::server::observe::metrics::counters::Metrics;
use crate::server::response::conditional::elements;
use crate::server::response::json::{response, with};
use crate::server::response::media::Media;
use crate::server::streaming::open_streams::OpenStreams;
use crate::server::streaming::source::OperationSource;

/// The subprotocol of WebSockets that this server speaks.
const PROTOCOL: HeaderValue = HeaderValue::from_static("graphql-transport-ws");

/// What serves the WebSockets of `/graphql`.
#[derive(Clone)]
pub(crate) struct WebSockets<O> {
    pub(crate) source: O,
    pub(crate) access: Access,
    pub(crate) origins: AllowedOrigins,
    pub(crate) bounds: Bounds,
    pub(crate) pool: Pool,
    pub(crate) streams: OpenStreams,
    pub(crate) metrics: Metrics,
}

/// Middleware that answers handshakes. It is outside of the check of tokens, because browsers
/// cannot send headers with a handshake: their token is in `connection_init`.
pub(crate) async fn upgrade<O: OperationSource>(
    State(sockets): State<Arc<WebSockets<O>>>,
    request: Request,
    next: Next,
) -> Response {
    let may_upgrade = request.method() == Method::GET && request.version() == Version::HTTP_11;
    if !may_upgrade || !names(request.headers(), &UPGRADE, "websocket") {
        return next.run(request).await;
    }
    match sockets.accepted(request).await {
        Ok(response) | Err(response) => response,
    }
}

/// Whether a list header has this element.
fn names(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    elements(headers, name).any(|element| element.eq_ignore_ascii_case(token))
}

impl<O: OperationSource> WebSockets<O> {
    /// Checks a handshake, answers it, and serves the connection in a task of its own. An error is
    /// the answer to a handshake that is refused.
    async fn accepted(&self, mut request: Request) -> Result<Response, Response> {
        let accept = accept_key(request.headers()).map_err(|refused| *refused)?;
        let headers = request.headers();
        if !self.origins.may_connect(headers) {
            let error = Error::new(
                ErrorKind::Forbidden,
                "pages of this origin may not connect: allow it with --cors-origin",
            );
            return Err(response(
                Media::Json,
                StatusCode::FORBIDDEN,
                GraphQl::refuse(&error),
            ));
        }
        let by_header = !self.access.asks_for_token() || headers.contains_key(AUTHORIZATION);
        let caller = if by_header {
            let caller = self.access.caller(headers).await;
            Some(caller.map_err(|error| unauthenticated(headers, &error))?)
        } else {
            None
        };
        let upgraded = hyper::upgrade::on(&mut request);
        let (mut head, _) = request.into_parts();
        // Other GraphQL protocols are recognized, too, and refused.
        let graphql = GraphQLProtocol::from_request_parts(&mut head, &()).await;
        let mut offered = elements(&head.headers, &SEC_WEBSOCKET_PROTOCOL);
        let spoken = graphql.is_ok() && offered.any(|protocol| PROTOCOL == protocol);
        let options = spoken.then(|| SessionOptions {
            source: self.source.clone(),
            access: self.access.clone(),
            bounds: self.bounds,
            pool: self.pool.clone(),
            caller,
        });
        let served = self.clone().serve(upgraded, options, graphql.is_ok());
        tokio::spawn(Sliced::new(served.instrument(Span::current())));
        Ok(switching(&accept, spoken))
    }

    /// Serves a connection. Without options, no subprotocol was agreed on.
    async fn serve(self, upgraded: OnUpgrade, options: Option<SessionOptions<O>>, graphql: bool) {
        let open = self.streams.open();
        let _counted = self.metrics.websocket();
        let unfinished = Arc::new(UnfinishedMessage::new(self.pool.share()));
        let upgraded = match upgraded.await {
            Ok(upgraded) => CountedStream {
                stream: TokioIo::new(upgraded),
                unfinished: unfinished.clone(),
            },
            Err(error) => return tracing::debug!("a WebSocket was not opened: {error}"),
        };
        let config = WebSocketConfig::default()
            .read_buffer_size(WEBSOCKET_BUFFER_BYTES)
            .write_buffer_size(WEBSOCKET_WRITTEN_BYTES)
            .max_message_size(Some(self.bounds.message_bytes))
            .max_frame_size(Some(self.bounds.message_bytes));
        let mut socket =
            WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
        let closing = if let Some(options) = options {
            session::serve(&mut socket, options, &unfinished, open).await
        } else {
            let reason = if graphql {
                "the protocol must be graphql-transport-ws; older ones are not supported"
            } else {
                "the header Sec-WebSocket-Protocol must offer graphql-transport-ws"
            };
            let closing = Closing::with(Closing::NO_SUBPROTOCOL, reason);
            session::close(&mut socket, &closing).await;
            closing
        };
        let (code, reason) = (closing.code(), closing.reason());
        tracing::debug!("a WebSocket ended with {code} {reason:?}");
        // Lets the client receive the close frame before the connection is reset.
        let _shut = timeout(LINGER_SILENCE_MAX, socket.get_mut().shutdown()).await;
    }
}

/// The value of `Sec-WebSocket-Accept`. An error is the answer to an invalid handshake.
fn accept_key(headers: &HeaderMap) -> Result<String, Box<Response>> {
    let refused = |status, message: &str| {
        let error = GraphQl::refuse(&Error::bad_input(message));
        Box::new(response(Media::Json, status, error))
    };
    if !names(headers, &CONNECTION, "upgrade") {
        let message = "a WebSocket handshake needs the header Connection: Upgrade";
        return Err(refused(StatusCode::BAD_REQUEST, message));
    }
    let version = headers.get(SEC_WEBSOCKET_VERSION);
    if version.is_none_or(|version| version != "13") {
        let message = "the version of a WebSocket must be 13";
        let refused = refused(StatusCode::UPGRADE_REQUIRED, message);
        return Err(Box::new(with(*refused, SEC_WEBSOCKET_VERSION, "13")));
    }
    let mut keys = headers.get_all(SEC_WEBSOCKET_KEY).iter();
    let (Some(key), None) = (keys.next(), keys.next()) else {
        let message = "a WebSocket handshake needs one header Sec-WebSocket-Key";
        return Err(refused(StatusCode::BAD_REQUEST, message));
    };
    Ok(derive_accept_key(key.as_bytes()))
}

/// The response that opens a WebSocket.
fn switching(accept: &str, spoken: bool) -> Response {
    let mut switching = Response::new(Body::empty());
    *switching.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = switching.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let accept = HeaderValue::from_str(accept);
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept.expect("it is base64"));
    if spoken {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, PROTOCOL);
    }
    switching
}
