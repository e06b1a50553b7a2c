//! Files that are reloaded when they change, or on request, without a restart.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::limits::{WATCH_PERIOD, WATCHED_FILE_BYTES_MAX};

/// What some files say. When one of them changes they are read anew; if they then say nothing
/// that can be read, what they said before stays in force, and the log tells why.
pub(crate) struct ReloadedFile<T> {
    files: Vec<Watch>,
    read: ParseFiles<T>,
    current: ArcSwap<T>,
    /// What was last seen in them, readable or not.
    seen: Mutex<Seen>,
}

/// Makes something of the contents of the files, which come in the order of their paths.
type ParseFiles<T> = fn(&[Vec<u8>]) -> Result<T>;

/// The digest of the files' contents; or why they cannot be read.
type Seen = Result<[u8; 32], String>;

/// A file to watch.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) path: PathBuf,
    /// Whether it holds a secret, so that only its owner should be able to open it.
    pub(crate) secret: bool,
}

impl<T: Send + Sync + 'static> ReloadedFile<T> {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// `UNAVAILABLE`: one of them cannot be read. What `read` fails with.
    pub(crate) fn new(files: Vec<Watch>, read: ParseFiles<T>) -> Result<Self> {
        let contents = contents(&files)?;
        let value = read(&contents)?;
        warn_of_open(&files);
        Ok(Self {
            current: ArcSwap::from_pointee(value),
            seen: Mutex::new(Ok(digest(&contents))),
            files,
            read,
        })
    }

    /// What they say.
    pub(crate) fn current(&self) -> Arc<T> {
        self.current.load_full()
    }

    /// Looks for changes, for ever.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(WATCH_PERIOD).await;
            self.clone().look_aside(false).await;
        }
    }

    /// Reads the files at once, and logs what came of it.
    pub(crate) async fn reload(self: Arc<Self>) {
        self.look_aside(true).await;
    }

    async fn look_aside(self: Arc<Self>, asked: bool) {
        // A panic in there was printed; the next look may go better.
        let _looked = tokio::task::spawn_blocking(move || self.look(asked)).await;
    }

    /// Reads the files; uses and logs what they hold if that has changed since the last look. If
    /// `asked`, logs also that it has not.
    fn look(&self, asked: bool) {
        // Held to the end, so that of two looks at the same time the later one wins.
        let mut last = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = contents(&self.files);
        let seen = match &contents {
            Ok(contents) => Ok(digest(contents)),
            Err(error) => Err(error.to_string()),
        };
        let changed = *last != seen;
        if !changed && !asked {
            return;
        }
        *last = seen;
        match contents.and_then(|contents| (self.read)(&contents)) {
            Ok(_) if !changed => tracing::info!("{self} has not changed"),
            Ok(value) => {
                self.current.store(Arc::new(value));
                tracing::info!("{self} changed and holds from now on");
                warn_of_open(&self.files);
            }
            Err(error) => {
                tracing::error!(
                    "{self} cannot be used; what it said before stays in force: {error}"
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

/// Shows the files' names only.
impl<T> fmt::Debug for ReloadedFile<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReloadedFile").field(&self.files).finish()
    }
}

fn contents(files: &[Watch]) -> Result<Vec<Vec<u8>>> {
    files.iter().map(|file| read(&file.path)).collect()
}

fn read(path: &Path) -> Result<Vec<u8>> {
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

fn warn_of_open(files: &[Watch]) {
    for file in files.iter().filter(|file| file.secret) {
        let mode = file.path.metadata().map(|file| file.permissions().mode());
        if mode.is_ok_and(|mode| mode & 0o077 != 0) {
            tracing::warn!(
                "{} holds a secret and is open to others than its owner: chmod 600",
                file.path.display()
            );
        }
    }
}
