//! The pairs of a range, one after another, from one snapshot.

use std::sync::Arc;

use crate::error::Result;
use crate::store::{Batches, Pairs, Read};

/// Reads a range a batch at a time.
pub(crate) struct Cursor {
    batches: Batches<Arc<dyn Read>>,
    batch: Pairs,
    at: usize,
}

impl Cursor {
    /// A cursor at the first pair from `begin` to before `end`.
    pub(crate) fn new(read: Arc<dyn Read>, begin: Vec<u8>, end: Vec<u8>) -> Self {
        Self {
            batches: Batches::new(read, begin, end),
            batch: Pairs::default(),
            at: 0,
        }
    }

    /// Goes on from `begin`, in another snapshot.
    pub(crate) fn renew(&mut self, read: Arc<dyn Read>, begin: Vec<u8>) {
        *self = Self::new(read, begin, self.batches.end().to_vec());
    }

    /// The pair that it stands at, read if need be; none behind the last.
    ///
    /// # Errors
    /// What the store fails with.
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

    /// Goes on to the next pair.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}
