//! Group commit: who may write, when commits are synced, and what readers see.
//!
//! A sync takes far longer than a small transaction. If each transaction synced, the number of
//! syncs per second would limit the writes. So a commit has two phases:
//!
//! 1. **Commit without sync.** A transaction holds the [`WriteLock`] from its begin to its commit
//!    (`transaction.rs`). It commits to redb with `Durability::None`, adds its writes to the
//!    [`CommitGroup`], takes the next commit number, releases the lock, and wakes the sync thread. The
//!    next transaction starts at once and reads these writes.
//! 2. **Sync.** The thread `phyllo-sync` takes the group, together with a snapshot of exactly these
//!    commits. It writes the group to the log as one frame, syncs it, and publishes the snapshot.
//!    All transactions that wait for a number up to this one now report success. Meanwhile other
//!    transactions execute and form the next group.
//!
//! A store without a log syncs by a checkpoint (`checkpoint.rs`): a durable commit of redb, for
//! which the sync thread waits for the lock in the same queue as transactions. So does a store whose
//! log has not begun in this process: a log begins with the second group, because short commands
//! need none.
//!
//! Readers only see the published snapshot, so unsynced data never leaves the process. A
//! transaction does read unsynced commits. Therefore a read-only commit and an abort also wait
//! until everything that the transaction could read is synced.
//!
//! After a failed sync or commit it is unknown what the files contain. The store then fails
//! permanently ([`Progress`]): all waiting and later calls return the same error until the store is
//! reopened. redb can no longer write, so that it does not commit what the log does not have.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use arc_swap::ArcSwap;
use redb::{
    Database, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata, TableError, WriteTransaction,
};
use tokio::runtime::Runtime;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};

use super::background::{BackgroundThread, lock};
use super::deferred_file::DeferredFile;
use super::log::{Frame, LogWriter, StoreLog};
use super::open::Opened;
use super::progress::Progress;
use super::tables::pairs::Tables;
use super::tables::writes::WriteList;
use super::tables::{Bytes, PAIRS, TOMBSTONES, fault};
use crate::error::Result;
use crate::store::EngineObserver;

/// After this time without a commit, a checkpoint is made, so that reads find all pages in redb's
/// cache of clean pages, and the next opening has nothing to replay.
const IDLE_TIME_MAX: Duration = Duration::from_secs(1);

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

/// Why the sync thread was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// There are commits to sync.
    Commit,
    /// There was no commit for some time.
    Idle,
}

/// The commits that wait for the next sync. Locked while redb commits, so that a snapshot that is
/// taken under the same lock has exactly the commits of the groups so far.
pub(super) struct CommitGroup {
    /// The number of the last commit.
    pub(super) last_commit: u64,
    /// The log, once it has begun.
    pub(super) log: Option<Arc<LogWriter>>,
    /// The commits, if there is a log.
    pub(super) frame: Frame,
}

pub(super) struct Committer {
    published: ArcSwap<Published>,
    /// The number of the last published commit.
    pub(super) published_commits: watch::Sender<u64>,
    /// Locked while a snapshot is published.
    publishing: Mutex<()>,
    writer: Arc<AsyncMutex<WriteLock>>,
    group: Mutex<CommitGroup>,
    pub(super) log: Option<StoreLog>,
    pub(super) progress: Progress,
    wake: Mutex<Option<Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) reclaimer: BackgroundThread,
    pub(super) checkpointer: BackgroundThread,
    /// Whether the store is being closed.
    closing: watch::Sender<bool>,
    pub(super) database: Database,
    /// The file of the database, if the store can have a log.
    pub(super) file: Option<DeferredFile>,
    pub(super) observer: OnceLock<Arc<dyn EngineObserver>>,
}

impl Committer {
    /// The state of a store that was just opened. Its sync thread is not started.
    pub(super) fn new(opened: Opened) -> Result<(Arc<Self>, Receiver<()>)> {
        let Opened {
            database,
            last_commit,
            log,
            file,
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
            published_commits: watch::Sender::new(last_commit),
            publishing: Mutex::new(()),
            writer: Arc::new(AsyncMutex::new(writer)),
            group: Mutex::new(CommitGroup {
                last_commit,
                log: None,
                frame: Frame::new(),
            }),
            log,
            progress,
            wake: Mutex::new(Some(wake)),
            thread: Mutex::new(None),
            reclaimer: BackgroundThread::new("phyllo-reclaim"),
            checkpointer: BackgroundThread::new("phyllo-checkpoint"),
            closing: watch::Sender::new(false),
            database,
            file,
            observer: OnceLock::new(),
        });
        Ok((committer, woken))
    }

    /// Starts the sync thread. It calls `sync` when it is woken, or was not woken for some time, and
    /// `close` at the end, unless the store has failed.
    pub(super) fn start(
        self: &Arc<Self>,
        woken: Receiver<()>,
        mut sync: impl FnMut(&Self, &Runtime, Woken) -> Result<()> + Send + 'static,
        close: impl FnOnce(&Self, &Runtime) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let committer = self.clone();
        let run = move |runtime: &Runtime| {
            loop {
                let why = match woken.recv_timeout(IDLE_TIME_MAX) {
                    Ok(()) => {
                        while woken.try_recv().is_ok() {}
                        Woken::Commit
                    }
                    Err(RecvTimeoutError::Timeout) => Woken::Idle,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                sync(&committer, runtime, why)?;
            }
            committer.progress.check()?;
            close(&committer, runtime)
        };
        let committer = self.clone();
        let thread = thread::Builder::new()
            .name("phyllo-sync".to_owned())
            .spawn(move || committer.run_syncs(run))
            .map_err(fault)?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    fn run_syncs(&self, run: impl FnOnce(&Runtime) -> Result<()>) {
        let runtime = match tokio::runtime::Builder::new_current_thread().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                self.fail(&error.to_string());
                return;
            }
        };
        let failure = match catch_unwind(AssertUnwindSafe(|| run(&runtime))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the thread that syncs has panicked".to_owned(),
        };
        self.fail(&failure);
    }

    /// Syncs all commits and stops the threads. A transaction that is still open can no longer
    /// commit.
    pub(super) fn stop(&self) {
        self.reclaimer.stop();
        self.checkpointer.stop();
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

    /// Waits for the write lock, in the same queue as transactions. `None` if the store is closed
    /// while an open transaction holds the lock: commits that are not synced were not reported as
    /// successful.
    pub(super) fn writer_unless_closed(
        &self,
        runtime: &Runtime,
    ) -> Option<OwnedMutexGuard<WriteLock>> {
        let mut closing = self.closing.subscribe();
        runtime.block_on(async {
            tokio::select! {
                biased;
                writer = self.writer() => Some(writer),
                _ = closing.wait_for(|closing| *closing) => None,
            }
        })
    }

    /// Begins a redb transaction. The caller must hold the write lock.
    pub(super) fn begin_write(&self) -> Result<WriteTransaction> {
        let transaction = self.database.begin_write();
        transaction.map_err(|error| self.progress.fault(error))
    }

    pub(super) fn group(&self) -> MutexGuard<'_, CommitGroup> {
        lock(&self.group)
    }

    /// Commits a redb transaction without a sync, and adds its writes to the group. The caller holds
    /// the write lock.
    pub(super) fn commit_unsynced(
        &self,
        transaction: WriteTransaction,
        last_commit: u64,
        writes: &WriteList,
    ) -> Result<(), redb::CommitError> {
        let mut group = self.group();
        transaction.commit()?;
        group.last_commit = last_commit;
        if group.log.is_some() {
            group.frame.push(last_commit, writes);
        }
        Ok(())
    }

    /// Wakes the sync thread.
    pub(super) fn wake(&self) {
        if let Some(wake) = &*lock(&self.wake) {
            // Without a receiver the thread has ended because of a failure, which all callers get.
            let _sent = wake.send(());
        }
    }

    /// Fails the store permanently. redb writes nothing any more.
    pub(super) fn fail(&self, detail: &str) -> crate::error::Error {
        if let Some(file) = &self.file {
            file.block();
        }
        self.progress.fail(detail)
    }

    /// A snapshot of all commits in redb, up to `last_commit`.
    pub(super) fn snapshot(&self, last_commit: u64) -> Result<Published> {
        snapshot(&self.database, last_commit, self.progress.clone())
    }

    /// Publishes a snapshot. Everything in it is synced.
    pub(super) fn publish(&self, published: Published) {
        let last_commit = published.last_commit;
        let published = Arc::new(published);
        {
            let _guard = lock(&self.publishing);
            // A checkpoint may have published later commits meanwhile.
            if self.published.load().last_commit <= last_commit {
                self.published.store(published);
                self.published_commits.send_replace(last_commit);
            }
        }
        self.progress.advance(last_commit);
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
