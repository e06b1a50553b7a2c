//! Lines of NDJSON: many documents in, and a whole collection out.

pub(crate) mod export;
mod line_reader;
mod upload;
mod upload_batch;
mod upload_options;
pub(crate) mod upload_request;
mod upload_stream;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, Response};

use tokio::sync::watch;
use tracing::Span;

use crate::error::{Error, ErrorKind, Result};
use crate::graphql::RequestStats;
use crate::rights::{Principal, RequestRights, Rules};
use crate::server::access::caller::Caller;
use crate::server::http::endpoint::Endpoint;
use crate::server::observe::requests::{operation_span, report_operation};

/// The media type of lines.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// Keeps proxies, and the compression of this server, from collecting lines before they are sent.
pub(crate) const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What a caller may do, by the rules in force. They can change while a stream is open.
pub(crate) struct StreamRights {
    principal: Principal,
    rules: Option<watch::Receiver<Arc<Rules>>>,
}

impl StreamRights {
    /// The rights of a caller.
    ///
    /// # Errors
    /// `FORBIDDEN`: only listed operations are accepted.
    pub(crate) fn of(endpoint: &Endpoint, caller: &Caller) -> Result<Self> {
        if endpoint.listed_only {
            let message = "this server executes only listed operations";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        Ok(Self {
            principal: caller.principal.clone(),
            rules: endpoint.access.rules(),
        })
    }

    /// The rights of now.
    pub(crate) fn now(&mut self) -> RequestRights {
        RequestRights {
            principal: self.principal.clone(),
            rules: self
                .rules
                .as_mut()
                .map(|rules| rules.borrow_and_update().clone()),
            is_listed: false,
        }
    }

    /// The rights of now, if the rules have changed since they were last asked for.
    pub(crate) fn changed(&mut self) -> Option<RequestRights> {
        let rules = self.rules.as_ref()?;
        rules.has_changed().unwrap_or(false).then(|| self.now())
    }
}

/// A stream of lines as a request of logs and metrics, which count it when it ends.
pub(crate) struct StreamReport {
    endpoint: Arc<Endpoint>,
    pub(crate) stats: RequestStats,
    /// The time of the server's work, without that in which it waited for the client.
    pub(crate) took: Duration,
    span: Span,
}

impl StreamReport {
    pub(crate) fn new(endpoint: &Arc<Endpoint>, ty: &'static str) -> Self {
        Self {
            endpoint: endpoint.clone(),
            stats: RequestStats {
                ty: Some(ty),
                ..RequestStats::default()
            },
            took: Duration::ZERO,
            span: operation_span(),
        }
    }
}

impl Drop for StreamReport {
    fn drop(&mut self) {
        report_operation(&self.endpoint.metrics, &self.stats, self.took, &self.span);
    }
}

fn with_lines(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
