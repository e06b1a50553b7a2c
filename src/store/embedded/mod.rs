//! The embedded engine: a redb database in one file of a directory.
//!
//! There is one writer at a time, and readers use snapshots. Transactions commit in memory, to an
//! overlay over the tables of redb. One write to the log (`log/mod.rs`) then syncs all of them, while
//! the next ones execute (group commit, `commit/mod.rs`). Success is reported only after the sync. Readers
//! share the snapshot that is published after it, so unsynced data is never visible. A failed sync is
//! fatal: the store rejects all requests and reports the reason. From time to time a checkpoint writes
//! the overlay to redb, in a durable commit (`checkpoint.rs`).
//!
//! A large range is cleared by a tombstone, which hides its pairs (`tables/tombstones.rs`). A background
//! thread deletes the pairs later (`reclaim.rs`).

mod background;
mod checkpoint;
mod commit;
mod deferred_file;
mod files;
mod full_disk;
mod group_sync;
mod log;
pub(crate) mod open;
mod options;
mod reclaim;
mod tables;
mod transaction;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use commit::{Committer, Published};
use group_sync::GroupSync;
pub use log::{LOG_NAMES, LogFiles};
pub use open::FILE_NAME;
pub use open::read_only::EmbeddedReader;
pub use open::restore_backup::BackupDirectory;
pub use open::salvage::{LostKeys, Salvage};
pub use options::EmbeddedOptions;

use tokio::sync::watch;

use self::tables::{fault, pairs, portions};
use super::{
    Backup, Batch, EngineObserver, MultiRange, RangeRead, Read, Sessions, SnapshotCache, Store,
    StoreLimits, Transaction,
};
use crate::budget::block_thread;
use crate::error::{Error, Result};
use crate::key::Version;

/// A store in a directory that this process has locked. [`EmbeddedReader`] only reads one.
pub struct Embedded {
    committer: Arc<Committer>,
}

impl Embedded {
    /// Opens the store in `directory`, which is created if necessary. While a store that was not
    /// closed cleanly is repaired, `repairing` is called with the progress, from 0 to 1.
    ///
    /// # Errors
    /// `UNAVAILABLE`: another process has locked it, it cannot be written, or it is damaged. The
    /// message has the reason; the data is unchanged.
    pub fn open(
        directory: &Path,
        options: EmbeddedOptions,
        repairing: impl Fn(f64) + Send + 'static,
    ) -> Result<Self> {
        Self::new(open::open(directory, options, repairing)?)
    }

    /// Makes the file of the store in `directory` as small as its data, which no process may have
    /// open. Returns the sizes of the file in bytes before and after. `repairing` is as for
    /// [`Embedded::open`].
    ///
    /// # Errors
    /// As [`Embedded::open`].
    pub fn compact(
        directory: &Path,
        options: EmbeddedOptions,
        repairing: impl Fn(f64) + Send + 'static,
    ) -> Result<(u64, u64)> {
        let bytes = || std::fs::metadata(directory.join(FILE_NAME)).map(|file| file.len());
        let mut opened = open::open(directory, options, repairing)?;
        opened.check_written(directory)?;
        let before = bytes().map_err(fault)?;
        reclaim::compact(&mut opened.database)?;
        drop(opened);
        Ok((before, bytes().map_err(fault)?))
    }

    /// An engine with an empty store in memory.
    ///
    /// # Errors
    /// `UNAVAILABLE`: its threads cannot be started.
    pub fn in_memory() -> Result<Self> {
        Self::on_backend(redb::backends::InMemoryBackend::new())
    }

    /// An engine on a custom storage backend. Tests use it to inject faults.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the backend fails or does not contain a store.
    pub fn on_backend(backend: impl redb::StorageBackend) -> Result<Self> {
        Self::new(open::on_backend(backend)?)
    }

    /// An engine on a custom storage backend and custom files of a log. Tests use it to inject
    /// faults.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the backend or the files fail, or do not contain a store.
    pub fn with_log(
        backend: impl redb::StorageBackend,
        log: impl LogFiles,
        options: EmbeddedOptions,
    ) -> Result<Self> {
        Self::new(open::with_log(backend, Box::new(log), options)?)
    }

    fn new(opened: open::Opened) -> Result<Self> {
        let (committer, woken) = Committer::new(opened)?;
        // Dropped on an error, which stops the threads.
        let embedded = Self { committer };
        let mut groups = GroupSync::new();
        let sync =
            move |committer: &Committer, runtime: &_, why| groups.sync(committer, runtime, why);
        embedded.committer.start(woken, sync, Committer::close)?;
        checkpoint::start(&embedded.committer)?;
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

    /// The engine has locked its file.
    fn is_exclusive(&self) -> bool {
        true
    }

    fn commits(&self) -> Option<watch::Receiver<u64>> {
        Some(self.committer.published_commits.subscribe())
    }

    async fn ready(&self) -> Result<()> {
        block_thread(|| self.committer.check_writable())
    }

    async fn failed(&self) -> Error {
        self.committer.progress.failed().await
    }

    fn lacks_log(&self) -> bool {
        let log = self.committer.log.as_ref();
        log.is_some_and(|log| !log.is_enabled())
    }

    async fn enable_log(&self) -> Result<()> {
        self.committer.enable_log().await
    }

    fn observe(&self, observer: Arc<dyn EngineObserver>) {
        // Another observer was first.
        let _set = self.committer.observer.set(observer);
    }

    async fn backup(&self) -> Result<Backup> {
        let published = self.committer.published()?;
        Ok(Backup::new(published.last_commit(), published))
    }
}

#[async_trait]
impl Read for Published {
    async fn version(&self) -> Result<Version> {
        Ok(transaction::version(self.last_commit()))
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        pairs::get(self.tables(), key).map_err(|error| self.progress.fault(error))
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        portions::range(range, |portion| {
            let read = portion.read(self.tables());
            read.map_err(|error| self.progress.fault(error))
        })
        .await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        portions::ranges(ranges, |portion| {
            let fault = |error| self.progress.fault(error);
            portion.read(self.tables(), |_| Ok(()), fault);
            Ok(())
        })
        .await
    }

    fn cache(&self) -> Option<&SnapshotCache> {
        Some(&self.cache)
    }

    fn sessions(&self) -> Option<&Sessions> {
        Some(&self.sessions)
    }
}
