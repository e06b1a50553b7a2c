//! Group commit: who may write, when commits are synced, and what readers see.
//!
//! A sync takes far longer than a small transaction. If each transaction synced, the number of
//! syncs per second would limit the writes. So a commit has two phases:
//!
//! 1. **Commit without sync.** A transaction holds the [`WriteLock`] from its begin to its commit
//!    (`transaction.rs`). It commits to redb with `Durability::None`, takes the next commit number,
//!    releases the lock, and wakes the sync thread. The next transaction starts at once and reads
//!    these writes.
//! 2. **Sync.** The thread `phyllo-sync` waits for the lock in the same queue as transactions. It
//!    then makes one empty durable commit, which syncs all commits before it, and publishes a
//!    snapshot of them ([`Committer::publish`]) before it releases the lock. All transactions that
//!    wait for a number up to this one now report success.
//!
//! Under load, the transactions that were queued before the sync thread commit first, and share its
//! sync.
//!
//! Readers only see the published snapshot, so unsynced data never leaves the process. A
//! transaction does read unsynced commits. Therefore a read-only commit and an abort also wait
//! until everything that the transaction could read is synced.
//!
//! After a failed sync or commit it is unknown what the file contains. The store then fails
//! permanently ([`Progress`]): all waiting and later calls return the same error until the store is
//! reopened. The reclaim thread (`reclaim.rs`) makes durable commits of its own under the same
//! lock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use arc_swap::ArcSwap;
use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata, TableError,
    WriteTransaction,
};
use tokio::runtime::Runtime;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};

use super::open::Opened;
use super::progress::Progress;
use super::reclaimer::{Reclaimer, lock};
use super::table::Tables;
use super::tables::{Bytes, PAIRS, TOMBSTONES, fault};
use crate::error::{Error, Result};

/// The snapshot that readers share. Everything in it is synced.
pub(super) struct Published {
    pairs: ReadOnlyTable<Bytes, Bytes>,
    /// `None` if there are no tombstones.
    tombstones: Option<ReadOnlyTable<Bytes, Bytes>>,
    /// The number of the last commit in the snapshot.
    pub(super) last_commit: u64,
    pub(super) progress: Progress,
}

impl Published {
    pub(super) fn tables(&self) -> Tables<'_, ReadOnlyTable<Bytes, Bytes>> {
        Tables {
            pairs: &self.pairs,
            tombstones: self.tombstones.as_ref(),
        }
    }
}

/// The write lock, which one transaction holds at a time.
pub(super) struct WriteLock {
    /// The number of the last commit, synced or not.
    pub(super) last_commit: u64,
    /// Whether there are tombstones after the last commit.
    pub(super) has_tombstones: bool,
}

pub(super) struct Committer {
    published: ArcSwap<Published>,
    writer: Arc<AsyncMutex<WriteLock>>,
    pub(super) progress: Progress,
    wake: Mutex<Option<Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) reclaimer: Reclaimer,
    /// Whether the store is being closed.
    closing: watch::Sender<bool>,
    database: Database,
}

impl Committer {
    pub(super) fn start(opened: Opened) -> Result<Arc<Self>> {
        let Opened {
            database,
            last_commit,
        } = opened;
        let progress = Progress::new(last_commit);
        let (wake, woken) = channel();
        let published = snapshot(&database, last_commit, progress.clone())?;
        let writer = WriteLock {
            last_commit,
            has_tombstones: published.tombstones.is_some(),
        };
        let committer = Arc::new(Self {
            published: ArcSwap::from_pointee(published),
            writer: Arc::new(AsyncMutex::new(writer)),
            progress,
            wake: Mutex::new(Some(wake)),
            thread: Mutex::new(None),
            reclaimer: Reclaimer::new(),
            closing: watch::Sender::new(false),
            database,
        });
        let syncing = committer.clone();
        let thread = thread::Builder::new()
            .name("phyllo-sync".to_owned())
            .spawn(move || syncing.sync_when_woken(&woken))
            .map_err(fault)?;
        *lock(&committer.thread) = Some(thread);
        Ok(committer)
    }

    /// Syncs all commits and stops the threads. A transaction that is still open can no longer
    /// commit.
    pub(super) fn stop(&self) {
        self.reclaimer.stop();
        self.closing.send_replace(true);
        lock(&self.wake).take();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // A panic of the thread was printed when it occurred.
            let _ended = thread.join();
        }
        self.progress.close();
    }

    pub(super) fn published(&self) -> Result<Arc<Published>> {
        self.progress.check()?;
        Ok(self.published.load_full())
    }

    /// Waits for the write lock. Waiting callers get it in order.
    pub(super) async fn writer(&self) -> OwnedMutexGuard<WriteLock> {
        self.writer.clone().lock_owned().await
    }

    /// Begins a redb transaction. The caller must hold the write lock.
    pub(super) fn begin_write(&self) -> Result<WriteTransaction> {
        let transaction = self.database.begin_write();
        transaction.map_err(|error| self.progress.fault(error))
    }

    /// Wakes the reclaim thread.
    pub(super) fn reclaim(&self) {
        self.reclaimer.wake();
    }

    /// Wakes the sync thread.
    pub(super) fn wake(&self) {
        if let Some(wake) = &*lock(&self.wake) {
            // Without a receiver the thread has ended because of a failure, which all callers get.
            let _sent = wake.send(());
        }
    }

    /// Fails the store permanently.
    pub(super) fn fail(&self, detail: &str) -> Error {
        self.progress.fail(detail)
    }

    fn sync_when_woken(&self, woken: &Receiver<()>) {
        let runtime = match tokio::runtime::Builder::new_current_thread().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                self.fail(&error.to_string());
                return;
            }
        };
        while woken.recv().is_ok() {
            while woken.try_recv().is_ok() {}
            let synced = catch_unwind(AssertUnwindSafe(|| self.sync(&runtime)));
            let failure = match synced {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "the thread that syncs has panicked".to_owned(),
            };
            self.fail(&failure);
            return;
        }
    }

    /// Waits for the write lock, in the same queue as transactions. `None` if the store is closed
    /// while an open transaction holds the lock: commits that are not synced were not reported as
    /// successful.
    fn writer_unless_closed(&self, runtime: &Runtime) -> Option<OwnedMutexGuard<WriteLock>> {
        let mut closing = self.closing.subscribe();
        runtime.block_on(async {
            tokio::select! {
                biased;
                writer = self.writer() => Some(writer),
                _ = closing.wait_for(|closing| *closing) => None,
            }
        })
    }

    /// Makes one durable commit, which syncs all earlier commits, and publishes their snapshot. It
    /// holds the write lock, so the snapshot contains nothing later.
    fn sync(&self, runtime: &Runtime) -> Result<()> {
        let Some(writer) = self.writer_unless_closed(runtime) else {
            return Ok(());
        };
        let last_commit = writer.last_commit;
        if self.progress.is_synced(last_commit) {
            return Ok(());
        }
        let mut transaction = self.database.begin_write().map_err(fault)?;
        transaction
            .set_durability(Durability::Immediate)
            .map_err(fault)?;
        transaction.commit().map_err(fault)?;
        self.publish(writer)
    }

    /// Publishes the commits so far. The caller holds the write lock and has synced them.
    pub(super) fn publish(&self, writer: OwnedMutexGuard<WriteLock>) -> Result<()> {
        let last_commit = writer.last_commit;
        let published = snapshot(&self.database, last_commit, self.progress.clone())?;
        self.published.store(Arc::new(published));
        drop(writer);
        self.progress.advance(last_commit);
        Ok(())
    }
}

fn snapshot(database: &Database, last_commit: u64, progress: Progress) -> Result<Published> {
    let read = database.begin_read().map_err(fault)?;
    let pairs = read.open_table(PAIRS).map_err(fault)?;
    let tombstones = match read.open_table(TOMBSTONES) {
        Ok(tombstones) if tombstones.is_empty().map_err(fault)? => None,
        Ok(tombstones) => Some(tombstones),
        Err(TableError::TableDoesNotExist(_)) => None,
        Err(error) => return Err(fault(error)),
    };
    Ok(Published {
        pairs,
        tombstones,
        last_commit,
        progress,
    })
}
