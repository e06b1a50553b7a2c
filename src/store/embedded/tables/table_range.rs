//! A range of redb's pairs, read in one direction.

use std::ops::Bound;

use redb::{AccessGuard, Cursor, ReadableTable, StorageError};

use super::Bytes;

/// A key and its value, in a page of the cache.
pub(super) type TablePair<'t> = (AccessGuard<'t, Bytes>, AccessGuard<'t, Bytes>);

/// The pairs of a range that are left. redb's range can be read from both ends and compares its two
/// positions at each pair; one cursor takes six tenths of its time.
pub(super) struct TableRange<'t, 'k> {
    cursor: Cursor<'t, Bytes, Bytes>,
    begin: &'k [u8],
    end: &'k [u8],
    reverse: bool,
}

impl<'t, 'k> TableRange<'t, 'k> {
    /// From `begin` to before `end`, or back if `reverse`.
    pub(super) fn new(
        table: &'t impl ReadableTable<Bytes, Bytes>,
        (begin, end): (&'k [u8], &'k [u8]),
        reverse: bool,
    ) -> Result<Self, StorageError> {
        let cursor = if reverse {
            table.upper_bound(Bound::Excluded(end))?
        } else {
            table.lower_bound(Bound::Included(begin))?
        };
        Ok(Self {
            cursor,
            begin,
            end,
            reverse,
        })
    }

    /// The next pair of the table, which may lie behind the range ([`TableRange::has`]).
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<TablePair<'t>>, StorageError> {
        if self.reverse {
            self.cursor.prev()
        } else {
            self.cursor.next()
        }
    }

    /// Whether a key that the cursor came to is in the range.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        if self.reverse {
            key >= self.begin
        } else {
            key < self.end
        }
    }
}
