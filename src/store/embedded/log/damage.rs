//! Why a log is refused.

use std::io;

use super::LOG_NAMES;

/// Why a log cannot be recovered.
pub(crate) enum Damage {
    /// Bytes that were synced are missing or wrong.
    Damaged(String),
    /// A file cannot be read.
    Io(io::Error),
}

impl From<io::Error> for Damage {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Damage at an offset of a file, 0 or 1.
pub(super) fn damaged(file: usize, offset: u64, what: &str) -> Damage {
    let name = LOG_NAMES[file];
    Damage::Damaged(format!("write-ahead log {name} at offset {offset}: {what}"))
}
