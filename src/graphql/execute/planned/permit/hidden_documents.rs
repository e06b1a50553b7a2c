//! The documents that the rules hide from a request.

use futures::future::try_join_all;

use super::used_places::UsedAt;
use crate::database::query::passing;
use crate::database::{BorrowedRequest, Loaded, ReadRequest};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::execute::planned::binding::bound::{Bound, ROOT};
use crate::limits::STEPS_PER_READ;
use crate::store::Read;

/// A document that rules allow only if it passes a filter.
pub(super) struct ConditionalDocument {
    /// Its number in the plan.
    pub(super) number: usize,
    pub(super) filter: Filter,
    /// The first field that uses it, and its error.
    pub(super) at: UsedAt,
    pub(super) error: Error,
}

/// The error of a field, and its position.
#[derive(Clone)]
pub(crate) struct RefusedField {
    pub(crate) position: usize,
    pub(crate) error: Error,
}

/// The documents of a bound plan that the rules hide. They are not read, and answered as documents that
/// do not exist.
#[derive(Default)]
pub(crate) struct HiddenDocuments {
    /// Their numbers in the plan, ascending.
    numbers: Vec<usize>,
    /// The error at the first field that uses one.
    refusal: Option<RefusedField>,
}

/// Documents of one collection that must pass the same filter.
struct Alike<'c> {
    collection: &'c str,
    filter: &'c Filter,
    numbers: Vec<usize>,
    ids: Vec<DocumentId>,
}

impl HiddenDocuments {
    /// Evaluates the conditions of documents, those with the same one in one round.
    ///
    /// # Errors
    /// As [`passing`].
    pub(super) async fn find(
        conditional: &[ConditionalDocument],
        bound: &Bound<'_>,
        read: &dyn Read,
        request_budget: &RequestBudget,
    ) -> Result<Self> {
        if conditional.is_empty() {
            return Ok(Self::default());
        }
        let budget = request_budget.budget();
        let steps = STEPS_PER_READ * conditional.len() as u64;
        let alike = budget
            .portion(steps, || Alike::of(conditional, bound))
            .await;
        let passed = try_join_all(alike.iter().map(|alike| async move {
            request_budget.places(alike.ids.len())?;
            passing(read, budget, alike.collection, alike.filter, &alike.ids).await
        }))
        .await?;
        let hide = || Self::of(conditional, bound, &alike, &passed);
        Ok(budget.portion(steps, hide).await)
    }

    /// Those whose conditions have not passed.
    fn of(
        conditional: &[ConditionalDocument],
        bound: &Bound<'_>,
        alike: &[Alike<'_>],
        passed: &[Vec<bool>],
    ) -> Self {
        let mut numbers: Vec<usize> = alike
            .iter()
            .zip(passed)
            .flat_map(|(alike, passed)| {
                let found = alike.numbers.iter().zip(passed);
                found.filter_map(|(number, passes)| (!passes).then_some(*number))
            })
            .collect();
        numbers.sort_unstable();
        let mut conditional = conditional.iter();
        let refused = conditional.find(|it| numbers.binary_search(&it.number).is_ok());
        Self {
            refusal: refused.map(|it| RefusedField {
                position: it.at.position(bound),
                error: it.error.clone(),
            }),
            numbers,
        }
    }

    /// The error at the first field that uses a hidden document.
    pub(crate) fn refusal(&self) -> Option<&RefusedField> {
        self.refusal.as_ref()
    }

    /// Whether the document with this number is hidden.
    pub(crate) fn has(&self, document: usize) -> bool {
        self.numbers.binary_search(&document).is_ok()
    }

    /// Removes the reads of hidden documents from those of a plan. Returns the new number of each
    /// read, if any is removed. Those of the root are the first ones.
    pub(crate) fn remove(
        &self,
        bound: &Bound<'_>,
        requested: &mut Vec<BorrowedRequest<'_>>,
    ) -> Option<Vec<Option<usize>>> {
        if self.numbers.is_empty() {
            return None;
        }
        let reads = &bound.scopes[ROOT].reads.0;
        let is_kept = |read: usize| match reads.get(read) {
            None => true,
            Some(
                ReadRequest::Value(document, ..)
                | ReadRequest::Remainder(document, ..)
                | ReadRequest::Between(document, ..)
                | ReadRequest::Version(document),
            ) => !self.has(*document),
        };
        let mut kept = 0;
        let numbers = (0..requested.len()).map(|read| {
            is_kept(read).then(|| {
                kept += 1;
                kept - 1
            })
        });
        let numbers: Vec<Option<usize>> = numbers.collect();
        let mut read = 0;
        requested.retain(|_| {
            read += 1;
            numbers[read - 1].is_some()
        });
        Some(numbers)
    }
}

impl<'c> Alike<'c> {
    fn of(conditional: &'c [ConditionalDocument], bound: &'c Bound<'_>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for ConditionalDocument { number, filter, .. } in conditional {
            let document = &bound.documents[*number];
            let is_alike = |it: &Self| it.collection == document.collection && it.filter == filter;
            let at = all.iter().position(is_alike).unwrap_or_else(|| {
                all.push(Self {
                    collection: &document.collection,
                    filter,
                    numbers: Vec::new(),
                    ids: Vec::new(),
                });
                all.len() - 1
            });
            all[at].numbers.push(*number);
            all[at].ids.push(document.id.clone());
        }
        all
    }
}

/// The results of reads, under the numbers that they have in a plan.
pub(crate) fn renumbered(loaded: Loaded<'_>, numbers: Option<Vec<Option<usize>>>) -> Loaded<'_> {
    match numbers {
        Some(numbers) => loaded.renumbered(numbers),
        None => loaded,
    }
}
