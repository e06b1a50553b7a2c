//! The pages of documents of a planned query: they are found before anything else is read.

use futures::future::{BoxFuture, try_join_all};

use super::arguments::PlanArguments;
use super::bound::{Bound, BoundList, ListOf, request};
use crate::database::{BorrowedRequest, DocumentKey, ReadRequest};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::objects::documents::{FoundDocuments, QueryPlanObject};
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
    /// The values of index entries.
    Entries(EntryTexts),
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

    /// Counts what the elements of the page take. None if the general executor must run the query.
    fn new(
        found: FoundDocuments,
        list: &BoundList<'_>,
        request_budget: &RequestBudget,
    ) -> Result<Option<Self>> {
        let rows = found.rows.len();
        let places = list.reads.0.iter().map(places).sum::<usize>();
        let fields = list.fields.max(1);
        request_budget.fields(rows.saturating_mul(fields))?;
        request_budget.places(rows.saturating_mul(places))?;
        let entries = EntryReads::new(&list.reads.0, &found.columns);
        let texts = entries.and_then(|entries| entries.texts(&found.rows));
        let is_read = !list.reads.0.is_empty() && texts.is_none() && rows > 0;
        let (held, answers) = match texts {
            // The steps read stored pairs.
            Some(_) if list.needs_pairs => return Ok(None),
            Some(texts) => (texts.bytes(), ElementAnswers::Entries(texts)),
            None => (
                rows * list.reads.0.len() * HELD_PER_READ,
                ElementAnswers::Reads(0),
            ),
        };
        request_budget.memory.hold(held)?;
        Ok(Some(Self {
            documents: found.documents().collect::<Result<_>>()?,
            page_info: found.page_info(),
            plan: found.plan(is_read),
            answers,
            found,
        }))
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
    /// Finds all pages. None if the general executor must run the query.
    ///
    /// # Errors
    /// As [`DocumentsRequest::search`](crate::graphql::objects::documents::DocumentsRequest::search).
    pub(super) async fn find(
        bound: &Bound<'_>,
        arguments: PlanArguments<'_>,
        read: &dyn Read,
        request_budget: &RequestBudget,
    ) -> Result<Option<Self>> {
        // Boxed, because the futures are large and are moved.
        let found = bound.lists.iter().map(|list| -> BoxFuture<'_, _> {
            Box::pin(find(list, arguments, read, request_budget))
        });
        let found = try_join_all(found).await?.into_iter();
        let Some(mut pages) = found.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
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

/// Finds the page of one list. None if the general executor must run the query.
async fn find(
    list: &BoundList<'_>,
    arguments: PlanArguments<'_>,
    read: &dyn Read,
    request_budget: &RequestBudget,
) -> Result<Option<Option<FoundPage>>> {
    let (named, total) = match &list.of {
        ListOf::Documents { arguments, total } => (*arguments, *total),
        ListOf::Selected(_) => return Ok(Some(None)),
    };
    let Some(documents) = arguments.documents(named) else {
        return Ok(None);
    };
    let found = documents.search(read, request_budget, total).await?;
    let page = FoundPage::new(found, list, request_budget)?;
    Ok(page.map(Some))
}
