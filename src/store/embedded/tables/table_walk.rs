//! Reads of many ranges in one pass over redb's table.

use std::ops::Bound;

use redb::{Cursor, ReadableTable, StorageError};

use super::Bytes;
use super::pairs::{PortionEnd, PortionSteps, Tables, append_range, rest_after};
use super::redb_panics::read_table;
use super::table_range::TablePair;
use crate::limits::PAIRS_WALKED_MAX;
use crate::store::read::{BatchStart, Filling};
use crate::store::{Pairs, RangeRead};

/// Reads ranges one after another with one cursor. If a range begins shortly after the last pair
/// read, the cursor steps to it. Otherwise, and if something in the range is changed or may be
/// hidden, each range is searched for from the root.
pub(super) struct TableWalk<'t, T> {
    tables: Tables<'t, T>,
    at: Option<At<'t>>,
}

/// A position before a pair.
struct At<'t> {
    /// No key lies between this one, included, and that of `next`.
    from: Vec<u8>,
    next: Option<TablePair<'t>>,
    rest: Cursor<'t, Bytes, Bytes>,
}

impl<'t, T: ReadableTable<Bytes, Bytes>> TableWalk<'t, T> {
    pub(super) fn new(tables: Tables<'t, T>) -> Self {
        Self { tables, at: None }
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
            self.at = None;
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
        let near = match &mut self.at {
            Some(at) => at.walk_to(range.begin)?,
            None => false,
        };
        if !near {
            self.at = None;
        }
        let at = match &mut self.at {
            Some(at) => at,
            none => none.insert(At::seek(self.tables.pairs, range.begin)?),
        };
        let mut filling = Filling::new(pairs, start, &range);
        let mut more = false;
        while let Some((key, value)) = &at.next
            && key.value() < range.end
        {
            let (key, value) = (key.value(), value.value());
            if filling.push(key, value) {
                more = filling.more();
                break;
            }
            if steps.pair(key, value) {
                return Ok(PortionEnd::Paused(rest_after(key, false)));
            }
            at.next = at.rest.next()?;
        }
        match &at.next {
            Some((key, _)) if key.value() < range.end => key.value().clone_into(&mut at.from),
            _ => range.end.clone_into(&mut at.from),
        }
        Ok(PortionEnd::Done { more })
    }
}

impl<'t> At<'t> {
    fn seek(
        table: &'t impl ReadableTable<Bytes, Bytes>,
        begin: &[u8],
    ) -> Result<Self, StorageError> {
        let mut rest = table.lower_bound(Bound::Included(begin))?;
        Ok(Self {
            from: begin.to_vec(),
            next: rest.next()?,
            rest,
        })
    }

    /// Steps forward until `next` is the first key not less than `begin`. Returns false if `begin`
    /// is behind the position or too far ahead.
    fn walk_to(&mut self, begin: &[u8]) -> Result<bool, StorageError> {
        if begin < &self.from[..] {
            return Ok(false);
        }
        for _ in 0..=PAIRS_WALKED_MAX {
            match &self.next {
                Some((key, _)) if key.value() < begin => self.next = self.rest.next()?,
                _ => return Ok(true),
            }
        }
        Ok(false)
    }
}
