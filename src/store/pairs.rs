//! The pairs that a read returns, stored in two allocations.

use std::ops::Range;

use crate::budget::grow;

/// Keys and values, in the order of a read.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    bytes: Vec<u8>,
    entries: Vec<PairOffset>,
}

/// Where a pair begins in the bytes, and the length of its key, in one number. It ends where the next one
/// begins.
#[derive(Clone, Copy, Debug)]
struct PairOffset(u64);

/// Bits of a [`PairOffset`] that have the length of the key.
const KEY_LENGTH_BITS: u32 = 20;

/// The pairs, and the bytes of them, for which the first pair makes room: those of a small subdocument.
const FIRST_PAIRS: usize = 8;
const FIRST_BYTES: usize = 256;

impl PairOffset {
    /// # Panics
    /// The key has 1 MiB or more, or all pairs have 16 TiB or more.
    #[inline]
    fn new(begin: usize, key_length: usize) -> Self {
        let (begin, key_length) = (begin as u64, key_length as u64);
        assert!(
            key_length >> KEY_LENGTH_BITS == 0 && begin >> (u64::BITS - KEY_LENGTH_BITS) == 0,
            "a key of {key_length} bytes at {begin}"
        );
        Self(begin << KEY_LENGTH_BITS | key_length)
    }

    #[inline]
    fn begin(self) -> usize {
        (self.0 >> KEY_LENGTH_BITS) as usize
    }

    #[inline]
    fn key(self) -> Range<usize> {
        let begin = self.begin();
        begin..begin + (self.0 & ((1 << KEY_LENGTH_BITS) - 1)) as usize
    }

    /// The same pair, behind so many bytes.
    #[inline]
    fn behind(self, bytes: Self) -> Self {
        Self(self.0 + bytes.0)
    }
}

impl Pairs {
    /// Appends a pair.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        if self.entries.capacity() == 0 {
            self.entries.reserve(FIRST_PAIRS);
            self.bytes.reserve(FIRST_BYTES);
        }
        let offset = PairOffset::new(self.bytes.len(), key.len());
        grow(&mut self.bytes, key.len() + value.len());
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        grow(&mut self.entries, 1);
        self.entries.push(offset);
    }

    /// Where the pair at `index` begins. After the last pair, where the bytes end.
    #[inline]
    fn begin_of(&self, index: usize) -> usize {
        let entry = self.entries.get(index);
        entry.map_or(self.bytes.len(), |entry| entry.begin())
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
        room + self.entries.capacity() * size_of::<PairOffset>()
    }

    /// Bytes of the keys and values of the pairs in `range`.
    pub fn bytes_of(&self, range: &Range<usize>) -> usize {
        self.begin_of(range.end) - self.begin_of(range.start)
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
        if range.start >= end {
            return range.start..range.start;
        }
        let bytes_end = self.begin_of(range.start).saturating_add(bytes_max);
        if self.begin_of(end) <= bytes_end {
            return range.start..end;
        }
        // A pair ends where the next one begins.
        let after_first = &self.entries[range.start + 1..end];
        let fitting = after_first.partition_point(|entry| entry.begin() <= bytes_end);
        range.start..range.start + fitting.max(1)
    }

    /// The pair at `index`.
    ///
    /// # Panics
    /// `index` is out of bounds.
    #[inline]
    pub fn get(&self, index: usize) -> (&[u8], &[u8]) {
        let key = self.entries[index].key();
        let value = key.end..self.begin_of(index + 1);
        (&self.bytes[key], &self.bytes[value])
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
        let shift = PairOffset::new(self.bytes.len(), 0);
        grow(&mut self.bytes, other.bytes.len());
        self.bytes.extend_from_slice(&other.bytes);
        grow(&mut self.entries, other.entries.len());
        let entries = other.entries.iter();
        self.entries
            .extend(entries.map(|entry| entry.behind(shift)));
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
        self.bytes.truncate(self.begin_of(len));
        self.entries.truncate(len);
    }

    /// The indexes of the first pairs in `range` whose key is `place`, or is below it: what follows it is less than
    /// 0xFF. The keys in `range` must ascend, and be at `place` or after it.
    pub fn at_or_below(&self, range: Range<usize>, place: &[u8]) -> Range<usize> {
        let is_within = |entry: &PairOffset| {
            let rest = self.bytes[entry.key()].strip_prefix(place);
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
        let key = |entry: &PairOffset| &self.bytes[entry.key()];
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
    fn pairs_of_all_lengths_are_returned_as_they_were_appended() {
        let byte = |number: usize| u8::try_from(number % 251).expect("a byte");
        let lengths = [(1, 0), (10_000, 3), (0, 0), (7, 70_000), (3, 1)];
        let expected: Vec<_> = (0..40)
            .map(|number| {
                let (key, value) = lengths[number % lengths.len()];
                (vec![byte(number); key], vec![byte(number + 1); value])
            })
            .collect();
        let mut pairs = Pairs::default();
        for (key, value) in &expected[..17] {
            pairs.push(key, value);
        }
        let mut rest = Pairs::default();
        for (key, value) in &expected[17..] {
            rest.push(key, value);
        }
        pairs.append(&rest);
        let bytes = |range: Range<usize>| -> usize {
            let pairs = expected[range].iter();
            pairs.map(|(key, value)| key.len() + value.len()).sum()
        };
        assert_eq!(pairs.bytes(), bytes(0..40));
        let listed = |pairs: &Pairs| -> Vec<_> {
            let pairs = pairs.iter();
            pairs
                .map(|(key, value)| (key.to_vec(), value.to_vec()))
                .collect()
        };
        assert_eq!(listed(&pairs), expected);
        let mut reversed = listed(&pairs.reversed());
        reversed.reverse();
        assert_eq!(reversed, expected);
        for (from, to) in [(0, 40), (3, 39), (17, 18), (5, 5), (40, 40)] {
            assert_eq!(pairs.bytes_of(&(from..to)), bytes(from..to));
            for bytes_max in [0, 1, 10_003, 10_004, 80_000, 90_000, usize::MAX] {
                for pairs_max in [1, 4, 100] {
                    let most = to.min(from + pairs_max);
                    let fitting = (from..=most)
                        .rev()
                        .find(|end| bytes(from..*end) <= bytes_max);
                    let end = fitting.map_or(most, |end| end.max(most.min(from + 1)));
                    assert_eq!(pairs.portion(&(from..to), pairs_max, bytes_max), from..end);
                }
            }
        }
        pairs.truncate(17);
        assert_eq!(listed(&pairs), expected[..17]);
        assert_eq!(pairs.bytes(), bytes(0..17));
    }

    #[test]
    fn the_pairs_at_and_below_a_place_are_found_from_the_first_on() {
        let mut pairs = Pairs::default();
        // A name that continues with a null byte is another name.
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
