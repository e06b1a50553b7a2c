//! Applies the commits of a recovered log to redb.

use std::time::{Duration, Instant};

use redb::{Database, Durability, ReadableDatabase, ReadableTableMetadata, TableError};

use super::super::tables::writes::{Clearing, WriteTables};
use super::super::tables::{ENGINE, LAST_COMMIT, TOMBSTONES};
use super::{Damage, LogPlace, Recovery};

/// Progress is reported only if the recovery takes longer than this.
const SILENT_TIME_MAX: Duration = Duration::from_millis(300);

/// Applies all commits in one durable commit, which also ends the log. Returns the number of the
/// last commit.
pub(crate) fn replay(
    database: &Database,
    recovery: &mut Recovery,
    mut last_commit: u64,
    progress: impl Fn(f64),
) -> Result<u64, redb::Error> {
    let begun = Instant::now();
    let has_tombstones = has_tombstones(database)?;
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_quick_repair(true);
    let mut written = WriteTables::open(&transaction, has_tombstones, Clearing::new(true))?;
    while let Some(commits) = recovery.next().map_err(error_of)? {
        for mut commit in commits {
            commit.writes.apply(&mut written)?;
            last_commit = commit.number;
        }
        if begun.elapsed() > SILENT_TIME_MAX {
            progress(recovery.progress());
        }
    }
    drop(written);
    let mut engine = transaction.open_table(ENGINE)?;
    engine.insert(LAST_COMMIT, last_commit)?;
    LogPlace::default().write(&mut engine)?;
    drop(engine);
    transaction.commit()?;
    Ok(last_commit)
}

fn has_tombstones(database: &Database) -> Result<bool, redb::Error> {
    match database.begin_read()?.open_table(TOMBSTONES) {
        Ok(tombstones) => Ok(!tombstones.is_empty()?),
        Err(TableError::TableDoesNotExist(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A damaged log is a damaged store.
pub(crate) fn error_of(damage: Damage) -> redb::Error {
    match damage {
        Damage::Damaged(what) => redb::Error::Corrupted(what),
        Damage::Io(error) => redb::Error::Io(error),
    }
}
