//! Reads and writes of redb tables.

use std::ops::Bound;

use redb::{CursorError, ReadableTable, StorageError, Table};

use super::Bytes;
use super::overlays::{OverlayWalk, Overlays};
use super::tombstones::{self, Visible};
use crate::error::{Error, Result};
use crate::limits::PAIRS_WALKED_MAX;
use crate::store::read::Filling;
use crate::store::{Batch, MultiRange, Pairs, RangeRead, key_after};

/// The tables as a reader sees them.
pub(crate) struct Tables<'t, T> {
    pub(crate) pairs: &'t T,
    /// `None` if there are no tombstones.
    pub(crate) tombstones: Option<&'t T>,
    /// The changes of pairs that are not in the tables yet. `None` if there are none.
    pub(crate) overlays: Option<&'t Overlays>,
}

impl<T> Copy for Tables<'_, T> {}

impl<T> Clone for Tables<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

pub(crate) fn get(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    key: &[u8],
) -> Result<Option<Vec<u8>>, StorageError> {
    if let Some((_, value)) = tables.overlays.and_then(|overlays| overlays.get(key)) {
        return Ok(value.map(<[u8]>::to_vec));
    }
    if let Some(tombstones) = tables.tombstones
        && tombstones::covers(tombstones, key)?
    {
        return Ok(None);
    }
    let value = tables.pairs.get(key)?;
    Ok(value.map(|value| value.value().to_vec()))
}

pub(crate) fn range(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    range: RangeRead<'_>,
) -> Result<Batch, StorageError> {
    let mut pairs = Pairs::default();
    let more = append_range(tables, range, &mut pairs)?;
    Ok(Batch { pairs, more })
}

/// Adds the first batch of each range to `round`. `refuse` can reject a range.
pub(crate) fn ranges(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    ranges: &[RangeRead<'_>],
    round: &mut MultiRange,
    refuse: impl Fn(&RangeRead<'_>) -> Result<()>,
    fault: impl Fn(StorageError) -> Error,
) {
    let mut walk = TableWalk::new(tables);
    for range in ranges {
        round.read(|pairs| {
            refuse(range)?;
            walk.range(*range, pairs).map_err(&fault)
        });
    }
}

/// Appends a batch of a range. Returns whether there may be more.
fn append_range(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    range: RangeRead<'_>,
    pairs: &mut Pairs,
) -> Result<bool, StorageError> {
    if range.is_empty() {
        return Ok(false);
    }
    let mut filling = Filling::new(pairs, &range);
    let (begin, end, reverse) = (range.begin, range.end, range.reverse);
    let changes = tables
        .overlays
        .map(|overlays| overlays.range(begin, end, reverse));
    let Some(mut changes) = changes.filter(|changes| changes.peek().is_some()) else {
        let fill = |table: &_, begin: &[u8], end: &[u8], filling: &mut Filling<'_>| {
            fill(table, begin, end, reverse, filling)
        };
        let full = fill_visible(tables, &range, &mut filling, fill)?;
        return Ok(full && filling.more());
    };
    let full = fill_visible(
        tables,
        &range,
        &mut filling,
        |table, begin, end, filling| fill_merged(table, begin, end, &mut changes, filling),
    )?;
    if full {
        return Ok(filling.more());
    }
    for (key, value) in changes {
        if let Some(value) = value
            && filling.push(key, value)
        {
            return Ok(filling.more());
        }
    }
    Ok(false)
}

/// Calls `fill` for each part of the range that no tombstone covers. Returns whether the batch is
/// full.
fn fill_visible<T: ReadableTable<Bytes, Bytes>>(
    tables: Tables<'_, T>,
    range: &RangeRead<'_>,
    filling: &mut Filling<'_>,
    mut fill: impl FnMut(&T, &[u8], &[u8], &mut Filling<'_>) -> Result<bool, StorageError>,
) -> Result<bool, StorageError> {
    let Some(tombstones) = tables.tombstones else {
        return fill(tables.pairs, range.begin, range.end, filling);
    };
    let mut visible = Visible::new(tombstones, range.begin, range.end, range.reverse);
    while let Some((begin, end)) = visible.next()? {
        if fill(tables.pairs, &begin, &end, filling)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Appends the pairs from `begin` to before `end`, and the changes up to the last of them. Returns
/// whether the batch is full.
fn fill_merged(
    table: &impl ReadableTable<Bytes, Bytes>,
    begin: &[u8],
    end: &[u8],
    changes: &mut OverlayWalk<'_>,
    filling: &mut Filling<'_>,
) -> Result<bool, StorageError> {
    let mut found = table.range::<&[u8]>(begin..end)?;
    loop {
        let Some(pair) = next_pair(&mut found, changes.reverse()) else {
            return Ok(false);
        };
        let (key, value) = pair?;
        let (key, mut changed) = (key.value(), false);
        while let Some((changed_key, value)) = changes.next_until(key) {
            changed = changed_key == key;
            if let Some(value) = value
                && filling.push(changed_key, value)
            {
                return Ok(true);
            }
        }
        if !changed && filling.push(key, value.value()) {
            return Ok(true);
        }
    }
}

/// The next pair in a direction.
#[inline]
fn next_pair<P>(pairs: &mut impl DoubleEndedIterator<Item = P>, reverse: bool) -> Option<P> {
    if reverse {
        pairs.next_back()
    } else {
        pairs.next()
    }
}

/// Appends the pairs from `begin` to before `end`. Returns whether the batch is full.
fn fill(
    table: &impl ReadableTable<Bytes, Bytes>,
    begin: &[u8],
    end: &[u8],
    reverse: bool,
    filling: &mut Filling<'_>,
) -> Result<bool, StorageError> {
    let mut found = table.range::<&[u8]>(begin..end)?;
    loop {
        let Some(pair) = next_pair(&mut found, reverse) else {
            return Ok(false);
        };
        let (key, value) = pair?;
        if filling.push(key.value(), value.value()) {
            return Ok(true);
        }
    }
}

/// The keys of the pairs from `begin` to before `end`. `None` if there are more than `count_max`.
pub(crate) fn keys(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    begin: &[u8],
    end: &[u8],
    count_max: usize,
) -> Result<Option<Vec<Vec<u8>>>, StorageError> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut begin = begin.to_vec();
    loop {
        let left = count_max + 1 - keys.len();
        let batch = range(tables, RangeRead::new(&begin, end).at_most(left))?;
        keys.extend(batch.pairs.iter().map(|(key, _)| key.to_vec()));
        if keys.len() > count_max {
            return Ok(None);
        }
        match keys.last() {
            Some(last) if batch.more => begin = key_after(last),
            _ => return Ok(Some(keys)),
        }
    }
}

/// Reads ranges one after another with one iterator. If a range begins shortly after the last pair
/// read, the iterator steps to it. Otherwise, and if there are tombstones or changes in the range,
/// each range is searched for from the root.
struct TableWalk<'t, T> {
    tables: Tables<'t, T>,
    at: Option<At<'t>>,
}

/// A position between two keys.
struct At<'t> {
    /// The last key that was passed, or the search key if none was passed. No key lies between it
    /// and `next`.
    behind: Vec<u8>,
    passed: bool,
    next: Option<TablePair<'t>>,
    rest: redb::Range<'t, Bytes, Bytes>,
}

type TablePair<'t> = (redb::AccessGuard<'t, Bytes>, redb::AccessGuard<'t, Bytes>);

impl<'t, T: ReadableTable<Bytes, Bytes>> TableWalk<'t, T> {
    fn new(tables: Tables<'t, T>) -> Self {
        Self { tables, at: None }
    }

    /// Appends the first batch of a range. Returns whether there may be more. On error nothing is
    /// appended.
    fn range(&mut self, range: RangeRead<'_>, pairs: &mut Pairs) -> Result<bool, StorageError> {
        let before = pairs.len();
        let tables = self.tables;
        let changed = || {
            tables.overlays.is_some_and(|overlays| {
                let mut changes = overlays.range(range.begin, range.end, false);
                changes.next().is_some()
            })
        };
        let read = if range.reverse || tables.tombstones.is_some() || changed() {
            append_range(self.tables, range, pairs)
        } else {
            self.read(range, pairs)
        };
        if read.is_err() {
            self.at = None;
            pairs.truncate(before);
        }
        read
    }

    fn read(&mut self, range: RangeRead<'_>, pairs: &mut Pairs) -> Result<bool, StorageError> {
        if range.is_empty() {
            return Ok(false);
        }
        let near = match &mut self.at {
            Some(at) => at.walk_to(range.begin)?,
            None => false,
        };
        if !near {
            self.at = None;
        }
        let at = match &mut self.at {
            Some(at) => at,
            none => none.insert(At::seek(self.tables.pairs, range.begin)?),
        };
        let mut filling = Filling::new(pairs, &range);
        while let Some((key, value)) = &at.next
            && key.value() < range.end
        {
            if filling.push(key.value(), value.value()) {
                return Ok(filling.more());
            }
            at.pass()?;
        }
        Ok(false)
    }
}

impl<'t> At<'t> {
    fn seek(
        table: &'t impl ReadableTable<Bytes, Bytes>,
        begin: &[u8],
    ) -> Result<Self, StorageError> {
        let mut rest = table.range::<&[u8]>(begin..)?;
        Ok(Self {
            behind: begin.to_vec(),
            passed: false,
            next: rest.next().transpose()?,
            rest,
        })
    }

    /// Steps forward until `next` is the first key not less than `begin`. Returns false if `begin`
    /// is behind the position or too far ahead.
    fn walk_to(&mut self, begin: &[u8]) -> Result<bool, StorageError> {
        let back = if self.passed {
            begin <= &self.behind[..]
        } else {
            begin < &self.behind[..]
        };
        if back {
            return Ok(false);
        }
        for _ in 0..=PAIRS_WALKED_MAX {
            match &self.next {
                Some((key, _)) if key.value() < begin => self.pass()?,
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    fn pass(&mut self) -> Result<(), StorageError> {
        if let Some((key, _)) = &self.next {
            self.behind.clear();
            self.behind.extend_from_slice(key.value());
            self.passed = true;
        }
        self.next = self.rest.next().transpose()?;
        Ok(())
    }
}

/// Sets pairs with ascending keys. A run of adjacent new keys costs one descent of the tree.
pub(crate) fn set_ascending<'p>(
    table: &mut Table<'_, Bytes, Bytes>,
    pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
) -> Result<(), StorageError> {
    let mut pairs = pairs.peekable();
    while let Some((first, _)) = pairs.peek() {
        let mut cursor = table.lower_bound_mut(Bound::Included(*first))?;
        let mut present = None;
        for (key, value) in pairs.by_ref() {
            match cursor.insert_before(key, value) {
                Ok(()) => {}
                Err(CursorError::UnorderedKey) => {
                    present = Some((key, value));
                    break;
                }
                Err(CursorError::Storage(error)) => return Err(error),
                Err(other) => return Err(StorageError::Corrupted(other.to_string())),
            }
        }
        cursor.close()?;
        if let Some((key, value)) = present {
            table.insert(key, value)?;
        }
    }
    Ok(())
}
