//! The lists of an evaluation. They take memory before they grow.

use std::cell::OnceCell;
use std::ops::Deref;
use std::slice::Iter;

use super::super::path::Segment;
use super::super::tree::Tree;
use crate::budget::{Share, Steps};
use crate::error::Result;

/// The most bytes of a list that are not counted. Filters make small lists for each value. Few of
/// them exist at a time, because the nesting of filters is limited.
const UNCOUNTED_BYTES: usize = 1 << 10;
/// Places are counted in portions of at least so many bytes.
const PORTION_BYTES: usize = 4 << 10;
/// The items for which a new list has room.
const ITEMS_MIN: usize = 4;

/// The memory of all lists of one evaluation.
pub(super) struct ListMemory<'s> {
    steps: &'s Steps<'s>,
    share: OnceCell<Share>,
}

impl<'s> ListMemory<'s> {
    pub(super) fn new(steps: &'s Steps<'s>) -> Self {
        Self {
            steps,
            share: OnceCell::new(),
        }
    }

    fn take(&self, bytes: usize) -> Result<()> {
        let share = self.share.get_or_init(|| self.steps.counted_share());
        share.take(bytes)?;
        Ok(())
    }

    fn give(&self, bytes: usize) {
        if let Some(share) = self.share.get() {
            share.give(bytes);
        }
    }
}

/// A list that takes memory before it grows, and returns it when it is dropped.
pub(super) struct CountedList<'m, T> {
    items: Vec<T>,
    memory: &'m ListMemory<'m>,
    counted: usize,
}

impl<'m, T> CountedList<'m, T> {
    pub(super) fn new(memory: &'m ListMemory<'m>) -> Self {
        Self {
            items: Vec::new(),
            memory,
            counted: 0,
        }
    }

    /// Adds an item.
    ///
    /// # Errors
    /// `UNAVAILABLE`: all requests together would hold too much memory.
    #[inline]
    pub(super) fn push(&mut self, item: T) -> Result<()> {
        if self.items.len() == self.items.capacity() {
            self.grow()?;
        }
        self.items.push(item);
        Ok(())
    }

    /// Removes all items but the first ones.
    pub(super) fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// Doubles the list. The new one exists beside the old one meanwhile.
    #[cold]
    fn grow(&mut self) -> Result<()> {
        let room = ITEMS_MIN.max(2 * self.items.capacity());
        let bytes = room * size_of::<T>();
        let before = self.counted;
        if bytes > UNCOUNTED_BYTES {
            self.memory.take(bytes)?;
            self.counted = bytes;
        }
        self.items.reserve_exact(room - self.items.len());
        self.memory.give(before);
        Ok(())
    }
}

impl<T> Deref for CountedList<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> Drop for CountedList<'_, T> {
    fn drop(&mut self) {
        self.memory.give(self.counted);
    }
}

/// What a query selects: the place of each node, and the node. It holds its memory.
pub struct SelectedNodes<'t> {
    nodes: Vec<Selected<'t>>,
    bytes: usize,
    _memory: Option<Share>,
}

/// A node that a query selects: its place, and the value there.
pub type Selected<'t> = (Vec<Segment>, &'t Tree);

impl<'t> SelectedNodes<'t> {
    /// Collects nodes, of which there are so many. `memory` has no other use.
    ///
    /// # Errors
    /// `UNAVAILABLE`: all requests together would hold too much memory. The errors of the nodes.
    pub(super) fn collect(
        nodes: impl ExactSizeIterator<Item = Result<Selected<'t>>>,
        memory: &ListMemory<'_>,
    ) -> Result<Self> {
        let mut bytes = nodes.len() * size_of::<Selected<'t>>();
        if bytes > UNCOUNTED_BYTES {
            memory.take(bytes)?;
        }
        let mut selected = Vec::with_capacity(nodes.len());
        let mut uncounted = 0;
        for node in nodes {
            let node = node?;
            uncounted += node.0.iter().map(Segment::held_bytes).sum::<usize>();
            if uncounted > PORTION_BYTES {
                memory.take(uncounted)?;
                bytes += std::mem::take(&mut uncounted);
            }
            selected.push(node);
        }
        Ok(Self {
            nodes: selected,
            bytes: bytes + uncounted,
            _memory: None,
        })
    }

    /// Holds the memory until the nodes are dropped.
    pub(super) fn holding(self, memory: ListMemory<'_>) -> Self {
        Self {
            _memory: memory.share.into_inner(),
            ..self
        }
    }

    /// The nodes, in the order of RFC 9535.
    pub fn iter(&self) -> Iter<'_, Selected<'t>> {
        self.nodes.iter()
    }

    /// The nodes by value. Their memory does not count any more.
    pub fn into_nodes(self) -> Vec<Selected<'t>> {
        self.nodes
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The bytes of memory that the nodes take.
    pub fn held_bytes(&self) -> usize {
        self.bytes
    }
}

impl<'s, 't> IntoIterator for &'s SelectedNodes<'t> {
    type Item = &'s Selected<'t>;
    type IntoIter = Iter<'s, Selected<'t>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
