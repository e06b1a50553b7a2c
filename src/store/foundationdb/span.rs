//! Reads several near ranges as one span.
//!
//! A range read costs the cluster and the client as much as about a hundred pairs. Selections of
//! one document, or of a page of documents, often consist of many short ranges with few pairs
//! between them. One read of the whole span, from the first begin to the greatest end of its
//! ranges, is then cheaper, although it returns pairs that nobody asked for. How many pairs lie
//! between the ranges is known only after the read.
//!
//! - **Which ranges:** [`spans`] groups consecutive ascending ranges that are near, at least
//!   [`CLUSTER_SPAN_RANGES_MIN`]. Two ranges are near if their keys are in one document, in
//!   documents with few ids between them, or in documents that the caller knows to be
//!   [adjacent](RangeRead::adjacent). More than [`CLUSTER_SPAN_RANGES_MAX`] ranges are divided into
//!   several spans of about the same length.
//! - **How much:** a span reads at most [`CLUSTER_SPAN_PAIRS_FOR_EACH`] pairs per range, within a
//!   total of pairs and bytes ([`option`]). If the limit ends it early, [`batch`] returns the
//!   ranges that it reached, and the caller reads the others one by one, a round trip later.
//! - **Whether at all:** [`Prospects`] counts the ranges that the spans of a round brought. After a
//!   round that brought less than half, the next rounds read no spans: first one round, then twice
//!   as many after each failed attempt, up to [`CLUSTER_SPANS_LEFT_OUT_MAX`]. A successful round
//!   resets the count. Spans within one document and spans across documents are counted separately.
//!
//! Spans change only the cost. The result is the same as if each range were read alone.

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use foundationdb::RangeOption;
use foundationdb::future::{FdbKeyValue, FdbValues};
use foundationdb::options::StreamingMode;

use crate::key;
use crate::limits::{
    CLUSTER_SPAN_BYTES_MAX, CLUSTER_SPAN_PAIRS_FOR_EACH, CLUSTER_SPAN_PAIRS_MAX,
    CLUSTER_SPAN_RANGES_MAX, CLUSTER_SPAN_RANGES_MIN, CLUSTER_SPANS_LEFT_OUT_MAX,
};
use crate::store::{Batch, Pairs, RangeRead};

/// Whether spans are currently used, within a document and across documents.
#[derive(Default)]
pub(super) struct Prospects {
    within: Prospect,
    across: Prospect,
}

/// The backoff after spans that brought too few ranges.
#[derive(Default)]
struct Prospect {
    /// Rounds without spans that are left.
    left_out: AtomicU32,
    /// The length of the last pause, which the next one doubles.
    next: AtomicU32,
}

/// The results of the spans of a round.
#[derive(Default)]
pub(super) struct FetchedSpans {
    within: SpanCounts,
    across: SpanCounts,
}

/// The number of ranges in spans, and of ranges that the spans brought.
#[derive(Clone, Copy, Default)]
struct SpanCounts {
    ranges: usize,
    brought: usize,
}

/// Ranges that are read together, as indexes of the round's ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeSpan {
    pub(super) ranges: Range<usize>,
    reach: Reach,
}

/// The extent of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Document,
    Collection,
}

impl Prospects {
    /// The spans to read in a round.
    pub(super) fn spans(&self, ranges: &[RangeRead<'_>]) -> Vec<RangeSpan> {
        let is_across = |span: &RangeSpan| span.reach == Reach::Collection;
        let mut found = spans(ranges, Reach::Collection);
        if found.iter().any(is_across) && !self.across.is_worth_it() {
            found = spans(ranges, Reach::Document);
        }
        if !found.iter().all(is_across) && !self.within.is_worth_it() {
            found.retain(is_across);
        }
        found
    }

    /// Updates the backoff with the results of a round.
    pub(super) fn learn(&self, brought: &FetchedSpans) {
        self.within.learn(brought.within);
        self.across.learn(brought.across);
    }
}

impl Prospect {
    fn is_worth_it(&self) -> bool {
        // Two concurrent rounds may count as one. That affects speed only.
        match self.left_out.load(Relaxed) {
            0 => true,
            left_out => {
                self.left_out.store(left_out - 1, Relaxed);
                false
            }
        }
    }

    fn learn(&self, counts: SpanCounts) {
        if counts.ranges == 0 {
            return;
        }
        if 2 * counts.brought >= counts.ranges {
            self.next.store(0, Relaxed);
            return;
        }
        let left_out = (2 * self.next.load(Relaxed)).clamp(1, CLUSTER_SPANS_LEFT_OUT_MAX);
        self.next.store(left_out, Relaxed);
        self.left_out.store(left_out, Relaxed);
    }
}

impl FetchedSpans {
    /// Adds the result of a span, which brought `brought` of its ranges.
    pub(super) fn add(&mut self, span: &RangeSpan, brought: usize) {
        let counts = match span.reach {
            Reach::Document => &mut self.within,
            Reach::Collection => &mut self.across,
        };
        counts.ranges += span.ranges.len();
        counts.brought += brought;
    }
}

/// Groups consecutive near ranges into spans that reach at most this far.
pub(super) fn spans(ranges: &[RangeRead<'_>], reach_max: Reach) -> Vec<RangeSpan> {
    if ranges.len() < CLUSTER_SPAN_RANGES_MIN {
        return Vec::new();
    }
    let near = near_to_previous(ranges, reach_max);
    let mut spans = Vec::new();
    let mut begin = 0;
    while begin < ranges.len() {
        let near = near[begin + 1..].iter().take_while(|near| near.is_some());
        let end = begin + 1 + near.count();
        let holds_any = || ranges[begin].begin < end_of(&ranges[begin..end]);
        if end - begin >= CLUSTER_SPAN_RANGES_MIN && holds_any() {
            let parts = (end - begin).div_ceil(CLUSTER_SPAN_RANGES_MAX);
            let bound = |part: usize| begin + (end - begin) * part / parts;
            spans.extend((0..parts).map(|part| bound(part)..bound(part + 1)));
        }
        begin = end;
    }
    let with_reach = |ranges: Range<usize>| {
        let mut others = near[ranges.clone()].iter().skip(1);
        let across = others.any(|near| *near == Some(Reach::Collection));
        let reach = if across {
            Reach::Collection
        } else {
            Reach::Document
        };
        RangeSpan { ranges, reach }
    };
    spans.into_iter().map(with_reach).collect()
}

/// For each range, whether it is in the document of the previous range, or in a document near it.
/// `None` if it is farther away than `reach_max`, or not in ascending order.
fn near_to_previous(ranges: &[RangeRead<'_>], reach_max: Reach) -> Vec<Option<Reach>> {
    let mut document: &[u8] = &[];
    let mut previous: Option<&RangeRead<'_>> = None;
    let mut near = Vec::with_capacity(ranges.len());
    for range in ranges {
        let reach = if !document.is_empty() && range.begin.starts_with(document) {
            Some(Reach::Document)
        } else {
            let before = std::mem::replace(&mut document, key::document_prefix(range.begin));
            let is_near = range.adjacent || key::are_neighbours(before, document);
            (is_near && reach_max == Reach::Collection).then_some(Reach::Collection)
        };
        let ascends = previous.is_some_and(|previous| {
            !range.reverse && !previous.reverse && previous.begin <= range.begin
        });
        near.push(reach.filter(|_| ascends));
        previous = Some(range);
    }
    near
}

/// Whether a range belongs to one of the spans, which are in order.
pub(super) fn covers(spans: &[RangeSpan], range: usize) -> bool {
    let at = spans.partition_point(|span| span.ranges.end <= range);
    spans
        .get(at)
        .is_some_and(|span| span.ranges.contains(&range))
}

/// The end of the span: the greatest end of its ranges.
fn end_of<'r>(span: &[RangeRead<'r>]) -> &'r [u8] {
    span.iter().map(|range| range.end).max().unwrap_or_default()
}

/// The client's options for a span, which is not empty.
pub(super) fn option<'r>(span: &[RangeRead<'r>]) -> RangeOption<'r> {
    let begin = span.first().map_or(&[][..], |range| range.begin);
    let pairs = span.len().saturating_mul(CLUSTER_SPAN_PAIRS_FOR_EACH);
    RangeOption {
        limit: Some(pairs.min(CLUSTER_SPAN_PAIRS_MAX)),
        target_bytes: CLUSTER_SPAN_BYTES_MAX,
        mode: StreamingMode::WantAll,
        ..RangeOption::from((begin, end_of(span)))
    }
}

/// The batch of one range of a span. `None` if the read ended before the end of the range.
pub(super) fn batch(range: &RangeRead<'_>, span: &FdbValues) -> Option<Batch> {
    let values: &[FdbKeyValue] = span;
    let reached = !span.more() || values.last().is_some_and(|last| range.end <= last.key());
    if !reached {
        return None;
    }
    let first = values.partition_point(|value| value.key() < range.begin);
    let inside = values[first..]
        .iter()
        .take_while(|value| value.key() < range.end);
    let mut pairs = Pairs::default();
    for value in inside.take(range.pairs_max) {
        pairs.push(value.key(), value.value());
    }
    Some(Batch { pairs, more: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::id::DocumentId;
    use crate::document::path::{Place, Segment};
    use crate::key::Family;

    /// The bounds of the range of a member of a document.
    fn member(id: i64, name: &str) -> (Vec<u8>, Vec<u8>) {
        let place = Place(vec![Segment::Key(name.to_owned())]);
        let begin = Family::Document("D", &DocumentId::Integer(id), &place)
            .key()
            .expect("short");
        let end = [&begin[..], &[0xFF]].concat();
        (begin, end)
    }

    fn ranges(bounds: &[(Vec<u8>, Vec<u8>)]) -> Vec<RangeRead<'_>> {
        let ranges = bounds.iter().map(|(begin, end)| RangeRead::new(begin, end));
        ranges.collect()
    }

    fn members(id: i64, names: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
        names
            .chars()
            .map(|name| member(id, &name.to_string()))
            .collect()
    }

    fn found(spans: &[RangeSpan]) -> Vec<Range<usize>> {
        spans.iter().map(|span| span.ranges.clone()).collect()
    }

    #[test]
    fn ranges_of_one_document_make_a_span_that_reaches_as_far_as_the_farthest() {
        let mut bounds = [members(1, "a"), members(50, "cdeg"), members(99, "kl")].concat();
        bounds[2].1 = member(50, "x").1;
        let ranges = ranges(&bounds);
        let spans = spans(&ranges, Reach::Document);
        assert_eq!(found(&spans), vec![1..5], "two are too few");
        let option = option(&ranges[1..5]);
        let (begin, end) = (&bounds[1].0[..], &bounds[2].1[..]);
        assert_eq!((option.begin.key(), option.end.key()), (begin, end));
        assert_eq!(option.limit, Some(4 * CLUSTER_SPAN_PAIRS_FOR_EACH));
    }

    #[test]
    fn many_ranges_make_several_spans_of_about_the_same_length() {
        let bounds = member(1, "a");
        let ranges = vec![RangeRead::new(&bounds.0, &bounds.1); 2 * CLUSTER_SPAN_RANGES_MAX + 1];
        let spans = spans(&ranges, Reach::Document);
        let lengths: Vec<_> = found(&spans).iter().map(ExactSizeIterator::len).collect();
        assert_eq!(spans.len(), 3);
        assert_eq!(lengths.iter().sum::<usize>(), ranges.len());
        let most = lengths.iter().max().expect("three");
        assert!(
            lengths.iter().all(|length| length + 1 >= *most),
            "{lengths:?}"
        );
        assert!((0..ranges.len()).all(|at| covers(&spans, at)));
        assert!(!covers(&spans, ranges.len()));
        assert!(!covers(&spans[1..], 0));
    }

    #[test]
    fn ranges_that_do_not_ascend_make_no_span() {
        let bounds = members(1, "dcba");
        assert!(spans(&ranges(&bounds), Reach::Document).is_empty());
        let ascending = members(1, "abcd");
        assert_eq!(spans(&ranges(&ascending), Reach::Document).len(), 1);
        let mut reverse = ranges(&ascending);
        for range in &mut reverse {
            range.reverse = true;
        }
        assert!(spans(&reverse, Reach::Document).is_empty());
        assert!(
            spans(
                &[RangeRead::new(&bounds[0].1, &bounds[0].0); 4],
                Reach::Document
            )
            .is_empty()
        );
    }

    #[test]
    fn keys_that_are_in_no_document_make_a_span_only_if_they_are_adjacent() {
        let mut ranges = [RangeRead::new(b"a", b"b"); 4];
        assert!(spans(&ranges, Reach::Collection).is_empty());
        for range in &mut ranges[1..] {
            range.adjacent = true;
        }
        assert_eq!(found(&spans(&ranges, Reach::Collection)), vec![0..4]);
        assert!(spans(&ranges, Reach::Document).is_empty());
    }

    #[test]
    fn spans_that_bring_too_little_are_tried_ever_less_often() {
        let bounds = members(1, "abcd");
        let ranges = ranges(&bounds);
        let prospects = Prospects::default();
        let span = spans(&ranges, Reach::Document).remove(0);
        let learn = |brought: usize| {
            let mut round = FetchedSpans::default();
            round.add(&span, brought);
            prospects.learn(&round);
        };
        let rounds_until_tried = || {
            let tries = std::iter::repeat_with(|| prospects.spans(&ranges));
            tries.take_while(Vec::is_empty).count()
        };
        for left_out in [0, 1, 2, 4] {
            assert_eq!(rounds_until_tried(), left_out);
            learn(1);
        }
        assert_eq!(rounds_until_tried(), 8);
        learn(2);
        assert_eq!(rounds_until_tried(), 0);
        for _ in 0..40 {
            learn(0);
        }
        let most = usize::try_from(CLUSTER_SPANS_LEFT_OUT_MAX).expect("small");
        assert_eq!(rounds_until_tried(), most);
        assert!(prospects.spans(&ranges[..1]).is_empty());
    }

    #[test]
    fn spans_across_documents_are_counted_apart_from_those_within_one() {
        let one_document = members(1, "abcd");
        let several = [2, 3, 4, 5].map(|id| member(id, "a"));
        let both = [one_document.clone(), several.to_vec()].concat();
        let (one_document, several) = (ranges(&one_document), ranges(&several));
        let both = ranges(&both);
        let prospects = Prospects::default();
        let spans = prospects.spans(&both);
        assert_eq!(found(&spans), vec![0..8]);
        let mut round = FetchedSpans::default();
        round.add(&spans[0], 1);
        prospects.learn(&round);
        assert_eq!(found(&prospects.spans(&both)), vec![0..4]);
        let again = prospects.spans(&both);
        assert_eq!(found(&again), vec![0..8], "it is tried again");
        prospects.learn(&round);
        assert!(prospects.spans(&several).is_empty());
        assert_eq!(found(&prospects.spans(&one_document)), vec![0..4]);
    }
}
