//! The writes of a transaction, and how they are applied to the tables.

use std::ops::Range;

use redb::{
    ReadableTable, ReadableTableMetadata, StorageError, Table, TableError, WriteTransaction,
};

use super::pairs::{self, Tables};
use super::{Bytes, PAIRS, TOMBSTONES, tombstones};
use crate::limits::{DELETED_PAIRS_MAX, DELETED_PAIRS_PART};

/// The tables of a transaction, opened for writing.
pub(crate) struct WriteTables<'t> {
    transaction: &'t WriteTransaction,
    pub(crate) pairs: Table<'t, Bytes, Bytes>,
    /// `None` if there are no tombstones.
    tombstones: Option<Table<'t, Bytes, Bytes>>,
    clearing: Clearing,
}

/// How a transaction of redb clears ranges: by deleting their pairs, or by tombstones once it has
/// read many of them.
#[derive(Clone, Copy)]
pub(crate) struct Clearing {
    /// The number of pairs that it may still read, and then delete. `None` if the store may have no
    /// tombstones, because of its format.
    pub(super) pairs_left: Option<usize>,
}

impl Clearing {
    /// `tombstones`: whether the store may have tombstones.
    pub(crate) fn new(tombstones: bool) -> Self {
        Self {
            pairs_left: tombstones.then_some(DELETED_PAIRS_MAX),
        }
    }
}

/// Writes in order. They are kept after they are applied, because the log needs them.
#[derive(Default)]
pub(crate) struct WriteList {
    bytes: Vec<u8>,
    list: Vec<PlacedWrite>,
    /// The number of writes that are applied.
    applied: usize,
}

struct PlacedWrite {
    key: Range<usize>,
    kind: PlacedKind,
}

enum PlacedKind {
    Set(Range<usize>),
    Clear,
    ClearTo(Range<usize>),
    CoverTo(Range<usize>),
    Add(i64),
}

/// One write, with its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteKind<'w> {
    /// Sets the value of the key.
    Set(&'w [u8]),
    /// Clears the key.
    Clear,
    /// Clears the keys from the key to before this one.
    ClearTo(&'w [u8]),
    /// Clears the same range with a tombstone.
    CoverTo(&'w [u8]),
    /// Adds to a little-endian integer.
    Add(i64),
}

impl<'t> WriteTables<'t> {
    pub(crate) fn open(
        transaction: &'t WriteTransaction,
        has_tombstones: bool,
        clearing: Clearing,
    ) -> Result<Self, TableError> {
        let tombstones = has_tombstones.then(|| transaction.open_table(TOMBSTONES));
        Ok(Self {
            transaction,
            pairs: transaction.open_table(PAIRS)?,
            tombstones: tombstones.transpose()?,
            clearing,
        })
    }

    /// What later writes of the transaction may delete.
    pub(crate) fn clearing(&self) -> Clearing {
        self.clearing
    }

    pub(crate) fn tables(&self) -> Tables<'_, Table<'t, Bytes, Bytes>> {
        Tables {
            pairs: &self.pairs,
            tombstones: self.tombstones.as_ref(),
            overlays: None,
        }
    }

    pub(crate) fn has_tombstones(&self) -> Result<bool, StorageError> {
        match &self.tombstones {
            Some(tombstones) => Ok(!tombstones.is_empty()?),
            None => Ok(false),
        }
    }

    /// Clears the keys from `begin` to before `end`.
    pub(crate) fn clear(&mut self, begin: &[u8], end: &[u8]) -> Result<(), StorageError> {
        let Some(left) = self.clearing.pairs_left else {
            return self.delete(begin, end);
        };
        let pairs_max = left / DELETED_PAIRS_PART;
        let pairs = self.count(begin, end, pairs_max + 1)?;
        // Pairs that were counted in vain have taken time, too.
        self.clearing.pairs_left = Some(left.saturating_sub(pairs));
        if pairs > pairs_max {
            return self.cover(begin, end);
        }
        if pairs > 0 {
            self.delete(begin, end)?;
        }
        Ok(())
    }

    /// The number of pairs from `begin` to before `end`, or `count_max` if there are more.
    fn count(&self, begin: &[u8], end: &[u8], count_max: usize) -> Result<usize, StorageError> {
        let mut count = 0;
        for pair in self.pairs.range::<&[u8]>(begin..end)?.take(count_max) {
            drop(pair?);
            count += 1;
        }
        Ok(count)
    }

    /// Deletes the pairs from `begin` to before `end`.
    fn delete(&mut self, begin: &[u8], end: &[u8]) -> Result<(), StorageError> {
        self.pairs.retain_in::<&[u8], _>(begin..end, |_, _| false)
    }

    /// Covers a range with a tombstone.
    fn cover(&mut self, begin: &[u8], end: &[u8]) -> Result<(), StorageError> {
        let tombstones = match &mut self.tombstones {
            Some(tombstones) => tombstones,
            none => {
                let opened = self.transaction.open_table(TOMBSTONES);
                none.insert(opened.map_err(storage_error)?)
            }
        };
        tombstones::cover(tombstones, begin, end)
    }

    /// Uncovers a key before it is set. Returns the next key that a tombstone covers, if any.
    fn uncover(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        let Some(tombstones) = &mut self.tombstones else {
            return Ok(None);
        };
        tombstones::uncover(&mut self.pairs, tombstones, key)?;
        tombstones::next_begin(tombstones, key)
    }
}

impl WriteList {
    /// Appends a write.
    pub(crate) fn push(&mut self, key: &[u8], kind: WriteKind<'_>) {
        let key = self.append(key);
        let kind = match kind {
            WriteKind::Set(value) => PlacedKind::Set(self.append(value)),
            WriteKind::Clear => PlacedKind::Clear,
            WriteKind::ClearTo(end) => PlacedKind::ClearTo(self.append(end)),
            WriteKind::CoverTo(end) => PlacedKind::CoverTo(self.append(end)),
            WriteKind::Add(by) => PlacedKind::Add(by),
        };
        self.list.push(PlacedWrite { key, kind });
    }

    /// The keys, values and ends of ranges so far, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], WriteKind<'_>)> {
        (0..self.list.len()).map(|at| self.at(at))
    }

    /// Whether all writes are applied.
    pub(crate) fn are_applied(&self) -> bool {
        self.applied == self.list.len()
    }

    /// The writes that are not applied.
    pub(crate) fn not_applied(&self) -> impl Iterator<Item = (&[u8], WriteKind<'_>)> {
        (self.applied..self.list.len()).map(|at| self.at(at))
    }

    /// The keys, values and ends of ranges of these writes, in bytes.
    pub(crate) fn not_applied_bytes(&self) -> usize {
        let first = self.list.get(self.applied);
        first.map_or(0, |first| self.bytes.len() - first.key.start)
    }

    /// Marks all writes as applied.
    pub(crate) fn set_applied(&mut self) {
        self.applied = self.list.len();
    }

    /// Marks all writes as not applied.
    pub(crate) fn set_not_applied(&mut self) {
        self.applied = 0;
    }

    /// Passes the writes that are not yet applied to redb, each run of ascending keys together.
    pub(crate) fn apply(&mut self, written: &mut WriteTables<'_>) -> Result<(), StorageError> {
        while self.applied < self.list.len() {
            self.applied += self.apply_next(self.applied, written)?;
        }
        Ok(())
    }

    /// Passes the write at `at` to redb, and the run of writes that it begins. Returns their
    /// number.
    fn apply_next(&self, at: usize, written: &mut WriteTables<'_>) -> Result<usize, StorageError> {
        let (key, kind) = self.at(at);
        match kind {
            WriteKind::Set(value) => {
                let covered = written.uncover(key)?;
                let run = self.ascending_sets(at, covered.as_deref());
                if run > 1 {
                    let pairs = (at..at + run).map(|at| self.pair(at));
                    pairs::set_ascending(&mut written.pairs, pairs)?;
                    return Ok(run);
                }
                drop(written.pairs.insert(key, value)?);
            }
            WriteKind::Clear => drop(written.pairs.remove(key)?),
            WriteKind::ClearTo(end) => written.clear(key, end)?,
            WriteKind::CoverTo(end) => written.cover(key, end)?,
            WriteKind::Add(by) => {
                written.uncover(key)?;
                add(&mut written.pairs, key, by)?;
            }
        }
        Ok(1)
    }

    /// The number of writes from `at` on that set ascending keys less than `end`. At least one.
    fn ascending_sets(&self, at: usize, end: Option<&[u8]>) -> usize {
        let rest = &self.list[at..];
        let sets = rest
            .iter()
            .take_while(|write| matches!(write.kind, PlacedKind::Set(_)));
        let mut previous: Option<&[u8]> = None;
        let ascending = sets.take_while(|write| {
            let key = &self.bytes[write.key.clone()];
            let ascends =
                previous.is_none_or(|previous| previous < key && end.is_none_or(|end| key < end));
            previous = Some(key);
            ascends
        });
        ascending.count()
    }

    fn at(&self, at: usize) -> (&[u8], WriteKind<'_>) {
        let PlacedWrite { key, kind } = &self.list[at];
        let bytes = |range: &Range<usize>| &self.bytes[range.clone()];
        let kind = match kind {
            PlacedKind::Set(value) => WriteKind::Set(bytes(value)),
            PlacedKind::Clear => WriteKind::Clear,
            PlacedKind::ClearTo(end) => WriteKind::ClearTo(bytes(end)),
            PlacedKind::CoverTo(end) => WriteKind::CoverTo(bytes(end)),
            PlacedKind::Add(by) => WriteKind::Add(*by),
        };
        (bytes(key), kind)
    }

    fn pair(&self, at: usize) -> (&[u8], &[u8]) {
        match self.at(at) {
            (key, WriteKind::Set(value)) => (key, value),
            (key, _) => (key, &[]),
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Range<usize> {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        begin..self.bytes.len()
    }
}

/// A table that cannot be opened is damaged.
fn storage_error(error: TableError) -> StorageError {
    match error {
        TableError::Storage(error) => error,
        other => StorageError::Corrupted(other.to_string()),
    }
}

fn add(table: &mut Table<'_, Bytes, Bytes>, key: &[u8], by: i64) -> Result<(), StorageError> {
    let sum = sum(table.get(key)?.as_ref().map(redb::AccessGuard::value), by);
    table.insert(key, &sum[..])?;
    Ok(())
}

/// The sum of a little-endian integer and `by`. An absent value is 0.
pub(crate) fn sum(present: Option<&[u8]>, by: i64) -> [u8; 8] {
    let mut bytes = [0; 8];
    if let Some(present) = present {
        let known = present.len().min(8);
        bytes[..known].copy_from_slice(&present[..known]);
    }
    i64::from_le_bytes(bytes).wrapping_add(by).to_le_bytes()
}
