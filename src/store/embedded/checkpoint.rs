//! Makes commits durable: by the log, or by a checkpoint, which is a durable commit of redb.
//!
//! A checkpoint also saves which pages of the file are in use (redb's quick repair), so that opening
//! the store after a crash does not read the whole file. Transactions wait while redb writes the
//! changed pages to the system's cache, but not for its syncs (`deferred_file.rs`). A checkpoint is
//! made
//!
//! - when a segment of the log has ended. The file of that segment is then free for another one.
//! - when there was no commit for a second.
//! - after the background deletion of pairs, which is not in the log.
//! - for each group of commits while there is no log.
//! - when the store is closed. This checkpoint ends the log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use redb::Durability;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, OwnedMutexGuard, oneshot};

use super::commit::{Committer, Woken, WriteLock};
use super::log::{Frame, LogWriter, StoreLog, bytes_max, describe};
use super::tables::writes::WriteList;
use super::tables::{ENGINE, LOG, LOG_SEGMENT, fault};
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
        woken.notified().await;
        let log = committer.group().log.clone();
        if let Some(log) = log {
            let writer = committer.writer().await;
            committer.progress.check()?;
            committer.checkpoint(writer, &log)?;
        }
    }
}

/// Syncs a group of commits with one frame after another, and reuses the memory.
pub(super) struct GroupSync {
    spare: Option<Frame>,
    /// Groups that were synced by a checkpoint.
    groups: u64,
    /// Whether a group was written to the log since the last time without commits.
    wrote: bool,
}

impl GroupSync {
    pub(super) fn new() -> Self {
        Self {
            spare: None,
            groups: 0,
            wrote: false,
        }
    }

    /// Syncs and publishes the commits so far.
    pub(super) fn sync(
        &mut self,
        committer: &Committer,
        runtime: &Runtime,
        why: Woken,
    ) -> Result<()> {
        if why == Woken::Idle {
            if std::mem::take(&mut self.wrote) {
                committer.checkpointer.wake();
            }
            return Ok(());
        }
        let log = committer.group().log.clone();
        match log {
            Some(log) => self.with_log(committer, &log),
            None => self.by_checkpoint(committer, runtime),
        }
    }

    fn with_log(&mut self, committer: &Committer, log: &LogWriter) -> Result<()> {
        let (mut frame, published) = {
            let mut group = committer.group();
            if group.frame.is_empty() {
                return Ok(());
            }
            let next = self.spare.take().unwrap_or_else(Frame::new);
            let frame = std::mem::replace(&mut group.frame, next);
            (frame, committer.snapshot(group.last_commit)?)
        };
        let bytes = frame.record_bytes();
        let begun = Instant::now();
        let ended_segment = log
            .append(&mut frame, published.last_commit)
            .map_err(fault)?;
        let took = begun.elapsed();
        self.spare = Some(frame);
        self.wrote = true;
        committer.publish(published);
        if let Some(observer) = committer.observer.get() {
            observer.log_synced(took, bytes);
            observer.log_resized(log.bytes());
        }
        if ended_segment {
            committer.checkpointer.wake();
        }
        Ok(())
    }

    /// Syncs the commits by a checkpoint. From the second group on, begins a log if the store may
    /// have one.
    fn by_checkpoint(&mut self, committer: &Committer, runtime: &Runtime) -> Result<()> {
        let Some(writer) = committer.writer_unless_closed(runtime) else {
            return Ok(());
        };
        if committer.progress.is_synced(writer.last_commit) {
            return Ok(());
        }
        let log = committer.log.as_ref().filter(|log| log.is_enabled());
        let begun = match log {
            Some(log) if self.groups > 0 => log.begin(writer.last_commit),
            _ => None,
        };
        self.groups += u64::from(log.is_some());
        committer.make_durable(begun.as_deref())?;
        committer.group().log = begun;
        committer.publish(committer.snapshot(writer.last_commit)?);
        Ok(())
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

    /// Makes a checkpoint of all commits, and frees the log before it.
    fn checkpoint(&self, writer: OwnedMutexGuard<WriteLock>, log: &LogWriter) -> Result<()> {
        let begun = Instant::now();
        let first_needed = log.segment();
        let file = self.file.as_ref().ok_or_else(without_file)?;
        file.detach().map_err(fault)?;
        self.make_durable(Some(log))?;
        let published = self.snapshot(writer.last_commit)?;
        drop(writer);
        let stalled = begun.elapsed();
        file.settle().map_err(fault)?;
        self.publish(published);
        log.recycle(first_needed).map_err(fault)?;
        let took = begun.elapsed();
        tracing::debug!("checkpoint in {took:?}; transactions waited for {stalled:?}");
        if let Some(observer) = self.observer.get() {
            observer.checkpointed(took, stalled);
        }
        Ok(())
    }

    /// Makes all commits durable in redb. Commits after it are in `log`, from its present segment
    /// on. The caller holds the write lock.
    pub(super) fn make_durable(&self, log: Option<&LogWriter>) -> Result<()> {
        let mut transaction = self.database.begin_write().map_err(fault)?;
        transaction
            .set_durability(Durability::Immediate)
            .map_err(fault)?;
        if self.log.as_ref().is_some_and(StoreLog::is_enabled) {
            transaction.set_quick_repair(true);
            let (number, segment) = log.map_or((0, 0), |log| (log.number(), log.segment()));
            let mut engine = transaction.open_table(ENGINE).map_err(fault)?;
            engine.insert(LOG, number).map_err(fault)?;
            engine.insert(LOG_SEGMENT, segment).map_err(fault)?;
        }
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
        let writer = self.writer().await;
        self.progress.check()?;
        log.enable();
        self.make_durable(None)
            .and_then(|()| self.snapshot(writer.last_commit))
            .map(|published| self.publish(published))
            .map_err(|error| self.fail(&error.to_string()))
    }

    /// Ends the log when the store is closed: makes a checkpoint and removes the files.
    pub(super) fn close(&self, runtime: &Runtime) -> Result<()> {
        let Some(log) = self.group().log.clone() else {
            return Ok(());
        };
        let Some(writer) = self.writer_unless_closed(runtime) else {
            // The lock is held by an open transaction. The log stays, as after a crash.
            return GroupSync::new().with_log(self, &log);
        };
        self.make_durable(None)?;
        self.group().log = None;
        self.publish(self.snapshot(writer.last_commit)?);
        if let Some(log) = &self.log {
            log.remove();
        }
        Ok(())
    }
}

fn without_file() -> Error {
    Error::internal("a store with a log has a file")
}
