//! A store on a full disk: reads continue, and write transactions are rejected until there is space.
//!
//! The log allocates space before a commit is accepted. But redb's file grows while redb writes, and
//! redb cannot be used after a write failed. So the writes that find no space stay in memory, in order
//! (`deferred_file/mod.rs`). The commit of redb is not durable yet, and the log keeps everything. When
//! there is space, the writes are applied, and the commit is published.
//!
//! A store that was not closed can also be opened on a full disk: the commits of its log are applied,
//! but the file does not have them yet. The files of the log stay until it has.
//!
//! After a crash, the file has the state of the checkpoint before, and the log has the later commits.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use redb::WriteTransaction;
use tokio::sync::OwnedMutexGuard;

use super::commit::group::log_place;
use super::commit::{Committer, TableWriter, WriteLock};
use super::deferred_file::DeferredFile;
use super::log::{LogPlace, describe};
use super::tables::fault;
use super::tables::view::Base;
use crate::error::{Error, Result};

impl Committer {
    /// Checks that redb's file has the space that it needs.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the disk is full.
    pub(super) fn check_space(&self) -> Result<()> {
        let missing = self.file.as_ref().and_then(DeferredFile::missing_bytes);
        if missing.is_none() && !self.has_recovered_log.load(Ordering::Acquire) {
            return Ok(());
        }
        // It tries again, unless another thread does so already.
        self.checkpointer.wake();
        let missing = missing.unwrap_or_default();
        let message = format!(
            "the disk of the store is full: about {missing} bytes of space are missing; nothing was \
             changed"
        );
        Err(Error::unavailable(message, "redb's file cannot grow"))
    }

    /// Checks that a small transaction could be committed now, without one.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store has failed, or the disk is full.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.progress.check()?;
        self.check_space()?;
        let begun = self.group().log.clone();
        let Some(log) = begun else {
            return self.check_disk();
        };
        let space = log.try_space();
        space.map_err(|error| Error::unavailable(describe(&error), error.to_string()))
    }

    /// Checks that the disk has space for a log, before one has begun: the first commits of a process are
    /// written to redb, and would wait for space.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the disk is full.
    pub(super) fn check_disk(&self) -> Result<()> {
        match &self.log {
            Some(log) if log.is_enabled() => log
                .check_space()
                .map_err(|error| Error::unavailable(describe(&error), error.to_string())),
            _ => Ok(()),
        }
    }

    /// Commits a transaction of redb, which makes all commits up to `last_commit` durable. Waits for
    /// space if the disk is full.
    ///
    /// # Errors
    /// `UNAVAILABLE`: it cannot be committed, or the store is closed before there is space.
    pub(super) fn commit_durably(
        &self,
        transaction: WriteTransaction,
        last_commit: u64,
        place: LogPlace,
    ) -> Result<()> {
        self.commit_to_redb(transaction, last_commit, place)?;
        self.wait_for_space()?;
        self.committed_to_redb(last_commit, place)
    }

    /// Frees the log before `place`, and publishes commits that redb has.
    fn committed_to_redb(&self, last_commit: u64, place: LogPlace) -> Result<()> {
        let log = self.group().log.clone();
        if let Some(log) = log {
            log.recycle(place.segment).map_err(fault)?;
        }
        self.adopt(Base::open(&self.database, last_commit)?);
        Ok(())
    }

    /// [`commit_durably`](Self::commit_durably) for a transaction of a client. If the disk is full,
    /// another thread waits for space, with the locks, so that the client's request can end before.
    pub(super) fn commit_of_client(
        self: &Arc<Self>,
        transaction: WriteTransaction,
        last_commit: u64,
        locks: (OwnedMutexGuard<WriteLock>, OwnedMutexGuard<TableWriter>),
    ) -> Result<()> {
        let log = self.group().log.clone();
        let place = log_place(log.as_deref());
        self.commit_to_redb(transaction, last_commit, place)?;
        let committer = self.clone();
        let adopt = move || {
            committer.wait_for_space()?;
            if let Some(log) = log {
                log.needs(last_commit);
            }
            committer.committed_to_redb(last_commit, place)?;
            drop(locks);
            Ok(())
        };
        if self.check_space().is_ok() {
            return adopt();
        }
        let committer = self.clone();
        let wait = move || {
            let adopted: Result<()> = adopt();
            if let Err(error) = adopted {
                committer.fail(&error.to_string());
            }
        };
        let thread = thread::Builder::new().name("phyllo-space".to_owned());
        thread.spawn(wait).map(drop).map_err(fault)
    }

    /// Blocks the thread until the file has all that redb has written. If the store was opened on a
    /// full disk, also removes the files of its log then.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the file cannot be written, or the store is closed before there is space.
    pub(super) fn wait_for_space(&self) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut was_full = false;
        let full = |missing| {
            was_full = true;
            tracing::error!(
                "the disk is full: about {missing} bytes of space are missing; writes are rejected \
                 until there is space"
            );
            self.wake_waiting();
        };
        file.wait_for_space(full).map_err(fault)?;
        if self.has_recovered_log.load(Ordering::Acquire) {
            if let Some(log) = &self.log {
                log.remove();
            }
            self.has_recovered_log.store(false, Ordering::Release);
        }
        if was_full {
            tracing::info!("there is space on the disk again; writes are accepted");
        }
        Ok(())
    }
}
