//! Which ranges to read for the places that were asked for. Pure.

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
pub struct ReadPlan<'k> {
    /// The key of each place, ascending, and how much of it to read.
    pub reads: Vec<(&'k [u8], Extent)>,
}

impl<'k> ReadPlan<'k> {
    /// The plan for places given by their keys, in any order, repeated or inside one another.
    pub fn new(asked: impl IntoIterator<Item = (&'k [u8], Extent)>) -> Self {
        let mut reads: Vec<_> = asked.into_iter().collect();
        reads.sort_unstable_by(|(a, extent_a), (b, extent_b)| {
            a.cmp(b).then_with(|| extent_b.cmp(extent_a))
        });
        // Ascending keys, the whole of a place before its beginning: what a place lies inside was
        // planned before it, and among what stands between the two is nothing that lies outside.
        let mut cover: Option<&[u8]> = None;
        let mut last: Option<&[u8]> = None;
        reads.retain(|(key, extent)| {
            if last == Some(key) || cover.is_some_and(|cover| covers(cover, key)) {
                return false;
            }
            last = Some(key);
            if *extent == Extent::Whole {
                cover = Some(key);
            }
            true
        });
        Self { reads }
    }

    /// Which of the planned reads brings what was asked for at `key`.
    ///
    /// # Panics
    /// It was not among what was asked for.
    pub fn read_of(&self, key: &[u8]) -> usize {
        let after = self.reads.partition_point(|(planned, _)| *planned <= key);
        (0..after)
            .rev()
            .find(|at| {
                let (planned, extent) = &self.reads[*at];
                *planned == key || (*extent == Extent::Whole && covers(planned, key))
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

    fn borrowed(places: &[(Vec<u8>, Extent)]) -> Vec<(&[u8], Extent)> {
        let mut borrowed = Vec::new();
        for (key, extent) in places {
            borrowed.push((&key[..], *extent));
        }
        borrowed
    }

    #[test]
    fn a_place_inside_another_and_one_asked_twice_are_read_once() {
        use Extent::{First, Whole};
        let asked = [
            (key(&["a", "b"]), Whole),
            (key(&["a", "b", "c", "0"]), Whole),
            (key(&["a", "b"]), First),
            (key(&["a"]), First),
            (key(&["a", "bc"]), Whole),
            (key(&["a", "b\0"]), Whole),
            (key(&["z"]), First),
            (key(&["z"]), First),
        ];
        let plan = ReadPlan::new(borrowed(&asked));
        let expected = [
            (key(&["a"]), First),
            (key(&["a", "b"]), Whole),
            (key(&["a", "b\0"]), Whole),
            (key(&["a", "bc"]), Whole),
            (key(&["z"]), First),
        ];
        assert_eq!(plan.reads, borrowed(&expected));
        assert_eq!(plan.read_of(&key(&["a", "b", "c", "0"])), 1);
        assert_eq!(plan.read_of(&key(&["a", "b\0"])), 2);
        assert_eq!(plan.read_of(&key(&["a"])), 0);
    }

    #[test]
    fn a_cover_reaches_over_siblings_that_lie_inside_it_only() {
        use Extent::Whole;
        let asked = [
            (key(&["a"]), Whole),
            (key(&["a", "x"]), Whole),
            (key(&["a\0b"]), Whole),
            (key(&["a", "y"]), Whole),
        ];
        let plan = ReadPlan::new(borrowed(&asked));
        let expected = [(key(&["a"]), Whole), (key(&["a\0b"]), Whole)];
        assert_eq!(plan.reads, borrowed(&expected));
        assert_eq!(plan.read_of(&key(&["a", "y"])), 0);
    }
}
