//! Which ranges to read for the places that were asked for. Pure.

use std::collections::BTreeMap;

/// How much of what stands at a place is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// Whether anything is there, and of what kind: its first pair.
    First,
    /// All of it.
    Whole,
}

/// The ranges to read at the same time: none lies inside another that is read whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReadPlan {
    /// The key of each place, ascending, and how much of it to read.
    pub reads: Vec<(Vec<u8>, Extent)>,
}

impl ReadPlan {
    /// The plan for places given by their keys, in any order, repeated or inside one another.
    pub fn new(asked: impl IntoIterator<Item = (Vec<u8>, Extent)>) -> Self {
        let mut places: BTreeMap<Vec<u8>, Extent> = BTreeMap::new();
        for (key, extent) in asked {
            let planned = places.entry(key).or_insert(extent);
            *planned = extent.max(*planned);
        }
        let mut reads: Vec<(Vec<u8>, Extent)> = Vec::with_capacity(places.len());
        // Ascending keys, so what a place lies inside was planned before it; among what stands
        // between the two is nothing that lies outside.
        let mut cover: Option<Vec<u8>> = None;
        for (key, extent) in places {
            if cover.as_deref().is_some_and(|cover| covers(cover, &key)) {
                continue;
            }
            if extent == Extent::Whole {
                cover = Some(key.clone());
            }
            reads.push((key, extent));
        }
        Self { reads }
    }

    /// Which of the planned reads brings what was asked for at `key`.
    ///
    /// # Panics
    /// It was not among what was asked for.
    pub fn read_of(&self, key: &[u8]) -> usize {
        let after = self
            .reads
            .partition_point(|(planned, _)| &planned[..] <= key);
        (0..after)
            .rev()
            .find(|at| {
                let (planned, extent) = &self.reads[*at];
                planned == key || (*extent == Extent::Whole && covers(planned, key))
            })
            .expect("every place that was asked for is planned or inside one that is")
    }
}

/// Whether the range of a place, from its key to its key followed by `0xFF`, holds another key.
pub(super) fn covers(place: &[u8], key: &[u8]) -> bool {
    key.starts_with(place) && key.get(place.len()) != Some(&0xFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::id::DocumentId;
    use crate::document::path::{Place, Segment};
    use crate::key::Family;

    fn key(path: &[&str]) -> Vec<u8> {
        let segments = path.iter().map(|name| match name.parse() {
            Ok(index) => Segment::Index(index),
            Err(_) => Segment::Key((*name).to_owned()),
        });
        let place = Place(segments.collect());
        Family::Document("D", &DocumentId::Integer(1), &place)
            .key()
            .expect("short")
    }

    #[test]
    fn a_place_inside_another_and_one_asked_twice_are_read_once() {
        use Extent::{First, Whole};
        let plan = ReadPlan::new([
            (key(&["a", "b"]), Whole),
            (key(&["a", "b", "c", "0"]), Whole),
            (key(&["a", "b"]), First),
            (key(&["a"]), First),
            (key(&["a", "bc"]), Whole),
            (key(&["a", "b\0"]), Whole),
            (key(&["z"]), First),
            (key(&["z"]), First),
        ]);
        let expected = [
            (key(&["a"]), First),
            (key(&["a", "b"]), Whole),
            (key(&["a", "b\0"]), Whole),
            (key(&["a", "bc"]), Whole),
            (key(&["z"]), First),
        ];
        assert_eq!(plan.reads, expected);
        assert_eq!(plan.read_of(&key(&["a", "b", "c", "0"])), 1);
        assert_eq!(plan.read_of(&key(&["a", "b\0"])), 2);
        assert_eq!(plan.read_of(&key(&["a"])), 0);
    }

    #[test]
    fn a_cover_reaches_over_siblings_that_lie_inside_it_only() {
        use Extent::Whole;
        let plan = ReadPlan::new([
            (key(&["a"]), Whole),
            (key(&["a", "x"]), Whole),
            (key(&["a\0b"]), Whole),
            (key(&["a", "y"]), Whole),
        ]);
        assert_eq!(plan.reads, [(key(&["a"]), Whole), (key(&["a\0b"]), Whole)]);
        assert_eq!(plan.read_of(&key(&["a", "y"])), 0);
    }
}
