//! The keys whose pairs are lost.

use std::collections::BTreeMap;

use crate::store::key_after;

/// No key begins with this byte.
const END: &[u8] = &[0xFF];

/// Ranges of keys whose pairs are unknown: the pages that had them are damaged, and nothing that is intact
/// has written or cleared them since.
#[derive(Clone, Debug, Default)]
pub struct LostKeys {
    /// The first key of each range, and its end. They do not overlap.
    ranges: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// What is wrong with the files of a store, and which keys are lost by it.
#[derive(Default)]
pub(super) struct Losses {
    pub(super) keys: LostKeys,
    pub(super) faults: Vec<String>,
}

impl LostKeys {
    /// All keys.
    pub(super) fn all() -> Self {
        let mut all = Self::default();
        all.add(Vec::new(), None);
        all
    }

    /// Adds a range. Without an end, it has all keys from its begin on.
    pub(super) fn add(&mut self, begin: Vec<u8>, end: Option<Vec<u8>>) {
        let mut end = end.unwrap_or_else(|| END.to_vec());
        if begin >= end {
            return;
        }
        let mut begin = begin;
        // Those that it touches become a part of it.
        while let Some((first, last)) = self.last_before(&end, true) {
            if last < begin {
                break;
            }
            self.ranges.remove(&first);
            begin = begin.min(first);
            end = end.max(last);
        }
        self.ranges.insert(begin, end);
    }

    /// Removes a range, because its pairs are known.
    pub(super) fn remove(&mut self, begin: &[u8], end: &[u8]) {
        if begin >= end {
            return;
        }
        while let Some((first, last)) = self.last_before(end, false) {
            if last[..] <= *begin {
                break;
            }
            self.ranges.remove(&first);
            if last[..] > *end {
                self.ranges.insert(end.to_vec(), last);
            }
            if first[..] < *begin {
                self.ranges.insert(first, begin.to_vec());
            }
        }
    }

    /// Removes a key.
    pub(super) fn remove_key(&mut self, key: &[u8]) {
        if !self.ranges.is_empty() {
            self.remove(key, &key_after(key));
        }
    }

    /// Whether any key of a range is lost.
    pub fn has_any(&self, begin: &[u8], end: &[u8]) -> bool {
        let last = self.last_before(end, false);
        begin < end && last.is_some_and(|(_, last)| last[..] > *begin)
    }

    /// Whether no key is lost.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, in the order of their keys: the first key and the end of each.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.ranges
            .iter()
            .map(|(begin, end)| (&begin[..], &end[..]))
    }

    /// The last range that begins before a key, or also at it.
    fn last_before(&self, key: &[u8], or_at: bool) -> Option<(Vec<u8>, Vec<u8>)> {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let bound = if or_at { Included(key) } else { Excluded(key) };
        let mut before = self.ranges.range::<[u8], _>((Unbounded, bound));
        before
            .next_back()
            .map(|(begin, end)| (begin.clone(), end.clone()))
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    /// Compares random operations with a set of keys of one byte.
    #[test]
    fn ranges_are_added_and_removed_as_in_a_set_of_keys() {
        let mut chance = StdRng::seed_from_u64(7);
        for _ in 0..200 {
            let (mut lost, mut expected) = (LostKeys::default(), [false; 20]);
            for _ in 0..30 {
                let begin = chance.random_range(0..20_u8);
                let end = chance.random_range(begin..=20);
                let adds = chance.random_bool(0.5);
                if adds {
                    lost.add(vec![begin], Some(vec![end]));
                } else {
                    lost.remove(&[begin], &[end]);
                }
                expected[usize::from(begin)..usize::from(end)].fill(adds);
                for key in 0..20 {
                    let is_lost = lost.has_any(&[key], &[key + 1]);
                    assert_eq!(is_lost, expected[usize::from(key)], "{key} of {lost:?}");
                }
                let disjoint: Vec<_> = lost.iter().collect();
                assert!(
                    disjoint.is_sorted_by(|one, next| one.1 < next.0),
                    "{lost:?}"
                );
            }
        }
    }

    #[test]
    fn a_key_without_a_limit_is_removed_from_the_middle() {
        let mut lost = LostKeys::all();
        lost.remove_key(b"k");
        assert!(!lost.has_any(b"k", b"k\0"));
        assert!(lost.has_any(b"a", b"k") && lost.has_any(b"k\0", b"l"));
        assert_eq!(lost.iter().count(), 2);
    }
}
