//! Evaluation of JSONPath queries on what their leading segments name.
//!
//! The caller reads parts of the document in its own way: through the loader of a request, or in a
//! transaction. [`QuerySelection::read`] requests the parts that the leading segments of the query
//! name, and evaluates the rest of the query on them.

use std::ops::Range;

use futures::future::BoxFuture;

use super::range_plan::Extent;
use super::value::Value;
use crate::budget::{OwnedList, Reservation, Steps};
use crate::document::jsonpath::{ElementRange, LeadingRange, LeadingStep, Query, check_nodes};
use crate::document::leaf::Kind;
use crate::document::path::{Path, Place, Segment};
use crate::error::Result;

/// A list that grows is in memory twice while it is copied.
const SELECTED_COPIES: usize = 2;

/// The parts of a document to read: their paths, and how much of each.
pub type PartReads = Vec<(Path, Extent)>;

/// What [`QuerySelection::read`] requests first. Its further requests follow from the lengths
/// of arrays.
///
/// # Errors
/// As [`Steps::spend`].
pub fn first_reads(query: &Query, steps: &Steps<'_>) -> Result<PartReads> {
    Ok(reads_of(&query.leading().next(&[], steps)?))
}

fn reads_of(step: &LeadingStep) -> PartReads {
    match step {
        LeadingStep::Lengths(places) => {
            let reads = places
                .iter()
                .map(|place| (Path::of_segments(place), Extent::Last));
            reads.collect()
        }
        LeadingStep::Values(ranges) => {
            let reads = ranges.iter().map(|range| {
                let elements = range.elements.map(|slice| Extent::Elements(slice.range));
                let extent = elements.unwrap_or(Extent::Whole);
                (Path::of_segments(&range.place), extent)
            });
            reads.collect()
        }
    }
}

/// The nodes that a query selects, in the order of RFC 9535, and the values that have them.
pub struct QuerySelection {
    read: OwnedList<Value>,
    /// The values from which the rest of the query selects, in order.
    starts: Vec<SelectionStart>,
    nodes: OwnedList<SelectedNode>,
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

impl SelectedNode {
    /// Its bytes of memory.
    fn held_bytes(&self) -> usize {
        let below = self.below.iter().map(Segment::held_bytes);
        size_of::<Self>() + below.sum::<usize>()
    }
}

impl QuerySelection {
    /// Reads the parts that the query names with `read`, which returns them in the order of the
    /// request, and selects the nodes. `memory` holds the selection.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. As [`Query::select`], [`Value::tree`],
    /// [`Reservation::hold`] and `read`.
    pub async fn read<'r>(
        query: &Query,
        memory: &Reservation,
        read: impl Fn(PartReads) -> BoxFuture<'r, Result<Vec<Option<Value>>>>,
    ) -> Result<Self> {
        // The places of the query, as such, in the requests and in the answers.
        const COPIES: usize = 3;
        let budget = memory.budget();
        let places = budget.reserve();
        let mut leading = query.leading();
        let mut lengths = Vec::new();
        loop {
            let next = |steps: &Steps<'_>| {
                let mut leading = leading.clone();
                let step = leading.next(&lengths, steps)?;
                Ok((leading, step))
            };
            let (applied, step) = budget.compute(next).await?;
            leading = applied;
            places.hold(COPIES * step.bytes())?;
            let parts = read(reads_of(&step)).await?;
            match step {
                LeadingStep::Lengths(_) => {
                    let read = parts
                        .iter()
                        .map(|last| last.as_ref().map_or(Ok(0), Value::elements));
                    lengths = read.collect::<Result<_>>()?;
                }
                LeadingStep::Values(ranges) => {
                    let mut selection = Self::new(&ranges, parts, memory).await?;
                    selection.select(query, leading.applied(), memory).await?;
                    return Ok(selection);
                }
            }
        }
    }

    /// The selected nodes.
    pub fn nodes(&self) -> &[SelectedNode] {
        &self.nodes
    }

    async fn new(
        ranges: &[LeadingRange],
        read: Vec<Option<Value>>,
        memory: &Reservation,
    ) -> Result<Self> {
        let places = read.iter().flatten().map(|value| value.place.held_bytes());
        let each = size_of::<Value>() + size_of::<SelectionStart>();
        memory.hold(read.len() * each + places.sum::<usize>())?;
        let mut selection = Self {
            read: Vec::with_capacity(read.len()).into(),
            starts: Vec::with_capacity(read.len()),
            nodes: OwnedList::default(),
        };
        for (range, value) in ranges.iter().zip(read) {
            let Some(value) = value else { continue };
            let number = selection.read.len();
            if let Some(slice) = range.elements {
                let ElementRange { begin, .. } = slice.range;
                let bytes = value.pair_count() * size_of::<SelectionStart>();
                memory.hold(2 * bytes)?;
                let split = |steps: &Steps<'_>| {
                    steps.spend(value.pair_count() as u64)?;
                    value.element_ranges(begin)
                };
                let elements = memory.budget().compute(split).await?;
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

    /// Evaluates the query after its first `applied` segments.
    async fn select(&mut self, query: &Query, applied: usize, memory: &Reservation) -> Result<()> {
        check_nodes(self.starts.len())?;
        let budget = memory.budget();
        let trees = budget.reserve();
        if query.has_rest(applied) {
            // One tree at a time is in memory.
            let pairs = self.starts.iter().map(|start| match &start.element {
                Some((_, range)) => range.len(),
                None => self.read[start.read].pair_count(),
            });
            trees.hold(Value::tree_bytes_of(pairs.max().unwrap_or_default()))?;
        }
        let select = |steps: &Steps<'_>| {
            let held = budget.share();
            let mut selected = Vec::new();
            if !query.has_rest(applied) {
                held.take(self.starts.len() * size_of::<SelectedNode>())?;
                selected.reserve_exact(self.starts.len());
            }
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
                held.take(SELECTED_COPIES * nodes.held_bytes())?;
                selected.extend(nodes.into_nodes().into_iter().map(|(below, value)| {
                    SelectedNode {
                        start,
                        below,
                        kind: value.kind(),
                    }
                }));
            }
            selected.shrink_to_fit();
            Ok((selected, held))
        };
        let (nodes, held) = budget.compute(select).await?;
        // From here on, the selection holds them.
        drop(held);
        memory.hold(nodes.iter().map(SelectedNode::held_bytes).sum())?;
        self.nodes = nodes.into();
        Ok(())
    }

    /// The value of a selected node.
    pub fn value(&self, node: &SelectedNode) -> Option<Value> {
        let start = self.start(node.start)?;
        if node.below.is_empty() {
            return Some(start);
        }
        start.below(&node.below)
    }

    /// The place of a selected node in its document.
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
