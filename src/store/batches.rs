//! Reads a whole range in batches.

use std::ops::Deref;

use super::{Pairs, RangeRead, Read};
use crate::budget::pause;
use crate::error::Result;
use crate::limits::BATCH_PAIRS_MAX;

/// The next possible key: no key lies between `key` and it.
pub fn key_after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// The batches of a range in ascending order. `R` is a pointer to a snapshot or transaction,
/// borrowed or shared.
pub struct Batches<R> {
    read: R,
    /// The start of the next batch. `None` after the last.
    begin: Option<Vec<u8>>,
    end: Vec<u8>,
    pairs_max: usize,
    batch_pairs_max: usize,
    resumed: bool,
}

impl<R: Deref<Target: Read>> Batches<R> {
    /// The batches from `begin` to before `end`.
    pub fn new(read: R, begin: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> Self {
        Self {
            read,
            begin: Some(begin.into()),
            end: end.into(),
            pairs_max: usize::MAX,
            batch_pairs_max: BATCH_PAIRS_MAX,
            resumed: false,
        }
    }

    /// Marks the read as the continuation of a batch that ended at `begin`.
    #[must_use]
    pub fn resumed(self) -> Self {
        Self {
            resumed: true,
            ..self
        }
    }

    /// Batches as of [`RangeRead::in_batches_of`].
    #[must_use]
    pub(crate) fn in_batches_of(self, batch_pairs_max: usize) -> Self {
        Self {
            batch_pairs_max,
            ..self
        }
    }

    /// Limits the next batches to `pairs_max` pairs each.
    pub fn set_pairs_max(&mut self, pairs_max: usize) {
        self.pairs_max = pairs_max;
    }

    /// The next batch, which has at least one pair. `None` after the last.
    ///
    /// # Errors
    /// Errors of the store. The same batch can then be requested again.
    pub async fn next(&mut self) -> Result<Option<Pairs>> {
        let Some(begin) = &self.begin else {
            return Ok(None);
        };
        let range = RangeRead {
            resumed: self.resumed,
            ..RangeRead::new(begin, &self.end)
                .at_most(self.pairs_max)
                .in_batches_of(self.batch_pairs_max)
        };
        if self.resumed && self.read.is_remote() {
            // The engine may never wait for I/O, so this yields to the scheduler. It yields before the
            // read, so that the caller counts a batch as soon as it is in memory.
            pause().await;
        }
        let batch = self.read.range(range).await?;
        let more = batch.more || batch.pairs.len() >= self.pairs_max;
        let last = batch.pairs.last().filter(|_| more);
        self.begin = last.map(|(key, _)| key_after(key));
        self.resumed = true;
        Ok((!batch.pairs.is_empty()).then_some(batch.pairs))
    }

    /// Skips unread keys before `key`.
    pub fn seek(&mut self, key: &[u8]) {
        if let Some(begin) = &mut self.begin
            && &begin[..] < key
        {
            *begin = key.to_vec();
            self.resumed = false;
        }
        self.begin.take_if(|begin| *begin >= self.end);
    }

    /// The end of the range, which is exclusive.
    pub fn end(&self) -> &[u8] {
        &self.end
    }

    /// Continues in another snapshot.
    pub fn renew(&mut self, read: R) {
        self.read = read;
        self.resumed = false;
    }
}
