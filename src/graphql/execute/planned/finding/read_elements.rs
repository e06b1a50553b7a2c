//! Reads what the selection needs of the elements that the lookups of a level found.

use std::borrow::Cow;
use std::sync::Arc;

use super::document_pages::{ElementAnswers, parts};
use super::finder::Finder;
use super::found::Found;
use super::rounds::Rounds;
use crate::budget::in_turns;
use crate::database::{Answer, DocumentKey, Extent, ReadRequest, Value, load};
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{Bound, BoundReads};
use crate::limits::HELD_PER_READ;

/// An element whose reads are made by itself.
#[derive(Clone, Copy)]
enum Unread<'r> {
    /// A child that was not read as a whole. Its first pair is known.
    Child(&'r Value),
    /// A document.
    Document(&'r Arc<DocumentKey>),
}

impl<'r> Unread<'r> {
    fn document(self) -> &'r Arc<DocumentKey> {
        match self {
            Self::Child(child) => &child.document,
            Self::Document(document) => document,
        }
    }

    /// The path of the element in the document, and its memory.
    fn base(self) -> (Path, usize) {
        match self {
            Self::Child(child) => (Path::from(&child.place), child.place.held_bytes()),
            Self::Document(_) => (Path::default(), 0),
        }
    }

    /// The answer to a read, if it is known.
    fn known(self, read: &ReadRequest<usize, Cow<'_, Path>>) -> Option<Answer> {
        match self {
            Self::Child(child) if is_beginning(read) => Some(Answer::Value(Some(child.clone()))),
            _ => None,
        }
    }
}

impl Rounds<'_> {
    /// The elements of an instance whose reads are made by themselves, and the reads of each.
    fn unread<'r>(
        &'r self,
        bound: &'r Bound<'_>,
        instance: usize,
    ) -> Option<(Vec<Unread<'r>>, &'r BoundReads<'r>)> {
        let instance = &self.0[instance];
        let elements = match &instance.found {
            Ok(Found::Children(found)) => found.partial().map(Unread::Child).collect(),
            Ok(Found::Followed(found)) => found.documents.iter().map(Unread::Document).collect(),
            Ok(Found::Referring(page)) => match page.answers {
                ElementAnswers::Reads(_) => page.documents.iter().map(Unread::Document).collect(),
                _ => return None,
            },
            _ => return None,
        };
        Some((elements, &bound.scopes[instance.scope(bound)?].reads))
    }

    /// Reads what the selection needs from what these instances have found, in one round. Whole children
    /// have it.
    pub(super) async fn read_elements(
        &mut self,
        finder: &Finder<'_>,
        instances: &[usize],
    ) -> Result<()> {
        let memory = &finder.request_budget.memory;
        let mut requests: Vec<ReadRequest> = Vec::new();
        for number in instances {
            let Some((elements, reads)) = self.unread(finder.bound, *number) else {
                continue;
            };
            let mut begun = in_turns(elements);
            while let Some(element) = begun.next().await {
                let asked = reads.0.iter().filter(|read| element.known(read).is_none());
                let request_budget = finder.request_budget;
                request_budget.places(asked.clone().map(ReadRequest::places).sum())?;
                let (base, held) = element.base();
                let held = HELD_PER_READ + held;
                memory.hold(reads.0.iter().map(parts).sum::<usize>() * held)?;
                requests.extend(asked.map(|read| below(read, element.document(), &base)));
            }
        }
        let budget = memory.budget();
        let requested = || requests.iter().collect();
        let requested: Vec<&ReadRequest> = budget.portion(requests.len() as u64, requested).await;
        let mut loaded = match &requested[..] {
            [] => Vec::new(),
            requested => load(finder.read()?, requested, memory).await,
        }
        .into_iter();
        for number in instances.iter().copied() {
            let Some((elements, reads)) = self.unread(finder.bound, number) else {
                continue;
            };
            let mut answers = Vec::with_capacity(elements.len() * reads.0.len());
            let mut begun = in_turns(elements);
            while let Some(element) = begun.next().await {
                answers.extend(reads.0.iter().map(|read| match element.known(read) {
                    Some(known) => Ok(known),
                    None => loaded.next().unwrap_or_else(|| Err(mismatch())),
                }));
            }
            drop(begun);
            match &mut self.0[number].found {
                Ok(Found::Children(found)) => found.answer(answers),
                Ok(Found::Followed(found)) => found.answer(answers),
                Ok(Found::Referring(page)) => page.answers = ElementAnswers::Answers(answers),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether a read is of the beginning of the element, which a page of children has.
fn is_beginning(read: &ReadRequest<usize, Cow<'_, Path>>) -> bool {
    matches!(read, ReadRequest::Value(_, path, Extent::First) if path.tokens().is_empty())
}

/// The read of an element, from the root of its document.
fn below(
    read: &ReadRequest<usize, Cow<'_, Path>>,
    document: &Arc<DocumentKey>,
    base: &Path,
) -> ReadRequest {
    match read {
        ReadRequest::Value(_, path, extent) => {
            ReadRequest::Value(document.clone(), base.join(path), *extent)
        }
        ReadRequest::Remainder(_, path, omitted) => {
            let omitted = omitted.iter().map(|part| base.join(part));
            ReadRequest::Remainder(document.clone(), base.join(path), omitted.collect())
        }
        ReadRequest::Between(_, path, range) => {
            let range = Arc::new(range.inside(base));
            ReadRequest::Between(document.clone(), base.join(path), range)
        }
        ReadRequest::Version(_) => ReadRequest::Version(document.clone()),
    }
}
