//! Reading: ranges of keys, snapshots.

use super::multi_range::Batch;
use super::multi_range::MultiRange;
use super::pairs::Pairs;
use crate::error::Result;
use crate::limits::{BATCH_BYTES_MAX, BATCH_PAIRS_MAX};
use async_trait::async_trait;
use futures::future::join_all;

/// A range of keys to read, from `begin` to before `end`.
#[derive(Clone, Copy, Debug)]
pub struct RangeRead<'k> {
    /// The first key that may be read.
    pub begin: &'k [u8],
    /// The first key that may not.
    pub end: &'k [u8],
    /// Read at most this many pairs.
    pub pairs_max: usize,
    /// From the last key to the first.
    pub reverse: bool,
    /// Goes on where a batch of the same read ended.
    pub resumed: bool,
    /// Of ranges that are read at the same time: where this stands to the one before it. Told where
    /// a read [is remote](Read::is_remote).
    pub near: Locality,
}

/// Where a range of several stands to the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locality {
    /// Nobody knows.
    #[default]
    Unknown,
    /// In the same document.
    Document,
    /// In a document of the same collection between whose id and that of the other are few others.
    Collection,
}

impl<'k> RangeRead<'k> {
    /// The whole range, in ascending order.
    pub fn new(begin: &'k [u8], end: &'k [u8]) -> Self {
        Self {
            begin,
            end,
            pairs_max: usize::MAX,
            reverse: false,
            resumed: false,
            near: Locality::Unknown,
        }
    }

    /// The same range, at most `pairs_max` pairs of it.
    #[must_use]
    pub fn at_most(self, pairs_max: usize) -> Self {
        Self { pairs_max, ..self }
    }

    /// Whether there is nothing that may be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.begin >= self.end || self.pairs_max == 0
    }

    /// The pairs that one batch of this read may hold.
    pub(crate) fn batch_pairs_max(&self) -> usize {
        self.pairs_max.min(BATCH_PAIRS_MAX)
    }
}

/// A batch that an engine fills, behind what stands in the same pairs already.
pub(crate) struct Filling<'p> {
    pairs: &'p mut Pairs,
    before: usize,
    bytes_before: usize,
    pairs_max: usize,
    batch_pairs_max: usize,
}

impl<'p> Filling<'p> {
    pub(crate) fn new(pairs: &'p mut Pairs, range: &RangeRead<'_>) -> Self {
        Self {
            before: pairs.len(),
            bytes_before: pairs.bytes(),
            pairs,
            pairs_max: range.pairs_max,
            batch_pairs_max: range.batch_pairs_max(),
        }
    }

    /// Appends a pair. Whether the batch is to end here.
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.pairs.push(key, value);
        self.len() >= self.batch_pairs_max
            || self.pairs.bytes() - self.bytes_before >= BATCH_BYTES_MAX
    }

    /// Whether the range may hold more than this batch, which is full.
    pub(crate) fn more(&self) -> bool {
        self.len() < self.pairs_max
    }

    fn len(&self) -> usize {
        self.pairs.len() - self.before
    }
}

/// Reads at one version of the store.
#[async_trait]
pub trait Read: Send + Sync {
    /// The value of a key.
    ///
    /// # Errors
    /// `UNAVAILABLE`. `TIMEOUT`: the engine keeps this snapshot no longer; another may be taken.
    /// `CONFLICT`: the transaction cannot go on, another try may. `INTERNAL` for a key whose
    /// versionstamp this transaction has written, which is not known before the commit, and for
    /// any that a stamp it has written into a key may make that key.
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// One batch of a range: at most `pairs_max` pairs, and no more of them than an engine hands
    /// out at a time.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn range(&self, range: RangeRead<'_>) -> Result<Batch>;

    /// The first batch of each of these ranges, in their order, all read at the same time. It costs
    /// least if none begins before the one before it.
    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        let mut round = MultiRange::of(ranges.len());
        for batch in join_all(ranges.iter().map(|range| self.range(*range))).await {
            round.push(batch);
        }
        round
    }

    /// Whether a read waits for other processes, so that it pays to tell which ranges stand near one
    /// another ([`RangeRead::near`]), and to read ahead ([`Transaction::read_ahead`]). It does not on
    /// the embedded engine.
    fn is_remote(&self) -> bool {
        false
    }

    /// Keys between which parts of the range, of a size worth a read of their own, can be read at
    /// the same time. The embedded engine, which gains nothing by it, has none.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn split_points(&self, _begin: &[u8], _end: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }
}
