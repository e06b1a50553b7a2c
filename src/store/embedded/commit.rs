//! Group commit: who may write, what is synced, and what readers see.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use arc_swap::ArcSwap;
use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata, TableError,
    WriteTransaction,
};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::open::Opened;
use super::progress::Progress;
use super::reclaimer::{Reclaimer, lock};
use super::table::Tables;
use super::tables::TOMBSTONES;
use super::tables::{Bytes, PAIRS, fault};
use crate::error::{Error, Result};

/// A snapshot that readers share; everything in it is synced.
pub(super) struct Published {
    pairs: ReadOnlyTable<Bytes, Bytes>,
    /// None if there is no tombstone.
    tombstones: Option<ReadOnlyTable<Bytes, Bytes>>,
    /// The number of the last commit in it.
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

/// The right to write, which one transaction has at a time.
pub(super) struct WriteLock {
    /// The number of the last commit, synced or not.
    pub(super) last_commit: u64,
    /// Whether the last commit left a tombstone.
    pub(super) has_tombstones: bool,
}

pub(super) struct Committer {
    published: ArcSwap<Published>,
    writer: Arc<AsyncMutex<WriteLock>>,
    pub(super) progress: Progress,
    wake: Mutex<Option<Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) reclaimer: Reclaimer,
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

    /// Syncs what is committed and ends the thread. A transaction that outlives it can no longer
    /// be committed.
    pub(super) fn stop(&self) {
        self.reclaimer.stop();
        lock(&self.wake).take();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // A panic of that thread was printed when it happened.
            let _ended = thread.join();
        }
        self.progress.close();
    }

    pub(super) fn published(&self) -> Result<Arc<Published>> {
        self.progress.check()?;
        Ok(self.published.load_full())
    }

    /// The right to write, when those who asked before have had it.
    pub(super) async fn writer(&self) -> OwnedMutexGuard<WriteLock> {
        self.writer.clone().lock_owned().await
    }

    /// A transaction of whoever has the right to write.
    pub(super) fn begin_write(&self) -> Result<WriteTransaction> {
        let transaction = self.database.begin_write();
        transaction.map_err(|error| self.progress.fault(error))
    }

    /// Has the pairs under tombstones removed, soon.
    pub(super) fn reclaim(&self) {
        self.reclaimer.wake();
    }

    /// Has the commits so far synced, soon.
    pub(super) fn wake(&self) {
        if let Some(wake) = &*lock(&self.wake) {
            // Without a receiver the thread has ended because of a failure, which all are told.
            let _sent = wake.send(());
        }
    }

    /// Stops answering for good.
    pub(super) fn fail(&self, detail: &str) -> Error {
        self.progress.fail(detail)
    }

    fn sync_when_woken(&self, woken: &Receiver<()>) {
        while woken.recv().is_ok() {
            while woken.try_recv().is_ok() {}
            let synced = catch_unwind(AssertUnwindSafe(|| self.sync()));
            let failure = match synced {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "the thread that syncs has panicked".to_owned(),
            };
            self.fail(&failure);
            return;
        }
    }

    /// One immediate commit, which makes all before it durable, and the snapshot that shows them.
    /// Nobody writes meanwhile, so the snapshot holds nothing later.
    fn sync(&self) -> Result<()> {
        let writer: OwnedMutexGuard<WriteLock> = blocking_lock(&self.writer);
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

    /// Shows what was committed by whoever has the right to write and has synced it.
    pub(super) fn publish(&self, writer: OwnedMutexGuard<WriteLock>) -> Result<()> {
        let last_commit = writer.last_commit;
        let published = snapshot(&self.database, last_commit, self.progress.clone())?;
        self.published.store(Arc::new(published));
        drop(writer);
        self.progress.advance(last_commit);
        Ok(())
    }
}

/// Waits for the writer's turn in the same queue as transactions do.
fn blocking_lock(writer: &Arc<AsyncMutex<WriteLock>>) -> OwnedMutexGuard<WriteLock> {
    writer.clone().blocking_lock_owned()
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
