//! A transaction of the embedded engine, the only writer while it is open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use redb::{Durability, Table, WriteTransaction};
use tokio::sync::OwnedMutexGuard;

use super::commit::{Committer, WriteLock};
use super::tables::pairs::{self, Tables};
use super::tables::writes::{WriteKind, WriteList, WriteTables};
use super::tables::{Bytes, ENGINE, LAST_COMMIT, tombstones};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::limits::{CLEARED_PAIRS_AT_ONCE, RANGES_AT_A_TIME};
use crate::store::{
    Batch, ChangeRecorder, CommitError, MultiRange, PendingStamps, RangeRead, Read, Transaction,
    key_after,
};

pub(super) struct EmbeddedTransaction {
    committer: Arc<Committer>,
    /// The number of the last commit that the transaction sees.
    base: u64,
    changes: ChangeRecorder,
    open: Mutex<Option<OpenTransaction>>,
}

struct OpenTransaction {
    // Dropped in this order: the write lock is released after the transaction is rolled back.
    transaction: WriteTransaction,
    pending: Pending,
    /// Whether there are tombstones, including pending ones.
    has_tombstones: bool,
    writer: OwnedMutexGuard<WriteLock>,
}

/// What the transaction has written. The writes are passed to redb together, before a read and at
/// commit.
#[derive(Default)]
struct Pending {
    writes: WriteList,
    stamped: PendingStamps,
    /// The number that all later commits must exceed.
    last_commit_min: u64,
}

impl Committer {
    /// Begins a transaction, when those who asked before have ended theirs.
    pub(super) async fn begin(self: &Arc<Self>) -> Result<EmbeddedTransaction> {
        let writer = self.writer().await;
        self.progress.check()?;
        let transaction = self.begin_write()?;
        Ok(EmbeddedTransaction::new(self.clone(), writer, transaction))
    }
}

impl EmbeddedTransaction {
    pub(super) fn new(
        committer: Arc<Committer>,
        writer: OwnedMutexGuard<WriteLock>,
        transaction: WriteTransaction,
    ) -> Self {
        Self {
            committer,
            base: writer.last_commit,
            changes: ChangeRecorder::default(),
            open: Mutex::new(Some(OpenTransaction {
                transaction,
                pending: Pending::default(),
                has_tombstones: writer.has_tombstones,
                writer,
            })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<OpenTransaction>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, write: impl FnOnce(&mut Pending)) {
        if let Some(open) = &mut *self.lock() {
            write(&mut open.pending);
        }
    }

    /// Applies the pending writes and reads. Versionstamped keys stay pending.
    fn read<T>(
        &self,
        read: impl FnOnce(Tables<'_, Table<'_, Bytes, Bytes>>, &PendingStamps) -> Result<T>,
    ) -> Result<T> {
        let mut open = self.lock();
        let open = open.as_mut().ok_or_else(over)?;
        let written = self.applied(&open.transaction, &mut open.pending, open.has_tombstones)?;
        read(written.tables(), &open.pending.stamped)
    }

    /// Opens the tables and applies the pending writes.
    fn applied<'t>(
        &self,
        transaction: &'t WriteTransaction,
        pending: &mut Pending,
        has_tombstones: bool,
    ) -> Result<WriteTables<'t>> {
        let opened = WriteTables::open(transaction, has_tombstones);
        let mut written = opened.map_err(|error| self.fault(error))?;
        if !pending.writes.are_applied() {
            let applied = pending.writes.apply(&mut written);
            applied.map_err(|error| self.committer.fail(&error.to_string()))?;
        }
        Ok(written)
    }

    fn fault(&self, error: impl Into<redb::Error>) -> Error {
        self.committer.progress.fault(error)
    }

    fn commit_unsynced(&self) -> Result<Option<u64>> {
        let Some(open) = self.lock().take() else {
            return Err(over());
        };
        // Locals are dropped in reverse order: the write lock is released after the transaction is
        // rolled back.
        let OpenTransaction {
            mut writer,
            mut pending,
            has_tombstones,
            mut transaction,
        } = open;
        self.committer.progress.check()?;
        if pending.writes.len() == 0 {
            return Ok(None);
        }
        self.committer.reserve(&pending.writes)?;
        let number = writer.last_commit + 1;
        let last_commit = number.max(pending.last_commit_min);
        let committed = (|| {
            let mut written = WriteTables::open(&transaction, has_tombstones).map_err(text)?;
            pending.writes.apply(&mut written).map_err(text)?;
            let has_tombstones = written.has_tombstones().map_err(text)?;
            drop(written);
            let mut engine = transaction.open_table(ENGINE).map_err(text)?;
            engine.insert(LAST_COMMIT, last_commit).map_err(text)?;
            drop(engine);
            transaction.set_durability(Durability::None).map_err(text)?;
            let writes = &pending.writes;
            let committer = &self.committer;
            committer
                .commit_unsynced(transaction, last_commit, writes)
                .map_err(text)?;
            Ok(has_tombstones)
        })();
        let has_tombstones = committed.map_err(|error: String| self.committer.fail(&error))?;
        writer.last_commit = last_commit;
        writer.has_tombstones = has_tombstones;
        if has_tombstones {
            self.committer.reclaimer.wake();
        }
        Ok(Some(number))
    }

    /// The versionstamp of this transaction's commit.
    fn stamp(&self) -> [u8; 10] {
        version(self.base + 1).0
    }
}

#[async_trait]
impl Read for EmbeddedTransaction {
    async fn version(&self) -> Result<Version> {
        Ok(version(self.base))
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.read(|tables, stamped| {
            stamped.check(key, &key_after(key))?;
            pairs::get(tables, key).map_err(|error| self.fault(error))
        })
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        if range.resumed {
            tokio::task::yield_now().await;
        }
        self.read(|tables, stamped| {
            stamped.check(range.begin, range.end)?;
            pairs::range(tables, range).map_err(|error| self.fault(error))
        })
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        let mut round = MultiRange::of(ranges.len());
        for ranges in ranges.chunks(RANGES_AT_A_TIME) {
            if !round.batches.is_empty() {
                tokio::task::yield_now().await;
            }
            let read = self.read(|tables, stamped| {
                let check = |range: &RangeRead<'_>| stamped.check(range.begin, range.end);
                pairs::ranges(tables, ranges, &mut round, check, |error| self.fault(error));
                Ok(())
            });
            if let Err(error) = read {
                for _ in ranges {
                    round.push(Err(error.clone()));
                }
            }
        }
        round
    }
}

#[async_trait]
impl Transaction for EmbeddedTransaction {
    fn without_conflict(&self) -> &dyn Read {
        self
    }

    fn set(&self, key: &[u8], value: &[u8]) {
        self.write(|pending| {
            pending.stamped.remove(key);
            pending.writes.push(key, WriteKind::Set(value));
        });
    }

    fn clear(&self, key: &[u8]) {
        self.write(|pending| {
            pending.stamped.remove(key);
            pending.writes.push(key, WriteKind::Clear);
        });
    }

    fn clear_range(&self, begin: &[u8], end: &[u8]) {
        if begin < end {
            self.write(|pending| {
                pending.stamped.clear(begin, end);
                pending.writes.push(begin, WriteKind::ClearTo(end));
            });
        }
    }

    async fn clear_large_range(&self, begin: &[u8], end: &[u8]) -> Result<bool> {
        if begin >= end {
            return Ok(false);
        }
        let mut open = self.lock();
        let open = open.as_mut().ok_or_else(over)?;
        let written = self.applied(&open.transaction, &mut open.pending, open.has_tombstones)?;
        let large = tombstones::holds_more_than(&written.pairs, begin, end, CLEARED_PAIRS_AT_ONCE);
        let large = large.map_err(|error| self.fault(error))?;
        drop(written);
        open.has_tombstones |= large;
        open.pending.stamped.clear(begin, end);
        let kind = if large {
            WriteKind::CoverTo(end)
        } else {
            WriteKind::ClearTo(end)
        };
        open.pending.writes.push(begin, kind);
        Ok(large)
    }

    fn add(&self, key: &[u8], by: i64) {
        self.write(|pending| pending.writes.push(key, WriteKind::Add(by)));
    }

    fn set_versionstamped_value(&self, key: &[u8], value: &[u8], stamp_at: usize) {
        let mut value = value.to_vec();
        value[stamp_at..stamp_at + 10].copy_from_slice(&self.stamp());
        self.write(|pending| {
            pending.writes.push(key, WriteKind::Set(&value));
            pending.stamped.add_value(key);
        });
    }

    fn set_versionstamped_key(&self, key: &[u8], stamp_at: usize, value: &[u8]) {
        let mut key = key.to_vec();
        key[stamp_at..stamp_at + 10].copy_from_slice(&self.stamp());
        self.write(|pending| {
            pending.writes.push(&key, WriteKind::Set(value));
            pending.stamped.add_key(&key, stamp_at);
        });
    }

    async fn advance_versions(&self, version: Version) -> Result<()> {
        let number = version.commit_number();
        self.write(|pending| pending.last_commit_min = pending.last_commit_min.max(number));
        Ok(())
    }

    async fn bytes(&self) -> Result<usize> {
        let open = self.lock();
        Ok(open.as_ref().map_or(0, |open| open.pending.writes.bytes()))
    }

    fn is_read_only(&self) -> bool {
        let open = self.lock();
        open.as_ref()
            .is_none_or(|open| open.pending.writes.len() == 0)
    }

    fn changes(&self) -> &ChangeRecorder {
        &self.changes
    }

    async fn commit(&self) -> Result<Version, CommitError> {
        let Some(number) = self.commit_unsynced()? else {
            self.committer.progress.reaches(self.base).await?;
            return Ok(version(self.base));
        };
        self.committer.wake();
        self.committer.progress.reaches(number).await?;
        Ok(version(number))
    }

    async fn abort(&self) -> Result<()> {
        drop(self.lock().take());
        self.committer.progress.reaches(self.base).await
    }
}

/// The version of a commit number, which starts at 1. The last two bytes, which order commits of a
/// batch in FoundationDB, are zero.
pub(super) fn version(number: u64) -> Version {
    let mut version = [0; 10];
    version[..8].copy_from_slice(&number.to_be_bytes());
    Version(version)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn over() -> Error {
    Error::new(
        ErrorKind::Internal,
        "the transaction has ended; it accepts no reads or writes",
    )
}
