//! A cursor over the keys of a range, in either direction.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::budget::{Budget, Share, Turns};
use crate::error::Result;
use crate::limits::KEY_BYTES_MAX;
use crate::store::{Pairs, RangeRead, Read, key_after};

/// Counts the keys that a query reads.
pub(crate) struct Meter {
    read: AtomicUsize,
    read_max: usize,
}

impl Default for Meter {
    /// Creates a meter without a limit. The limits of the request still apply.
    fn default() -> Self {
        Self::at_most(usize::MAX)
    }
}

impl Meter {
    /// Creates a meter that ends all streams once more than `read_max` keys were read. What the
    /// streams returned is incomplete then.
    pub(crate) fn at_most(read_max: usize) -> Self {
        Self {
            read: AtomicUsize::new(0),
            read_max,
        }
    }

    pub(crate) fn add(&self, read: usize) {
        self.read.fetch_add(read, Relaxed);
    }

    /// Whether more keys were read than the limit.
    pub(crate) fn is_passed(&self) -> bool {
        self.total() > self.read_max
    }

    pub(crate) fn total(&self) -> usize {
        self.read.load(Relaxed)
    }
}

/// The reader that all streams of a query share.
#[derive(Clone, Copy)]
pub(crate) struct KeyReader<'r> {
    pub(crate) read: &'r dyn Read,
    pub(crate) budget: &'r Budget,
    pub(crate) meter: &'r Meter,
    /// Whether ids descend.
    pub(crate) backward: bool,
    /// The number of keys in the first batch of each range.
    pub(crate) first_batch: usize,
    /// The maximum number of keys in a batch.
    pub(crate) batch_max: usize,
}

/// Reads the keys of a range in batches of growing size.
pub(crate) struct KeyStream<'r> {
    reading: KeyReader<'r>,
    reverse: bool,
    /// The part of the range that is not read yet.
    begin: Vec<u8>,
    end: Vec<u8>,
    more: bool,
    batch: Pairs,
    /// Memory for the batch, and for the rest of the range.
    memory: Share,
    at: usize,
    next_batch: usize,
    /// The number of keys of the batch that were returned.
    returned: usize,
    resumed: bool,
    /// For the work of the caller on each pair.
    turns: Turns,
}

impl<'r> KeyStream<'r> {
    /// Creates a stream of the keys from `begin` to before `end`. `reverse` starts at the last key.
    pub(crate) fn new(reading: KeyReader<'r>, begin: &[u8], end: &[u8], reverse: bool) -> Self {
        // No key is longer, so truncation excludes no key of the range.
        let begin = begin[..begin.len().min(KEY_BYTES_MAX)].to_vec();
        let end = end[..end.len().min(KEY_BYTES_MAX)].to_vec();
        Self {
            reading,
            reverse,
            more: begin < end,
            begin,
            end,
            batch: Pairs::default(),
            memory: reading.budget.counted_share(),
            at: 0,
            next_batch: reading.first_batch.clamp(1, reading.batch_max),
            returned: 0,
            resumed: false,
            turns: Turns::default(),
        }
    }

    /// Returns the current key, and reads a batch if needed. None after the last key. Waits for the next slice
    /// of the task if the slice is over.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn peek(&mut self) -> Result<Option<&[u8]>> {
        let pair = self.peek_pair().await?;
        Ok(pair.map(|(key, _)| key))
    }

    /// As [`KeyStream::peek`], with the value.
    ///
    /// # Errors
    /// As [`KeyStream::peek`].
    pub(crate) async fn peek_pair(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        self.turns.next().await;
        while self.at == self.batch.len() {
            if !self.more || self.reading.meter.is_passed() {
                return Ok(None);
            }
            self.read_on().await?;
        }
        Ok(Some(self.batch.get(self.at)))
    }

    /// The current key if it is already in memory.
    pub(crate) fn head(&self) -> Option<&[u8]> {
        self.head_pair().map(|(key, _)| key)
    }

    /// As [`KeyStream::head`], with the value.
    pub(crate) fn head_pair(&self) -> Option<(&[u8], &[u8])> {
        (self.at < self.batch.len()).then(|| self.batch.get(self.at))
    }

    /// Moves to the next key.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
        self.returned += 1;
    }

    /// Moves past the current key to the first key at or after `key`, for a caller that returns
    /// only the first key of each group. The size of the next batch follows the number of groups in
    /// this one.
    pub(crate) fn advance_to(&mut self, key: &[u8]) {
        self.advance();
        self.seek(key);
        if self.at == self.batch.len() {
            let batch = 4 * self.returned;
            let least = self.reading.first_batch.clamp(1, self.reading.batch_max);
            self.next_batch = batch.clamp(least, self.reading.batch_max);
        }
    }

    /// Moves to the first key at or after `key`, in the direction of the stream.
    pub(crate) fn seek(&mut self, key: &[u8]) {
        let stands_before = |other: &[u8]| {
            if self.reverse {
                other > key
            } else {
                other < key
            }
        };
        if self
            .batch
            .last()
            .is_some_and(|(last, _)| !stands_before(last))
        {
            let rest = self.at..self.batch.len();
            let skipped = rest.take_while(|at| stands_before(self.batch.get(*at).0));
            self.at += skipped.count();
            return;
        }
        self.at = self.batch.len();
        if self.reverse && self.end[..] > *key {
            self.end = key_after(key).min(std::mem::take(&mut self.end));
            self.resumed = false;
        } else if !self.reverse && self.begin[..] < *key {
            self.begin = key.to_vec();
            self.resumed = false;
        }
        self.more &= self.begin < self.end;
    }

    /// The number of keys left, if all of them are in memory.
    pub(crate) fn left(&self) -> Option<usize> {
        (!self.more).then(|| self.batch.len() - self.at)
    }

    async fn read_on(&mut self) -> Result<()> {
        // The batch counts before it is read, with the size that the one before suggests.
        let pair = self.batch.bytes() / self.batch.len().max(1);
        (self.batch, self.at) = (Pairs::default(), 0);
        self.memory = self.reading.budget.counted_share();
        self.memory.take(pair * self.next_batch)?;
        let range = RangeRead {
            reverse: self.reverse,
            resumed: self.resumed,
            ..RangeRead::new(&self.begin, &self.end).at_most(self.next_batch)
        };
        let batch = self.reading.read.range(range).await?;
        self.reading.budget.pace(batch.pairs.len() as u64).await?;
        self.reading.meter.add(batch.pairs.len());
        self.more = batch.more || batch.pairs.len() >= self.next_batch;
        if let Some((last, _)) = batch.pairs.last() {
            if self.reverse {
                self.end = last.to_vec();
            } else {
                self.begin = key_after(last);
            }
        }
        self.more &= self.begin < self.end;
        self.next_batch = (4 * self.next_batch).min(self.reading.batch_max);
        self.resumed = true;
        self.memory = self.reading.budget.counted_share();
        let pairs = &batch.pairs;
        let bounds = self.begin.len() + self.end.len();
        self.memory
            .take(pairs.bytes() + pairs.spare_bytes() + bounds)?;
        self.batch = batch.pairs;
        self.returned = 0;
        Ok(())
    }
}
