//! What the rules allow a bound plan.

use std::collections::HashMap;

use super::followed_rights::FollowedRights;
use super::hidden_documents::{ConditionalDocument, HiddenDocuments, RefusedField};
use super::used_places::{LookupQuery, UsedBy, UsedPlaces};
use crate::database::DocumentKey;
use crate::database::query::AggregateQuery;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::arguments::aggregate_request::AggregateRequest;
use crate::graphql::arguments::documents_request::PageQuery;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::execute::planned::binding::arguments::{PageArguments, PlanArguments};
use crate::graphql::execute::planned::binding::bound::{Bound, LookupOf};
use crate::limits::{STEPS_PER_ITEM, STEPS_PER_READ};
use crate::rights::{Action, Conditions, Decision, PlaceUsed, RequestRights};
use crate::store::Read;

/// What the rules allow a bound plan.
pub(crate) struct Permit<'r> {
    rights: &'r RequestRights,
    /// The queries of the lookups, with the conditions of the rules. Empty if there are no lookups.
    queries: Vec<LookupQuery>,
    /// The documents that rules allow only if they pass a filter.
    conditional: Vec<ConditionalDocument>,
    /// The documents to which the references of lookups may lead, if not all.
    followed: HashMap<usize, FollowedRights>,
}

impl<'r> Permit<'r> {
    /// Asks the rules for all places that a bound plan uses. If `is_new`, the documents of the plan have
    /// ids that are not known yet.
    ///
    /// # Errors
    /// `FORBIDDEN`: no rule covers the named place, or only in some documents where all are used. As the
    /// queries of pages and of groups.
    pub(crate) async fn of(
        bound: &Bound<'_>,
        arguments: PlanArguments<'_>,
        request_budget: &RequestBudget,
        rights: &'r RequestRights,
        is_new: bool,
    ) -> Result<Self, RefusedField> {
        let queries = if bound.lookups.is_empty() {
            Vec::new()
        } else {
            // Boxed, so that it does not enlarge the futures of plans without lookups.
            Box::pin(queries(bound, arguments, request_budget)).await?
        };
        let steps = decision_steps(bound, rights);
        let decided = || Self::decided(bound, queries, rights, is_new);
        request_budget.budget().portion(steps, decided).await
    }

    fn decided(
        bound: &Bound<'_>,
        mut queries: Vec<LookupQuery>,
        rights: &'r RequestRights,
        is_new: bool,
    ) -> Result<Self, RefusedField> {
        let mut places = UsedPlaces::of(bound, &queries, is_new)
            .map_err(|error| RefusedField { position: 0, error })?;
        let mut followed = places.decided_by_key(bound, rights)?;
        let conditions = match rights.decide(&places.used) {
            Decision::Allowed => Conditions::default(),
            Decision::Refused(refused) => {
                let mut used = places.used.iter();
                let number = used.position(|used| *used == *refused).unwrap_or_default();
                return Err(places.refused(bound, number, refusal(&refused)));
            }
            Decision::Depends(conditions) => conditions,
        };
        let (mut conditional, mut of_pages) = (Vec::new(), Vec::new());
        let by = |number: usize| places.by[number].0;
        let mut numbers: Vec<usize> = conditions.places().collect();
        if let Some(number) = numbers.iter().find(|number| by(**number) == UsedBy::All) {
            let error = needs_all(&places.used[*number]);
            return Err(places.refused(bound, *number, error));
        }
        numbers.sort_by_key(|number| by(*number));
        for same in numbers.chunk_by(|one, other| by(*one) == by(*other)) {
            let filter = conditions.filter_of(same.iter().copied());
            match by(same[0]) {
                UsedBy::All => {}
                UsedBy::Page(page) => of_pages.push((page, filter)),
                UsedBy::Followed(lookup) => {
                    followed.insert(lookup, FollowedRights::Where(filter));
                }
                UsedBy::Document(document) => conditional.push(ConditionalDocument {
                    number: document,
                    filter,
                    at: places.by[same[0]].1,
                    error: refusal(&places.used[same[0]]),
                }),
            }
        }
        drop(places);
        for (page, filter) in of_pages {
            if let LookupQuery::Page(PageQuery { select, .. }) = &mut queries[page] {
                select.filter = std::mem::take(&mut select.filter).and(filter);
            }
        }
        Ok(Self {
            rights,
            queries,
            conditional,
            followed,
        })
    }

    /// Whether the rules hide some of the documents to which the references of a lookup lead.
    pub(crate) fn limits(&self, lookup: usize) -> bool {
        self.followed.contains_key(&lookup)
    }

    /// Whether the references of a lookup may lead to each of these documents.
    ///
    /// # Errors
    /// As [`passing`](crate::database::query::passing).
    pub(crate) async fn allows(
        &self,
        lookup: usize,
        collection: &str,
        ids: &[DocumentId],
        from: (&dyn Read, &RequestBudget),
    ) -> Result<Vec<bool>> {
        match self.followed.get(&lookup) {
            None => Ok(vec![true; ids.len()]),
            Some(rights) => rights.allow((self.rights, collection), ids, from).await,
        }
    }

    /// The query of a page, with the conditions of the rules.
    pub(crate) fn page(&self, lookup: usize) -> Option<&PageQuery> {
        match self.queries.get(lookup)? {
            LookupQuery::Page(query) => Some(query),
            LookupQuery::Groups(_) | LookupQuery::None => None,
        }
    }

    /// The query of groups.
    pub(crate) fn groups(&self, lookup: usize) -> Option<&AggregateQuery> {
        match self.queries.get(lookup)? {
            LookupQuery::Groups(query) => Some(query),
            LookupQuery::Page(_) | LookupQuery::None => None,
        }
    }

    /// The steps to ask for so many collections whether they are listed.
    pub(crate) fn list_steps(&self, collections: usize) -> u64 {
        collections as u64 * (STEPS_PER_ITEM + 2 * self.rights.rule_count())
    }

    /// Whether a collection is listed, with its count and its indexes: the rules allow to find and to
    /// read all of its documents.
    pub(crate) fn lists(&self, collection: &str) -> bool {
        lists(self.rights, collection)
    }

    /// The documents that the rules hide: those that do not pass their conditions.
    ///
    /// # Errors
    /// As [`HiddenDocuments::find`].
    pub(crate) async fn hidden(
        &self,
        bound: &Bound<'_>,
        read: &dyn Read,
        request_budget: &RequestBudget,
    ) -> Result<HiddenDocuments> {
        HiddenDocuments::find(&self.conditional, bound, read, request_budget).await
    }

    /// The documents that rules allow only if they pass a filter, with their filters.
    pub(crate) fn conditions(&self, bound: &Bound<'_>) -> Vec<(DocumentKey, Filter)> {
        let conditional = self.conditional.iter();
        conditional
            .map(|it| {
                (
                    DocumentKey::clone(&bound.documents[it.number]),
                    it.filter.clone(),
                )
            })
            .collect()
    }

    /// Whether documents are read only if they pass a condition.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditional.is_empty()
    }
}

impl UsedPlaces<'_> {
    /// Takes the places in documents to which references lead, if rules cover them in documents with certain
    /// keys: the rules are asked again for each key. Returns them by their lookups.
    ///
    /// # Errors
    /// `FORBIDDEN`: there is no document in which a rule covers one of them.
    fn decided_by_key(
        &mut self,
        bound: &Bound<'_>,
        rights: &RequestRights,
    ) -> Result<HashMap<usize, FollowedRights>, RefusedField> {
        let mut by_key: HashMap<usize, Vec<PlaceUsed<'static>>> = HashMap::new();
        for (used, (by, _)) in self.used.iter().zip(&self.by) {
            if let UsedBy::Followed(lookup) = by
                && rights.cover_some_keys(used)
            {
                by_key.entry(*lookup).or_default();
            }
        }
        if by_key.is_empty() {
            return Ok(HashMap::new());
        }
        let mut left = Vec::with_capacity(self.used.len());
        for (number, (used, (by, _))) in self.used.iter().zip(&self.by).enumerate() {
            let places = match by {
                UsedBy::Followed(lookup) => by_key.get_mut(lookup),
                _ => None,
            };
            let Some(places) = places else {
                left.push(number);
                continue;
            };
            if !rights.cover_some_documents(used) {
                return Err(self.refused(bound, number, refusal(used)));
            }
            places.push(used.clone().into_owned());
        }
        self.by = left.iter().map(|number| self.by[*number]).collect();
        self.used = left
            .iter()
            .map(|number| self.used[*number].clone())
            .collect();
        let followed = by_key
            .into_iter()
            .map(|(lookup, places)| (lookup, FollowedRights::ByKey(places)));
        Ok(followed.collect())
    }

    fn refused(&self, bound: &Bound<'_>, number: usize, error: Error) -> RefusedField {
        let at = self.by.get(number).map(|(_, at)| at.position(bound));
        RefusedField {
            position: at.unwrap_or_default(),
            error,
        }
    }
}

/// The steps to ask the rules for the places of a bound plan.
fn decision_steps(bound: &Bound<'_>, rights: &RequestRights) -> u64 {
    let reads = bound.scopes.iter().map(|scope| scope.reads.0.len());
    let places = reads.sum::<usize>() + bound.lookups.len();
    // Those of references are compared several times.
    3 * places as u64 * (STEPS_PER_READ + rights.rule_count())
}

/// The queries of the lookups.
async fn queries(
    bound: &Bound<'_>,
    arguments: PlanArguments<'_>,
    request_budget: &RequestBudget,
) -> Result<Vec<LookupQuery>, RefusedField> {
    let mut queries = Vec::with_capacity(bound.lookups.len());
    for lookup in &bound.lookups {
        let query = async {
            Ok(match &lookup.of {
                LookupOf::Documents(given) => {
                    let request = arguments.page(*given)?;
                    LookupQuery::Page(request.query(request_budget, lookup.total).await?)
                }
                LookupOf::Referring { selected, .. } => {
                    let request = arguments.page(PageArguments::Typed(&selected.page))?;
                    LookupQuery::Page(request.query(request_budget, lookup.total).await?)
                }
                LookupOf::Groups {
                    arguments: given,
                    values,
                } => {
                    let request: AggregateRequest = arguments.request(given)?;
                    LookupQuery::Groups(request.query(request_budget, values).await?)
                }
                _ => LookupQuery::None,
            })
        };
        let position = lookup.position;
        let query = query.await;
        queries.push(query.map_err(|error| RefusedField { position, error })?);
    }
    Ok(queries)
}

/// Whether the rules allow to find and to read all documents of a collection. Then also what is known of the
/// collection as a whole, such as its type.
pub(crate) fn lists(rights: &RequestRights, collection: &str) -> bool {
    let whole = Path::root();
    let used = [
        PlaceUsed::in_collection(Action::List, collection, whole),
        PlaceUsed::in_collection(Action::Read, collection, whole),
    ];
    rights.decide(&used) == Decision::Allowed
}

/// The error for a place that no rule covers.
pub(crate) fn refusal(place: &PlaceUsed<'_>) -> Error {
    Error::new(
        ErrorKind::Forbidden,
        format!("no rule allows this request to {place}"),
    )
}

/// The error for a place that rules cover only in some documents, if all are used.
pub(crate) fn needs_all(place: &PlaceUsed<'_>) -> Error {
    Error::new(
        ErrorKind::Forbidden,
        format!("no rule without `where` allows this request to {place}, and it uses all of them"),
    )
}

/// The error of a search, without advice on indexes: it names indexes, which not everybody may know.
pub(crate) fn without_advice(error: Error) -> Error {
    let limit = error.facts().and_then(|facts| facts.limit);
    match limit {
        Some(limit) if matches!(limit.name(), "scannedDocuments" | "orderedEntries") => {
            let message = "more documents would be examined than the limit allows: request less, or \
                           ask the operator for an index";
            Error::too_complex(limit, message)
        }
        _ => error,
    }
}
