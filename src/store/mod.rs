//! The storage layer: ordered keys and values, snapshots, and serializable transactions.
//!
//! The contract (`contract.rs`) is FoundationDB's model. If an engine does not need a call, the
//! call is a documented no-op. All code above this module works on every engine.

mod attachments;
mod batches;
mod contract;
mod embedded;
#[cfg(feature = "foundationdb")]
mod foundationdb;
mod metered;
mod multi_range;
mod observed;
mod pairs;
mod read;
mod read_backup;
mod transact;

pub use attachments::Attachments;
pub use batches::{Batches, key_after};
pub(crate) use contract::PendingStamps;
pub use contract::{CommitError, EngineObserver, Store, StoreLimits, Transaction, WriteWait};
pub use embedded::{
    BackupDirectory, Embedded, EmbeddedOptions, EmbeddedReader, FILE_NAME, LOG_NAMES, LogFiles,
    LostKeys, Salvage,
};
pub use metered::{MeteredRead, MeteredTransaction};
pub use multi_range::{Batch, MultiRange, RoundBatch};
pub use observed::{Observed, Operations, TRACES};
pub use pairs::Pairs;
pub use read::{RangeRead, Read, Sessions, SnapshotCache};
pub use read_backup::Backup;
pub use transact::{Decision, TransactionResult, transact};

#[cfg(feature = "foundationdb")]
pub use self::foundationdb::{FoundationDb, Network, NetworkOptions};
