//! Query planning: from a filter and the ready indexes to access paths. Pure functions.
//!
//! The planner flattens the filter into conjuncts, which must all hold. It refers to them by
//! number. For each index it goes through the columns from the left and collects the conjuncts on
//! that column:
//!
//! * equality (`equal`, `in`) turns each prefix into one prefix per value;
//! * a range test is used, and no column after it;
//! * a column without a usable conjunct, or with too many values ([`SPANS_MAX`]), is not used, and
//!   no column after it.
//!
//! The result is an [`AccessPath`]: a set of spans of entries that yields every matching document,
//! and possibly others. It records which conjuncts it uses, and which of them it covers, that is,
//! proves for every document it yields. Conjuncts that are not covered form the residual filter
//! ([`QueryPlan::residual`]), which is evaluated on the documents.
//!
//! If a path selects the names of members (`[*]~`), every condition on a member, or below it, fixes
//! the name.
//!
//! A partial index is used only if the conjuncts imply its filter (`implication`). Conjuncts that the
//! filter of the index implies are covered.
//!
//! A disjunction has an access path if each of its alternatives has one: the union of them.
//!
//! If a path selects several values (`[*]`), an entry shows only one of them. Two conjuncts on such
//! a path may be satisfied by different values, so an access path uses only one of them.
//!
//! For a query with an order, [`QueryPlan::ordered_scan`] finds an index whose entries are in that order
//! (`ordered_scan`).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::column::ColumnBounds;
use super::conjuncts::flatten;
use super::implication::implied;
use crate::budget::Steps;
use crate::database::index::definition::{Index, IndexPath};
use crate::document::filter::{Condition, Filter, Test};
use crate::document::jsonpath::SimpleStep;
use crate::document::leaf::Leaf;
use crate::document::path::{Place, Segment};
use crate::error::Result;
use crate::key::IndexValue;
use crate::limits::SPANS_MAX;

impl EntrySource<'_> {
    /// The names of the indexes, joined with ` | `.
    pub(crate) fn name(&self) -> String {
        let mut names = Vec::new();
        self.names(&mut names);
        names.join(" | ")
    }

    /// Whether one of the indexes is partial.
    pub(crate) fn is_partial(&self) -> bool {
        match self {
            Self::Index { index, .. } => index.filter.is_some(),
            Self::Union(parts) => parts.iter().any(EntrySource::is_partial),
        }
    }

    /// The places of the columns, if the entries are of one index and hold the values of
    /// documents.
    pub(crate) fn columns(&self) -> Vec<Place> {
        match self {
            Self::Index { index, .. } if index.holds_values() => {
                index.on.iter().map(|path| path.place.clone()).collect()
            }
            Self::Index { .. } | Self::Union(_) => Vec::new(),
        }
    }

    fn names<'s>(&'s self, names: &mut Vec<&'s str>) {
        match self {
            Self::Index { index, .. } if names.contains(&&index.name[..]) => {}
            Self::Index { index, .. } => names.push(&index.name),
            Self::Union(parts) => {
                for part in parts {
                    part.names(names);
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests;

/// A span of index entries. Both bounds are packed values of the leftmost columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) begin: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

/// A set of index entries that yields documents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EntrySource<'i> {
    /// The entries in the spans of one index. `sorted` means that equality fixes all columns, so
    /// that the ids in each span ascend.
    Index {
        index: &'i Index,
        spans: Vec<Span>,
        sorted: bool,
    },
    /// The union of these sources.
    Union(Vec<EntrySource<'i>>),
}

/// An access path: yields all matching documents, and possibly others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AccessPath<'i> {
    pub(crate) access: EntrySource<'i>,
    /// The numbers of the conjuncts that it uses.
    pub(crate) used: BTreeSet<usize>,
    /// The numbers of the conjuncts that hold for every document that it yields.
    pub(crate) covers: BTreeSet<usize>,
    /// The number of columns fixed by equality.
    pub(crate) equal: usize,
}

/// An index that has all documents that match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UsableIndex<'i> {
    pub(crate) index: &'i Index,
    /// The numbers of the conjuncts that the filter of the index proves.
    pub(crate) proves: BTreeSet<usize>,
}

/// The plan of a query, made without reading documents or entries.
#[derive(Debug, PartialEq)]
pub(crate) struct QueryPlan<'i> {
    /// All of these must hold.
    pub(crate) conjuncts: Vec<Filter>,
    /// The indexes that can be used.
    pub(crate) usable: Vec<UsableIndex<'i>>,
    /// The access paths, best first. No path uses a subset of the conjuncts that a better path
    /// uses. Empty if every document has to be examined.
    pub(crate) access_paths: Vec<AccessPath<'i>>,
}

impl<'i> QueryPlan<'i> {
    /// Creates the plan for a filter and the ready indexes.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub(crate) fn new(filter: &Filter, indexes: &'i [Index], steps: &Steps<'_>) -> Result<Self> {
        let plan = Self::within(filter, indexes, &[], steps);
        steps.check()?;
        Ok(plan)
    }

    /// Creates a plan that is invalid if `steps` are exhausted afterwards. The `outer` filters hold,
    /// too.
    fn within(filter: &Filter, indexes: &'i [Index], outer: &[&Filter], steps: &Steps<'_>) -> Self {
        let mut conjuncts = Vec::new();
        flatten(filter, &mut conjuncts);
        let given: Vec<&Filter> = outer.iter().copied().chain(&conjuncts).collect();
        let usable: Vec<UsableIndex<'i>> = indexes
            .iter()
            .filter_map(|index| UsableIndex::new(index, &given, &conjuncts, steps))
            .collect();
        let of_index = usable
            .iter()
            .filter_map(|usable| span_of(&conjuncts, usable, steps));
        let mut access_paths: Vec<AccessPath<'i>> = of_index.collect();
        access_paths.extend(unions(&conjuncts, indexes, &given, steps));
        access_paths.sort_by_cached_key(|access_path| Reverse(access_path.worth()));
        let mut best: Vec<AccessPath<'i>> = Vec::new();
        for access_path in access_paths {
            if !best
                .iter()
                .any(|better| access_path.used.is_subset(&better.used))
            {
                best.push(access_path);
            }
        }
        Self {
            conjuncts,
            usable,
            access_paths: best,
        }
    }

    /// The filter that remains for documents for which the conjuncts `covers` hold.
    pub(crate) fn residual<'c>(
        &self,
        covers: impl IntoIterator<Item = &'c BTreeSet<usize>>,
    ) -> Filter {
        let covered: BTreeSet<usize> = covers.into_iter().flatten().copied().collect();
        let conjuncts = self.conjuncts.iter().enumerate();
        let open = conjuncts.filter(|(at, _)| !covered.contains(at));
        Filter::All(open.map(|(_, filter)| filter.clone()).collect())
    }

    /// Whether the best access path uses equality and so yields few documents.
    pub(crate) fn is_equality(&self) -> bool {
        self.access_paths
            .first()
            .is_some_and(|access_path| access_path.equal > 0)
    }
}

impl<'i> UsableIndex<'i> {
    /// None if documents that pass all of `given` may be missing in the index. `conjuncts`
    /// are those of the plan, which are among `given`.
    fn new(
        index: &'i Index,
        given: &[&Filter],
        conjuncts: &[Filter],
        steps: &Steps<'_>,
    ) -> Option<Self> {
        let mut proves = BTreeSet::new();
        if let Some(filter) = &index.filter {
            if !implied(given, filter.filter(), steps) {
                return None;
            }
            let mut proven = Vec::new();
            flatten(filter.filter(), &mut proven);
            let proven: Vec<&Filter> = proven.iter().collect();
            let numbers = conjuncts
                .iter()
                .enumerate()
                .filter(|(_, filter)| implied(&proven, filter, steps));
            proves.extend(numbers.map(|(at, _)| at));
        }
        Some(Self { index, proves })
    }
}

impl AccessPath<'_> {
    /// A ranking. Equality yields fewer documents than a range. Exact paths avoid reading
    /// documents.
    fn worth(&self) -> (bool, usize, usize, bool, Reverse<usize>) {
        let exact = self.covers.len() == self.used.len();
        let spans = self.access.spans();
        (
            self.equal > 0,
            self.used.len(),
            self.equal,
            self.access.is_sorted() && exact,
            Reverse(spans),
        )
    }
}

impl EntrySource<'_> {
    /// Whether the ids in each span ascend.
    pub(crate) fn is_sorted(&self) -> bool {
        match self {
            Self::Index { sorted, .. } => *sorted,
            Self::Union(parts) => parts.iter().all(EntrySource::is_sorted),
        }
    }

    /// The number of spans of entries.
    pub(crate) fn spans(&self) -> usize {
        match self {
            Self::Index { spans, .. } => spans.len(),
            Self::Union(parts) => parts.iter().map(EntrySource::spans).sum(),
        }
    }
}

/// The conditions on one path of an index, each with the number of its conjunct.
pub(crate) fn conditions_on<'f>(
    conjuncts: &'f [Filter],
    steps: &[SimpleStep],
) -> Vec<(usize, &'f Condition)> {
    let conjuncts = conjuncts.iter().enumerate();
    let conditions = conjuncts.filter_map(|(at, filter)| match filter {
        Filter::Where(condition) if condition.at.simple() == Some(steps) => Some((at, condition)),
        _ => None,
    });
    conditions.collect()
}

/// The bounds of one column, and the numbers of the conjuncts that they use.
///
/// If the path selects at most one value, all conditions apply to that value. If it selects
/// several, each condition may be satisfied by a different value, and an entry shows only one. Only
/// the most selective condition is used then.
pub(crate) fn column(
    conjuncts: &[Filter],
    path: &IndexPath,
    steps: &Steps<'_>,
) -> Option<(ColumnBounds, Vec<usize>)> {
    // If the budget is exhausted, stop: the plan will be discarded.
    steps.spend(conjuncts.len() as u64).ok()?;
    if path.is_of_names() {
        return name(conjuncts, path);
    }
    let conditions = conditions_on(conjuncts, path.steps());
    if !path.is_multiple() {
        conditions.first()?;
        let tests: Vec<&Test> = conditions.iter().flat_map(|(_, it)| &*it.tests).collect();
        let numbers = conditions.iter().map(|(at, _)| *at).collect();
        return Some((ColumnBounds::of(&tests, steps)?, numbers));
    }
    let each = conditions.iter().filter_map(|(at, condition)| {
        let tests: Vec<&Test> = condition.tests.iter().collect();
        Some((ColumnBounds::of(&tests, steps)?, vec![*at]))
    });
    each.min_by_key(|(column, _)| match column {
        ColumnBounds::Points { values, .. } => values.len(),
        ColumnBounds::Range { .. } => usize::MAX,
    })
}

/// The name of a member that a conjunct requires, and the number of the conjunct. The name
/// alone is exact if the conjunct asks only whether the member exists.
fn name(conjuncts: &[Filter], path: &IndexPath) -> Option<(ColumnBounds, Vec<usize>)> {
    let place = &path.place.0[..];
    let conjuncts = conjuncts.iter().enumerate();
    let names = conjuncts.filter_map(|(at, filter)| {
        let Filter::Where(condition) = filter else {
            return None;
        };
        let Some([Segment::Key(name), ..]) = condition.at.prefix().strip_prefix(place) else {
            return None;
        };
        let is_member = condition.at.place().map(<[_]>::len) == Some(place.len() + 1);
        Some((name, is_member && condition.tests.is_empty(), at))
    });
    let (name, exact, at) = names.min_by_key(|(_, exact, _)| !exact)?;
    let values = vec![IndexValue::of_leaf(&Leaf::String(name.into()))];
    Some((ColumnBounds::Points { values, exact }, vec![at]))
}

/// The access path of an index. None if no conjunct restricts its first column.
pub(crate) fn span_of<'i>(
    conjuncts: &[Filter],
    usable: &UsableIndex<'i>,
    steps: &Steps<'_>,
) -> Option<AccessPath<'i>> {
    let index = usable.index;
    let mut access_path = AccessPath {
        access: EntrySource::Union(Vec::new()),
        used: BTreeSet::new(),
        covers: BTreeSet::new(),
        equal: 0,
    };
    let mut prefixes = vec![Vec::new()];
    let mut range = None;
    for path in &index.on {
        let Some((column, numbers)) = column(conjuncts, path, steps) else {
            break;
        };
        let exact = column.is_exact();
        match column {
            ColumnBounds::Points { values, .. } if prefixes.len() * values.len() > SPANS_MAX => {
                break;
            }
            ColumnBounds::Points { values, .. } => {
                let longer = prefixes.iter().flat_map(|prefix| {
                    let values = values.iter();
                    values.map(move |value| [prefix, value.bytes()].concat())
                });
                prefixes = longer.collect();
                access_path.equal += 1;
            }
            ColumnBounds::Range { begin, end, .. } => range = Some((begin, end)),
        }
        access_path.used.extend(&numbers);
        if exact {
            access_path.covers.extend(&numbers);
        }
        if range.is_some() {
            break;
        }
    }
    if access_path.used.is_empty() {
        return None;
    }
    access_path.used.extend(&usable.proves);
    access_path.covers.extend(&usable.proves);
    let sorted = access_path.equal == index.on.len();
    let (begin, end) = range.unwrap_or((Vec::new(), vec![0xFF]));
    let span = |prefix: Vec<u8>| Span {
        begin: [&prefix[..], &begin].concat(),
        end: [&prefix[..], &end].concat(),
    };
    access_path.access = EntrySource::Index {
        index,
        spans: prefixes.into_iter().map(span).collect(),
        sorted,
    };
    Some(access_path)
}

/// The access paths of the disjunctions in which every alternative has one.
fn unions<'i>(
    conjuncts: &[Filter],
    indexes: &'i [Index],
    given: &[&Filter],
    steps: &Steps<'_>,
) -> Vec<AccessPath<'i>> {
    let conjuncts = conjuncts.iter().enumerate();
    let access_paths = conjuncts.filter_map(|(at, filter)| match filter {
        Filter::Any(parts) => union((at, parts), indexes, given, steps),
        _ => None,
    });
    access_paths.collect()
}

fn union<'i>(
    (conjunct, parts): (usize, &[Filter]),
    indexes: &'i [Index],
    given: &[&Filter],
    steps: &Steps<'_>,
) -> Option<AccessPath<'i>> {
    let mut exact = true;
    let mut equal = usize::MAX;
    let mut accesses = Vec::with_capacity(parts.len());
    for part in parts {
        let plan = QueryPlan::within(part, indexes, given, steps);
        let best = plan.access_paths.into_iter().next()?;
        exact &= best.covers.len() == plan.conjuncts.len();
        equal = equal.min(best.equal);
        accesses.push(best.access);
    }
    let access = EntrySource::Union(accesses);
    if access.spans() > SPANS_MAX {
        return None;
    }
    let used = BTreeSet::from([conjunct]);
    Some(AccessPath {
        covers: if exact { used.clone() } else { BTreeSet::new() },
        used,
        access,
        equal,
    })
}
