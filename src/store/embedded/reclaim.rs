//! The thread that gives back the space of cleared ranges: it removes the pairs under tombstones
//! (`tombstones`), a portion in each transaction, and pauses between them so that other writers
//! have most of the time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use redb::Durability;
use tokio::sync::{Notify, OwnedMutexGuard, oneshot};
use tokio::time::sleep;

use super::commit::{Committer, WriteLock, lock};
use super::table::{ENGINE, LAST_COMMIT, PAIRS, fault};
use super::tombstones::{self, TOMBSTONES};
use crate::error::Result;
use crate::limits::{RECLAIM_PAUSE_FACTOR, RECLAIM_PAUSE_MIN};

/// The thread, while the store is open.
pub(super) struct Reclaimer {
    woken: Arc<Notify>,
    /// Dropped to end the thread.
    stop: Mutex<Option<oneshot::Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Reclaimer {
    pub(super) fn new() -> Self {
        Self {
            woken: Arc::new(Notify::new()),
            stop: Mutex::new(None),
            thread: Mutex::new(None),
        }
    }

    /// Starts the thread, which first looks for tombstones that the store was opened with.
    ///
    /// # Errors
    /// `UNAVAILABLE`: there can be no other thread.
    pub(super) fn start(&self, committer: &Arc<Committer>) -> Result<()> {
        let (stop, stopped) = oneshot::channel();
        *lock(&self.stop) = Some(stop);
        let (committer, woken) = (committer.clone(), self.woken.clone());
        let thread = thread::Builder::new()
            .name("phyllo-reclaim".to_owned())
            .spawn(move || run(&committer, &woken, stopped))
            .map_err(fault)?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    /// A commit has left a tombstone.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Ends the thread, between two portions.
    pub(super) fn stop(&self) {
        lock(&self.stop).take();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // A panic of that thread was printed when it happened.
            let _ended = thread.join();
        }
    }
}

fn run(committer: &Arc<Committer>, woken: &Notify, stopped: oneshot::Receiver<()>) {
    let reclaimed = catch_unwind(AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(fault)?;
        runtime.block_on(async {
            tokio::select! {
                failed = reclaim_when_woken(committer, woken) => failed,
                _ = stopped => Ok(()),
            }
        })
    }));
    let failure = match reclaimed {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the thread that removes cleared pairs has panicked".to_owned(),
    };
    committer.fail(&failure);
}

/// Ends with a failure only.
async fn reclaim_when_woken(committer: &Arc<Committer>, woken: &Notify) -> Result<()> {
    loop {
        reclaim_all(committer).await?;
        woken.notified().await;
    }
}

/// Removes portions until no tombstone is left.
async fn reclaim_all(committer: &Arc<Committer>) -> Result<()> {
    loop {
        let writer = committer.writer().await;
        if committer.progress.check().is_err() || !writer.has_tombstones {
            return Ok(());
        }
        let begun = Instant::now();
        portion(committer, writer)?;
        let pause = begun.elapsed() * RECLAIM_PAUSE_FACTOR;
        sleep(pause.max(RECLAIM_PAUSE_MIN)).await;
    }
}

/// One transaction, numbered as any other. It syncs itself and all before it, so that nobody waits
/// for the right to write on its behalf when the store is closed.
fn portion(committer: &Committer, mut writer: OwnedMutexGuard<WriteLock>) -> Result<()> {
    let number = writer.last_commit + 1;
    let mut transaction = committer.begin_write()?;
    let left = {
        let mut pairs = transaction.open_table(PAIRS).map_err(fault)?;
        let mut tombstones = transaction.open_table(TOMBSTONES).map_err(fault)?;
        tombstones::reclaim(&mut pairs, &mut tombstones).map_err(fault)?
    };
    let mut engine = transaction.open_table(ENGINE).map_err(fault)?;
    engine.insert(LAST_COMMIT, number).map_err(fault)?;
    drop(engine);
    transaction
        .set_durability(Durability::Immediate)
        .map_err(fault)?;
    transaction.commit().map_err(fault)?;
    writer.last_commit = number;
    writer.has_tombstones = left;
    committer.publish(writer)
}
