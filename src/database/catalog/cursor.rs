//! A cursor over the pairs of a range in one snapshot.

use std::sync::Arc;

use crate::budget::Share;
use crate::error::Result;
use crate::store::{Batches, Pairs, Read, key_after};

/// Reads a range in batches.
pub(crate) struct Cursor {
    batches: Batches<Arc<dyn Read>>,
    batch: Pairs,
    at: usize,
    /// The first key that no earlier batch could have.
    begin: Vec<u8>,
    /// The memory for the current batch, if it counts.
    held: Option<Share>,
}

impl Cursor {
    /// Creates a cursor at the first pair from `begin` to before `end`.
    pub(crate) fn new(read: Arc<dyn Read>, begin: Vec<u8>, end: Vec<u8>) -> Self {
        Self {
            batches: Batches::new(read, begin.clone(), end),
            batch: Pairs::default(),
            at: 0,
            begin,
            held: None,
        }
    }

    /// From now on counts the memory for each batch.
    pub(crate) fn count_in(&mut self, held: Share) {
        self.held = Some(held);
    }

    /// Continues from `begin` in another snapshot.
    pub(crate) fn renew(&mut self, read: Arc<dyn Read>, begin: Vec<u8>) {
        let held = self.held.take();
        *self = Self::new(read, begin, self.batches.end().to_vec());
        if let Some(held) = held {
            held.clear();
            self.held = Some(held);
        }
    }

    /// Continues in another snapshot, with the first pair after the last one that was passed.
    pub(crate) fn resume(&mut self, read: Arc<dyn Read>) {
        let begin = self.position();
        self.renew(read, begin);
    }

    /// The first key after the last pair that was passed, or the begin of the range.
    pub(crate) fn position(&self) -> Vec<u8> {
        match self.at.checked_sub(1) {
            Some(at) => key_after(self.batch.get(at).0),
            None => self.begin.clone(),
        }
    }

    /// Moves forward to the first pair at or after `key`. Never moves back.
    pub(crate) fn seek(&mut self, key: &[u8]) {
        while self.at < self.batch.len() && self.batch.get(self.at).0 < key {
            self.at += 1;
        }
        if self.at == self.batch.len() {
            self.batches.seek(key);
        }
    }

    /// The pairs from the current one on that were read already, `count_max` at most.
    pub(crate) fn ahead(&self, count_max: usize) -> impl Iterator<Item = (&[u8], &[u8])> {
        let end = self.batch.len().min(self.at.saturating_add(count_max));
        (self.at..end).map(|at| self.batch.get(at))
    }

    /// Returns the current pair, and reads a batch if needed. None after the last pair.
    ///
    /// # Errors
    /// Errors of the store. `UNAVAILABLE`: the memory is needed for others.
    pub(crate) async fn peek(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.at == self.batch.len() {
            let Some(batch) = self.batches.next().await? else {
                return Ok(None);
            };
            if let Some((last, _)) = self.batch.last() {
                self.begin = key_after(last);
            }
            let bytes = batch.bytes();
            self.batch = batch;
            self.at = 0;
            if let Some(held) = &self.held {
                held.clear();
                held.take(bytes)?;
            }
        }
        Ok(Some(self.batch.get(self.at)))
    }

    /// Moves to the next pair.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}
