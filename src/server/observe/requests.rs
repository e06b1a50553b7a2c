//! Request ids, log lines, spans and counts. Documents, variables and tokens are never logged.

use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::response::Response;
use futures::future::BoxFuture;
use tower::{Layer, Service};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::metrics::counters::{CONTENT_TYPE, Metrics, outcome};
use super::metrics::names::abridged;
use super::traces;
use crate::error::ErrorKind;
use crate::graphql::RequestStats;
use crate::key::hex;
use crate::limits::{REQUEST_ID_CHARACTERS_MAX, SLOW_REQUEST_TIME};
use crate::store::TRACES;

/// The header of the request id, in the request and in its response.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Middleware that assigns a request id, which all log lines of the request carry, and counts the
/// request.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    metrics: Metrics,
}

impl Observation {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics }
    }
}

impl<S> Layer<S> for Observation {
    type Service = ObservedService<S>;

    fn layer(&self, service: S) -> Self::Service {
        let metrics = self.metrics.clone();
        ObservedService { service, metrics }
    }
}

/// Requests to a service are counted, logged and traced.
#[derive(Clone, Debug)]
pub(crate) struct ObservedService<S> {
    service: S,
    metrics: Metrics,
}

impl<S> Service<Request> for ObservedService<S>
where
    S: Service<Request, Response = Response, Future: Send + 'static>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let metrics = self.metrics.clone();
        let counted = metrics.request();
        let route = route(request.uri().path());
        let id = request_id(request.headers());
        let traced = http_span(&request, route, &id);
        let logged = tracing::error_span!("request", %id, caller = Empty);
        let answer = traced
            .in_scope(|| logged.in_scope(|| self.service.call(request)))
            .instrument(logged)
            .instrument(traced.clone());
        Box::pin(async move {
            let _counted = counted;
            let mut response = answer.await?;
            let status = response.status().as_u16();
            traced.record("http.response.status_code", status);
            if response.status().is_server_error() {
                traced.record("otel.status_code", "ERROR");
            }
            metrics.responded(route, status);
            if let Ok(id) = HeaderValue::try_from(id) {
                response.headers_mut().insert(REQUEST_ID, id);
            }
            Ok(response)
        })
    }
}

/// The span of an HTTP request, which continues the trace that the request names.
fn http_span(request: &Request, route: &'static str, id: &str) -> Span {
    let method = match *request.method() {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "_OTHER",
    };
    let span = tracing::trace_span!(
        target: TRACES,
        "http",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        request.id = id,
    );
    traces::continue_trace(&span, request.headers());
    span
}

/// The span of a GraphQL operation. [`report_operation`] records its fields.
pub(crate) fn operation_span() -> Span {
    tracing::trace_span!(
        target: TRACES,
        "operation",
        otel.status_code = Empty,
        "graphql.operation.type" = Empty,
        graphql.operation.name = Empty,
        outcome = Empty,
    )
}

/// Handles `/metrics`.
pub(crate) async fn metrics(
    State(metrics): State<Metrics>,
) -> ([(&'static str, &'static str); 1], String) {
    ([("content-type", CONTENT_TYPE)], metrics.text())
}

/// Counts a GraphQL request, records its span and logs it: at level warn if the server failed, at
/// info if it was slow, otherwise at debug.
pub(crate) fn report_operation(
    metrics: &Metrics,
    report: &RequestStats,
    took: Duration,
    span: &Span,
) {
    metrics.count(report, took);
    let operation = abridged(report.operation.as_deref().unwrap_or_default());
    let ty = report.ty.unwrap_or("none");
    let outcome = outcome(report);
    let failed = matches!(
        report.error.map(ErrorKind::for_clients),
        Some(
            ErrorKind::Internal
                | ErrorKind::Unavailable
                | ErrorKind::Timeout
                | ErrorKind::OutcomeUnknown
                | ErrorKind::Conflict
        )
    );
    if !span.is_disabled() {
        traces::name(span, format!("{ty} {operation}").trim_end());
        span.record("graphql.operation.type", ty);
        span.record("graphql.operation.name", operation);
        span.record("outcome", outcome);
        if failed {
            span.record("otel.status_code", "ERROR");
        }
    }
    macro_rules! log_operation {
        ($level:ident) => {
            tracing::$level!(
                target: "phyllo::request",
                operation,
                r#type = ty,
                outcome,
                micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                reads = report.store.gets.load(Relaxed) + report.store.ranges.load(Relaxed),
                bytes = report.store.bytes.load(Relaxed),
                writes = report.store.writes.load(Relaxed),
                "answered"
            )
        };
    }
    if failed {
        log_operation!(warn);
    } else if took >= SLOW_REQUEST_TIME {
        log_operation!(info);
    } else {
        log_operation!(debug);
    }
}

/// The client's request id if it is valid, or else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).map(HeaderValue::as_bytes);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    match given {
        Some(id) if (1..=REQUEST_ID_CHARACTERS_MAX).contains(&id.len()) && id.iter().all(plain) => {
            id.iter().copied().map(char::from).collect()
        }
        _ => hex(&rand::random::<[u8; 16]>()),
    }
}

/// Maps a path to one of a fixed set of route labels.
fn route(path: &str) -> &'static str {
    const ROUTES: [&str; 7] = [
        "/",
        "/graphql",
        "/schema.graphql",
        "/openapi.json",
        "/metrics",
        "/healthz",
        "/readyz",
    ];
    let known = ROUTES.into_iter().find(|route| *route == path);
    known.unwrap_or(if path.starts_with("/assets/") {
        "/assets"
    } else if path.starts_with("/documents/") {
        "/documents"
    } else {
        "other"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_request_ids_are_kept_and_others_replaced() {
        let id = |given: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(given).expect("a value"));
            request_id(&headers)
        };
        let longest = "x".repeat(REQUEST_ID_CHARACTERS_MAX);
        for plain in ["a", "0af7651916cd43dd-8448.eb2_11", &longest] {
            assert_eq!(id(plain.as_bytes()), plain);
        }
        let too_long = format!("{longest}x");
        for other in ["", "a b", "a\"b", "{}", "a\u{e4}", &too_long] {
            let made = id(other.as_bytes());
            assert_eq!(made.len(), 32, "{other}");
            assert!(made.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
