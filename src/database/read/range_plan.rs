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
    /// What brings what was asked for, in the order in which it was.
    pub sources: Vec<RangeSource>,
}

/// What brings what was asked for at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeSource {
    /// The number of the read among those that are planned.
    pub read: usize,
    /// Whether it reads that place, and not another around it.
    pub exact: bool,
    /// Whether it brings all that stands there.
    pub whole: bool,
}

impl<'k> ReadPlan<'k> {
    /// The plan for places given by their keys, in any order, repeated or inside one another.
    pub fn new(asked: impl IntoIterator<Item = (&'k [u8], Extent)>) -> Self {
        let asked: Vec<_> = asked.into_iter().collect();
        let mut order: Vec<usize> = (0..asked.len()).collect();
        order.sort_unstable_by(|a, b| {
            let ((key_a, extent_a), (key_b, extent_b)) = (asked[*a], asked[*b]);
            key_a.cmp(key_b).then_with(|| extent_b.cmp(&extent_a))
        });
        // Ascending keys, the whole of a place before its beginning: what a place lies inside was
        // planned before it, and among what stands between the two is nothing that lies outside.
        let mut reads: Vec<(&[u8], Extent)> = Vec::with_capacity(asked.len());
        let mut sources = vec![RangeSource::default(); asked.len()];
        let mut cover: Option<usize> = None;
        for at in order {
            let (key, extent) = asked[at];
            let covering = cover.filter(|cover| covers(reads[*cover].0, key));
            let new = reads.last().is_none_or(|(last, _)| *last != key);
            if covering.is_none() && new {
                reads.push((key, extent));
                if extent == Extent::Whole {
                    cover = Some(reads.len() - 1);
                }
            }
            let read = covering.unwrap_or(reads.len() - 1);
            sources[at] = RangeSource {
                read,
                exact: reads[read].0 == key,
                whole: reads[read].1 == Extent::Whole,
            };
        }
        Self { reads, sources }
    }
}

/// Whether the range of a place, from its key to its key followed by `0xFF`, holds another key.
pub(crate) fn covers(place: &[u8], key: &[u8]) -> bool {
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
        let reads: Vec<usize> = plan.sources.iter().map(|source| source.read).collect();
        assert_eq!(reads, [1, 1, 1, 0, 3, 2, 4, 4]);
        let inside = plan.sources.iter().map(|source| !source.exact);
        assert_eq!(inside.filter(|inside| *inside).count(), 1, "a.b.c[0]");
        let whole: Vec<bool> = plan.sources.iter().map(|source| source.whole).collect();
        assert_eq!(whole, [true, true, true, false, true, true, false, false]);
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
        let reads: Vec<usize> = plan.sources.iter().map(|source| source.read).collect();
        assert_eq!(reads, [0, 0, 1, 0]);
    }
}
