//! Writes a backup into a new store.

use std::path::{Path, PathBuf};

use redb::{Database, Durability, WriteTransaction};

use super::super::EmbeddedOptions;
use super::super::tables::pairs::set_ascending;
use super::super::tables::{ENGINE, LAST_COMMIT, PAIRS};
use super::{discard, finish, make_unnamed};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{BACKUP_CACHE_BYTES, BACKUP_COMMITS_SKIPPED};
use crate::store::Pairs;

/// A directory to which a backup is being written. It contains no store until
/// [`BackupDirectory::finish`]. Dropping it earlier removes the partial store.
pub struct BackupDirectory {
    directory: PathBuf,
    // Dropped before the database, whose file lock keeps other processes out.
    transaction: Option<WriteTransaction>,
    _database: Database,
}

impl BackupDirectory {
    /// Begins a store in `directory`, which is created if necessary.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`: the directory contains a store. `UNAVAILABLE`: it cannot be written, or
    /// another process is creating a store there.
    pub fn begin(directory: &Path) -> Result<Self> {
        let options = EmbeddedOptions {
            cache_bytes: BACKUP_CACHE_BYTES,
            ..EmbeddedOptions::default()
        };
        let database = make_unnamed(directory, options)?;
        let transaction = database.begin_write().map_err(unwritable)?;
        Ok(Self {
            directory: directory.to_owned(),
            transaction: Some(transaction),
            _database: database,
        })
    }

    /// Writes pairs. All their keys must be greater than the keys written before.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the pairs cannot be written.
    pub fn write(&mut self, pairs: &Pairs) -> Result<()> {
        let transaction = self.transaction.as_ref().ok_or_else(over)?;
        let mut table = transaction.open_table(PAIRS).map_err(unwritable)?;
        set_ascending(&mut table, pairs.iter()).map_err(unwritable)
    }

    /// Syncs the store and gives it its final name. Its commit numbers start far above
    /// `last_commit`. So versions that the original store assigns after the backup never equal
    /// versions of this store, and `ifVersion` cannot confuse them.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store cannot be written.
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
        finish(&self.directory).map_err(unwritable)
    }
}

impl Drop for BackupDirectory {
    fn drop(&mut self) {
        // After `finish` the file has another name.
        discard(&self.directory);
    }
}

fn unwritable(error: impl std::fmt::Display) -> Error {
    let message = format!("the backup cannot be written: {error}");
    Error::new(ErrorKind::Unavailable, message)
}

fn over() -> Error {
    Error::internal("the backup is already complete")
}
