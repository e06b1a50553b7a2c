//! A cursor over the pairs of a range in one snapshot.

use std::sync::Arc;

use crate::error::Result;
use crate::store::{Batches, Pairs, Read};

/// Reads a range in batches.
pub(crate) struct Cursor {
    batches: Batches<Arc<dyn Read>>,
    batch: Pairs,
    at: usize,
}

impl Cursor {
    /// Creates a cursor at the first pair from `begin` to before `end`.
    pub(crate) fn new(read: Arc<dyn Read>, begin: Vec<u8>, end: Vec<u8>) -> Self {
        Self {
            batches: Batches::new(read, begin, end),
            batch: Pairs::default(),
            at: 0,
        }
    }

    /// Continues from `begin` in another snapshot.
    pub(crate) fn renew(&mut self, read: Arc<dyn Read>, begin: Vec<u8>) {
        *self = Self::new(read, begin, self.batches.end().to_vec());
    }

    /// Returns the current pair, and reads a batch if needed. Returns none after the last pair.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn peek(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.at == self.batch.len() {
            let Some(batch) = self.batches.next().await? else {
                return Ok(None);
            };
            self.batch = batch;
            self.at = 0;
        }
        Ok(Some(self.batch.get(self.at)))
    }

    /// Moves to the next pair.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}
