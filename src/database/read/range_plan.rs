//! Planning of the ranges to read for a set of requested places. Pure functions.

use std::ops::Range;

use crate::database::document_key::{below, covers, prefix_end};
use crate::document::jsonpath::ElementRange;
use crate::document::path::Segment;
use crate::limits::{COPIED_BYTES_PER_STEP, STEPS_PER_SORTED_RANGE};
use crate::store::Pairs;

/// How much of the value at a place is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// Existence and kind: the first pair.
    First,
    /// The last pair, whose key has the length of an array.
    Last,
    /// These elements of an array.
    Elements(ElementRange),
    /// The whole value.
    Whole,
}

impl Extent {
    /// The extent of one read for both extents. None if two reads are better.
    #[must_use]
    pub fn merged(self, other: Self) -> Option<Self> {
        (self == other || self.max(other) == Self::Whole).then(|| self.max(other))
    }

    /// Whether a read of this extent has what a read of the other one returns.
    pub fn has(self, other: Self) -> bool {
        self == other || self == Self::Whole
    }
}

/// The ranges to read concurrently. No range lies inside another that is read whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReadPlan<'k> {
    /// The key of each place, ascending, and how much of it to read.
    pub reads: Vec<(&'k [u8], Extent)>,
    /// The read that serves each requested place, in the order of the request.
    pub sources: Vec<RangeSource>,
}

/// The read that serves a requested place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeSource {
    /// The position of the read in [`ReadPlan::reads`].
    pub read: usize,
    /// Whether the read returns no more than the requested extent of the place. A request for the
    /// first pair may be served by all of them.
    pub exact: bool,
    /// Whether the read returns the whole value of its place.
    pub whole: bool,
}

impl<'k> ReadPlan<'k> {
    /// Creates the plan for places given by their keys, in any order. Places may repeat or nest.
    pub fn new(requested: impl IntoIterator<Item = (&'k [u8], Extent)>) -> Self {
        let requested: Vec<_> = requested.into_iter().collect();
        let mut order: Vec<usize> = (0..requested.len()).collect();
        order.sort_unstable_by(|a, b| {
            let ((key_a, extent_a), (key_b, extent_b)) = (requested[*a], requested[*b]);
            key_a.cmp(key_b).then_with(|| extent_b.cmp(&extent_a))
        });
        // Keys ascend, and the whole of a place sorts before its beginning. So an enclosing place
        // is planned before the places inside it, and no place outside it sorts between them.
        let mut reads: Vec<(&[u8], Extent)> = Vec::with_capacity(requested.len());
        let mut sources = vec![RangeSource::default(); requested.len()];
        let mut cover: Option<usize> = None;
        for at in order {
            let (key, extent) = requested[at];
            let covering = cover.filter(|cover| covers(reads[*cover].0, key));
            let new = reads.last() != Some(&(key, extent));
            if covering.is_none() && new {
                reads.push((key, extent));
                if extent == Extent::Whole {
                    cover = Some(reads.len() - 1);
                }
            }
            let read = covering.unwrap_or(reads.len() - 1);
            sources[at] = RangeSource {
                read,
                exact: reads[read].0 == key && (reads[read].1 == extent || extent == Extent::First),
                whole: reads[read].1 == Extent::Whole,
            };
        }
        Self { reads, sources }
    }

    /// The read of a whole value that has the place with this key.
    pub fn whole_around(&self, key: &[u8]) -> Option<usize> {
        // A place inside the value is no read, so that of the value is the last one before the key.
        let after = self.reads.partition_point(|(place, _)| *place <= key);
        let read = after.checked_sub(1)?;
        let (place, extent) = self.reads[read];
        (extent == Extent::Whole && covers(place, key)).then_some(read)
    }
}

/// The steps of sorting so many ranges, whose keys have so many bytes in all.
pub(crate) fn sort_steps(ranges: usize, key_bytes: usize) -> u64 {
    let count = ranges as u64;
    let compared = key_bytes as u64 * u64::from(count.max(1).ilog2());
    STEPS_PER_SORTED_RANGE * count + compared / COPIED_BYTES_PER_STEP
}

/// The first key of some elements of the array at `key`, and the end of their keys.
pub(crate) fn element_keys(key: &[u8], elements: ElementRange) -> (Vec<u8>, Vec<u8>) {
    let ElementRange { begin, end } = elements;
    let end = end.map_or_else(|| prefix_end(key), |end| below(key, &Segment::Index(end)));
    (below(key, &Segment::Index(begin)), end)
}

/// Narrows the pairs of the whole value at `key` to an extent of it.
pub(crate) fn narrowed(
    pairs: &Pairs,
    range: Range<usize>,
    key: &[u8],
    extent: Extent,
) -> Range<usize> {
    match extent {
        Extent::First | Extent::Whole => range,
        Extent::Last => range.end.saturating_sub(1).max(range.start)..range.end,
        Extent::Elements(elements) => {
            let (begin, end) = element_keys(key, elements);
            pairs.between(range, &begin, &end)
        }
    }
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
    fn nested_and_repeated_places_are_read_once() {
        use Extent::{First, Whole};
        let requested = [
            (key(&["a", "b"]), Whole),
            (key(&["a", "b", "c", "0"]), Whole),
            (key(&["a", "b"]), First),
            (key(&["a"]), First),
            (key(&["a", "bc"]), Whole),
            (key(&["a", "b\0"]), Whole),
            (key(&["z"]), First),
            (key(&["z"]), First),
        ];
        let plan = ReadPlan::new(borrowed(&requested));
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
    fn a_read_covers_only_places_inside_it() {
        use Extent::Whole;
        let requested = [
            (key(&["a"]), Whole),
            (key(&["a", "x"]), Whole),
            (key(&["a\0b"]), Whole),
            (key(&["a", "y"]), Whole),
        ];
        let plan = ReadPlan::new(borrowed(&requested));
        let expected = [(key(&["a"]), Whole), (key(&["a\0b"]), Whole)];
        assert_eq!(plan.reads, borrowed(&expected));
        let reads: Vec<usize> = plan.sources.iter().map(|source| source.read).collect();
        assert_eq!(reads, [0, 0, 1, 0]);
    }
}
