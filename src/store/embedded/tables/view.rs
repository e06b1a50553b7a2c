//! States of the store: the tables of redb at one commit, and the changes of later commits.

use std::sync::Arc;

use redb::{
    Database, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata, StorageError, TableError,
};

use super::overlay::KeyChanges;
use super::overlays::{Layer, Overlays};
use super::pairs::{self, Tables};
use super::writes::{WriteKind, WriteList, WriteTables, sum};
use super::{Bytes, PAIRS, TOMBSTONES, fault};
use crate::error::Result;

/// Changes that are collected before they are inserted into an overlay, if one of them has to be
/// found again.
const SEARCHED_MAX: usize = 128;
/// Changes that are passed to redb together.
const WRITTEN_AT_A_TIME: usize = 4096;

/// A snapshot of redb, which is durable.
pub(crate) struct Base {
    pairs: ReadOnlyTable<Bytes, Bytes>,
    /// `None` if there are no tombstones.
    tombstones: Option<ReadOnlyTable<Bytes, Bytes>>,
    /// The number of the last commit in redb.
    pub(crate) last_commit: u64,
}

/// A state of the store, which never changes.
#[derive(Clone)]
pub(crate) struct View {
    base: Arc<Base>,
    /// The changes of the commits that are not in the base.
    overlays: Overlays,
    /// The number of the last commit in the base and in the older overlay.
    older_last: u64,
    /// The number of the last commit.
    pub(crate) last_commit: u64,
}

impl Base {
    /// A snapshot of redb, whose last durable commit has this number.
    pub(crate) fn open(database: &Database, last_commit: u64) -> Result<Self> {
        let read = database.begin_read().map_err(fault)?;
        let pairs = read.open_table(PAIRS).map_err(fault)?;
        let tombstones = match read.open_table(TOMBSTONES) {
            Ok(tombstones) if tombstones.is_empty().map_err(fault)? => None,
            Ok(tombstones) => Some(tombstones),
            Err(TableError::TableDoesNotExist(_)) => None,
            Err(error) => return Err(fault(error)),
        };
        Ok(Self {
            pairs,
            tombstones,
            last_commit,
        })
    }

    pub(crate) fn has_tombstones(&self) -> bool {
        self.tombstones.is_some()
    }
}

impl View {
    /// The state of a base.
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self {
            overlays: Overlays::default(),
            older_last: base.last_commit,
            last_commit: base.last_commit,
            base,
        }
    }

    pub(crate) fn tables(&self) -> Tables<'_, ReadOnlyTable<Bytes, Bytes>> {
        Tables {
            pairs: &self.base.pairs,
            tombstones: self.base.tombstones.as_ref(),
            overlays: (!self.overlays.is_empty()).then_some(&self.overlays),
        }
    }

    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// Whether there are commits in the older overlay, which is being written to redb.
    fn is_frozen(&self) -> bool {
        self.older_last > self.base.last_commit
    }

    /// Whether all commits are in the base.
    pub(crate) fn is_durable(&self) -> bool {
        self.last_commit == self.base.last_commit
    }

    /// Makes the newer overlay the older one, unless there is one already. Later commits are in a
    /// new overlay.
    pub(crate) fn freeze(&mut self) {
        if !self.is_frozen() {
            self.overlays.older = std::mem::take(&mut self.overlays.newer);
            self.older_last = self.last_commit;
        }
    }

    /// The changes of the older overlay.
    pub(crate) fn older(&self) -> Layer {
        self.overlays.older.clone()
    }

    /// Adopts the changes of a transaction that began with this state.
    pub(crate) fn commit(&mut self, changed: Self, last_commit: u64) {
        self.overlays.newer = changed.overlays.newer;
        self.last_commit = last_commit;
    }

    /// Replaces the base with a later one, and removes the changes that it has.
    pub(crate) fn rebase(&mut self, base: &Arc<Base>) {
        if base.last_commit >= self.last_commit {
            *self = Self::new(base.clone());
        } else if base.last_commit >= self.older_last {
            self.base = base.clone();
            self.overlays.older = Layer::default();
            self.older_last = base.last_commit;
        }
    }

    /// Applies the writes that are not yet applied. Returns false if they need redb: the state
    /// is then unusable.
    pub(crate) fn apply(&mut self, writes: &mut WriteList) -> Result<bool, StorageError> {
        let mut collected = Collected::default();
        for (key, kind) in writes.not_applied() {
            match kind {
                WriteKind::Set(value) => collected.0.push((key, NewValue::Set(value))),
                WriteKind::Clear => collected.0.push((key, NewValue::Clear)),
                WriteKind::Add(by) => {
                    if collected.0.len() > SEARCHED_MAX {
                        collected.insert(&mut self.overlays.newer);
                    }
                    let sum = match collected.get(key) {
                        Some(value) => sum(value.bytes(), by),
                        None => sum(pairs::get(self.tables(), key)?.as_deref(), by),
                    };
                    collected.0.push((key, NewValue::Sum(sum)));
                }
                WriteKind::ClearTo(end) => {
                    collected.insert(&mut self.overlays.newer);
                    self.overlays.newer.clear(key, end);
                }
                WriteKind::CoverTo(_) => return Ok(false),
            }
        }
        collected.insert(&mut self.overlays.newer);
        writes.set_applied();
        Ok(true)
    }

    /// Writes the changes of all commits that are not in the base to redb.
    pub(crate) fn write(&self, written: &mut WriteTables<'_>) -> Result<(), StorageError> {
        write(&self.overlays.older, written)?;
        write(&self.overlays.newer, written)
    }
}

/// Writes changes to redb.
pub(crate) fn write(overlay: &Layer, written: &mut WriteTables<'_>) -> Result<(), StorageError> {
    for (begin, end) in overlay.cleared().iter() {
        written.clear(begin, end)?;
    }
    let mut changes = overlay.changes().peekable();
    while changes.peek().is_some() {
        let mut list = WriteList::default();
        for (key, value) in changes.by_ref().take(WRITTEN_AT_A_TIME) {
            list.push(key, value.map_or(WriteKind::Clear, WriteKind::Set));
        }
        list.apply(written)?;
    }
    Ok(())
}

/// Changes in the order of the writes.
#[derive(Default)]
struct Collected<'w>(Vec<(&'w [u8], NewValue<'w>)>);

#[derive(Clone, Copy)]
enum NewValue<'w> {
    Set(&'w [u8]),
    Sum([u8; 8]),
    Clear,
}

impl NewValue<'_> {
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Set(value) => Some(value),
            Self::Sum(value) => Some(value),
            Self::Clear => None,
        }
    }
}

impl Collected<'_> {
    /// The last change of a key, if it is changed.
    fn get(&self, key: &[u8]) -> Option<&NewValue<'_>> {
        let mut changes = self.0.iter().rev();
        let change = changes.find(|(changed, _)| *changed == key);
        change.map(|(_, value)| value)
    }

    /// Moves the changes to an overlay. The last change of a key counts.
    fn insert(&mut self, overlay: &mut Layer) {
        self.0.sort_by_key(|(key, _)| *key);
        let bytes =
            |(key, value): &(&[u8], NewValue<'_>)| key.len() + value.bytes().map_or(0, <[u8]>::len);
        let mut changes = KeyChanges::with_capacity(self.0.len(), self.0.iter().map(bytes).sum());
        for (at, (key, value)) in self.0.iter().enumerate() {
            let last = self.0.get(at + 1).is_none_or(|(next, _)| next != key);
            if last {
                changes.push(key, value.bytes());
            }
        }
        overlay.insert(&changes);
        self.0.clear();
    }
}
