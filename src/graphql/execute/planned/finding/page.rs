//! A page of documents, and what answers the reads of its elements.

use std::sync::Arc;

use crate::database::{BorrowedRequest, DocumentKey, ReadRequest, Value};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::execute::planned::binding::bound::{Scope, request};
use crate::graphql::objects::documents::{FoundDocuments, PagePlan};
use crate::graphql::objects::entry_reads::{EntryReads, EntryTexts};
use crate::graphql::objects::page::PageBoundaries;
use crate::limits::HELD_PER_READ;

/// The documents of a page, and what answers the reads of its elements.
pub(crate) struct FoundPage {
    found: FoundDocuments,
    pub(crate) documents: Vec<Arc<DocumentKey>>,
    pub(crate) answers: ElementAnswers,
    pub(crate) boundaries: PageBoundaries,
    pub(crate) plan: PagePlan,
}

/// What answers the reads of the elements of a page.
pub(crate) enum ElementAnswers {
    /// The reads of the request from this number on, element by element.
    Reads(usize),
    /// The values of index entries as JSON.
    Entries(EntryTexts),
    /// The values of index entries as they are stored, for steps that need pairs.
    Values(Vec<Option<Value>>),
}

impl FoundPage {
    /// Whether the documents are consecutive in the catalog.
    pub(crate) fn is_in_a_row(&self) -> bool {
        self.found.in_a_row
    }

    /// The number of documents on all pages, if it is known.
    pub(crate) fn total_count(&self) -> Option<i32> {
        self.found.total_count
    }

    /// The cursor of an element.
    pub(crate) fn cursor(&self, element: usize) -> Option<String> {
        let row = self.found.rows.get(element)?;
        Some(self.found.cursor(row))
    }

    /// Counts what the elements of the page take.
    pub(crate) fn new(
        found: FoundDocuments,
        list: &Scope<'_>,
        request_budget: &RequestBudget,
    ) -> Result<Self> {
        let rows = found.rows.len();
        let places = list.reads.0.iter().map(places).sum::<usize>();
        let fields = list.fields.max(1);
        request_budget.fields(rows.saturating_mul(fields))?;
        request_budget.places(rows.saturating_mul(places))?;
        let documents = found.documents().map(|document| document.map(Arc::new));
        let documents: Vec<Arc<DocumentKey>> = documents.collect::<Result<_>>()?;
        let of_entries = EntryReads::new(&list.reads.0, &found.columns);
        let of_entries = of_entries.and_then(|entries| {
            Some(if list.needs_pairs {
                ElementAnswers::Values(entries.values(&documents, &found.rows)?)
            } else {
                ElementAnswers::Entries(entries.texts(&found.rows)?)
            })
        });
        let is_read = !list.reads.0.is_empty() && of_entries.is_none() && rows > 0;
        let answers = of_entries.unwrap_or(ElementAnswers::Reads(0));
        request_budget.memory.hold(match &answers {
            ElementAnswers::Entries(texts) => texts.bytes(),
            ElementAnswers::Reads(_) | ElementAnswers::Values(_) => {
                rows * list.reads.0.iter().map(parts).sum::<usize>() * HELD_PER_READ
            }
        })?;
        Ok(Self {
            documents,
            boundaries: found.boundaries(),
            plan: found.plan(is_read),
            answers,
            found,
        })
    }

    /// Adds the reads of the elements to those of the request.
    pub(crate) fn request<'r>(
        &'r self,
        list: &'r Scope<'_>,
        requested: &mut Vec<BorrowedRequest<'r>>,
    ) {
        if matches!(self.answers, ElementAnswers::Reads(_)) {
            for document in &self.documents {
                let reads = list.reads.0.iter();
                requested.extend(reads.map(|read| request(read, document)));
            }
        }
    }
}

/// The parts of a read of one element that take memory: the value, and each part that it omits.
pub(crate) fn parts<D, P>(read: &ReadRequest<D, P>) -> usize {
    places(read).max(1)
}

/// The places that a read of one element reads.
pub(crate) fn places<D, P>(read: &ReadRequest<D, P>) -> usize {
    match read {
        ReadRequest::Value(..) => 1,
        ReadRequest::Remainder(_, _, omitted) => 1 + omitted.len(),
        ReadRequest::Version(_) => 0,
    }
}
