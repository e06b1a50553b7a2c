//! What a query selects in a value (RFC 9535 §2.1.2), its work counted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use super::super::path::{Segment, SegmentRef};
use super::super::tree::Tree;
use super::ast::{FilterQuery, QuerySegment, Selector, SingularQuery, SingularSegment};
use super::leading::copy_steps;
use super::node_list::{CountedList, ListMemory, SelectedNodes};
use super::places::{ChildNodes, HERE, Places};
use super::slice::slice;
use crate::budget::Steps;
use crate::document::regexp::Regexp;
use crate::error::{Error, Limit, Result};
use crate::limits::JSONPATH_NODES_MAX;

/// A node, and where in [`Places`] its place is kept.
#[derive(Clone, Copy)]
pub(super) struct QueryNode<'t> {
    pub(super) value: &'t Tree,
    place: usize,
}

/// One evaluation of a query.
pub(super) struct Evaluation<'t, 's> {
    /// The value at which the first `skipped` segments of each query from the root lead.
    root: &'t Tree,
    skipped: usize,
    pub(super) steps: &'s Steps<'s>,
    memory: ListMemory<'s>,
    /// The regular expressions that the document determines.
    pub(super) regexps: RefCell<HashMap<(String, bool), Regexp>>,
}

impl<'t, 's> Evaluation<'t, 's> {
    /// An evaluation on the value at which the first `skipped` segments of each query from the
    /// root lead, which spends `steps`.
    pub(super) fn new(root: &'t Tree, skipped: usize, steps: &'s Steps<'s>) -> Self {
        Self {
            root,
            skipped,
            steps,
            memory: ListMemory::new(steps),
            regexps: RefCell::default(),
        }
    }

    /// What the segments of the whole query select.
    pub(super) fn select(self, segments: &[QuerySegment]) -> Result<SelectedNodes<'t>> {
        let selected = {
            let mut places = Places::kept(&self.memory);
            let rest = &segments[self.skipped..];
            let nodes = self.walk(rest, self.root, &mut places, usize::MAX)?;
            let nodes = nodes.iter().map(|node| {
                let place = places.segments(node.place);
                self.spend(3 * place.len() as u64 + copy_steps(&place))?;
                Ok((place, node.value))
            });
            SelectedNodes::collect(nodes, &self.memory)?
        };
        Ok(selected.holding(self.memory))
    }

    /// Calls `each` with the values that the segments of the whole query select, until it breaks.
    pub(super) fn visit(
        &self,
        segments: &[QuerySegment],
        mut each: impl FnMut(&'t Tree) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut places = Places::unwanted(&self.memory);
        let rest = &segments[self.skipped..];
        let nodes = self.walk(rest, self.root, &mut places, usize::MAX)?;
        for node in &*nodes {
            if each(node.value)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// What a query inside a filter selects; no more than is `enough`.
    pub(super) fn nodes(
        &self,
        query: &FilterQuery,
        current: &'t Tree,
        enough: usize,
    ) -> Result<CountedList<'_, QueryNode<'t>>> {
        let (segments, start) = self.begin(query, current);
        let mut places = Places::unwanted(&self.memory);
        self.walk(segments, start, &mut places, enough)
    }

    /// The node that a singular query selects.
    pub(super) fn node(
        &self,
        query: &SingularQuery,
        current: &'t Tree,
    ) -> Result<Option<&'t Tree>> {
        let (segments, start) = self.begin(query.query(), current);
        let mut value = start;
        for segment in segments {
            self.spend(1)?;
            let found = match segment.singular() {
                Some(SingularSegment::Name(name)) => value.member(name).map(|(_, value)| value),
                Some(SingularSegment::Index(index)) => {
                    element(value, index).map(|(_, value)| value)
                }
                None => None,
            };
            let Some(found) = found else {
                return Ok(None);
            };
            value = found;
        }
        Ok(Some(value))
    }

    /// Counts work.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    #[inline]
    pub(super) fn spend(&self, steps: u64) -> Result<()> {
        self.steps.spend(steps)
    }

    fn begin<'q>(
        &self,
        query: &'q FilterQuery,
        current: &'t Tree,
    ) -> (&'q [QuerySegment], &'t Tree) {
        if query.from_root {
            (&query.segments[self.skipped..], self.root)
        } else {
            (&query.segments, current)
        }
    }

    fn walk<'m>(
        &'m self,
        segments: &[QuerySegment],
        start: &'t Tree,
        places: &mut Places<'m, 't>,
        enough: usize,
    ) -> Result<CountedList<'m, QueryNode<'t>>> {
        let mut nodes = CountedList::new(&self.memory);
        nodes.push(QueryNode {
            value: start,
            place: HERE,
        })?;
        for (at, segment) in segments.iter().enumerate() {
            let last = at + 1 == segments.len();
            let mut selected = NodeList {
                nodes: CountedList::new(&self.memory),
                enough: if last { enough } else { usize::MAX },
            };
            for node in &*nodes {
                match segment {
                    QuerySegment::Child(selectors) => {
                        self.child(selectors, *node, places, &mut selected)?;
                    }
                    QuerySegment::Descendant(selectors) => {
                        self.descendants(selectors, *node, places, &mut selected)?;
                    }
                }
                if selected.is_enough() {
                    break;
                }
            }
            nodes = selected.nodes;
        }
        Ok(nodes)
    }

    /// The selectors on a node and on all below it, a node before what is below it.
    fn descendants<'m>(
        &'m self,
        selectors: &[Selector],
        node: QueryNode<'t>,
        places: &mut Places<'m, 't>,
        selected: &mut NodeList<'m, 't>,
    ) -> Result<()> {
        self.child(selectors, node, places, selected)?;
        let mut open = vec![(
            node,
            ChildNodes::of(node.value),
            places.len(),
            selected.nodes.len(),
        )];
        while let Some((parent, rest, ..)) = open.last_mut() {
            let parent = *parent;
            let Some((segment, value)) = rest.next() else {
                let (_, _, kept, before) = open.pop().expect("it was the last");
                if selected.nodes.len() == before {
                    places.truncate(kept);
                }
                continue;
            };
            self.spend(1)?;
            if let Tree::Leaf(_) = value {
                continue;
            }
            let (kept, before) = (places.len(), selected.nodes.len());
            let place = places.below(parent.place, segment)?;
            let node = QueryNode { value, place };
            self.child(selectors, node, places, selected)?;
            if selected.is_enough() {
                return Ok(());
            }
            open.push((node, ChildNodes::of(value), kept, before));
        }
        Ok(())
    }

    /// The selectors on a node. Its frame is small, because filters with filters recur here.
    fn child<'m>(
        &'m self,
        selectors: &[Selector],
        node: QueryNode<'t>,
        places: &mut Places<'m, 't>,
        selected: &mut NodeList<'m, 't>,
    ) -> Result<()> {
        for selector in selectors {
            self.spend(1)?;
            if let Selector::Filter(expression) = selector {
                for (segment, value) in ChildNodes::of(node.value) {
                    self.spend(1)?;
                    if self.holds(expression, value)? {
                        selected.take(node, segment, value, places)?;
                    }
                }
            } else {
                self.children(selector, node, places, selected)?;
            }
            if selected.is_enough() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A selector that is not a filter on a node.
    fn children<'m>(
        &'m self,
        selector: &Selector,
        node: QueryNode<'t>,
        places: &mut Places<'m, 't>,
        selected: &mut NodeList<'m, 't>,
    ) -> Result<()> {
        let mut take =
            |segment: SegmentRef<'t>, value: &'t Tree| selected.take(node, segment, value, places);
        match selector {
            Selector::Name(name) => {
                if let Some((name, value)) = node.value.member(name) {
                    take(SegmentRef::Key(name), value)?;
                }
            }
            Selector::Index(index) => {
                if let Some((at, value)) = element(node.value, *index) {
                    take(SegmentRef::Index(at), value)?;
                }
            }
            Selector::Slice { start, end, step } => {
                let Tree::Array(elements) = node.value else {
                    return Ok(());
                };
                for at in slice(elements.len(), *start, *end, *step) {
                    self.spend(1)?;
                    take(SegmentRef::Index(at as u64), &elements[at])?;
                }
            }
            Selector::Wildcard => {
                for (segment, value) in ChildNodes::of(node.value) {
                    self.spend(1)?;
                    take(segment, value)?;
                }
            }
            Selector::Filter(_) => {}
        }
        Ok(())
    }
}

/// The place that segments of a singular query lead to, whose last step need not exist.
pub(super) fn singular_place(
    segments: &[QuerySegment],
    mut value: &Tree,
    steps: &Steps<'_>,
) -> Result<Option<Vec<Segment>>> {
    let mut place = Vec::with_capacity(segments.len());
    for (at, segment) in segments.iter().enumerate() {
        steps.spend(1)?;
        let (step, found) = match segment.singular() {
            Some(SingularSegment::Name(name)) => {
                let found = value.member(name).map(|(_, value)| value);
                (Some(SegmentRef::Key(name)), found)
            }
            Some(SingularSegment::Index(index)) => {
                let found = element(value, index);
                let step = found.map(|(at, _)| at).or(u64::try_from(index).ok());
                (step.map(SegmentRef::Index), found.map(|(_, value)| value))
            }
            None => (None, None),
        };
        let Some(step) = step else {
            return Ok(None);
        };
        place.push(step.to_owned());
        match found {
            Some(found) => value = found,
            None if at + 1 == segments.len() => {}
            None => return Ok(None),
        }
    }
    Ok(Some(place))
}

/// A list of nodes that is being made.
struct NodeList<'m, 't> {
    nodes: CountedList<'m, QueryNode<'t>>,
    enough: usize,
}

impl<'m, 't> NodeList<'m, 't> {
    fn is_enough(&self) -> bool {
        self.nodes.len() >= self.enough
    }

    /// Adds a child of `parent`.
    fn take(
        &mut self,
        parent: QueryNode<'t>,
        segment: SegmentRef<'t>,
        value: &'t Tree,
        places: &mut Places<'m, 't>,
    ) -> Result<()> {
        let place = places.below(parent.place, segment)?;
        check_nodes(self.nodes.len() + 1)?;
        self.nodes.push(QueryNode { value, place })
    }
}

/// Checks the number of nodes in a node list.
///
/// # Errors
/// `TOO_COMPLEX`: there are more than [`JSONPATH_NODES_MAX`].
pub fn check_nodes(nodes: usize) -> Result<()> {
    if nodes <= JSONPATH_NODES_MAX {
        return Ok(());
    }
    Err(Error::too_complex(
        Limit::new("jsonPathNodes", JSONPATH_NODES_MAX),
        format!(
            "the JSONPath selects more than {JSONPATH_NODES_MAX} nodes of what is stored here, \
             which is the limit"
        ),
    ))
}

/// The element at an index, which counts from the end if it is negative (§2.3.3).
fn element(value: &Tree, index: i64) -> Option<(u64, &Tree)> {
    let Tree::Array(elements) = value else {
        return None;
    };
    let from_end = || elements.len().checked_sub(usize::try_from(-index).ok()?);
    let at = usize::try_from(index).ok().or_else(from_end)?;
    elements.get(at).map(|value| (at as u64, value))
}
