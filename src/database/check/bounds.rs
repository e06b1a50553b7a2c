//! Where a check ends in an index and in a collection that grow.
//!
//! Writers can add entries and documents behind the position of a check faster than it reads them, for
//! example documents with ascending keys. So a check that takes another snapshot leaves out what is
//! behind the last entry of the current index, and behind the last document of the current
//! collection, of the first snapshot that it took in them.

use crate::error::Result;
use crate::store::{RangeRead, Read};

/// A range of keys, of which those behind the last one are not checked.
pub(crate) struct GrowthBound {
    pub(super) begin: Vec<u8>,
    pub(super) end: Vec<u8>,
    pub(super) last: Vec<u8>,
}

impl GrowthBound {
    /// The end of the range, for a key in it that is not checked.
    pub(super) fn end_for(&self, key: &[u8]) -> Option<&[u8]> {
        let is_behind = key > &self.last[..] && (&self.begin[..]..&self.end[..]).contains(&key);
        is_behind.then_some(&self.end[..])
    }
}

/// The last key of a range, or an empty one.
pub(super) async fn last_key(read: &dyn Read, begin: &[u8], end: &[u8]) -> Result<Vec<u8>> {
    let last = RangeRead {
        reverse: true,
        ..RangeRead::new(begin, end).at_most(1)
    };
    let found = read.range(last).await?;
    Ok(found
        .pairs
        .last()
        .map_or_else(Vec::new, |(key, _)| key.to_vec()))
}
