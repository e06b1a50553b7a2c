//! The number of members of an object.

use super::value::{PairRange, Value};
use super::value_ref::malformed;
use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, covers, prefix_end};
use crate::document::path::Place;
use crate::error::Result;
use crate::key::{KeyStep, Malformed, step};
use crate::limits::BATCH_PAIRS_MAX;
use crate::store::{RangeRead, Read};

/// The minimum number of pairs per batch. Batches shrink to it when members are large.
const BATCH_PAIRS_MIN: usize = 8;

/// Counts the members of an object that was read as a whole.
///
/// # Errors
/// `INTERNAL`: damaged data.
pub fn members(object: &Value) -> Result<u64> {
    let key = object.key();
    let PairRange { pairs, range, .. } = object.pair_range();
    let (mut at, mut members) = (range.start, 0);
    while at < range.end {
        let (pair, _) = pairs.get(at);
        match step(&pair[key.len()..]) {
            Some((KeyStep::Key(_), bytes)) => {
                let member = &pair[..key.len() + bytes];
                at = pairs
                    .between(at..range.end, member, &prefix_end(member))
                    .end;
                members += 1;
            }
            // The marker of an empty object.
            Some(_) => at += 1,
            None => return Err(malformed(Malformed::Segment, pair)),
        }
    }
    Ok(members)
}

/// Counts the members of the object at `place`. As on a page of children, batches of pairs are read
/// while members are small; after the beginning of a large member the read skips to the next one.
/// No more than one batch is in memory.
///
/// # Errors
/// `TOO_LARGE`: the key of the place exceeds the limit, or the pairs read exceed the budget.
/// `INTERNAL`: damaged data. Errors of the store.
pub async fn length(
    read: &dyn Read,
    document: &DocumentKey,
    place: &Place,
    budget: &Budget,
) -> Result<u64> {
    let key = document.place(place)?;
    let end = prefix_end(&key);
    let mut begin = key.clone();
    let mut members = 0;
    let mut batch_pairs = 2 * BATCH_PAIRS_MIN;
    loop {
        let range = RangeRead::new(&begin, &end).at_most(batch_pairs);
        let batch = read.range(range).await?;
        let memory = budget.reserve();
        memory.hold(batch.pairs.bytes())?;
        let before = members;
        let mut last: &[u8] = &[];
        for (pair, _) in batch.pairs.iter() {
            if !last.is_empty() && covers(last, pair) {
                continue;
            }
            match step(&pair[key.len()..]) {
                Some((KeyStep::Key(_), bytes)) => last = &pair[..key.len() + bytes],
                // The marker of an empty object.
                Some(_) => continue,
                None => return Err(malformed(Malformed::Segment, pair)),
            }
            members += 1;
        }
        let more = batch.more || batch.pairs.len() == batch_pairs;
        if !more || last.is_empty() {
            return Ok(members);
        }
        begin = prefix_end(last);
        let found = usize::try_from(members - before).unwrap_or(usize::MAX);
        batch_pairs = if found > batch.pairs.len() / 4 {
            (4 * batch_pairs).min(BATCH_PAIRS_MAX)
        } else {
            (batch_pairs / 2).max(BATCH_PAIRS_MIN)
        };
        budget.pace(1).await?;
    }
}
