//! The columns of an index in stored documents, read as streams. Only the values of one portion are
//! in memory.

use std::ops::Range;
use std::sync::Arc;

use super::definition::IndexPath;
use super::filter_value::FilterValueReader;
use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, covers, prefix_end};
use crate::document::leaf::Leaf;
use crate::document::tree::Tree;
use crate::error::{ErrorKind, Result};
use crate::key::{IndexValue, IndexValueBuilder, KeyStep, step};
use crate::limits::{
    BATCH_PAIRS_MAX, INDEX_NAMES_FIRST_PAIRS, INDEX_PORTION_BYTES, INDEX_PORTION_PAIRS_MAX,
};
use crate::store::{Batches, Pairs, RangeRead, Read, key_after};

/// A value of a column. The error is the length in bytes of a string that does not fit into a key.
pub(crate) type ColumnValue = Result<IndexValue, usize>;

/// Extracts the values of a column from the pairs at and below its place, given in key order.
pub(crate) struct ColumnMatcher<'i> {
    /// The packed steps after `[*]`. None if the column has one value.
    behind_each: Option<&'i [u8]>,
    /// Whether the values are the names of the children.
    names: bool,
    /// The packed step to the child of the last pair.
    child: Vec<u8>,
    /// The number of children begun.
    children: u64,
    value: IndexValueBuilder,
}

impl<'i> ColumnMatcher<'i> {
    pub(crate) fn new(path: &'i IndexPath) -> Self {
        Self {
            behind_each: path.behind_each.as_deref(),
            names: path.is_of_names(),
            child: Vec::new(),
            children: 0,
            value: IndexValueBuilder::default(),
        }
    }

    /// Creates the matcher of a range. A value that a filter tests is not a column: it is read with
    /// [`ColumnStream::filter_value`].
    fn of(path: Option<&'i IndexPath>) -> Self {
        path.map_or_else(
            || Self {
                behind_each: None,
                names: false,
                child: Vec::new(),
                children: 0,
                value: IndexValueBuilder::default(),
            },
            Self::new,
        )
    }

    /// Adds the next pair. `key` is relative to the place. If the pair begins a new child, returns
    /// the value of the previous one, if it has one, or the name of the new one.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Option<ColumnValue> {
        let Some(behind) = self.behind_each else {
            self.value.push(key, value);
            return None;
        };
        let mut ended = None;
        if self.child.is_empty() || !covers(&self.child, key) {
            let (step @ (KeyStep::Key(_) | KeyStep::Index(_)), bytes) = step(key)? else {
                return None;
            };
            ended = match step {
                KeyStep::Key(name) if self.names => {
                    Some(Ok(IndexValue::of_leaf(&Leaf::String(name))))
                }
                _ => self.value.finish().transpose(),
            };
            self.child.clear();
            self.child.extend_from_slice(&key[..bytes]);
            self.children += 1;
        }
        let below = &key[self.child.len()..];
        if !self.names && covers(behind, below) {
            self.value.push(&below[behind.len()..], value);
        }
        ended
    }

    /// The last value, if there is one.
    pub(crate) fn finish(&mut self) -> Option<ColumnValue> {
        self.value.finish().transpose()
    }
}

/// A range of the keys of a column in a stored document.
pub(crate) struct ColumnRange<'i> {
    /// The path of the column. None for a value that the filter of an index tests.
    pub(crate) path: Option<&'i IndexPath>,
    /// The length in bytes of the key of the column's place.
    pub(crate) place_bytes: usize,
    pub(crate) begin: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

impl<'i> ColumnRange<'i> {
    /// Creates the range of the whole column at the place with this key.
    pub(crate) fn whole(path: &'i IndexPath, place: &[u8]) -> Self {
        Self {
            path: Some(path),
            ..Self::first(place)
        }
    }

    /// Creates the ranges of the values that a filter tests at these places.
    pub(crate) fn tested(places: &[Option<Vec<u8>>]) -> impl Iterator<Item = Self> + use<'i, '_> {
        places.iter().flatten().map(|place| Self::first(place))
    }

    fn first(place: &[u8]) -> Self {
        Self {
            path: None,
            place_bytes: place.len(),
            begin: place.to_vec(),
            end: prefix_end(place),
        }
    }

    /// The number of pairs to read at first.
    fn first_pairs(&self) -> usize {
        match self.path {
            None => 1,
            Some(path) if path.is_of_names() => {
                // Any pair of a single child shows its name.
                let is_one = child(&self.begin[self.place_bytes..])
                    .is_some_and(|child| self.end == prefix_end(&self.begin) && !child.is_empty());
                if is_one { 1 } else { INDEX_NAMES_FIRST_PAIRS }
            }
            Some(_) => usize::MAX,
        }
    }

    /// Narrows the range to a part of the column.
    pub(crate) fn part(self, (begin, end): (Vec<u8>, Vec<u8>)) -> Self {
        Self { begin, end, ..self }
    }
}

/// The key of the place of each column in a document. None if the key exceeds the limit,
/// because nothing can be stored there.
///
/// # Errors
/// `INTERNAL`.
pub(crate) fn places(document: &DocumentKey, paths: &[IndexPath]) -> Result<Vec<Option<Vec<u8>>>> {
    let places = paths.iter().map(|path| match document.place(&path.place) {
        Ok(key) => Ok(Some(key)),
        Err(error) if error.kind() == ErrorKind::KeyTooLong => Ok(None),
        Err(error) => Err(error),
    });
    places.collect()
}

/// Extends a key range to whole children of a place, and clips it to the keys at and below the
/// place. None if the result is empty.
pub(crate) fn whole_children(place: &[u8], begin: &[u8], end: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let past = prefix_end(place);
    let begin = match begin.strip_prefix(place) {
        Some(relative) if begin < &past[..] => match child(relative) {
            Some(child) => [place, child].concat(),
            None => begin.to_vec(),
        },
        _ => begin.max(place).to_vec(),
    };
    let end = match end.strip_prefix(place) {
        Some(relative) if end < &past[..] => match child(relative) {
            Some(child) if relative != child && covers(child, relative) => {
                prefix_end(&[place, child].concat())
            }
            _ => end.to_vec(),
        },
        _ => end.min(&past).to_vec(),
    };
    (begin < end).then_some((begin, end))
}

/// The packed step to the child that contains a key, relative to the container.
fn child(relative: &[u8]) -> Option<&[u8]> {
    match step(relative)? {
        (KeyStep::Key(_) | KeyStep::Index(_), bytes) => Some(&relative[..bytes]),
        (KeyStep::Marker(_), _) => None,
    }
}

/// A stream of the values in a range of a column, in portions.
pub(crate) struct ColumnStream<'r> {
    budget: Budget,
    column: ColumnMatcher<'r>,
    /// The key of the column's place.
    place: Vec<u8>,
    pairs: Arc<Pairs>,
    /// The pairs that were read and not yet consumed.
    left: Range<usize>,
    /// The part of the range that is not read yet.
    rest: Option<Batches<&'r dyn Read>>,
    ended: bool,
    taken_bytes: usize,
    /// The value of `taken_bytes` when the last child began.
    child_at: usize,
    /// The number of children begun before the last batch.
    children_at: u64,
}

/// Creates streams over ranges of columns. Reads the first batch of each in one round. Reads a
/// range that occurs twice only once.
pub(crate) async fn streams<'r>(
    read: &'r dyn Read,
    budget: &Budget,
    ranges: Vec<ColumnRange<'r>>,
) -> Result<Vec<ColumnStream<'r>>> {
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    let bounds = |at: usize| (&ranges[at].begin[..], &ranges[at].end[..]);
    order.sort_unstable_by(|a, b| bounds(*a).cmp(&bounds(*b)));
    let mut reads: Vec<RangeRead<'_>> = Vec::with_capacity(ranges.len());
    let mut read_of = vec![0; ranges.len()];
    for at in order {
        let (begin, end) = bounds(at);
        let last = reads.last();
        if last.is_none_or(|last| (last.begin, last.end) != (begin, end)) {
            reads.push(RangeRead::new(begin, end).at_most(0));
        }
        read_of[at] = reads.len() - 1;
        if let Some(read) = reads.last_mut() {
            read.pairs_max = read.pairs_max.max(ranges[at].first_pairs());
        }
    }
    let round = read.ranges(&reads).await;
    budget.pace(1 + round.pairs.len() as u64).await?;
    let pairs = Arc::new(round.pairs);
    let streams = ranges.iter().zip(read_of).map(|(range, number)| {
        let batch = round.batches[number].clone()?;
        let more = batch.more || batch.pairs.len() >= reads[number].pairs_max;
        let last = batch.pairs.clone().next_back().filter(|_| more);
        Ok(ColumnStream {
            budget: budget.clone(),
            column: ColumnMatcher::of(range.path),
            place: range.begin[..range.place_bytes].to_vec(),
            rest: last.map(|last| {
                let begin = key_after(pairs.get(last).0);
                Batches::new(read, begin, range.end.clone()).resumed()
            }),
            left: batch.pairs,
            pairs: pairs.clone(),
            ended: false,
            taken_bytes: 0,
            child_at: 0,
            children_at: 0,
        })
    });
    streams.collect()
}

impl ColumnStream<'_> {
    /// The number of pairs left, if all of them are read. None if the store may have more.
    pub(crate) fn pairs_if_whole(&self) -> Option<usize> {
        self.rest.is_none().then_some(self.left.len())
    }

    /// The bytes of keys and values that were read and not yet consumed.
    pub(crate) fn read_bytes(&self) -> usize {
        self.pairs.bytes_of(&self.left)
    }

    /// The bytes of keys and values consumed so far.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.taken_bytes
    }

    /// The bytes consumed so far of the current child, or of the only value.
    pub(crate) fn value_bytes(&self) -> usize {
        self.taken_bytes - self.child_at
    }

    /// The number of children begun.
    pub(crate) fn children(&self) -> u64 {
        self.column.children
    }

    /// The key at which another stream can resume: that of the current child. The values of
    /// all earlier children have been returned. None at the end of the stream.
    pub(crate) fn position(&self) -> Option<Vec<u8>> {
        (!self.ended).then(|| [&self.place[..], &self.column.child].concat())
    }

    /// The next values, from about `pairs_max` pairs at most. None after the last.
    ///
    /// # Errors
    /// Errors of the store. [`ErrorKind::Exhausted`].
    pub(crate) async fn next(&mut self, pairs_max: usize) -> Result<Option<Vec<ColumnValue>>> {
        if self.ended {
            return Ok(None);
        }
        let mut values = Vec::new();
        if self.left.is_empty() && !self.read().await? {
            self.ended = true;
            values.extend(self.column.finish());
            return Ok(Some(values));
        }
        let end = self.taken_bytes + INDEX_PORTION_BYTES;
        for at in self.left.clone().take(pairs_max.max(1)) {
            let (key, value) = self.pairs.get(at);
            let children = self.column.children;
            values.extend(self.column.push(&key[self.place.len()..], value));
            if self.column.children != children {
                self.child_at = self.taken_bytes;
            }
            self.left.start = at + 1;
            self.taken_bytes += key.len() + value.len();
            if self.taken_bytes >= end {
                break;
            }
        }
        Ok(Some(values))
    }

    /// The value at the place, as far as a filter of an index distinguishes values. None if
    /// there is none.
    ///
    /// # Errors
    /// As [`ColumnStream::next`].
    pub(crate) async fn filter_value(&mut self) -> Result<Option<Tree>> {
        let mut reader = FilterValueReader::default();
        loop {
            if self.left.is_empty() && !self.read().await? {
                return Ok(reader.finish());
            }
            for at in self.left.clone() {
                let (key, value) = self.pairs.get(at);
                self.left.start = at + 1;
                if !reader.push(&key[self.place.len()..], value) {
                    return Ok(reader.finish());
                }
            }
        }
    }

    /// Reads the next batch. Returns whether there was one.
    async fn read(&mut self) -> Result<bool> {
        let Some(rest) = &mut self.rest else {
            return Ok(false);
        };
        if self.column.names {
            // The other pairs of a child do not matter.
            if !self.column.child.is_empty() {
                let child = [&self.place[..], &self.column.child].concat();
                rest.seek(&prefix_end(&child));
            }
            let children = self.column.children - self.children_at;
            let pairs_max = usize::try_from(4 * children).unwrap_or(usize::MAX);
            rest.set_pairs_max(pairs_max.clamp(INDEX_NAMES_FIRST_PAIRS, BATCH_PAIRS_MAX));
            self.children_at = self.column.children;
        }
        let Some(pairs) = rest.next().await? else {
            self.rest = None;
            return Ok(false);
        };
        self.budget.pace(pairs.len() as u64).await?;
        self.left = 0..pairs.len();
        self.pairs = Arc::new(pairs);
        Ok(true)
    }

    /// The next portion of values.
    ///
    /// # Errors
    /// As [`ColumnStream::next`].
    pub(crate) async fn next_portion(&mut self) -> Result<Option<Vec<ColumnValue>>> {
        self.next(INDEX_PORTION_PAIRS_MAX).await
    }
}
