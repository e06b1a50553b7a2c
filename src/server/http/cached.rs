//! Caching headers of responses to GET (RFC 9110 §8.8, §13; RFC 9111).
//!
//! A response without errors has an entity tag, which is a digest of its bytes. Clients may store
//! it but must revalidate it before each use. The query is executed for each revalidation; only
//! sending the response is saved. All other responses have `no-store`.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderName, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use axum::middleware::Next;
use sha2::{Digest as _, Sha256};

use crate::budget::Pool;
use crate::budget::offload_if_large;
use crate::key::hex;
use crate::server::response::conditional::known;
use crate::server::response::json::response;
use crate::server::response::media::Media;
use crate::server::response::response_body;

/// Bytes of the digest that form an entity tag.
const TAG_BYTES: usize = 16;

/// Builds the response to a GET that was executed without errors, or 304 if the client already has
/// it. `by_token` says whether the server requires tokens.
pub(crate) async fn executed(
    media: Media,
    json: Vec<u8>,
    request: &HeaderMap,
    by_token: bool,
    pool: &Pool,
) -> Response<Body> {
    let json = Bytes::from(json);
    // From here on, the body counts towards the memory held by all requests.
    let body = response_body::body(json.clone(), pool);
    let mut answer = match tag(json).await {
        None => return response(media, StatusCode::OK, body),
        Some(tag) => match known(&tag, request) {
            None => with_tag(response(media, StatusCode::OK, body), &tag),
            Some(same) => {
                let mut unchanged = Response::new(Body::empty());
                *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
                // Repeats the client's tag, which may be that of the gzip representation.
                with_tag(unchanged, if same == "*" { &tag } else { same })
            }
        },
    };
    let headers = answer.headers_mut();
    let kept = HeaderValue::from_static("private, no-cache");
    headers.insert(CACHE_CONTROL, kept);
    headers.insert(VARY, varying(by_token));
    answer
}

/// Middleware that sets the remaining caching headers after compression, and on errors.
pub(crate) async fn completed(request: Request, next: Next) -> Response<Body> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = next.run(request).await;
    if reads {
        complete(response.headers_mut());
    }
    response
}

fn complete(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(ETAG) else {
        let no_store = HeaderValue::from_static("no-store");
        headers.entry(CACHE_CONTROL).or_insert(no_store);
        return;
    };
    if headers.contains_key(CONTENT_ENCODING) && !tag.as_bytes().starts_with(b"W/") {
        // The tag identifies the uncompressed bytes, so it is weak for these.
        let weak = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat());
        if let Ok(weak) = weak {
            headers.insert(ETAG, weak);
        }
    }
}

/// A strong entity tag, or `None` if hashing failed. Large responses are hashed on another
/// thread.
async fn tag(json: Bytes) -> Option<String> {
    let digest = offload_if_large(json.len(), move || Ok(Sha256::digest(&json))).await;
    Some(format!("\"{}\"", hex(&digest.ok()?[..TAG_BYTES])))
}

fn with_tag(mut response: Response<Body>, tag: &str) -> Response<Body> {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// One list of the request headers that the response depends on, compressed or not.
fn varying(by_token: bool) -> HeaderValue {
    const HEADERS: [HeaderName; 3] = [ACCEPT, ACCEPT_ENCODING, AUTHORIZATION];
    let count = if by_token { 3 } else { 2 };
    let names: Vec<&str> = HEADERS[..count].iter().map(HeaderName::as_str).collect();
    HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static("*"))
}
