//! What the rules allow a bound plan.

use super::hidden_documents::{ConditionalDocument, HiddenDocuments, RefusedField};
use super::used_places::{LookupQuery, UsedAt, UsedBy, UsedPlaces};
use crate::database::DocumentKey;
use crate::database::query::AggregateQuery;
use crate::document::filter::Filter;
use crate::document::path::Path;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::arguments::aggregate_request::AggregateRequest;
use crate::graphql::arguments::documents_request::{DocumentsRequest, PageQuery};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::execute::planned::binding::arguments::PlanArguments;
use crate::graphql::execute::planned::binding::bound::{Bound, LookupOf};
use crate::rights::{Action, Conditions, Decision, PlaceUsed, RequestRights};
use crate::store::Read;

/// What the rules allow a bound plan.
pub(crate) struct Permit<'r> {
    rights: &'r RequestRights,
    /// The queries of the lookups, with the conditions of the rules. Empty if there are no lookups.
    queries: Vec<LookupQuery>,
    /// The documents that rules allow only if they pass a filter.
    conditional: Vec<ConditionalDocument>,
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
        Self::decided(bound, queries, rights, is_new)
    }

    fn decided(
        bound: &Bound<'_>,
        mut queries: Vec<LookupQuery>,
        rights: &'r RequestRights,
        is_new: bool,
    ) -> Result<Self, RefusedField> {
        let places = UsedPlaces::of(bound, &queries, is_new);
        let places = places.map_err(|error| RefusedField { position: 0, error })?;
        let (mut conditional, mut of_pages) = (Vec::new(), Vec::new());
        match rights.decide(&places.used) {
            Decision::Allowed => {}
            Decision::Refused(refused) => {
                let mut used = places.used.iter();
                let number = used.position(|used| *used == *refused).unwrap_or_default();
                return Err(places.refused(bound, number, &refusal(&refused)));
            }
            Decision::Depends(conditions) => {
                for number in conditions.places() {
                    match places.by[number].0 {
                        UsedBy::All => {
                            let error = needs_all(&places.used[number]);
                            return Err(places.refused(bound, number, &error));
                        }
                        UsedBy::Page(page) => {
                            if !of_pages.iter().any(|(known, _)| *known == page) {
                                of_pages.push((page, places.filter(&conditions, number)));
                            }
                        }
                        UsedBy::Document(document) => {
                            let mut known = conditional.iter();
                            let known = known.any(|it: &ConditionalDocument| it.number == document);
                            if !known {
                                let error = refusal(&places.used[number]);
                                conditional.push(ConditionalDocument {
                                    number: document,
                                    filter: places.filter(&conditions, number),
                                    refusal: places.refused(bound, number, &error),
                                });
                            }
                        }
                    }
                }
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
        })
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

    /// Whether a collection is listed, with its count and its indexes: the rules allow to find and to
    /// read all of its documents.
    pub(crate) fn lists(&self, collection: &str) -> bool {
        let whole = Path::root();
        let used = [
            PlaceUsed::in_collection(Action::List, collection, whole),
            PlaceUsed::in_collection(Action::Read, collection, whole),
        ];
        self.rights.decide(&used) == Decision::Allowed
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
    /// The condition for the user of the place with this number.
    fn filter(&self, conditions: &Conditions, number: usize) -> Filter {
        let by = self.by[number].0;
        conditions.filter(|other| self.by[other].0 == by)
    }

    fn refused(&self, bound: &Bound<'_>, number: usize, error: &Error) -> RefusedField {
        let position = match self.by.get(number) {
            Some((_, UsedAt::Position(position))) => *position,
            Some((_, UsedAt::Read(read))) => bound.position_of(*read),
            None => 0,
        };
        RefusedField {
            position,
            error: error.clone(),
        }
    }
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
                    let request: DocumentsRequest = arguments.request(given)?;
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
