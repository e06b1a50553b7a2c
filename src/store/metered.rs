//! Reads and transactions that charge a budget.
//!
//! All reads and writes of a request pass through these types, so no caller can bypass the budget.
//! Once the budget is used up, reads fail and writes are dropped. The commit checks the budget, so
//! that such a transaction never commits.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Attachments, Batch, CommitError, MultiRange, RangeRead, Read, Sessions, SnapshotCache,
    Transaction,
};
use crate::budget::{Budget, Share};
use crate::error::Result;
use crate::key::Version;
use crate::limits::{HELD_BYTES_PER_WRITE, STEPS_PER_WRITE};

/// A [`Read`] that charges a budget one step per pair, and the bytes of the pairs. The engine charges it
/// for the pairs that it steps over ([`RangeRead::budget`]).
pub struct MeteredRead {
    inner: Arc<dyn Read>,
    budget: Budget,
}

impl MeteredRead {
    /// Charges `budget` for the reads of `inner`.
    pub fn new(inner: Arc<dyn Read>, budget: &Budget) -> Self {
        let budget = budget.clone();
        Self { inner, budget }
    }
}

/// A [`Transaction`] that charges a budget for its reads and writes.
pub struct MeteredTransaction {
    inner: Arc<dyn Transaction>,
    without_conflict: MeteredSnapshotReads,
    budget: Budget,
    /// Memory for the writes.
    held: Share,
}

impl MeteredTransaction {
    /// Charges `budget` for the reads and writes of `inner`.
    pub fn new(inner: Arc<dyn Transaction>, budget: &Budget) -> Self {
        let (free, budget) = (inner.clone(), budget.clone());
        Self {
            without_conflict: MeteredSnapshotReads(free, budget.clone()),
            held: budget.share(),
            inner,
            budget,
        }
    }

    /// Charges a write of `bytes` bytes, which are held until the transaction ends. Returns false if the
    /// budget is used up; the budget keeps the error.
    fn counts(&self, bytes: usize) -> bool {
        let counted = self
            .budget
            .spend(STEPS_PER_WRITE)
            .and_then(|()| self.budget.write(bytes));
        let held = || match self.held.take(bytes + HELD_BYTES_PER_WRITE) {
            Ok(_) => Ok(()),
            Err(error) => self.budget.fail(error),
        };
        counted.and_then(|()| held()).is_ok()
    }
}

/// Reads without read conflicts.
struct MeteredSnapshotReads(Arc<dyn Transaction>, Budget);

async fn get(read: &dyn Read, budget: &Budget, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let value = read.get(key).await?;
    budget.spend(1)?;
    budget.read(value.as_ref().map_or(0, Vec::len))?;
    Ok(value)
}

async fn range(read: &dyn Read, budget: &Budget, range: RangeRead<'_>) -> Result<Batch> {
    let batch = read.range(range.paid_by(budget)).await?;
    count(budget, batch.pairs.len(), batch.pairs.bytes())?;
    Ok(batch)
}

async fn ranges(read: &dyn Read, budget: &Budget, ranges: &[RangeRead<'_>]) -> MultiRange {
    let ranges: Vec<_> = ranges.iter().map(|range| range.paid_by(budget)).collect();
    let round = read.ranges(&ranges).await;
    match count(budget, round.pairs.len(), round.pairs.bytes()) {
        Ok(()) => round,
        Err(error) => MultiRange::failed(round.batches.len(), &error),
    }
}

fn count(budget: &Budget, pairs: usize, bytes: usize) -> Result<()> {
    // The engine has counted them in its portions.
    budget.charge(1 + pairs as u64)?;
    budget.read(bytes)
}

#[async_trait]
impl Read for MeteredRead {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        get(&*self.inner, &self.budget, key).await
    }

    async fn range(&self, read: RangeRead<'_>) -> Result<Batch> {
        range(&*self.inner, &self.budget, read).await
    }

    async fn ranges(&self, reads: &[RangeRead<'_>]) -> MultiRange {
        ranges(&*self.inner, &self.budget, reads).await
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

#[async_trait]
impl Read for MeteredSnapshotReads {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        get(self.0.without_conflict(), &self.1, key).await
    }

    async fn range(&self, read: RangeRead<'_>) -> Result<Batch> {
        range(self.0.without_conflict(), &self.1, read).await
    }

    async fn ranges(&self, reads: &[RangeRead<'_>]) -> MultiRange {
        ranges(self.0.without_conflict(), &self.1, reads).await
    }

    async fn version(&self) -> Result<Version> {
        self.0.without_conflict().version().await
    }

    fn sessions(&self) -> Option<&Sessions> {
        self.0.sessions()
    }

    fn is_remote(&self) -> bool {
        self.0.is_remote()
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.0.without_conflict().split_points(begin, end).await
    }
}

#[async_trait]
impl Read for MeteredTransaction {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        get(&*self.inner, &self.budget, key).await
    }

    async fn range(&self, read: RangeRead<'_>) -> Result<Batch> {
        range(&*self.inner, &self.budget, read).await
    }

    async fn ranges(&self, reads: &[RangeRead<'_>]) -> MultiRange {
        ranges(&*self.inner, &self.budget, reads).await
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
impl Transaction for MeteredTransaction {
    fn without_conflict(&self) -> &dyn Read {
        &self.without_conflict
    }

    async fn read_ahead(&self, ranges: &[RangeRead<'_>]) {
        self.inner.read_ahead(ranges).await;
    }

    fn set(&self, key: &[u8], value: &[u8]) {
        if self.counts(key.len() + value.len()) {
            self.inner.set(key, value);
        }
    }

    fn clear(&self, key: &[u8]) {
        if self.counts(key.len()) {
            self.inner.clear(key);
        }
    }

    fn clear_range(&self, begin: &[u8], end: &[u8]) {
        if self.counts(begin.len() + end.len()) {
            self.inner.clear_range(begin, end);
        }
    }

    async fn clear_large_range(&self, begin: &[u8], end: &[u8]) -> Result<bool> {
        if !self.counts(begin.len() + end.len()) {
            self.budget.check()?;
            return Ok(false);
        }
        self.inner.clear_large_range(begin, end).await
    }

    fn add(&self, key: &[u8], by: i64) {
        if self.counts(key.len() + size_of::<i64>()) {
            self.inner.add(key, by);
        }
    }

    fn set_versionstamped_value(&self, key: &[u8], value: &[u8], stamp_at: usize) {
        if self.counts(key.len() + value.len()) {
            self.inner.set_versionstamped_value(key, value, stamp_at);
        }
    }

    fn set_versionstamped_key(&self, key: &[u8], stamp_at: usize, value: &[u8]) {
        if self.counts(key.len() + value.len()) {
            self.inner.set_versionstamped_key(key, stamp_at, value);
        }
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
        self.budget.check()?;
        self.inner.commit().await
    }

    async fn retry(&self) -> Result<Option<Arc<dyn Transaction>>> {
        self.inner.retry().await
    }

    async fn abort(&self) -> Result<()> {
        self.inner.abort().await
    }
}
