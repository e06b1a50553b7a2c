//! Makes commits durable by a checkpoint, which is a durable commit of redb.
//!
//! A checkpoint writes the changes of the commits since the last one to redb, in ascending order of
//! their keys. It also saves which pages of the file are in use (redb's quick repair), so that opening
//! the store after a crash does not read the whole file. Transactions continue meanwhile: their
//! changes are in another overlay. A checkpoint is made
//!
//! - when a segment of the log has ended. The file of that segment is then free for another one.
//! - when many changes are in memory (`commit/group.rs`).
//! - when there was no commit for a second.
//! - after the background deletion of pairs, which is not in the log.
//! - for each group of commits while there is no log.
//! - when the store is closed. This checkpoint ends the log.
//!
//! redb's file grows. If the disk is full, the writes to it stay in memory (`full_disk.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use redb::{Durability, WriteTransaction};
use tokio::runtime::Runtime;
use tokio::sync::{Notify, oneshot};

use super::commit::group::log_place;
use super::commit::{Committer, TableWriter};
use super::group_sync::GroupSync;
use super::log::{LogPlace, StoreLog, bytes_max, describe};
use super::tables::view;
use super::tables::writes::{WriteList, WriteTables};
use super::tables::{ENGINE, LAST_COMMIT, fault};
use crate::error::{Error, Result};

/// Starts the thread that makes checkpoints when it is woken.
///
/// # Errors
/// `UNAVAILABLE`: the thread cannot be started.
pub(super) fn start(committer: &Arc<Committer>) -> Result<()> {
    let checkpointing = committer.clone();
    let run = move |woken: &Notify, stopped| run(&checkpointing, woken, stopped);
    committer.checkpointer.start(run)
}

fn run(committer: &Arc<Committer>, woken: &Notify, stopped: oneshot::Receiver<()>) {
    let made = catch_unwind(AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(fault)?;
        runtime.block_on(async {
            tokio::select! {
                failed = checkpoint_when_woken(committer, woken) => failed,
                _ = stopped => Ok(()),
            }
        })
    }));
    let failure = match made {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the thread that makes checkpoints has panicked".to_owned(),
    };
    committer.fail(&failure);
}

/// Returns only on failure.
async fn checkpoint_when_woken(committer: &Committer, woken: &Notify) -> Result<()> {
    loop {
        committer.wait_for_space()?;
        woken.notified().await;
        // Without a log, each group of commits is synced by a checkpoint.
        while committer.group().log.is_some() {
            committer.checkpoint(woken).await?;
            if !committer.group().is_checkpoint_due(&committer.options) {
                break;
            }
        }
    }
}

impl Committer {
    /// Allocates space in the log for a transaction, before it is committed. The caller holds the
    /// write lock.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the disk is full.
    pub(super) fn reserve(&self, writes: &WriteList) -> Result<()> {
        let (log, waiting) = {
            let group = self.group();
            (group.log.clone(), group.frame.record_bytes())
        };
        let Some(log) = log else {
            return Ok(());
        };
        log.reserve(waiting + bytes_max(writes))
            .map_err(|error| Error::unavailable(describe(&error), error.to_string()))
    }

    /// Makes a checkpoint of the frozen changes, or if there are none, of all commits.
    async fn checkpoint(&self, woken: &Notify) -> Result<()> {
        let begun = Instant::now();
        self.frozen(woken).await?;
        let mut tables = self.table_writer().await;
        // A large transaction may have written all commits meanwhile.
        if !self.group().is_frozen() {
            return Ok(());
        }
        self.write_frozen(&mut tables)?;
        drop(tables);
        let took = begun.elapsed();
        tracing::debug!("checkpoint in {took:?}");
        if let Some(observer) = self.observer.get() {
            observer.checkpointed(took);
        }
        Ok(())
    }

    /// Waits until changes are frozen: by a writer, which wakes this thread, or here.
    async fn frozen(&self, woken: &Notify) -> Result<()> {
        while !self.group().is_frozen() {
            tokio::select! {
                _writer = self.writer() => {
                    self.progress.check()?;
                    let mut group = self.group();
                    let place = log_place(group.log.as_deref());
                    group.freeze(place);
                }
                () = woken.notified() => {}
            }
        }
        Ok(())
    }

    /// Writes the frozen changes to redb and makes them durable.
    fn write_frozen(&self, tables: &mut TableWriter) -> Result<()> {
        let Some((changes, last_commit, place)) = self.group().frozen() else {
            return Ok(());
        };
        let transaction = self.database.begin_write().map_err(fault)?;
        if !changes.is_empty() {
            let mut written =
                WriteTables::open(&transaction, tables.has_tombstones, self.clearing())
                    .map_err(fault)?;
            view::write(&changes, &mut written).map_err(fault)?;
            tables.has_tombstones = written.has_tombstones().map_err(fault)?;
        }
        self.commit_durably(transaction, last_commit, place)?;
        if tables.has_tombstones {
            self.reclaimer.wake();
        }
        Ok(())
    }

    /// Writes the changes of all commits to redb and makes them durable. Later commits are in the log
    /// at `place`. The caller holds the write lock.
    pub(super) async fn write_all(&self, place: LogPlace) -> Result<()> {
        let mut tables = self.table_writer().await;
        // The log has the commits after those that are frozen already.
        self.write_frozen(&mut tables)?;
        self.group().freeze(place);
        self.write_frozen(&mut tables)
    }

    /// Commits a transaction of redb with the records of the engine. If the disk is full, redb's file
    /// does not have it yet.
    pub(super) fn commit_to_redb(
        &self,
        mut transaction: WriteTransaction,
        last_commit: u64,
        place: LogPlace,
    ) -> Result<()> {
        transaction
            .set_durability(Durability::Immediate)
            .map_err(fault)?;
        let mut engine = transaction.open_table(ENGINE).map_err(fault)?;
        engine.insert(LAST_COMMIT, last_commit).map_err(fault)?;
        if self.log.as_ref().is_some_and(StoreLog::is_enabled) {
            place.write(&mut engine).map_err(fault)?;
            drop(engine);
            transaction.set_quick_repair(true);
        } else {
            drop(engine);
        }
        self.session.record(&transaction).map_err(fault)?;
        transaction.commit().map_err(fault)
    }

    /// Lets the store have a log from now on.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store cannot be written.
    pub(super) async fn enable_log(&self) -> Result<()> {
        let Some(log) = &self.log else {
            return Ok(());
        };
        let writer = self.writer_with_space().await?;
        self.progress.check()?;
        log.enable();
        let place = log_place(self.group().log.as_deref());
        let written = self.write_all(place).await;
        drop(writer);
        written.map_err(|error| self.fail(&error.to_string()))
    }

    /// Ends the log when the store is closed: makes a checkpoint and removes the files.
    pub(super) fn close(&self, runtime: &Runtime) -> Result<()> {
        let Some(log) = self.group().log.clone() else {
            return Ok(());
        };
        let Some(_writer) = self.writer_unless_closed(runtime) else {
            // The lock is held by an open transaction. The log stays, as after a crash.
            return GroupSync::new().with_log(self, &log);
        };
        runtime.block_on(self.write_all(log_place(None)))?;
        self.group().log = None;
        if let Some(log) = &self.log {
            log.remove();
        }
        Ok(())
    }
}
