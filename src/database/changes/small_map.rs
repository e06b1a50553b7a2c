//! A map that is small in memory while it has few entries.

use std::collections::HashMap;
use std::hash::Hash;

/// A list with room for exactly its entries, up to [`FEW_MAX`] of them, and a hash map past it. A hash
/// map of one entry has room for three.
pub(super) enum SmallMap<K, V> {
    Few(Vec<(K, V)>),
    #[expect(clippy::box_collection, reason = "a map is twice as large as a list")]
    Many(Box<HashMap<K, V>>),
}

/// The most entries of a list, which is searched from its beginning.
const FEW_MAX: usize = 8;

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl<K: Eq + Hash, V> SmallMap<K, V> {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Few(entries) => entries.is_empty(),
            Self::Many(entries) => entries.is_empty(),
        }
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        match self {
            Self::Few(entries) => {
                let entry = entries.iter().find(|(own, _)| own == key);
                entry.map(|(_, value)| value)
            }
            Self::Many(entries) => entries.get(key),
        }
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self {
            Self::Few(entries) => {
                let entry = entries.iter_mut().find(|(own, _)| own == key);
                entry.map(|(_, value)| value)
            }
            Self::Many(entries) => entries.get_mut(key),
        }
    }

    /// Adds an entry whose key the map does not have.
    pub(super) fn insert(&mut self, key: K, value: V) {
        if let Self::Few(entries) = self
            && entries.len() == FEW_MAX
        {
            *self = Self::Many(Box::new(entries.drain(..).collect()));
        }
        match self {
            Self::Few(entries) => {
                entries.reserve_exact(1);
                entries.push((key, value));
            }
            Self::Many(entries) => {
                entries.insert(key, value);
            }
        }
    }

    pub(super) fn remove(&mut self, key: &K) {
        match self {
            Self::Few(entries) => {
                entries.retain(|(own, _)| own != key);
                entries.shrink_to_fit();
            }
            Self::Many(entries) => {
                entries.remove(key);
            }
        }
    }

    /// Calls `each` with each value, in any order.
    pub(super) fn each(&self, mut each: impl FnMut(&V)) {
        match self {
            Self::Few(entries) => entries.iter().for_each(|(_, value)| each(value)),
            Self::Many(entries) => entries.values().for_each(each),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn entries_are_found_until_they_are_removed() {
        let mut map = SmallMap::default();
        for last in [1, FEW_MAX, FEW_MAX + 1, 100] {
            for key in 0..last {
                assert!(map.get(&key).is_none());
                map.insert(key, key);
                *map.get_mut(&key).expect("it was added") += 1;
            }
            let mut values = BTreeSet::new();
            map.each(|value| assert!(values.insert(*value)));
            assert_eq!(values, (1..=last).collect());
            for key in 0..last {
                assert_eq!(map.get(&key), Some(&(key + 1)));
                assert!(!map.is_empty());
                map.remove(&key);
                assert!(map.get_mut(&key).is_none());
            }
            assert!(map.is_empty());
        }
    }
}
