//! Writes the response of a planned query from its reads.

use async_graphql::{PathSegment, ServerError};

use super::bind::{Bound, PositionKind, ResponsePosition, ResponseStep};
use crate::database::{Loaded, PickedPart, write_picked};
use crate::document::json::write_string;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::mismatch;
use crate::graphql::objects::document::JsonKind;
use crate::graphql::response::write::server_error;
use crate::graphql::scalars::node_id;

/// The data of the response, and its errors. Failed fields are null.
pub(crate) struct WrittenResponse {
    /// `{"data":…`, without the closing brace.
    pub(crate) data: Vec<u8>,
    pub(crate) errors: Vec<ServerError>,
}

/// Writes the response. Yields to the scheduler while it writes large values.
///
/// # Errors
/// The error of a non-nullable field. An exceeded limit of `request_budget`.
pub(crate) async fn write(
    bound: &Bound<'_>,
    loaded: &Loaded<'_>,
    request_budget: &RequestBudget,
) -> Result<WrittenResponse> {
    let mut out = Vec::with_capacity(8 * bound.steps.len() + 64);
    let mut errors = Vec::new();
    let mut null = |out: &mut Vec<u8>, error: &Error, position: usize| {
        errors.push(located(error, &bound.positions, position));
        out.extend_from_slice(NULL);
    };
    let mut at = 0;
    while let Some(step) = bound.steps.get(at) {
        if at % STEPS_PER_CHECK == 0 {
            request_budget.check()?;
        }
        at += 1;
        request_budget.budget().check_response(out.len())?;
        match step {
            ResponseStep::Open {
                read,
                position,
                end,
            } => match kind(loaded, *read) {
                Ok(Some(_)) => out.push(b'{'),
                Ok(None) => {
                    out.extend_from_slice(NULL);
                    at = *end;
                }
                Err(error) => {
                    null(&mut out, &error, *position);
                    at = *end;
                }
            },
            ResponseStep::Value { position, .. }
            | ResponseStep::Picked { position, .. }
            | ResponseStep::Remainder { position, .. } => {
                let before = out.len();
                if let Err(error) = json(&mut out, step, loaded, request_budget).await {
                    request_budget.check()?;
                    out.truncate(before);
                    null(&mut out, &error, *position);
                }
            }
            ResponseStep::List(values) => {
                request_budget.fields(*values)?;
                out.push(b'[');
            }
            ResponseStep::Version { read, position } => match loaded.version(*read) {
                Ok(Some(version)) => write_string(&mut out, &version.to_string()),
                Ok(None) => out.extend_from_slice(NULL),
                Err(error) => null(&mut out, &error, *position),
            },
            step => identity(&mut out, step, bound, loaded)?,
        }
    }
    Ok(WrittenResponse { data: out, errors })
}

/// The number of steps between checks of the time limit.
const STEPS_PER_CHECK: usize = 64;
const NULL: &[u8] = b"null";

fn kind(loaded: &Loaded<'_>, read: usize) -> Result<Option<JsonKind>> {
    let kind = loaded.slice(read)?.map(|slice| slice.kind()).transpose()?;
    Ok(kind.map(JsonKind::from))
}

/// Writes a step that is part of every object: a text, or what identifies an object.
fn identity(
    out: &mut Vec<u8>,
    step: &ResponseStep<'_>,
    bound: &Bound<'_>,
    loaded: &Loaded<'_>,
) -> Result<()> {
    match step {
        ResponseStep::Text(text) => out.extend_from_slice(text),
        ResponseStep::Kind(read) => {
            let kind = kind(loaded, *read)?.ok_or_else(mismatch)?;
            write_string(out, kind.name());
        }
        ResponseStep::Path(read) => place(out, &loaded.place(*read)?.ok_or_else(mismatch)?),
        ResponseStep::DocumentId(document) => {
            write_string(out, &node_id::of_document(&bound.documents[*document]));
        }
        ResponseStep::Key(document) => {
            write_string(out, &bound.documents[*document].id.to_string());
        }
        ResponseStep::Collection(document) => {
            write_string(out, &bound.documents[*document].collection);
        }
        ResponseStep::SubdocumentId { document, read } => {
            let place = loaded.place(*read)?.ok_or_else(mismatch)?;
            let document = &bound.documents[*document];
            write_string(out, &node_id::of_subdocument(document, &place));
        }
        ResponseStep::Open { .. }
        | ResponseStep::Value { .. }
        | ResponseStep::Picked { .. }
        | ResponseStep::Remainder { .. }
        | ResponseStep::List(_)
        | ResponseStep::Version { .. } => return Err(mismatch()),
    }
    Ok(())
}

/// Writes a step that is a JSON value.
async fn json(
    out: &mut Vec<u8>,
    step: &ResponseStep<'_>,
    loaded: &Loaded<'_>,
    request_budget: &RequestBudget,
) -> Result<()> {
    match step {
        ResponseStep::Value { read, .. } => value(out, loaded, *read, request_budget).await,
        ResponseStep::Picked { reads, above, .. } => {
            request_budget.fields(reads.len())?;
            picked(out, loaded, reads, *above, request_budget).await
        }
        ResponseStep::Remainder { read, omitted, .. } => {
            request_budget.fields(*omitted)?;
            remainder(out, loaded, *read, request_budget).await
        }
        _ => Err(mismatch()),
    }
}

async fn value(
    out: &mut Vec<u8>,
    loaded: &Loaded<'_>,
    read: usize,
    request_budget: &RequestBudget,
) -> Result<()> {
    let Some(slice) = loaded.slice(read)? else {
        out.extend_from_slice(NULL);
        return Ok(());
    };
    let written = request_budget.budget().response_text();
    slice.write_json(out, written).await
}

async fn picked(
    out: &mut Vec<u8>,
    loaded: &Loaded<'_>,
    reads: &[usize],
    above: usize,
    request_budget: &RequestBudget,
) -> Result<()> {
    let mut parts = Vec::with_capacity(reads.len());
    for read in reads {
        if let Some(value) = loaded.slice(*read)? {
            let place = loaded.place(*read)?.ok_or_else(mismatch)?;
            parts.push(PickedPart { place, value });
        }
    }
    if parts.is_empty() {
        out.extend_from_slice(NULL);
        return Ok(());
    }
    let written = request_budget.budget().response_text();
    write_picked(parts, above, out, written).await
}

async fn remainder(
    out: &mut Vec<u8>,
    loaded: &Loaded<'_>,
    read: usize,
    request_budget: &RequestBudget,
) -> Result<()> {
    let Some(remainder) = loaded.remainder(read)? else {
        out.extend_from_slice(NULL);
        return Ok(());
    };
    let written = request_budget.budget().response_text();
    remainder.write_json(out, written).await
}

/// A place in list form.
fn place(out: &mut Vec<u8>, place: &Place) {
    out.push(b'[');
    for (at, segment) in place.0.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match segment {
            Segment::Key(key) => write_string(out, key),
            Segment::Index(index) => out.extend_from_slice(index.to_string().as_bytes()),
        }
    }
    out.push(b']');
}

/// Converts an error, with its location in the query and its path in the response.
fn located(error: &Error, positions: &[ResponsePosition<'_>], position: usize) -> ServerError {
    let mut told = server_error(error);
    let mut at = Some(position);
    while let Some(ResponsePosition { around, is }) = at.map(|at| positions[at]) {
        told.path.push(match is {
            PositionKind::Field(selected) => {
                if told.locations.is_empty() {
                    told.locations.push(selected.pos);
                }
                PathSegment::Field(selected.key.to_string())
            }
            PositionKind::Element(index) => PathSegment::Index(index),
        });
        at = around;
    }
    told.path.reverse();
    told
}
