//! Reading and writing redb tables: the only place that knows their types.

use redb::{CursorError, ReadableTable, StorageError, Table, TableDefinition};
use std::ops::Bound;

use super::super::{Batch, RangeRead};
use crate::error::Error;

/// All pairs of the store.
pub(super) const PAIRS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("pairs");
/// What the engine itself keeps.
pub(super) const ENGINE: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");
/// In [`ENGINE`]: the number of the last commit.
pub(super) const LAST_COMMIT: &str = "last_commit";

pub(super) type Bytes = &'static [u8];

/// A fault of the file or of the engine.
pub(super) fn fault(error: impl std::fmt::Display) -> Error {
    Error::unavailable("the store cannot be read or written", error.to_string())
}

pub(super) fn get(
    table: &impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
) -> Result<Option<Vec<u8>>, StorageError> {
    let value = table.get(key)?;
    Ok(value.map(|value| value.value().to_vec()))
}

pub(super) fn range(
    table: &impl ReadableTable<Bytes, Bytes>,
    range: RangeRead<'_>,
) -> Result<Batch, StorageError> {
    let mut batch = Batch::default();
    let pairs_max = range.batch_pairs_max();
    if range.begin >= range.end || pairs_max == 0 {
        return Ok(batch);
    }
    let mut found = table.range::<&[u8]>(range.begin..range.end)?;
    loop {
        let next = if range.reverse {
            found.next_back()
        } else {
            found.next()
        };
        let Some(pair) = next else {
            return Ok(batch);
        };
        let (key, value) = pair?;
        batch.pairs.push(key.value(), value.value());
        if batch.is_full(pairs_max) {
            batch.more = batch.pairs.len() < range.pairs_max;
            return Ok(batch);
        }
    }
}

/// Sets pairs whose keys ascend: a run of new keys that stand side by side costs one descent.
pub(super) fn set_ascending<'p>(
    table: &mut Table<'_, Bytes, Bytes>,
    pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
) -> Result<(), StorageError> {
    let mut pairs = pairs.peekable();
    while let Some((first, _)) = pairs.peek() {
        let mut cursor = table.lower_bound_mut(Bound::Included(*first))?;
        let mut present = None;
        for (key, value) in pairs.by_ref() {
            match cursor.insert_before(key, value) {
                Ok(()) => {}
                Err(CursorError::UnorderedKey) => {
                    present = Some((key, value));
                    break;
                }
                Err(CursorError::Storage(error)) => return Err(error),
                Err(other) => return Err(StorageError::Corrupted(other.to_string())),
            }
        }
        cursor.close()?;
        if let Some((key, value)) = present {
            table.insert(key, value)?;
        }
    }
    Ok(())
}
