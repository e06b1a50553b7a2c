//! Group commit: who may write, what is synced, and what readers see.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use arc_swap::ArcSwap;
use redb::{Database, Durability, ReadOnlyTable, ReadableDatabase};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::open::Opened;
use super::progress::Progress;
use super::table::{Bytes, PAIRS, fault};
use super::transaction::EmbeddedTransaction;
use crate::error::{Error, Result};

/// A snapshot that readers share; everything in it is synced.
pub(super) struct Published {
    pub(super) table: ReadOnlyTable<Bytes, Bytes>,
    /// The number of the last commit in it.
    pub(super) last_commit: u64,
    pub(super) progress: Progress,
}

/// The right to write, which one transaction has at a time.
pub(super) struct Writer {
    /// The number of the last commit, synced or not.
    pub(super) last_commit: u64,
}

pub(super) struct Committer {
    published: ArcSwap<Published>,
    writer: Arc<AsyncMutex<Writer>>,
    pub(super) progress: Progress,
    wake: Mutex<Option<Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
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
        let committer = Arc::new(Self {
            published: ArcSwap::from_pointee(snapshot(&database, last_commit, progress.clone())?),
            writer: Arc::new(AsyncMutex::new(Writer { last_commit })),
            progress,
            wake: Mutex::new(Some(wake)),
            thread: Mutex::new(None),
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

    pub(super) async fn begin(self: &Arc<Self>) -> Result<EmbeddedTransaction> {
        let writer = self.writer.clone().lock_owned().await;
        self.progress.check()?;
        let transaction = self.database.begin_write();
        let transaction = transaction.map_err(|error| self.progress.fault(error))?;
        Ok(EmbeddedTransaction::new(self.clone(), writer, transaction))
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
        let writer: OwnedMutexGuard<Writer> = blocking_lock(&self.writer);
        let last_commit = writer.last_commit;
        if self.progress.is_synced(last_commit) {
            return Ok(());
        }
        let mut transaction = self.database.begin_write().map_err(fault)?;
        transaction
            .set_durability(Durability::Immediate)
            .map_err(fault)?;
        transaction.commit().map_err(fault)?;
        let published = snapshot(&self.database, last_commit, self.progress.clone())?;
        self.published.store(Arc::new(published));
        drop(writer);
        self.progress.advance(last_commit);
        Ok(())
    }
}

/// Waits for the writer's turn in the same queue as transactions do.
fn blocking_lock(writer: &Arc<AsyncMutex<Writer>>) -> OwnedMutexGuard<Writer> {
    writer.clone().blocking_lock_owned()
}

fn snapshot(database: &Database, last_commit: u64, progress: Progress) -> Result<Published> {
    let read = database.begin_read().map_err(fault)?;
    let table = read.open_table(PAIRS).map_err(fault)?;
    Ok(Published {
        table,
        last_commit,
        progress,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
