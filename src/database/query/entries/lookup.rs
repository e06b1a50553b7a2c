//! Looks up listed document keys in the catalog, several in one round.

use super::keys::KeyReader;
use crate::error::Result;
use crate::store::{RangeRead, key_after};

/// The keys of a list that are in the catalog, in order.
pub(crate) struct KeyLookup<'r> {
    reading: KeyReader<'r>,
    /// The prefix of the catalog's keys of the collection.
    prefix: Vec<u8>,
    /// The keys not looked up yet, the next one last.
    unread: Vec<Vec<u8>>,
    /// The keys found, the next one last.
    found: Vec<Vec<u8>>,
    next_batch: usize,
}

impl<'r> KeyLookup<'r> {
    /// Looks up `listed`, whose next key is the last one.
    pub(crate) fn new(reading: KeyReader<'r>, prefix: Vec<u8>, listed: Vec<Vec<u8>>) -> Self {
        Self {
            reading,
            prefix,
            unread: listed,
            found: Vec::new(),
            next_batch: reading.first_batch.clamp(1, reading.batch_max),
        }
    }

    /// The current key. None after the last.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn peek(&mut self) -> Result<Option<Vec<u8>>> {
        while self.found.is_empty() && !self.unread.is_empty() && !self.reading.meter.is_passed() {
            self.read_on().await?;
        }
        Ok(self.found.last().cloned())
    }

    async fn read_on(&mut self) -> Result<()> {
        let rest = self.unread.len().saturating_sub(self.next_batch);
        let mut ids = self.unread.split_off(rest);
        // The read is cheapest in ascending order.
        ids.sort_unstable();
        let key = |id: &Vec<u8>| [&self.prefix[..], id].concat();
        let bounds: Vec<(Vec<u8>, Vec<u8>)> = ids
            .iter()
            .map(|id| (key(id), key_after(&key(id))))
            .collect();
        let reads: Vec<RangeRead<'_>> = bounds
            .iter()
            .map(|(begin, end)| RangeRead::new(begin, end).at_most(1))
            .collect();
        let batches = self.reading.read.ranges(&reads).await.into_batches();
        self.reading.budget.pace(ids.len() as u64).await?;
        self.reading.meter.add(ids.len());
        for (id, batch) in ids.into_iter().zip(batches) {
            if !batch?.pairs.is_empty() {
                self.found.push(id);
            }
        }
        if !self.reading.backward {
            self.found.reverse();
        }
        self.next_batch = (4 * self.next_batch).min(self.reading.batch_max);
        Ok(())
    }

    /// Moves past `id` if it is the current key.
    pub(crate) fn advance(&mut self, id: &[u8]) {
        self.found.pop_if(|last| last == id);
    }

    /// Moves to the first key at or after `id`, in the direction of the stream.
    pub(crate) fn seek(&mut self, id: &[u8]) {
        let backward = self.reading.backward;
        let is_before = |other: &Vec<u8>| {
            if backward {
                other[..] > *id
            } else {
                other[..] < *id
            }
        };
        for ids in [&mut self.found, &mut self.unread] {
            let rest = ids.partition_point(|other| !is_before(other));
            ids.truncate(rest);
        }
    }

    /// The maximum number of keys left.
    pub(crate) fn left(&self) -> usize {
        self.unread.len() + self.found.len()
    }
}
