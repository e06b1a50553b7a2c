//! The parts of a value between two paths.
//!
//! Their pairs are one range of keys. It can begin inside an array, or inside arrays of arrays. The elements of these arrays
//! close up: the first of them that has a pair in the range gets the index 0. All other values are
//! copied as they are.

use std::ops::Range;
use std::sync::Arc;

use crate::budget::WrittenText;
use crate::database::document_key::covers;
use crate::database::read::value_ref::{check_bytes, malformed};
use crate::document::path::SegmentRef;
use crate::error::Result;
use crate::key::{JsonText, KeyStep, Malformed, Marker, append_segment, step};
use crate::store::Pairs;

/// The pairs of a value between two paths. Never empty.
#[derive(Clone, Debug)]
pub struct PartsBetween {
    pairs: Arc<Pairs>,
    range: Range<usize>,
    /// The length of the key of the value.
    key_bytes: usize,
}

impl PartsBetween {
    /// Creates the parts of the value whose key has `key_bytes` from a range of pairs. None if the
    /// range is empty.
    pub(crate) fn new(pairs: Arc<Pairs>, range: Range<usize>, key_bytes: usize) -> Option<Self> {
        (!range.is_empty()).then_some(Self {
            pairs,
            range,
            key_bytes,
        })
    }

    /// Appends the value with only these parts as JSON text to `out`, which is part of the response.
    /// Yields to the scheduler while it writes a large value.
    ///
    /// # Errors
    /// As [`ValueRef::write_json`](crate::database::ValueRef::write_json).
    pub async fn write_json(&self, out: &mut Vec<u8>, mut written: WrittenText<'_>) -> Result<()> {
        let before = out.len();
        let bytes_max = written.bytes_max();
        let (first, _) = self.pairs.get(self.range.start);
        let mut opened = OpenedArrays::of(&first[self.key_bytes..]);
        let mut text = JsonText::new(out);
        let mut key = Vec::new();
        let mut last = first;
        for at in self.range.clone() {
            let (stored, leaf) = self.pairs.get(at);
            opened
                .renumber(&stored[self.key_bytes..], &mut key)
                .and_then(|()| text.push(&key, leaf))
                .map_err(|error| malformed(error, stored))?;
            last = stored;
            if written.leaves(1, stored.len() + leaf.len()) {
                check_bytes(text.bytes() - before, bytes_max)?;
                written.pace(text.bytes()).await?;
            }
        }
        text.finish().map_err(|error| malformed(error, last))?;
        check_bytes(out.len() - before, bytes_max)?;
        written.count(out.len())
    }
}

/// The arrays inside of which a range begins. All keys are relative to the value.
struct OpenedArrays<'k> {
    /// The first key of the range.
    first: &'k [u8],
    /// The length of the key of each array that contains the current key, and the index of its first
    /// element in the range, if it is not 0. Outermost first.
    arrays: Vec<(usize, u64)>,
}

impl<'k> OpenedArrays<'k> {
    fn of(first: &'k [u8]) -> Self {
        let mut arrays = Vec::new();
        let mut at = 0;
        while let Some((step, bytes)) = step(&first[at..]) {
            match step {
                KeyStep::Index(0) | KeyStep::Key(_) => {}
                KeyStep::Index(index) => arrays.push((at, index)),
                KeyStep::Marker(Marker::EmptyArray | Marker::EmptyObject | Marker::Piece) => break,
            }
            at += bytes;
        }
        Self { first, arrays }
    }

    /// Makes `key` the key under which the pair with the key `stored` is written. Keys ascend.
    fn renumber(&mut self, stored: &[u8], key: &mut Vec<u8>) -> Result<(), Malformed> {
        let first = self.first;
        let is_left = |(at, _): &mut (usize, u64)| !covers(&first[..*at], stored);
        while self.arrays.pop_if(is_left).is_some() {}
        key.clear();
        let mut copied = 0;
        for (at, first_index) in &self.arrays {
            key.extend_from_slice(&stored[copied..*at]);
            let Some((KeyStep::Index(index), bytes)) = step(&stored[*at..]) else {
                return Err(Malformed::Segment);
            };
            let index = index.checked_sub(*first_index);
            append_segment(key, SegmentRef::Index(index.ok_or(Malformed::Segment)?));
            copied = at + bytes;
        }
        key.extend_from_slice(&stored[copied..]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::path::Segment;

    fn key(pointer: &str) -> Vec<u8> {
        let mut key = Vec::new();
        for token in pointer.split('/').skip(1) {
            let segment = match token.parse() {
                Ok(index) => Segment::Index(index),
                Err(_) => Segment::Key(token.to_owned()),
            };
            append_segment(&mut key, segment.as_ref());
        }
        key
    }

    #[test]
    fn only_arrays_in_which_the_range_begins_are_renumbered() {
        let keys = [
            ("/a/3/2/x/7", "/a/0/0/x/0"),
            ("/a/3/2/x/8", "/a/0/0/x/1"),
            ("/a/3/2/y/0", "/a/0/0/y/0"),
            ("/a/3/300/x/0", "/a/0/298/x/0"),
            ("/a/4/0", "/a/1/0"),
            ("/a/400/1", "/a/397/1"),
            ("/b/0", "/b/0"),
        ];
        let first = key(keys[0].0);
        let mut opened = OpenedArrays::of(&first);
        let mut written = Vec::new();
        for (stored, expected) in keys {
            opened
                .renumber(&key(stored), &mut written)
                .expect("well-formed");
            assert_eq!(written, key(expected), "{stored}");
        }
        assert_eq!(
            OpenedArrays::of(&first).renumber(&key("/a/3/1"), &mut written),
            Err(Malformed::Segment)
        );
    }
}
