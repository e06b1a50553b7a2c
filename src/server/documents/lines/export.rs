//! `GET` of a collection: its documents, one a line, at one version of the store.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, Response};
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::unfold;

use super::{rights_in, with_lines};
use crate::budget::{Pool, pause};
use crate::database::{Database, Scan};
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::limits::SENT_BYTES_AT_A_TIME;
use crate::operations::{scan, scan_after, write_line};
use crate::rights::Action;
use crate::server::access::caller::Caller;
use crate::server::documents::part_read::not_acceptable;
use crate::server::documents::problem::Problem;
use crate::server::http::endpoint::Endpoint;
use crate::server::response::conditional::elements;
use crate::server::response::response_body::held;
use crate::server::streaming::open_streams::OpenStream;

/// The documents that are still to be sent.
struct Export {
    scan: Scan,
    open: OpenStream,
    revoked: BoxFuture<'static, Error>,
    pool: Pool,
    /// What was read and not sent.
    text: Bytes,
    is_ended: bool,
}

/// The response to `GET` or `HEAD` of a collection.
///
/// # Errors
/// The problem that is the response.
pub(crate) async fn respond(
    endpoint: &Arc<Endpoint>,
    database: Database,
    caller: Caller,
    collection: &str,
    (headers, query): (&HeaderMap, &str),
) -> Result<Response<Body>, Problem> {
    let refused = |error: Error| Problem::of(&error);
    check_accepted(headers)?;
    let after = parse(query).map_err(refused)?;
    rights_in(endpoint, &caller, collection, &[Action::List, Action::Read])?;
    let scan = match after {
        None => scan(&database, collection).await,
        Some(after) => scan_after(&database, collection, after).await,
    };
    let export = Export {
        scan: scan.map_err(refused)?,
        open: endpoint.streams.open(),
        revoked: endpoint.access.clone().revoked(caller).boxed(),
        pool: endpoint.graphql.pool().clone(),
        text: Bytes::new(),
        is_ended: false,
    };
    // Fused, because compression asks again after the end.
    let pieces = unfold(Some(export), |export| async move {
        let mut export = export?;
        match export.next().await {
            Ok(Some(piece)) => Some((Ok(piece), Some(export))),
            Ok(None) => None,
            // The connection ends, so that the client sees that the export is incomplete.
            Err(error) => {
                tracing::error!(code = error.kind().code(), "an export ended: {error}");
                Some((Err(std::io::Error::other(error.to_string())), None))
            }
        }
    });
    Ok(with_lines(Body::from_stream(pieces.fuse())))
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

/// The id after which the export begins, in the query of the URL.
fn parse(query: &str) -> Result<Option<DocumentId>> {
    let mut after = None;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name != "after" || after.is_some() {
            let message = format!("the parameter {name:?} is unknown, or is there twice");
            return Err(Error::bad_input(message));
        }
        after = Some(DocumentId::parse(&value)?);
    }
    Ok(after)
}

impl Export {
    /// The next piece. `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.text.is_empty() && !self.is_ended {
            let read = async {
                let mut text = Vec::new();
                let is_ended = fill(&mut self.scan, &mut text).await?;
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
            self.is_ended = is_ended;
            self.text = held(text.into(), &self.pool);
        }
        if self.text.is_empty() {
            return Ok(None);
        }
        let bytes = self.text.len().min(SENT_BYTES_AT_A_TIME);
        Ok(Some(self.text.split_to(bytes)))
    }
}

/// Reads documents until there is enough to send. Returns whether there are no more.
async fn fill(scan: &mut Scan, text: &mut Vec<u8>) -> Result<bool> {
    let mut line = Vec::new();
    while text.len() < SENT_BYTES_AT_A_TIME {
        match scan.next().await? {
            None => return Ok(true),
            Some(Ok(document)) => {
                write_line(&mut line, &document);
                text.extend_from_slice(&line);
            }
            // Another program stored it under an id that cannot be written.
            Some(Err(_)) => {}
        }
        // An engine may complete every read without waiting, so yield explicitly.
        pause().await;
    }
    Ok(false)
}
