//! Reads ahead, concurrently, what the steps of an edit read one after another.

use super::location::{candidates, first_of, last_of};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::document::path::Path;
use crate::limits::DIGIT_TOKENS_AT_ONCE;
use crate::store::{RangeRead, Transaction};

/// Reads ahead the values at paths and the ends of their containers. Does nothing on a local store.
pub(crate) async fn look_ahead(
    transaction: &dyn Transaction,
    document: &DocumentKey,
    paths: &[Path],
) {
    if !transaction.is_remote() {
        return;
    }
    let above: Vec<Path> = paths
        .iter()
        .filter_map(Path::split_last)
        .map(|(above, _)| above)
        .collect();
    let places = bounds(document, paths);
    let containers = bounds(document, &above);
    let places = places.iter().map(|(begin, end)| first_of(begin, end));
    let containers = containers.iter().map(|(begin, end)| last_of(begin, end));
    let ranges: Vec<RangeRead<'_>> = places.chain(containers).collect();
    transaction.read_ahead(&ranges).await;
}

/// The ranges of the candidate places of paths, sorted and without duplicates. Skips paths
/// with too many candidates or with keys beyond the limit.
fn bounds(document: &DocumentKey, paths: &[Path]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let paths = paths.iter();
    let known = paths.filter(|path| path.ambiguous() <= DIGIT_TOKENS_AT_ONCE);
    let found = known.flat_map(|path| candidates(document, path)).flatten();
    let mut keys: Vec<Vec<u8>> = found.map(|(_, key)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    let with_end = |key: Vec<u8>| {
        let end = prefix_end(&key);
        (key, end)
    };
    keys.into_iter().map(with_end).collect()
}
