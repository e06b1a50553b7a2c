//! Pages of documents, and what answers the reads of their elements.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};

use super::finder::Finder;
use crate::budget::OwnedList;
use crate::database::{Answer, BorrowedRequest, DocumentKey, ReadRequest, Value};
use crate::error::{Error, Result};
use crate::graphql::arguments::documents_request::{DocumentsRequest, FoundDocuments, PageQuery};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{
    Bound, Lookup, LookupOf, ROOT, Scope, request,
};
use crate::graphql::execute::planned::finding::entry_reads::{EntryReads, EntryTexts};
use crate::graphql::execute::planned::permit::apply_rules::without_advice;
use crate::limits::{HELD_PER_READ, PAGES_AT_ONCE};

/// The documents of a page, and what answers the reads of its elements.
pub(crate) struct FoundPage {
    pub(crate) found: FoundDocuments,
    pub(crate) documents: OwnedList<Arc<DocumentKey>>,
    pub(crate) answers: ElementAnswers,
    /// Whether no document was read, neither to find the page nor for its selection.
    pub(crate) covered: bool,
}

/// What answers the reads of the elements of a page.
pub(crate) enum ElementAnswers {
    /// The reads of the request from this number on, element by element.
    Reads(usize),
    /// These, element by element.
    Answers(Vec<Result<Answer>>),
    /// The values of index entries as JSON.
    Entries(EntryTexts),
    /// The values of index entries as they are stored, for steps that need pairs.
    Values(Vec<Option<Value>>),
}

impl FoundPage {
    /// Counts what the elements of the page take.
    pub(crate) fn new(
        found: FoundDocuments,
        list: &Scope<'_>,
        request_budget: &RequestBudget,
    ) -> Result<Self> {
        let rows = found.page.rows.len();
        let places = list.reads.0.iter().map(ReadRequest::places).sum::<usize>();
        let fields = list.fields.max(1);
        request_budget.fields(rows.saturating_mul(fields))?;
        request_budget.places(rows.saturating_mul(places))?;
        let documents: OwnedList<Arc<DocumentKey>> = found
            .documents()
            .map(|document| document.map(Arc::new))
            .collect::<Result<_>>()?;
        let of_entries = EntryReads::new(&list.reads.0, &found.page.columns).and_then(|entries| {
            Some(if list.needs_pairs {
                ElementAnswers::Values(entries.values(&documents, &found.page.rows)?)
            } else {
                ElementAnswers::Entries(entries.texts(&found.page.rows)?)
            })
        });
        let is_read = !list.reads.0.is_empty() && of_entries.is_none() && rows > 0;
        let answers = of_entries.unwrap_or(ElementAnswers::Reads(0));
        request_budget.memory.hold(match &answers {
            ElementAnswers::Entries(texts) => texts.bytes(),
            ElementAnswers::Reads(_) | ElementAnswers::Answers(_) | ElementAnswers::Values(_) => {
                rows * list.reads.0.iter().map(parts).sum::<usize>() * HELD_PER_READ
            }
        })?;
        Ok(Self {
            documents,
            covered: found.page.examined == 0 && !is_read,
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

/// A page that is to be found.
enum PageToFind<'f> {
    Request(Box<DocumentsRequest>),
    /// The query that the rules allow.
    Permitted(&'f PageQuery),
}

/// The pages of documents of a plan, by the numbers of their lookups. None for other lookups.
pub(crate) struct FoundPages(Vec<Option<FoundPage>>);

impl FoundPages {
    /// Finds the pages, which depend on no read, several at a time. The next search begins when another has
    /// ended, so that no more than these take memory for what they do.
    ///
    /// # Errors
    /// The position of the field that failed, and its error, as
    /// [`PageQuery::search`](crate::graphql::arguments::documents_request::PageQuery::search).
    pub(crate) async fn find(finder: &Finder<'_>) -> Result<Self, (usize, Error)> {
        let bound = finder.bound;
        // All arguments are read before the first search, so that no search is abandoned.
        let requests = bound
            .lookups
            .iter()
            .enumerate()
            .map(|(number, lookup)| {
                let LookupOf::Documents(arguments) = &lookup.of else {
                    return Ok(None);
                };
                let asked = if let Some(permit) = finder.permit {
                    permit.page(number).map(PageToFind::Permitted)
                } else {
                    let request = finder
                        .arguments
                        .page(*arguments)
                        .map_err(|error| (lookup.position, error))?;
                    Some(PageToFind::Request(Box::new(request)))
                };
                let asked = asked.ok_or_else(|| (lookup.position, mismatch()))?;
                Ok(Some(asked))
            })
            .collect::<Result<Vec<_>, (usize, Error)>>()?;
        let mut searches: Vec<BoxFuture<'_, Result<_, (usize, Error)>>> = Vec::new();
        for (lookup, asked) in bound.lookups.iter().zip(requests) {
            searches.push(Box::pin(async move {
                let Some(asked) = asked else {
                    return Ok(None);
                };
                let found = find_page(finder, lookup, asked).await;
                found.map(Some).map_err(|error| (lookup.position, error))
            }));
        }
        let pages = stream::iter(searches).buffered(PAGES_AT_ONCE);
        let mut pages: Vec<_> = pages.try_collect().await?;
        let mut next = bound.scopes[ROOT].reads.0.len();
        for (page, lookup) in pages.iter_mut().zip(&bound.lookups) {
            if let Some(page) = page
                && let ElementAnswers::Reads(first) = &mut page.answers
                && let Some(elements) = lookup.elements
            {
                *first = next;
                next += page.documents.len() * bound.scopes[elements].reads.0.len();
            }
        }
        Ok(Self(pages))
    }

    /// All reads that one round makes for the root and for the elements of pages.
    pub(crate) fn requested<'r>(&'r self, bound: &'r Bound<'_>) -> Vec<BorrowedRequest<'r>> {
        let mut requested = bound.requested();
        for (page, lookup) in self.0.iter().zip(&bound.lookups) {
            if let (Some(page), Some(scope)) = (page, lookup.elements) {
                page.request(&bound.scopes[scope], &mut requested);
            }
        }
        requested
    }

    /// The page that the lookup with this number found.
    pub(crate) fn of(&self, lookup: usize) -> Option<&FoundPage> {
        self.0[lookup].as_ref()
    }

    /// Whether all reads are of documents that are consecutive in the catalog.
    pub(crate) fn is_in_a_row(&self, bound: &Bound<'_>) -> bool {
        let mut pages = self.0.iter().flatten();
        bound.scopes[ROOT].reads.0.is_empty()
            && pages.next().is_some_and(|page| page.found.in_a_row)
            && pages.next().is_none()
    }
}

/// Finds one page of documents.
async fn find_page(
    finder: &Finder<'_>,
    lookup: &Lookup<'_>,
    asked: PageToFind<'_>,
) -> Result<FoundPage> {
    let (read, request_budget) = (finder.read()?, finder.request_budget);
    let found = match asked {
        PageToFind::Permitted(query) => {
            let found = query.search(read, request_budget).await;
            found.map_err(without_advice)?
        }
        PageToFind::Request(request) => {
            let query = request.query(request_budget, lookup.total).await?;
            query.search(read, request_budget).await?
        }
    };
    FoundPage::new(found, finder.elements(lookup)?, request_budget)
}

/// The parts of a read of one element that take memory: the value, and each part that it omits.
pub(crate) fn parts<D, P>(read: &ReadRequest<D, P>) -> usize {
    read.places().max(1)
}
