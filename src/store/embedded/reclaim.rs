//! The thread that deletes the pairs under tombstones (`tombstones.rs`). Each transaction deletes
//! one portion. Pauses between them leave most of the time to other writers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use redb::Durability;
use tokio::sync::{Notify, OwnedMutexGuard, oneshot};
use tokio::time::sleep;

use super::commit::{Committer, WriteLock};
use super::tables::{ENGINE, LAST_COMMIT, PAIRS, TOMBSTONES, fault};
use super::tombstones;
use crate::error::Result;
use crate::limits::{RECLAIM_PAUSE_FACTOR, RECLAIM_PAUSE_MIN};

/// Starts the thread. It begins with the tombstones that the store already has.
///
/// # Errors
/// `UNAVAILABLE`: the thread cannot be started.
pub(super) fn start(committer: &Arc<Committer>) -> Result<()> {
    let reclaiming = committer.clone();
    let run = move |woken: &Notify, stopped| run(&reclaiming, woken, stopped);
    committer.reclaimer.start(run)
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

/// Returns only on failure.
async fn reclaim_when_woken(committer: &Arc<Committer>, woken: &Notify) -> Result<()> {
    loop {
        reclaim_all(committer).await?;
        woken.notified().await;
    }
}

/// Deletes portions until no tombstone is left.
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

/// Deletes one portion in a transaction with its own commit number. The transaction is durable and
/// syncs all earlier commits, so it does not depend on the sync thread when the store is closed.
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
