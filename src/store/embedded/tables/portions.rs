//! Reads in portions, between which other tasks run.
//!
//! A batch may have many pairs, and may have to step over any number of cleared keys and hidden ranges. A
//! portion ends after [`READ_STEPS_AT_A_TIME`](crate::limits::READ_STEPS_AT_A_TIME) steps. Those over
//! what it does not return are charged to the budget of the read. The next portion continues there, in
//! the same batch. The pairs before count as memory of the budget between portions, because the reads of
//! many fields may wait for their next portion at once.

use redb::{ReadableTable, StorageError};

use super::Bytes;
use super::pairs::{PortionEnd, PortionSteps, Tables, append_range};
use super::table_walk::TableWalk;
use crate::budget::{Budget, Share, count_steps, pause, turn};
use crate::error::{Error, Result};
use crate::store::read::BatchStart;
use crate::store::{Batch, MultiRange, Pairs, RangeRead};

/// A batch that is being read.
pub(crate) struct BatchPortion<'r> {
    range: RangeRead<'r>,
    pairs: Pairs,
    steps: PortionSteps,
}

impl BatchPortion<'_> {
    /// Reads the next portion.
    pub(crate) fn read(
        &mut self,
        tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    ) -> Result<PortionEnd, StorageError> {
        let start = BatchStart::default();
        append_range(tables, self.range, start, &mut self.pairs, &mut self.steps)
    }
}

/// Reads a batch. `read` calls [`BatchPortion::read`].
pub(crate) async fn range(
    range: RangeRead<'_>,
    mut read: impl FnMut(&mut BatchPortion<'_>) -> Result<PortionEnd>,
) -> Result<Batch> {
    if range.resumed {
        pause().await;
    } else {
        turn().await;
    }
    let mut pairs = Pairs::default();
    let mut rest = None;
    let held = HeldPairs::of(Some(&range));
    loop {
        let mut portion = BatchPortion {
            range: rest_of(range, rest.as_deref()),
            pairs,
            steps: PortionSteps::default(),
        };
        let end = read(&mut portion)?;
        count_steps(portion.steps.returned());
        range.spend(portion.steps.stepped_over())?;
        pairs = portion.pairs;
        match end {
            PortionEnd::Done { more } => return Ok(Batch { pairs, more }),
            PortionEnd::Paused(at) => rest = Some(at),
        }
        held.hold(&pairs)?;
        pause().await;
    }
}

/// The memory of the pairs of the portions before, while the next one waits.
struct HeldPairs(Option<Share>);

impl HeldPairs {
    /// Nothing yet. The budget is that of one of the ranges.
    fn of(range: Option<&RangeRead<'_>>) -> Self {
        let budget = range.and_then(|range| range.budget);
        Self(budget.map(Budget::counted_share))
    }

    /// Takes the memory of what was added since the last call.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the memory of all requests is used up.
    fn hold(&self, pairs: &Pairs) -> Result<()> {
        if let Some(share) = &self.0 {
            let bytes = pairs.bytes() + pairs.spare_bytes();
            share.take(bytes.saturating_sub(share.held()))?;
        }
        Ok(())
    }
}

/// The part of a range that is left after a portion.
fn rest_of<'r>(range: RangeRead<'r>, rest: Option<&'r [u8]>) -> RangeRead<'r> {
    match rest {
        None => range,
        Some(end) if range.reverse => RangeRead { end, ..range },
        Some(begin) => RangeRead { begin, ..range },
    }
}

/// A round of ranges that is being read.
pub(crate) struct RoundPortion<'r> {
    ranges: &'r [RangeRead<'r>],
    round: MultiRange,
    /// The batch that is begun, and the key at which the rest of its range begins or ends.
    rest: Option<(BatchStart, Vec<u8>)>,
    steps: PortionSteps,
}

impl RoundPortion<'_> {
    /// Reads the next portion. `refuse` can reject a range.
    pub(crate) fn read(
        &mut self,
        tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
        refuse: impl Fn(&RangeRead<'_>) -> Result<()>,
        fault: impl Fn(StorageError) -> Error,
    ) {
        let mut walk = TableWalk::new(tables);
        while let Some(range) = self.ranges.get(self.round.batches.len()) {
            let (start, rest) = match self.rest.take() {
                Some((start, rest)) => (start, Some(rest)),
                None => (BatchStart::of(&self.round.pairs), None),
            };
            let pairs = &mut self.round.pairs;
            let end = refuse(range).and_then(|()| {
                let range = rest_of(*range, rest.as_deref());
                let read = walk.range(range, start, pairs, &mut self.steps);
                read.map_err(&fault)
            });
            match end {
                Ok(PortionEnd::Done { more }) => self.round.finish(start.pairs, Ok(more)),
                Ok(PortionEnd::Paused(at)) => self.rest = Some((start, at)),
                Err(error) => self.round.finish(start.pairs, Err(error)),
            }
            if self.steps.is_over() {
                return;
            }
        }
    }

    /// Whether ranges are left for the next portion.
    fn is_paused(&self) -> bool {
        self.round.batches.len() < self.ranges.len()
    }

    /// Charges what the last portion stepped over.
    fn charge(&mut self) -> Result<()> {
        let steps = std::mem::take(&mut self.steps);
        count_steps(steps.returned());
        self.ranges
            .first()
            .map_or(Ok(()), |range| range.spend(steps.stepped_over()))
    }

    /// Fails the ranges that are not read completely.
    fn fail(&mut self, error: &Error) {
        if let Some((start, _)) = self.rest.take() {
            self.round.finish(start.pairs, Err(error.clone()));
        }
        while self.is_paused() {
            let pairs = self.round.pairs.len();
            self.round.finish(pairs, Err(error.clone()));
        }
    }
}

/// Reads the first batch of each range. `read` calls [`RoundPortion::read`].
pub(crate) async fn ranges(
    ranges: &[RangeRead<'_>],
    mut read: impl FnMut(&mut RoundPortion<'_>) -> Result<()>,
) -> MultiRange {
    let mut portion = RoundPortion {
        ranges,
        round: MultiRange::of(ranges.len()),
        rest: None,
        steps: PortionSteps::default(),
    };
    turn().await;
    let held = HeldPairs::of(ranges.first());
    loop {
        let mut read = read(&mut portion).and_then(|()| portion.charge());
        if read.is_ok() && portion.is_paused() {
            read = held.hold(&portion.round.pairs);
        }
        if let Err(error) = read {
            portion.fail(&error);
        }
        if !portion.is_paused() {
            return portion.round;
        }
        pause().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Pool;
    use crate::limits::Bounds;

    /// The pairs of a portion have about 1,000,000 bytes.
    fn fill(pairs: &mut Pairs) {
        for number in 0..100_u8 {
            pairs.push(&[number], &[0; 10_000]);
        }
    }

    #[tokio::test]
    async fn pairs_count_while_the_next_portion_waits() {
        let pool = Pool::new(3_000_000);
        let budget = Budget::of_test_in(&pool, &Bounds::DEFAULT);
        let read = RangeRead::new(b"a", b"b").paid_by(&budget);
        let mut portions = 0;
        let whole = range(read, |portion| {
            portions += 1;
            fill(&mut portion.pairs);
            Ok(PortionEnd::Paused(b"a".to_vec()))
        });
        let error = whole.await.expect_err("there is no memory");
        assert!(error.message().contains("3000000 bytes"), "{error:?}");
        assert!((2..=3).contains(&portions), "{portions} portions");
        assert_eq!(pool.held(), 0);

        portions = 0;
        let both = [read, read];
        let round = ranges(&both, |portion| {
            portions += 1;
            fill(&mut portion.round.pairs);
            Ok(())
        })
        .await;
        assert!((2..=3).contains(&portions), "{portions} portions");
        assert_eq!(round.batches.len(), 2);
        assert!(round.batches.iter().all(Result::is_err));
        assert_eq!(pool.held(), 0);
    }
}
