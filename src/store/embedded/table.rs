//! Reading and writing redb tables: the only place that knows their types.

use redb::{CursorError, ReadableTable, StorageError, Table, TableDefinition};
use std::ops::Bound;

use super::super::{Batch, Filling, Pairs, RangeRead, Round};
use crate::error::{Error, Result};
use crate::limits::PAIRS_WALKED_MAX;

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
    let mut pairs = Pairs::default();
    let more = append_range(table, range, &mut pairs)?;
    Ok(Batch { pairs, more })
}

/// Adds the first batch of each range to a round, or what `refuse` says of the range.
pub(super) fn ranges(
    table: &impl ReadableTable<Bytes, Bytes>,
    ranges: &[RangeRead<'_>],
    round: &mut Round,
    refuse: impl Fn(&RangeRead<'_>) -> Result<()>,
    fault: impl Fn(StorageError) -> Error,
) {
    let mut walk = Walk::new(table);
    for range in ranges {
        round.read(|pairs| {
            refuse(range)?;
            walk.range(*range, pairs).map_err(&fault)
        });
    }
}

/// Appends the batch of a range. Whether there may be more.
fn append_range(
    table: &impl ReadableTable<Bytes, Bytes>,
    range: RangeRead<'_>,
    pairs: &mut Pairs,
) -> Result<bool, StorageError> {
    if range.is_empty() {
        return Ok(false);
    }
    let mut filling = Filling::new(pairs, &range);
    let mut found = table.range::<&[u8]>(range.begin..range.end)?;
    loop {
        let next = if range.reverse {
            found.next_back()
        } else {
            found.next()
        };
        let Some(pair) = next else {
            return Ok(false);
        };
        let (key, value) = pair?;
        if filling.push(key.value(), value.value()) {
            return Ok(filling.more());
        }
    }
}

/// Reads ranges one after another with the same iterator. Where one begins shortly behind the last
/// pair that was read, the engine walks there.
struct Walk<'t, T> {
    table: &'t T,
    at: Option<At<'t>>,
}

/// Somewhere between two keys.
struct At<'t> {
    /// The last key that was passed; or, if none was, where it was looked for. Between this and the
    /// next key there is no other.
    behind: Vec<u8>,
    passed: bool,
    next: Option<Pair<'t>>,
    rest: redb::Range<'t, Bytes, Bytes>,
}

type Pair<'t> = (redb::AccessGuard<'t, Bytes>, redb::AccessGuard<'t, Bytes>);

impl<'t, T: ReadableTable<Bytes, Bytes>> Walk<'t, T> {
    fn new(table: &'t T) -> Self {
        Self { table, at: None }
    }

    /// Appends the first batch of a range. Whether there may be more. After an error nothing is
    /// appended.
    fn range(&mut self, range: RangeRead<'_>, pairs: &mut Pairs) -> Result<bool, StorageError> {
        let before = pairs.len();
        let read = if range.reverse {
            append_range(self.table, range, pairs)
        } else {
            self.read(range, pairs)
        };
        if read.is_err() {
            self.at = None;
            pairs.truncate(before);
        }
        read
    }

    fn read(&mut self, range: RangeRead<'_>, pairs: &mut Pairs) -> Result<bool, StorageError> {
        if range.is_empty() {
            return Ok(false);
        }
        let near = match &mut self.at {
            Some(at) => at.walk_to(range.begin)?,
            None => false,
        };
        if !near {
            self.at = None;
        }
        let at = match &mut self.at {
            Some(at) => at,
            none => none.insert(At::seek(self.table, range.begin)?),
        };
        let mut filling = Filling::new(pairs, &range);
        while let Some((key, value)) = &at.next
            && key.value() < range.end
        {
            if filling.push(key.value(), value.value()) {
                return Ok(filling.more());
            }
            at.pass()?;
        }
        Ok(false)
    }
}

impl<'t> At<'t> {
    fn seek(
        table: &'t impl ReadableTable<Bytes, Bytes>,
        begin: &[u8],
    ) -> Result<Self, StorageError> {
        let mut rest = table.range::<&[u8]>(begin..)?;
        Ok(Self {
            behind: begin.to_vec(),
            passed: false,
            next: rest.next().transpose()?,
            rest,
        })
    }

    /// Goes on until the next key is the first that is not less than `begin`, if that is not far
    /// and not back.
    fn walk_to(&mut self, begin: &[u8]) -> Result<bool, StorageError> {
        let back = if self.passed {
            begin <= &self.behind[..]
        } else {
            begin < &self.behind[..]
        };
        if back {
            return Ok(false);
        }
        for _ in 0..=PAIRS_WALKED_MAX {
            match &self.next {
                Some((key, _)) if key.value() < begin => self.pass()?,
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    fn pass(&mut self) -> Result<(), StorageError> {
        if let Some((key, _)) = &self.next {
            self.behind.clear();
            self.behind.extend_from_slice(key.value());
            self.passed = true;
        }
        self.next = self.rest.next().transpose()?;
        Ok(())
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
