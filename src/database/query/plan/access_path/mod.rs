//! From a filter and the indexes that serve to the ways in which documents can be found. Pure.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::column::ColumnBounds;
use crate::budget::Steps;
use crate::database::document_key::end_of;
use crate::database::index::definition::{Index, IndexPath};
use crate::document::filter::{Condition, Filter, Test};
use crate::document::jsonpath::SimpleStep;
use crate::error::Result;
use crate::limits::SPANS_MAX;

impl EntrySource<'_> {
    /// The indexes that it reads.
    pub(crate) fn name(&self) -> String {
        let mut names = Vec::new();
        self.names(&mut names);
        names.join(" | ")
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
mod tests;

/// The entries of an index between two points: each bound is packed values, from the left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) begin: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

/// Entries that lead to documents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EntrySource<'i> {
    /// Those in any of these spans of one index. They are `sorted` if in each span all columns are
    /// given, so that they come by id.
    Index {
        index: &'i Index,
        spans: Vec<Span>,
        sorted: bool,
    },
    /// Those that any of these leads to.
    Union(Vec<EntrySource<'i>>),
}

/// A way to find documents: it leads to all that pass, and perhaps to more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AccessPath<'i> {
    pub(crate) access: EntrySource<'i>,
    /// The conjuncts, by number, that it makes use of.
    pub(crate) used: BTreeSet<usize>,
    /// Those of them that hold for every document that it leads to.
    pub(crate) covers: BTreeSet<usize>,
    /// How many columns are given by equality.
    equal: usize,
}

/// What is known of a query before anything is read of it.
#[derive(Debug, PartialEq)]
pub(crate) struct QueryPlan<'i> {
    /// What all have to hold.
    pub(crate) conjuncts: Vec<Filter>,
    /// The ways to find what passes, the best first; of each the uses are none that another's
    /// take in. None if every document has to be looked at.
    pub(crate) ways: Vec<AccessPath<'i>>,
}

impl<'i> QueryPlan<'i> {
    /// The plan for a filter by the indexes that serve.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub(crate) fn new(filter: &Filter, indexes: &'i [Index], steps: &Steps<'_>) -> Result<Self> {
        let plan = Self::within(filter, indexes, steps);
        steps.check()?;
        Ok(plan)
    }

    /// A plan that means nothing once `steps` have run out.
    fn within(filter: &Filter, indexes: &'i [Index], steps: &Steps<'_>) -> Self {
        let mut conjuncts = Vec::new();
        flatten(filter, &mut conjuncts);
        let of_index = indexes
            .iter()
            .filter_map(|index| span_of(&conjuncts, index, steps));
        let mut ways: Vec<AccessPath<'i>> = of_index.collect();
        ways.extend(unions(&conjuncts, indexes, steps));
        ways.sort_by_cached_key(|way| Reverse(way.worth()));
        let mut best: Vec<AccessPath<'i>> = Vec::new();
        for way in ways {
            if !best.iter().any(|better| way.used.is_subset(&better.used)) {
                best.push(way);
            }
        }
        Self {
            conjuncts,
            ways: best,
        }
    }

    /// What is still to be asked of documents for which the conjuncts of these numbers hold.
    pub(crate) fn residual<'c>(
        &self,
        covers: impl IntoIterator<Item = &'c BTreeSet<usize>>,
    ) -> Filter {
        let covered: BTreeSet<usize> = covers.into_iter().flatten().copied().collect();
        let conjuncts = self.conjuncts.iter().enumerate();
        let open = conjuncts.filter(|(at, _)| !covered.contains(at));
        Filter::All(open.map(|(_, filter)| filter.clone()).collect())
    }

    /// Whether the best way goes by equality, which leads to few documents.
    pub(crate) fn is_equality(&self) -> bool {
        self.ways.first().is_some_and(|way| way.equal > 0)
    }
}

impl AccessPath<'_> {
    /// Comparable: whatever holds for all documents found saves looking at them, and equality
    /// leads to fewer than a range does.
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
    /// Whether the ids of each span come in order.
    pub(crate) fn is_sorted(&self) -> bool {
        match self {
            Self::Index { sorted, .. } => *sorted,
            Self::Union(parts) => parts.iter().all(EntrySource::is_sorted),
        }
    }

    /// How many spans of entries it reads.
    pub(crate) fn spans(&self) -> usize {
        match self {
            Self::Index { spans, .. } => spans.len(),
            Self::Union(parts) => parts.iter().map(EntrySource::spans).sum(),
        }
    }
}

/// The conjuncts of a filter: a conjunction inside one is no more than its parts.
pub(crate) fn flatten(filter: &Filter, conjuncts: &mut Vec<Filter>) {
    match filter {
        Filter::All(parts) => {
            for part in parts {
                flatten(part, conjuncts);
            }
        }
        Filter::Any(parts) if parts.len() == 1 => flatten(&parts[0], conjuncts),
        other => conjuncts.push(other.clone()),
    }
}

/// The conditions on what one path of an index selects, by the number of their conjunct.
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

/// What the conjuncts say of one column: where its values stand, and which of them say so.
///
/// Where a path selects one value at most, all conditions are about that value. Where it selects
/// several, each condition is about one of its own: the entries show one at a time.
pub(crate) fn column(
    conjuncts: &[Filter],
    path: &IndexPath,
    steps: &Steps<'_>,
) -> Option<(ColumnBounds, Vec<usize>)> {
    // Once the budget is used up, no more work is done for a plan that is not used.
    steps.spend(conjuncts.len() as u64).ok()?;
    let conditions = conditions_on(conjuncts, path.steps());
    if !path.is_multiple() {
        conditions.first()?;
        let tests: Vec<&Test> = conditions.iter().flat_map(|(_, it)| &it.tests).collect();
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

/// The way that an index gives; none if the conjuncts say nothing of its first column.
fn span_of<'i>(
    conjuncts: &[Filter],
    index: &'i Index,
    steps: &Steps<'_>,
) -> Option<AccessPath<'i>> {
    let mut way = AccessPath {
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
                way.equal += 1;
            }
            ColumnBounds::Range { begin, end, .. } => range = Some((begin, end)),
        }
        way.used.extend(&numbers);
        if exact {
            way.covers.extend(&numbers);
        }
        if range.is_some() {
            break;
        }
    }
    if way.used.is_empty() {
        return None;
    }
    let sorted = way.equal == index.on.len();
    let (begin, end) = range.unwrap_or((Vec::new(), vec![0xFF]));
    let span = |prefix: Vec<u8>| Span {
        begin: [&prefix[..], &begin].concat(),
        end: [&prefix[..], &end].concat(),
    };
    way.access = EntrySource::Index {
        index,
        spans: prefixes.into_iter().map(span).collect(),
        sorted,
    };
    Some(way)
}

/// The ways that alternatives give: those of which each has a way of its own.
fn unions<'i>(
    conjuncts: &[Filter],
    indexes: &'i [Index],
    steps: &Steps<'_>,
) -> Vec<AccessPath<'i>> {
    let conjuncts = conjuncts.iter().enumerate();
    let ways = conjuncts.filter_map(|(at, filter)| match filter {
        Filter::Any(parts) => union(at, parts, indexes, steps),
        _ => None,
    });
    ways.collect()
}

fn union<'i>(
    conjunct: usize,
    parts: &[Filter],
    indexes: &'i [Index],
    steps: &Steps<'_>,
) -> Option<AccessPath<'i>> {
    let mut exact = true;
    let mut equal = usize::MAX;
    let mut accesses = Vec::with_capacity(parts.len());
    for part in parts {
        let plan = QueryPlan::within(part, indexes, steps);
        let best = plan.ways.into_iter().next()?;
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

/// A way to find documents in the order of a value: along the last column of an index in which the
/// others are given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderedScan<'i> {
    pub(crate) index: &'i Index,
    /// The packed values of the columns that are given.
    pub(crate) same: Vec<u8>,
    /// From where to where the last column is read.
    pub(crate) range: Span,
    /// The conjuncts, by number, that it makes use of.
    pub(crate) used: BTreeSet<usize>,
    /// Those of them that hold for every document that it leads to.
    pub(crate) covers: BTreeSet<usize>,
}

impl<'i> QueryPlan<'i> {
    /// The best way to find what passes in the order of what `by` selects.
    pub(crate) fn track(
        &self,
        by: &[SimpleStep],
        indexes: &'i [Index],
        steps: &Steps<'_>,
    ) -> Option<OrderedScan<'i>> {
        let tracks = indexes
            .iter()
            .filter_map(|index| track(&self.conjuncts, by, index, steps));
        tracks.max_by_key(|track| (track.covers.len(), track.used.len()))
    }
}

fn track<'i>(
    conjuncts: &[Filter],
    by: &[SimpleStep],
    index: &'i Index,
    steps: &Steps<'_>,
) -> Option<OrderedScan<'i>> {
    let (last, given) = index.on.split_last()?;
    if last.steps() != by {
        return None;
    }
    let mut track = OrderedScan {
        index,
        same: Vec::new(),
        range: Span {
            begin: Vec::new(),
            end: Vec::new(),
        },
        used: BTreeSet::new(),
        covers: BTreeSet::new(),
    };
    for path in given {
        let (column, numbers) = column(conjuncts, path, steps)?;
        let ColumnBounds::Points { values, exact } = column else {
            return None;
        };
        let [value] = &values[..] else {
            return None;
        };
        track.same.extend_from_slice(value.bytes());
        track.used.extend(&numbers);
        if exact {
            track.covers.extend(&numbers);
        }
    }
    let (begin, end) = track.last_column(conjuncts, last, steps)?;
    track.range = Span {
        begin: [&track.same[..], &begin].concat(),
        end: [&track.same[..], &end].concat(),
    };
    Some(track)
}

impl OrderedScan<'_> {
    /// Where the last column is read. If several values may be selected, all of it: which is the
    /// least does not depend on what the filter asks for.
    fn last_column(
        &mut self,
        conjuncts: &[Filter],
        path: &IndexPath,
        steps: &Steps<'_>,
    ) -> Option<(Vec<u8>, Vec<u8>)> {
        if !path.is_multiple()
            && let Some((column, numbers)) = column(conjuncts, path, steps)
        {
            let exact = column.is_exact();
            let range = match column {
                ColumnBounds::Range { begin, end, .. } => Some((begin, end)),
                ColumnBounds::Points { values, .. } => match &values[..] {
                    [value] => Some((value.bytes().to_vec(), end_of(value.bytes()))),
                    _ => None,
                },
            };
            if let Some(range) = range {
                self.used.extend(&numbers);
                if exact {
                    self.covers.extend(&numbers);
                }
                return Some(range);
            }
        }
        match ColumnBounds::of(&[], steps)? {
            ColumnBounds::Range { begin, end, .. } => Some((begin, end)),
            ColumnBounds::Points { .. } => None,
        }
    }
}
