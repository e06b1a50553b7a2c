//! An ordered map in memory, as a store is to behave.

use std::collections::BTreeMap;

type Pair = (Vec<u8>, Vec<u8>);

/// Pairs of a key and a value, in the order of the keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pairs(BTreeMap<Vec<u8>, Vec<u8>>);

impl FromIterator<Pair> for Pairs {
    fn from_iter<I: IntoIterator<Item = Pair>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Pairs {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.0.get(key).map(Vec::as_slice)
    }

    pub(crate) fn set(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.0.insert(key, value);
    }

    pub(crate) fn clear(&mut self, key: &[u8]) {
        self.0.remove(key);
    }

    /// Removes the keys from `begin` to before `end`.
    pub(crate) fn clear_range(&mut self, begin: &[u8], end: &[u8]) {
        self.0
            .retain(|key, _| key.as_slice() < begin || key.as_slice() >= end);
    }

    /// Adds to a value that is a little-endian integer of 64 bits; a missing one is 0.
    pub(crate) fn add(&mut self, key: Vec<u8>, by: i64) {
        let value = self.0.entry(key).or_default();
        value.resize(8, 0);
        let before = i64::from_le_bytes(value[..].try_into().expect("eight bytes"));
        *value = before.wrapping_add(by).to_le_bytes().to_vec();
    }

    pub(crate) fn all(&self) -> Vec<Pair> {
        let owned = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        self.0.iter().map(owned).collect()
    }

    /// At most `max` pairs from `begin` to before `end`, the last ones first if `reverse`.
    pub(crate) fn range(&self, begin: &[u8], end: &[u8], max: usize, reverse: bool) -> Vec<Pair> {
        if begin >= end {
            return Vec::new();
        }
        let within = self.0.range(begin.to_vec()..end.to_vec());
        let owned = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        if reverse {
            within.rev().take(max).map(owned).collect()
        } else {
            within.take(max).map(owned).collect()
        }
    }
}
