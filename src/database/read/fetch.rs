//! Execution of planned reads: the first batches in one round, then the rest of large ranges.

use std::ops::Range;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::join_all;

use super::range_plan::{Extent, RangeSource, ReadPlan, element_keys, narrowed};
use crate::budget::{Reservation, begun_in_turns};
use crate::database::document_key::prefix_end;
use crate::error::Result;
use crate::limits::{
    COPIED_BYTES_PER_STEP, PARALLEL_READ_BYTES, PARALLEL_READS_MAX, STEPS_PER_FOUND_RANGE,
    VALUE_BATCH_PAIRS_MAX,
};
use crate::store::{Batches, MultiRange, Pairs, RangeRead, Read, RoundBatch, key_after};

/// The results of the reads of a plan.
#[derive(Default)]
pub(crate) struct Fetched {
    pairs: Vec<Arc<Pairs>>,
    /// For each read, the position of its pairs and the range in them.
    reads: Vec<Result<(usize, Range<usize>)>>,
}

impl Fetched {
    /// Executes the plan, all reads concurrently. An error is stored with the read that caused it.
    pub(crate) async fn read(read: &dyn Read, plan: &ReadPlan<'_>, memory: &Reservation) -> Self {
        Self::read_with(read, &plan.reads, &[], memory).await
    }

    /// As [`Fetched::read`], of the reads of a plan. The reads of `further` ranges follow them.
    pub(crate) async fn read_with(
        read: &dyn Read,
        reads: &[(&[u8], Extent)],
        further: &[(Vec<u8>, Vec<u8>)],
        memory: &Reservation,
    ) -> Self {
        let budget = memory.budget();
        let key_bytes = reads.iter().map(|(key, _)| key.len()).sum::<usize>() as u64;
        let steps = STEPS_PER_FOUND_RANGE * (reads.len() + further.len()) as u64
            + key_bytes / COPIED_BYTES_PER_STEP;
        let bounds = budget.portion(steps, || RangeBounds::of(reads)).await;
        let ranges = budget
            .portion(steps, || bounds.ranges(reads, further))
            .await;
        let MultiRange { mut pairs, batches } = read.ranges(&ranges).await;
        // The pairs count from now on, also while the work on them waits for its turn.
        memory.hold_besides(pairs.spare_bytes());
        let unsorted = budget.share();
        unsorted.add(pairs.bytes());
        // The first pairs of unfinished ranges are copied.
        let steps = steps + pairs.bytes() as u64 / COPIED_BYTES_PER_STEP;
        let taken = || {
            drop(unsorted);
            taken(batches, ranges, &mut pairs, memory)
        };
        let (mut reads, unfinished) = budget.portion(steps, taken).await;
        let rests: Vec<_> = unfinished
            .into_iter()
            .map(|(number, range, first)| async move {
                (number, read_rest(read, range, first, memory).await)
            })
            .collect();
        let mut pairs = vec![Arc::new(pairs)];
        for (number, whole) in join_all(begun_in_turns(rests)).await {
            reads[number] = whole.map(|whole| {
                let range = 0..whole.len();
                pairs.push(Arc::new(whole));
                (pairs.len() - 1, range)
            });
        }
        Self { pairs, reads }
    }

    /// The result of a read.
    ///
    /// # Errors
    /// The error of that read.
    pub(crate) fn of(&self, read: usize) -> Result<(&Arc<Pairs>, Range<usize>)> {
        match &self.reads[read] {
            Ok((pairs, range)) => Ok((&self.pairs[*pairs], range.clone())),
            Err(error) => Err(error.clone()),
        }
    }

    /// The requested extent of the value at `key`, of a read that `source` names.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn at(
        &self,
        source: &RangeSource,
        key: &[u8],
        extent: Extent,
    ) -> Result<(&Arc<Pairs>, Range<usize>)> {
        let (pairs, range) = self.of(source.read)?;
        if source.exact {
            return Ok((pairs, range));
        }
        let range = pairs.between(range, key, &prefix_end(key));
        Ok((pairs, narrowed(pairs, range, key, extent)))
    }
}

/// The keys that the ranges of a plan begin and end at, besides those of its places.
struct RangeBounds {
    /// The ends of the ranges, one behind the other. A range ends with its key followed by 0xFF.
    ends: Vec<u8>,
    /// The first key of elements, and the end of their keys, for each read of elements.
    elements: Vec<(Vec<u8>, Vec<u8>)>,
}

impl RangeBounds {
    fn of(reads: &[(&[u8], Extent)]) -> Self {
        let mut ends = Vec::with_capacity(reads.iter().map(|(key, _)| key.len() + 1).sum());
        for (key, _) in reads {
            ends.extend_from_slice(key);
            ends.push(0xFF);
        }
        let elements = reads.iter().filter_map(|(key, extent)| match extent {
            Extent::Elements(elements) => Some(element_keys(key, *elements)),
            _ => None,
        });
        Self {
            ends,
            elements: elements.collect(),
        }
    }

    /// The ranges of the reads, and those that follow them.
    fn ranges<'r>(
        &'r self,
        reads: &[(&'r [u8], Extent)],
        further: &'r [(Vec<u8>, Vec<u8>)],
    ) -> Vec<RangeRead<'r>> {
        let mut ends = &self.ends[..];
        let mut elements = self.elements.iter();
        let mut ranges = Vec::with_capacity(reads.len() + further.len());
        for (key, extent) in reads {
            let (end, rest) = ends.split_at(key.len() + 1);
            ends = rest;
            let range = RangeRead::new(key, end).in_batches_of(VALUE_BATCH_PAIRS_MAX);
            ranges.push(match extent {
                Extent::First => range.at_most(1),
                Extent::Last => RangeRead {
                    reverse: true,
                    ..range.at_most(1)
                },
                Extent::Elements(_) => {
                    let (begin, end) = elements.next().expect("one for each such read");
                    RangeRead {
                        begin,
                        end,
                        ..range
                    }
                }
                Extent::Whole => range,
            });
        }
        let further = further.iter();
        ranges.extend(further.map(|(begin, end)| RangeRead::new(begin, end)));
        ranges
    }
}

/// A range whose first batch is read: its number, itself, and the pairs of the batch.
type UnfinishedRead<'r> = (usize, RangeRead<'r>, Pairs);

/// Where the first pairs of a range are: the number of the buffer, and the range in it.
type TakenRange = (usize, Range<usize>);

/// The result of each range after the first round, and the ranges that have more pairs. Their first pairs
/// are taken from `pairs`.
fn taken<'r>(
    batches: Vec<Result<RoundBatch>>,
    ranges: Vec<RangeRead<'r>>,
    pairs: &mut Pairs,
    memory: &Reservation,
) -> (Vec<Result<TakenRange>>, Vec<UnfinishedRead<'r>>) {
    let mut reads = Vec::with_capacity(ranges.len());
    let mut unfinished = Vec::new();
    for (batch, range) in batches.into_iter().zip(ranges) {
        let batch = batch.and_then(|batch| {
            if range.pairs_max > 1 {
                memory.hold(pairs.bytes_of(&batch.pairs))?;
            }
            Ok(batch)
        });
        reads.push(batch.map(|batch| {
            if batch.more {
                unfinished.push((reads.len(), range, batch.pairs.clone()));
            }
            // An empty result gets an empty range at 0: its position may lie in pairs that are
            // moved out below.
            let nothing = batch.pairs.is_empty();
            (0, if nothing { 0..0 } else { batch.pairs })
        }));
    }
    let unfinished = unfinished
        .into_iter()
        .map(|(number, range, first)| {
            let first = if first.len() == pairs.len() {
                std::mem::take(pairs)
            } else {
                let first = pairs.part(first);
                memory.hold_besides(first.bytes() + first.spare_bytes());
                first
            };
            (number, range, first)
        })
        .collect();
    (reads, unfinished)
}

/// Reads the rest of a range after its first batch. Reads several parts concurrently if the engine
/// benefits from it.
async fn read_rest(
    read: &dyn Read,
    range: RangeRead<'_>,
    mut pairs: Pairs,
    memory: &Reservation,
) -> Result<Pairs> {
    let Some((last, _)) = pairs.last() else {
        return Ok(pairs);
    };
    let begin = key_after(last);
    let points = read.split_points(&begin, range.end).await?;
    let expected = (points.len() + 1) * PARALLEL_READ_BYTES;
    if points.is_empty() || expected > memory.bytes_max().saturating_mul(2) {
        return read_on(read, begin, range.end, pairs, memory).await;
    }
    let begins = std::iter::once(&begin).chain(&points);
    let ends = points.iter().map(Vec::as_slice).chain([range.end]);
    let parts: Vec<_> = begins
        .zip(ends)
        .map(|(begin, end)| read_on(read, begin.clone(), end, Pairs::default(), memory))
        .collect();
    let mut parts = futures::stream::iter(parts).buffered(PARALLEL_READS_MAX);
    while let Some(part) = parts.next().await {
        pairs.append(&part?);
    }
    Ok(pairs)
}

/// Reads the rest of a range in batches and appends it to `pairs`.
async fn read_on(
    read: &dyn Read,
    begin: Vec<u8>,
    end: &[u8],
    mut pairs: Pairs,
    memory: &Reservation,
) -> Result<Pairs> {
    let mut batches = Batches::new(read, begin, end)
        .in_batches_of(VALUE_BATCH_PAIRS_MAX)
        .resumed();
    while let Some(batch) = batches.next().await? {
        memory.hold(batch.bytes())?;
        pairs.append(&batch);
    }
    Ok(pairs)
}
