//! Ends a response whose caller loses its right to read it.
//!
//! Streams check their callers themselves, and end with an error. But a stream is asked for its next
//! piece only when the client has taken the one before, and a large response does not check at all.
//! So the connection checks too, and ends what did not end by itself.

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::limits::REVOKED_TIME_MAX;

/// What admitted a caller. If it is no longer valid, the caller may not read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    /// A token of the token file, by its digest.
    Token([u8; 32]),
    /// The key that signed the caller's token, by its digest.
    SigningKey([u8; 32]),
}

/// Who may read responses now.
pub(crate) trait Rights: Send + Sync {
    /// Tells when the rights have changed.
    fn changes(&self) -> watch::Receiver<()>;

    /// Whether a caller may still read.
    fn may_read(&self, caller: Credential) -> bool;
}

/// The sender of the request that a connection, or a stream of HTTP/2, serves now. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerSlot(Arc<Mutex<Option<Credential>>>);

impl CallerSlot {
    /// Sets the sender of the request whose response is sent next.
    pub(crate) fn set(&self, caller: Option<Credential>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = caller;
    }

    fn caller(&self) -> Option<Credential> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a response is sent to a caller who has lost the right to it for some time.
    async fn revoked(self, rights: Arc<dyn Rights>) {
        let mut changes = rights.changes();
        loop {
            if let Some(caller) = self.caller()
                && !rights.may_read(caller)
            {
                tracing::debug!("a response ended: its token is no longer valid");
                return;
            }
            if changes.changed().await.is_err() {
                return pending().await;
            }
            // Boxed, because connections wait for changes nearly all the time.
            Box::pin(sleep(REVOKED_TIME_MAX)).await;
        }
    }
}

/// Waits until a response is sent to a caller who has lost the right to it for some time. If everybody
/// may read, it waits forever and takes no memory.
pub(super) fn revoked(
    caller: Option<CallerSlot>,
    rights: Option<Arc<dyn Rights>>,
) -> BoxFuture<'static, ()> {
    match (caller, rights) {
        (Some(caller), Some(rights)) => caller.revoked(rights).boxed(),
        _ => pending().boxed(),
    }
}
