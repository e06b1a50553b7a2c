//! Ranges as the client reads them.

use foundationdb::RangeOption;
use foundationdb::future::{FdbKeys, FdbValues};
use foundationdb::options::StreamingMode;

use crate::error::Result;
use crate::limits::PARALLEL_READ_BYTES;
use crate::store::{Batch, Pairs, RangeRead};

/// So many pairs are asked for in one go.
const FEW_PAIRS: usize = 16;

/// How the client is asked for a batch; none if the range holds nothing anyway.
pub(super) fn option<'r>(range: &RangeRead<'r>) -> Option<RangeOption<'r>> {
    if range.begin >= range.end || range.pairs_max == 0 {
        return None;
    }
    // Without a limit of its own a batch is what one reply of a server holds, some 80 kB. Who
    // wants few pairs gets all of them at once, however long they are.
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

/// The keys strictly between the ends of a range at which to split it; `ask` asks the client for
/// keys between which so many bytes stand.
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
