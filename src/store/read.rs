//! Reads of keys and ranges at one version.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::future::join_all;

use super::multi_range::{Batch, MultiRange};
use super::pairs::Pairs;
use crate::budget::Budget;
use crate::error::Result;
use crate::key::Version;
use crate::limits::{BATCH_BYTES_MAX, BATCH_PAIRS_MAX, SNAPSHOT_CACHE_BYTES_MAX};

/// A read of the keys from `begin` to before `end`.
#[derive(Clone, Copy, Debug)]
pub struct RangeRead<'k> {
    /// The first key, inclusive.
    pub begin: &'k [u8],
    /// The end, exclusive.
    pub end: &'k [u8],
    /// The largest number of pairs to read.
    pub pairs_max: usize,
    /// The largest number of pairs in one batch.
    pub batch_pairs_max: usize,
    /// Whether to read in descending order.
    pub reverse: bool,
    /// Whether the read continues where a batch ended.
    pub resumed: bool,
    /// Whether few keys lie between the previous range of the same round and this one, although the
    /// keys do not show it: the range is in a document that follows the previous one in the catalog.
    /// It affects only the cost of the read, and only if the engine [is remote](Read::is_remote).
    pub adjacent: bool,
    /// The budget that pays for cleared pairs that the engine steps over, in steps.
    pub budget: Option<&'k Budget>,
}

impl<'k> RangeRead<'k> {
    /// The whole range, in ascending order.
    pub fn new(begin: &'k [u8], end: &'k [u8]) -> Self {
        Self {
            begin,
            end,
            pairs_max: usize::MAX,
            batch_pairs_max: BATCH_PAIRS_MAX,
            reverse: false,
            resumed: false,
            adjacent: false,
            budget: None,
        }
    }

    /// Limits the read to `pairs_max` pairs.
    #[must_use]
    pub fn at_most(self, pairs_max: usize) -> Self {
        Self { pairs_max, ..self }
    }

    /// Limits each batch to `batch_pairs_max` pairs. A caller that works on more than [`BATCH_PAIRS_MAX`] asks for its
    /// slice itself.
    #[must_use]
    pub(crate) fn in_batches_of(self, batch_pairs_max: usize) -> Self {
        Self {
            batch_pairs_max,
            ..self
        }
    }

    /// Whether the range is empty or the limit is 0.
    pub(crate) fn is_empty(&self) -> bool {
        self.begin >= self.end || self.pairs_max == 0
    }

    /// The same read, for which `budget` pays.
    #[must_use]
    pub(crate) fn paid_by(self, budget: &'k Budget) -> Self {
        let budget = Some(budget);
        Self { budget, ..self }
    }

    /// Charges the budget of the read, if it has one.
    ///
    /// # Errors
    /// As [`Budget::check`].
    pub(crate) fn spend(&self, steps: u64) -> Result<()> {
        match self.budget {
            Some(budget) if steps > 0 => budget.spend(steps),
            _ => Ok(()),
        }
    }

    /// The largest number of pairs in one batch of this read.
    pub(crate) fn batch_pairs_max(&self) -> usize {
        self.pairs_max.min(self.batch_pairs_max)
    }
}

/// Where a batch begins in a buffer: the numbers of the pairs, and of their bytes, before it.
#[derive(Clone, Copy, Default)]
pub(crate) struct BatchStart {
    pub(crate) pairs: usize,
    pub(crate) bytes: usize,
}

impl BatchStart {
    /// After these pairs.
    pub(crate) fn of(pairs: &Pairs) -> Self {
        Self {
            pairs: pairs.len(),
            bytes: pairs.bytes(),
        }
    }
}

/// A batch that an engine fills, after the pairs of earlier batches in the same buffer.
pub(crate) struct Filling<'p> {
    pairs: &'p mut Pairs,
    start: BatchStart,
    pairs_max: usize,
    batch_pairs_max: usize,
}

impl<'p> Filling<'p> {
    /// Continues the batch that began at `start`.
    pub(crate) fn new(pairs: &'p mut Pairs, start: BatchStart, range: &RangeRead<'_>) -> Self {
        Self {
            pairs,
            start,
            pairs_max: range.pairs_max,
            batch_pairs_max: range.batch_pairs_max(),
        }
    }

    /// Appends a pair. Returns whether the batch is full.
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.pairs.push(key, value);
        self.len() >= self.batch_pairs_max
            || self.pairs.bytes() - self.start.bytes >= BATCH_BYTES_MAX
    }

    /// Whether the range may have more pairs than this full batch.
    pub(crate) fn more(&self) -> bool {
        self.len() < self.pairs_max
    }

    fn len(&self) -> usize {
        self.pairs.len() - self.start.pairs
    }
}

/// Reads at one version of the store.
#[async_trait]
pub trait Read: Send + Sync {
    /// The value of a key.
    ///
    /// # Errors
    /// `UNAVAILABLE`. `TIMEOUT`: the engine no longer serves this snapshot; take another one.
    /// `CONFLICT`: the transaction cannot continue; try again. `INTERNAL`: this transaction has
    /// written a versionstamp to the key, so its value is unknown before the commit.
    /// `BAD_USER_INPUT`: this transaction has written a versionstamped key that may become this key.
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Reads one batch of a range: at most `pairs_max` pairs, and at most the engine's batch size.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn range(&self, range: RangeRead<'_>) -> Result<Batch>;

    /// Reads the first batch of each range concurrently. The batches are in the order of the
    /// ranges. The read is cheapest if the ranges are in ascending order.
    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        let mut round = MultiRange::of(ranges.len());
        for batch in join_all(ranges.iter().map(|range| self.range(*range))).await {
            round.push(batch);
        }
        round
    }

    /// The version of the snapshot: every commit up to it is visible, and no later one.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn version(&self) -> Result<Version>;

    /// Whether reads go to another process. Then it is worth setting [`RangeRead::adjacent`] and
    /// calling [`Transaction::read_ahead`](super::Transaction::read_ahead). False for the embedded
    /// engine.
    fn is_remote(&self) -> bool {
        false
    }

    /// Keys that split the range into parts that are worth reading concurrently. Empty for the
    /// embedded engine, which does not benefit.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn split_points(&self, _begin: &[u8], _end: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// Values decoded from ranges of this snapshot, if all readers of the snapshot share one object.
    /// None for transactions, and if the store [is remote](Read::is_remote).
    fn cache(&self) -> Option<&SnapshotCache> {
        None
    }

    /// The sessions of the store. `None` if the engine does not record them: the files of a cluster
    /// cannot be copied.
    fn sessions(&self) -> Option<&Sessions> {
        None
    }
}

/// The sessions of a store. In each, one process had the store open for writing. A copy of the files
/// continues with other sessions than the original, so the number of a commit and its session name one
/// commit. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sessions(Arc<[(u64, u64)]>);

impl Sessions {
    /// The numbers of the first commits of the sessions, in ascending order, and their random names.
    pub(crate) fn new(sessions: Vec<(u64, u64)>) -> Self {
        Self(sessions.into())
    }

    /// The name of the session in which a commit was made. `None`: it is older than all of them.
    pub fn of(&self, commit: u64) -> Option<u64> {
        let after = self.0.partition_point(|(first, _)| *first <= commit);
        Some(self.0[after.checked_sub(1)?].1)
    }
}

/// Values decoded from ranges of a snapshot. They stay valid as long as the snapshot, which never
/// changes, so nothing invalidates them. Holds at most [`SNAPSHOT_CACHE_BYTES_MAX`].
#[derive(Default)]
pub struct SnapshotCache(Mutex<CachedRanges>);

/// The values, by the first keys of their ranges.
#[derive(Default)]
struct CachedRanges {
    values: HashMap<Vec<u8>, Arc<dyn Any + Send + Sync>>,
    bytes: usize,
}

impl SnapshotCache {
    /// The value of the range that begins with `begin`. None if it has another type.
    pub(crate) fn get<V: Any + Send + Sync>(&self, begin: &[u8]) -> Option<Arc<V>> {
        self.ranges().values.get(begin)?.clone().downcast().ok()
    }

    /// Keeps the value of the range that begins with `begin`, unless the cache is full. `bytes` is the
    /// estimated size of the value.
    pub(crate) fn keep<V: Any + Send + Sync>(&self, begin: Vec<u8>, value: Arc<V>, bytes: usize) {
        let mut ranges = self.ranges();
        let bytes = ranges.bytes + begin.len() + bytes;
        if bytes <= SNAPSHOT_CACHE_BYTES_MAX {
            ranges.bytes = bytes;
            ranges.values.insert(begin, value);
        }
    }

    fn ranges(&self) -> MutexGuard<'_, CachedRanges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_snapshot_cache_keeps_no_further_values() {
        let cache = SnapshotCache::default();
        cache.keep(b"a".to_vec(), Arc::new(1_u8), SNAPSHOT_CACHE_BYTES_MAX - 1);
        cache.keep(b"b".to_vec(), Arc::new(2_u8), 0);
        assert_eq!(cache.get(b"a"), Some(Arc::new(1_u8)));
        assert_eq!(cache.get::<u8>(b"b"), None);
        assert_eq!(cache.get::<u16>(b"a"), None, "another type");
    }
}
