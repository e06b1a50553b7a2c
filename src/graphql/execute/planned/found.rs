//! The pages of documents of a planned query: they are found before anything else is read.

use std::sync::Arc;

use futures::future::{BoxFuture, try_join_all};

use super::arguments::PlanArguments;
use super::bound::{Bound, BoundList, ListOf, request};
use crate::database::{BorrowedRequest, DocumentKey, ReadRequest, Value};
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::objects::documents::{DocumentsRequest, FoundDocuments, QueryPlanObject};
use crate::graphql::objects::entry_reads::{EntryReads, EntryTexts};
use crate::graphql::objects::page::PageInfo;
use crate::limits::HELD_PER_READ;
use crate::store::Read;

/// The documents of a page, and what answers the reads of its elements.
pub(crate) struct FoundPage {
    found: FoundDocuments,
    pub(crate) documents: Vec<DocumentKey>,
    pub(crate) answers: ElementAnswers,
    pub(crate) page_info: PageInfo,
    pub(crate) plan: QueryPlanObject,
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
    fn new(
        found: FoundDocuments,
        list: &BoundList<'_>,
        request_budget: &RequestBudget,
    ) -> Result<Self> {
        let rows = found.rows.len();
        let places = list.reads.0.iter().map(places).sum::<usize>();
        let fields = list.fields.max(1);
        request_budget.fields(rows.saturating_mul(fields))?;
        request_budget.places(rows.saturating_mul(places))?;
        let documents: Vec<DocumentKey> = found.documents().collect::<Result<_>>()?;
        let of_entries = EntryReads::new(&list.reads.0, &found.columns);
        let of_entries = of_entries.and_then(|entries| {
            Some(if list.needs_pairs {
                let documents = documents.iter().cloned().map(Arc::new);
                let documents: Vec<Arc<DocumentKey>> = documents.collect();
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
                rows * list.reads.0.len() * HELD_PER_READ
            }
        })?;
        Ok(Self {
            documents,
            page_info: found.page_info(),
            plan: found.plan(is_read),
            answers,
            found,
        })
    }

    /// Adds the reads of the elements to those of the request.
    fn request<'r>(&'r self, list: &'r BoundList<'_>, requested: &mut Vec<BorrowedRequest<'r>>) {
        if matches!(self.answers, ElementAnswers::Reads(_)) {
            for document in &self.documents {
                let reads = list.reads.0.iter();
                requested.extend(reads.map(|read| request(read, document)));
            }
        }
    }
}

/// The places that a read of one element reads.
fn places<D, P>(read: &ReadRequest<D, P>) -> usize {
    match read {
        ReadRequest::Value(..) => 1,
        ReadRequest::Remainder(_, _, omitted) => 1 + omitted.len(),
        ReadRequest::Version(_) => 0,
    }
}

/// The pages of a bound plan, by the numbers of their lists; none for lists of another kind.
#[derive(Default)]
pub(crate) struct FoundPages(Vec<Option<FoundPage>>);

impl FoundPages {
    /// Finds all pages. None if the general executor must run the query; nothing is read then.
    ///
    /// # Errors
    /// The position of the field that failed, and its error, as
    /// [`DocumentsRequest::search`](crate::graphql::objects::documents::DocumentsRequest::search).
    pub(super) async fn find(
        bound: &Bound<'_>,
        arguments: PlanArguments<'_>,
        read: &dyn Read,
        request_budget: &RequestBudget,
    ) -> Result<Option<Self>, (usize, Error)> {
        // All arguments are read before the first search, so that no search is abandoned.
        let requests = bound.lists.iter().map(|list| match &list.of {
            ListOf::Documents {
                arguments: named,
                total,
            } => Some(Some((arguments.documents(named)?, *total))),
            ListOf::Selected(_) => Some(None),
        });
        let Some(requests) = requests.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        // Boxed, because the futures are large and are moved.
        let lists = bound.lists.iter().zip(requests);
        let found = lists.map(|(list, request)| -> BoxFuture<'_, _> {
            Box::pin(async move {
                let Some((request, total)) = request else {
                    return Ok(None);
                };
                let found = find(list, request, total, read, request_budget).await;
                found.map(Some).map_err(|error| (list.position, error))
            })
        });
        let mut pages = try_join_all(found).await?;
        let mut next = bound.reads.0.len();
        for (page, list) in pages.iter_mut().zip(&bound.lists) {
            if let Some(page) = page
                && let ElementAnswers::Reads(first) = &mut page.answers
            {
                *first = next;
                next += page.documents.len() * list.reads.0.len();
            }
        }
        Ok(Some(Self(pages)))
    }

    /// The page with this number.
    pub(crate) fn page(&self, list: usize) -> Option<&FoundPage> {
        self.0.get(list)?.as_ref()
    }

    /// Whether a page has no document.
    pub(crate) fn has_empty(&self) -> bool {
        let mut pages = self.0.iter().flatten();
        pages.any(|page| page.documents.is_empty())
    }

    /// All reads of the request: those that are known before, and those of the elements of pages.
    pub(crate) fn requested<'r>(&'r self, bound: &'r Bound<'_>) -> Vec<BorrowedRequest<'r>> {
        let mut requested = bound.requested();
        for (page, list) in self.0.iter().zip(&bound.lists) {
            if let Some(page) = page {
                page.request(list, &mut requested);
            }
        }
        requested
    }

    /// Whether all reads are of documents that are consecutive in the catalog.
    pub(crate) fn is_in_a_row(&self, bound: &Bound<'_>) -> bool {
        match &self.0[..] {
            [Some(page)] => bound.reads.0.is_empty() && page.found.in_a_row,
            _ => false,
        }
    }
}

/// Finds the page of one list.
async fn find(
    list: &BoundList<'_>,
    request: DocumentsRequest,
    total: bool,
    read: &dyn Read,
    request_budget: &RequestBudget,
) -> Result<FoundPage> {
    let found = request.search(read, request_budget, total).await?;
    FoundPage::new(found, list, request_budget)
}
