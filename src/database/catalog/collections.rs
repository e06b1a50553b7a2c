//! Collections and their document counts.

use crate::database::document_key::prefix_end;
use crate::error::Result;
use crate::key::{Family, counts_of};
use crate::limits::COUNT_SHARDS;
use crate::store::{Batches, Read, Transaction};

/// A collection that holds a document or an index, or has a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// The name.
    pub name: String,
    /// The number of documents.
    pub count: i64,
}

/// Adds `by` to the document count of a collection. The count is spread over [`COUNT_SHARDS`] keys
/// so that concurrent transactions rarely contend for one.
///
/// # Errors
/// `TOO_LARGE`: the collection's name is too long.
pub(crate) fn add_to_count(transaction: &dyn Transaction, collection: &str, by: i64) -> Result<()> {
    let shard = rand::random_range(0..COUNT_SHARDS);
    transaction.add(&Family::Count(collection, shard).key()?, by);
    Ok(())
}

/// The number of documents in a collection.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn count(read: &dyn Read, collection: &str) -> Result<i64> {
    let (packed, _) = Family::documents(collection);
    let begin = counts_of(&packed);
    let end = prefix_end(&begin);
    let mut count: i64 = 0;
    let mut batches = Batches::new(read, begin, end);
    while let Some(pairs) = batches.next().await? {
        let shards = pairs.iter().filter_map(|(_, value)| value.try_into().ok());
        count += shards.map(i64::from_le_bytes).sum::<i64>();
    }
    Ok(count)
}

/// The collections that hold a document or an index, or have a type, in the order of their names.
///
/// # Errors
/// Errors of the store.
pub async fn collections(read: &dyn Read) -> Result<Vec<Collection>> {
    let (found, _) = first_collections(read, usize::MAX).await?;
    Ok(found)
}

/// The first of the [`collections`], and whether there are more.
///
/// # Errors
/// Errors of the store.
pub async fn first_collections(
    read: &dyn Read,
    count_max: usize,
) -> Result<(Vec<Collection>, bool)> {
    let (begin, end) = Family::counts();
    let mut found: Vec<(Collection, bool)> = Vec::new();
    let mut batches = Batches::new(read, begin, end);
    let holds = |(collection, defined): &(Collection, bool)| collection.count > 0 || *defined;
    while let Some(pairs) = batches.next().await? {
        for (key, value) in pairs.iter() {
            take(&mut found, key, value);
        }
        // The last collection may have further pairs.
        let (last, complete) = match found.split_last() {
            Some((_, complete)) => (1, complete),
            None => (0, &found[..]),
        };
        if count_max < usize::MAX && complete.iter().filter(|it| holds(it)).count() > count_max {
            found.truncate(found.len() - last);
            break;
        }
    }
    let mut held: Vec<Collection> = found
        .into_iter()
        .filter(|it| holds(it))
        .map(|(collection, _)| collection)
        .collect();
    let more = held.len() > count_max;
    held.truncate(count_max);
    Ok((held, more))
}

/// Adds one pair of the catalog: a count, or a definition.
fn take(found: &mut Vec<(Collection, bool)>, key: &[u8], value: &[u8]) {
    let (name, count, defined) = match (Family::counted_collection(key), value.try_into()) {
        (Some(name), Ok(count)) => (name, i64::from_le_bytes(count), false),
        (Some(_), Err(_)) => return,
        (None, _) => match Family::defined_collection(key) {
            Some(name) => (name, 0, true),
            None => return,
        },
    };
    match found.last_mut().filter(|(last, _)| last.name == name) {
        Some((last, is_defined)) => {
            last.count += count;
            *is_defined |= defined;
        }
        None => found.push((Collection { name, count }, defined)),
    }
}
