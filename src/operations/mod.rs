//! What the commands do to a database, whether they open it themselves or reach it through the
//! server that has it open.

mod follow;
mod maintain;
mod put;
mod read;
mod remove;
mod sweep;
mod transact;
mod types;

pub use follow::{ChangeLines, ChangeRequest, ValueLines};
pub use maintain::{adopt, backup, check};
pub use put::{NewDocument, Policy, put_batch};
pub use read::{collections, first_collections, get, other_names, part, scan};
pub use remove::drop_collection;
pub use sweep::{Sweep, SweepChange, UpdateArgument, sweep_portion};
pub use types::{InferredType, check_type, drop_type, parsed_type, set_type, types};
