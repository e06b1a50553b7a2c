//! A transaction of a cluster.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use async_trait::async_trait;
use foundationdb::options::{ConflictRangeType, MutationType, TransactionOption};
use foundationdb::{FdbResult, Transaction as Client};

use super::cluster::{Cluster, extend};
use super::failure;
use super::reads::Reads;
use super::shared::{Open, Shared, TransactionState, over};
use super::size::SizeBound;
use crate::error::{Error, Result};
use crate::key::Version;
use crate::limits::CLUSTER_TRANSACTION_BYTES_MAX;
use crate::store::{
    Attachments, Batch, CommitError, MultiRange, PendingStamps, RangeRead, Read, Transaction,
    key_after,
};

/// A transaction. Its own reads add read conflicts; `untracked` reads do not.
pub(super) struct ClusterTransaction {
    shared: Arc<Shared>,
    tracked: Reads,
    attachments: Attachments,
    untracked: Reads,
}

impl ClusterTransaction {
    /// Begins a transaction. The client gets the read version with the first read, which then
    /// reports errors of getting it.
    pub(super) fn begin(cluster: Arc<Cluster>) -> FdbResult<Self> {
        let client = cluster.database.create_trx()?;
        Ok(Self::new(client, Instant::now(), cluster))
    }

    fn new(client: Client, began: Instant, cluster: Arc<Cluster>) -> Self {
        let shared = Arc::new(Shared {
            open: Mutex::new(Open {
                client: TransactionState::Running(client),
                failed: None,
                wrote: false,
                writes_conflict: true,
                stamped: PendingStamps::default(),
                size: SizeBound::default(),
            }),
            began,
            cluster,
        });
        Self {
            tracked: Reads::conflicting(shared.clone()),
            attachments: Attachments::default(),
            untracked: Reads::free(shared.clone()),
            shared,
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.shared.lock()
    }

    /// Writes one key, unless the transaction has ended.
    fn write(&self, key: &[u8], value: &[u8], write: impl FnOnce(&Client, &mut PendingStamps)) {
        self.write_range(key.len(), key.len() + 1, value.len(), write);
    }

    /// Writes a range whose keys have these lengths, unless the transaction has ended.
    fn write_range(
        &self,
        begin: usize,
        end: usize,
        value: usize,
        write: impl FnOnce(&Client, &mut PendingStamps),
    ) {
        let mut open = self.open();
        let open = &mut *open;
        if let TransactionState::Running(client) = &open.client {
            if !open.writes_conflict {
                exempt(client);
            }
            write(client, &mut open.stamped);
            open.wrote = true;
            open.size.add_write(begin, end, value);
        }
    }

    /// Rejects a transaction above the size limit. Asks the client for the exact size only if the
    /// upper bound exceeds the limit.
    async fn check_size(&self) -> Result<()> {
        if self.open().size.bytes() <= CLUSTER_TRANSACTION_BYTES_MAX {
            return Ok(());
        }
        let bytes = self.bytes().await?;
        if bytes > CLUSTER_TRANSACTION_BYTES_MAX {
            return Err(failure::too_large(bytes));
        }
        Ok(())
    }

    /// Commits the writes.
    async fn commit_writes(&self) -> Result<Version, CommitError> {
        self.check_size().await?;
        let (stamp, committing) = {
            let TransactionState::Running(client) = self.open().client.take() else {
                return Err(over().into());
            };
            // If the cluster becomes unreachable from here on, the outcome is unknown.
            extend(&client, self.shared.began.elapsed()).map_err(failure::of_client)?;
            (client.get_versionstamp(), client.commit())
        };
        match committing.await {
            Ok(_committed) => {
                let stamp = stamp.await.map_err(failure::of_transaction)?;
                let stamp = <[u8; 10]>::try_from(&*stamp);
                stamp.map(Version).map_err(|_| {
                    Error::internal("a commit's versionstamp is not of ten bytes").into()
                })
            }
            Err(failed) => {
                let error = *failed;
                self.open().client = TransactionState::Failed(failed);
                Err(if failure::is_certain(error) {
                    CommitError::Refused(failure::of_transaction(error))
                } else {
                    CommitError::Unknown(failure::of_unknown_commit(error))
                })
            }
        }
    }
}

#[async_trait]
impl Read for ClusterTransaction {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.tracked.get(key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        self.tracked.range(range).await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        self.tracked.ranges(ranges).await
    }

    async fn version(&self) -> Result<Version> {
        self.tracked.version().await
    }

    fn is_remote(&self) -> bool {
        self.tracked.is_remote()
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.tracked.split_points(begin, end).await
    }
}

#[async_trait]
impl Transaction for ClusterTransaction {
    fn without_conflict(&self) -> &dyn Read {
        &self.untracked
    }

    /// The client caches what a transaction has read.
    async fn read_ahead(&self, ranges: &[RangeRead<'_>]) {
        self.untracked.ranges(ranges).await;
    }

    fn set(&self, key: &[u8], value: &[u8]) {
        let conflicts = self.open().writes_conflict;
        self.write(key, value, |client, stamped| {
            if stamped.check(key, &key_after(key)).is_err() {
                // The client keeps a versionstamped key unreadable if it is only overwritten.
                client.clear(key);
                stamped.remove(key);
                if !conflicts {
                    exempt(client);
                }
            }
            client.set(key, value);
        });
    }

    fn clear(&self, key: &[u8]) {
        self.write(key, &[], |client, stamped| {
            client.clear(key);
            stamped.remove(key);
        });
    }

    fn clear_range(&self, begin: &[u8], end: &[u8]) {
        if begin < end {
            self.write_range(begin.len(), end.len(), 0, |client, stamped| {
                client.clear_range(begin, end);
                stamped.clear(begin, end);
            });
        }
    }

    fn add(&self, key: &[u8], by: i64) {
        let by = by.to_le_bytes();
        self.write(key, &by, |client, _| {
            client.atomic_op(key, &by, MutationType::Add);
        });
    }

    fn set_versionstamped_value(&self, key: &[u8], value: &[u8], stamp_at: usize) {
        let value = with_place(value, stamp_at);
        self.write(key, &value, |client, stamped| {
            client.atomic_op(key, &value, MutationType::SetVersionstampedValue);
            stamped.add_value(key);
        });
    }

    fn set_versionstamped_key(&self, key: &[u8], stamp_at: usize, value: &[u8]) {
        let with_place = with_place(key, stamp_at);
        self.write(&with_place, value, |client, stamped| {
            client.atomic_op(&with_place, value, MutationType::SetVersionstampedKey);
            stamped.add_key(key, stamp_at);
        });
    }

    /// Only checks that they are: an operator advances the versions of a cluster.
    async fn advance_versions(&self, version: Version) -> Result<()> {
        let current = self.shared.ask(Client::get_read_version).await?;
        if version <= read_at(current) {
            return Ok(());
        }
        Err(failure::version_ahead(version))
    }

    fn add_read_conflict(&self, begin: &[u8], end: &[u8]) {
        self.shared
            .add_conflict(begin, end, ConflictRangeType::Read);
    }

    fn add_write_conflict(&self, begin: &[u8], end: &[u8]) {
        self.shared
            .add_conflict(begin, end, ConflictRangeType::Write);
    }

    fn without_write_conflicts(&self, on: bool) {
        self.open().writes_conflict = !on;
    }

    async fn bytes(&self) -> Result<usize> {
        let bytes = self.shared.ask(Client::get_approximate_size);
        Ok(usize::try_from(bytes.await?).unwrap_or(0))
    }

    fn is_read_only(&self) -> bool {
        !self.open().wrote
    }

    /// The version of a read-only transaction is its read version.
    fn attachments(&self) -> &Attachments {
        &self.attachments
    }

    async fn commit(&self) -> Result<Version, CommitError> {
        if !self.is_read_only() {
            return self.commit_writes().await;
        }
        let version = self.shared.ask(Client::get_read_version).await?;
        match self.open().client.take() {
            TransactionState::Running(_) => Ok(read_at(version)),
            TransactionState::Failed(_) | TransactionState::Over => Err(over().into()),
        }
    }

    async fn retry(&self) -> Result<Option<Arc<dyn Transaction>>> {
        let Shared { began, cluster, .. } = &*self.shared;
        let (state, failed) = {
            let mut open = self.open();
            (open.client.take(), open.failed)
        };
        let paused = match (state, failed) {
            (TransactionState::Failed(failed), _) => failed.on_error().await,
            (TransactionState::Running(client), Some(error)) => client.on_error(error).await,
            _ => return Ok(None),
        };
        // If the client does not retry the error, the next try starts with a new transaction.
        let Ok(client) = paused else { return Ok(None) };
        extend(&client, began.elapsed()).map_err(failure::of_transaction)?;
        let next = Self::new(client, *began, cluster.clone());
        Ok(Some(Arc::new(next)))
    }

    async fn abort(&self) -> Result<()> {
        drop(self.open().client.take());
        Ok(())
    }
}

/// The next write of the client adds no write conflict.
fn exempt(client: &Client) {
    // It fails only for an unknown option.
    let _set = client.set_option(TransactionOption::NextWriteNoWriteConflictRange);
}

/// Appends the offset of the stamp in four bytes, little-endian, as the client requires.
fn with_place(bytes: &[u8], stamp_at: usize) -> Vec<u8> {
    let place = u32::try_from(stamp_at).expect("a key or value is far shorter");
    [bytes, &place.to_le_bytes()].concat()
}

/// The greatest version of a commit that this read version includes.
fn read_at(version: i64) -> Version {
    let mut stamp = [0xFF; 10];
    stamp[..8].copy_from_slice(&version.to_be_bytes());
    Version(stamp)
}
