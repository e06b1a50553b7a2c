//! Errors as problem details (RFC 9457), with the codes and the members of GraphQL's errors.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::middleware::Next;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};
use crate::graphql::GraphQl;

/// The media type of a problem.
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Bytes of the body of a refusal that is made a problem.
const REFUSAL_BYTES_MAX: usize = 1 << 20;

/// An error of a request, and the status of its response.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    members: Map<String, Value>,
}

impl Problem {
    /// The problem that an error is.
    pub(crate) fn of(error: &Error) -> Self {
        let refusal: Value = serde_json::from_slice(&GraphQl::refuse(error)).unwrap_or_default();
        Self::first_of(&refusal["errors"])
    }

    /// As [`Problem::of`], with another status than that of the error's code.
    pub(crate) fn with(status: StatusCode, error: &Error) -> Self {
        Self::of(error).at(status)
    }

    /// The first of the errors in a response to an operation.
    pub(crate) fn first_of(errors: &Value) -> Self {
        let error = &errors[0];
        let mut members = Map::new();
        if let Some(message) = error.get("message") {
            members.insert("detail".to_owned(), message.clone());
        }
        if let Some(Value::Object(extensions)) = error.get("extensions") {
            members.extend(extensions.clone());
        }
        let code = members.get("code").and_then(Value::as_str);
        let kind = code.and_then(ErrorKind::from_code);
        let has_place = members.contains_key("place");
        let status = status(kind.unwrap_or(ErrorKind::Internal), has_place);
        Self { status, members }
    }

    /// The code of the error.
    fn code(&self) -> Option<ErrorKind> {
        let code = self.members.get("code").and_then(Value::as_str);
        code.and_then(ErrorKind::from_code)
    }

    fn at(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The code of the error and its facts, with its message as the reason.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let mut facts = self.members.clone();
        if let Some(message) = facts.remove("detail") {
            facts.insert("reason".to_owned(), message);
        }
        facts
    }

    /// The members of the problem.
    pub(crate) fn members(&self) -> Value {
        let mut problem = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
        });
        if let Value::Object(all) = &mut problem {
            all.extend(self.members.clone());
        }
        problem
    }

    /// The response.
    pub(crate) fn response(&self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.members().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, PROBLEM);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::SERVICE_UNAVAILABLE
            && self.code() != Some(ErrorKind::OutcomeUnknown)
        {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// The status of an error. `has_place` says whether it is about a place that a document has or could
/// have.
fn status(kind: ErrorKind, has_place: bool) -> StatusCode {
    match kind.for_clients() {
        ErrorKind::InvalidPath if has_place => StatusCode::CONFLICT,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::AlreadyExists | ErrorKind::VersionMismatch => StatusCode::PRECONDITION_FAILED,
        ErrorKind::UniqueViolation | ErrorKind::ReferenceViolation | ErrorKind::TestFailed => {
            StatusCode::CONFLICT
        }
        ErrorKind::TypeMismatch | ErrorKind::TooComplex => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::Conflict
        | ErrorKind::Timeout
        | ErrorKind::OutcomeUnknown
        | ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Internal | ErrorKind::Exhausted(_) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// Middleware that makes the refusals of other layers problems.
pub(crate) async fn problems(request: Request, next: Next) -> Response<Body> {
    let response = next.run(request).await;
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.headers().get(CONTENT_TYPE) == Some(&PROBLEM) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, REFUSAL_BYTES_MAX).await.unwrap_or_default();
    let refusal: Value = serde_json::from_slice(&body).unwrap_or_default();
    let problem = if refusal["errors"].is_array() {
        Problem::first_of(&refusal["errors"]).at(status)
    } else {
        let message = status
            .canonical_reason()
            .unwrap_or("the request is refused");
        Problem::with(status, &Error::bad_input(message))
    };
    let (made, body) = problem.response().into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.extend(made.headers);
    Response::from_parts(parts, body)
}
