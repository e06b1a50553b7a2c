//! The interfaces of a server for commands of the operator: all routes that clients use, without access
//! rules and tokens, and a few that only an operator may use (`operator_routes`).
//!
//! The embedded engine's lock is exclusive. While a server runs, commands send their requests to it
//! over a Unix domain socket in the store's directory (`socket`). Otherwise a command opens the store, and
//! calls the same routes in its own process (`in_process`).
//!
//! Only the user who runs the server can open the socket.

pub mod backup_records;
mod in_process;
mod operator_interface;
pub(crate) mod operator_routes;
mod operator_streams;
pub(crate) mod socket;

use std::path::Path;

pub use in_process::{AnswerBody, InProcess, StreamFailure};
pub use socket::{LocalSocket, SOCKET_NAME, with_short_path};

use crate::database::Database;
use crate::error::Result;

/// Serves the local socket of `directory` until `stop` completes and the accepted requests are
/// answered, then removes it. The caller must hold the store of that directory.
///
/// # Errors
/// `UNAVAILABLE`: the socket cannot be created.
pub async fn serve_local(
    directory: &Path,
    database: Database,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    LocalSocket::bind(directory)?.serve(database, stop).await
}
