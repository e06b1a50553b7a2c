//! Computes a lower bound on the size of a JSON text's pairs without building them.

use std::ops::Range;

use crate::document::flatten::LeafSink;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::SegmentRef;
use crate::error::Result;

/// Sums the minimal sizes of keys and values.
#[derive(Default)]
pub(super) struct Measure {
    /// The sum so far.
    pub(super) bytes: usize,
    taken: usize,
    /// The size of the current key. `above` has the sizes of its ancestors' keys.
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
            // A type code, the text, and a terminator.
            SegmentRef::Key(key) => key.len() + 2,
            // A type code, and the bytes of the index.
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

    /// Replaced members count too, because the packer builds their pairs.
    fn forget(&mut self, _: Range<usize>) {}
}
