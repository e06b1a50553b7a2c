//! Two overlays, one above the other: while the changes of one are being written to redb, later
//! commits change another one.

use std::cmp::Ordering;

use super::cleared::{ClearedRanges, KeySpan};
use super::overlay::{KeyChange, KeyChanges, Overlay, Walk};

/// Changes that are not in redb: cleared ranges, and after them changes of keys.
#[derive(Clone, Default)]
pub(crate) struct Layer {
    changes: Overlay,
    cleared: ClearedRanges,
}

impl Layer {
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.cleared.is_empty()
    }

    /// The ranges that are cleared before the other changes.
    pub(crate) fn cleared(&self) -> &ClearedRanges {
        &self.cleared
    }

    /// The changes of keys in ascending order.
    pub(crate) fn changes(&self) -> Walk<'_> {
        self.changes.iter()
    }

    /// As [`Overlay::insert`].
    pub(crate) fn insert(&mut self, changes: &KeyChanges) {
        self.changes.insert(changes);
    }

    /// Clears the keys from `begin` to before `end`, in a time that does not depend on how many
    /// there are in redb.
    pub(crate) fn clear(&mut self, begin: &[u8], end: &[u8]) {
        if begin < end {
            self.changes.remove(begin, end);
            self.cleared.insert(begin, end);
        }
    }

    /// As [`Overlays::get`].
    #[expect(
        clippy::option_option,
        reason = "a key is not changed, cleared, or set"
    )]
    fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        match self.changes.get(key) {
            Some((_, value)) => Some(value),
            None => self.cleared.covers(key).then_some(None),
        }
    }
}

/// Two overlays, one above the other.
#[derive(Clone, Default)]
pub(crate) struct Overlays {
    pub(crate) newer: Layer,
    /// Changes that are being written to redb.
    pub(crate) older: Layer,
}

impl Overlays {
    pub(crate) fn is_empty(&self) -> bool {
        self.newer.is_empty() && self.older.is_empty()
    }

    /// The ranges of redb that are cleared.
    pub(crate) fn cleared(&self) -> [&ClearedRanges; 2] {
        [&self.newer.cleared, &self.older.cleared]
    }

    /// The new value of a key, or `None` if it is cleared, if the key is changed.
    #[expect(
        clippy::option_option,
        reason = "a key is not changed, cleared, or set"
    )]
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.newer.get(key).or_else(|| self.older.get(key))
    }

    /// The changes of keys from `begin` to before `end`, in ascending or descending order.
    ///
    /// If the newer overlay clears a range of the older one, the walk has the first key of the older
    /// one there as cleared, and not the others.
    pub(crate) fn range<'o>(
        &'o self,
        begin: &'o [u8],
        end: &'o [u8],
        reverse: bool,
    ) -> OverlayWalk<'o> {
        let mut newer = self.newer.changes.range(begin, end, reverse);
        let mut older = OlderWalk {
            walk: self.older.changes.range(begin, end, reverse),
            changes: &self.older.changes,
            cleared: Some(&self.newer.cleared).filter(|cleared| !cleared.is_empty()),
            hidden: None,
            reverse,
        };
        OverlayWalk {
            next: [newer.next(), older.next()],
            newer,
            older,
            reverse,
        }
    }
}

/// An iterator over the changes of the older overlay, without those that the newer one clears.
struct OlderWalk<'o> {
    walk: Walk<'o>,
    changes: &'o Overlay,
    /// The ranges that the newer overlay clears. `None` if no further one can be reached.
    cleared: Option<&'o ClearedRanges>,
    /// The next of them, in the direction of the walk.
    hidden: Option<KeySpan<'o>>,
    reverse: bool,
}

impl<'o> OlderWalk<'o> {
    /// The cleared range that has `key`. The keys of the calls are in the order of the walk.
    fn hiding(&mut self, key: &[u8]) -> Option<KeySpan<'o>> {
        let cleared = self.cleared?;
        let passed = |(begin, end): KeySpan<'_>| {
            if self.reverse {
                begin > key
            } else {
                end <= key
            }
        };
        if self.hidden.is_none_or(passed) {
            self.hidden = if self.reverse {
                cleared.last_until(key)
            } else {
                cleared.first_after(key)
            };
            if self.hidden.is_none() {
                self.cleared = None;
            }
        }
        self.hidden
            .filter(|(begin, end)| *begin <= key && key < *end)
    }
}

impl<'o> Iterator for OlderWalk<'o> {
    type Item = KeyChange<'o>;

    fn next(&mut self) -> Option<KeyChange<'o>> {
        let (key, value) = self.walk.next()?;
        let Some((begin, end)) = self.hiding(key) else {
            return Some((key, value));
        };
        let position = if self.reverse { begin } else { end };
        self.walk.seek_in(self.changes, position);
        Some((key, None))
    }
}

/// An iterator over the changes of two overlays.
pub(crate) struct OverlayWalk<'o> {
    newer: Walk<'o>,
    older: OlderWalk<'o>,
    /// The next change of each.
    next: [Option<KeyChange<'o>>; 2],
    reverse: bool,
}

impl<'o> OverlayWalk<'o> {
    /// The change that [`Iterator::next`] returns.
    pub(crate) fn peek(&self) -> Option<KeyChange<'o>> {
        match self.next {
            [Some(newer), Some(older)] if self.order(newer, older).is_gt() => Some(older),
            [newer, older] => newer.or(older),
        }
    }

    /// The next change, unless its key is behind `key`.
    pub(crate) fn next_until(&mut self, key: &[u8]) -> Option<KeyChange<'o>> {
        let next = self.peek()?;
        if self.order(next, (key, None)).is_gt() {
            return None;
        }
        self.next()
    }

    /// The next change, if it is in a range whose last bound in the direction of the walk is `bound`: the
    /// end, or the first key if the walk descends.
    pub(crate) fn next_within(&mut self, bound: &[u8]) -> Option<KeyChange<'o>> {
        let (key, _) = self.peek()?;
        let within = if self.reverse {
            key >= bound
        } else {
            key < bound
        };
        if within { self.next() } else { None }
    }

    /// Whether `one` is before `other` in the direction of the walk.
    fn order(&self, one: KeyChange<'_>, other: KeyChange<'_>) -> Ordering {
        let order = one.0.cmp(other.0);
        if self.reverse { order.reverse() } else { order }
    }
}

impl<'o> Iterator for OverlayWalk<'o> {
    type Item = KeyChange<'o>;

    fn next(&mut self) -> Option<KeyChange<'o>> {
        let next = self.peek();
        let order = match self.next {
            [Some(newer), Some(older)] => self.order(newer, older),
            [Some(_), None] => Ordering::Less,
            [None, Some(_)] => Ordering::Greater,
            [None, None] => return None,
        };
        if order.is_le() {
            self.next[0] = self.newer.next();
        }
        if order.is_ge() {
            self.next[1] = self.older.next();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    const NUMBERS: u32 = 3000;

    fn key(number: u32, long: bool) -> Vec<u8> {
        let mut key = number.to_string().into_bytes();
        key.resize(key.len() + usize::from(long) * 9, b'x');
        key
    }

    fn random_key(random: &mut StdRng) -> Vec<u8> {
        key(random.random_range(0..NUMBERS), random.random())
    }

    fn random_range(random: &mut StdRng) -> (Vec<u8>, Vec<u8>) {
        let (one, other) = (random_key(random), random_key(random));
        (one.clone().min(other.clone()), one.max(other))
    }

    fn batch(random: &mut StdRng) -> Model {
        let count = [1, 3, 50, 400][random.random_range(0..4)];
        let mut change = || {
            let bytes = [0, 5, 60, 9_000][random.random_range(0..100_usize) / 33];
            let value = random
                .random_bool(0.8)
                .then(|| vec![random.random(); bytes]);
            (random_key(random), value)
        };
        (0..count).map(|_| change()).collect()
    }

    fn insert(layer: &mut Layer, model: &Model) {
        let mut changes = KeyChanges::default();
        for (key, value) in model {
            changes.push(key, value.as_deref());
        }
        layer.insert(&changes);
    }

    /// Clears a range of about `keys` keys in a layer and in its model.
    fn clear(random: &mut StdRng, layer: &mut Layer, model: &mut Model, numbers: u32) {
        let first = random.random_range(1000..NUMBERS - numbers);
        let (begin, end) = (key(first, false), key(first + numbers, false));
        layer.clear(&begin, &end);
        let all = (0..NUMBERS).flat_map(|number| [key(number, false), key(number, true)]);
        let inside = all.filter(|key| begin <= *key && *key < end);
        model.extend(inside.map(|key| (key, None)));
    }

    fn check(overlays: &Overlays, model: &Model, random: &mut StdRng) {
        let probe = random_key(random);
        let known = model.get(&probe).map(|value| value.as_deref());
        assert_eq!(overlays.get(&probe), known);
        let (some_begin, some_end) = random_range(random);
        for (begin, end) in [(&some_begin[..], &some_end[..]), (b"", b"\xff")] {
            for reverse in [false, true] {
                let found: Vec<_> = overlays.range(begin, end, reverse).collect();
                let is_cleared =
                    |(key, value): &&KeyChange<'_>| value.is_none() && model[*key].is_some();
                assert_eq!(found.iter().find(is_cleared), None);
                let inside = model
                    .iter()
                    .filter(|(key, _)| (begin..end).contains(&&key[..]));
                let set = inside.filter_map(|(key, value)| Some((&key[..], value.as_deref()?)));
                let mut expected: Vec<_> = set.collect();
                if reverse {
                    expected.reverse();
                }
                let set = found
                    .iter()
                    .filter_map(|(key, value)| Some((*key, (*value)?)));
                assert!(set.collect::<Vec<_>>() == expected);
            }
        }
    }

    #[test]
    fn overlays_read_like_a_map_and_clones_do_not_change() {
        let mut random = StdRng::seed_from_u64(20);
        for numbers in [0, 1, 20, 900] {
            for _ in 0..5 {
                let (mut overlays, mut model) = (Overlays::default(), Model::new());
                let mut clones = Vec::new();
                for round in 0..40 {
                    let layer = if round > 20 {
                        &mut overlays.newer
                    } else {
                        &mut overlays.older
                    };
                    if numbers > 0 && random.random_bool(0.5) {
                        clear(&mut random, layer, &mut model, numbers);
                    } else {
                        let batch = batch(&mut random);
                        insert(layer, &batch);
                        model.extend(batch);
                    }
                    clones.push((overlays.clone(), model.clone()));
                }
                for (overlays, model) in &clones {
                    check(overlays, model, &mut random);
                }
            }
        }
    }

    #[test]
    fn a_walk_steps_over_a_cleared_range_of_the_older_overlay_at_once() {
        let mut overlays = Overlays::default();
        let keys: Model = (1000..2000)
            .map(|number| (key(number, false), Some(Vec::new())))
            .collect();
        insert(&mut overlays.older, &keys);
        for begin in (1000..2000).step_by(100) {
            overlays
                .newer
                .clear(&key(begin, false), &key(begin + 99, false));
        }
        for reverse in [false, true] {
            let steps = overlays.range(b"", b"\xff", reverse).count();
            assert_eq!(
                steps, 20,
                "a cleared key and a set one for each of 10 ranges"
            );
        }
    }
}
