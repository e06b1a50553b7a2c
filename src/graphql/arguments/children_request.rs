//! The arguments of the field `children`, and the cursors of its pages.

use async_graphql::Value;

use super::page_arguments::{AskedPage, FieldRequest};
use crate::database::{ChildBounds, DocumentKey};
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::graphql::scalars::list_cursor;
use crate::graphql::scalars::scalar_types::{SegmentScalar, parsed};
use crate::key::{KeyStep, append_segment, step};

/// The arguments of a field `children`, or of a typed list or map.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChildrenRequest {
    pub(crate) page: AskedPage,
    pub(crate) within: ChildBounds,
    /// Whether the page has to have all children within the bounds.
    pub(crate) complete: bool,
}

impl FieldRequest for ChildrenRequest {
    fn set(&mut self, name: &str, argument: Value) -> Result<()> {
        let segment = |argument| {
            let given: Option<SegmentScalar> = parsed(Some(argument))?;
            Ok::<_, Error>(given.map(|SegmentScalar(segment)| segment))
        };
        match name {
            "prefix" => self.within.prefix = parsed(Some(argument))?,
            "from" => self.within.from = segment(argument)?,
            "to" => self.within.to = segment(argument)?,
            _ => self.page.set(name, argument)?,
        }
        Ok(())
    }
}

/// A digest of a place and of the bounds on its children, which binds their cursors to them.
///
/// # Errors
/// `TOO_LARGE`: the key of the place exceeds the limit.
pub(crate) fn digest(document: &DocumentKey, place: &Place, within: &ChildBounds) -> Result<u64> {
    let mut query = document.place(place)?;
    let ChildBounds { prefix, from, to } = within;
    let prefix = prefix.clone().map(Segment::Key);
    for (kind, bound) in [&prefix, from, to].into_iter().enumerate() {
        if let Some(bound) = bound {
            // No segment begins with 0xFF.
            query.extend_from_slice(&[0xFF, u8::try_from(kind).unwrap_or(u8::MAX)]);
            append_segment(&mut query, bound.as_ref());
        }
    }
    Ok(list_cursor::digest(&query))
}

pub(crate) fn encode_cursor(digest: u64, last: &Segment) -> String {
    let mut position = Vec::new();
    append_segment(&mut position, last.as_ref());
    list_cursor::encode(digest, &position)
}

pub(crate) fn decode_cursor(cursor: &str, digest: u64, argument: &str) -> Result<Segment> {
    let last = list_cursor::decode(cursor, digest, argument, "the children of this value")?;
    match step(&last) {
        Some((KeyStep::Key(key), bytes)) if bytes == last.len() => {
            Ok(Segment::Key(key.into_owned()))
        }
        Some((KeyStep::Index(index), bytes)) if bytes == last.len() => Ok(Segment::Index(index)),
        _ => Err(list_cursor::damaged(argument)),
    }
}
