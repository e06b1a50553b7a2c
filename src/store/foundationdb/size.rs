//! An upper bound on the size of a transaction. Asking the client for the size takes a round trip
//! to its thread.

/// The largest overhead that the database counts per write or range.
const OVERHEAD: usize = 64;

/// An upper bound on the bytes of a transaction as the database counts them: its writes and
/// conflict ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SizeBound(usize);

impl SizeBound {
    pub(super) fn bytes(self) -> usize {
        self.0
    }

    /// Adds a write. `begin` and `end` are the lengths of the range's keys, `value` of the value.
    ///
    /// The write itself, its write conflict, and a split of a read conflict range each count the
    /// keys.
    pub(super) fn add_write(&mut self, begin: usize, end: usize, value: usize) {
        self.0 += 3 * (begin + end + OVERHEAD) + value;
    }

    /// Adds a conflict range. `begin` and `end` are the lengths of its keys.
    pub(super) fn add_conflict(&mut self, begin: usize, end: usize) {
        self.0 += begin + end + OVERHEAD;
    }
}
