//! The socket file: its location, its permissions, and how its path is kept within the roughly 100
//! bytes that the path of a Unix domain socket can have.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::UnixListener;
use tokio::sync::Notify;

use super::operator_interface::OperatorInterface;
use crate::database::Database;
use crate::error::{Error, Result};
use crate::graphql::GraphQl;
use crate::limits::{SOCKET_PATH_BYTES_MAX, STOP_TIME_MAX};

/// The name of the socket file in the directory of the store.
pub const SOCKET_NAME: &str = "phyllo.sock";
/// The private directory in which the socket is created.
const PRIVATE_NAME: &str = "phyllo.new";

/// The bound local socket of a directory. Dropping it removes the file. Drop it while the store is
/// still held, so that it does not remove the socket of another server.
pub struct LocalSocket {
    listener: Option<UnixListener>,
    path: PathBuf,
    graphql: Option<GraphQl>,
}

impl LocalSocket {
    /// Binds the local socket of `directory`, whose store the caller must hold. Replaces a socket
    /// that a killed server left behind.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the socket cannot be created.
    pub fn bind(directory: &Path) -> Result<Self> {
        let path = directory.join(SOCKET_NAME);
        let listener = bind(directory, &path).map_err(|error| {
            let place = path.display();
            Error::unavailable(
                format!("the local socket {place} cannot be created: {error}"),
                "",
            )
        })?;
        Ok(Self {
            listener: Some(listener),
            path,
            graphql: None,
        })
    }

    /// Lets the schema of this interface follow the types that commands change.
    #[must_use]
    pub fn with_schema_of(mut self, graphql: GraphQl) -> Self {
        self.graphql = Some(graphql);
        self
    }

    /// Serves the socket until `stop` completes, then ends the streams and finishes the accepted requests, for at
    /// most [`STOP_TIME_MAX`].
    ///
    /// # Errors
    /// `UNAVAILABLE`: serving failed.
    pub async fn serve(
        mut self,
        database: Database,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let Some(listener) = self.listener.take() else {
            return Ok(());
        };
        let stopping = Arc::new(Notify::new());
        let stopped = stopping.clone();
        let interface = OperatorInterface::new(database, self.graphql.take());
        let (graphql, streams) = (interface.graphql.clone(), interface.options.streams);
        if let Err(error) = graphql.refresh_types().await {
            tracing::warn!("the types of collections cannot be read: {error}");
        }
        let serving = axum::serve(listener, interface.router);
        let serving = serving.with_graceful_shutdown(async move {
            stop.await;
            streams.stop();
            stopped.notify_one();
        });
        let patience = async {
            stopping.notified().await;
            tokio::time::sleep(STOP_TIME_MAX).await;
        };
        tokio::select! {
            served = serving => served.map_err(|error| {
                Error::unavailable("the local socket failed", error.to_string())
            }),
            () = graphql.follow_types() => Ok(()),
            () = patience => Ok(()),
        }
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        // If this fails, the next server replaces the file.
        let _removed = fs::remove_file(&self.path);
    }
}

/// Binds in a directory that other users cannot enter, and moves the socket into place after its
/// own permissions are restricted.
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

/// Removes what a server left behind if it was killed while binding.
fn remove_left(private: &Path) -> io::Result<()> {
    let unless_missing = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    if fs::symlink_metadata(private).is_ok_and(|left| left.is_dir()) {
        unless_missing(fs::remove_file(private.join(SOCKET_NAME)))?;
        return fs::remove_dir(private);
    }
    // Older versions bound the socket under this name.
    unless_missing(fs::remove_file(private))
}

/// Calls `connect` with the path of the socket `name` in `directory`. If that path is too long,
/// passes a path through the open directory instead.
///
/// # Errors
/// Errors of `connect`. The directory cannot be opened. The path is too long, and the system does
/// not provide open directories as files.
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
            "its path is longer than the {SOCKET_PATH_BYTES_MAX} bytes that this system allows; \
             use a shorter --store path, such as a relative one"
        )));
    }
    connect(&open_directory.join(name))
}
