//! What is stored with a commit: its marker, and its entry in the change log.

mod changes;
mod marker;

pub use changes::{
    ChangeKind, ChangeLogPart, ChangeLogRange, ChangesDecoder, LoggedChange, encode_changes,
};
pub use marker::CommitMarker;
