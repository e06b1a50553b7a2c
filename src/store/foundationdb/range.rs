//! Ranges as the client reads them.

use foundationdb::RangeOption;
use foundationdb::future::{FdbKeys, FdbValues};
use foundationdb::options::StreamingMode;

use crate::limits::BATCH_BYTES_MAX;
use crate::store::{Batch, Pairs, RangeRead};

/// How the client is asked for a batch; none if the range holds nothing anyway.
pub(super) fn option<'r>(range: &RangeRead<'r>) -> Option<RangeOption<'r>> {
    if range.begin >= range.end || range.pairs_max == 0 {
        return None;
    }
    // Who reads without a limit gets what one reply of a server holds, so that the rest can be
    // read in parallel; who goes on, or knows how much is needed, gets it in one batch.
    let in_one_reply = range.pairs_max == usize::MAX && !range.resumed;
    Some(RangeOption {
        limit: Some(range.batch_pairs_max()),
        target_bytes: if in_one_reply { 0 } else { BATCH_BYTES_MAX },
        mode: if in_one_reply {
            StreamingMode::WantAll
        } else {
            StreamingMode::Exact
        },
        reverse: range.reverse,
        ..RangeOption::from((range.begin, range.end))
    })
}

/// What the client brought.
pub(super) fn batch(range: &RangeRead<'_>, values: &FdbValues) -> Batch {
    let mut pairs = Pairs::default();
    for pair in values {
        pairs.push(pair.key(), pair.value());
    }
    Batch {
        more: values.more() && !pairs.is_empty() && pairs.len() < range.pairs_max,
        pairs,
    }
}

/// The keys strictly between the ends of a range at which to split it.
pub(super) fn inner_points(points: &FdbKeys, begin: &[u8], end: &[u8]) -> Vec<Vec<u8>> {
    let mut inner = Vec::new();
    for point in points {
        let key = point.key();
        if begin < key && key < end {
            inner.push(key.to_vec());
        }
    }
    inner
}
