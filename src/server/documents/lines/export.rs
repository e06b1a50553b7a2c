//! `GET` of a collection: its documents, one a line, at one version of the store.
//!
//! If the engine does not keep a version long enough, the export continues at later ones. A header has the first
//! version and a trailer the last one.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, TRAILER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response};
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::unfold;
use http_body_util::StreamBody;
use hyper::body::Frame;

use super::{StreamReport, StreamRights, with_lines};
use crate::database::Database;
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::key::Version;
use crate::limits::SENT_BYTES_AT_A_TIME;
use crate::operations::Export;
use crate::server::access::caller::Caller;
use crate::server::documents::part_read::not_acceptable;
use crate::server::documents::problem::Problem;
use crate::server::http::endpoint::Endpoint;
use crate::server::response::conditional::elements;
use crate::server::response::response_body::held;
use crate::server::streaming::open_streams::OpenStream;

/// The version of the store at which the export begins. As a trailer, the version at which it ends.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("phyllo-version");

/// The documents that are still to be sent.
struct ExportStream {
    export: Export,
    rights: StreamRights,
    report: StreamReport,
    endpoint: Arc<Endpoint>,
    open: OpenStream,
    revoked: BoxFuture<'static, Error>,
    /// What was read and not sent.
    text: Bytes,
    state: ExportState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportState {
    Reading,
    /// All was read.
    Read,
    /// The trailer was sent, or an error.
    Ended,
}

/// The response to `GET` or `HEAD` of a collection.
///
/// # Errors
/// The problem that is the response.
pub(crate) async fn respond(
    endpoint: &Arc<Endpoint>,
    database: &Database,
    caller: Caller,
    collection: &str,
    (headers, query): (&HeaderMap, &str),
) -> Result<Response<Body>, Problem> {
    let refused = |error: Error| Problem::of(&error);
    check_accepted(headers)?;
    let begin = parse(query).map_err(refused)?;
    let mut rights = StreamRights::of(endpoint, &caller).map_err(refused)?;
    let mut report = StreamReport::new(endpoint, "export");
    let database = database.observed(report.stats.store.clone());
    let begun = async {
        let limits = (endpoint.graphql.bounds(), endpoint.graphql.pool());
        let export = Export::begin(&database, collection, begin, &rights.now(), limits).await?;
        let version = export.version().await?;
        Ok((export, version))
    };
    let (export, version) = begun.await.map_err(|error: Error| {
        report.stats.error = Some(error.kind());
        refused(error)
    })?;
    let stream = ExportStream {
        export,
        rights,
        report,
        endpoint: endpoint.clone(),
        open: endpoint.streams.open(),
        revoked: endpoint.access.clone().revoked(caller).boxed(),
        text: Bytes::new(),
        state: ExportState::Reading,
    };
    let frames = unfold(stream, |mut stream| async move {
        let frame = stream.next().await?;
        Some((frame, stream))
    });
    // Fused, because compression asks again after the end.
    let mut response = with_lines(Body::new(StreamBody::new(frames.fuse())));
    let headers = response.headers_mut();
    headers.insert(TRAILER, HeaderValue::from_static("phyllo-version"));
    headers.insert(VERSION, version_value(version).map_err(refused)?);
    Ok(response)
}

fn version_value(version: Version) -> Result<HeaderValue> {
    HeaderValue::try_from(version.to_string())
        .map_err(|error| Error::internal(format!("a version is no header: {error}")))
}

fn check_accepted(headers: &HeaderMap) -> Result<(), Problem> {
    let ranges = ["application/x-ndjson", "application/*", "*/*"];
    let is_accepted = |element: &str| {
        let mut parts = element.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let is_refused = parts.any(|part| {
            let quality = part.strip_prefix("q=");
            quality.is_some_and(|quality| quality.parse::<f32>().is_ok_and(|it| it <= 0.0))
        });
        !is_refused && ranges.iter().any(|range| range.eq_ignore_ascii_case(media))
    };
    if !headers.contains_key(ACCEPT) || elements(headers, &ACCEPT).any(is_accepted) {
        return Ok(());
    }
    Err(not_acceptable("application/x-ndjson"))
}

/// The parameters in the query of the URL: the id after which the export begins, and whether it continues after
/// documents that cannot be exported.
fn parse(query: &str) -> Result<(Option<DocumentId>, bool)> {
    let (mut after, mut go_on) = (None, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let is_repeated = match &*name {
            "after" => after.replace(DocumentId::parse(&value)?).is_some(),
            "onError" => go_on.replace(goes_on(&value)?).is_some(),
            _ => return Err(Error::bad_input(format!("unknown parameter {name:?}"))),
        };
        if is_repeated {
            let message = format!("the parameter {name:?} is there twice");
            return Err(Error::bad_input(message));
        }
    }
    Ok((after, go_on.unwrap_or(false)))
}

fn goes_on(on_error: &str) -> Result<bool> {
    match on_error {
        "stop" => Ok(false),
        "continue" => Ok(true),
        other => {
            let message = format!("onError is {other:?} and must be stop or continue");
            Err(Error::bad_input(message))
        }
    }
}

impl ExportStream {
    /// The next frame. `None` after the last one.
    async fn next(&mut self) -> Option<Result<Frame<Bytes>, io::Error>> {
        if self.state == ExportState::Ended {
            return None;
        }
        let error = match self.frame().await {
            Ok(frame) => return Some(Ok(frame)),
            Err(error) => error,
        };
        // The connection ends, so that the client sees that the export is incomplete.
        self.state = ExportState::Ended;
        self.report.stats.error = Some(error.kind());
        tracing::error!(code = error.kind().code(), "an export ended: {error}");
        Some(Err(io::Error::other(error.to_string())))
    }

    async fn frame(&mut self) -> Result<Frame<Bytes>> {
        if self.text.is_empty() && self.state == ExportState::Reading {
            if let Some(rights) = self.rights.changed() {
                self.export.renew_rights(&rights)?;
            }
            let begun = Instant::now();
            let read = async {
                let _executing = self.endpoint.begin_portion().await;
                let mut text = Vec::new();
                let is_ended = self.export.fill(&mut text, SENT_BYTES_AT_A_TIME).await?;
                Ok::<_, Error>((text, is_ended))
            };
            let (text, is_ended) = tokio::select! {
                biased;
                () = self.open.stopped() => {
                    return Err(Error::unavailable("the server is shutting down", ""));
                }
                error = self.revoked.as_mut() => return Err(error),
                read = read => read?,
            };
            self.report.took += begun.elapsed();
            if is_ended {
                self.state = ExportState::Read;
            }
            self.text = held(text.into(), self.endpoint.graphql.pool());
        }
        if self.text.is_empty() {
            self.state = ExportState::Ended;
            let version = version_value(self.export.version().await?)?;
            return Ok(Frame::trailers(HeaderMap::from_iter([(VERSION, version)])));
        }
        let bytes = self.text.len().min(SENT_BYTES_AT_A_TIME);
        Ok(Frame::data(self.text.split_to(bytes)))
    }
}
