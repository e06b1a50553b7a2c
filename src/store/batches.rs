//! A range read to its end, one batch after another.

use std::ops::Deref;

use super::{Pairs, RangeRead, Read};
use crate::error::Result;

/// The key that stands right behind another: none comes between.
pub fn key_after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// The batches of a range in ascending order. `R` points to what is read: a snapshot, a
/// transaction, borrowed or shared.
pub struct Batches<R> {
    read: R,
    /// Where the next batch begins; none behind the last.
    begin: Option<Vec<u8>>,
    end: Vec<u8>,
    resumed: bool,
}

impl<R: Deref<Target: Read>> Batches<R> {
    /// The batches from `begin` to before `end`.
    pub fn new(read: R, begin: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> Self {
        Self {
            read,
            begin: Some(begin.into()),
            end: end.into(),
            resumed: false,
        }
    }

    /// As [`Batches::new`], where `begin` is where a batch of the same read ended.
    #[must_use]
    pub fn resumed(self) -> Self {
        Self {
            resumed: true,
            ..self
        }
    }

    /// The next batch, which holds a pair at least; none behind the last.
    ///
    /// # Errors
    /// What the store fails with. The same batch may then be asked for again.
    pub async fn next(&mut self) -> Result<Option<Pairs>> {
        let Some(begin) = &self.begin else {
            return Ok(None);
        };
        let range = RangeRead {
            resumed: self.resumed,
            ..RangeRead::new(begin, &self.end)
        };
        let batch = self.read.range(range).await?;
        if batch.more {
            // An engine may never have to wait; others have their turn all the same.
            tokio::task::yield_now().await;
        }
        let last = batch.pairs.last().filter(|_| batch.more);
        self.begin = last.map(|(key, _)| key_after(key));
        self.resumed = true;
        Ok((!batch.pairs.is_empty()).then_some(batch.pairs))
    }

    /// Leaves out what stands before `key` and was not read yet.
    pub fn seek(&mut self, key: &[u8]) {
        if let Some(begin) = &mut self.begin
            && &begin[..] < key
        {
            *begin = key.to_vec();
            self.resumed = false;
        }
    }

    /// Where the range ends: the first key that is not read.
    pub fn end(&self) -> &[u8] {
        &self.end
    }

    /// Goes on in another snapshot.
    pub fn renew(&mut self, read: R) {
        self.read = read;
        self.resumed = false;
    }
}
