//! Group commit: who may write, when commits are synced, and what readers see.
//!
//! A sync takes far longer than a small transaction. If each transaction synced, the number of
//! syncs per second would limit the writes. And redb copies all pages that a transaction changes. So
//! a commit has three phases:
//!
//! 1. **Commit in memory.** A transaction holds the [`WriteLock`] from its begin to its commit
//!    (`transaction.rs`). It changes a [`View`] of its own: an overlay over redb's tables. Its commit
//!    makes this the latest view, adds its writes to the [`CommitGroup`], takes the next commit
//!    number, releases the lock, and wakes the sync thread. The next transaction starts at once and
//!    reads these writes. An abort only drops the view.
//! 2. **Sync.** The thread `phyllo-sync` takes the group, together with the view of exactly these
//!    commits. It writes the group to the log as one frame, syncs it, and publishes the view. All
//!    transactions that wait for a number up to this one now report success. Meanwhile other
//!    transactions execute and form the next group.
//! 3. **Checkpoint.** From time to time, a thread writes the changes of many commits to redb in one
//!    durable transaction (`checkpoint.rs`), while others continue on a new overlay (`group.rs`). The
//!    views then have a new base, and the log before it is free.
//!
//! redb always has a durable state of the store, and a view has the changes since then. A store
//! without a log syncs each group by a checkpoint. So does a store whose log has not begun in this
//! process: a log begins with the second group, because short commands need none. A transaction that
//! is too large for an overlay writes to redb itself, in a durable transaction that has the latest
//! overlay, too.
//!
//! Readers only see the published view, so unsynced data never leaves the process. A
//! transaction does read unsynced commits. Therefore a read-only commit and an abort also wait
//! until everything that the transaction could read is synced.
//!
//! After a failed sync or commit it is unknown what the files contain. The store then fails
//! permanently ([`Progress`]): all waiting and later calls return the same error until the store is
//! reopened. redb can no longer write, so that it does not commit what the log does not have.
//!
//! A task that holds the write lock may wait for the [`TableWriter`], but not the other way around.

pub(super) mod group;
mod pace;
mod progress;
mod room;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use redb::ReadOnlyTable;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard, watch};

use self::group::CommitGroup;
use self::pace::NextBegin;
pub(super) use self::progress::Progress;
use super::EmbeddedOptions;
use super::background::{BackgroundThread, lock};
use super::deferred_file::DeferredFile;
use super::log::StoreLog;
use super::open::Opened;
use super::open::sessions::{CurrentSession, sessions};
use super::tables::pairs::Tables;
use super::tables::redb_panics::OpenDatabase;
use super::tables::view::{Base, View};
use super::tables::writes::Clearing;
use super::tables::{Bytes, fault};
use crate::error::Result;
use crate::store::{EngineObserver, Sessions, SnapshotCache};

/// After this time without a commit, a checkpoint is made, so that reads need no overlay, and the
/// next opening has nothing to replay.
const IDLE_TIME_MAX: Duration = Duration::from_secs(1);

/// The view that readers share. Everything in it is synced.
pub(super) struct Published {
    view: View,
    pub(super) progress: Progress,
    pub(super) cache: SnapshotCache,
    pub(super) sessions: Sessions,
}

impl Published {
    /// A view that is synced.
    pub(super) fn new(view: View, progress: Progress, sessions: Sessions) -> Self {
        Self {
            view,
            progress,
            sessions,
            cache: SnapshotCache::default(),
        }
    }

    pub(super) fn tables(&self) -> Tables<'_, ReadOnlyTable<Bytes, Bytes>> {
        self.view.tables()
    }

    /// The number of the last commit in the view.
    pub(super) fn last_commit(&self) -> u64 {
        self.view.last_commit
    }
}

/// The write lock, which one transaction holds at a time.
pub(super) struct WriteLock {
    /// The number of the last commit, synced or not.
    pub(super) last_commit: u64,
}

/// The right to write to redb.
pub(super) struct TableWriter {
    /// Whether redb has tombstones.
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

pub(super) struct Committer {
    published: ArcSwap<Published>,
    /// The number of the last published commit.
    pub(super) published_commits: watch::Sender<u64>,
    /// The latest base. Locked while a view is published.
    publishing: Mutex<Arc<Base>>,
    writer: Arc<AsyncMutex<WriteLock>>,
    table_writer: Arc<AsyncMutex<TableWriter>>,
    /// Notified when commits have been written to redb or to the log, the disk is full, or the store has
    /// failed or is closed.
    pub(super) freed: Notify,
    group: Mutex<CommitGroup>,
    /// Whether writers are delayed.
    is_paced: AtomicBool,
    /// When the next delayed writer begins. Locked by the first one that waits.
    next_begin: AsyncMutex<NextBegin>,
    pub(super) log: Option<StoreLog>,
    pub(super) progress: Progress,
    wake: Mutex<Option<Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) reclaimer: BackgroundThread,
    pub(super) checkpointer: BackgroundThread,
    /// Whether the store is being closed.
    closing: watch::Sender<bool>,
    pub(super) database: OpenDatabase,
    /// The file of the database, if the store can have a log.
    pub(super) file: Option<DeferredFile>,
    /// Whether the files of the log that was recovered are still there, because the disk was full.
    pub(super) has_recovered_log: AtomicBool,
    pub(super) session: CurrentSession,
    /// All sessions of the store, with that of this process.
    pub(super) sessions: Sessions,
    pub(super) options: EmbeddedOptions,
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
            has_recovered_log,
            options,
        } = opened;
        let progress = Progress::new(last_commit);
        let (wake, woken) = channel();
        let base = Arc::new(Base::open(&database, last_commit)?);
        let view = View::new(base.clone());
        let session = CurrentSession::after(last_commit);
        let sessions = sessions(&database, Some(&session)).map_err(fault)?;
        let published = Published::new(view.clone(), progress.clone(), sessions.clone());
        let table_writer = TableWriter {
            has_tombstones: base.has_tombstones(),
        };
        if let Some(file) = &file {
            file.defer_when_full();
        }
        let committer = Arc::new(Self {
            published: ArcSwap::from_pointee(published),
            published_commits: watch::Sender::new(last_commit),
            publishing: Mutex::new(base),
            writer: Arc::new(AsyncMutex::new(WriteLock { last_commit })),
            table_writer: Arc::new(AsyncMutex::new(table_writer)),
            freed: Notify::new(),
            group: Mutex::new(CommitGroup::new(view)),
            is_paced: AtomicBool::new(false),
            next_begin: AsyncMutex::new(NextBegin::new(Instant::now())),
            log,
            progress,
            wake: Mutex::new(Some(wake)),
            thread: Mutex::new(None),
            reclaimer: BackgroundThread::new("phyllo-reclaim"),
            checkpointer: BackgroundThread::new("phyllo-checkpoint"),
            closing: watch::Sender::new(false),
            database,
            file,
            has_recovered_log: AtomicBool::new(has_recovered_log),
            session,
            sessions,
            options,
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
        if let Some(file) = &self.file {
            file.stop_waiting();
        }
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
        self.freed.notify_waiters();
    }

    pub(super) fn published(&self) -> Result<Arc<Published>> {
        self.progress.check()?;
        Ok(self.published.load_full())
    }

    /// Waits for the write lock. Waiting callers get it in order.
    pub(super) async fn writer(&self) -> OwnedMutexGuard<WriteLock> {
        self.writer.clone().lock_owned().await
    }

    /// Waits for the write lock, unless the disk is full: its holder may then wait for space.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the disk is full.
    pub(super) async fn writer_with_space(&self) -> Result<OwnedMutexGuard<WriteLock>> {
        let mut writer = pin!(self.writer());
        loop {
            // Created first, so that no notification is missed.
            let freed = self.freed.notified();
            self.check_space()?;
            tokio::select! {
                biased;
                writer = &mut writer => return Ok(writer),
                () = freed => {}
            }
        }
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

    /// Whether the engine may store tombstones on its own: the format of a store with a log makes
    /// programs reject it that do not know them.
    pub(super) fn keeps_tombstones(&self) -> bool {
        self.log.as_ref().is_some_and(StoreLog::is_enabled)
    }

    /// How the next transaction of redb clears ranges.
    pub(super) fn clearing(&self) -> Clearing {
        Clearing::new(self.keeps_tombstones())
    }

    /// Waits for the right to write to redb.
    pub(super) async fn table_writer(&self) -> OwnedMutexGuard<TableWriter> {
        self.table_writer.clone().lock_owned().await
    }

    pub(super) fn group(&self) -> MutexGuard<'_, CommitGroup> {
        lock(&self.group)
    }

    /// Wakes the sync thread.
    pub(super) fn wake(&self) {
        if let Some(wake) = &*lock(&self.wake) {
            // Without a receiver the thread has ended because of a failure, which all callers get.
            let _sent = wake.send(());
        }
    }

    /// Wakes those who wait for a checkpoint, because it cannot end.
    pub(super) fn wake_waiting(&self) {
        self.freed.notify_waiters();
    }

    /// Fails the store permanently. redb writes nothing any more.
    pub(super) fn fail(&self, detail: &str) -> crate::error::Error {
        if let Some(file) = &self.file {
            file.block();
        }
        let error = self.progress.fail(detail);
        self.freed.notify_waiters();
        error
    }

    /// Publishes a view. Everything in it is synced.
    pub(super) fn publish(&self, mut view: View) {
        let last_commit = view.last_commit;
        {
            let latest = lock(&self.publishing);
            view.rebase(&latest);
            // A checkpoint may have published later commits meanwhile.
            if self.published.load().last_commit() <= view.last_commit {
                self.store_published(view);
            }
        }
        self.progress.advance(last_commit);
    }

    /// Replaces the base of all views by one that was just written.
    pub(super) fn adopt(&self, base: Base) {
        let base = Arc::new(base);
        {
            let mut group = self.group();
            group.rebase(&base);
            self.set_paced(&group);
        }
        {
            let mut latest = lock(&self.publishing);
            let mut view = self.published.load().view.clone();
            view.rebase(&base);
            self.store_published(view);
            *latest = base.clone();
        }
        self.progress.advance(base.last_commit);
        self.freed.notify_waiters();
    }

    /// The caller has locked `publishing`.
    fn store_published(&self, view: View) {
        let last_commit = view.last_commit;
        let published = Published::new(view, self.progress.clone(), self.sessions.clone());
        self.published.store(Arc::new(published));
        self.published_commits.send_replace(last_commit);
    }
}
