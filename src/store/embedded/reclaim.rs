//! The thread that deletes the pairs under tombstones (`tables/tombstones.rs`). Each transaction deletes
//! one portion. Pauses between them leave most of the time to other writers.
//!
//! Deleting hidden pairs changes nothing that can be read. So these transactions have no commit
//! number and no record in the log: after a crash, the pairs are deleted again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use redb::{Database, Durability, ReadableDatabase, TableError, WriteTransaction};
use tokio::sync::{Notify, OwnedMutexGuard, oneshot};
use tokio::time::sleep;

use super::commit::group::log_place;
use super::commit::{Committer, TableWriter};
use super::tables::{PAIRS, TOMBSTONES, fault, tombstones};
use crate::error::Result;
use crate::limits::{RECLAIM_PAUSE_FACTOR, RECLAIM_PAUSE_MIN};

/// While there is a log, a checkpoint follows this many portions, so that the pages that they free
/// are used again.
const PORTIONS_PER_CHECKPOINT: u64 = 16;

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
    for number in 1_u64.. {
        let tables = committer.table_writer().await;
        if committer.progress.check().is_err() || !tables.has_tombstones {
            return Ok(());
        }
        if committer.check_space().is_err() {
            // The checkpoint that waits for space wakes this thread.
            return Ok(());
        }
        let begun = Instant::now();
        let logged = portion(committer, tables)?;
        if logged && (number % PORTIONS_PER_CHECKPOINT == 0) {
            committer.checkpointer.wake();
        }
        let pause = begun.elapsed() * RECLAIM_PAUSE_FACTOR;
        sleep(pause.max(RECLAIM_PAUSE_MIN)).await;
    }
    Ok(())
}

/// Deletes the pairs under all tombstones of a store that is not in use, and moves its pages to the
/// beginning of the file, which is then cut off. After a crash, the next opening reads the whole
/// file; no data is lost.
///
/// # Errors
/// `UNAVAILABLE`: the file cannot be read or written.
pub(super) fn compact(database: &mut Database) -> Result<()> {
    while let Some(left) = delete_portion(database)? {
        if !left {
            break;
        }
    }
    while database.compact().map_err(fault)? {}
    Ok(())
}

/// Deletes one portion in a durable transaction. Returns whether tombstones are left. `None` if there
/// were none.
fn delete_portion(database: &Database) -> Result<Option<bool>> {
    match database.begin_read().map_err(fault)?.open_table(TOMBSTONES) {
        Ok(_) => {}
        Err(TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(error) => return Err(fault(error)),
    }
    let transaction = database.begin_write().map_err(fault)?;
    let left = reclaim_in(&transaction)?;
    transaction.commit().map_err(fault)?;
    Ok(Some(left))
}

fn reclaim_in(transaction: &WriteTransaction) -> Result<bool> {
    let mut pairs = transaction.open_table(PAIRS).map_err(fault)?;
    let mut tombstones = transaction.open_table(TOMBSTONES).map_err(fault)?;
    tombstones::reclaim(&mut pairs, &mut tombstones).map_err(fault)
}

/// Deletes one portion in a transaction of its own. Returns whether a checkpoint has to make it
/// durable: without a log, the transaction is durable itself.
fn portion(committer: &Committer, mut tables: OwnedMutexGuard<TableWriter>) -> Result<bool> {
    let mut transaction = committer.database.begin_write().map_err(fault)?;
    let left = reclaim_in(&transaction)?;
    let (log, base) = {
        let group = committer.group();
        (group.log.clone(), group.view.base().last_commit)
    };
    if log.is_none() {
        committer.commit_durably(transaction, base, log_place(None))?;
        tables.has_tombstones = left;
        return Ok(false);
    }
    transaction
        .set_durability(Durability::None)
        .map_err(fault)?;
    transaction.commit().map_err(fault)?;
    tables.has_tombstones = left;
    if !left {
        committer.checkpointer.wake();
    }
    Ok(true)
}
