//! The places of the nodes of a list.

use super::super::path::{Segment, SegmentRef};
use super::super::tree::Tree;
use super::node_list::{CountedList, ListMemory};
use crate::error::Result;

/// The places of nodes, each a segment and the place above, if they are wanted.
pub(super) struct Places<'m, 'e> {
    kept: bool,
    links: CountedList<'m, (usize, SegmentRef<'e>)>,
}

/// The place of the current value.
pub(super) const HERE: usize = 0;

impl<'m, 'e> Places<'m, 'e> {
    /// Places that are wanted.
    pub(super) fn kept(memory: &'m ListMemory<'m>) -> Self {
        Self {
            kept: true,
            links: CountedList::new(memory),
        }
    }

    /// Places that are not wanted.
    pub(super) fn unwanted(memory: &'m ListMemory<'m>) -> Self {
        Self {
            kept: false,
            links: CountedList::new(memory),
        }
    }

    /// The place below another.
    ///
    /// # Errors
    /// As [`CountedList::push`].
    pub(super) fn below(&mut self, above: usize, segment: SegmentRef<'e>) -> Result<usize> {
        if !self.kept {
            return Ok(HERE);
        }
        self.links.push((above, segment))?;
        Ok(self.links.len())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// Forgets all but so many, of which no node is left.
    pub(super) fn truncate(&mut self, len: usize) {
        self.links.truncate(len);
    }

    /// The segments of a place.
    pub(super) fn segments(&self, mut place: usize) -> Vec<Segment> {
        let mut segments = Vec::new();
        while let Some(at) = place.checked_sub(1) {
            let (above, segment) = self.links[at];
            segments.push(segment.to_owned());
            place = above;
        }
        segments.reverse();
        segments
    }
}

/// The members of an object or the elements of an array.
pub(super) enum ChildNodes<'t> {
    Members(std::slice::Iter<'t, (String, Tree)>),
    Elements(std::iter::Enumerate<std::slice::Iter<'t, Tree>>),
    None,
}

impl<'t> ChildNodes<'t> {
    pub(super) fn of(value: &'t Tree) -> Self {
        match value {
            Tree::Object(members) => Self::Members(members.iter()),
            Tree::Array(elements) => Self::Elements(elements.iter().enumerate()),
            Tree::Leaf(_) => Self::None,
        }
    }
}

impl<'t> Iterator for ChildNodes<'t> {
    type Item = (SegmentRef<'t>, &'t Tree);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Members(members) => {
                let (name, value) = members.next()?;
                Some((SegmentRef::Key(name), value))
            }
            Self::Elements(elements) => {
                let (at, value) = elements.next()?;
                Some((SegmentRef::Index(at as u64), value))
            }
            Self::None => None,
        }
    }
}
