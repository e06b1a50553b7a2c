//! The result of reading several ranges in one round, with all pairs in one buffer.

use std::ops::Range;

use super::Pairs;
use crate::error::{Error, Result};

/// The first batch of each of several ranges.
#[derive(Debug, Default)]
pub struct MultiRange {
    /// The pairs of all batches, in the order of the batches.
    pub pairs: Pairs,
    /// The batches, in the order of the ranges.
    pub batches: Vec<Result<RoundBatch>>,
}

/// The position of a batch in the pairs of a [`MultiRange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundBatch {
    /// The indexes of its pairs.
    pub pairs: Range<usize>,
    /// See [`Batch::more`].
    pub more: bool,
}

impl MultiRange {
    /// An empty result with room for `ranges` batches.
    pub(super) fn of(ranges: usize) -> Self {
        Self {
            pairs: Pairs::default(),
            batches: Vec::with_capacity(ranges),
        }
    }

    /// A result in which every batch has failed.
    pub(crate) fn failed(ranges: usize, error: &Error) -> Self {
        Self {
            pairs: Pairs::default(),
            batches: vec![Err(error.clone()); ranges],
        }
    }

    /// Adds the next batch. `read` appends its pairs and returns whether there may be more.
    pub(super) fn read(&mut self, read: impl FnOnce(&mut Pairs) -> Result<bool>) {
        let begin = self.pairs.len();
        let read = read(&mut self.pairs);
        self.finish(begin, read);
    }

    /// Completes the next batch, whose pairs are those from `begin` on, and which has `more` after
    /// them. If it failed, its pairs are removed.
    pub(super) fn finish(&mut self, begin: usize, more: Result<bool>) {
        if more.is_err() {
            self.pairs.truncate(begin);
        }
        let batch = more.map(|more| RoundBatch {
            pairs: begin..self.pairs.len(),
            more,
        });
        self.batches.push(batch);
    }

    /// Adds the next batch.
    pub(super) fn push(&mut self, batch: Result<Batch>) {
        self.read(|pairs| {
            let batch = batch?;
            if pairs.is_empty() {
                *pairs = batch.pairs;
            } else {
                pairs.append(&batch.pairs);
            }
            Ok(batch.more)
        });
    }

    /// Copies each batch out of the shared pairs.
    pub fn into_batches(self) -> impl Iterator<Item = Result<Batch>> {
        let Self { pairs, batches } = self;
        batches.into_iter().map(move |batch| {
            batch.map(|batch| Batch {
                pairs: pairs.part(batch.pairs),
                more: batch.more,
            })
        })
    }
}

/// One batch of a range read.
#[derive(Debug, Default)]
pub struct Batch {
    /// In the order of the read.
    pub pairs: Pairs,
    /// Whether the range may hold more, within the read's limit. Go on behind the last key.
    pub more: bool,
}
