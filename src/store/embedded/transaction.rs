//! A transaction of the embedded engine, the only writer while it is open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use redb::{StorageError, WriteTransaction};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::commit::{Committer, TableWriter, WriteLock};
use super::tables::fault;
use super::tables::view::View;
use super::tables::writes::{Clearing, WriteKind, WriteList, WriteTables};
use super::tables::{pairs, portions};
use crate::budget::{block_thread, turn};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::limits::{CLEARED_PAIRS_AT_ONCE, WRITTEN_BYTES_AT_ONCE};
use crate::store::{
    Attachments, Batch, CommitError, MultiRange, PendingStamps, RangeRead, Read, Sessions,
    Transaction, WriteWait, key_after,
};

pub(super) struct EmbeddedTransaction {
    committer: Arc<Committer>,
    /// The number of the last commit that the transaction sees.
    base: u64,
    attachments: Attachments,
    open: Mutex<Option<OpenTransaction>>,
    /// Held while the transaction begins to write to redb.
    turning: AsyncMutex<()>,
}

struct OpenTransaction {
    // Dropped in this order: the write lock is released last.
    state: TransactionSource,
    pending: Pending,
    writer: OwnedMutexGuard<WriteLock>,
}

/// Where the transaction reads and writes.
enum TransactionSource {
    /// In memory.
    View(View),
    /// In redb, because it is too large or clears a range by a tombstone.
    Tables(Box<TableTransaction>),
}

struct TableTransaction {
    // Dropped in this order: the right to write is released after the transaction is rolled back.
    transaction: WriteTransaction,
    /// Whether there are tombstones.
    has_tombstones: bool,
    /// How cleared ranges are deleted.
    clearing: Clearing,
    tables: OwnedMutexGuard<TableWriter>,
}

/// What the transaction has written. The writes are applied together, before a read and at commit.
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
        let writer = self.writer_with_room().await?;
        let (view, has_log) = {
            let group = self.group();
            (group.view.clone(), group.log.is_some())
        };
        if !has_log {
            self.check_disk()?;
        }
        Ok(EmbeddedTransaction {
            committer: self.clone(),
            base: writer.last_commit,
            attachments: Attachments::default(),
            open: Mutex::new(Some(OpenTransaction {
                state: TransactionSource::View(view),
                pending: Pending::default(),
                writer,
            })),
            turning: AsyncMutex::new(()),
        })
    }
}

impl TableTransaction {
    /// A transaction of redb that has all commits.
    fn begin(
        committer: &Committer,
        tables: OwnedMutexGuard<TableWriter>,
    ) -> Result<Self, redb::Error> {
        let transaction = committer.database.begin_write()?;
        let mut begun = Self {
            has_tombstones: tables.has_tombstones,
            clearing: committer.clearing(),
            transaction,
            tables,
        };
        let latest = committer.group().view.clone();
        if !latest.is_durable() {
            begun.write(|written| latest.write(written))?;
        }
        Ok(begun)
    }

    /// Opens the tables and writes to them.
    fn write(
        &mut self,
        write: impl FnOnce(&mut WriteTables<'_>) -> Result<(), StorageError>,
    ) -> Result<WriteTables<'_>, redb::Error> {
        let mut written = WriteTables::open(&self.transaction, self.has_tombstones, self.clearing)?;
        write(&mut written)?;
        self.has_tombstones = written.has_tombstones()?;
        self.clearing = written.clearing();
        Ok(written)
    }

    /// Opens the tables and applies the pending writes.
    fn applied(&mut self, writes: &mut WriteList) -> Result<WriteTables<'_>, redb::Error> {
        self.write(|written| writes.apply(written))
    }
}

/// Calls a function with the tables of a transaction.
macro_rules! with_tables {
    ($self:ident, $open:ident, $tables:ident => $read:expr) => {
        match &mut $open.state {
            TransactionSource::View(view) => {
                let $tables = view.tables();
                $read
            }
            TransactionSource::Tables(tables) => {
                let written = tables
                    .applied(&mut $open.pending.writes)
                    .map_err(|error| $self.committer.fail(&error.to_string()))?;
                let $tables = written.tables();
                $read
            }
        }
    };
}

impl EmbeddedTransaction {
    fn lock(&self) -> MutexGuard<'_, Option<OpenTransaction>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, write: impl FnOnce(&mut Pending)) {
        if let Some(open) = &mut *self.lock() {
            write(&mut open.pending);
        }
    }

    /// Applies the pending writes, before a read or a commit.
    async fn apply(&self) -> Result<()> {
        if self.is_applied()? {
            return Ok(());
        }
        // Another read of the transaction may have been here first.
        let _turning = self.turning.lock().await;
        if self.is_applied()? {
            return Ok(());
        }
        let committer = &self.committer;
        let tables = committer
            .waits(WriteWait::Checkpoint, committer.table_writer())
            .await;
        self.committer.progress.check()?;
        // It writes the changes of other transactions, too.
        let begun = block_thread(|| TableTransaction::begin(&self.committer, tables))
            .map_err(|error| self.committer.fail(&error.to_string()))?;
        {
            let mut open = self.lock();
            let open = open.as_mut().ok_or_else(over)?;
            open.pending.writes.set_not_applied();
            open.state = TransactionSource::Tables(Box::new(begun));
        }
        self.is_applied().map(|_| ())
    }

    /// Applies the pending writes. Returns false if they must be written to redb first.
    fn is_applied(&self) -> Result<bool> {
        let bytes = match &*self.lock() {
            Some(open) => open.pending.writes.not_applied_bytes(),
            None => return Err(over()),
        };
        if bytes > WRITTEN_BYTES_AT_ONCE {
            block_thread(|| self.apply_writes())
        } else {
            self.apply_writes()
        }
    }

    /// Whether the commit syncs redb's file, or copies many bytes.
    fn commits_long(&self) -> bool {
        self.lock().as_ref().is_some_and(|open| {
            matches!(open.state, TransactionSource::Tables(_))
                || open.pending.writes.bytes() > WRITTEN_BYTES_AT_ONCE
        })
    }

    fn apply_writes(&self) -> Result<bool> {
        let mut open = self.lock();
        let open = open.as_mut().ok_or_else(over)?;
        let writes = &mut open.pending.writes;
        if writes.are_applied() {
            return Ok(true);
        }
        let view = match &mut open.state {
            TransactionSource::View(view) => view,
            TransactionSource::Tables(tables) => {
                let written = tables.applied(writes).map(drop);
                written.map_err(|error| self.committer.fail(&error.to_string()))?;
                return Ok(true);
            }
        };
        if writes.bytes() > self.committer.options.overlay_transaction_bytes_max {
            return Ok(false);
        }
        view.apply(writes).map_err(|error| self.fault(error))
    }

    fn fault(&self, error: impl Into<redb::Error>) -> Error {
        self.committer.progress.fault(error)
    }

    fn commit_unsynced(&self) -> Result<Option<u64>> {
        let Some(open) = self.lock().take() else {
            return Err(over());
        };
        // Locals are dropped in reverse order: the write lock is released last.
        let OpenTransaction {
            mut writer,
            pending,
            state,
        } = open;
        self.committer.progress.check()?;
        if pending.writes.len() == 0 {
            return Ok(None);
        }
        if let TransactionSource::View(_) = state {
            // A transaction of redb is not in the log.
            self.committer.reserve(&pending.writes)?;
        }
        let number = writer.last_commit + 1;
        let last_commit = number.max(pending.last_commit_min);
        match state {
            TransactionSource::View(view) => {
                let committer = &self.committer;
                let mut group = committer.group();
                group.commit(view, last_commit, &pending.writes);
                drop(group);
                committer.wake();
            }
            TransactionSource::Tables(tables) => {
                let committed = self.commit_tables(*tables, pending.writes, last_commit, writer);
                committed.map_err(|error| self.committer.fail(&error.to_string()))?;
                return Ok(Some(number));
            }
        }
        writer.last_commit = last_commit;
        Ok(Some(number))
    }

    /// Commits a transaction of redb durably.
    fn commit_tables(
        &self,
        mut transaction: TableTransaction,
        mut writes: WriteList,
        last_commit: u64,
        mut writer: OwnedMutexGuard<WriteLock>,
    ) -> Result<()> {
        drop(transaction.applied(&mut writes).map_err(fault)?);
        let TableTransaction {
            transaction,
            has_tombstones,
            mut tables,
            ..
        } = transaction;
        let committer = &self.committer;
        writer.last_commit = last_commit;
        tables.has_tombstones = has_tombstones;
        committer.commit_of_client(transaction, last_commit, (writer, tables))?;
        if has_tombstones {
            committer.reclaimer.wake();
        }
        Ok(())
    }

    /// Waits until the commits up to this one are synced.
    async fn synced(&self, commit: u64) -> Result<()> {
        let progress = &self.committer.progress;
        if progress.is_synced(commit) {
            return Ok(());
        }
        let synced = progress.reaches(commit);
        self.committer.waits(WriteWait::Sync, synced).await
    }

    /// The versionstamp of this transaction's commit.
    fn stamp(&self) -> [u8; 10] {
        version(self.base + 1).0
    }
}

#[async_trait]
impl Read for EmbeddedTransaction {
    fn sessions(&self) -> Option<&Sessions> {
        Some(&self.committer.sessions)
    }

    async fn version(&self) -> Result<Version> {
        Ok(version(self.base))
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.apply().await?;
        let mut open = self.lock();
        let open = open.as_mut().ok_or_else(over)?;
        open.pending.stamped.check(key, &key_after(key))?;
        with_tables!(self, open, tables => pairs::get(tables, key))
            .map_err(|error| self.fault(error))
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        turn().await;
        self.apply().await?;
        portions::range(range, |portion| {
            let mut open = self.lock();
            let open = open.as_mut().ok_or_else(over)?;
            open.pending.stamped.check(range.begin, range.end)?;
            with_tables!(self, open, tables => portion.read(tables))
                .map_err(|error| self.fault(error))
        })
        .await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        turn().await;
        if let Err(error) = self.apply().await {
            return MultiRange::failed(ranges.len(), &error);
        }
        portions::ranges(ranges, |portion| {
            let mut open = self.lock();
            let open = open.as_mut().ok_or_else(over)?;
            with_tables!(self, open, tables => {
                let check =
                    |range: &RangeRead<'_>| open.pending.stamped.check(range.begin, range.end);
                portion.read(tables, check, |error| self.fault(error));
            });
            Ok(())
        })
        .await
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
        if self.committer.keeps_tombstones() {
            self.clear_range(begin, end);
            return Ok(false);
        }
        self.apply().await?;
        let large = {
            let mut open = self.lock();
            let open = open.as_mut().ok_or_else(over)?;
            let keys = with_tables!(self, open, tables => {
                pairs::keys(tables, begin, end, CLEARED_PAIRS_AT_ONCE)
            });
            keys.map_err(|error| self.fault(error))?.is_none()
        };
        self.write(|pending| {
            pending.stamped.clear(begin, end);
            let kind = if large {
                WriteKind::CoverTo(end)
            } else {
                WriteKind::ClearTo(end)
            };
            pending.writes.push(begin, kind);
        });
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

    fn may_take_effect(&self) -> bool {
        self.lock().is_none()
    }

    fn is_read_only(&self) -> bool {
        let open = self.lock();
        open.as_ref()
            .is_none_or(|open| open.pending.writes.len() == 0)
    }

    fn attachments(&self) -> &Attachments {
        &self.attachments
    }

    async fn commit(&self) -> Result<Version, CommitError> {
        self.apply().await?;
        let committed = if self.commits_long() {
            block_thread(|| self.commit_unsynced())
        } else {
            self.commit_unsynced()
        };
        let Some(number) = committed? else {
            self.synced(self.base).await?;
            return Ok(version(self.base));
        };
        // After a failed sync the files may have the commit or not.
        let synced = self.synced(number).await;
        synced.map_err(CommitError::Unknown)?;
        Ok(version(number))
    }

    async fn abort(&self) -> Result<()> {
        drop(self.lock().take());
        self.synced(self.base).await
    }
}

/// The version of a commit number, which starts at 1. The last two bytes, which order commits of a
/// batch in FoundationDB, are zero.
pub(super) fn version(number: u64) -> Version {
    let mut version = [0; 10];
    version[..8].copy_from_slice(&number.to_be_bytes());
    Version(version)
}

fn over() -> Error {
    Error::new(
        ErrorKind::Internal,
        "the transaction has ended; it accepts no reads or writes",
    )
}
