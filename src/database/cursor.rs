//! The pairs of a range, one after another, from one snapshot.

use std::sync::Arc;

use crate::error::Result;
use crate::store::{Batch, RangeRead, Read};

/// Reads a range a batch at a time.
pub(super) struct Cursor {
    read: Arc<dyn Read>,
    end: Vec<u8>,
    batch: Batch,
    at: usize,
    /// Where the next batch begins; none behind the last.
    begin: Option<Vec<u8>>,
    resumed: bool,
}

impl Cursor {
    /// A cursor at the first pair from `begin` to before `end`.
    pub(super) fn new(read: Arc<dyn Read>, begin: Vec<u8>, end: Vec<u8>) -> Self {
        Self {
            read,
            end,
            batch: Batch::default(),
            at: 0,
            begin: Some(begin),
            resumed: false,
        }
    }

    /// Goes on from `begin`, in another snapshot.
    pub(super) fn renew(&mut self, read: Arc<dyn Read>, begin: Vec<u8>) {
        let end = std::mem::take(&mut self.end);
        *self = Self::new(read, begin, end);
    }

    /// The pair that it stands at, read if need be; none behind the last.
    ///
    /// # Errors
    /// What the store fails with.
    pub(super) async fn peek(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.at == self.batch.pairs.len() && !self.read_on().await? {
            return Ok(None);
        }
        Ok(Some(self.batch.pairs.get(self.at)))
    }

    /// Goes on to the next pair.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    async fn read_on(&mut self) -> Result<bool> {
        let Some(begin) = self.begin.take() else {
            return Ok(false);
        };
        let range = RangeRead {
            resumed: self.resumed,
            ..RangeRead::new(&begin, &self.end)
        };
        self.batch = self.read.range(range).await?;
        self.at = 0;
        self.resumed = true;
        let last = self.batch.pairs.last().filter(|_| self.batch.more);
        self.begin = last.map(|(key, _)| [key, &[0]].concat());
        Ok(!self.batch.pairs.is_empty())
    }
}
