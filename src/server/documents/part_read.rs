//! `GET` and `HEAD` of a document or a part of it.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_RANGE, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

use super::address::PartAddress;
use super::answer::{PartAnswer, answer};
use super::entity_tags::{condition, entity_tag};
use super::problem::Problem;
use super::representation::{AcceptedParts, AskedRange, text_of};
use crate::budget::offload_if_large;
use crate::document::json::write_string;
use crate::error::{Error, ErrorKind};
use crate::graphql::{Methods, Request, WriteCondition};
use crate::server::access::caller::Caller;
use crate::server::http::endpoint::Endpoint;
use crate::server::response::response_body;

const READ: &str = "query ReadPart($collection: String!, $id: ID!, $path: Path!, $read: Boolean!) { \
    document(collection: $collection, id: $id, path: $path) { version kind value @include(if: $read) } }";

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// The suffix of the entity tag of a text.
const TEXT_SUFFIX: &str = "-text";

/// A read of a part.
pub(crate) struct PartRead<'r> {
    pub(crate) endpoint: &'r Arc<Endpoint>,
    pub(crate) caller: &'r Caller,
    pub(crate) collection: &'r str,
    pub(crate) part: &'r PartAddress,
}

/// The variables that name a part, without the closing brace.
pub(crate) fn place_variables(collection: &str, part: &PartAddress) -> Vec<u8> {
    let mut variables = Vec::new();
    let members = [
        (&b"{\"collection\":"[..], collection),
        (b",\"id\":", &part.key),
        (b",\"path\":", &part.pointer),
    ];
    for (name, text) in members {
        variables.extend_from_slice(name);
        write_string(&mut variables, text);
    }
    variables
}

impl PartRead<'_> {
    /// The response.
    ///
    /// # Errors
    /// The problem that is the response.
    pub(crate) async fn respond(
        &self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, Problem> {
        let accepted = AcceptedParts::of(headers);
        if !accepted.json && !accepted.text {
            return Err(not_acceptable(
                "application/json, or text/plain for a string",
            ));
        }
        let condition = condition(headers);
        if condition != WriteCondition::default() {
            // Without the value, which is not sent if the client has it.
            let found = self.execute(false).await?;
            if let Some(unchanged) = self.checked(&condition, &found, accepted)? {
                return Ok(unchanged);
            }
        }
        let mut found = self.execute(true).await?;
        if let Some(unchanged) = self.checked(&condition, &found, accepted)? {
            return Ok(unchanged);
        }
        let value = found.value.take().unwrap_or_default();
        if is_text(&found, accepted) {
            return self.text(&found, value, method, headers).await;
        }
        let pool = self.endpoint.graphql.pool();
        let body = response_body::body(value, pool);
        let mut response = self.with_headers(Response::new(body), &found, "");
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        Ok(response)
    }

    async fn execute(&self, reads_value: bool) -> Result<PartAnswer, Problem> {
        let mut variables = place_variables(self.collection, self.part);
        variables.extend_from_slice(if reads_value {
            b",\"read\":true}"
        } else {
            b",\"read\":false}"
        });
        let request = Request::with_variables(READ, &variables.into());
        let request = Request {
            principal: self.caller.principal.clone(),
            ..request.map_err(|error| Problem::of(&error))?
        };
        let (response, _) = self.endpoint.execute(request, Methods::Queries).await;
        let found = answer(response).await?;
        if !found.is_there {
            let message = "nothing is stored at the place";
            let error = Error::not_found(self.part.pointer.clone(), message);
            return Err(Problem::of(&error));
        }
        Ok(found)
    }

    /// The response 304, if the condition says that the client has what was found.
    fn checked(
        &self,
        condition: &WriteCondition,
        found: &PartAnswer,
        accepted: AcceptedParts,
    ) -> Result<Option<Response<Body>>, Problem> {
        let is_text = is_text(found, accepted);
        if !is_text && !accepted.json {
            return Err(not_acceptable(
                "application/json: the value is not a string",
            ));
        }
        match condition.check_version(found.version.as_deref()) {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let suffix = if is_text { TEXT_SUFFIX } else { "" };
                let mut unchanged = Response::new(Body::empty());
                *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
                Ok(Some(self.with_headers(unchanged, found, suffix)))
            }
            Err(error) => Err(Problem::of(&error)),
        }
    }

    /// The text of a string, or the range of it that is asked for.
    async fn text(
        &self,
        found: &PartAnswer,
        value: Bytes,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, Problem> {
        let text = offload_if_large(value.len(), move || {
            text_of(&value).ok_or_else(|| Error::internal("the value is not a string"))
        });
        let mut text = text.await.map_err(|error| Problem::of(&error))?;
        let length = text.len();
        let version = found.version.as_deref();
        let tag = version.and_then(|version| entity_tag(version, TEXT_SUFFIX));
        // A range has a meaning only for GET (RFC 9110 §14.2).
        let asked = if *method == Method::GET {
            AskedRange::of(headers, length, tag.as_ref())
        } else {
            AskedRange::Whole
        };
        let (status, range) = match asked {
            AskedRange::Whole => (StatusCode::OK, None),
            AskedRange::Part(range) => {
                let shown = format!("bytes {}-{}/{length}", range.start, range.end - 1);
                text = text.slice(range);
                (StatusCode::PARTIAL_CONTENT, Some(shown))
            }
            AskedRange::Unsatisfiable => {
                let message = format!("the text has {length} bytes, and none in the range");
                let error = Error::bad_input(message);
                let status = StatusCode::RANGE_NOT_SATISFIABLE;
                let mut response = Problem::with(status, &error).response();
                insert(&mut response, CONTENT_RANGE, &format!("bytes */{length}"));
                return Ok(response);
            }
        };
        let body = response_body::body(text, self.endpoint.graphql.pool());
        let mut response = self.with_headers(Response::new(body), found, TEXT_SUFFIX);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, TEXT);
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if let Some(range) = range {
            insert(&mut response, CONTENT_RANGE, &range);
        }
        Ok(response)
    }

    /// The headers of every response with a representation.
    fn with_headers(
        &self,
        mut response: Response<Body>,
        found: &PartAnswer,
        suffix: &str,
    ) -> Response<Body> {
        let version = found.version.as_deref();
        let headers = response.headers_mut();
        if let Some(tag) = version.and_then(|version| entity_tag(version, suffix)) {
            headers.insert(ETAG, tag);
        }
        let varying = if self.endpoint.access.asks_for_token() {
            "accept, accept-encoding, authorization"
        } else {
            "accept, accept-encoding"
        };
        headers.insert(VARY, HeaderValue::from_static(varying));
        let kept = HeaderValue::from_static("private, no-cache");
        headers.insert(CACHE_CONTROL, kept);
        response
    }
}

fn is_text(found: &PartAnswer, accepted: AcceptedParts) -> bool {
    let is_string = found.kind.as_deref() == Some("STRING");
    is_string && accepted.text && (accepted.prefers_text || !accepted.json)
}

fn insert(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

pub(crate) fn not_acceptable(what: &str) -> Problem {
    let error = Error::bad_input(format!("the Accept header must allow {what}"));
    Problem::with(StatusCode::NOT_ACCEPTABLE, &error)
}
