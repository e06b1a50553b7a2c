//! The most that a transaction can weigh, known without asking the client, which takes a trip to
//! its thread and back.

/// What the database counts for a write or a range besides its bytes, at most.
const OVERHEAD: usize = 64;

/// A bound on the bytes of a transaction as the database counts them: what is written, and the
/// ranges that it must not conflict on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SizeBound(usize);

impl SizeBound {
    pub(super) fn bytes(self) -> usize {
        self.0
    }

    /// A write of the range from `begin` to `end` bytes long keys, and of a value.
    ///
    /// It is written, conflicts with who reads it, and may stand between two parts of a range that
    /// the transaction has read.
    pub(super) fn add_write(&mut self, begin: usize, end: usize, value: usize) {
        self.0 += 3 * (begin + end + OVERHEAD) + value;
    }

    /// A conflict on the range from `begin` to `end` bytes long keys.
    pub(super) fn add_conflict(&mut self, begin: usize, end: usize) {
        self.0 += begin + end + OVERHEAD;
    }
}
