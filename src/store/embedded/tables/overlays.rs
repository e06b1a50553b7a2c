//! Two overlays, one above the other: while the changes of one are being written to redb, later
//! commits change another one.

use std::cmp::Ordering;

use super::overlay::{KeyChange, Overlay, Walk};

/// Two overlays, one above the other.
#[derive(Clone, Default)]
pub(crate) struct Overlays {
    pub(crate) newer: Overlay,
    /// Changes that are being written to redb.
    pub(crate) older: Overlay,
}

impl Overlays {
    pub(crate) fn is_empty(&self) -> bool {
        self.newer.is_empty() && self.older.is_empty()
    }

    /// As [`Overlay::get`].
    pub(crate) fn get(&self, key: &[u8]) -> Option<KeyChange<'_>> {
        self.newer.get(key).or_else(|| self.older.get(key))
    }

    /// The changes from `begin` to before `end`, in ascending or descending order.
    pub(crate) fn range<'o>(
        &'o self,
        begin: &'o [u8],
        end: &'o [u8],
        reverse: bool,
    ) -> OverlayWalk<'o> {
        let mut newer = self.newer.range(begin, end, reverse);
        let mut older = self.older.range(begin, end, reverse);
        OverlayWalk {
            next: [newer.next(), older.next()],
            newer,
            older,
            reverse,
        }
    }
}

/// An iterator over the changes of two overlays.
pub(crate) struct OverlayWalk<'o> {
    newer: Walk<'o>,
    older: Walk<'o>,
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

    /// Whether the walk descends.
    pub(crate) fn reverse(&self) -> bool {
        self.reverse
    }

    /// The next change, unless its key is behind `key`.
    pub(crate) fn next_until(&mut self, key: &[u8]) -> Option<KeyChange<'o>> {
        let next = self.peek()?;
        if self.order(next, (key, None)).is_gt() {
            return None;
        }
        self.next()
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

    use super::super::overlay::KeyChanges;
    use super::*;

    type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn key(random: &mut StdRng) -> Vec<u8> {
        let mut key = random.random_range(0..3000_u32).to_string().into_bytes();
        key.resize(key.len() + random.random_range(0..2) * 9, b'x');
        key
    }

    fn batch(random: &mut StdRng) -> Model {
        let count = [1, 3, 50, 400][random.random_range(0..4)];
        let mut change = || {
            let bytes = [0, 5, 60, 9_000][random.random_range(0..100_usize) / 33];
            let value = random
                .random_bool(0.8)
                .then(|| vec![random.random(); bytes]);
            (key(random), value)
        };
        (0..count).map(|_| change()).collect()
    }

    fn insert(overlay: &mut Overlay, model: &Model) {
        let mut changes = KeyChanges::default();
        for (key, value) in model {
            changes.push(key, value.as_deref());
        }
        overlay.insert(&changes);
    }

    fn expected<'m>(
        model: &'m Model,
        begin: &[u8],
        end: &[u8],
        reverse: bool,
    ) -> Vec<KeyChange<'m>> {
        let inside = model
            .iter()
            .filter(|(key, _)| (begin..end).contains(&&key[..]));
        let mut expected: Vec<_> = inside
            .map(|(key, value)| (&key[..], value.as_deref()))
            .collect();
        if reverse {
            expected.reverse();
        }
        expected
    }

    #[test]
    fn overlays_read_like_a_map_and_clones_do_not_change() {
        let mut random = StdRng::seed_from_u64(20);
        for _ in 0..20 {
            let (mut overlays, mut model) = (Overlays::default(), Model::new());
            let mut clones = Vec::new();
            for round in 0..40 {
                let batch = batch(&mut random);
                let newer = round > 20;
                let overlay = if newer {
                    &mut overlays.newer
                } else {
                    &mut overlays.older
                };
                insert(overlay, &batch);
                model.extend(batch);
                clones.push((overlays.clone(), model.clone()));
            }
            for (overlays, model) in &clones {
                let (one, other) = (key(&mut random), key(&mut random));
                let known = model.get_key_value(&one);
                let known = known.map(|(key, value)| (&key[..], value.as_deref()));
                assert_eq!(overlays.get(&one), known);
                let (begin, end) = (one.clone().min(other.clone()), one.max(other));
                for reverse in [false, true] {
                    let found: Vec<_> = overlays.range(&begin, &end, reverse).collect();
                    assert!(found == expected(model, &begin, &end, reverse));
                    let all: Vec<_> = overlays.range(b"", b"\xff", reverse).collect();
                    assert!(all == expected(model, b"", b"\xff", reverse));
                }
            }
        }
    }
}
