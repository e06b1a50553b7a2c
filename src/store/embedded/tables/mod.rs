//! The tables of the redb file, and how they are read and written.

pub(super) mod cleared;
pub(super) mod overlay;
pub(super) mod overlays;
pub(super) mod pairs;
pub(super) mod portions;
pub(super) mod redb_panics;
mod table_range;
mod table_walk;
pub(super) mod tombstones;
pub(super) mod view;
mod visible;
pub(super) mod writes;

use redb::TableDefinition;

use crate::error::Error;

/// All pairs of the store.
pub(super) const PAIRS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("pairs");

/// Records of the engine itself.
pub(super) const ENGINE: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");

/// The key of the last commit number in [`ENGINE`].
pub(super) const LAST_COMMIT: &str = "last_commit";

pub(super) type Bytes = &'static [u8];

/// Converts a fault of the file or of the engine.
pub(super) fn fault(error: impl std::fmt::Display) -> Error {
    Error::unavailable("the store cannot be read or written", error.to_string())
}

/// The tombstones: the first key of each range, and its end.
pub(super) const TOMBSTONES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("tombstones");

#[cfg(test)]
mod tests;
