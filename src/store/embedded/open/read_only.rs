//! Opens a store without a change to its files, so that it can be read on a full disk.
//!
//! redb writes when it opens a file, and more if the store was not closed. These writes stay in
//! memory ([`DeferredFile`]). The commits that only the write-ahead log has are applied to a
//! [`View`], also in memory, as they were before the crash.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use redb::{Builder, Database, StorageBackend};
use tokio::sync::watch;

use super::super::commit::{Progress, Published};
use super::super::deferred_file::DeferredFile;
use super::super::log::{LogDirectory, LogFiles, Recovery, check_leftover, error_of};
use super::super::tables::redb_panics::OpenDatabase;
use super::super::tables::view::{Base, View};
use super::super::{EmbeddedOptions, files};
use super::sessions::sessions;
use super::{FILE_NAME, PreparedFile, attempt, existing, prepare};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Backup, Read, Store, StoreLimits, Transaction};

/// A store in a directory that this process has locked, and only reads.
pub struct EmbeddedReader {
    published: Arc<Published>,
    /// The number of the last commit, which never changes.
    commits: watch::Sender<u64>,
    // Dropped last: it holds the lock of the file.
    _database: OpenDatabase,
}

impl EmbeddedReader {
    /// Opens an existing store. Nothing in the directory is written, except that the rights of
    /// other users are removed. While a store that was not closed cleanly is read, `repairing` is
    /// called with the progress, from 0 to 1.
    ///
    /// # Errors
    /// As [`Embedded::open`](super::super::Embedded::open).
    pub fn open(
        directory: &Path,
        options: EmbeddedOptions,
        repairing: impl Fn(f64) + Send + 'static,
    ) -> Result<Self> {
        let path = directory.join(FILE_NAME);
        files::narrow_at(
            &directory
                .canonicalize()
                .unwrap_or_else(|_| directory.to_owned()),
        );
        let log = LogDirectory::new(directory);
        attempt(&path.display().to_string(), || {
            let mut builder = Builder::new();
            builder
                .set_cache_size(options.cached_page_bytes())
                .set_repair_callback(move |session| repairing(session.progress()));
            Self::read(&builder, &existing(&path)?, &log)
        })
    }

    /// A reader of a database whose last commit has this number.
    pub(crate) fn of(database: Database, last_commit: u64) -> Result<Self, redb::Error> {
        let base = Base::open(&database, last_commit).map_err(|error| unreadable(&error))?;
        Self::with(View::new(Arc::new(base)), database)
    }

    fn with(view: View, database: Database) -> Result<Self, redb::Error> {
        let last_commit = view.last_commit;
        let sessions = sessions(&database, None)?;
        let published = Published::new(view, Progress::new(last_commit), sessions);
        Ok(Self {
            published: Arc::new(published),
            commits: watch::Sender::new(last_commit),
            _database: database.into(),
        })
    }

    /// A reader of a custom storage backend and custom files of a log. Tests use it to inject
    /// faults.
    ///
    /// # Errors
    /// As [`EmbeddedReader::open`].
    pub fn with_log(backend: impl StorageBackend, log: &dyn LogFiles) -> Result<Self> {
        attempt("on the backend", || {
            Self::read(&Builder::new(), &DeferredFile::on(backend)?, log)
        })
    }

    fn read(
        builder: &Builder,
        file: &DeferredFile,
        log: &dyn LogFiles,
    ) -> Result<Self, redb::Error> {
        let prepared = prepare(builder.create_with_backend(file.clone())?)?;
        // redb also writes when it closes a file.
        file.block();
        let view = recovered(&prepared, log)?;
        Self::with(view, prepared.database)
    }
}

/// The state of the store with the commits that only the log has.
fn recovered(prepared: &PreparedFile, log: &dyn LogFiles) -> Result<View, redb::Error> {
    let last_commit = prepared.last_commit;
    let base = Base::open(&prepared.database, last_commit).map_err(|error| unreadable(&error))?;
    let mut view = View::new(Arc::new(base));
    let Some(place) = prepared.log() else {
        check_leftover(log, last_commit).map_err(error_of)?;
        return Ok(view);
    };
    let mut recovery = Recovery::begin(log, place, last_commit).map_err(error_of)?;
    while let Some(commits) = recovery.next().map_err(error_of)? {
        for mut commit in commits {
            let mut changed = view.clone();
            if !changed.apply(&mut commit.writes)? {
                // Such commits are written to redb, not to the log.
                let what = "its write-ahead log has a commit that belongs into its tables";
                return Err(redb::Error::Corrupted(what.to_owned()));
            }
            view.commit(changed, commit.number);
        }
    }
    Ok(view)
}

fn unreadable(error: &Error) -> redb::Error {
    redb::Error::Io(std::io::Error::other(error.to_string()))
}

#[async_trait]
impl Store for EmbeddedReader {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        Ok(self.published.clone())
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        Err(Error::new(
            ErrorKind::Unavailable,
            "the store is open for reading only",
        ))
    }

    fn limits(&self) -> StoreLimits {
        StoreLimits::default()
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn commits(&self) -> Option<watch::Receiver<u64>> {
        Some(self.commits.subscribe())
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn failed(&self) -> Error {
        self.published.progress.failed().await
    }

    async fn backup(&self) -> Result<Backup> {
        let published = self.published.clone();
        Ok(Backup::new(published.last_commit(), published))
    }
}
