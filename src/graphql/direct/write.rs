//! The response to a query, from the answers to what it wanted.

use async_graphql::{PathSegment, ServerError};

use super::super::document::Kind;
use super::super::response::server_error;
use super::super::tally::Tally;
use super::bind::{Bound, Spot, SpotIs, Step};
use crate::database::{Answer, Part};
use crate::document::json::write_string;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::key;

/// The response's data, and what went wrong: null stands where it did.
pub(in super::super) struct Written {
    /// `{"data":…`, without the end.
    pub(in super::super) data: Vec<u8>,
    pub(in super::super) errors: Vec<ServerError>,
}

/// Writes the response. Of what is large others have their turn meanwhile.
///
/// # Errors
/// Of what cannot be null; whatever bound of `tally` is passed.
pub(super) async fn write(
    bound: &Bound<'_>,
    answers: &[Result<Answer>],
    tally: &Tally,
) -> Result<Written> {
    let mut out = Vec::with_capacity(8 * bound.steps.len() + 64);
    let mut errors = Vec::new();
    let mut null = |out: &mut Vec<u8>, error: &Error, spot: usize| {
        errors.push(located(error, &bound.spots, spot));
        out.extend_from_slice(NULL);
    };
    let mut at = 0;
    while let Some(step) = bound.steps.get(at) {
        at += 1;
        match step {
            Step::Text(text) => out.extend_from_slice(text),
            Step::Open { want, spot, end } => match kind(&answers[*want]) {
                Ok(Some(_)) => out.push(b'{'),
                Ok(None) => {
                    out.extend_from_slice(NULL);
                    at = *end;
                }
                Err(error) => {
                    null(&mut out, &error, *spot);
                    at = *end;
                }
            },
            Step::Value { want, spot } => {
                let before = out.len();
                if let Err(error) = value(&mut out, &answers[*want], tally).await {
                    tally.check()?;
                    out.truncate(before);
                    null(&mut out, &error, *spot);
                }
            }
            Step::Version { want, spot } => match version(&answers[*want]) {
                Ok(Some(version)) => write_string(&mut out, &version.to_string()),
                Ok(None) => out.extend_from_slice(NULL),
                Err(error) => null(&mut out, &error, *spot),
            },
            Step::Kind(want) => {
                let kind = kind(&answers[*want])?.ok_or_else(mismatch)?;
                write_string(&mut out, kind.name());
            }
            Step::Path(want) => {
                place(
                    &mut out,
                    &part(&answers[*want])?.ok_or_else(mismatch)?.place,
                );
            }
        }
    }
    Ok(Written { data: out, errors })
}

const NULL: &[u8] = b"null";

fn part(answer: &Result<Answer>) -> Result<Option<&Part>> {
    match answer {
        Ok(Answer::Part(part)) => Ok(part.as_ref()),
        Ok(Answer::Version(_)) => Err(mismatch()),
        Err(error) => Err(error.clone()),
    }
}

fn kind(answer: &Result<Answer>) -> Result<Option<Kind>> {
    let kind = part(answer)?.map(Part::kind).transpose()?;
    Ok(kind.map(Kind::from))
}

fn version(answer: &Result<Answer>) -> Result<Option<key::Version>> {
    match answer {
        Ok(Answer::Version(version)) => Ok(*version),
        Ok(Answer::Part(_)) => Err(mismatch()),
        Err(error) => Err(error.clone()),
    }
}

async fn value(out: &mut Vec<u8>, answer: &Result<Answer>, tally: &Tally) -> Result<()> {
    let Some(part) = part(answer)? else {
        out.extend_from_slice(NULL);
        return Ok(());
    };
    // Nothing is made once the response is full.
    tally.carry(0)?;
    let before = out.len();
    part.write_json(out, tally.response_bytes()).await?;
    tally.carry(out.len() - before)
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

/// An error, with where it stands in the query and in the response.
fn located(error: &Error, spots: &[Spot<'_>], spot: usize) -> ServerError {
    let mut told = server_error(error);
    let mut at = Some(spot);
    while let Some(Spot { around, is }) = at.map(|at| spots[at]) {
        told.path.push(match is {
            SpotIs::Field(selected) => {
                if told.locations.is_empty() {
                    told.locations.push(selected.pos);
                }
                PathSegment::Field(selected.key.to_string())
            }
            SpotIs::Element(index) => PathSegment::Index(index),
        });
        at = around;
    }
    told.path.reverse();
    told
}

fn mismatch() -> Error {
    Error::internal("a load brought no answer to what it was asked")
}
