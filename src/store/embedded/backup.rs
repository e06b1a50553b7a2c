//! A store that is filled with a backup.

use std::path::{Path, PathBuf};

use redb::{Database, Durability, WriteTransaction};

use super::super::Pairs;
use super::table::set_ascending;
use super::tables::{ENGINE, LAST_COMMIT, PAIRS};
use super::{EmbeddedOptions, open};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{BACKUP_CACHE_BYTES, BACKUP_COMMITS_SKIPPED};

/// A directory in which a backup is being written. It holds no store before
/// [`BackupDirectory::finish`]; dropped before that, what was written is removed.
pub struct BackupDirectory {
    directory: PathBuf,
    // Undone before the file is let go, which nobody else can write until then.
    transaction: Option<WriteTransaction>,
    _database: Database,
}

impl BackupDirectory {
    /// Begins a store in `directory`, which is created if need be.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`: there is a store in it. `UNAVAILABLE`: it cannot be written, or another
    /// process makes a store there.
    pub fn begin(directory: &Path) -> Result<Self> {
        let options = EmbeddedOptions {
            cache_bytes: BACKUP_CACHE_BYTES,
        };
        let database = open::make_unnamed(directory, options)?;
        let transaction = database.begin_write().map_err(unwritable)?;
        Ok(Self {
            directory: directory.to_owned(),
            transaction: Some(transaction),
            _database: database,
        })
    }

    /// Writes pairs, whose keys are behind those of all before.
    ///
    /// # Errors
    /// `UNAVAILABLE`: they cannot be written.
    pub fn write(&mut self, pairs: &Pairs) -> Result<()> {
        let transaction = self.transaction.as_ref().ok_or_else(over)?;
        let mut table = transaction.open_table(PAIRS).map_err(unwritable)?;
        set_ascending(&mut table, pairs.iter()).map_err(unwritable)
    }

    /// Puts the store in its place, once all of it is on the disk. Commits to it will number from
    /// far above `last_commit`: the versions that the original gives from the backup on are then
    /// none of its own, and `ifVersion` does not take one for the other.
    ///
    /// # Errors
    /// `UNAVAILABLE`: it cannot be written.
    pub fn finish(mut self, last_commit: u64) -> Result<()> {
        let mut transaction = self.transaction.take().ok_or_else(over)?;
        let last_commit = last_commit.saturating_add(BACKUP_COMMITS_SKIPPED);
        let mut engine = transaction.open_table(ENGINE).map_err(unwritable)?;
        let set = engine.insert(LAST_COMMIT, last_commit).map(drop);
        set.map_err(unwritable)?;
        drop(engine);
        transaction
            .set_durability(Durability::Immediate)
            .map_err(unwritable)?;
        transaction.commit().map_err(unwritable)?;
        open::finish(&self.directory).map_err(unwritable)
    }
}

impl Drop for BackupDirectory {
    fn drop(&mut self) {
        // Finished, it has another name.
        open::discard(&self.directory);
    }
}

fn unwritable(error: impl std::fmt::Display) -> Error {
    let message = format!("the backup cannot be written: {error}");
    Error::new(ErrorKind::Unavailable, message)
}

fn over() -> Error {
    Error::internal("the backup is written already")
}
