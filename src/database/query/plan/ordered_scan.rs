//! Ordered index scans: indexes whose entries are in the order of a query, at least in pieces. Pure
//! functions.
//!
//! An index serves an order if its columns are, from the left:
//!
//! 1. columns that equality (`equal`, `in`) fixes. Each combination of their values is one stream of
//!    entries, and the streams are merged. A value of the order can be among these columns; it is
//!    constant in each stream.
//! 2. the other values of the order, in this sequence. A range test on the first of them bounds the
//!    streams.
//! 3. any columns. Entries that are equal in the columns before are sorted by id in memory.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::access_path::{QueryPlan, UsableIndex, column};
use super::column::ColumnBounds;
use crate::budget::Steps;
use crate::database::document_key::prefix_end;
use crate::database::index::definition::{Index, IndexPath};
use crate::database::query::page::Order;
use crate::document::filter::Filter;
use crate::document::jsonpath::SimpleStep;
use crate::key::Rank;
use crate::limits::SPANS_MAX;

/// An ordered index scan.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderedScan<'i> {
    pub(crate) index: &'i Index,
    /// The packed values of the fixed columns: one prefix for each stream.
    pub(crate) prefixes: Vec<Vec<u8>>,
    /// The number of fixed columns.
    pub(crate) fixed: usize,
    /// The column of each value of the order.
    pub(crate) columns: Vec<usize>,
    /// The bounds of the entries in each stream, relative to its prefix.
    pub(crate) range: (Vec<u8>, Vec<u8>),
    /// The numbers of the conjuncts that it uses.
    pub(crate) used: BTreeSet<usize>,
    /// The numbers of the conjuncts that hold for every document that it yields.
    pub(crate) covers: BTreeSet<usize>,
}

impl<'i> QueryPlan<'i> {
    /// The best ordered scan for an order.
    pub(crate) fn ordered_scan(&self, order: &Order, steps: &Steps<'_>) -> Option<OrderedScan<'i>> {
        let paths: Vec<&[SimpleStep]> = order
            .values
            .iter()
            .map(|value| value.by.simple())
            .collect::<Option<_>>()?;
        let scans = self
            .usable
            .iter()
            .filter_map(|usable| ordered_scan(&self.conjuncts, &paths, usable, steps));
        scans.max_by_key(|scan| {
            (
                scan.covers.len(),
                scan.used.len(),
                Reverse(scan.unordered()),
                Reverse(scan.prefixes.len()),
            )
        })
    }
}

impl OrderedScan<'_> {
    /// The number of columns that provide the order in each stream.
    pub(crate) fn ordered(&self) -> usize {
        let columns: BTreeSet<usize> = self.columns.iter().copied().collect();
        columns
            .iter()
            .filter(|column| **column >= self.fixed)
            .count()
    }

    /// The number of columns after those that provide the order.
    pub(crate) fn unordered(&self) -> usize {
        self.index.on.len() - self.fixed - self.ordered()
    }

    /// Whether an entry may show another value than the one that a document is ordered by.
    pub(crate) fn is_multiple(&self) -> bool {
        let mut columns = self.columns.iter();
        columns.any(|column| self.index.on[*column].is_multiple())
    }
}

fn ordered_scan<'i>(
    conjuncts: &[Filter],
    order: &[&[SimpleStep]],
    usable: &UsableIndex<'i>,
    steps: &Steps<'_>,
) -> Option<OrderedScan<'i>> {
    let index = usable.index;
    let mut scan = OrderedScan {
        index,
        prefixes: vec![Vec::new()],
        fixed: 0,
        columns: Vec::with_capacity(order.len()),
        range: (Vec::new(), vec![0xFF]),
        used: usable.proves.clone(),
        covers: usable.proves.clone(),
    };
    while scan.fix_column(conjuncts, order, steps) {}
    let mut next = scan.fixed;
    for path in order {
        let known = |column: &usize| index.on[*column].steps() == *path;
        // A value that repeats does not change the order.
        let column = (0..next).find(known).or_else(|| {
            let column = Some(next).filter(|next| *next < index.on.len());
            column.filter(known)
        })?;
        if column == next {
            next += 1;
        } else if index.on[column].is_multiple() {
            // Ordered by the least and by the greatest of several values.
            return None;
        }
        scan.columns.push(column);
    }
    if next > scan.fixed {
        scan.range = scan.bounds(conjuncts, &index.on[scan.fixed], steps);
    }
    Some(scan)
}

impl OrderedScan<'_> {
    /// Fixes the next column. Returns false if no equality fixes it.
    fn fix_column(
        &mut self,
        conjuncts: &[Filter],
        order: &[&[SimpleStep]],
        steps: &Steps<'_>,
    ) -> bool {
        let Some(path) = self.index.on.get(self.fixed) else {
            return false;
        };
        // The value that a document is ordered by does not depend on the filter.
        if path.is_multiple() && order.contains(&path.steps()) {
            return false;
        }
        let Some((ColumnBounds::Points { values, exact }, numbers)) =
            column(conjuncts, path, steps)
        else {
            return false;
        };
        if self.prefixes.len() * values.len() > SPANS_MAX {
            return false;
        }
        let longer = self.prefixes.iter().flat_map(|prefix| {
            let values = values.iter();
            values.map(move |value| [prefix, value.bytes()].concat())
        });
        self.prefixes = longer.collect();
        self.fixed += 1;
        self.used.extend(&numbers);
        if exact {
            self.covers.extend(&numbers);
        }
        true
    }

    /// The bounds of the first column that provides the order. If the path can select
    /// several values, returns the whole column.
    fn bounds(
        &mut self,
        conjuncts: &[Filter],
        path: &IndexPath,
        steps: &Steps<'_>,
    ) -> (Vec<u8>, Vec<u8>) {
        if !path.is_multiple()
            && let Some((column, numbers)) = column(conjuncts, path, steps)
        {
            self.used.extend(&numbers);
            return match column {
                ColumnBounds::Range { begin, end, exact } => {
                    if exact {
                        self.covers.extend(&numbers);
                    }
                    (begin, end)
                }
                // There are more values than streams: all entries between them are read.
                ColumnBounds::Points { values, .. } => match (values.first(), values.last()) {
                    (Some(first), Some(last)) => (first.bytes().to_vec(), prefix_end(last.bytes())),
                    _ => (Vec::new(), Vec::new()),
                },
            };
        }
        (Rank::Null.prefix(), vec![0xFF])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::database::query::page::OrderBy;
    use crate::database::query::plan::access_path::tests::{all, condition, indexes, planned};
    use crate::document::jsonpath::Query;

    /// An order by these paths; `-` before a path makes it descend.
    fn order(by: &[&str]) -> Order {
        let value = |path: &&str| OrderBy {
            by: Query::parse(path.trim_start_matches('-')).expect(path),
            descending: path.starts_with('-'),
        };
        Order {
            values: by.iter().map(value).collect(),
            ids_descend: false,
        }
    }

    /// Describes the best scan: the index, the numbers of streams, of columns that provide the
    /// order, of columns after them, and of conjuncts left.
    fn best(filter: &Filter, by: &[&str], on: &[&[&str]]) -> Option<String> {
        let indexes = indexes(on);
        let plan = planned(filter, &indexes);
        let steps = Budget::of_background();
        let scan = plan.ordered_scan(&order(by), &Steps::of(&steps))?;
        Some(format!(
            "{}: {} streams, {} ordered, {} after, {} left",
            scan.index.name,
            scan.prefixes.len(),
            scan.ordered(),
            scan.unordered(),
            plan.conjuncts.len() - scan.covers.len()
        ))
    }

    #[test]
    fn an_index_serves_an_order_behind_what_equality_fixes() {
        type Case = (
            Filter,
            &'static [&'static str],
            &'static [&'static [&'static str]],
            Option<&'static str>,
        );
        let every = Filter::default;
        let a = |test: &str| condition("$.a", &[test]);
        let cases: Vec<Case> = vec![
            (
                every(),
                &["$.o"],
                &[&["$.a"], &["$.o"]],
                Some("$.o: 1 streams, 1 ordered, 0 after, 0 left"),
            ),
            (
                every(),
                &["$.o"],
                &[&["$.a", "$.o"], &["$.o", "$.a"]],
                Some("$.o,$.a: 1 streams, 1 ordered, 1 after, 0 left"),
            ),
            (
                every(),
                &["$.a", "-$.o"],
                &[&["$.a"], &["$.a", "$.o"]],
                Some("$.a,$.o: 1 streams, 2 ordered, 0 after, 0 left"),
            ),
            (every(), &["$.o", "$.a"], &[&["$.a", "$.o"]], None),
            (
                a("= 1"),
                &["$.o"],
                &[&["$.o"], &["$.a", "$.o"]],
                Some("$.a,$.o: 1 streams, 1 ordered, 0 after, 0 left"),
            ),
            (
                a("= 1"),
                &["$.o", "$.a"],
                &[&["$.a", "$.o"]],
                Some("$.a,$.o: 1 streams, 1 ordered, 0 after, 0 left"),
            ),
            (
                a("= 1"),
                &["$.a"],
                &[&["$.a", "$.o"]],
                Some("$.a,$.o: 1 streams, 0 ordered, 1 after, 0 left"),
            ),
            (
                a("= 1"),
                &["$.o"],
                &[&["$.o"]],
                Some("$.o: 1 streams, 1 ordered, 0 after, 1 left"),
            ),
            (a("> 1"), &["$.o"], &[&["$.a", "$.o"]], None),
            (
                a("in [1, 2]"),
                &["$.o"],
                &[&["$.a", "$.o"]],
                Some("$.a,$.o: 2 streams, 1 ordered, 0 after, 0 left"),
            ),
            (
                a("in [1, 1.0]"),
                &["$.o"],
                &[&["$.a", "$.o"]],
                Some("$.a,$.o: 1 streams, 1 ordered, 0 after, 0 left"),
            ),
            (
                a("= {}"),
                &["$.o"],
                &[&["$.a", "$.o"]],
                Some("$.a,$.o: 1 streams, 1 ordered, 0 after, 1 left"),
            ),
            (
                condition("$.o", &["> 1"]),
                &["$.o"],
                &[&["$.o"]],
                Some("$.o: 1 streams, 1 ordered, 0 after, 0 left"),
            ),
            (
                all([condition("$.t[*]", &["= 1"]), condition("$.o", &["< 3"])]),
                &["$.o"],
                &[&["$.t[*]", "$.o"]],
                Some("$.t[*],$.o: 1 streams, 1 ordered, 0 after, 0 left"),
            ),
            (
                condition("$.o[*]", &["= 1"]),
                &["$.o[*]"],
                &[&["$.o[*]"]],
                Some("$.o[*]: 1 streams, 1 ordered, 0 after, 1 left"),
            ),
            (every(), &["$.o[*]", "-$.o[*]"], &[&["$.o[*]"]], None),
        ];
        for (filter, by, on, expected) in cases {
            let found = best(&filter, by, on);
            assert_eq!(found.as_deref(), expected, "{filter:?} by {by:?} on {on:?}");
        }
    }

    #[test]
    fn no_range_narrows_a_scan_by_one_of_several_values() {
        let indexes = indexes(&[&["$.o[*]"]]);
        let plan = planned(&condition("$.o[*]", &["> 1"]), &indexes);
        let steps = Budget::of_background();
        let scan = plan.ordered_scan(&order(&["$.o[*]"]), &Steps::of(&steps));
        let scan = scan.expect("a scan");
        assert_eq!(scan.covers.len(), 0);
        assert_eq!(scan.range, (Rank::Null.prefix(), vec![0xFF]));
    }
}
