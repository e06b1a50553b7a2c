//! Where the steps of a response find what was read: outside of lists, and for one element of a list.

use std::borrow::Cow;

use super::bound::{Bound, BoundReads};
use super::found::{ElementAnswers, FoundPage};
use crate::database::{DocumentKey, Loaded, PickedPart, ReadRequest, Value, write_picked};
use crate::document::json::write_string;
use crate::document::path::Place;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::mismatch;
use crate::graphql::objects::document::JsonKind;

pub(super) const NULL: &[u8] = b"null";

/// What the current steps write: the element of a list, or what is outside of lists.
pub(super) struct Element<'a> {
    bound: &'a Bound<'a>,
    /// The document of an element of a page.
    document: Option<&'a DocumentKey>,
    source: ReadSource<'a>,
}

/// Where the data of reads is.
enum ReadSource<'a> {
    /// The reads of the request from the number `first` on.
    Loaded {
        loaded: &'a Loaded<'a>,
        first: usize,
    },
    /// The values of index entries, from the number `first` on.
    Entries { page: &'a FoundPage, first: usize },
    /// The values of index entries as they are stored, from the number `first` on.
    Values {
        values: &'a [Option<Value>],
        first: usize,
    },
    /// The part that a JSONPath query selected, and the reads below it.
    Selected {
        part: Value,
        reads: &'a BoundReads<'a>,
    },
}

impl<'a> Element<'a> {
    /// What is outside of lists.
    pub(super) fn outside(bound: &'a Bound<'a>, loaded: &'a Loaded<'a>) -> Self {
        Self {
            bound,
            document: None,
            source: ReadSource::Loaded { loaded, first: 0 },
        }
    }

    /// An element of the page of a list.
    pub(super) fn of_page(
        bound: &'a Bound<'a>,
        loaded: &'a Loaded<'a>,
        (list, page): (usize, &'a FoundPage),
        element: usize,
    ) -> Self {
        let reads = element * bound.lists[list].reads.0.len();
        let source = match &page.answers {
            ElementAnswers::Reads(first) => ReadSource::Loaded {
                loaded,
                first: first + reads,
            },
            ElementAnswers::Entries(_) => ReadSource::Entries { page, first: reads },
            ElementAnswers::Values(values) => ReadSource::Values {
                values,
                first: reads,
            },
        };
        Self {
            bound,
            document: page.documents.get(element),
            source,
        }
    }

    /// A part that the JSONPath query of a list selected.
    pub(super) fn selected(bound: &'a Bound<'a>, list: usize, part: Value) -> Self {
        let reads = &bound.lists[list].reads;
        Self {
            bound,
            document: None,
            source: ReadSource::Selected { part, reads },
        }
    }

    /// The document with this number; in a page, the document of the element.
    pub(super) fn document(&self, number: usize) -> &DocumentKey {
        self.document
            .unwrap_or_else(|| &self.bound.documents[number])
    }

    /// The kind of the value that a read found; none if nothing is stored there.
    pub(super) fn kind(&self, read: usize) -> Result<Option<JsonKind>> {
        let kind = match &self.source {
            ReadSource::Loaded { loaded, first } => {
                let slice = loaded.slice(first + read)?;
                slice.map(|slice| slice.kind()).transpose()?
            }
            ReadSource::Entries { .. } | ReadSource::Values { .. } => return Err(mismatch()),
            ReadSource::Selected { part, reads } => {
                let part = part_at(part, reads, read)?;
                part.map(|part| part.kind()).transpose()?
            }
        };
        Ok(kind.map(JsonKind::from))
    }

    /// The place that a read found.
    pub(super) fn place(&self, read: usize) -> Result<Place> {
        let place = match &self.source {
            ReadSource::Loaded { loaded, first } => loaded.place(first + read)?,
            ReadSource::Entries { .. } | ReadSource::Values { .. } => None,
            ReadSource::Selected { part, reads } => {
                part_at(part, reads, read)?.map(|part| part.place.clone())
            }
        };
        place.ok_or_else(mismatch)
    }

    /// Writes the version that was read as a JSON string, or null.
    pub(super) fn write_version(&self, out: &mut Vec<u8>, read: usize) -> Result<()> {
        let ReadSource::Loaded { loaded, first } = &self.source else {
            return Err(mismatch());
        };
        match loaded.version(first + read)? {
            Some(version) => write_string(out, &version.to_string()),
            None => out.extend_from_slice(NULL),
        }
        Ok(())
    }

    /// Writes the value that was read as JSON; null if nothing is stored there.
    pub(super) async fn write_value(
        &self,
        out: &mut Vec<u8>,
        read: usize,
        request_budget: &RequestBudget,
    ) -> Result<()> {
        let written = request_budget.budget().response_text();
        match &self.source {
            ReadSource::Loaded { loaded, first } => {
                if let Some(slice) = loaded.slice(first + read)? {
                    return slice.write_json(out, written).await;
                }
            }
            ReadSource::Entries { page, first } => {
                let ElementAnswers::Entries(texts) = &page.answers else {
                    return Err(mismatch());
                };
                out.extend_from_slice(texts.get(first + read).ok_or_else(mismatch)?);
                return Ok(());
            }
            ReadSource::Values { values, first } => {
                if let Some(value) = values.get(first + read).ok_or_else(mismatch)? {
                    return value.slice().write_json(out, written).await;
                }
            }
            ReadSource::Selected { part, reads } => {
                if let Some(part) = part_at(part, reads, read)? {
                    return part.slice().write_json(out, written).await;
                }
            }
        }
        out.extend_from_slice(NULL);
        Ok(())
    }

    /// Writes the value at the place with this many segments, with only the parts that were read;
    /// null if there are none. In a selected part, the segments begin at the part.
    pub(super) async fn write_picked(
        &self,
        out: &mut Vec<u8>,
        (reads, above): (&[usize], usize),
        request_budget: &RequestBudget,
    ) -> Result<()> {
        let mut values = Vec::new();
        let (parts, above) = match &self.source {
            ReadSource::Loaded { loaded, first } => {
                let mut parts = Vec::with_capacity(reads.len());
                for read in reads.iter().map(|read| first + read) {
                    if let Some(value) = loaded.slice(read)? {
                        let place = loaded.place(read)?.ok_or_else(mismatch)?;
                        parts.push(PickedPart { place, value });
                    }
                }
                (parts, above)
            }
            ReadSource::Entries { .. } => return Err(mismatch()),
            ReadSource::Values { values, first } => {
                let mut parts = Vec::with_capacity(reads.len());
                for read in reads.iter().map(|read| first + read) {
                    let value = values.get(read).ok_or_else(mismatch)?;
                    parts.extend(value.as_ref().map(Value::picked));
                }
                (parts, above)
            }
            ReadSource::Selected { part, reads: bound } => {
                for read in reads {
                    values.extend(part_at(part, bound, *read)?);
                }
                let parts = values.iter().map(|value| value.picked());
                (parts.collect(), part.place.0.len() + above)
            }
        };
        if parts.is_empty() {
            out.extend_from_slice(NULL);
            return Ok(());
        }
        let written = request_budget.budget().response_text();
        write_picked(parts, above, out, written).await
    }

    /// Writes the value that was read without its omitted parts; null if nothing remains.
    pub(super) async fn write_remainder(
        &self,
        out: &mut Vec<u8>,
        read: usize,
        request_budget: &RequestBudget,
    ) -> Result<()> {
        let ReadSource::Loaded { loaded, first } = &self.source else {
            return Err(mismatch());
        };
        let Some(remainder) = loaded.remainder(first + read)? else {
            out.extend_from_slice(NULL);
            return Ok(());
        };
        let written = request_budget.budget().response_text();
        remainder.write_json(out, written).await
    }
}

/// What a read finds in a selected part.
fn part_at<'v>(
    part: &'v Value,
    reads: &BoundReads<'_>,
    read: usize,
) -> Result<Option<Cow<'v, Value>>> {
    match reads.0.get(read) {
        Some(ReadRequest::Value(_, path, _)) if path.tokens().is_empty() => {
            Ok(Some(Cow::Borrowed(part)))
        }
        Some(ReadRequest::Value(_, path, _)) => Ok(part.at(path).map(Cow::Owned)),
        _ => Err(mismatch()),
    }
}
