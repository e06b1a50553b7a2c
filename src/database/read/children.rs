//! Pages of the members of an object or the elements of an array, one level deep.

use std::ops::Range;
use std::sync::Arc;

use super::range_plan::element_keys;
use super::value::{PairRange, Value};
use super::value_ref::malformed;
use crate::budget::{OwnedList, Reservation, Turns};
use crate::database::document_key::{DocumentKey, below, prefix_end};
use crate::document::assemble::Misshapen;
use crate::document::jsonpath::ElementRange;
use crate::document::leaf::Kind;
use crate::document::path::{Place, Segment};
use crate::error::Result;
use crate::key::{KeyStep, Malformed, Marker, append_name_prefix, kind_at, step};
use crate::store::{Batch, Pairs, RangeRead, Read};

/// The minimum number of pairs per batch. Batches shrink to it when children are large.
const BATCH_PAIRS_MIN: usize = 8;

/// One child.
#[derive(Clone, Debug)]
pub struct Child {
    /// The member's name or the element's index.
    pub segment: Segment,
    /// The kind of the value.
    pub kind: Kind,
    /// The pairs read: the whole value or only its beginning.
    pub part: Value,
}

impl Child {
    /// The bytes of memory of the child, without its pairs.
    fn held_bytes(&self) -> usize {
        size_of::<Self>() + self.segment.held_bytes() + self.part.place.held_bytes()
    }
}

/// A page of children.
#[derive(Clone, Debug, Default)]
pub struct Children {
    /// The children in stored order: members by name, elements by index.
    pub page: OwnedList<Child>,
    /// Whether more children follow. On a backward page: whether more precede.
    pub more: bool,
}

/// The page requested.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChildrenPage {
    /// The maximum number of children.
    pub size: usize,
    /// Whether to return the last children instead of the first ones.
    pub backward: bool,
    /// The page begins after this child. A backward page ends before it.
    pub from: Option<Segment>,
    /// The children that the pages have.
    pub within: ChildBounds,
}

/// Bounds on the children of a value. Names bound the members of an object, and indexes the elements
/// of an array: an array has no children within bounds by name, nor an object within bounds by
/// index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChildBounds {
    /// The names begin with this.
    pub prefix: Option<String>,
    /// The first child, inclusive.
    pub from: Option<Segment>,
    /// The end, exclusive.
    pub to: Option<Segment>,
}

impl ChildBounds {
    /// The range of the keys of the children of the value at `key`. The range of all
    /// children begins with the key itself.
    fn keys(&self, key: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut ranges = Vec::new();
        let bounds = [&self.from, &self.to];
        let mut bounds = bounds.into_iter().flatten();
        let is_name = |bound: &Segment| matches!(bound, Segment::Key(_));
        if bounds.clone().any(is_name) {
            ranges.push(names_from(key, ""));
        }
        if !bounds.all(is_name) {
            ranges.push(element_keys(key, ElementRange::default()));
        }
        ranges.extend(self.prefix.as_ref().map(|prefix| names_from(key, prefix)));
        let from = self.from.as_ref().map(|from| below(key, from));
        let to = self.to.as_ref().map(|to| below(key, to));
        let (begins, ends): (Vec<_>, Vec<_>) = ranges.into_iter().unzip();
        let begin = begins.into_iter().chain(from).max();
        let end = ends.into_iter().chain(to).min();
        (
            begin.unwrap_or_else(|| key.to_vec()),
            end.unwrap_or_else(|| prefix_end(key)),
        )
    }

    /// The index of the first element within the bounds.
    fn first_index(&self) -> u64 {
        match self.from {
            Some(Segment::Index(index)) => index,
            _ => 0,
        }
    }
}

/// The range of the keys of the members whose names begin with `prefix`.
fn names_from(key: &[u8], prefix: &str) -> (Vec<u8>, Vec<u8>) {
    let mut begin = key.to_vec();
    append_name_prefix(&mut begin, prefix);
    let end = prefix_end(&begin);
    (begin, end)
}

/// A page of the children of the value at `place`. The cost depends on the page and not on
/// the size of the value: after the beginning of a large child the read skips to the next one.
///
/// # Errors
/// `TOO_LARGE`: the key of the place exceeds the limit, or the pairs read exceed the budget.
/// `INTERNAL`: damaged data. Errors of the store.
pub async fn children(
    read: &dyn Read,
    document: &Arc<DocumentKey>,
    place: &Place,
    page: &ChildrenPage,
    memory: &Reservation,
) -> Result<Children> {
    let key = document.place(place)?;
    let (begin, end) = page.within.keys(&key);
    if begin >= end {
        return Ok(Children::default());
    }
    let reader = ChildReader {
        document,
        place,
        key: &key,
        range: (&begin, &end),
        first_index: page.within.first_index(),
        from: page.from.as_ref(),
        wanted: page.size,
        found: Children::default(),
    };
    if page.backward {
        backward(read, reader, memory).await
    } else {
        forward(read, reader, memory).await
    }
}

/// As [`children`], of a whole value that was read before.
///
/// # Errors
/// As [`children`], but those of the store.
pub async fn children_of(
    value: &Value,
    page: &ChildrenPage,
    memory: &Reservation,
) -> Result<Children> {
    let key = value.key();
    let (begin, end) = page.within.keys(key);
    let mut reader = ChildReader {
        document: &value.document,
        place: &value.place,
        key,
        range: (&begin, &end),
        first_index: page.within.first_index(),
        from: page.from.as_ref(),
        wanted: page.size,
        found: Children::default(),
    };
    let from = page.from.as_ref().map(|segment| below(key, segment));
    let PairRange { pairs, range, .. } = value.pair_range();
    let (begin, end) = match from {
        Some(from) if page.backward => (begin.clone(), from),
        Some(from) => (prefix_end(&from), end.clone()),
        None => (begin.clone(), end.clone()),
    };
    if begin >= end {
        return Ok(reader.found);
    }
    let range = pairs.between(range, &begin, &end);
    if page.backward {
        reader.take_backward(&pairs, range, false).await?;
        reader.check_first()?;
        reader.found.page.reverse();
    } else {
        reader.take(&pairs, range, false).await?;
    }
    memory.hold(reader.held_bytes_since(0))?;
    Ok(reader.found)
}

/// The size of the first batch of a page: enough pairs if each child is one leaf.
fn first_batch_pairs(size: usize) -> usize {
    (size + 1).max(2 * BATCH_PAIRS_MIN)
}

async fn forward(
    read: &dyn Read,
    mut reader: ChildReader<'_>,
    memory: &Reservation,
) -> Result<Children> {
    let key = reader.key;
    let (begin, end) = reader.range;
    let mut begin = match reader.from {
        Some(segment) => prefix_end(&below(key, segment)),
        None => begin.to_vec(),
    };
    let mut batch_pairs = first_batch_pairs(reader.wanted);
    let mut resumed = false;
    loop {
        let range = RangeRead {
            resumed,
            ..RangeRead::new(&begin, end).at_most(batch_pairs)
        };
        let batch = read.range(range).await?;
        memory.hold(batch.pairs.bytes())?;
        let more = batch.more || batch.pairs.len() == batch_pairs;
        let before = reader.found.page.len();
        let pairs = Arc::new(batch.pairs);
        let last = reader.take(&pairs, 0..pairs.len(), more).await?;
        memory.hold(reader.held_bytes_since(before))?;
        let (Some(last), true, false) = (last, more, reader.found.more) else {
            return Ok(reader.found);
        };
        if reader.found.page.len() <= before + 1 {
            batch_pairs = (batch_pairs / 2).max(BATCH_PAIRS_MIN);
        }
        begin = prefix_end(&below(key, &last));
        resumed = true;
    }
}

/// As [`forward`], from the last child to the first.
async fn backward(
    read: &dyn Read,
    mut reader: ChildReader<'_>,
    memory: &Reservation,
) -> Result<Children> {
    let key = reader.key;
    let (begin, end) = reader.range;
    let mut end = match reader.from {
        Some(segment) => below(key, segment),
        None => end.to_vec(),
    };
    let mut batch_pairs = first_batch_pairs(reader.wanted);
    loop {
        let range = RangeRead {
            reverse: true,
            ..RangeRead::new(begin, &end).at_most(batch_pairs)
        };
        let batch = read.range(range).await?;
        memory.hold(2 * batch.pairs.bytes())?;
        let more = batch.more || batch.pairs.len() == batch_pairs;
        let before = reader.found.page.len();
        let pairs = Arc::new(batch.pairs.reversed());
        let begun = reader.take_backward(&pairs, 0..pairs.len(), more).await?;
        memory.hold(reader.held_bytes_since(before))?;
        let Some(begun) = begun.filter(|_| !reader.found.more) else {
            break;
        };
        let child = below(key, &begun);
        end = prefix_end(&child);
        if reader.found.page.len() == before {
            // The batch does not hold the beginning of any new child. Read the beginning
            // separately.
            let range = RangeRead::new(&child, &end).at_most(BATCH_PAIRS_MIN);
            let batch = read.range(range).await?;
            memory.hold(batch.pairs.bytes())?;
            if reader.found.page.len() == reader.wanted {
                reader.found.more = true;
                break;
            }
            reader.take_beginning(begun, &child, batch)?;
            end = child;
        }
        if reader.found.page.len() <= before + 1 {
            batch_pairs = (batch_pairs / 2).max(BATCH_PAIRS_MIN);
        }
    }
    reader.check_first()?;
    reader.found.page.reverse();
    Ok(reader.found)
}

struct ChildReader<'a> {
    document: &'a Arc<DocumentKey>,
    place: &'a Place,
    key: &'a [u8],
    /// The keys of the children within the bounds.
    range: (&'a [u8], &'a [u8]),
    first_index: u64,
    from: Option<&'a Segment>,
    wanted: usize,
    found: Children,
}

impl ChildReader<'_> {
    /// The bytes of memory of the children from this number on, without their pairs.
    fn held_bytes_since(&self, first: usize) -> usize {
        self.found.page[first..].iter().map(Child::held_bytes).sum()
    }

    /// Adds the children whose first pair is in this range of the pairs. Returns the last child, which
    /// may be incomplete if there are more pairs to read.
    async fn take(
        &mut self,
        pairs: &Arc<Pairs>,
        range: Range<usize>,
        more: bool,
    ) -> Result<Option<Segment>> {
        let mut last = None;
        let mut at = range.start;
        let mut turns = Turns::default();
        while at < range.end {
            turns.next().await;
            let (key, _) = pairs.get(at);
            let Some(segment) = self.segment(key)? else {
                self.check_childless(key, range.len())?;
                return Ok(None);
            };
            self.check_follows(&segment)
                .map_err(|misshapen| malformed(misshapen.into(), key))?;
            if self.found.page.len() == self.wanted {
                self.found.more = true;
                return Ok(None);
            }
            let child = below(self.key, &segment);
            let all = pairs.at_or_below(at..range.end, &child);
            if all.is_empty() {
                return Err(malformed(Malformed::Segment, key));
            }
            // A child is known to be complete only if it ends before the end of the batch.
            let whole = !more || all.end < range.end;
            at = all.end;
            self.push(segment.clone(), child.len(), pairs, all, whole)?;
            last = Some(segment);
        }
        Ok(last)
    }

    /// Adds the children of a backward batch whose first pair is in this range of the pairs, which are in
    /// ascending order. If pairs precede the batch, returns the first child in it, which may begin among
    /// those pairs.
    async fn take_backward(
        &mut self,
        pairs: &Arc<Pairs>,
        range: Range<usize>,
        more: bool,
    ) -> Result<Option<Segment>> {
        let mut children: Vec<(Segment, Range<usize>)> = Vec::new();
        let mut at = range.start;
        let mut turns = Turns::default();
        while at < range.end {
            turns.next().await;
            let (key, _) = pairs.get(at);
            let Some(segment) = self.segment(key)? else {
                if !children.is_empty() {
                    return Err(malformed(Misshapen::LeafWithChildren.into(), key));
                }
                self.check_childless(key, range.len())?;
                return Ok(None);
            };
            let child = below(self.key, &segment);
            let all = pairs.at_or_below(at..range.end, &child);
            if all.is_empty() {
                return Err(malformed(Malformed::Segment, key));
            }
            at = all.end;
            children.push((segment, all));
        }
        let whole = usize::from(more);
        for (segment, all) in children.iter().skip(whole).rev() {
            turns.next().await;
            let (key, _) = pairs.get(all.start);
            self.check_precedes(segment)
                .map_err(|misshapen| malformed(misshapen.into(), key))?;
            if self.found.page.len() == self.wanted {
                self.found.more = true;
                return Ok(None);
            }
            let child = below(self.key, segment);
            self.push(segment.clone(), child.len(), pairs, all.clone(), true)?;
        }
        let begun = children.into_iter().next().filter(|_| more);
        Ok(begun.map(|(segment, _)| segment))
    }

    /// Adds a child of which only the first pairs were read.
    fn take_beginning(&mut self, segment: Segment, child: &[u8], batch: Batch) -> Result<()> {
        let whole = !batch.more && batch.pairs.len() < BATCH_PAIRS_MIN;
        let pairs = Arc::new(batch.pairs);
        let Some((key, _)) = pairs.first() else {
            return Ok(());
        };
        self.check_precedes(&segment)
            .map_err(|misshapen| malformed(misshapen.into(), key))?;
        let all = pairs.between(0..pairs.len(), child, &prefix_end(child));
        self.push(segment, child.len(), &pairs, all, whole)
    }

    /// Checks that an element directly precedes the one after it and that no members are mixed in.
    fn check_precedes(&self, segment: &Segment) -> Result<(), Misshapen> {
        let behind = self.found.page.last().map(|child| &child.segment);
        match (segment, behind.or(self.from)) {
            (Segment::Index(_), Some(Segment::Key(_)))
            | (Segment::Key(_), Some(Segment::Index(_)))
                if behind.is_some() =>
            {
                Err(Misshapen::MixedSegments)
            }
            (Segment::Index(index), Some(Segment::Index(behind)))
                if index.checked_add(1) != Some(*behind) =>
            {
                Err(Misshapen::Hole)
            }
            _ => Ok(()),
        }
    }

    /// Checks that the first element of an array within the bounds is not missing.
    fn check_first(&self) -> Result<()> {
        match self.found.page.last() {
            Some(Child {
                segment: segment @ Segment::Index(index),
                ..
            }) if !self.found.more && *index != self.first_index => {
                let key = below(self.key, segment);
                Err(malformed(Misshapen::Hole.into(), &key))
            }
            _ => Ok(()),
        }
    }

    /// The child that a key belongs to. None if the value has no children.
    fn segment(&self, key: &[u8]) -> Result<Option<Segment>> {
        let relative = &key[self.key.len()..];
        if relative.is_empty() {
            return Ok(None);
        }
        match step(relative) {
            Some((KeyStep::Key(name), _)) => Ok(Some(Segment::Key(name.into_owned()))),
            Some((KeyStep::Index(index), _)) => Ok(Some(Segment::Index(index))),
            Some((KeyStep::Marker(_), _)) => Ok(None),
            None => Err(malformed(Malformed::Segment, key)),
        }
    }

    /// Checks that a value without children has no other pairs, except the pieces of a split
    /// string.
    fn check_childless(&self, key: &[u8], pairs: usize) -> Result<()> {
        let relative = &key[self.key.len()..];
        let split = matches!(step(relative), Some((KeyStep::Marker(Marker::Piece), _)));
        if self.found.page.is_empty() && (split || pairs == 1) {
            return Ok(());
        }
        Err(malformed(Misshapen::LeafWithChildren.into(), key))
    }

    /// Checks that an element directly follows the one before it and that no members are mixed in.
    fn check_follows(&self, segment: &Segment) -> Result<(), Misshapen> {
        let Segment::Index(index) = segment else {
            return Ok(());
        };
        let before = self.found.page.last().map(|child| &child.segment);
        let expected = match (before, self.from) {
            (Some(Segment::Key(_)), _) => return Err(Misshapen::MixedSegments),
            (Some(Segment::Index(before)), _) | (None, Some(Segment::Index(before))) => {
                before.saturating_add(1)
            }
            (None, _) => self.first_index,
        };
        if *index == expected {
            Ok(())
        } else {
            Err(Misshapen::Hole)
        }
    }

    /// Adds the child that has this range of the pairs. Its key has `key_bytes`.
    fn push(
        &mut self,
        segment: Segment,
        key_bytes: usize,
        pairs: &Arc<Pairs>,
        range: Range<usize>,
        whole: bool,
    ) -> Result<()> {
        let (key, value) = pairs.get(range.start);
        let kind = kind_at(&key[key_bytes..], value).map_err(|error| malformed(error, key))?;
        let place = self.place.child(segment.clone());
        let all = PairRange {
            pairs: pairs.clone(),
            range,
            whole,
        };
        let part = Value::of(self.document.clone(), place, key_bytes, all);
        if let Some(part) = part {
            self.found.page.push(Child {
                segment,
                kind,
                part,
            });
        }
        Ok(())
    }
}
