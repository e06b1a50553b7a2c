//! `PUT`, `PATCH` and `DELETE` of a document or a part of it.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderName, Method, Request as HttpRequest, Response};

use super::address::PartAddress;
use super::answer::{PartAnswer, answer};
use super::entity_tags::{condition, entity_tag};
use super::part_read::{JSON, place_variables};
use super::problem::Problem;
use crate::budget::{Share, offload_if_large};
use crate::document::flatten::{json_error, json_text};
use crate::document::json::{Event, Reader};
use crate::error::{Error, ErrorKind};
use crate::graphql::{Methods, Request};
use crate::server::access::caller::Caller;
use crate::server::http::body::{Coding, body};
use crate::server::http::endpoint::Endpoint;
use crate::server::http::methods::idempotency_key;
use crate::server::response::conditional::elements;
use crate::server::response::json::with;
use crate::server::response::response_body;

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

const MERGE_PATCH: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";

/// A way to write a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteMethod {
    Put,
    Merge,
    Patch,
    Delete,
}

macro_rules! write_operation {
    ($name:literal, $variable:literal, $call:literal) => {
        concat!(
            "mutation ",
            $name,
            "($collection: String!, $id: ID!, $path: Path!, ",
            $variable,
            "$value: Boolean!) { written: ",
            $call,
            " { __typename version value(path: $path) @include(if: $value) } }"
        )
    };
}

impl WriteMethod {
    /// The text of the operation.
    const fn operation(self) -> &'static str {
        match self {
            Self::Put => write_operation!(
                "PutPart",
                "$document: JSON, ",
                "replaceDocument(collection: $collection, id: $id, path: $path, document: $document)"
            ),
            Self::Merge => write_operation!(
                "MergePart",
                "$document: JSON, ",
                "mergeDocument(collection: $collection, id: $id, path: $path, patch: $document)"
            ),
            Self::Patch => write_operation!(
                "PatchPart",
                "$document: JSON, ",
                "patchDocument(collection: $collection, id: $id, path: $path, patch: $document)"
            ),
            Self::Delete => {
                "mutation DeletePart($collection: String!, $id: ID!, $path: Path!, $value: Boolean!) \
                 { written: deleteDocument(collection: $collection, id: $id, path: $path) \
                 { deleted value @include(if: $value) } }"
            }
        }
    }

    /// The method of a request, with the media type of its body.
    ///
    /// # Errors
    /// 415: the body has another type.
    fn of(method: &Method, headers: &HeaderMap) -> Result<Self, Response<Body>> {
        if *method == Method::DELETE {
            return Ok(Self::Delete);
        }
        let media = media_type(headers);
        match (method == Method::PUT, media.as_deref()) {
            (true, Some("application/json")) => Ok(Self::Put),
            (false, Some(MERGE_PATCH)) => Ok(Self::Merge),
            (false, Some(JSON_PATCH)) => Ok(Self::Patch),
            (true, _) => Err(unsupported("the content type must be application/json").response()),
            (false, _) => {
                let message = format!("the content type must be {MERGE_PATCH} or {JSON_PATCH}");
                let response = unsupported(&message).response();
                let types = "application/merge-patch+json, application/json-patch+json";
                Err(with(response, ACCEPT_PATCH, types))
            }
        }
    }
}

/// The media type of a body in UTF-8, in lower case.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let value = value.to_ascii_lowercase();
    let mut parts = value.split(';').map(str::trim);
    let media = parts.next()?.to_owned();
    let is_utf8 = parts.all(|part| match part.strip_prefix("charset=") {
        Some(charset) => charset.trim_matches('"') == "utf-8",
        None => true,
    });
    is_utf8.then_some(media)
}

pub(crate) fn unsupported(message: &str) -> Problem {
    Problem::with(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        &Error::bad_input(message),
    )
}

/// The coding of a body.
///
/// # Errors
/// 415: it is neither gzip nor none.
pub(crate) fn coding(headers: &HeaderMap) -> Result<Coding, Response<Body>> {
    Coding::of(headers).ok_or_else(|| {
        let problem = unsupported("the content encoding of the body must be gzip, or none");
        with(problem.response(), ACCEPT_ENCODING, "gzip")
    })
}

/// What the client wants in the response (RFC 7240).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preferred {
    Minimal,
    Representation,
}

impl Preferred {
    fn of(headers: &HeaderMap) -> Option<Self> {
        elements(headers, &PREFER).find_map(|element| {
            let preference = element.split(';').next().unwrap_or_default();
            match preference.trim().to_ascii_lowercase().as_str() {
                "return=minimal" => Some(Self::Minimal),
                "return=representation" => Some(Self::Representation),
                _ => None,
            }
        })
    }
}

/// A write of a part.
pub(crate) struct PartWrite<'w> {
    pub(crate) endpoint: &'w Arc<Endpoint>,
    pub(crate) caller: &'w Caller,
    pub(crate) collection: &'w str,
    pub(crate) part: &'w PartAddress,
}

impl PartWrite<'_> {
    /// The response.
    ///
    /// # Errors
    /// The response to a write that was not executed.
    pub(crate) async fn respond(
        &self,
        request: HttpRequest<Body>,
    ) -> Result<Response<Body>, Response<Body>> {
        let refused = |error: &Error| Problem::of(error).response();
        may_write(self.caller).map_err(|problem| problem.response())?;
        let method = WriteMethod::of(request.method(), request.headers())?;
        let coding = coding(request.headers())?;
        let key = idempotency_key(request.headers()).map_err(|error| refused(&error))?;
        let preferred = Preferred::of(request.headers());
        let condition = condition(request.headers());
        let share = self.endpoint.graphql.pool().share();
        let bounds = self.endpoint.graphql.bounds();
        // The content of a DELETE has no meaning, and is read so that the connection stays usable.
        let content = body(request, coding, bounds, &share).await;
        let content = content.map_err(|error| with(late(&error), CONNECTION, "close"))?;
        let returns_value = match (method, preferred) {
            (_, Some(preferred)) => preferred == Preferred::Representation,
            (WriteMethod::Merge | WriteMethod::Patch, None) => true,
            (WriteMethod::Put | WriteMethod::Delete, None) => false,
        };
        let variables = self.variables(method, content, &share).await;
        let variables = variables.map_err(|error| refused(&error))?;
        let attempt = Attempt {
            method,
            variables,
            returns_value,
            request: Request {
                idempotency_key: key,
                principal: self.caller.principal.clone(),
                condition: Some(Arc::new(condition)),
                ..Request::default()
            },
        };
        let answered = self.execute(attempt).await;
        let answered = answered.map_err(|problem| problem.response())?;
        let mut response = self.written(method, answered, returns_value)?;
        if let Some(preferred) = preferred {
            let applied = match preferred {
                Preferred::Minimal => "return=minimal",
                Preferred::Representation => "return=representation",
            };
            response = with(response, PREFERENCE_APPLIED, applied);
        }
        Ok(response)
    }

    /// The place and the content, without the closing brace.
    async fn variables(
        &self,
        method: WriteMethod,
        content: Bytes,
        share: &Share,
    ) -> Result<Vec<u8>, Error> {
        let mut variables = place_variables(self.collection, self.part);
        if method == WriteMethod::Delete {
            return Ok(variables);
        }
        share.take(content.len())?;
        let bytes = content.len();
        offload_if_large(bytes, move || {
            check_one_value(&content)?;
            variables.extend_from_slice(b",\"document\":");
            variables.extend_from_slice(&content);
            Ok(variables)
        })
        .await
    }

    async fn execute(&self, attempt: Attempt) -> Result<PartAnswer, Problem> {
        let mut variables = attempt.variables;
        let value = format!(",\"value\":{}}}", attempt.returns_value);
        variables.extend_from_slice(value.as_bytes());
        let variables = Bytes::from(variables);
        let operation = attempt.method.operation();
        let read = offload_if_large(variables.len(), move || {
            Request::with_variables(operation, &variables)
        });
        let read = read.await.map_err(|error| Problem::of(&error))?;
        let request = Request {
            query: read.query,
            variables: read.variables,
            ..attempt.request
        };
        let (response, _) = self.endpoint.execute(request, Methods::All).await;
        answer(response).await
    }

    fn written(
        &self,
        method: WriteMethod,
        answered: PartAnswer,
        returns_value: bool,
    ) -> Result<Response<Body>, Response<Body>> {
        if answered.deleted == Some(false) {
            let message = "nothing is stored at the place";
            let error = Error::not_found(self.part.pointer.clone(), message);
            return Err(Problem::of(&error).response());
        }
        let is_new = method != WriteMethod::Delete && answered.existed == Some(false);
        let tag = answered.version.as_deref();
        let tag = tag.and_then(|version| entity_tag(version, ""));
        let mut response = match answered.value.filter(|_| returns_value) {
            None => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                response
            }
            Some(value) => {
                let body = response_body::body(value, self.endpoint.graphql.pool());
                let mut response = Response::new(body);
                response.headers_mut().insert(CONTENT_TYPE, JSON);
                response
            }
        };
        if is_new {
            *response.status_mut() = StatusCode::CREATED;
        }
        if let Some(tag) = tag {
            response.headers_mut().insert(ETAG, tag);
        }
        Ok(response)
    }
}

/// What is executed.
struct Attempt {
    method: WriteMethod,
    /// Without the closing brace.
    variables: Vec<u8>,
    returns_value: bool,
    /// The request without its operation.
    request: Request,
}

/// Checks that a caller may write anything.
///
/// # Errors
/// `FORBIDDEN`: the server or the token is read-only.
pub(crate) fn may_write(caller: &Caller) -> Result<(), Problem> {
    match caller.methods {
        Methods::All => Ok(()),
        Methods::ReadOnly(why) => {
            let message = format!("{why}: writes are rejected");
            Err(Problem::of(&Error::new(ErrorKind::Forbidden, message)))
        }
        Methods::Queries => Err(Problem::of(&Error::internal("a caller without methods"))),
    }
}

/// The response to a body that could not be read.
pub(crate) fn late(error: &Error) -> Response<Body> {
    let problem = match error.kind().for_clients() {
        ErrorKind::Timeout => Problem::with(StatusCode::REQUEST_TIMEOUT, error),
        _ => Problem::of(error),
    };
    problem.response()
}

/// Checks that the content is one JSON value, so that it can be put into the text of the variables.
fn check_one_value(content: &[u8]) -> Result<(), Error> {
    let text = json_text(content)?;
    let in_body = |error| json_error(&error, text).at("the body");
    let mut reader = Reader::new(text, usize::MAX);
    reader.skip_value().map_err(in_body)?;
    match reader.next().map_err(in_body)? {
        Event::End => Ok(()),
        _ => Err(Error::bad_input("the body has text after its JSON value")),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_body_is_one_value() {
        for body in ["1", " {\"a\": [1, null]} ", "\"\"", "null"] {
            assert!(check_one_value(body.as_bytes()).is_ok(), "{body}");
        }
        for body in [
            "",
            " ",
            "1,\"id\":\"other\"",
            "1 2",
            "{",
            "{\"a\":1}}",
            "nul",
            "\u{feff}1",
        ] {
            assert!(check_one_value(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn the_first_preference_counts() {
        for (text, expected) in [
            ("return=minimal", Some(Preferred::Minimal)),
            (
                "respond-async, Return=Representation; x=1",
                Some(Preferred::Representation),
            ),
            ("return=other", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(PREFER, HeaderValue::from_static(text));
            assert_eq!(Preferred::of(&headers), expected, "{text}");
        }
    }
}
