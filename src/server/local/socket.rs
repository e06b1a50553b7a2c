//! The socket's file: where it is, who may open it, and how its path fits into the 100-odd bytes
//! that the path of a Unix domain socket can have.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::UnixListener;
use tokio::sync::Notify;

use crate::database::Database;
use crate::error::{Error, Result};
use crate::limits::{SOCKET_PATH_BYTES_MAX, STOP_TIME_MAX};

/// The socket's file in the directory of the store.
pub const SOCKET_NAME: &str = "phyllo.sock";
/// The directory in which it is made.
const PRIVATE_NAME: &str = "phyllo.new";

/// The local socket of a directory, bound. Dropped, it is removed: drop it while the store is
/// still held, so that it is not another server's.
pub struct LocalSocket {
    listener: Option<UnixListener>,
    path: PathBuf,
}

impl LocalSocket {
    /// Binds the local socket of `directory`, whose store the caller holds: what a server that was
    /// killed has left there is replaced.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the socket cannot be made.
    pub fn bind(directory: &Path) -> Result<Self> {
        let path = directory.join(SOCKET_NAME);
        let listener = bind(directory, &path).map_err(|error| {
            let place = path.display();
            Error::unavailable(
                format!("the local socket {place} cannot be made: {error}"),
                "",
            )
        })?;
        Ok(Self {
            listener: Some(listener),
            path,
        })
    }

    /// Answers on the socket until `stop` is over, and then for as long as what was accepted
    /// takes, but no longer than [`STOP_TIME_MAX`].
    ///
    /// # Errors
    /// `UNAVAILABLE`: it cannot be served.
    pub async fn serve(
        mut self,
        database: Database,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let Some(listener) = self.listener.take() else {
            return Ok(());
        };
        let stopping = Arc::new(Notify::new());
        let told = stopping.clone();
        let serving = axum::serve(listener, super::router(database));
        let serving = serving.with_graceful_shutdown(async move {
            stop.await;
            told.notify_one();
        });
        let patience = async {
            stopping.notified().await;
            tokio::time::sleep(STOP_TIME_MAX).await;
        };
        tokio::select! {
            served = serving => served.map_err(|error| {
                Error::unavailable("the local socket has failed", error.to_string())
            }),
            () = patience => Ok(()),
        }
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        // What is left behind is replaced by the next server.
        let _removed = fs::remove_file(&self.path);
    }
}

/// Binds in a directory that others cannot enter, and moves the socket to its place only when it is
/// closed to others itself.
fn bind(directory: &Path, path: &Path) -> io::Result<UnixListener> {
    let private = directory.join(PRIVATE_NAME);
    remove_left(&private)?;
    DirBuilder::new().mode(0o700).create(&private)?;
    let listener = with_short_path(&private, SOCKET_NAME, |path| UnixListener::bind(path))?;
    let new = private.join(SOCKET_NAME);
    fs::set_permissions(&new, Permissions::from_mode(0o600))?;
    fs::rename(&new, path)?;
    fs::remove_dir(&private)?;
    Ok(listener)
}

/// Removes what a server that was killed while it bound its socket has left.
fn remove_left(private: &Path) -> io::Result<()> {
    let unless_missing = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    if fs::symlink_metadata(private).is_ok_and(|left| left.is_dir()) {
        unless_missing(fs::remove_file(private.join(SOCKET_NAME)))?;
        return fs::remove_dir(private);
    }
    // An older server bound under this name.
    unless_missing(fs::remove_file(private))
}

/// Hands to `connect` the path of the socket `name` in `directory`, or another path to the same
/// file where that one is too long: through the open directory.
///
/// # Errors
/// What `connect` fails with; the directory cannot be opened; the path is too long on a system
/// that does not show open directories as files.
pub fn with_short_path<T>(
    directory: &Path,
    name: &str,
    connect: impl FnOnce(&Path) -> io::Result<T>,
) -> io::Result<T> {
    let path = directory.join(name);
    if path.as_os_str().as_bytes().len() <= SOCKET_PATH_BYTES_MAX {
        return connect(&path);
    }
    let directory = File::open(directory)?;
    let open_directory = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    if !open_directory.exists() {
        return Err(io::Error::other(format!(
            "its path has more than the {SOCKET_PATH_BYTES_MAX} bytes that this system allows; \
             use a shorter --store, such as a relative one"
        )));
    }
    connect(&open_directory.join(name))
}
