//! Converts range reads to and from the client's types.

use foundationdb::RangeOption;
use foundationdb::future::{FdbKeys, FdbValues};
use foundationdb::options::StreamingMode;

use crate::error::Result;
use crate::limits::PARALLEL_READ_BYTES;
use crate::store::{Batch, Pairs, RangeRead};

/// Reads of at most this many pairs are requested in one reply.
const FEW_PAIRS: usize = 16;

/// The client's options for one batch. `None` if the range is empty.
pub(super) fn option<'r>(range: &RangeRead<'r>) -> Option<RangeOption<'r>> {
    if range.begin >= range.end || range.pairs_max == 0 {
        return None;
    }
    // Without a limit a batch is one reply of a storage server, about 80 kB. A read of few pairs
    // gets all of them in one batch, whatever their size.
    let few = range.pairs_max <= FEW_PAIRS;
    Some(RangeOption {
        limit: Some(range.batch_pairs_max()),
        mode: if few {
            StreamingMode::Exact
        } else {
            StreamingMode::WantAll
        },
        reverse: range.reverse,
        ..RangeOption::from((range.begin, range.end))
    })
}

/// The batch in the client's reply.
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

/// The keys strictly inside a range at which to split it. `ask` requests keys that are this many
/// bytes apart.
pub(super) async fn split_points<F: Future<Output = Result<FdbKeys>>>(
    begin: &[u8],
    end: &[u8],
    ask: impl FnOnce(i64) -> F,
) -> Result<Vec<Vec<u8>>> {
    let mut inner = Vec::new();
    if begin >= end {
        return Ok(inner);
    }
    let bytes = i64::try_from(PARALLEL_READ_BYTES).unwrap_or(i64::MAX);
    for point in &ask(bytes).await? {
        let key = point.key();
        if begin < key && key < end {
            inner.push(key.to_vec());
        }
    }
    Ok(inner)
}
