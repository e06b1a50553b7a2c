//! Opens stores: for a server, for a command, and for a copy.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{Instant, sleep};

use super::cluster;
use super::cluster::Clusters;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::outcome::failed;
use crate::cli::terminal::output::say;
use crate::database::{Database, LogSize};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{OPEN_TIME_MAX, STORE_RETRY_TIME, STORE_WAIT_TIME_MAX};
use crate::store::{Embedded, EmbeddedOptions, EmbeddedReader, FILE_NAME, Store};

/// The interval of checks whether a store has been released.
pub(super) const HELD_CHECK_TIME: Duration = Duration::from_millis(50);

/// What a command does with a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorePurpose {
    /// It reads an existing store.
    Read,
    /// It changes an existing store.
    Change,
    /// It changes a store, which it creates if there is none.
    Create,
}

/// Where the recovery of a store is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecoveryProgress {
    /// On standard error, for people.
    OnTerminal,
    /// In the log.
    InLog,
}

/// Opens a store for a server. No other process may hold a directory. The change log of a new store
/// keeps changes for `retention`.
///
/// # Errors
/// `UNAVAILABLE`: another process holds it, or it cannot be opened.
pub(crate) async fn open_to_serve(
    store: &StoreLocation,
    options: EmbeddedOptions,
    retention: Duration,
    progress: RecoveryProgress,
) -> Result<Database> {
    match store {
        StoreLocation::Directory(directory) => {
            let store = open_alone(directory, options, StorePurpose::Create, progress).await?;
            open_database(store, retention).await
        }
        StoreLocation::Cluster(file) => {
            let cluster = cluster::open(file.as_deref())?;
            wait_until_available(&cluster).await;
            open_database(Arc::new(cluster), retention).await
        }
    }
}

/// Waits until a store can be read, and writes to the log why it cannot.
async fn wait_until_available(store: &dyn Store) {
    let mut reported = String::new();
    while let Err(error) = store.snapshot().await {
        if reported != error.message() {
            tracing::warn!("the store is not available yet, waiting for it: {error}");
            error.message().clone_into(&mut reported);
        }
        sleep(STORE_RETRY_TIME).await;
    }
    if !reported.is_empty() {
        tracing::info!("the store is available now");
    }
}

/// Opens a store for a copy, without connecting to a server. No other process may hold a directory.
/// The change log of a new store keeps changes for `retention`.
///
/// # Errors
/// Errors of `DatabaseAccess::open`.
pub(crate) async fn open_to_copy(
    clusters: &mut Clusters,
    store: &StoreLocation,
    purpose: StorePurpose,
    retention: Duration,
) -> Result<Database> {
    match store {
        StoreLocation::Directory(directory) => {
            check_directory(directory)?;
            if purpose != StorePurpose::Create && is_missing(directory) {
                return Err(no_store(&directory.display()));
            }
            let (options, progress) = (EmbeddedOptions::default(), RecoveryProgress::OnTerminal);
            let store = open_alone(directory, options, purpose, progress).await?;
            open_database(store, retention).await
        }
        StoreLocation::Cluster(file) => {
            let cluster = clusters.open(file.as_deref())?;
            if purpose != StorePurpose::Create && !Database::is_in(&cluster).await? {
                return Err(no_store(store));
            }
            open_database(Arc::new(cluster), retention).await
        }
    }
}

/// Removes expired changes, and makes the file of a store smaller. Returns its size in bytes before and after.
///
/// # Errors
/// `NOT_FOUND`: there is no store. `UNAVAILABLE`: another process holds it, or it cannot be opened.
pub(crate) async fn compact(directory: &Path) -> Result<(u64, u64)> {
    check_directory(directory)?;
    if is_missing(directory) {
        return Err(no_store(&directory.display()));
    }
    let (options, progress) = (EmbeddedOptions::default(), RecoveryProgress::OnTerminal);
    // Waits for other commands, recovers the store, and checks its format.
    let store = open_alone(directory, options, StorePurpose::Change, progress).await?;
    let database = open_database(store, Duration::ZERO).await?;
    database.expire_changes(&mut LogSize::default()).await?;
    drop(database);
    // It was closed, so there is nothing to recover.
    Embedded::compact(directory, options, |_| {})
}

/// Opens the store in a directory once no other process holds it.
async fn open_alone(
    directory: &Path,
    options: EmbeddedOptions,
    purpose: StorePurpose,
    progress: RecoveryProgress,
) -> Result<Arc<dyn Store>> {
    check_directory(directory)?;
    let deadline = Instant::now() + STORE_WAIT_TIME_MAX;
    loop {
        if let Some(store) = open_unless_held(directory, options, purpose, progress).await? {
            return Ok(store);
        }
        // The holder may be a short command.
        if Instant::now() >= deadline {
            return Err(failed(format!(
                "another process holds the store {}: another server, or a command that is still \
                 running, such as an import",
                directory.display()
            )));
        }
        sleep(HELD_CHECK_TIME).await;
    }
}

/// Opens the store, or returns `None` if another process holds it.
///
/// # Errors
/// `UNAVAILABLE`: it cannot be opened.
pub(super) async fn open_unless_held(
    directory: &Path,
    options: EmbeddedOptions,
    purpose: StorePurpose,
    progress: RecoveryProgress,
) -> Result<Option<Arc<dyn Store>>> {
    if is_held(directory) {
        return Ok(None);
    }
    if let Ok(store) = open_store(directory, options, purpose, progress) {
        return Ok(Some(store));
    }
    // Another process may have taken the lock meanwhile, if only for its own check.
    sleep(HELD_CHECK_TIME).await;
    if is_held(directory) {
        return Ok(None);
    }
    open_store(directory, options, purpose, progress).map(Some)
}

/// Opens the database. If it is new, its change log keeps changes for `retention`.
///
/// # Errors
/// As [`Database::open`].
pub(crate) async fn open_database(store: Arc<dyn Store>, retention: Duration) -> Result<Database> {
    let deadline = Instant::now() + OPEN_TIME_MAX;
    Database::open_or_create(store, retention, deadline).await
}

/// Opens the store, and reports a recovery if the store was not closed. A command that only reads
/// changes no file, so that it needs no space on the disk.
fn open_store(
    directory: &Path,
    options: EmbeddedOptions,
    purpose: StorePurpose,
    progress: RecoveryProgress,
) -> Result<Arc<dyn Store>> {
    let bar = match progress {
        RecoveryProgress::OnTerminal => ProgressBar::no_length(),
        RecoveryProgress::InLog => ProgressBar::hidden(),
    };
    let repairing = report_recovery(bar.clone(), progress);
    let opened: Result<Arc<dyn Store>> = if purpose == StorePurpose::Read {
        EmbeddedReader::open(directory, options, repairing).map(|store| Arc::new(store) as _)
    } else {
        Embedded::open(directory, options, repairing).map(|store| Arc::new(store) as _)
    };
    bar.finish_and_clear();
    opened
}

/// Shows the progress of a recovery with a bar, or reports its begin.
fn report_recovery(bar: ProgressBar, progress: RecoveryProgress) -> impl Fn(f64) + Send + 'static {
    bar.set_style(
        ProgressStyle::with_template("{msg} {bar:30} {percent}%").expect("a valid template"),
    );
    move |done| {
        if bar.length().is_none() {
            bar.set_length(100);
            let message = "the store was not closed; recovering it";
            bar.set_message(message);
            match progress {
                RecoveryProgress::InLog => tracing::info!("{message}"),
                RecoveryProgress::OnTerminal if bar.is_hidden() => say(format_args!("{message}")),
                RecoveryProgress::OnTerminal => {}
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 100"
        )]
        bar.set_position((100.0 * done.clamp(0.0, 1.0)) as u64);
    }
}

/// Whether another process holds the store's lock.
fn is_held(directory: &Path) -> bool {
    let Ok(file) = File::open(directory.join(FILE_NAME)) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Whether there is no store in a directory.
pub(super) fn is_missing(directory: &Path) -> bool {
    !directory.join(FILE_NAME).exists()
}

/// Checks that the location of a store is not a file.
///
/// # Errors
/// `BAD_USER_INPUT`: it is a file, or anything else that is not a directory.
pub(crate) fn check_directory(place: &Path) -> Result<()> {
    let Ok(found) = fs::metadata(place) else {
        return Ok(());
    };
    if found.is_dir() {
        return Ok(());
    }
    let what = if found.is_file() {
        "is a file"
    } else {
        "is not a directory"
    };
    let hint = match place.parent() {
        Some(parent) if place.file_name().is_some_and(|name| name == FILE_NAME) => {
            let parent = if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            };
            format!("name the directory that has it, {}", parent.display())
        }
        _ => format!("a store is a directory with the file {FILE_NAME}"),
    };
    Err(Error::bad_input(format!(
        "the store {} {what}: {hint}",
        place.display()
    )))
}

/// The error of a command that needs a store.
pub(crate) fn no_store(place: &dyn std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!(
            "there is no store in {place}; `phyllo import` and `phyllo serve` create one, and \
             --store sets its location"
        ),
    )
}

/// The error of a command that waited too long for another process.
pub(super) fn held(directory: &Path) -> Error {
    failed(format!(
        "another process holds the store {} and does not share it: a command that is still \
         running, such as an import, or a server that is starting or stopping; try again later",
        directory.display()
    ))
}
