//! Changes of pairs that are not in redb yet: an ordered map in memory.
//!
//! The map is a B-tree whose nodes are shared by clones. [`Overlay::insert`] first copies those nodes
//! on the way to the inserted keys that another clone has, too. So a clone costs nothing and never
//! changes, and readers need no lock. A leaf holds its keys and values in one allocation, so
//! inserting the adjacent keys of a document copies few, short pieces of memory.

use std::ops::Range;
use std::sync::Arc;

/// A leaf is split when it has more bytes of keys and values than this.
const LEAF_BYTES_MAX: usize = 4096;
/// A branch is split when it has more children than this.
const CHILDREN_MAX: usize = 32;
/// Changes that are inserted into a leaf one by one. More are merged with it.
const INSERTED_MAX: usize = 4;

/// A change of one key: its new value, or `None` if it is cleared.
pub(crate) type KeyChange<'o> = (&'o [u8], Option<&'o [u8]>);

/// An ordered map of changed keys.
#[derive(Clone, Default)]
pub(crate) struct Overlay(Option<Node>);

#[derive(Clone)]
enum Node {
    Leaf(Arc<KeyChanges>),
    Branch(Arc<Branch>),
}

/// Nodes, and a key for each: its keys are not less, and those of the nodes before it are less. The
/// first node may have lesser keys, too.
#[derive(Clone, Default)]
struct Branch {
    firsts: KeyChanges,
    nodes: Vec<Node>,
}

/// Changes with ascending keys, in two allocations.
#[derive(Clone, Default)]
pub(crate) struct KeyChanges {
    bytes: Vec<u8>,
    places: Vec<ChangeOffsets>,
}

/// Where a change is in the bytes.
#[derive(Clone, Copy)]
struct ChangeOffsets {
    key: u32,
    value: u32,
    end: u32,
    cleared: bool,
}

impl KeyChanges {
    /// An empty list with room for this many changes, with this many bytes of keys and values.
    pub(crate) fn with_capacity(changes: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            places: Vec::with_capacity(changes),
        }
    }

    /// Appends a change, whose key is greater than all others.
    pub(crate) fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.places.push(ChangeOffsets {
            key: offset(begin),
            value: offset(begin + key.len()),
            end: offset(self.bytes.len()),
            cleared: value.is_none(),
        });
    }

    /// Inserts a change before the one at `at`, whose key is greater.
    fn insert(&mut self, at: usize, key: &[u8], value: Option<&[u8]>) {
        let begin = self
            .places
            .get(at)
            .map_or(self.bytes.len(), |place| place.key as usize);
        self.push(key, value);
        let bytes = self.bytes_of(self.len() - 1..self.len());
        self.bytes[begin..].rotate_right(bytes);
        let mut place = self.places.pop().expect("it was just pushed");
        let back = place.key - offset(begin);
        (place.key, place.value, place.end) =
            (place.key - back, place.value - back, place.end - back);
        for later in &mut self.places[at..] {
            let forward = offset(bytes);
            later.key += forward;
            later.value += forward;
            later.end += forward;
        }
        self.places.insert(at, place);
    }

    /// Sets or inserts few changes. Returns false if that needs another copy.
    fn set(&mut self, newer: &Self, range: Range<usize>) -> bool {
        if range.len() > INSERTED_MAX {
            return false;
        }
        for at in range {
            let (key, value) = newer.get(at);
            let found = self.lower_bound(0..self.len(), key);
            if found == self.len() || self.key(found) != key {
                self.insert(found, key, value);
                continue;
            }
            let value = value.unwrap_or_default();
            let ChangeOffsets {
                value: begin, end, ..
            } = self.places[found];
            let present = &mut self.bytes[begin as usize..end as usize];
            if present.len() != value.len() {
                return false;
            }
            present.copy_from_slice(value);
            self.places[found].cleared = newer.places[at].cleared;
        }
        true
    }

    /// The list in parts of about the same size.
    fn parts(&self) -> impl Iterator<Item = Self> {
        let parts = self.bytes.len().div_ceil(LEAF_BYTES_MAX).max(1);
        let target = self.bytes.len().div_ceil(parts);
        let mut begin = 0;
        std::iter::from_fn(move || {
            let limit = self.places.get(begin)?.key as usize + target;
            let rest = &self.places[begin + 1..];
            let end = begin + 1 + rest.partition_point(|place| (place.end as usize) <= limit);
            let mut part = Self::default();
            part.append(self, begin..end);
            begin = end;
            Some(part)
        })
    }

    /// Appends changes of another list, whose keys are greater.
    fn append(&mut self, other: &Self, range: Range<usize>) {
        let Some(first) = other.places[range.clone()].first() else {
            return;
        };
        let (from, to) = (first.key, offset(self.bytes.len()));
        let places = &other.places[range];
        let end = places.last().map_or(from, |last| last.end);
        let bytes = &other.bytes[from as usize..end as usize];
        self.bytes.extend_from_slice(bytes);
        self.places.extend(places.iter().map(|place| ChangeOffsets {
            key: place.key - from + to,
            value: place.value - from + to,
            end: place.end - from + to,
            cleared: place.cleared,
        }));
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    fn key(&self, at: usize) -> &[u8] {
        let place = self.places[at];
        &self.bytes[place.key as usize..place.value as usize]
    }

    fn get(&self, at: usize) -> KeyChange<'_> {
        let place = self.places[at];
        let value = &self.bytes[place.value as usize..place.end as usize];
        (self.key(at), (!place.cleared).then_some(value))
    }

    /// The index of the first key in `range` that is not less than `key`.
    fn lower_bound(&self, range: Range<usize>, key: &[u8]) -> usize {
        let start = range.start;
        let places = &self.places[range];
        start
            + places.partition_point(|place| {
                self.bytes[place.key as usize..place.value as usize] < *key
            })
    }

    /// The index of the first key that is greater than `key`.
    fn after(&self, key: &[u8]) -> usize {
        self.places
            .partition_point(|place| self.bytes[place.key as usize..place.value as usize] <= *key)
    }

    /// Bytes of the keys and values in `range`.
    fn bytes_of(&self, range: Range<usize>) -> usize {
        match &self.places[range] {
            [first, .., last] => (last.end - first.key) as usize,
            [only] => (only.end - only.key) as usize,
            [] => 0,
        }
    }

    /// Both lists in one. If both change a key, `newer` counts.
    fn merged(&self, newer: &Self, range: Range<usize>) -> Self {
        let (places, bytes) = (self.len() + range.len(), newer.bytes_of(range.clone()));
        let mut merged = Self::with_capacity(places, self.bytes.len() + bytes);
        let (mut old, mut new) = (0, range.start);
        while old < self.len() && new < range.end {
            let older_until = self.lower_bound(old..self.len(), newer.key(new));
            merged.append(self, old..older_until);
            old = older_until;
            if old == self.len() {
                break;
            }
            let replaces = self.key(old) == newer.key(new);
            let next = self.key(old);
            let newer_until = newer.lower_bound(new..range.end, next) + usize::from(replaces);
            merged.append(newer, new..newer_until);
            new = newer_until;
            old += usize::from(replaces);
        }
        merged.append(self, old..self.len());
        merged.append(newer, new..range.end);
        merged
    }
}

impl Branch {
    /// The child whose keys may include `key`.
    fn child_of(&self, key: &[u8]) -> usize {
        self.firsts.after(key).saturating_sub(1)
    }

    /// Inserts changes. Returns the branches that were split off.
    fn insert(&mut self, changes: &KeyChanges, range: Range<usize>) -> Vec<(Vec<u8>, Node)> {
        let mut begin = range.start;
        while begin < range.end {
            let at = self.child_of(changes.key(begin));
            let end = if at + 1 < self.nodes.len() {
                changes.lower_bound(begin..range.end, self.firsts.key(at + 1))
            } else {
                range.end
            };
            let split = self.nodes[at].insert(changes, begin..end);
            for (next, (first, node)) in (at + 1..).zip(split) {
                self.firsts.insert(next, &first, None);
                self.nodes.insert(next, node);
            }
            begin = end;
        }
        if self.nodes.len() <= CHILDREN_MAX {
            return Vec::new();
        }
        let parts = self.nodes.len().div_ceil(CHILDREN_MAX);
        let children = self.nodes.len().div_ceil(parts);
        let Self { firsts, nodes } = std::mem::take(self);
        let mut nodes = nodes.into_iter();
        let mut split = Vec::with_capacity(parts);
        for begin in (0..firsts.len()).step_by(children) {
            let mut part = Self::default();
            let end = firsts.len().min(begin + children);
            part.firsts.append(&firsts, begin..end);
            part.nodes.extend(nodes.by_ref().take(children));
            split.push((firsts.key(begin).to_vec(), part));
        }
        let mut split = split.into_iter();
        if let Some((_, first)) = split.next() {
            *self = first;
        }
        let branch = |(first, part)| (first, Node::Branch(Arc::new(part)));
        split.map(branch).collect()
    }
}

impl Node {
    /// Inserts the changes in `range`. Returns the nodes that were split off, which follow this one,
    /// with their first keys.
    fn insert(&mut self, changes: &KeyChanges, range: Range<usize>) -> Vec<(Vec<u8>, Self)> {
        let leaf = match self {
            Self::Branch(branch) => return Arc::make_mut(branch).insert(changes, range),
            Self::Leaf(leaf) => leaf,
        };
        let set = Arc::get_mut(leaf).is_some_and(|leaf| leaf.set(changes, range.clone()));
        if !set {
            *leaf = Arc::new(leaf.merged(changes, range));
        }
        if leaf.bytes.len() <= LEAF_BYTES_MAX || leaf.len() == 1 {
            return Vec::new();
        }
        let whole = std::mem::take(leaf);
        let mut parts = whole.parts();
        if let Some(first) = parts.next() {
            *leaf = Arc::new(first);
        }
        let split = |part: KeyChanges| (part.key(0).to_vec(), Self::Leaf(Arc::new(part)));
        parts.map(split).collect()
    }

    /// The node without the keys from `begin` to before `end`. `None` if no key is left.
    fn without(self, begin: &[u8], end: &[u8]) -> Option<Self> {
        match self {
            Self::Leaf(leaf) => {
                let from = leaf.lower_bound(0..leaf.len(), begin);
                let to = leaf.lower_bound(from..leaf.len(), end);
                if from == to {
                    return Some(Self::Leaf(leaf));
                }
                let mut rest = KeyChanges::default();
                rest.append(&leaf, 0..from);
                rest.append(&leaf, to..leaf.len());
                (rest.len() > 0).then(|| Self::Leaf(Arc::new(rest)))
            }
            Self::Branch(branch) => {
                let (from, to) = (branch.child_of(begin), branch.child_of(end));
                let mut rest = Branch::default();
                for (at, node) in branch.nodes.iter().enumerate() {
                    let node = node.clone();
                    let left = match at {
                        at if at == from || at == to => node.without(begin, end),
                        at if from < at && at < to => None,
                        _ => Some(node),
                    };
                    if let Some(node) = left {
                        rest.firsts.push(branch.firsts.key(at), None);
                        rest.nodes.push(node);
                    }
                }
                (!rest.nodes.is_empty()).then(|| Self::Branch(Arc::new(rest)))
            }
        }
    }

    /// The last change before the position that `until` finds in a list of changes or of first keys.
    fn last(&self, until: impl Fn(&KeyChanges) -> usize + Copy) -> Option<KeyChange<'_>> {
        match self {
            Self::Leaf(leaf) => until(leaf).checked_sub(1).map(|at| leaf.get(at)),
            Self::Branch(branch) => {
                // The first node may have lesser keys than its first key.
                let nodes = &branch.nodes[..until(&branch.firsts).max(1)];
                nodes.iter().rev().find_map(|node| node.last(until))
            }
        }
    }

    fn first_from(&self, key: &[u8]) -> Option<KeyChange<'_>> {
        match self {
            Self::Leaf(leaf) => {
                let at = leaf.lower_bound(0..leaf.len(), key);
                (at < leaf.len()).then(|| leaf.get(at))
            }
            Self::Branch(branch) => {
                let nodes = &branch.nodes[branch.child_of(key)..];
                nodes.iter().find_map(|node| node.first_from(key))
            }
        }
    }
}

impl Overlay {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Inserts changes, whose keys ascend. They replace earlier ones of the same keys.
    pub(crate) fn insert(&mut self, changes: &KeyChanges) {
        if changes.len() == 0 {
            return;
        }
        let root = self.0.get_or_insert_with(|| Node::Leaf(Arc::default()));
        let mut split = root.insert(changes, 0..changes.len());
        while !split.is_empty() {
            let mut above = Branch::default();
            above.firsts.push(&[], None);
            above.nodes.push(root.clone());
            for (first, node) in split {
                above.firsts.push(&first, None);
                above.nodes.push(node);
            }
            split = above.insert(changes, 0..0);
            *root = Node::Branch(Arc::new(above));
        }
    }

    /// The change of a key, if it is changed.
    pub(crate) fn get(&self, key: &[u8]) -> Option<KeyChange<'_>> {
        let mut node = self.0.as_ref()?;
        loop {
            match node {
                Node::Branch(branch) => node = &branch.nodes[branch.child_of(key)],
                Node::Leaf(leaf) => {
                    let at = leaf.lower_bound(0..leaf.len(), key);
                    let found = at < leaf.len() && leaf.key(at) == key;
                    return found.then(|| leaf.get(at));
                }
            }
        }
    }

    /// Removes the changes of the keys from `begin` to before `end`.
    pub(crate) fn remove(&mut self, begin: &[u8], end: &[u8]) {
        self.0 = self.0.take().and_then(|root| root.without(begin, end));
    }

    /// The last change of a key that is not greater than `key`.
    pub(crate) fn last_until(&self, key: &[u8]) -> Option<KeyChange<'_>> {
        self.0.as_ref()?.last(|changes| changes.after(key))
    }

    /// The last change of a key that is less than `key`.
    pub(crate) fn last_before(&self, key: &[u8]) -> Option<KeyChange<'_>> {
        let before = |changes: &KeyChanges| changes.lower_bound(0..changes.len(), key);
        self.0.as_ref()?.last(before)
    }

    /// The first change of a key that is not less than `key`.
    pub(crate) fn first_from(&self, key: &[u8]) -> Option<KeyChange<'_>> {
        self.0.as_ref()?.first_from(key)
    }

    /// All changes in ascending order.
    pub(crate) fn iter(&self) -> Walk<'_> {
        self.walk(&[], None, false)
    }

    /// The changes from `begin` to before `end`, in ascending or descending order.
    pub(super) fn range<'o>(&'o self, begin: &'o [u8], end: &'o [u8], reverse: bool) -> Walk<'o> {
        self.walk(begin, Some(end), reverse)
    }

    fn walk<'o>(&'o self, begin: &'o [u8], end: Option<&'o [u8]>, reverse: bool) -> Walk<'o> {
        let mut walk = Walk {
            path: Vec::new(),
            leaf: None,
            at: 0,
            begin,
            end,
            reverse,
        };
        if let Some(root) = &self.0 {
            match end {
                Some(end) if reverse => walk.seek(root, end),
                _ => walk.seek(root, begin),
            }
        }
        walk
    }
}

/// An iterator over the changes in a range.
pub(crate) struct Walk<'o> {
    /// The branches above the leaf, and the child in each.
    path: Vec<(&'o Branch, usize)>,
    /// The present leaf. `None` at the end.
    leaf: Option<&'o KeyChanges>,
    /// The next change in ascending order, or the one behind the next in descending order.
    at: usize,
    begin: &'o [u8],
    /// `None`: after all keys, in ascending order only.
    end: Option<&'o [u8]>,
    reverse: bool,
}

impl<'o> Walk<'o> {
    /// Goes to the position before `key`, in the overlay that the walk began in.
    pub(super) fn seek_in(&mut self, overlay: &'o Overlay, key: &[u8]) {
        self.path.clear();
        self.leaf = None;
        if let Some(root) = &overlay.0 {
            self.seek(root, key);
        }
    }

    /// Goes to the position before `key`.
    fn seek(&mut self, mut node: &'o Node, key: &[u8]) {
        loop {
            match node {
                Node::Branch(branch) => {
                    let child = branch.child_of(key);
                    self.path.push((branch, child));
                    node = &branch.nodes[child];
                }
                Node::Leaf(leaf) => {
                    self.leaf = Some(leaf);
                    self.at = leaf.lower_bound(0..leaf.len(), key);
                    return;
                }
            }
        }
    }

    /// Goes to the next leaf in the direction of the walk.
    fn turn_leaf(&mut self) {
        self.leaf = None;
        while let Some((branch, child)) = self.path.pop() {
            let next = if self.reverse {
                child.checked_sub(1)
            } else {
                Some(child + 1).filter(|next| *next < branch.nodes.len())
            };
            if let Some(next) = next {
                self.path.push((branch, next));
                self.enter(&branch.nodes[next]);
                return;
            }
        }
    }

    /// Goes to the outermost leaf of a node.
    fn enter(&mut self, mut node: &'o Node) {
        loop {
            match node {
                Node::Branch(branch) => {
                    let child = if self.reverse {
                        branch.nodes.len() - 1
                    } else {
                        0
                    };
                    self.path.push((branch, child));
                    node = &branch.nodes[child];
                }
                Node::Leaf(leaf) => {
                    self.leaf = Some(leaf);
                    self.at = if self.reverse { leaf.len() } else { 0 };
                    return;
                }
            }
        }
    }
}

impl<'o> Iterator for Walk<'o> {
    type Item = KeyChange<'o>;

    fn next(&mut self) -> Option<KeyChange<'o>> {
        loop {
            let leaf = self.leaf?;
            if self.reverse && self.at > 0 {
                self.at -= 1;
                let change = leaf.get(self.at);
                return (change.0 >= self.begin).then_some(change);
            }
            if !self.reverse && self.at < leaf.len() {
                self.at += 1;
                let change = leaf.get(self.at - 1);
                let inside = self.end.is_none_or(|end| change.0 < end);
                return inside.then_some(change);
            }
            self.turn_leaf();
        }
    }
}

fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("larger transactions are not kept in an overlay")
}
