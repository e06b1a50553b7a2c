//! Evaluation of JSONPath queries on what their leading segments name.
//!
//! The caller reads the ranges that [`Leading`](crate::document::jsonpath::Leading) returns, in its
//! own way: through the loader of a request, or in a transaction. This module evaluates the rest of
//! the query on what was read.

use std::ops::Range;

use super::range_plan::Extent;
use super::value::Value;
use crate::budget::{Budget, Reservation, Steps};
use crate::document::jsonpath::{ElementRange, LeadingRange, Query, check_nodes};
use crate::document::leaf::Kind;
use crate::document::path::{Place, Segment};
use crate::error::Result;

impl LeadingRange {
    /// Returns how much to read at the place.
    pub fn extent(&self) -> Extent {
        self.elements
            .map_or(Extent::Whole, |slice| Extent::Elements(slice.range))
    }
}

/// The values from which the rest of a query selects, in order.
pub struct QuerySelection {
    read: Vec<Value>,
    starts: Vec<SelectionStart>,
    /// Holds `starts`.
    memory: Reservation,
}

/// One of the values that were read, or an element in it.
struct SelectionStart {
    /// The number of the read.
    read: usize,
    /// The index of the element and its pairs.
    element: Option<(u64, Range<usize>)>,
}

/// A node that a query selects.
pub struct SelectedNode {
    start: usize,
    /// The place below the start.
    below: Vec<Segment>,
    /// The kind of the value.
    pub kind: Kind,
}

impl QuerySelection {
    /// Creates the selection from what was read for each of the ranges.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. As [`Reservation::hold`] and [`Budget::compute`].
    pub async fn new(
        ranges: &[LeadingRange],
        read: Vec<Option<Value>>,
        budget: &Budget,
    ) -> Result<Self> {
        let mut selection = Self {
            read: Vec::with_capacity(read.len()),
            starts: Vec::with_capacity(read.len()),
            memory: budget.reserve(),
        };
        for (range, value) in ranges.iter().zip(read) {
            let Some(value) = value else { continue };
            let number = selection.read.len();
            if let Some(slice) = range.elements {
                let ElementRange { begin, .. } = slice.range;
                let bytes = value.pair_count() * size_of::<SelectionStart>();
                selection.memory.hold(2 * bytes)?;
                let split = |steps: &Steps<'_>| {
                    steps.spend(value.pair_count() as u64)?;
                    value.element_ranges(begin)
                };
                let elements = budget.compute(split).await?;
                let starts = slice.positions(elements.len()).map(|at| SelectionStart {
                    read: number,
                    element: Some((begin + at as u64, elements[at].clone())),
                });
                selection.starts.extend(starts);
            } else {
                selection.starts.push(SelectionStart {
                    read: number,
                    element: None,
                });
            }
            selection.read.push(value);
        }
        Ok(selection)
    }

    /// Evaluates the query after its first `applied` segments. Returns the nodes in the order of
    /// RFC 9535.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. As [`Query::select`] and [`Value::tree`].
    pub async fn select(
        &self,
        query: &Query,
        applied: usize,
        budget: &Budget,
    ) -> Result<Vec<SelectedNode>> {
        check_nodes(self.starts.len())?;
        let memory = budget.reserve();
        if query.has_rest(applied) {
            // One tree at a time is in memory.
            let pairs = self.starts.iter().map(|start| match &start.element {
                Some((_, range)) => range.len(),
                None => self.read[start.read].pair_count(),
            });
            memory.hold(Value::tree_bytes_of(pairs.max().unwrap_or_default()))?;
        }
        let select = |steps: &Steps<'_>| {
            let mut selected = Vec::new();
            for start in 0..self.starts.len() {
                steps.spend(1)?;
                let Some(value) = self.start(start) else {
                    continue;
                };
                if !query.has_rest(applied) {
                    selected.push(SelectedNode {
                        start,
                        below: Vec::new(),
                        kind: value.kind()?,
                    });
                    continue;
                }
                let tree = value.tree(steps)?;
                let nodes = query.select_rest(applied, &tree, steps)?;
                check_nodes(selected.len() + nodes.len())?;
                selected.extend(nodes.into_iter().map(|(below, value)| SelectedNode {
                    start,
                    below,
                    kind: value.kind(),
                }));
            }
            Ok(selected)
        };
        budget.compute(select).await
    }

    /// Returns the value of a selected node.
    pub fn value(&self, node: &SelectedNode) -> Option<Value> {
        let start = self.start(node.start)?;
        if node.below.is_empty() {
            return Some(start);
        }
        start.below(&node.below)
    }

    /// Returns the place of a selected node in its document.
    pub(crate) fn place(&self, node: &SelectedNode) -> Option<Place> {
        Some(self.start(node.start)?.place.join(&node.below))
    }

    fn start(&self, at: usize) -> Option<Value> {
        let SelectionStart { read, element } = self.starts.get(at)?;
        let value = &self.read[*read];
        match element {
            None => Some(value.clone()),
            Some((index, range)) => value.element(*index, range.clone()),
        }
    }
}
