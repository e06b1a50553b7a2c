//! The places that an edit of a typed document touches, in the order of their keys.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};

use crate::database::document_key::{below, covers, prefix_end};
use crate::document::path::Segment;
use crate::key::{KeyStep, Leaves, step};
use crate::limits::{VALIDATED_EDIT_BYTES_MAX, VALIDATED_VALUE_BYTES_MAX};

/// What an edit has touched, by keys. If elements are inserted or removed, the keys behind them move
/// like the stored ones, so all keys are those at the end of the edit.
#[derive(Debug, Default)]
pub(crate) struct TouchedPlaces {
    /// Values that were written, with their leaves if they are small. A value inside which another
    /// place was touched later has changed since.
    values: BTreeMap<Vec<u8>, Option<Leaves>>,
    /// Members that were removed.
    removed: BTreeSet<Vec<u8>>,
    /// Arrays whose length changed, with the elements that they have got more.
    lengths: BTreeMap<Vec<u8>, i64>,
    /// Arrays to which elements were appended, and the index of the first of them.
    tails: BTreeMap<Vec<u8>, u64>,
    /// The bytes of the leaves that are kept.
    kept_bytes: usize,
}

impl TouchedPlaces {
    /// A value was written at a key, in place of everything there.
    pub(crate) fn wrote(&mut self, key: &[u8], leaves: Option<&Leaves>) {
        self.forget_inside(key);
        let small = leaves.filter(|leaves| {
            let held = leaves.held();
            held <= VALIDATED_VALUE_BYTES_MAX && self.kept_bytes + held <= VALIDATED_EDIT_BYTES_MAX
        });
        self.kept_bytes += small.map_or(0, Leaves::held);
        self.values.insert(key.to_vec(), small.cloned());
    }

    /// The member at a key was removed.
    pub(crate) fn removed(&mut self, key: &[u8]) {
        self.forget_inside(key);
        self.removed.insert(key.to_vec());
    }

    /// Elements were appended to an array, from an index on.
    pub(crate) fn appended(&mut self, array: &[u8], first: u64, elements: u64) {
        self.add_to_length(array, elements.cast_signed());
        let tail = self.tails.entry(array.to_vec()).or_insert(first);
        *tail = first.min(*tail);
    }

    /// An element was added at the end of an array. Its value is recorded besides.
    pub(crate) fn lengthened(&mut self, array: &[u8]) {
        self.add_to_length(array, 1);
    }

    /// An element was inserted in front of others. Its value is recorded afterwards.
    pub(crate) fn inserted(&mut self, array: &[u8], index: u64) {
        self.renumber(array, index, |at| Renumbered {
            index: at + u64::from(at >= index),
            is_gone: false,
        });
        self.add_to_length(array, 1);
    }

    /// Elements were removed, whose indexes are in ascending order.
    pub(crate) fn removed_elements(&mut self, array: &[u8], removed: &[u64]) {
        let Some(first) = removed.first() else {
            return;
        };
        self.renumber(array, *first, |at| {
            let before = removed.partition_point(|removed| *removed < at);
            Renumbered {
                index: at - before as u64,
                is_gone: removed.get(before) == Some(&at),
            }
        });
        self.add_to_length(array, -(removed.len() as u64).cast_signed());
    }

    /// The written values, without those inside another one.
    pub(crate) fn values(&self) -> TouchedValues<'_> {
        let mut found: Vec<(&[u8], Option<&Leaves>)> = Vec::new();
        for (key, leaves) in &self.values {
            match found.last_mut() {
                Some((above, kept)) if covers(above, key) => *kept = None,
                _ => found.push((key, leaves.as_ref())),
            }
        }
        for (key, leaves) in &mut found {
            let end = prefix_end(key);
            let inside = (Included(*key), Excluded(&end[..]));
            if self.removed.range::<[u8], _>(inside).next().is_some()
                || self.lengths.range::<[u8], _>(inside).next().is_some()
            {
                *leaves = None;
            }
        }
        TouchedValues(found)
    }

    /// The removed members.
    pub(crate) fn removed_members(&self) -> impl Iterator<Item = &[u8]> {
        self.removed.iter().map(Vec::as_slice)
    }

    /// The arrays whose length changed, with the elements that they have got more.
    pub(crate) fn changed_lengths(&self) -> impl Iterator<Item = (&[u8], i64)> {
        self.lengths.iter().map(|(array, more)| (&array[..], *more))
    }

    /// The arrays to which several elements were appended, and the index of the first.
    pub(crate) fn tails(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.tails.iter().map(|(array, first)| (&array[..], *first))
    }

    fn add_to_length(&mut self, array: &[u8], more: i64) {
        *self.lengths.entry(array.to_vec()).or_default() += more;
    }

    fn forget_inside(&mut self, key: &[u8]) {
        let end = prefix_end(key);
        drop(cut(&mut self.values, key, &end));
        drop(cut(&mut self.tails, key, &end));
        drop(cut(&mut self.lengths, key, &end));
        drop(cut_set(&mut self.removed, key, &end));
    }

    /// Moves what was touched in the elements of an array from `first` on.
    fn renumber(&mut self, array: &[u8], first: u64, to: impl Fn(u64) -> Renumbered) {
        let (begin, end) = (below(array, &Segment::Index(first)), prefix_end(array));
        let moved = |key: Vec<u8>| moved_key(array, &key, &to);
        let values = cut(&mut self.values, &begin, &end).into_iter();
        self.values
            .extend(values.filter_map(|(key, value)| Some((moved(key)?, value))));
        let tails = cut(&mut self.tails, &begin, &end).into_iter();
        self.tails
            .extend(tails.filter_map(|(key, value)| Some((moved(key)?, value))));
        let lengths = cut(&mut self.lengths, &begin, &end).into_iter();
        self.lengths
            .extend(lengths.filter_map(|(key, value)| Some((moved(key)?, value))));
        let removed = cut_set(&mut self.removed, &begin, &end);
        self.removed.extend(removed.into_iter().filter_map(moved));
        if let Some(tail) = self.tails.get_mut(array) {
            *tail = to(*tail).index;
        }
    }
}

/// Values that are validated as a whole, none of which is inside another one, in the order of their keys.
pub(crate) struct TouchedValues<'t>(Vec<(&'t [u8], Option<&'t Leaves>)>);

impl<'t> TouchedValues<'t> {
    /// The keys of the values, and their leaves if these are known.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'t [u8], Option<&'t Leaves>)> {
        self.0.iter().copied()
    }

    /// Whether a key is that of one of the values, or inside one.
    pub(crate) fn have(&self, key: &[u8]) -> bool {
        let behind = self.0.partition_point(|(value, _)| *value <= key);
        let before = behind.checked_sub(1).map(|last| self.0[last].0);
        before.is_some_and(|value| covers(value, key))
    }
}

/// The new place of an element.
struct Renumbered {
    /// Its index, or that of the first element behind it that is left.
    index: u64,
    is_gone: bool,
}

/// The key of a place in an element after the elements of the array were renumbered. None if the
/// element is gone.
fn moved_key(array: &[u8], key: &[u8], to: impl Fn(u64) -> Renumbered) -> Option<Vec<u8>> {
    let relative = &key[array.len()..];
    let Some((KeyStep::Index(index), bytes)) = step(relative) else {
        return None;
    };
    let Renumbered { index, is_gone } = to(index);
    (!is_gone).then(|| [&below(array, &Segment::Index(index)), &relative[bytes..]].concat())
}

/// Removes the entries from `begin` to before `end`.
fn cut<T>(map: &mut BTreeMap<Vec<u8>, T>, begin: &[u8], end: &[u8]) -> Vec<(Vec<u8>, T)> {
    let keys: Vec<Vec<u8>> = map
        .range::<[u8], _>((Included(begin), Excluded(end)))
        .map(|(key, _)| key.clone())
        .collect();
    let entries = keys.into_iter().filter_map(|key| map.remove_entry(&key));
    entries.collect()
}

/// Removes the keys from `begin` to before `end`.
fn cut_set(set: &mut BTreeSet<Vec<u8>>, begin: &[u8], end: &[u8]) -> Vec<Vec<u8>> {
    let keys: Vec<Vec<u8>> = set
        .range::<[u8], _>((Included(begin), Excluded(end)))
        .cloned()
        .collect();
    for key in &keys {
        set.remove(key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::path::Place;

    fn key(segments: &[Segment]) -> Vec<u8> {
        let mut key = Vec::new();
        crate::key::append_place(&mut key, &Place(segments.to_vec()));
        key
    }

    fn element(index: u64) -> Vec<u8> {
        key(&[Segment::Key("list".to_owned()), Segment::Index(index)])
    }

    fn member(name: &str) -> Vec<u8> {
        key(&[Segment::Key(name.to_owned())])
    }

    fn keys(touched: &TouchedPlaces) -> Vec<Vec<u8>> {
        let values = touched.values();
        values.iter().map(|(key, _)| key.to_vec()).collect()
    }

    #[test]
    fn a_value_inside_another_one_is_validated_with_it() {
        let leaves = Leaves::from_json("1").expect("JSON");
        let mut touched = TouchedPlaces::default();
        touched.wrote(&member("list"), Some(&leaves));
        assert!(touched.values().0[0].1.is_some());
        touched.wrote(&element(3), Some(&leaves));
        touched.wrote(&member("list\0"), Some(&leaves));
        assert_eq!(keys(&touched), [member("list"), member("list\0")]);
        for (key, is_in) in [
            (member("list"), true),
            (element(0), true),
            (member("list\0"), true),
            (member("list\0\0"), false),
            (member("lis"), false),
            (member("m"), false),
            (Vec::new(), false),
        ] {
            assert_eq!(touched.values().have(&key), is_in, "{key:?}");
        }
        assert!(touched.values().0[0].1.is_none(), "it has changed since");
        touched.wrote(&member("list"), Some(&leaves));
        assert!(touched.values().0[0].1.is_some());
        touched.removed(&element(0));
        assert!(touched.values().0[0].1.is_none());
        touched.removed(&member("list"));
        assert_eq!(keys(&touched), [member("list\0")]);
        assert_eq!(touched.removed_members().count(), 1);
    }

    #[test]
    fn touched_elements_move_with_their_array() {
        let list = member("list");
        let mut touched = TouchedPlaces::default();
        touched.wrote(&element(1), None);
        touched.appended(&list, 5, 2);
        touched.inserted(&list, 1);
        touched.wrote(&element(1), None);
        assert_eq!(keys(&touched), [element(1), element(2)]);
        assert_eq!(touched.tails().collect::<Vec<_>>(), [(&list[..], 6)]);
        touched.removed_elements(&list, &[0, 1, 6]);
        assert_eq!(keys(&touched), [element(0)]);
        assert_eq!(touched.tails().collect::<Vec<_>>(), [(&list[..], 4)]);
        let lengths: Vec<_> = touched.changed_lengths().collect();
        assert_eq!(lengths, [(&list[..], 2 + 1 - 3)]);
    }
}
