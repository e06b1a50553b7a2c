//! What the commands do to a database, whether they open it themselves or reach it through the
//! server that has it open, and what streams of documents over HTTP do.

mod batch_changes;
mod change_rights;
mod export;
mod export_line;
mod follow;
mod maintain;
mod put;
mod read;
mod remove;
mod sweep;
mod transact;
mod types;

pub use batch_changes::{BatchChanges, NewDocument, NewPatch};
pub use export::Export;
pub use export_line::{ExportLine, is_line, parse_line, write_line};
pub use follow::{ChangeLines, ChangeRequest, ValueLines};
pub use maintain::{adopt, backup, check};
pub use put::{BatchSender, Policy, change_batch, put_batch};
pub use read::{collections, first_collections, get, other_names, part, scan};
pub use remove::drop_collection;
pub use sweep::{Sweep, SweepChange, UpdateArgument, sweep_portion};
pub use types::{InferredType, check_type, drop_type, parsed_type, set_type, types};
