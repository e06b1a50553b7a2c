//! The client's transaction, which the reads and writes of a transaction share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use foundationdb::options::ConflictRangeType;
use foundationdb::{FdbError, FdbResult, Transaction as Client, TransactionCommitError};

use super::cluster::Cluster;
use super::failure;
use super::size::SizeBound;
use crate::error::{Error, Result};
use crate::store::{key_after, stamped_key_read, stamped_value_read};

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
    pub(crate) stamped: StampedPairs,
    pub(crate) size: SizeBound,
}

/// What has pending versionstamps. A read of it is rejected here, because the client would fail the
/// commit too.
#[derive(Default)]
pub(super) struct StampedPairs {
    /// Keys with a stamp in the value, as ranges.
    values: Vec<(Vec<u8>, Vec<u8>)>,
    /// Ranges of keys with a stamp in the key.
    keys: Vec<(Vec<u8>, Vec<u8>)>,
}

pub(super) enum TransactionState {
    Running(Client),
    Failed(TransactionCommitError),
    Over,
}

impl StampedPairs {
    /// Adds a key with a stamp in its value.
    pub(crate) fn add_value(&mut self, key: &[u8]) {
        self.values.push((key.to_vec(), key_after(key)));
    }

    /// Adds a range of versionstamped keys. Those of one document are written one after another.
    pub(crate) fn add_keys(&mut self, range: (Vec<u8>, Vec<u8>)) {
        if self.keys.last() != Some(&range) {
            self.keys.push(range);
        }
    }

    /// Whether a range overlaps one of them.
    pub(crate) fn meet(&self, begin: &[u8], end: &[u8]) -> bool {
        self.check(begin, end).is_err()
    }

    /// Rejects a read of a range that overlaps one of them.
    fn check(&self, begin: &[u8], end: &[u8]) -> Result<()> {
        let meets = |stamped: &(Vec<u8>, Vec<u8>)| &stamped.0[..] < end && begin < &stamped.1[..];
        if self.values.iter().any(meets) {
            return Err(stamped_value_read());
        }
        if self.keys.iter().any(meets) {
            return Err(stamped_key_read());
        }
        Ok(())
    }

    /// Removes those inside a cleared range.
    pub(crate) fn clear(&mut self, begin: &[u8], end: &[u8]) {
        for stamped in [&mut self.values, &mut self.keys] {
            stamped.retain(|stamped| &stamped.0[..] < begin || &stamped.1[..] > end);
        }
    }
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
