//! The tables of the redb file.

use crate::error::Error;
use redb::TableDefinition;

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

/// The ranges: the first key of each, and the first key past it.
pub(super) const TOMBSTONES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("tombstones");
