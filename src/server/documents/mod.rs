//! Documents and their parts over HTTP, without GraphQL: `/documents/COLLECTION/KEY/POINTER`.
//!
//! A request becomes a fixed GraphQL operation with variables, which `http::endpoint` executes. So rights,
//! limits, idempotency keys, metrics and the log are those of GraphQL.

#![expect(
    clippy::result_large_err,
    reason = "a response that refuses is as large as any other"
)]

mod address;
mod answer;
mod entity_tags;
mod lines;
mod part_read;
mod part_write;
pub(crate) mod problem;
mod representation;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_ENCODING, CONTENT_RANGE, ETAG, LOCATION, RETRY_AFTER,
};
use axum::http::{
    Extensions, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version,
};
use axum::middleware::{Next, from_fn};
use axum::routing::any;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate as _, SizeAbove};

use address::Address;
use lines::{UNBUFFERED, export, upload_request};
use part_read::PartRead;
use part_write::PartWrite;
use problem::{Problem, problems};

use super::access::admission::Admission;
use super::access::caller::Caller;
use super::access::cors::{RefusedOrigins, allowing};
use super::http::endpoint::Endpoint;
use super::options::ServeOptions;
use super::response::json::with;
use crate::database::Database;
use crate::error::Error;
use crate::limits::COMPRESSED_BYTES_MIN;

/// The description of these routes.
pub(crate) const OPENAPI: &str = include_str!("../../../openapi.json");

const PART_METHODS: &str = "GET, HEAD, PUT, PATCH, DELETE, OPTIONS";
const COLLECTION_METHODS: &str = "GET, HEAD, POST, OPTIONS";

/// What the handlers share.
struct Documents {
    endpoint: Arc<Endpoint>,
    database: Database,
}

/// The routes below `/documents/`.
pub(crate) fn routes(
    endpoint: Arc<Endpoint>,
    database: Database,
    options: &ServeOptions,
) -> Router {
    let documents = Arc::new(Documents { endpoint, database });
    // The report of an upload is sent as soon as there is a line.
    let compressed = SizeAbove::new(COMPRESSED_BYTES_MIN).and(is_buffered as BufferedPredicate);
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(compressed);
    let handler = any(handle).with_state(documents).layer((
        from_fn(tagged),
        compression,
        from_fn(problems),
        RefusedOrigins::layer(&options.origins),
        Admission::layer(&options.access),
    ));
    let handler = if options.origins.is_empty() {
        handler
    } else {
        let methods = [
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
        ];
        // Pages read these headers of the responses.
        let exposed = [
            ETAG,
            ACCEPT_RANGES,
            CONTENT_RANGE,
            LOCATION,
            RETRY_AFTER,
            export::VERSION,
        ];
        let cors = allowing(&options.origins).allow_methods(methods);
        handler.layer(cors.expose_headers(exposed))
    };
    let router = Router::new().route("/documents/{*address}", handler.clone());
    // A collection without a name.
    router.route("/documents/", handler)
}

type BufferedPredicate = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Whether a response may be collected before it is sent.
fn is_buffered(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    !headers.contains_key(UNBUFFERED)
}

async fn handle(
    State(documents): State<Arc<Documents>>,
    mut request: Request<Body>,
) -> Response<Body> {
    let Documents { endpoint, database } = &*documents;
    let address = match Address::parse(request.uri().path()) {
        Ok(address) => address,
        Err(error) => return Problem::of(&error).response(),
    };
    let methods = match address.part {
        Some(_) => PART_METHODS,
        None => COLLECTION_METHODS,
    };
    if request.method() == Method::OPTIONS {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return with(response, ALLOW, methods);
    }
    let Some(caller) = request.extensions_mut().remove::<Caller>() else {
        return Problem::of(&Error::internal("a request without a caller")).response();
    };
    let Address { collection, part } = &address;
    match (request.method().clone(), part) {
        (method @ (Method::GET | Method::HEAD), Some(part)) => {
            let read = PartRead {
                endpoint,
                caller: &caller,
                collection,
                part,
            };
            let response = read.respond(&method, request.headers()).await;
            response.unwrap_or_else(|problem| problem.response())
        }
        (Method::PUT | Method::PATCH | Method::DELETE, Some(part)) => {
            let write = PartWrite {
                endpoint,
                caller: &caller,
                collection,
                part,
            };
            write
                .respond(request)
                .await
                .unwrap_or_else(|response| response)
        }
        (Method::GET | Method::HEAD, None) => {
            let asked = (request.headers(), request.uri().query().unwrap_or_default());
            let response = export::respond(endpoint, database, caller, collection, asked);
            response.await.unwrap_or_else(|problem| problem.response())
        }
        (Method::POST, None) => {
            let response = upload_request::respond(endpoint, database, caller, collection, request);
            response.unwrap_or_else(|response| response)
        }
        _ => {
            let message = format!("the methods of this resource are {methods}");
            let status = StatusCode::METHOD_NOT_ALLOWED;
            let problem = Problem::with(status, &Error::bad_input(message));
            with(problem.response(), ALLOW, methods)
        }
    }
}

/// Middleware that gives the compressed form of a representation a tag of its own.
async fn tagged(request: Request<Body>, next: Next) -> Response<Body> {
    let mut response = next.run(request).await;
    if response.headers().contains_key(CONTENT_ENCODING)
        && let Some(tag) = response.headers().get(ETAG)
        && let Some(open) = tag.as_bytes().strip_suffix(b"\"")
        && let Ok(tag) = HeaderValue::from_bytes(&[open, b"-gzip\""].concat())
    {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}
