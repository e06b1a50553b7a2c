//! The pairs that a read returns, stored in two allocations.

use std::ops::Range;

use crate::budget::grow;

/// Keys and values, in the order of a read.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    bytes: Vec<u8>,
    entries: Vec<PairOffsets>,
}

#[derive(Clone, Copy, Debug)]
struct PairOffsets {
    begin: usize,
    value: usize,
    end: usize,
}

impl Pairs {
    /// Appends a pair.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let begin = self.bytes.len();
        grow(&mut self.bytes, key.len() + value.len());
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        grow(&mut self.entries, 1);
        self.entries.push(PairOffsets {
            begin,
            value: begin + key.len(),
            end: self.bytes.len(),
        });
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory that is allocated beyond those of the keys and values: where the pairs begin, and
    /// room for more.
    pub fn spare_bytes(&self) -> usize {
        let room = self.bytes.capacity() - self.bytes.len();
        room + self.entries.capacity() * size_of::<PairOffsets>()
    }

    /// Bytes of the keys and values of the pairs in `range`.
    pub fn bytes_of(&self, range: &Range<usize>) -> usize {
        match &self.entries[range.clone()] {
            [first, .., last] => last.end - first.begin,
            [only] => only.end - only.begin,
            [] => 0,
        }
    }

    /// The first pairs of `range`: at most `pairs_max`, and at most `bytes_max` bytes of keys and values.
    /// At least one, if there are any.
    pub fn portion(
        &self,
        range: &Range<usize>,
        pairs_max: usize,
        bytes_max: usize,
    ) -> Range<usize> {
        let end = range.end.min(range.start + pairs_max);
        let entries = &self.entries[range.start..end];
        let Some(first) = entries.first() else {
            return range.start..range.start;
        };
        let fitting = entries.partition_point(|entry| entry.end - first.begin <= bytes_max);
        range.start..range.start + fitting.max(1)
    }

    /// The pair at `index`.
    ///
    /// # Panics
    /// `index` is out of bounds.
    #[inline]
    pub fn get(&self, index: usize) -> (&[u8], &[u8]) {
        let entry = self.entries[index];
        (
            &self.bytes[entry.begin..entry.value],
            &self.bytes[entry.value..entry.end],
        )
    }

    /// The first pair.
    pub fn first(&self) -> Option<(&[u8], &[u8])> {
        (!self.is_empty()).then(|| self.get(0))
    }

    /// The last pair.
    pub fn last(&self) -> Option<(&[u8], &[u8])> {
        self.len().checked_sub(1).map(|last| self.get(last))
    }

    /// Iterates over the pairs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Appends all pairs of `other`.
    pub fn append(&mut self, other: &Self) {
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        let shift = self.bytes.len();
        grow(&mut self.bytes, other.bytes.len());
        self.bytes.extend_from_slice(&other.bytes);
        grow(&mut self.entries, other.entries.len());
        self.entries
            .extend(other.entries.iter().map(|entry| PairOffsets {
                begin: entry.begin + shift,
                value: entry.value + shift,
                end: entry.end + shift,
            }));
    }

    /// Copies the pairs in `range`.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::default();
        for index in range {
            let (key, value) = self.get(index);
            part.push(key, value);
        }
        part
    }

    /// The pairs in reverse order.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut reversed = Self {
            bytes: Vec::with_capacity(self.bytes.len()),
            entries: Vec::with_capacity(self.entries.len()),
        };
        for index in (0..self.len()).rev() {
            let (key, value) = self.get(index);
            reversed.push(key, value);
        }
        reversed
    }

    /// Keeps the first `len` pairs.
    pub(super) fn truncate(&mut self, len: usize) {
        if let Some(entry) = self.entries.get(len) {
            self.bytes.truncate(entry.begin);
            self.entries.truncate(len);
        }
    }

    /// The indexes of the first pairs in `range` whose key is `place`, or is below it: what follows it is less than
    /// 0xFF. The keys in `range` must ascend, and be at `place` or after it.
    pub fn at_or_below(&self, range: Range<usize>, place: &[u8]) -> Range<usize> {
        let is_within = |entry: &PairOffsets| {
            let rest = self.bytes[entry.begin..entry.value].strip_prefix(place);
            rest.is_some_and(|rest| rest.first() != Some(&0xFF))
        };
        // Most are few, so the end is looked for from the beginning.
        let mut known = range.start;
        let mut step = 1;
        while known + step <= range.end && is_within(&self.entries[known + step - 1]) {
            known += step;
            step *= 2;
        }
        let end = range.end.min(known + step);
        range.start..known + self.entries[known..end].partition_point(is_within)
    }

    /// The indexes of the pairs in `range` whose keys are from `begin` to before `end`. The keys in
    /// `range` must ascend.
    pub fn between(&self, range: Range<usize>, begin: &[u8], end: &[u8]) -> Range<usize> {
        let key = |entry: &PairOffsets| &self.bytes[entry.begin..entry.value];
        let entries = &self.entries[range.clone()];
        let first = entries.partition_point(|entry| key(entry) < begin);
        let length = entries[first..].partition_point(|entry| key(entry) < end);
        range.start + first..range.start + first + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pairs_at_and_below_a_place_are_found_from_the_first_on() {
        let mut pairs = Pairs::default();
        // A name that goes on with a null byte is another name.
        let names = [&b"a\0"[..], b"a\0\x02b\0", b"a\0\xFF\0", b"a\0\xFF\0\x14"];
        for name in names {
            pairs.push(name, b"");
        }
        assert_eq!(pairs.at_or_below(0..4, names[0]), 0..2);
        assert_eq!(pairs.at_or_below(2..4, names[2]), 2..4);
        pairs = Pairs::default();
        for group in 0..4_u8 {
            for number in 0..[1_u8, 0, 100, 3][usize::from(group)] {
                pairs.push(&[group, number], b"value");
            }
        }
        for (from, to, group) in [
            (0, 104, 0),
            (1, 104, 2),
            (50, 104, 2),
            (1, 60, 2),
            (101, 104, 3),
        ] {
            let expected = pairs.between(from..to, &[group], &[group + 1]);
            assert_eq!(pairs.at_or_below(from..to, &[group]), expected);
        }
        assert_eq!(pairs.at_or_below(0..104, &[1]), 0..0);
        assert_eq!(pairs.at_or_below(104..104, &[1]), 104..104);
    }
}
