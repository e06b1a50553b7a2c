//! Ranges that are cleared but not in redb yet.
//!
//! A range is cleared by one entry `begin → end`, whatever the number of its pairs. Reads step over
//! the whole range at once.

use super::overlay::{KeyChange, KeyChanges, Overlay};

/// A range of keys: its first key and its end, which is exclusive.
pub(crate) type KeySpan<'o> = (&'o [u8], &'o [u8]);

/// Ranges of keys, which neither overlap nor touch.
#[derive(Clone, Default)]
pub(crate) struct ClearedRanges(Overlay);

impl ClearedRanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a range. It becomes one range with those that it overlaps or touches.
    pub(crate) fn insert(&mut self, begin: &[u8], end: &[u8]) {
        let (mut begin, mut end) = (begin.to_vec(), end.to_vec());
        if let Some((first, last)) = self.last_until(&begin)
            && *last >= *begin
        {
            begin = first.to_vec();
        }
        if let Some((_, last)) = self.last_until(&end)
            && *last > *end
        {
            end = last.to_vec();
        }
        self.0.remove(&begin, &end);
        let mut change = KeyChanges::default();
        change.push(&begin, Some(&end));
        self.0.insert(&change);
    }

    /// Whether a range has `key`.
    pub(crate) fn covers(&self, key: &[u8]) -> bool {
        self.last_until(key).is_some_and(|(_, end)| end > key)
    }

    /// The first range that ends after `key`.
    pub(crate) fn first_after(&self, key: &[u8]) -> Option<KeySpan<'_>> {
        let covering = self.last_until(key).filter(|(_, end)| *end > key);
        covering.or_else(|| span(self.0.first_from(key)))
    }

    /// The last range that begins at or before `key`.
    pub(crate) fn last_until(&self, key: &[u8]) -> Option<KeySpan<'_>> {
        span(self.0.last_until(key))
    }

    /// The last range that begins before `key`.
    pub(crate) fn last_before(&self, key: &[u8]) -> Option<KeySpan<'_>> {
        span(self.0.last_before(key))
    }

    /// Whether a range has a key from `begin` to before `end`.
    pub(crate) fn meets(&self, begin: &[u8], end: &[u8]) -> bool {
        self.last_before(end).is_some_and(|(_, last)| last > begin)
    }

    /// All ranges in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = KeySpan<'_>> {
        self.0.iter().filter_map(|change| span(Some(change)))
    }
}

fn span(change: Option<KeyChange<'_>>) -> Option<KeySpan<'_>> {
    change.and_then(|(begin, end)| Some((begin, end?)))
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    const KEYS: usize = 600;

    fn key(number: usize) -> Vec<u8> {
        format!("{number:05}").into_bytes()
    }

    /// The maximal runs of cleared numbers.
    fn runs(model: &[bool]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut runs = Vec::new();
        let mut begin = None;
        for at in 0..=model.len() {
            match (begin, model.get(at).is_some_and(|cleared| *cleared)) {
                (None, true) => begin = Some(at),
                (Some(first), false) => {
                    runs.push((key(first), key(at)));
                    begin = None;
                }
                _ => {}
            }
        }
        runs
    }

    #[test]
    fn cleared_ranges_are_the_maximal_runs_of_a_set_of_keys() {
        let mut random = StdRng::seed_from_u64(40);
        for length_max in [3, 40] {
            let (mut cleared, mut model) = (ClearedRanges::default(), vec![false; KEYS]);
            for _ in 0..200 {
                let begin = random.random_range(0..KEYS - length_max);
                let end = begin + random.random_range(1..length_max);
                let before = cleared.clone();
                let count = before.iter().count();
                cleared.insert(&key(begin), &key(end));
                model[begin..end].fill(true);
                assert_eq!(before.iter().count(), count, "clones do not change");
                let runs = runs(&model);
                let found: Vec<_> = cleared.iter().collect();
                let expected: Vec<_> = runs.iter().map(|(a, b)| (&a[..], &b[..])).collect();
                assert_eq!(found, expected);
                let at = random.random_range(0..KEYS);
                let probe = key(at);
                assert_eq!(cleared.covers(&probe), model[at]);
                let first = expected.iter().find(|(_, end)| *end > &probe[..]);
                assert_eq!(cleared.first_after(&probe), first.copied());
                let last = expected.iter().rfind(|(begin, _)| *begin < &probe[..]);
                assert_eq!(cleared.last_before(&probe), last.copied());
                let until = (at + 7).min(KEYS - 1);
                assert_eq!(
                    cleared.meets(&probe, &key(until)),
                    model[at..until].contains(&true)
                );
            }
        }
    }
}
