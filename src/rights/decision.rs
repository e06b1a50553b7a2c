//! What the rules say about a request.

use super::place_used::PlaceUsed;
use crate::document::filter::Filter;

/// What the rules say about the places that a request uses.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Rules without a condition cover every place.
    Allowed,
    /// No rule covers this place, which is the first such place.
    Refused(Box<PlaceUsed<'static>>),
    /// Rules cover every place, some only in documents that pass filters.
    Depends(Conditions),
}

/// The conditions under which rules cover places.
///
/// Each place has the filters of all rules that cover it, of which one must hold. All places must be
/// covered. It is not enough that one rule's filter holds for a document: that rule may cover another
/// place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Rules, with their filters for the principal.
    filters: Vec<(usize, Filter)>,
    places: Vec<ConditionalPlace>,
}

/// A place that rules cover only in documents that pass a filter.
#[derive(Clone, Debug, PartialEq)]
struct ConditionalPlace {
    /// Its number among the places that were decided.
    number: usize,
    /// The numbers of the covering rules in [`Conditions::filters`], ascending.
    filters: Vec<usize>,
}

impl Conditions {
    /// The numbers, among the places that were decided, of those that have a condition, ascending.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().map(|place| place.number)
    }

    /// The filter that a document must pass so that the places whose numbers `is_of` accepts are
    /// covered. The places must be in this document. A filter without conditions if none of them has
    /// one.
    pub fn filter(&self, is_of: impl Fn(usize) -> bool) -> Filter {
        self.filter_of(self.places().filter(|number| is_of(*number)))
    }

    /// As [`Conditions::filter`], of the places with these numbers.
    pub fn filter_of(&self, numbers: impl Iterator<Item = usize>) -> Filter {
        let mut alternatives: Vec<&[usize]> = Vec::new();
        let place = |number| {
            let at = self
                .places
                .binary_search_by_key(&number, |place| place.number);
            at.ok().map(|at| &self.places[at])
        };
        for place in numbers.filter_map(place) {
            if !alternatives.contains(&&place.filters[..]) {
                alternatives.push(&place.filters);
            }
        }
        let filter = |at: &usize| self.filters[*at].1.clone();
        let mut all: Vec<Filter> = alternatives
            .into_iter()
            .map(|filters| match filters {
                [only] => filter(only),
                filters => Filter::Any(filters.iter().map(filter).collect()),
            })
            .collect();
        match (all.len(), all.pop()) {
            (1, Some(only)) => only,
            (_, Some(last)) => {
                all.push(last);
                Filter::All(all)
            }
            (_, None) => Filter::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Adds a place that is covered by these rules. `fill` returns a rule's filter, or none if the
    /// principal lacks a claim of it. Returns whether any rule covers the place.
    pub(super) fn add(
        &mut self,
        number: usize,
        rules: &[usize],
        fill: impl Fn(usize) -> Option<Filter>,
    ) -> bool {
        let mut filters = Vec::with_capacity(rules.len());
        for rule in rules {
            let known = self.filters.iter().position(|(known, _)| known == rule);
            let filled = || {
                self.filters.push((*rule, fill(*rule)?));
                Some(self.filters.len() - 1)
            };
            filters.extend(known.or_else(filled));
        }
        filters.sort_unstable();
        let covered = !filters.is_empty();
        if covered {
            self.places.push(ConditionalPlace { number, filters });
        }
        covered
    }
}
