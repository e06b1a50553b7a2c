//! Traces of requests, exported to a collector by OTLP over HTTP.
//!
//! A trace has a span for the HTTP request, one for each GraphQL operation in it, and one for each
//! read and commit of the store below that. Spans contain operation names, byte counts and
//! outcomes. They contain no document, document id or token.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use async_trait::async_trait;
use axum::http::{HeaderMap, Uri};
use bytes::Bytes;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::error::{Error, Result};
use crate::limits::{
    COLLECTOR_ANSWER_BYTES_MAX, COLLECTOR_HEAD_BYTES_MAX, COLLECTOR_TIME_MAX, TRACES_END_TIME_MAX,
};
use crate::server::http_client::{ClientLimits, send};
use crate::store::TRACES;

const LIMITS: ClientLimits = ClientLimits {
    time: COLLECTOR_TIME_MAX,
    head_bytes: COLLECTOR_HEAD_BYTES_MAX,
    body_bytes: COLLECTOR_ANSWER_BYTES_MAX,
};

/// Exports the spans of its [`Traces::layer`].
#[derive(Clone, Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Exports to the collector at `endpoint`, the URL to which `/v1/traces` is appended. The
    /// standard OpenTelemetry environment variables set the sampling rate and the service name.
    /// Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the endpoint is not a plain HTTP URL.
    pub fn to(endpoint: &str) -> Result<Self> {
        let url = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        let http = |uri: &Uri| uri.scheme_str() == Some("http") && uri.authority().is_some();
        if !url.parse().as_ref().is_ok_and(http) {
            return Err(Error::bad_input(format!(
                "the trace endpoint must be a plain HTTP URL such as http://127.0.0.1:4318, not \
                 {endpoint:?}"
            )));
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Sender {
                runtime: Handle::current(),
                failing: Arc::default(),
            })
            .with_timeout(COLLECTOR_TIME_MAX)
            .with_endpoint(url)
            .build()
            .map_err(|error| Error::bad_input(format!("traces cannot be sent: {error}")))?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("phyllo");
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        Ok(Self(provider))
    }

    /// The layer that collects the spans.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("phyllo"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false)
            .with_filter(filter_fn(|span| span.is_span() && span.target() == TRACES))
    }

    /// Exports the pending spans and shuts down.
    pub async fn end(self) {
        let ended = tokio::task::spawn_blocking(move || {
            let ended = self.0.shutdown_with_timeout(TRACES_END_TIME_MAX);
            ended.map_err(|error| error.to_string())
        });
        if let Ok(Err(error)) = ended.await {
            tracing::warn!("the last traces were not sent: {error}");
        }
    }
}

/// Makes a span part of the trace that the request headers name (W3C Trace Context), if any.
pub(crate) fn continue_trace(span: &tracing::Span, headers: &HeaderMap) {
    if !span.is_disabled() && headers.contains_key("traceparent") {
        let context = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
        // This fails if traces are disabled.
        let _parent = span.set_parent(context);
    }
}

/// Renames a span after its creation, when the field `otel.name` is no longer read.
pub(crate) fn name(span: &tracing::Span, name: &str) {
    span.context().span().update_name(name.to_owned());
}

/// The HTTP client of the exporter. It spawns onto `runtime`, because the exporter's thread has
/// none.
#[derive(Debug)]
struct Sender {
    runtime: Handle,
    /// Whether the last export failed.
    failing: Arc<AtomicBool>,
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let collector = request.uri().clone();
        let sent = self.runtime.spawn(send(request, None, LIMITS));
        let answer = sent.await?;
        let failure = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(answer.status().to_string()),
            Err(error) => Some(error.to_string()),
        };
        let failed_before = self.failing.swap(failure.is_some(), Relaxed);
        match failure {
            Some(why) if !failed_before => {
                tracing::warn!("traces are dropped: exporting to {collector} failed: {why}");
            }
            None if failed_before => tracing::info!("exporting traces to {collector} works again"),
            _ => {}
        }
        answer
    }
}
