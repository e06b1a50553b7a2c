//! Reads of many ranges in one pass over redb's table.

use std::ops::Bound;

use redb::{Cursor, ReadableTable, StorageError};

use super::Bytes;
use super::pairs::{PortionEnd, PortionSteps, Tables, append_range, rest_after};
use super::redb_panics::read_table;
use crate::limits::PAIRS_WALKED_MAX;
use crate::store::read::{BatchStart, Filling};
use crate::store::{Pairs, RangeRead};

/// Reads ranges one after another with one cursor. If a range begins shortly after the last pair
/// read, the cursor steps to it. Otherwise, and if something in the range is changed or may be
/// hidden, each range is searched for from the root.
pub(super) struct TableWalk<'t, T> {
    tables: Tables<'t, T>,
    /// Between two keys.
    cursor: Option<Cursor<'t, Bytes, Bytes>>,
}

impl<'t, T: ReadableTable<Bytes, Bytes>> TableWalk<'t, T> {
    pub(super) fn new(tables: Tables<'t, T>) -> Self {
        Self {
            tables,
            cursor: None,
        }
    }

    /// Appends pairs of a range to the batch that began at `start`. After an error, some may be
    /// appended.
    pub(super) fn range(
        &mut self,
        range: RangeRead<'_>,
        start: BatchStart,
        pairs: &mut Pairs,
        steps: &mut PortionSteps,
    ) -> Result<PortionEnd, StorageError> {
        let tables = self.tables;
        let changed = || {
            tables.overlays.is_some_and(|overlays| {
                let mut changes = overlays.range(range.begin, range.end, false);
                changes.next().is_some()
            })
        };
        let read = if range.reverse || tables.hide(range.begin, range.end) || changed() {
            append_range(self.tables, range, start, pairs, steps)
        } else {
            read_table(|| self.read(range, start, pairs, steps))
        };
        if read.is_err() {
            self.cursor = None;
        }
        read
    }

    fn read(
        &mut self,
        range: RangeRead<'_>,
        start: BatchStart,
        pairs: &mut Pairs,
        steps: &mut PortionSteps,
    ) -> Result<PortionEnd, StorageError> {
        if range.is_empty() {
            return Ok(PortionEnd::Done { more: false });
        }
        steps.begin_range();
        let near = match &mut self.cursor {
            Some(cursor) => step_to(cursor, range.begin)?,
            None => false,
        };
        if !near {
            self.cursor = None;
        }
        let cursor = match &mut self.cursor {
            Some(cursor) => cursor,
            none => {
                let begin = Bound::Included(range.begin);
                none.insert(self.tables.pairs.lower_bound(begin)?)
            }
        };
        let mut filling = Filling::new(pairs, start, &range);
        while let Some((key, value)) = cursor.next()? {
            if key.value() >= range.end {
                cursor.prev()?;
                break;
            }
            if filling.push(key.value(), value.value()) {
                let more = filling.more();
                return Ok(PortionEnd::Done { more });
            }
            if steps.pair(key.value(), value.value()) {
                return Ok(PortionEnd::Paused(rest_after(key.value(), false)));
            }
        }
        Ok(PortionEnd::Done { more: false })
    }
}

/// Steps forward to before the first key that is not less than `begin`. Returns false if that is behind
/// the cursor or too far ahead.
fn step_to(cursor: &mut Cursor<'_, Bytes, Bytes>, begin: &[u8]) -> Result<bool, StorageError> {
    if let Some((key, _)) = cursor.peek_prev()?
        && key.value() >= begin
    {
        return Ok(false);
    }
    for _ in 0..=PAIRS_WALKED_MAX {
        match cursor.peek_next()? {
            Some((key, _)) if key.value() < begin => cursor.next()?,
            _ => return Ok(true),
        };
    }
    Ok(false)
}
