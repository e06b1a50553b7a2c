//! Reads several near ranges as one span.
//!
//! A range read costs the cluster and the client as much as about a hundred pairs. Selections of
//! one document, or of a page of documents, often consist of many short ranges with few pairs
//! between them. One read of the whole span, from the first begin to the greatest end of its
//! ranges, is then cheaper, although it returns pairs that nobody asked for. How many pairs lie
//! between the ranges is known only after the read.
//!
//! - **Which ranges:** [`spans`] groups consecutive ascending ranges whose [`Locality`] says that
//!   they are near, at least [`CLUSTER_SPAN_RANGES_MIN`]. More than [`CLUSTER_SPAN_RANGES_MAX`]
//!   ranges are divided into several spans of about the same length.
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

use crate::limits::{
    CLUSTER_SPAN_BYTES_MAX, CLUSTER_SPAN_PAIRS_FOR_EACH, CLUSTER_SPAN_PAIRS_MAX,
    CLUSTER_SPAN_RANGES_MAX, CLUSTER_SPAN_RANGES_MIN, CLUSTER_SPANS_LEFT_OUT_MAX,
};
use crate::store::{Batch, Locality, Pairs, RangeRead};

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

/// The extent of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Document,
    Collection,
}

impl Prospects {
    /// The spans to read in a round, as indexes of its ranges.
    pub(super) fn spans(&self, ranges: &[RangeRead<'_>]) -> Vec<Range<usize>> {
        let is_across = |span: &Range<usize>| reach(&ranges[span.clone()]) == Reach::Collection;
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

    fn learn(&self, tally: SpanCounts) {
        if tally.ranges == 0 {
            return;
        }
        if 2 * tally.brought >= tally.ranges {
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
    pub(super) fn add(&mut self, span: &[RangeRead<'_>], brought: usize) {
        let tally = match reach(span) {
            Reach::Document => &mut self.within,
            Reach::Collection => &mut self.across,
        };
        tally.ranges += span.len();
        tally.brought += brought;
    }
}

/// The extent of a span.
fn reach(span: &[RangeRead<'_>]) -> Reach {
    let mut others = span.iter().skip(1);
    if others.any(|range| range.near == Locality::Collection) {
        Reach::Collection
    } else {
        Reach::Document
    }
}

/// Groups consecutive near ranges into spans, as indexes of the ranges.
pub(super) fn spans(ranges: &[RangeRead<'_>], reach: Reach) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut begin = 0;
    while begin < ranges.len() {
        let mut end = begin + 1;
        while end < ranges.len() && follows(&ranges[end - 1], &ranges[end], reach) {
            end += 1;
        }
        let holds_any = || ranges[begin].begin < prefix_end(&ranges[begin..end]);
        if end - begin >= CLUSTER_SPAN_RANGES_MIN && holds_any() {
            let parts = (end - begin).div_ceil(CLUSTER_SPAN_RANGES_MAX);
            let bound = |part: usize| begin + (end - begin) * part / parts;
            spans.extend((0..parts).map(|part| bound(part)..bound(part + 1)));
        }
        begin = end;
    }
    spans
}

/// Whether a range belongs to one of the spans, which are in order.
pub(super) fn covers(spans: &[Range<usize>], range: usize) -> bool {
    let at = spans.partition_point(|span| span.end <= range);
    spans.get(at).is_some_and(|span| span.contains(&range))
}

fn follows(before: &RangeRead<'_>, range: &RangeRead<'_>, reach: Reach) -> bool {
    let near = match range.near {
        Locality::Unknown => false,
        Locality::Document => true,
        Locality::Collection => reach == Reach::Collection,
    };
    near && !range.reverse && !before.reverse && before.begin <= range.begin
}

/// The end of the span: the greatest end of its ranges.
fn prefix_end<'r>(span: &[RangeRead<'r>]) -> &'r [u8] {
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
        ..RangeOption::from((begin, prefix_end(span)))
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

    fn near<'k>(begin: &'k [u8], end: &'k [u8]) -> RangeRead<'k> {
        RangeRead {
            near: Locality::Document,
            ..RangeRead::new(begin, end)
        }
    }

    #[test]
    fn near_ranges_make_a_span_that_reaches_as_far_as_the_farthest() {
        let ranges = [
            RangeRead::new(b"a", b"b"),
            RangeRead::new(b"c", b"cz"),
            near(b"d", b"x"),
            near(b"e", b"f"),
            near(b"g", b"h"),
            RangeRead::new(b"i", b"j"),
            near(b"k", b"l"),
        ];
        let found = spans(&ranges, Reach::Document);
        assert_eq!(found.first(), Some(&(1..5)));
        assert_eq!(found.len(), 1, "two are too few");
        let option = option(&ranges[1..5]);
        assert_eq!(
            (option.begin.key(), option.end.key()),
            (&b"c"[..], &b"x"[..])
        );
        assert_eq!(option.limit, Some(4 * CLUSTER_SPAN_PAIRS_FOR_EACH));
    }

    #[test]
    fn many_ranges_make_several_spans_that_are_about_as_long() {
        let ranges = [near(b"a", b"b"); 2 * CLUSTER_SPAN_RANGES_MAX + 1];
        let found = spans(&ranges, Reach::Document);
        let lengths: Vec<_> = found.iter().map(ExactSizeIterator::len).collect();
        assert_eq!(found.len(), 3);
        assert_eq!(lengths.iter().sum::<usize>(), ranges.len());
        let most = lengths.iter().max().expect("three");
        assert!(
            lengths.iter().all(|length| length + 1 >= *most),
            "{lengths:?}"
        );
        assert!((0..ranges.len()).all(|at| covers(&found, at)));
        assert!(!covers(&found, ranges.len()));
        assert!(!covers(&[1..3, 5..7], 3));
    }

    #[test]
    fn ranges_in_no_order_make_no_span() {
        let ranges = [
            near(b"d", b"e"),
            near(b"c", b"d"),
            near(b"b", b"c"),
            near(b"a", b"b"),
        ];
        assert!(spans(&ranges, Reach::Document).is_empty());
        let reverse = ranges.map(|range| RangeRead {
            begin: b"a",
            reverse: true,
            ..range
        });
        assert!(spans(&reverse, Reach::Document).is_empty());
        assert!(spans(&[near(b"b", b"a"); 4], Reach::Document).is_empty());
    }

    #[test]
    fn what_does_not_pay_is_tried_ever_less_often_and_what_pays_always() {
        let ranges = [near(b"a", b"b"); 4];
        let prospects = Prospects::default();
        let learn = |brought: usize| {
            let mut round = FetchedSpans::default();
            round.add(&ranges, brought);
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
    fn documents_with_other_documents_between_them_do_not_keep_one_from_being_read_as_a_span() {
        let next = RangeRead {
            near: Locality::Collection,
            ..near(b"a", b"b")
        };
        let one_document = [near(b"a", b"b"); 4];
        let several = [next; 4];
        let both = [one_document, several].concat();
        let prospects = Prospects::default();
        assert_eq!(prospects.spans(&both), vec![0..8]);
        let mut round = FetchedSpans::default();
        round.add(&several, 1);
        prospects.learn(&round);
        // The first of these ranges counts as part of the document before it.
        assert_eq!(prospects.spans(&both), vec![0..4]);
        assert_eq!(prospects.spans(&both), vec![0..8], "it is tried again");
        prospects.learn(&round);
        assert!(prospects.spans(&several).is_empty());
        assert_eq!(prospects.spans(&one_document), vec![0..4]);
    }
}
