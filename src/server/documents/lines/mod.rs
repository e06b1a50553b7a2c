//! Lines of NDJSON: many documents in, and a whole collection out.

pub(crate) mod export;
mod line_reader;
mod upload;
mod upload_batch;
mod upload_options;
pub(crate) mod upload_request;
mod upload_stream;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, Response};

use super::problem::Problem;
use crate::document::path::Path;
use crate::error::{Error, ErrorKind};
use crate::rights::{Action, Decision, PlaceUsed, RequestRights};
use crate::server::access::caller::Caller;
use crate::server::http::endpoint::Endpoint;

/// The media type of lines.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// Keeps proxies, and the compression of this server, from collecting lines before they are sent.
pub(crate) const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What a caller may do with all documents of a collection.
///
/// # Errors
/// `FORBIDDEN`: only listed operations are accepted, or the rules do not allow one of the actions in
/// every document.
pub(crate) fn rights_in(
    endpoint: &Endpoint,
    caller: &Caller,
    collection: &str,
    actions: &[Action],
) -> Result<RequestRights, Problem> {
    let forbidden = |message: String| Problem::of(&Error::new(ErrorKind::Forbidden, message));
    if endpoint.listed_only {
        let message = "this server executes only listed operations".to_owned();
        return Err(forbidden(message));
    }
    let rights = RequestRights {
        principal: caller.principal.clone(),
        rules: endpoint.access.rules().map(|rules| rules.borrow().clone()),
        is_listed: false,
    };
    for action in actions {
        let used = PlaceUsed::in_collection(*action, collection, Path::root());
        if rights.decide(std::slice::from_ref(&used)) != Decision::Allowed {
            let message = format!("no rule allows to {used} without a condition");
            return Err(forbidden(message));
        }
    }
    Ok(rights)
}

fn with_lines(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
