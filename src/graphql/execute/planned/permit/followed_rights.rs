//! What the rules allow of the documents to which references lead. Their keys are known when they are found.

use std::borrow::Cow;

use futures::future::{BoxFuture, try_join_all};

use crate::database::query::passing;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::limits::STEPS_PER_READ;
use crate::rights::{Decision, PlaceUsed, RequestRights};
use crate::store::Read;

/// The documents of a collection to which references may lead.
pub(super) enum FollowedRights {
    /// Those that pass a filter.
    Where(Filter),
    /// Those in which rules cover these places. Rules name keys.
    ByKey(Vec<PlaceUsed<'static>>),
}

/// What the rules say about one document.
enum OfKey {
    Hidden,
    Shown,
    Where(Filter),
}

impl FollowedRights {
    /// Whether references may lead to each of these documents.
    ///
    /// # Errors
    /// As [`passing`].
    pub(super) async fn allow(
        &self,
        (rights, collection): (&RequestRights, &str),
        ids: &[DocumentId],
        (read, request_budget): (&dyn Read, &RequestBudget),
    ) -> Result<Vec<bool>> {
        let budget = request_budget.budget();
        let places = match self {
            Self::Where(filter) => return passing(read, budget, collection, filter, ids).await,
            Self::ByKey(places) => places,
        };
        let steps = (places.len() * ids.len()) as u64 * (STEPS_PER_READ + rights.rule_count());
        let decide = || Decided::of(rights, places, ids);
        let mut decided = budget.portion(steps, decide).await;
        let passed = decided.conditional.iter().map(|conditional| {
            let Conditional { filter, ids, .. } = conditional;
            let passed: BoxFuture<'_, _> = Box::pin(passing(read, budget, collection, filter, ids));
            passed
        });
        let passed = try_join_all(passed.collect::<Vec<_>>()).await?;
        decided.pass(&passed);
        Ok(decided.shown)
    }
}

/// Documents that must pass the same filter.
struct Conditional {
    filter: Filter,
    ids: Vec<DocumentId>,
    /// Their numbers among all that are asked for.
    numbers: Vec<usize>,
}

/// What the rules say about documents.
struct Decided {
    /// Whether each is shown without a condition.
    shown: Vec<bool>,
    conditional: Vec<Conditional>,
}

impl Decided {
    fn of(rights: &RequestRights, places: &[PlaceUsed<'static>], ids: &[DocumentId]) -> Self {
        let mut all = Self {
            shown: Vec::with_capacity(ids.len()),
            conditional: Vec::new(),
        };
        for (number, id) in ids.iter().enumerate() {
            let of_key = decided(rights, places, id);
            all.shown.push(matches!(of_key, OfKey::Shown));
            let OfKey::Where(filter) = of_key else {
                continue;
            };
            let mut alike = all.conditional.iter_mut();
            if let Some(alike) = alike.find(|it| it.filter == filter) {
                alike.ids.push(id.clone());
                alike.numbers.push(number);
            } else {
                all.conditional.push(Conditional {
                    filter,
                    ids: vec![id.clone()],
                    numbers: vec![number],
                });
            }
        }
        all
    }

    /// Shows those that pass their filters.
    fn pass(&mut self, passed: &[Vec<bool>]) {
        for (conditional, passed) in self.conditional.iter().zip(passed) {
            for (number, passes) in conditional.numbers.iter().zip(passed) {
                self.shown[*number] = *passes;
            }
        }
    }
}

fn decided(rights: &RequestRights, places: &[PlaceUsed<'static>], id: &DocumentId) -> OfKey {
    let places: Vec<PlaceUsed<'_>> = places
        .iter()
        .map(|place| PlaceUsed {
            action: place.action,
            collection: Cow::Borrowed(&*place.collection),
            id: Some(Cow::Borrowed(id)),
            path: Cow::Borrowed(&*place.path),
        })
        .collect();
    match rights.decide(&places) {
        Decision::Allowed => OfKey::Shown,
        Decision::Refused(_) => OfKey::Hidden,
        Decision::Depends(conditions) => OfKey::Where(conditions.filter(|_| true)),
    }
}
