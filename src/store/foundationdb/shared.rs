//! The client's transaction, which the reads and writes of a transaction share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use foundationdb::options::ConflictRangeType;
use foundationdb::{FdbError, FdbResult, Transaction as Client, TransactionCommitError};

use super::cluster::Cluster;
use super::failure;
use super::size::SizeBound;
use crate::error::{Error, Result};
use crate::store::PendingStamps;

pub(super) struct Shared {
    // Dropped in this order: the client's transaction must not outlive the cluster.
    pub(crate) open: Mutex<Open>,
    /// When the client began to measure the transaction's time, including earlier tries.
    pub(crate) began: Instant,
    pub(crate) cluster: Arc<Cluster>,
}

pub(super) struct Open {
    pub(crate) client: TransactionState,
    /// The last retryable error of a read.
    pub(crate) failed: Option<FdbError>,
    pub(crate) wrote: bool,
    pub(crate) writes_conflict: bool,
    /// A read of these is rejected here, because the client would fail the commit too.
    pub(crate) stamped: PendingStamps,
    pub(crate) size: SizeBound,
}

pub(super) enum TransactionState {
    Running(Client),
    Failed(TransactionCommitError),
    Over,
}

impl TransactionState {
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Over)
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add_conflict(&self, begin: &[u8], end: &[u8], kind: ConflictRangeType) {
        if begin >= end {
            return;
        }
        let mut open = self.lock();
        open.wrote |= matches!(kind, ConflictRangeType::Write);
        open.size.add_conflict(begin.len(), end.len());
        if let TransactionState::Running(client) = &open.client {
            // It fails only for keys beyond the writable key space, which no transaction writes.
            let _added = client.add_conflict_range(begin, end, kind);
        }
    }

    /// Rejects a read of a range with a pending versionstamp.
    pub(super) fn check_readable(&self, begin: &[u8], end: &[u8]) -> Result<()> {
        self.lock().stamped.check(begin, end)
    }

    /// Counts a conflict range that the client adds itself. `begin` and `end` are the lengths of
    /// its keys.
    pub(super) fn count_conflict(&self, begin: usize, end: usize) {
        self.lock().size.add_conflict(begin, end);
    }

    /// Sends a request to the client.
    pub(super) async fn ask<T, F: Future<Output = FdbResult<T>>>(
        &self,
        ask: impl FnOnce(&Client) -> F,
    ) -> Result<T> {
        let answer = match &self.lock().client {
            TransactionState::Running(client) => ask(client),
            TransactionState::Failed(_) | TransactionState::Over => return Err(over()),
        };
        answer.await.map_err(|error| {
            if error.is_retryable() {
                self.lock().failed = Some(error);
            }
            failure::of_transaction(error)
        })
    }
}

pub(super) fn over() -> Error {
    Error::internal("the transaction has ended; it accepts no reads or writes")
}
