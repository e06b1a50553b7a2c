//! Where the steps of a response find what was read: for the root, and for one element of a lookup.

use std::borrow::Cow;
use std::sync::Arc;

use super::document_pages::{ElementAnswers, FoundPage};
use super::found::Found;
use crate::budget::count_steps;
use crate::database::{
    Answer, DocumentKey, Extent, Loaded, PartsBetween, PickedPart, ReadRequest, Remainder, Value,
    write_picked,
};
use crate::document::json::write_string;
use crate::document::leaf::Kind;
use crate::document::path::{Path, PathRange, Place};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{Bound, BoundReads, ROOT, ValueAt};
use crate::limits::COPIED_BYTES_PER_STEP;

pub(crate) const NULL: &[u8] = b"null";

/// An element of a scope.
pub(crate) struct Element<'a> {
    pub(crate) scope: usize,
    /// The document of an element that is one.
    pub(crate) document: Option<&'a DocumentKey>,
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
    /// A whole value, and the reads below it: a child, or the part that a JSONPath query selected.
    Whole {
        part: Cow<'a, Value>,
        reads: &'a BoundReads<'a>,
    },
    /// The answers to the reads of a document, or below a child that was not read as a whole, whose place
    /// it is.
    Answers {
        place: Option<&'a Place>,
        answers: &'a [Result<Answer>],
    },
    /// An element without reads, such as a group, a collection or an index.
    Found,
}

/// What the reads of an element have of a value.
pub(crate) enum ContainedValue {
    /// The value, or that nothing is stored at its place.
    Known(Option<Value>),
    NotRead,
}

impl<'a> Element<'a> {
    /// The root.
    pub(crate) fn root(loaded: &'a Loaded<'a>) -> Self {
        Self {
            scope: ROOT,
            document: None,
            source: ReadSource::Loaded { loaded, first: 0 },
        }
    }

    /// An element of what a lookup found. `scope` is that of the elements.
    pub(crate) fn of(
        bound: &'a Bound<'a>,
        scope: usize,
        loaded: &'a Loaded<'a>,
        found: &'a Found<'a>,
        element: usize,
    ) -> Result<Self> {
        let reads = &bound.scopes[scope].reads;
        let first = element * reads.0.len();
        let mut document = None;
        let source = match found {
            Found::Root => return Ok(Self::root(loaded)),
            Found::Page(page) => {
                document = page.documents.get(element).map(|document| &**document);
                of_page(page, (first, reads.0.len()), loaded)?
            }
            Found::Referring(page) => {
                document = page.documents.get(element).map(|document| &**document);
                of_page(page, (first, reads.0.len()), loaded)?
            }
            Found::Selected(selection) => {
                let node = selection.nodes().get(element).ok_or_else(mismatch)?;
                let part = selection.value(node).ok_or_else(mismatch)?;
                // Its key and its place are copies.
                count_steps(2 * part.place.held_bytes() as u64 / COPIED_BYTES_PER_STEP);
                let part = Cow::Owned(part);
                ReadSource::Whole { part, reads }
            }
            Found::Children(found) => {
                let part = &found.page.get(element).ok_or_else(mismatch)?.part;
                if part.is_whole() {
                    let part = Cow::Borrowed(part);
                    ReadSource::Whole { part, reads }
                } else {
                    ReadSource::Answers {
                        place: Some(&part.place),
                        answers: found.answers(element, reads.0.len())?,
                    }
                }
            }
            Found::Followed(found) => {
                document = found.documents.get(element).map(|document| &**document);
                ReadSource::Answers {
                    place: None,
                    answers: found.answers(first, reads.0.len())?,
                }
            }
            Found::Groups(_)
            | Found::Collections(_)
            | Found::Indexes(_)
            | Found::Type(_)
            | Found::Misfits(_)
            | Found::Given(_)
            | Found::Updates(_) => ReadSource::Found,
            Found::Length(_) | Found::Text(_) | Found::Json(_) | Found::Nothing => {
                return Err(mismatch());
            }
        };
        Ok(Self {
            scope,
            document,
            source,
        })
    }

    /// The place of a child or a selected part, at which the paths of its reads begin. None if they
    /// begin at the root of a document.
    pub(crate) fn base(&self) -> Option<&Place> {
        match &self.source {
            ReadSource::Answers { place, .. } => *place,
            ReadSource::Whole { part, .. } => Some(&part.place),
            _ => None,
        }
    }

    /// The value at a path in the document of `of`, if a read has the whole of it. The path begins at
    /// the element.
    pub(crate) fn contained(
        &self,
        reads: &BoundReads<'_>,
        of: &ValueAt<'_>,
        path: &Path,
        document: &Arc<DocumentKey>,
    ) -> Result<ContainedValue> {
        if let ReadSource::Whole { part, .. } = &self.source {
            return Ok(ContainedValue::Known(part.at(path)));
        }
        for (number, read) in reads.0.iter().enumerate() {
            if let ReadRequest::Value(bound, at, Extent::Whole) = read
                && of.document.is(*bound)
                && let Some(below) = path.below(at)
            {
                let whole = self.part(number, document)?;
                let value = whole.and_then(|whole| whole.at(&below));
                return Ok(ContainedValue::Known(value));
            }
        }
        Ok(ContainedValue::NotRead)
    }

    /// The whole value at the place of `of`, if a read has it. None if that read has failed, so that its
    /// error is not that of other fields.
    pub(crate) fn whole(
        &self,
        reads: &BoundReads<'_>,
        of: &ValueAt<'_>,
        document: &Arc<DocumentKey>,
    ) -> Option<Value> {
        match self.contained(reads, of, &of.path, document) {
            Ok(ContainedValue::Known(value)) => value.filter(Value::is_whole),
            Ok(ContainedValue::NotRead) | Err(_) => None,
        }
    }

    /// The value that a read found, of all sources but the reads of the request. None if nothing is
    /// stored there.
    fn found(&self, read: usize) -> Result<Option<Cow<'_, Value>>> {
        match &self.source {
            ReadSource::Values { values, first } => {
                let value = values.get(first + read).ok_or_else(mismatch)?;
                Ok(value.as_ref().map(Cow::Borrowed))
            }
            ReadSource::Answers { answers, .. } => match answer_in(answers, read)? {
                Answer::Value(value) => Ok(value.as_ref().map(Cow::Borrowed)),
                Answer::Remainder(_) | Answer::Between(_) | Answer::Version(_) => Err(mismatch()),
            },
            ReadSource::Whole { part, reads } => match reads.0.get(read) {
                Some(ReadRequest::Value(_, path, _)) if path.tokens().is_empty() => {
                    Ok(Some(Cow::Borrowed(&**part)))
                }
                Some(ReadRequest::Value(_, path, _)) => Ok(part.at(path).map(Cow::Owned)),
                _ => Err(mismatch()),
            },
            ReadSource::Loaded { .. } | ReadSource::Entries { .. } | ReadSource::Found => {
                Err(mismatch())
            }
        }
    }

    /// The value that a read found. None if nothing is stored there.
    pub(crate) fn part(&self, read: usize, document: &Arc<DocumentKey>) -> Result<Option<Value>> {
        match &self.source {
            ReadSource::Loaded { loaded, first } => loaded.part(first + read, document),
            _ => Ok(self.found(read)?.map(Cow::into_owned)),
        }
    }

    /// The kind of the value that a read found; none if nothing is stored there.
    pub(crate) fn kind(&self, read: usize) -> Result<Option<Kind>> {
        match &self.source {
            ReadSource::Loaded { loaded, first } => {
                let slice = loaded.slice(first + read)?;
                slice.map(|slice| slice.kind()).transpose()
            }
            _ => self.found(read)?.map(|value| value.kind()).transpose(),
        }
    }

    /// The place that a read found. None if nothing is stored there.
    pub(crate) fn place(&self, read: usize) -> Result<Option<Place>> {
        match &self.source {
            ReadSource::Loaded { loaded, first } => loaded.place(first + read),
            _ => Ok(self.found(read)?.map(|value| value.place.clone())),
        }
    }

    /// Writes the version that was read as a JSON string, or null.
    pub(crate) fn write_version(&self, out: &mut Vec<u8>, read: usize) -> Result<()> {
        let version = match &self.source {
            ReadSource::Loaded { loaded, first } => loaded.version(first + read)?,
            ReadSource::Answers { answers, .. } => match answer_in(answers, read)? {
                Answer::Version(version) => *version,
                _ => return Err(mismatch()),
            },
            _ => return Err(mismatch()),
        };
        match version {
            Some(version) => write_string(out, &version.to_string()),
            None => out.extend_from_slice(NULL),
        }
        Ok(())
    }

    /// Writes the value that was read as JSON; null if nothing is stored there.
    pub(crate) async fn write_value(
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
            _ => {
                if let Some(value) = self.found(read)? {
                    return value.slice().write_json(out, written).await;
                }
            }
        }
        out.extend_from_slice(NULL);
        Ok(())
    }

    /// Writes the value at the place with this many segments, with only the parts that were read;
    /// null if there are none. In a child and in a selected part, the segments begin there.
    pub(crate) async fn write_picked(
        &self,
        out: &mut Vec<u8>,
        (reads, above): (&[usize], usize),
        request_budget: &RequestBudget,
    ) -> Result<()> {
        let mut values = Vec::new();
        let mut parts = Vec::with_capacity(reads.len());
        match &self.source {
            ReadSource::Loaded { loaded, first } => {
                for read in reads.iter().map(|read| first + read) {
                    if let Some(value) = loaded.slice(read)? {
                        let place = loaded.place(read)?.ok_or_else(mismatch)?;
                        parts.push(PickedPart { place, value });
                    }
                }
            }
            ReadSource::Whole { .. } => {
                for read in reads {
                    values.extend(self.found(*read)?);
                }
                parts.extend(values.iter().map(|value| value.picked()));
            }
            _ => {
                for read in reads {
                    if let Some(Cow::Borrowed(value)) = self.found(*read)? {
                        parts.push(value.picked());
                    }
                }
            }
        }
        let above = above + self.base().map_or(0, |base| base.0.len());
        if parts.is_empty() {
            out.extend_from_slice(NULL);
            return Ok(());
        }
        let written = request_budget.budget().response_text();
        write_picked(parts, above, out, written).await
    }

    /// Writes the value that was read without its omitted parts; null if nothing remains.
    pub(crate) async fn write_remainder(
        &self,
        out: &mut Vec<u8>,
        read: usize,
        request_budget: &RequestBudget,
    ) -> Result<()> {
        let remainder = match &self.source {
            ReadSource::Loaded { loaded, first } => loaded.remainder(first + read)?,
            ReadSource::Answers { answers, .. } => match answer_in(answers, read)? {
                Answer::Remainder(remainder) => remainder.clone(),
                _ => return Err(mismatch()),
            },
            ReadSource::Whole { part, reads } => match reads.0.get(read) {
                Some(ReadRequest::Remainder(_, path, omitted)) => remainder(part, path, omitted),
                _ => return Err(mismatch()),
            },
            _ => return Err(mismatch()),
        };
        let Some(remainder) = remainder else {
            out.extend_from_slice(NULL);
            return Ok(());
        };
        let written = request_budget.budget().response_text();
        remainder.write_json(out, written).await
    }

    /// Writes the parts that were read between two paths, each at its place; null if there are none.
    pub(crate) async fn write_between(
        &self,
        out: &mut Vec<u8>,
        read: usize,
        request_budget: &RequestBudget,
    ) -> Result<()> {
        let parts = match &self.source {
            ReadSource::Loaded { loaded, first } => loaded.between(first + read)?,
            ReadSource::Answers { answers, .. } => match answer_in(answers, read)? {
                Answer::Between(parts) => parts.clone(),
                _ => return Err(mismatch()),
            },
            ReadSource::Whole { part, reads } => match reads.0.get(read) {
                Some(ReadRequest::Between(_, path, range)) => between(part, path, range)?,
                _ => return Err(mismatch()),
            },
            _ => return Err(mismatch()),
        };
        let Some(parts) = parts else {
            out.extend_from_slice(NULL);
            return Ok(());
        };
        let written = request_budget.budget().response_text();
        parts.write_json(out, written).await
    }
}

/// What has the reads of an element of a page, of which the first one has a number.
fn of_page<'a>(
    page: &'a FoundPage,
    (first, reads): (usize, usize),
    loaded: &'a Loaded<'a>,
) -> Result<ReadSource<'a>> {
    Ok(match &page.answers {
        ElementAnswers::Reads(of_page) => ReadSource::Loaded {
            loaded,
            first: of_page + first,
        },
        ElementAnswers::Answers(answers) => {
            let answers = answers.get(first..first + reads);
            ReadSource::Answers {
                place: None,
                answers: answers.ok_or_else(mismatch)?,
            }
        }
        ElementAnswers::Entries(_) => ReadSource::Entries { page, first },
        ElementAnswers::Values(values) => ReadSource::Values { values, first },
    })
}

fn answer_in(answers: &[Result<Answer>], read: usize) -> Result<&Answer> {
    let answer = answers.get(read).ok_or_else(mismatch)?;
    answer.as_ref().map_err(Clone::clone)
}

/// The value at a path below a whole value, without parts. The paths of the parts begin at the whole
/// value, too.
fn remainder(whole: &Value, path: &Path, omitted: &[Path]) -> Option<Remainder> {
    let part = whole.at(path)?;
    let omitted: Vec<Path> = omitted
        .iter()
        .filter_map(|omitted| omitted.below(path))
        .collect();
    part.without(&omitted)
}

/// The parts of the value at a path below a whole value between two paths, which begin at the whole
/// value, too.
fn between(whole: &Value, path: &Path, range: &PathRange) -> Result<Option<PartsBetween>> {
    match (whole.at(path), range.below(path)) {
        (Some(part), Some(range)) => part.between(&range),
        _ => Ok(None),
    }
}
