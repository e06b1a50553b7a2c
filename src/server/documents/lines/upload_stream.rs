//! The response to an upload: a report in lines, which is sent while the body is read.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response};
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::unfold;
use serde_json::Value;

use super::upload::{Upload, UploadStep};
use super::{UNBUFFERED, with_lines};
use crate::budget::Pool;
use crate::error::Error;
use crate::server::access::caller::Caller;
use crate::server::http::endpoint::Endpoint;
use crate::server::response::response_body::held;
use crate::server::streaming::open_streams::OpenStream;

/// An upload whose report is sent.
pub(crate) struct UploadStream {
    upload: Upload,
    open: OpenStream,
    /// Completes when the caller has lost its right to the responses.
    revoked: BoxFuture<'static, Error>,
    pool: Pool,
    is_ended: bool,
}

impl UploadStream {
    /// The response to an upload.
    pub(crate) fn response(
        upload: Upload,
        endpoint: &Arc<Endpoint>,
        caller: Caller,
    ) -> Response<Body> {
        let stream = Self {
            upload,
            open: endpoint.streams.open(),
            revoked: endpoint.access.clone().revoked(caller).boxed(),
            pool: endpoint.graphql.pool().clone(),
            is_ended: false,
        };
        let pieces = unfold(stream, |mut stream| async move {
            let piece = stream.next().await?;
            Some((Ok::<_, Infallible>(piece), stream))
        });
        let mut response = with_lines(Body::from_stream(pieces.fuse()));
        let headers = response.headers_mut();
        headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
        response
    }

    async fn next(&mut self) -> Option<Bytes> {
        if self.is_ended {
            return None;
        }
        let step = tokio::select! {
            biased;
            () = self.open.stopped() => Err(Error::unavailable("the server is shutting down", "")),
            error = self.revoked.as_mut() => Err(error),
            // Boxed, because it is large.
            step = Box::pin(self.upload.step()) => step,
        };
        let UploadStep { report, is_last } = step.unwrap_or_else(|error| {
            if let Some(detail) = error.detail() {
                tracing::error!(code = error.kind().code(), detail, "{}", error.message());
            }
            self.upload.failed(&error);
            UploadStep {
                report: vec![self.upload.done().last(false, Some(&error))],
                is_last: true,
            }
        });
        self.is_ended = is_last;
        Some(held(text(&report).into(), &self.pool))
    }
}

/// The lines of a report.
fn text(report: &[Value]) -> Vec<u8> {
    let mut text = String::new();
    for line in report {
        text.push_str(&line.to_string());
        text.push('\n');
    }
    text.into_bytes()
}
