//! Reloads files when they change, or on request, without a restart.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::limits::{WATCH_PERIOD, WATCHED_FILE_BYTES_MAX};

/// A value parsed from a set of files. When a file changes, all are reloaded. If the new contents
/// are invalid, the previous value stays in effect and the error is logged.
pub(crate) struct ReloadedFile<T> {
    files: Vec<Watch>,
    read: ParseFiles<T>,
    current: ArcSwap<T>,
    /// What the last read found, whether or not it was valid.
    seen: Mutex<Seen>,
    /// Tells when another value is in effect.
    changed: watch::Sender<()>,
}

/// Parses the contents of the files, given in the order of their paths.
type ParseFiles<T> = fn(&[Vec<u8>]) -> Result<T>;

/// The digest of the files' contents, or why they cannot be read.
type Seen = Result<[u8; 32], String>;

/// A file to watch.
pub(crate) struct Watch {
    pub(crate) path: PathBuf,
    /// Whether contents of the file are a secret, so that only its owner should have access to it.
    pub(crate) secret: fn(&[u8]) -> bool,
}

impl<T: Send + Sync + 'static> ReloadedFile<T> {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// `UNAVAILABLE`: a file cannot be read. Errors of `read`.
    pub(crate) fn new(files: Vec<Watch>, read: ParseFiles<T>) -> Result<Self> {
        let contents = contents(&files)?;
        let value = read(&contents)?;
        warn_of_open(&files, &contents);
        Ok(Self {
            current: ArcSwap::from_pointee(value),
            seen: Mutex::new(Ok(digest(&contents))),
            changed: watch::Sender::new(()),
            files,
            read,
        })
    }

    /// The same, which also notifies `changed` when another value is in effect.
    pub(crate) fn telling(mut self, changed: &watch::Sender<()>) -> Self {
        self.changed = changed.clone();
        self
    }

    /// Returns the value in effect.
    pub(crate) fn current(&self) -> Arc<T> {
        self.current.load_full()
    }

    /// Tells when another value is in effect.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Checks for changes periodically. Never returns.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(WATCH_PERIOD).await;
            self.clone().reload_on_blocking_thread(false).await;
        }
    }

    /// Reads the files immediately and logs the outcome.
    pub(crate) async fn reload(self: Arc<Self>) {
        self.reload_on_blocking_thread(true).await;
    }

    async fn reload_on_blocking_thread(self: Arc<Self>, requested: bool) {
        // The panic hook has already reported a panic. The next read may succeed.
        let _ended = tokio::task::spawn_blocking(move || self.reload_if_changed(requested)).await;
    }

    /// Reads the files. If they changed since the last read, uses the new value and logs that. If
    /// `requested`, also logs that they did not change.
    fn reload_if_changed(&self, requested: bool) {
        // Held until the end, so that of two concurrent reads the later one wins.
        let mut last = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = contents(&self.files);
        let seen = match &contents {
            Ok(contents) => Ok(digest(contents)),
            Err(error) => Err(error.to_string()),
        };
        let changed = *last != seen;
        if !changed && !requested {
            return;
        }
        *last = seen;
        let read = contents.and_then(|contents| Ok(((self.read)(&contents)?, contents)));
        match read {
            Ok(_) if !changed => tracing::info!("{self} has not changed"),
            Ok((value, contents)) => {
                self.current.store(Arc::new(value));
                self.changed.send_replace(());
                tracing::info!("{self} changed and was reloaded");
                warn_of_open(&self.files, &contents);
            }
            Err(error) => {
                tracing::error!(
                    "{self} cannot be used; the previous version stays in effect: {error}"
                );
            }
        }
    }
}

impl<T> fmt::Display for ReloadedFile<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, file) in self.files.iter().enumerate() {
            let and = if at > 0 { " or " } else { "" };
            write!(f, "{and}{}", file.path.display())?;
        }
        Ok(())
    }
}

/// Shows only the file names.
impl<T> fmt::Debug for ReloadedFile<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths = self.files.iter().map(|file| &file.path);
        f.debug_set().entries(paths).finish()
    }
}

fn contents(files: &[Watch]) -> Result<Vec<Vec<u8>>> {
    files.iter().map(|file| read(&file.path)).collect()
}

/// Reads a file of limited size.
///
/// # Errors
/// `UNAVAILABLE`: it cannot be read, or is too large.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let unreadable = |why: &dyn fmt::Display| {
        let path = path.display();
        Error::unavailable(format!("{path} cannot be read: {why}"), "")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut bounded = file.take(WATCHED_FILE_BYTES_MAX as u64 + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() > WATCHED_FILE_BYTES_MAX {
        let why = format!("it has more than {WATCHED_FILE_BYTES_MAX} bytes");
        return Err(unreadable(&why));
    }
    Ok(bytes)
}

fn digest(contents: &[Vec<u8>]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for bytes in contents {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.finalize().into()
}

fn warn_of_open(files: &[Watch], contents: &[Vec<u8>]) {
    let secrets = files.iter().zip(contents);
    for (file, _) in secrets.filter(|(file, contents)| (file.secret)(contents)) {
        let mode = file.path.metadata().map(|file| file.permissions().mode());
        if mode.is_ok_and(|mode| mode & 0o077 != 0) {
            tracing::warn!(
                "{} contains a secret and is accessible to other users: run chmod 600",
                file.path.display()
            );
        }
    }
}
