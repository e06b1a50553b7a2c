//! An LRU cache, bounded by the number of its entries and their bytes.

use std::borrow::Borrow;
use std::hash::Hash;

/// A cache that evicts the least recently used entries. Callers give the size of each entry.
pub(crate) struct LruCache<K: Hash + Eq, V> {
    entries: lru::LruCache<K, (usize, V)>,
    bytes: usize,
    number_max: usize,
    bytes_max: usize,
}

impl<K: Hash + Eq, V: Clone> LruCache<K, V> {
    pub(crate) fn new(number_max: usize, bytes_max: usize) -> Self {
        Self {
            entries: lru::LruCache::unbounded(),
            bytes: 0,
            number_max,
            bytes_max,
        }
    }

    /// The value of a key, which becomes the most recently used one.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(_, value)| value.clone())
    }

    /// Whether the key is in the cache. Does not count as a use.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.entries.contains(key)
    }

    /// Inserts a value of `bytes` bytes, and evicts the least recently used entries over the
    /// limits.
    pub(crate) fn keep(&mut self, key: K, value: V, bytes: usize) {
        self.bytes += bytes;
        if let Some((replaced, _)) = self.entries.put(key, (bytes, value)) {
            self.bytes -= replaced;
        }
        while (self.bytes > self.bytes_max || self.entries.len() > self.number_max)
            && let Some((_, (dropped, _))) = self.entries.pop_lru()
        {
            self.bytes -= dropped;
        }
    }

    /// The number of entries and their bytes.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_entries_are_kept_within_count_and_bytes() {
        const NUMBER: usize = 100;
        const LONGEST: usize = 1 << 10;
        let mut kept = LruCache::new(NUMBER, 10 * LONGEST);
        let text = |number: usize, bytes: usize| format!("{number:0bytes$}");
        for number in 0..2 * NUMBER {
            kept.keep(text(number, 10), number, 10);
            assert_eq!(kept.get(&text(0, 10)), Some(0), "it is asked for");
        }
        assert_eq!(kept.size(), (NUMBER, 10 * NUMBER));
        assert_eq!(kept.get(&text(1, 10)), None);
        for number in 0..NUMBER {
            kept.keep(text(number, LONGEST), number, LONGEST);
            // Replacing an entry adds no bytes.
            kept.keep(text(number, LONGEST), number + 1, LONGEST);
        }
        assert_eq!(kept.size(), (10, 10 * LONGEST));
        assert_eq!(kept.get(&text(NUMBER - 1, LONGEST)), Some(NUMBER));
        kept.keep(text(0, 1), 0, 10 * LONGEST + 1);
        assert_eq!(kept.size(), (0, 0), "there is no room for it");
    }
}
