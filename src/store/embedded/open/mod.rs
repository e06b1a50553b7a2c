//! Opens and creates the store in a directory, and reports why it cannot be opened.

mod check_files;
mod pages;
pub(super) mod read_only;
pub(super) mod restore_backup;
pub(super) mod salvage;
pub(super) mod sessions;

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use redb::{Builder, Database, ReadableDatabase, StorageBackend};

use self::check_files::{check_no_log, check_not_empty};
use super::deferred_file::DeferredFile;
use super::log::{
    LogDirectory, LogFiles, LogPlace, Recovery, StoreLog, check_leftover, error_of, replay,
};
use super::tables::redb_panics::{OpenDatabase, quietly};
use super::tables::{ENGINE, LAST_COMMIT, PAIRS};
use super::{EmbeddedOptions, files};
use crate::error::{Error, ErrorKind, Result};

/// The file with the data, in a store's directory.
pub const FILE_NAME: &str = "phyllo.redb";
/// The name of that file until the store is complete.
const MAKING_NAME: &str = "phyllo.redb.new";

/// An opened store without faults.
pub(super) struct Opened {
    pub(super) database: OpenDatabase,
    pub(super) last_commit: u64,
    /// `None`: the store is not in a directory, and cannot have a log.
    pub(super) log: Option<StoreLog>,
    /// The file of the database, if the store can have a log. If the disk is full, it does not have all of
    /// the database yet.
    pub(super) file: Option<DeferredFile>,
    /// Whether the files of the log that was recovered are still there, because the disk is full.
    pub(super) has_recovered_log: bool,
    pub(super) options: EmbeddedOptions,
}

/// What the redb file says about the store.
struct PreparedFile {
    database: Database,
    last_commit: u64,
    /// Where the later commits are. `None`: the store may not have a log.
    log: Option<LogPlace>,
}

impl PreparedFile {
    /// The log, if the store has one now.
    fn log(&self) -> Option<LogPlace> {
        self.log.filter(|place| place.log != 0)
    }
}

pub(super) fn open(
    directory: &Path,
    options: EmbeddedOptions,
    repairing: impl Fn(f64) + Send + 'static,
) -> Result<Opened> {
    make_directory(directory, files::make_directory)?;
    let path = directory.join(FILE_NAME);
    files::narrow_at(
        &directory
            .canonicalize()
            .unwrap_or_else(|_| directory.to_owned()),
    );
    files::narrow_at(&directory.join(MAKING_NAME));
    let log = Box::new(LogDirectory::new(directory));
    attempt(&path.display().to_string(), || {
        let repairing = Rc::new(repairing);
        let repaired = repairing.clone();
        let mut builder = Builder::new();
        builder
            .set_cache_size(options.cached_page_bytes())
            .set_repair_callback(move |session| repaired(session.progress()));
        if !files::is_there(&path)
            && let Some((made, file)) = make(directory, &path, &builder)?
        {
            return Ok(made.opened(file, log, options));
        }
        let file = existing(&path)?;
        let prepared = prepare(builder.create_with_backend(file.clone())?)?;
        recover(prepared, file, log, options, |progress| repairing(progress))
    })
}

/// The file of an existing store.
fn existing(path: &Path) -> Result<DeferredFile, redb::Error> {
    let file = File::options().read(true).write(true).open(path)?;
    files::narrow(&file, path);
    check_not_empty(&file)?;
    Ok(DeferredFile::new(file)?)
}

/// Applies the log of a store that was not closed. If the log is damaged, nothing is changed. On a full
/// disk, an existing store is opened, too: what finds no space is in memory until there is space.
fn recover(
    mut prepared: PreparedFile,
    file: DeferredFile,
    log: Box<dyn LogFiles>,
    options: EmbeddedOptions,
    progress: impl Fn(f64),
) -> Result<Opened, redb::Error> {
    let last_commit = prepared.last_commit;
    if file.is_new() {
        check_leftover(&*log, last_commit).map_err(error_of)?;
        file.settle_new()?;
    } else if let Some(place) = prepared.log() {
        let mut recovery = Recovery::begin(&*log, place, last_commit).map_err(error_of)?;
        file.settle()?;
        if let Some(truncated) = recovery.truncated() {
            tracing::warn!("{truncated}");
        }
        let begun = Instant::now();
        prepared.last_commit = replay(&prepared.database, &mut recovery, last_commit, progress)?;
        let took = begun.elapsed();
        tracing::info!("the store was not closed; its write-ahead log was applied in {took:?}");
    } else {
        check_leftover(&*log, last_commit).map_err(error_of)?;
        file.settle()?;
    }
    let has_recovered_log = file.missing_bytes().is_some();
    if !has_recovered_log && let Err(error) = log.remove() {
        // The log has ended, and redb has its commits. A crash may have left its files.
        tracing::warn!("the files of the write-ahead log cannot be removed: {error}");
    }
    Ok(Opened {
        has_recovered_log,
        ..prepared.opened(file, log, options)
    })
}

/// A new store, and its file.
type Made = (PreparedFile, DeferredFile);

/// Creates a store. `None` if another process created it first.
fn make(directory: &Path, path: &Path, builder: &Builder) -> Result<Option<Made>, redb::Error> {
    let Some(made) = begin(directory, path, builder)? else {
        return Ok(None);
    };
    give_name(directory, path)?;
    Ok(Some(made))
}

/// Creates a store under a temporary name, which a crash may leave behind incomplete. `None` if
/// another process has created the store in the meantime.
fn begin(directory: &Path, path: &Path, builder: &Builder) -> Result<Option<Made>, redb::Error> {
    check_no_log(directory, path)?;
    let making = directory.join(MAKING_NAME);
    let handle = match files::make_anew(&making) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Err(redb::Error::DatabaseAlreadyOpen);
        }
        made => made?,
    };
    let file = DeferredFile::new(handle.try_clone()?)?;
    let prepared = prepare(builder.create_with_backend(file.clone())?)?;
    // The file is locked now. Before that, another process could have replaced it.
    if !files::is_named(&handle, &making)? {
        return Err(redb::Error::DatabaseAlreadyOpen);
    }
    // Another process may have finished first.
    if files::is_there(path) {
        // No process creates the store any more, and a leftover file is harmless.
        let _removed = fs::remove_file(&making);
        return Ok(None);
    }
    file.settle_new()?;
    Ok(Some((prepared, file)))
}

/// Renames a store to its final name, after all of it is synced.
fn give_name(directory: &Path, path: &Path) -> io::Result<()> {
    fs::rename(directory.join(MAKING_NAME), path)?;
    sync_name(directory)
}

/// Creates a store in `directory`, which must not be a link. It gets its name with [`finish`].
pub(super) fn make_unnamed(directory: &Path, options: EmbeddedOptions) -> Result<Database> {
    make_directory(directory, files::make_own_directory)?;
    let path = directory.join(FILE_NAME);
    let mut builder = Builder::new();
    builder.set_cache_size(options.cached_page_bytes());
    let made = if files::is_there(&path) {
        None
    } else {
        let place = path.display().to_string();
        quietly(|| begin(directory, &path, &builder))
            .unwrap_or_else(|panic| Err(redb::Error::Corrupted(panic)))
            .map_err(|error| unavailable(&place, &error.to_string()))?
    };
    let made = made.ok_or_else(|| {
        let place = directory.display();
        Error::new(
            ErrorKind::AlreadyExists,
            format!("there is a store in {place} already; it was not changed"),
        )
    })?;
    Ok(made.0.database)
}

/// Renames the store of [`make_unnamed`], which the caller still has open.
pub(super) fn finish(directory: &Path) -> io::Result<()> {
    give_name(directory, &directory.join(FILE_NAME))
}

/// Removes the store of [`make_unnamed`], which the caller still has open.
pub(super) fn discard(directory: &Path) {
    // A leftover file is harmless.
    let _removed = fs::remove_file(directory.join(MAKING_NAME));
}

fn make_directory(directory: &Path, make: fn(&Path) -> io::Result<()>) -> Result<()> {
    make(directory).map_err(|error| {
        let why = format!("the directory cannot be made: {error}");
        unavailable(&directory.display().to_string(), &why)
    })
}

pub(super) fn on_backend(backend: impl StorageBackend) -> Result<Opened> {
    attempt("on the backend", || {
        let prepared = prepare(Builder::new().create_with_backend(backend)?)?;
        Ok(Opened {
            database: prepared.database.into(),
            last_commit: prepared.last_commit,
            log: None,
            file: None,
            has_recovered_log: false,
            options: EmbeddedOptions::default(),
        })
    })
}

pub(super) fn with_log(
    backend: impl StorageBackend,
    log: Box<dyn LogFiles>,
    options: EmbeddedOptions,
) -> Result<Opened> {
    attempt("on the backend", || {
        let mut builder = Builder::new();
        builder.set_cache_size(options.cached_page_bytes());
        let file = DeferredFile::on(backend)?;
        let prepared = prepare(builder.create_with_backend(file.clone())?)?;
        recover(prepared, file, log, options, |_| {})
    })
}

impl PreparedFile {
    fn opened(
        self,
        file: DeferredFile,
        log: Box<dyn LogFiles>,
        options: EmbeddedOptions,
    ) -> Opened {
        let log = StoreLog::new(log, options.log_segment_bytes, self.log.is_some());
        Opened {
            database: self.database.into(),
            last_commit: self.last_commit,
            log: Some(log),
            file: Some(file),
            has_recovered_log: false,
            options,
        }
    }
}

impl Opened {
    /// Checks that the store in `directory` was written completely. If the disk is full, nothing is lost.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the disk is full.
    pub(super) fn check_written(&self, directory: &Path) -> Result<()> {
        let written = self
            .file
            .as_ref()
            .map_or(Ok(()), DeferredFile::check_written);
        written.map_err(|error| {
            let why = format!("{error}; nothing is lost");
            unavailable(&directory.join(FILE_NAME).display().to_string(), &why)
        })
    }
}

/// Creates the tables of a new store, or reads the records of an existing one.
fn prepare(database: Database) -> Result<PreparedFile, redb::Error> {
    let read = database.begin_read()?;
    let mut log = None;
    let last_commit = if read.list_tables()?.next().is_none() {
        let transaction = database.begin_write()?;
        transaction.open_table(PAIRS)?;
        transaction.open_table(ENGINE)?.insert(LAST_COMMIT, 0)?;
        transaction.commit()?;
        0
    } else {
        read.open_table(PAIRS)?;
        let engine = read.open_table(ENGINE)?;
        log = LogPlace::read(&engine)?;
        let last_commit = engine.get(LAST_COMMIT)?.ok_or_else(|| {
            redb::Error::Corrupted("the number of the last commit is missing".to_owned())
        })?;
        last_commit.value()
    };
    Ok(PreparedFile {
        database,
        last_commit,
        log,
    })
}

/// Makes a file name durable: syncs the directory, and the directory above it.
fn sync_name(directory: &Path) -> io::Result<()> {
    let directory = directory.canonicalize()?;
    for directory in directory.ancestors().take(2) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Runs `open` and describes its error. redb panics on some kinds of damage.
pub(super) fn attempt<T>(place: &str, open: impl FnOnce() -> Result<T, redb::Error>) -> Result<T> {
    match quietly(open) {
        Ok(opened) => opened.map_err(|error| refused(place, &error)),
        Err(panic) => Err(damaged(place, &panic)),
    }
}

fn refused(place: &str, error: &redb::Error) -> Error {
    let why = match error {
        redb::Error::DatabaseAlreadyOpen => {
            "another process has locked it; if that is a Phyllo server, run this command with \
             the same --store, and it connects to the server"
                .to_owned()
        }
        redb::Error::Corrupted(what) => return damaged(place, what),
        redb::Error::TableDoesNotExist(_)
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. } => {
            return damaged(place, &error.to_string());
        }
        redb::Error::Io(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
            ) =>
        {
            return damaged(place, &error.to_string());
        }
        redb::Error::Io(error) => error.to_string(),
        redb::Error::UpgradeRequired(format) => {
            format!("it has the file format {format} of an older program")
        }
        other => other.to_string(),
    };
    unavailable(place, &why)
}

fn damaged(place: &str, what: &str) -> Error {
    let why = format!(
        "it is damaged, or not a Phyllo store ({what}). It is unchanged; restore it from a backup, or \
         export what is whole with `phyllo salvage`"
    );
    unavailable(place, &why)
}

fn unavailable(place: &str, why: &str) -> Error {
    let message = format!("the store {place} cannot be opened: {why}");
    Error::new(ErrorKind::Unavailable, message)
}
