//! The comparison of the count of a collection with its documents.
//!
//! A check counts the documents of a collection while it reads them. If it reads them in several
//! snapshots, documents that are created or deleted meanwhile may be counted or not. The result is
//! then trusted if it equals the stored count and the count did not change meanwhile. Otherwise the
//! documents are counted again, by their catalog entries and in one snapshot.

use futures::StreamExt as _;
use futures::TryStreamExt as _;
use futures::stream;

use super::snapshots::{CheckSnapshots, in_one_snapshot, is_too_old};
use crate::database::document_key::prefix_end;
use crate::error::Result;
use crate::key::{Entry, counts_of};
use crate::limits::PARALLEL_READS_MAX;
use crate::store::{Batches, Read};

/// The stored count and the number of documents at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) counted: i64,
    pub(crate) entered: i64,
}

/// The sum of the counts of a collection now. `packed` is its packed name.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn stored_count(snapshots: &CheckSnapshots, packed: &[u8]) -> Result<i64> {
    let (count, _) = in_one_snapshot!(snapshots, |read| sum_of_counts(read, packed))?;
    Ok(count)
}

/// Counts the documents of a collection, and the sum of its counts, in one snapshot. None if there
/// are too many documents to count as long as the engine keeps a snapshot.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn count_again(
    snapshots: &CheckSnapshots,
    packed: &[u8],
) -> Result<Option<Counted>> {
    match in_one_snapshot!(snapshots, |read| count_in(read, packed)) {
        Ok((counted, _)) => Ok(Some(counted)),
        Err(error) if is_too_old(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn sum_of_counts(read: &dyn Read, packed: &[u8]) -> Result<i64> {
    let begin = counts_of(packed);
    let end = prefix_end(&begin);
    let mut count: i64 = 0;
    let mut batches = Batches::new(read, begin, end);
    while let Some(pairs) = batches.next().await? {
        let shards = pairs.iter().filter_map(|(_, value)| value.try_into().ok());
        count = shards
            .map(i64::from_le_bytes)
            .fold(count, i64::wrapping_add);
    }
    Ok(count)
}

async fn count_pairs(read: &dyn Read, begin: Vec<u8>, end: Vec<u8>) -> Result<i64> {
    let mut count: i64 = 0;
    let mut batches = Batches::new(read, begin, end);
    while let Some(pairs) = batches.next().await? {
        count += i64::try_from(pairs.len()).unwrap_or(i64::MAX);
    }
    Ok(count)
}

async fn count_in(read: &dyn Read, packed: &[u8]) -> Result<Counted> {
    let begin = Entry::Existence.key_of(packed);
    let end = prefix_end(&begin);
    let counted = sum_of_counts(read, packed).await?;
    let mut bounds = vec![begin.clone()];
    bounds.extend(read.split_points(&begin, &end).await?);
    bounds.push(end);
    let bounds = bounds.windows(2);
    let parts: Vec<_> = bounds
        .map(|bounds| count_pairs(read, bounds[0].clone(), bounds[1].clone()))
        .collect();
    let parts: Vec<i64> = stream::iter(parts)
        .buffered(PARALLEL_READS_MAX)
        .try_collect()
        .await?;
    Ok(Counted {
        counted,
        entered: parts.into_iter().sum(),
    })
}
