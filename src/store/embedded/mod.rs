//! The embedded engine: redb, in one file of a directory.
//!
//! One writer at a time; readers on snapshots. A transaction commits without a sync; one
//! immediate commit then syncs all that wait (group commit). Success is reported only after that
//! sync, and readers share the snapshot that is published right after it, so nothing unsynced is
//! ever shown. A failed sync is fatal: the store stops answering and says why.
//!
//! A range of many pairs is cleared by a tombstone (`tombstones`), which hides them from then on;
//! they are removed in the background (`reclaim`).

pub(crate) mod backup;
mod commit;
mod deferred_file;
mod files;
pub(crate) mod open;
mod options;
mod progress;
mod reclaim;
mod reclaimer;
mod table;
mod tables;
mod tombstones;
mod transaction;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Backup, Batch, MultiRange, RangeRead, Read, Store, StoreLimits, Transaction};
use crate::error::{Error, Result};
use crate::limits::RANGES_AT_A_TIME;
pub use backup::BackupDirectory;
use commit::{Committer, Published};
pub use open::FILE_NAME;
pub use options::EmbeddedOptions;

/// A store in a directory that this process holds alone.
pub struct Embedded {
    committer: Arc<Committer>,
}

impl Embedded {
    /// Opens the store in `directory`, which is created if need be. `repairing` is called with
    /// the progress, from 0 to 1, while a store that was not closed is put in order.
    ///
    /// # Errors
    /// `UNAVAILABLE`: another process holds it, it cannot be written, or is damaged. The message
    /// says which; the data is untouched.
    pub fn open(
        directory: &Path,
        options: EmbeddedOptions,
        repairing: impl Fn(f64) + Send + 'static,
    ) -> Result<Self> {
        Self::new(open::open(directory, options, repairing)?)
    }

    /// The engine on a storage backend of one's own; tests make it fail.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the backend does not hold a store, or fails.
    pub fn on_backend(backend: impl redb::StorageBackend) -> Result<Self> {
        Self::new(open::on_backend(backend)?)
    }

    fn new(opened: open::Opened) -> Result<Self> {
        let embedded = Self {
            committer: Committer::start(opened)?,
        };
        reclaim::start(&embedded.committer)?;
        Ok(embedded)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.committer.stop();
    }
}

#[async_trait]
impl Store for Embedded {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        Ok(self.committer.published()?)
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        Ok(Arc::new(self.committer.begin().await?))
    }

    fn limits(&self) -> StoreLimits {
        StoreLimits::default()
    }

    /// The engine holds the lock on its file.
    fn is_exclusive(&self) -> bool {
        true
    }

    async fn ready(&self) -> Result<()> {
        self.committer.published().map(|_| ())
    }

    async fn failed(&self) -> Error {
        self.committer.progress.failed().await
    }

    async fn backup(&self) -> Result<Backup> {
        let published = self.committer.published()?;
        Ok(Backup::new(published.last_commit, published))
    }
}

#[async_trait]
impl Read for Published {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        table::get(self.tables(), key).map_err(|error| self.progress.fault(error))
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        if range.resumed {
            tokio::task::yield_now().await;
        }
        table::range(self.tables(), range).map_err(|error| self.progress.fault(error))
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        let mut round = MultiRange::of(ranges.len());
        for ranges in ranges.chunks(RANGES_AT_A_TIME) {
            if !round.batches.is_empty() {
                tokio::task::yield_now().await;
            }
            let fault = |error| self.progress.fault(error);
            table::ranges(self.tables(), ranges, &mut round, |_| Ok(()), fault);
        }
        round
    }
}
