//! Group commit: who may write, what is synced, and what readers see.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use arc_swap::ArcSwap;
use redb::{Database, Durability, ReadOnlyTable, ReadableDatabase};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};

use super::open::Opened;
use super::table::{Bytes, PAIRS, fault};
use super::transaction::EmbeddedTransaction;
use crate::error::{Error, Result};

/// A snapshot that readers share; everything in it is synced.
pub(super) struct Published(ReadOnlyTable<Bytes, Bytes>);

impl Published {
    pub(super) fn table(&self) -> &ReadOnlyTable<Bytes, Bytes> {
        &self.0
    }
}

/// The right to write, which one transaction has at a time.
pub(super) struct Writer {
    /// The number of the last commit, synced or not.
    pub(super) last_commit: u64,
}

#[derive(Clone)]
struct Progress {
    synced: u64,
    failure: Option<Error>,
}

pub(super) struct Committer {
    published: ArcSwap<Published>,
    writer: Arc<AsyncMutex<Writer>>,
    progress: watch::Sender<Progress>,
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
        let (wake, woken) = channel();
        let committer = Arc::new(Self {
            published: ArcSwap::from_pointee(snapshot(&database)?),
            writer: Arc::new(AsyncMutex::new(Writer { last_commit })),
            progress: watch::Sender::new(Progress {
                synced: last_commit,
                failure: None,
            }),
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

    /// Syncs what is committed and ends the thread.
    pub(super) fn stop(&self) {
        lock(&self.wake).take();
        if let Some(thread) = lock(&self.thread).take() {
            // A panic of that thread was printed when it happened.
            let _ended = thread.join();
        }
    }

    pub(super) fn published(&self) -> Result<Arc<Published>> {
        self.check()?;
        Ok(self.published.load_full())
    }

    pub(super) async fn begin(self: &Arc<Self>) -> Result<EmbeddedTransaction> {
        let writer = self.writer.clone().lock_owned().await;
        self.check()?;
        let transaction = self.database.begin_write().map_err(fault)?;
        Ok(EmbeddedTransaction::new(self.clone(), writer, transaction))
    }

    /// Returns when the commit of this number is synced.
    pub(super) async fn synced(&self, commit: u64) -> Result<()> {
        let mut progress = self.progress.subscribe();
        let settled = progress
            .wait_for(|progress| progress.synced >= commit || progress.failure.is_some())
            .await
            .map_err(fault)?;
        match &settled.failure {
            Some(failure) if settled.synced < commit => Err(failure.clone()),
            _ => Ok(()),
        }
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
        let failure = Error::unavailable(
            "the store has failed and takes no more requests until it is opened anew",
            detail,
        );
        self.progress.send_modify(|progress| {
            progress.failure.get_or_insert_with(|| failure.clone());
        });
        failure
    }

    pub(super) async fn failed(&self) -> Error {
        let mut progress = self.progress.subscribe();
        let failed = progress
            .wait_for(|progress| progress.failure.is_some())
            .await;
        let failure = failed.ok().and_then(|progress| progress.failure.clone());
        failure.unwrap_or_else(|| fault("the store is closed"))
    }

    fn check(&self) -> Result<()> {
        match &self.progress.borrow().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    fn sync_when_woken(&self, woken: &Receiver<()>) {
        while woken.recv().is_ok() {
            while woken.try_recv().is_ok() {}
            if let Err(error) = self.sync() {
                self.fail(&error.to_string());
                return;
            }
        }
    }

    /// One immediate commit, which makes all before it durable, and the snapshot that shows them.
    /// Nobody writes meanwhile, so the snapshot holds nothing later.
    fn sync(&self) -> Result<()> {
        let writer: OwnedMutexGuard<Writer> = blocking_lock(&self.writer);
        let last_commit = writer.last_commit;
        if self.progress.borrow().synced == last_commit {
            return Ok(());
        }
        let mut transaction = self.database.begin_write().map_err(fault)?;
        transaction
            .set_durability(Durability::Immediate)
            .map_err(fault)?;
        transaction.commit().map_err(fault)?;
        self.published.store(Arc::new(snapshot(&self.database)?));
        drop(writer);
        self.progress
            .send_modify(|progress| progress.synced = last_commit);
        Ok(())
    }
}

/// Waits for the writer's turn in the same queue as transactions do.
fn blocking_lock(writer: &Arc<AsyncMutex<Writer>>) -> OwnedMutexGuard<Writer> {
    writer.clone().blocking_lock_owned()
}

fn snapshot(database: &Database) -> Result<Published> {
    let read = database.begin_read().map_err(fault)?;
    Ok(Published(read.open_table(PAIRS).map_err(fault)?))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
