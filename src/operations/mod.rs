//! What streams of documents over HTTP do to a database, and what only an operator may do.

mod batch_changes;
mod change_rights;
mod export;
mod export_line;
mod maintain;
mod put;
mod read;
mod sweep;
mod transact;
mod types;

pub use batch_changes::{BatchChanges, NewDocument, NewPatch};
pub use export::Export;
pub use export_line::{ExportLine, is_line, parse_line, write_line};
pub use maintain::{adopt, backup, check};
pub use put::{BatchSender, change_batch};
pub use read::{first_collections, other_names, part};
pub use sweep::{Sweep, SweepChange, UpdateArgument};
pub use types::{InferredType, check_type, parse_type, set_type};
