//! Middleware that authenticates requests, and the responses to those that are refused.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use futures::future::{BoxFuture, Either, FutureExt as _, Ready, ready};
use tower_http::auth::{AsyncAuthorizeRequest, AsyncRequireAuthorizationLayer};

use super::authentication::Access;
use super::caller::Caller;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::GraphQl;
use crate::server::connection::caller_slot::CallerSlot;
use crate::server::response::json::response;
use crate::server::response::media::Media;

/// Middleware that rejects unauthenticated requests and passes the [`Caller`] to the handlers.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    access: Access,
    /// Whether callers without a token are rejected also if there are rules.
    needs_token: bool,
}

/// A request that is admitted, or the response to one that is not.
type Admitted = std::result::Result<Request, Response>;

impl Admission {
    /// Middleware for handlers that need a [`Caller`].
    pub(crate) fn layer(access: &Access) -> AsyncRequireAuthorizationLayer<Self> {
        AsyncRequireAuthorizationLayer::new(Self {
            access: access.clone(),
            needs_token: false,
        })
    }

    /// Middleware for handlers that rules say nothing about: if the server has tokens, a caller needs
    /// one.
    pub(crate) fn layer_with_token(access: &Access) -> AsyncRequireAuthorizationLayer<Self> {
        AsyncRequireAuthorizationLayer::new(Self {
            access: access.clone(),
            needs_token: true,
        })
    }
}

impl AsyncAuthorizeRequest<Body> for Admission {
    type RequestBody = Body;
    type ResponseBody = Body;
    type Future = Either<Ready<Admitted>, BoxFuture<'static, Admitted>>;

    /// OPTIONS needs no token: browsers send none with it, and the response only contains documented
    /// facts.
    fn authorize(&mut self, request: Request) -> Self::Future {
        if request.method() == Method::OPTIONS {
            return Either::Left(ready(Ok(request)));
        }
        if !self.access.asks_for_token() {
            return Either::Left(ready(admitted(request, self.access.anonymous())));
        }
        let Self {
            access,
            needs_token,
        } = self.clone();
        let admitted = async move {
            let caller = if needs_token {
                access.caller_with_token(request.headers()).await
            } else {
                access.caller(request.headers()).await
            };
            admitted(request, caller)
        };
        Either::Right(admitted.boxed())
    }
}

#[expect(
    clippy::result_large_err,
    reason = "a response is as large as a request"
)]
fn admitted(mut request: Request, caller: Result<Caller>) -> Admitted {
    let caller = caller.map_err(|error| refused(request.headers(), &error))?;
    if let Some(slot) = request.extensions().get::<CallerSlot>() {
        slot.set(caller.credential);
    }
    request.extensions_mut().insert(caller);
    Ok(request)
}

/// Builds the response to a request that is not admitted. The challenge of a 401 has no error code if no
/// token was sent (RFC 6750 §3.1).
pub(crate) fn refused(headers: &HeaderMap, error: &Error) -> Response {
    let media = Media::accepted(headers).unwrap_or(Media::Json);
    let body = GraphQl::refuse(error);
    if error.kind() == ErrorKind::Unavailable {
        return response(media, StatusCode::SERVICE_UNAVAILABLE, body);
    }
    let mut response = response(media, StatusCode::UNAUTHORIZED, body);
    let challenge = if headers.contains_key(AUTHORIZATION) {
        "Bearer realm=\"phyllo\", error=\"invalid_token\""
    } else {
        "Bearer realm=\"phyllo\""
    };
    challenge_with(&mut response, challenge);
    response
}

/// Builds a 403 response for a caller without the required permission.
pub(crate) fn forbidden(caller: &Caller, media: Media, body: Vec<u8>) -> Response {
    let mut response = response(media, StatusCode::FORBIDDEN, body);
    if caller.known {
        challenge_with(
            &mut response,
            "Bearer realm=\"phyllo\", error=\"insufficient_scope\"",
        );
    }
    response
}

fn challenge_with(response: &mut Response<Body>, challenge: &'static str) {
    let challenge = HeaderValue::from_static(challenge);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
}
