//! A store that counts its operations and records them in traces.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use async_trait::async_trait;
use tokio::sync::watch;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, trace_span};

use super::{
    Attachments, Backup, Batch, CommitError, EngineObserver, MultiRange, Pairs, RangeRead, Read,
    Sessions, SnapshotCache, Store, StoreLimits, Transaction,
};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;

/// Counters of a store's operations.
#[derive(Debug, Default)]
pub struct Operations {
    /// Snapshots taken and transactions begun.
    pub transactions: AtomicU64,
    /// Single keys read.
    pub gets: AtomicU64,
    /// Range reads started.
    pub ranges: AtomicU64,
    /// Batches of range reads, including the first of each.
    pub batches: AtomicU64,
    /// Pairs that range reads returned.
    pub pairs: AtomicU64,
    /// Bytes of the pairs and values read.
    pub bytes: AtomicU64,
    /// Keys set, and cleared one by one or as a range.
    pub writes: AtomicU64,
    /// Commits that succeeded.
    pub commits: AtomicU64,
    /// Commits rejected because of a conflict.
    pub conflicts: AtomicU64,
}

/// The target of trace spans. Only the trace exporter collects it, so the spans are free without
/// traces.
pub const TRACES: &str = "phyllo::traces";

impl Operations {
    async fn get(&self, read: &dyn Read, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let span = trace_span!(target: TRACES, "get", bytes = Empty);
        let value = read.get(key).instrument(span.clone()).await?;
        let bytes = value.as_ref().map_or(0, Vec::len) as u64;
        span.record("bytes", bytes);
        self.gets.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        Ok(value)
    }

    async fn range(&self, read: &dyn Read, range: RangeRead<'_>) -> Result<Batch> {
        let first = !range.resumed;
        let span = trace_span!(target: TRACES, "range", first, pairs = Empty, bytes = Empty);
        let batch = read.range(range).instrument(span.clone()).await?;
        self.count(u64::from(first), 1, &batch.pairs, &span);
        Ok(batch)
    }

    async fn ranges(&self, read: &dyn Read, ranges: &[RangeRead<'_>]) -> MultiRange {
        if let [range] = ranges {
            let mut round = MultiRange::of(1);
            round.push(self.range(read, *range).await);
            return round;
        }
        let count = ranges.len() as u64;
        let span = trace_span!(target: TRACES, "ranges", count, pairs = Empty, bytes = Empty);
        let round = read.ranges(ranges).instrument(span.clone()).await;
        let batches = round.batches.iter().flatten().count() as u64;
        self.count(count, batches, &round.pairs, &span);
        round
    }

    /// Records the result of reading `ranges` ranges.
    fn count(&self, ranges: u64, batches: u64, pairs: &Pairs, span: &Span) {
        let (pairs, bytes) = (pairs.len() as u64, pairs.bytes() as u64);
        span.record("pairs", pairs);
        span.record("bytes", bytes);
        self.ranges.fetch_add(ranges, Relaxed);
        self.batches.fetch_add(batches, Relaxed);
        self.pairs.fetch_add(pairs, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }
}

/// A [`Store`] that counts the operations of another.
pub struct Observed<S> {
    inner: S,
    operations: Arc<Operations>,
}

impl<S: Store> Observed<S> {
    /// Counts the operations of `inner`, from 0.
    pub fn new(inner: S) -> Self {
        Self::counting(inner, Arc::default())
    }

    /// Counts the operations of `inner` in existing counters.
    pub fn counting(inner: S, operations: Arc<Operations>) -> Self {
        Self { inner, operations }
    }

    /// The counters, which are shared.
    pub fn operations(&self) -> Arc<Operations> {
        self.operations.clone()
    }
}

#[async_trait]
impl<S: Store> Store for Observed<S> {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        Ok(ObservedRead::counting(
            self.inner.snapshot().await?,
            &self.operations,
        ))
    }

    async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        let inner = self.inner.lazy_snapshot().await?;
        Ok(ObservedRead::counting(inner, &self.operations))
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        let span = trace_span!(target: TRACES, "begin");
        let inner = self.inner.begin().instrument(span).await?;
        Ok(Arc::new(ObservedTransaction::new(inner, &self.operations)))
    }

    fn limits(&self) -> StoreLimits {
        self.inner.limits()
    }

    fn commits_can_end_unknown(&self) -> bool {
        self.inner.commits_can_end_unknown()
    }

    fn is_exclusive(&self) -> bool {
        self.inner.is_exclusive()
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    fn commits(&self) -> Option<watch::Receiver<u64>> {
        self.inner.commits()
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn failed(&self) -> Error {
        self.inner.failed().await
    }

    fn lacks_log(&self) -> bool {
        self.inner.lacks_log()
    }

    async fn enable_log(&self) -> Result<()> {
        self.inner.enable_log().await
    }

    fn observe(&self, observer: Arc<dyn EngineObserver>) {
        self.inner.observe(observer);
    }

    async fn estimated_bytes(&self, begin: &[u8], end: &[u8]) -> Result<Option<u64>> {
        self.inner.estimated_bytes(begin, end).await
    }

    async fn backup(&self) -> Result<Backup> {
        self.inner.backup().await
    }
}

struct ObservedRead {
    inner: Arc<dyn Read>,
    operations: Arc<Operations>,
}

impl ObservedRead {
    /// Counts a snapshot that is taken now or with its first read.
    fn counting(inner: Arc<dyn Read>, operations: &Arc<Operations>) -> Arc<dyn Read> {
        operations.transactions.fetch_add(1, Relaxed);
        let operations = operations.clone();
        Arc::new(Self { inner, operations })
    }
}

#[async_trait]
impl Read for ObservedRead {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.operations.get(&*self.inner, key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        self.operations.range(&*self.inner, range).await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        self.operations.ranges(&*self.inner, ranges).await
    }

    async fn version(&self) -> Result<Version> {
        self.inner.version().await
    }

    fn sessions(&self) -> Option<&Sessions> {
        self.inner.sessions()
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.inner.split_points(begin, end).await
    }

    fn cache(&self) -> Option<&SnapshotCache> {
        self.inner.cache()
    }
}

struct ObservedTransaction {
    inner: Arc<dyn Transaction>,
    without_conflict: ObservedSnapshotReads,
    operations: Arc<Operations>,
}

impl ObservedTransaction {
    fn new(inner: Arc<dyn Transaction>, operations: &Arc<Operations>) -> Self {
        operations.transactions.fetch_add(1, Relaxed);
        Self {
            without_conflict: ObservedSnapshotReads {
                inner: inner.clone(),
                operations: operations.clone(),
            },
            inner,
            operations: operations.clone(),
        }
    }
}

/// The transaction's reads without read conflicts.
struct ObservedSnapshotReads {
    inner: Arc<dyn Transaction>,
    operations: Arc<Operations>,
}

#[async_trait]
impl Read for ObservedSnapshotReads {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let reads = self.inner.without_conflict();
        self.operations.get(reads, key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        let reads = self.inner.without_conflict();
        self.operations.range(reads, range).await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        let reads = self.inner.without_conflict();
        self.operations.ranges(reads, ranges).await
    }

    async fn version(&self) -> Result<Version> {
        self.inner.without_conflict().version().await
    }

    fn sessions(&self) -> Option<&Sessions> {
        self.inner.sessions()
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        let reads = self.inner.without_conflict();
        reads.split_points(begin, end).await
    }
}

#[async_trait]
impl Read for ObservedTransaction {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.operations.get(&*self.inner, key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        self.operations.range(&*self.inner, range).await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        self.operations.ranges(&*self.inner, ranges).await
    }

    async fn version(&self) -> Result<Version> {
        self.inner.version().await
    }

    fn sessions(&self) -> Option<&Sessions> {
        self.inner.sessions()
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
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

    async fn read_ahead(&self, ranges: &[RangeRead<'_>]) {
        self.inner.read_ahead(ranges).await;
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

    async fn clear_large_range(&self, begin: &[u8], end: &[u8]) -> Result<bool> {
        self.operations.writes.fetch_add(1, Relaxed);
        self.inner.clear_large_range(begin, end).await
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

    async fn advance_versions(&self, version: Version) -> Result<()> {
        self.inner.advance_versions(version).await
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

    fn may_take_effect(&self) -> bool {
        self.inner.may_take_effect()
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    fn attachments(&self) -> &Attachments {
        self.inner.attachments()
    }

    async fn commit(&self) -> Result<Version, CommitError> {
        let span = trace_span!(target: TRACES, "commit", committed = Empty);
        let committed = self.inner.commit().instrument(span.clone()).await;
        span.record("committed", committed.is_ok());
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
        let span = trace_span!(target: TRACES, "retry");
        let next = self.inner.retry().instrument(span).await?;
        Ok(next
            .map(|inner| -> Arc<dyn Transaction> { Arc::new(Self::new(inner, &self.operations)) }))
    }

    async fn abort(&self) -> Result<()> {
        self.inner.abort().await
    }
}
