//! A store that counts what is asked of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use async_trait::async_trait;

use super::{Backup, Batch, CommitError, RangeRead, Read, Store, StoreLimits, Transaction};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;

/// How often a store was asked for what.
#[derive(Debug, Default)]
pub struct Operations {
    /// Snapshots taken and transactions begun.
    pub transactions: AtomicU64,
    /// Single keys read.
    pub gets: AtomicU64,
    /// Range reads begun.
    pub ranges: AtomicU64,
    /// Batches of range reads, the first of each included.
    pub batches: AtomicU64,
    /// Pairs that range reads brought.
    pub pairs: AtomicU64,
    /// Bytes of the pairs and values read.
    pub bytes: AtomicU64,
    /// Keys set, and cleared one by one or as a range.
    pub writes: AtomicU64,
    /// Commits that succeeded.
    pub commits: AtomicU64,
    /// Commits refused because of a conflict.
    pub conflicts: AtomicU64,
}

impl Operations {
    fn count_batch(&self, batch: &Batch, first: bool) {
        self.ranges.fetch_add(u64::from(first), Relaxed);
        self.batches.fetch_add(1, Relaxed);
        self.pairs.fetch_add(batch.pairs.len() as u64, Relaxed);
        self.bytes.fetch_add(batch.pairs.bytes() as u64, Relaxed);
    }

    fn count_get(&self, value: Option<&[u8]>) {
        self.gets.fetch_add(1, Relaxed);
        self.bytes
            .fetch_add(value.map_or(0, <[u8]>::len) as u64, Relaxed);
    }
}

/// A [`Store`] that passes everything on and counts it.
pub struct Observed<S> {
    inner: S,
    operations: Arc<Operations>,
}

impl<S: Store> Observed<S> {
    /// Counts what is asked of `inner`.
    pub fn new(inner: S) -> Self {
        Self::counting(inner, Arc::default())
    }

    /// Counts on.
    pub fn counting(inner: S, operations: Arc<Operations>) -> Self {
        Self { inner, operations }
    }

    /// The counts, which go on.
    pub fn operations(&self) -> Arc<Operations> {
        self.operations.clone()
    }
}

#[async_trait]
impl<S: Store> Store for Observed<S> {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        self.operations.transactions.fetch_add(1, Relaxed);
        Ok(Arc::new(ObservedRead {
            inner: self.inner.snapshot().await?,
            operations: self.operations.clone(),
        }))
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        let inner = self.inner.begin().await?;
        Ok(Arc::new(ObservedTransaction::new(inner, &self.operations)))
    }

    fn limits(&self) -> StoreLimits {
        self.inner.limits()
    }

    fn commits_can_end_unknown(&self) -> bool {
        self.inner.commits_can_end_unknown()
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn failed(&self) -> Error {
        self.inner.failed().await
    }

    async fn backup(&self) -> Result<Backup> {
        self.inner.backup().await
    }
}

struct ObservedRead {
    inner: Arc<dyn Read>,
    operations: Arc<Operations>,
}

#[async_trait]
impl Read for ObservedRead {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.inner.get(key).await?;
        self.operations.count_get(value.as_deref());
        Ok(value)
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        let batch = self.inner.range(range).await?;
        self.operations.count_batch(&batch, !range.resumed);
        Ok(batch)
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.inner.split_points(begin, end).await
    }
}

struct ObservedTransaction {
    inner: Arc<dyn Transaction>,
    without_conflict: WithoutConflict,
    operations: Arc<Operations>,
}

impl ObservedTransaction {
    fn new(inner: Arc<dyn Transaction>, operations: &Arc<Operations>) -> Self {
        operations.transactions.fetch_add(1, Relaxed);
        Self {
            without_conflict: WithoutConflict {
                inner: inner.clone(),
                operations: operations.clone(),
            },
            inner,
            operations: operations.clone(),
        }
    }
}

/// The transaction's reads that conflict with nothing, counted like the others.
struct WithoutConflict {
    inner: Arc<dyn Transaction>,
    operations: Arc<Operations>,
}

#[async_trait]
impl Read for WithoutConflict {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.inner.without_conflict().get(key).await?;
        self.operations.count_get(value.as_deref());
        Ok(value)
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        let batch = self.inner.without_conflict().range(range).await?;
        self.operations.count_batch(&batch, !range.resumed);
        Ok(batch)
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        let reads = self.inner.without_conflict();
        reads.split_points(begin, end).await
    }
}

#[async_trait]
impl Read for ObservedTransaction {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.inner.get(key).await?;
        self.operations.count_get(value.as_deref());
        Ok(value)
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        let batch = self.inner.range(range).await?;
        self.operations.count_batch(&batch, !range.resumed);
        Ok(batch)
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.inner.split_points(begin, end).await
    }
}

#[async_trait]
impl Transaction for ObservedTransaction {
    fn without_conflict(&self) -> &dyn Read {
        &self.without_conflict
    }

    fn set(&self, key: &[u8], value: &[u8]) {
        self.operations.writes.fetch_add(1, Relaxed);
        self.inner.set(key, value);
    }

    fn clear(&self, key: &[u8]) {
        self.operations.writes.fetch_add(1, Relaxed);
        self.inner.clear(key);
    }

    fn clear_range(&self, begin: &[u8], end: &[u8]) {
        self.operations.writes.fetch_add(1, Relaxed);
        self.inner.clear_range(begin, end);
    }

    fn add(&self, key: &[u8], by: i64) {
        self.operations.writes.fetch_add(1, Relaxed);
        self.inner.add(key, by);
    }

    fn set_versionstamped_value(&self, key: &[u8], value: &[u8], stamp_at: usize) {
        self.operations.writes.fetch_add(1, Relaxed);
        self.inner.set_versionstamped_value(key, value, stamp_at);
    }

    fn set_versionstamped_key(&self, key: &[u8], stamp_at: usize, value: &[u8]) {
        self.operations.writes.fetch_add(1, Relaxed);
        self.inner.set_versionstamped_key(key, stamp_at, value);
    }

    fn add_read_conflict(&self, begin: &[u8], end: &[u8]) {
        self.inner.add_read_conflict(begin, end);
    }

    fn add_write_conflict(&self, begin: &[u8], end: &[u8]) {
        self.inner.add_write_conflict(begin, end);
    }

    fn without_write_conflicts(&self, on: bool) {
        self.inner.without_write_conflicts(on);
    }

    async fn bytes(&self) -> Result<usize> {
        self.inner.bytes().await
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    async fn commit(&self) -> Result<Version, CommitError> {
        let committed = self.inner.commit().await;
        let counter = match &committed {
            Ok(_) => &self.operations.commits,
            Err(CommitError::Refused(error)) if error.kind() == ErrorKind::Conflict => {
                &self.operations.conflicts
            }
            Err(_) => return committed,
        };
        counter.fetch_add(1, Relaxed);
        committed
    }

    async fn retry(&self) -> Result<Option<Arc<dyn Transaction>>> {
        let next = self.inner.retry().await?;
        Ok(next
            .map(|inner| -> Arc<dyn Transaction> { Arc::new(Self::new(inner, &self.operations)) }))
    }

    async fn abort(&self) -> Result<()> {
        self.inner.abort().await
    }
}
