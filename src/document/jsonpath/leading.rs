//! What a query reads: the places and the elements that its leading segments name.
//!
//! A query begins with child segments of names, indexes and slices, before its first wildcard,
//! filter or descendant segment. They select by name and position only, so the places that they
//! select are known without the values. `$.items[-2:].name` needs the length of `items`, and then
//! the `name` of two elements. The rest of the query is evaluated on the value at each of these
//! places, one after the other: a segment selects from each node of a list in turn (RFC 9535
//! §2.1.2), so the concatenation of the results is the result of the whole query.
//!
//! [`Leading`] applies one segment after the other. A negative index and some slices need the
//! lengths of the arrays first; [`Leading::next`] then returns [`LeadingStep::Lengths`], and the
//! caller reads the lengths and calls it again. A slice of many elements is read as one range, and
//! ends the leading segments. So do segments that name more than [`JSONPATH_RANGES_MAX`] ranges.
//! Every place is a copy of the place above it, so long queries cost steps of work.
//!
//! A query from the root inside a filter (`$.a[?@.b == $.c]`) can select anywhere. Such a query
//! reads the value at its [prefix](super::Query::prefix).

use super::super::path::Segment;
use super::ast::{QuerySegment, Selector};
use crate::budget::Steps;
use crate::error::Result;
use crate::limits::{COPIED_BYTES_PER_STEP, JSONPATH_RANGES_MAX, JSONPATH_SPARSE_STEP_MIN};

/// The leading segments of a query, while they are applied.
#[derive(Clone, Debug)]
pub struct Leading<'q> {
    /// The segments that may be applied.
    segments: &'q [QuerySegment],
    applied: usize,
    /// The ranges that the applied segments select, in the order of the result.
    ranges: Vec<LeadingRange>,
}

/// The next read for a query.
#[derive(Debug, PartialEq, Eq)]
pub enum LeadingStep {
    /// The lengths of the arrays at these places, relative to `$`. A value that is not an array has
    /// the length 0.
    Lengths(Vec<Vec<Segment>>),
    /// These values, from which the rest of the query selects, in this order.
    Values(Vec<LeadingRange>),
}

/// A value, or some elements of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeadingRange {
    /// The place of the value or the array, relative to `$`.
    pub place: Vec<Segment>,
    /// The elements. None for the whole value.
    pub elements: Option<ElementSlice>,
}

/// Elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementSlice {
    /// The range that has all of them.
    pub range: ElementRange,
    /// The distance between two of them. If it is positive, they begin with the first element that
    /// is stored in the range. If it is negative, they begin with the last one, in descending
    /// order.
    pub step: i64,
}

/// A range of indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementRange {
    /// The first index.
    pub begin: u64,
    /// The end, exclusive. None for the end of the array.
    pub end: Option<u64>,
}

impl ElementSlice {
    /// The positions of the selected elements among `stored` elements of the range.
    pub fn positions(&self, stored: usize) -> impl Iterator<Item = usize> + use<> {
        let backward = self.step < 0;
        let step = usize::try_from(self.step.unsigned_abs()).unwrap_or(usize::MAX);
        (0..stored)
            .step_by(step.max(1))
            .map(move |at| if backward { stored - 1 - at } else { at })
    }
}

impl<'q> Leading<'q> {
    /// The leading segments of a query without queries from the root in its filters.
    pub(super) fn of(segments: &'q [QuerySegment]) -> Self {
        let leading = segments.iter().take_while(|it| selectors(it).is_some());
        Self {
            segments: &segments[..leading.count()],
            applied: 0,
            ranges: vec![LeadingRange::default()],
        }
    }

    /// The names and indexes that a query and all its queries from the root begin with.
    pub(super) fn at_prefix(prefix: &[Segment]) -> Self {
        Self {
            segments: &[],
            applied: prefix.len(),
            ranges: vec![LeadingRange {
                place: prefix.to_vec(),
                elements: None,
            }],
        }
    }

    /// How many segments are applied.
    pub fn applied(&self) -> usize {
        self.applied
    }

    /// The next read. `lengths` are those that the previous step requested, in its order; empty at
    /// the first step.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn next(&mut self, lengths: &[u64], steps: &Steps<'_>) -> Result<LeadingStep> {
        let mut lengths = (!lengths.is_empty()).then_some(lengths);
        while let Some(selectors) = self.segments.get(self.applied).and_then(selectors) {
            let known = lengths.take();
            if known.is_none() && selectors.iter().any(needs_length) {
                let places = self.ranges.iter().map(|range| {
                    steps.spend(copy_steps(&range.place))?;
                    Ok(range.place.clone())
                });
                return Ok(LeadingStep::Lengths(places.collect::<Result<_>>()?));
            }
            let is_last = self.applied + 1 == self.segments.len();
            let Some(ranges) = self.select(selectors, known, is_last, steps)? else {
                break;
            };
            self.ranges = ranges;
            self.applied += 1;
            if self.ranges.iter().any(|range| range.elements.is_some()) {
                break;
            }
            if self.ranges.is_empty() {
                break;
            }
        }
        for range in &self.ranges {
            steps.spend(copy_steps(&range.place))?;
        }
        Ok(LeadingStep::Values(self.ranges.clone()))
    }

    /// What the selectors of one segment select. None if that is too many ranges.
    fn select(
        &self,
        selectors: &[Selector],
        lengths: Option<&[u64]>,
        is_last: bool,
        steps: &Steps<'_>,
    ) -> Result<Option<Vec<LeadingRange>>> {
        let mut selected: Vec<LeadingRange> = Vec::new();
        for (at, LeadingRange { place, .. }) in self.ranges.iter().enumerate() {
            let length = lengths.and_then(|lengths| lengths.get(at).copied());
            for selector in selectors {
                let before = selected.len();
                match selector {
                    Selector::Name(name) => {
                        selected.push(child(place, Segment::Key(name.clone())));
                    }
                    Selector::Index(index) => {
                        let index = from_front(*index, length);
                        selected.extend(index.map(|at| child(place, Segment::Index(at))));
                    }
                    Selector::Slice { start, end, step } => {
                        let slice = element_slice(*start, *end, *step, length);
                        if let Some(slice) = slice {
                            add_slice(&mut selected, place, slice, is_last);
                        }
                    }
                    Selector::Wildcard | Selector::Filter(_) => return Ok(None),
                }
                let copies = (selected.len() - before) as u64;
                steps.spend(1 + copies * copy_steps(place))?;
                if selected.len() > JSONPATH_RANGES_MAX {
                    return Ok(None);
                }
            }
        }
        Ok(Some(selected))
    }
}

impl LeadingStep {
    /// The approximate memory of the places in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Lengths(places) => places.iter().map(|place| place_bytes(place)).sum(),
            Self::Values(ranges) => {
                let ranges = ranges.iter();
                ranges.map(|range| place_bytes(&range.place)).sum()
            }
        }
    }
}

fn place_bytes(place: &[Segment]) -> usize {
    let segments = place.iter().map(|segment| match segment {
        Segment::Key(name) => size_of::<Segment>() + name.len(),
        Segment::Index(_) => size_of::<Segment>(),
    });
    segments.sum()
}

/// The steps of copying a place.
pub(super) fn copy_steps(place: &[Segment]) -> u64 {
    1 + place_bytes(place) as u64 / COPIED_BYTES_PER_STEP
}

/// The selectors of a segment, if they select by name and position only.
fn selectors(segment: &QuerySegment) -> Option<&[Selector]> {
    let QuerySegment::Child(selectors) = segment else {
        return None;
    };
    let by_position = |selector: &Selector| {
        matches!(
            selector,
            Selector::Name(_) | Selector::Index(_) | Selector::Slice { .. }
        )
    };
    selectors.iter().all(by_position).then_some(selectors)
}

/// Whether the elements that a selector selects depend on the length of the array, apart from the
/// indexes that the array does not have.
fn needs_length(selector: &Selector) -> bool {
    match selector {
        Selector::Index(index) => *index < 0,
        Selector::Slice { start, end, step } => {
            let from_end = |bound: &Option<i64>| bound.is_some_and(|bound| bound < 0);
            let far_apart = step.unsigned_abs() >= JSONPATH_SPARSE_STEP_MIN;
            from_end(start) || from_end(end) || far_apart
        }
        _ => false,
    }
}

/// An index, counted from the front. None if it is before the first element.
fn from_front(index: i64, length: Option<u64>) -> Option<u64> {
    u64::try_from(index)
        .ok()
        .or_else(|| length?.checked_sub(index.unsigned_abs()))
}

/// The elements of `start:end:step` (§2.3.4.2). None if there are none.
fn element_slice(
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
    length: Option<u64>,
) -> Option<ElementSlice> {
    let clamp = |index: u64| length.map_or(index, |length| index.min(length));
    // A bound before the first element is none.
    let bound = |bound: i64| from_front(bound, length);
    let range = match step {
        0 => return None,
        1.. => ElementRange {
            begin: start.and_then(bound).unwrap_or(0),
            end: match end {
                Some(end) => Some(clamp(bound(end).unwrap_or(0))),
                None => length,
            },
        },
        // Descending: `start` is the last index of the range, and `end` the one before its first.
        _ => ElementRange {
            begin: end.and_then(bound).map_or(0, |end| end + 1),
            end: match start {
                Some(start) => Some(clamp(bound(start)? + 1)),
                None => length,
            },
        },
    };
    let is_empty = range.end.is_some_and(|end| end <= range.begin);
    (!is_empty).then_some(ElementSlice { range, step })
}

/// Adds a slice: as its elements if they are few and the query continues below them, or if other
/// elements lie between them; else as a range.
fn add_slice(
    selected: &mut Vec<LeadingRange>,
    place: &[Segment],
    slice: ElementSlice,
    is_last: bool,
) {
    let ElementSlice { range, step } = slice;
    let far_apart = step.unsigned_abs() >= JSONPATH_SPARSE_STEP_MIN;
    let stored = range.end.map(|end| end - range.begin);
    let count = stored.map(|stored| stored.div_ceil(step.unsigned_abs()));
    // Descending from an index that the array may not have, the elements are known only for steps
    // of 1.
    let is_known = step >= -1 || far_apart;
    let few = count.is_some_and(|count| count <= JSONPATH_RANGES_MAX as u64) && is_known;
    if few && (far_apart || !is_last) {
        let stored = stored.and_then(|stored| usize::try_from(stored).ok());
        let elements = slice
            .positions(stored.unwrap_or_default())
            .map(|at| Segment::Index(range.begin + at as u64));
        selected.extend(elements.map(|element| child(place, element)));
    } else {
        selected.push(LeadingRange {
            place: place.to_vec(),
            elements: Some(slice),
        });
    }
}

fn child(place: &[Segment], segment: Segment) -> LeadingRange {
    LeadingRange {
        place: [place, &[segment]].concat(),
        elements: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::document::jsonpath::Query;
    use crate::document::path::Place;

    /// The reads of a query, and how many of its segments they apply. Every array has this length.
    fn reads(text: &str, length: u64) -> (Vec<String>, usize) {
        let query = Query::parse(text).expect(text);
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        let mut leading = query.leading();
        let mut lengths = Vec::new();
        let mut read = Vec::new();
        loop {
            match leading.next(&lengths, &steps).expect("within the budget") {
                LeadingStep::Lengths(places) => {
                    lengths = vec![length; places.len()];
                    for place in places {
                        read.push(format!("length of {}", Place(place)));
                    }
                }
                LeadingStep::Values(ranges) => {
                    read.extend(ranges.into_iter().map(shown));
                    return (read, leading.applied());
                }
            }
        }
    }

    fn shown(range: LeadingRange) -> String {
        let place = Place(range.place);
        match range.elements {
            None => place.to_string(),
            Some(ElementSlice { range, step }) => {
                let end = range.end.map_or(String::new(), |end| end.to_string());
                format!("{place}[{}:{end}:{step}]", range.begin)
            }
        }
    }

    #[test]
    fn names_and_positions_are_resolved_up_to_the_first_other_segment() {
        for (text, expected, applied) in [
            ("$", vec![""], 0),
            ("$.a[1].b", vec!["/a/1/b"], 3),
            ("$.a['b','c','b']", vec!["/a/b", "/a/c", "/a/b"], 2),
            ("$.a['b',1].c", vec!["/a/b/c", "/a/1/c"], 3),
            ("$.a[*].b", vec!["/a"], 1),
            ("$.a..b", vec!["/a"], 1),
            ("$.a[0,*]", vec!["/a"], 1),
            ("$.a[?@.b].c", vec!["/a"], 1),
            ("$.a.b[?@.c == $.a.d]", vec!["/a"], 1),
            ("$.a[-1][?$.a]", vec!["/a"], 1),
            ("$[-1]", vec!["length of ", "/9"], 1),
            ("$[-10]", vec!["length of ", "/0"], 1),
            ("$[-11]", vec!["length of "], 1),
            ("$[0,-1]", vec!["length of ", "/0", "/9"], 1),
            ("$.a[-1]['b']", vec!["length of /a", "/a/9/b"], 3),
            (
                "$[0,1][-1]",
                vec!["length of /0", "length of /1", "/0/9", "/1/9"],
                2,
            ),
            ("$[-1][-2]", vec!["length of ", "length of /9", "/9/8"], 2),
        ] {
            assert_eq!(
                reads(text, 10),
                (expected.iter().map(ToString::to_string).collect(), applied),
                "{text}"
            );
        }
    }

    #[test]
    fn slices_are_ranges_unless_few_of_their_elements_are_read() {
        for (text, expected, applied) in [
            ("$[5:7]", vec!["[5:7:1]"], 1),
            ("$[5:7].a", vec!["/5/a", "/6/a"], 2),
            ("$[6:4:-1].a", vec!["/6/a", "/5/a"], 2),
            ("$[6:2:-2].a", vec!["[3:7:-2]"], 1),
            ("$[5:]", vec!["[5::1]"], 1),
            ("$[5:].a", vec!["[5::1]"], 1),
            ("$[::-1]", vec!["[0::-1]"], 1),
            ("$[::2]", vec!["[0::2]"], 1),
            ("$[7:5]", vec![], 1),
            ("$[::0]", vec![], 1),
            ("$[-3:]", vec!["length of ", "[997:1000:1]"], 1),
            (
                "$[-3:].a",
                vec!["length of ", "/997/a", "/998/a", "/999/a"],
                2,
            ),
            ("$[:-998:-1]", vec!["length of ", "[3:1000:-1]"], 1),
            ("$[-2000:2]", vec!["length of ", "[0:2:1]"], 1),
            ("$[:-2000]", vec!["length of "], 1),
            ("$[-2000::-1]", vec!["length of "], 1),
            ("$[:-2000:-1]", vec!["length of ", "[0:1000:-1]"], 1),
            (
                "$[::300]",
                vec!["length of ", "/0", "/300", "/600", "/900"],
                1,
            ),
            (
                "$[::-300]",
                vec!["length of ", "/999", "/699", "/399", "/99"],
                1,
            ),
            (
                "$[5000:0:-300]",
                vec!["length of ", "/999", "/699", "/399", "/99"],
                1,
            ),
            ("$[0,2:4]", vec!["/0", "[2:4:1]"], 1),
            ("$[0,2:4].a", vec!["/0/a", "/2/a", "/3/a"], 2),
            ("$[0:500].a", vec!["[0:500:1]"], 1),
        ] {
            assert_eq!(
                reads(text, 1000),
                (expected.iter().map(ToString::to_string).collect(), applied),
                "{text}"
            );
        }
    }

    #[test]
    fn more_ranges_than_the_limit_are_read_from_above() {
        let names: Vec<String> = (0..=JSONPATH_RANGES_MAX)
            .map(|n| format!("'{n}'"))
            .collect();
        let (all, but_one) = (names.join(","), names[1..].join(","));
        assert_eq!(reads(&format!("$.a[{all}]"), 0), (vec!["/a".to_owned()], 1));
        let (read, applied) = reads(&format!("$.a[{but_one}].b"), 0);
        assert_eq!((read.len(), applied), (JSONPATH_RANGES_MAX, 3));
    }
}
