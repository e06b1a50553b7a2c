//! The snapshots of a check.
//!
//! A cluster keeps a snapshot for five seconds, and a check can take hours. So a check continues in a
//! later snapshot whenever the engine drops its current one. Each statement that it makes must
//! nevertheless be true at one moment, however the store changes meanwhile:
//!
//! - Keys that are compared with each other because of their order (leaves, catalog entries and
//!   versions) are read by cursors at the same snapshot. In a new snapshot, all of them begin again
//!   behind the last complete document.
//! - A document that takes longer than a snapshot is kept continues in the next one if its version
//!   is still the same, because every change of a document changes its version. Otherwise it is read
//!   again ([`DocumentRead`](super::document_read::DocumentRead) does so for its index entries).
//! - A fault that two reads at different snapshots show may be a change between them. It is looked
//!   for again, in one snapshot, before it is reported.
//! - The count of a collection is compared with its documents in one snapshot
//!   ([`count`](super::count)).
//!
//! What cannot be said because it changes faster than it can be read is reported as not verified.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::CHECK_TRIES_MAX;
use crate::store::{Read, Store};

/// The current snapshot of a check, and the source of later ones. The parts of a check share it.
pub(crate) struct CheckSnapshots {
    /// None if the check ends with its first snapshot.
    store: Option<Arc<dyn Store>>,
    current: Mutex<CheckSnapshot>,
    renewal: tokio::sync::Mutex<()>,
}

/// A snapshot of a check.
#[derive(Clone)]
pub(crate) struct CheckSnapshot {
    /// Later snapshots have greater numbers.
    pub(crate) number: u64,
    pub(crate) read: Arc<dyn Read>,
}

impl CheckSnapshots {
    /// One snapshot for the whole check.
    pub(crate) fn only(read: Arc<dyn Read>) -> Self {
        let first = CheckSnapshot { number: 0, read };
        Self {
            store: None,
            current: Mutex::new(first),
            renewal: tokio::sync::Mutex::default(),
        }
    }

    /// A first snapshot of a store, and later ones as they are needed.
    ///
    /// # Errors
    /// As [`Store::snapshot`].
    pub(crate) async fn of(store: Arc<dyn Store>) -> Result<Self> {
        let mut snapshots = Self::only(store.snapshot().await?);
        snapshots.store = Some(store);
        Ok(snapshots)
    }

    /// The current snapshot.
    pub(crate) fn current(&self) -> CheckSnapshot {
        self.lock().clone()
    }

    /// A later snapshot than the one with this number, of which a read failed with `error`.
    ///
    /// # Errors
    /// `error`, unless it says that the engine no longer serves the snapshot, and the check may take
    /// another one. As [`Store::snapshot`].
    pub(crate) async fn after(&self, number: u64, error: Error) -> Result<CheckSnapshot> {
        let Some(store) = self.store.as_ref().filter(|_| is_too_old(&error)) else {
            return Err(error);
        };
        let _turn = self.renewal.lock().await;
        let current = self.current();
        if current.number > number {
            return Ok(current);
        }
        let later = CheckSnapshot {
            number: current.number + 1,
            read: store.snapshot().await?,
        };
        *self.lock() = later.clone();
        Ok(later)
    }

    fn lock(&self) -> MutexGuard<'_, CheckSnapshot> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a read failed because the engine no longer serves its snapshot.
pub(crate) fn is_too_old(error: &Error) -> bool {
    error.kind() == ErrorKind::Timeout
}

/// Runs a read in the current snapshot, and again in later ones if the engine drops it. Returns its
/// result, and the number of the snapshot.
macro_rules! in_one_snapshot {
    ($snapshots:expr, |$read:ident| $work:expr) => {{
        let mut snapshot = $snapshots.current();
        let mut tries = 1;
        loop {
            let $read = &*snapshot.read;
            match $work.await {
                Err(error) if tries < $crate::limits::CHECK_TRIES_MAX => {
                    snapshot = $snapshots.after(snapshot.number, error).await?;
                    tries += 1;
                }
                done => break done.map(|done| (done, snapshot)),
            }
        }
    }};
}
pub(super) use in_one_snapshot;

/// The error of a part that changed during all of its tries. It is reported as not verified.
pub(crate) fn changed(what: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("{what} changed during each of {CHECK_TRIES_MAX} tries"),
    )
}
