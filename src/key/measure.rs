//! What a JSON text comes to as pairs, at least, found without making any.

use std::ops::Range;

use crate::document::flatten::LeafSink;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::SegmentRef;
use crate::error::Result;

/// Adds up the bytes of keys and values, of each no more than it takes.
#[derive(Default)]
pub(super) struct Measure {
    /// Of all that were told.
    pub(super) bytes: usize,
    taken: usize,
    /// The key of where it stands, and of all above.
    key_bytes: usize,
    above: Vec<usize>,
}

impl Measure {
    fn add(&mut self, value_bytes: usize) {
        self.bytes = self.bytes.saturating_add(self.key_bytes + value_bytes);
        self.taken += 1;
    }
}

impl LeafSink for Measure {
    fn enter(&mut self, segment: SegmentRef<'_>) -> Result<()> {
        self.above.push(self.key_bytes);
        self.key_bytes += match segment {
            // A type code, the text, and its end.
            SegmentRef::Key(key) => key.len() + 2,
            // A type code, and as many bytes as it has.
            SegmentRef::Index(index) => {
                1 + (u64::BITS - index.leading_zeros()).div_ceil(8) as usize
            }
        };
        Ok(())
    }

    fn leave(&mut self) {
        self.key_bytes = self.above.pop().unwrap_or_default();
    }

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<()> {
        self.add(match leaf {
            Leaf::String(text) => text.len(),
            _ => 1,
        });
        Ok(())
    }

    fn empty(&mut self, _: Kind) -> Result<()> {
        self.add(1);
        Ok(())
    }

    fn taken(&self) -> usize {
        self.taken
    }

    /// What is replaced later counts all the same: it is made, too.
    fn forget(&mut self, _: Range<usize>) {}
}
