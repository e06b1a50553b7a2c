//! The contract that every storage engine implements.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

use super::attachments::Attachments;
use super::read::{RangeRead, Read};
use super::read_backup::Backup;
use crate::error::{Error, Result};
use crate::key::Version;

/// A serializable transaction that reads its own writes. It has no effect if it is dropped without
/// a commit.
#[async_trait]
pub trait Transaction: Read {
    /// Reads of the same transaction that add no read conflicts. On the embedded engine, which has
    /// no conflicts, these are the ordinary reads.
    fn without_conflict(&self) -> &dyn Read;

    /// Reads ranges concurrently that the transaction reads later, so that the later reads do not
    /// wait. It adds no read conflicts. Errors are reported by the later reads. A no-op unless the
    /// engine [is remote](Read::is_remote).
    async fn read_ahead(&self, _ranges: &[RangeRead<'_>]) {}

    /// Sets the value of a key.
    fn set(&self, key: &[u8], value: &[u8]);

    /// Clears a key.
    fn clear(&self, key: &[u8]);

    /// Clears the keys from `begin` to before `end`.
    fn clear_range(&self, begin: &[u8], end: &[u8]);

    /// Clears the keys from `begin` to before `end` in a time that does not depend on their number.
    /// Returns whether the engine removes them from its file later, in the background. Until then,
    /// only programs that support this may open the store.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn clear_large_range(&self, begin: &[u8], end: &[u8]) -> Result<bool> {
        self.clear_range(begin, end);
        Ok(false)
    }

    /// Adds to a 64-bit little-endian integer. An absent value counts as 0. Additions do not
    /// conflict with each other.
    fn add(&self, key: &[u8], by: i64);

    /// Sets a value whose ten bytes from `stamp_at` are replaced with this commit's [`Version`].
    fn set_versionstamped_value(&self, key: &[u8], value: &[u8], stamp_at: usize);

    /// Sets a key whose ten bytes from `stamp_at` are replaced with this commit's [`Version`]. Until
    /// the commit, keys that begin with the bytes before `stamp_at` and any version cannot be read.
    fn set_versionstamped_key(&self, key: &[u8], stamp_at: usize, value: &[u8]);

    /// Makes the versions of all commits after this one greater than `version`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the engine cannot; the message says what the operator can do.
    async fn advance_versions(&self, version: Version) -> Result<()>;

    /// Adds a read conflict range, as if the transaction had read the range. A no-op on the
    /// embedded engine.
    fn add_read_conflict(&self, _begin: &[u8], _end: &[u8]) {}

    /// Adds a write conflict range, as if the transaction had written the range. A no-op on the
    /// embedded engine.
    fn add_write_conflict(&self, _begin: &[u8], _end: &[u8]) {}

    /// While `on`, writes add no write conflict ranges; the caller adds them with
    /// [`Transaction::add_write_conflict`]. A no-op on the embedded engine.
    fn without_write_conflicts(&self, _on: bool) {}

    /// The size of the transaction so far in bytes, as the engine counts it towards
    /// [`StoreLimits::transaction_bytes_max`].
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn bytes(&self) -> Result<usize>;

    /// Whether the transaction has written nothing so far.
    fn is_read_only(&self) -> bool;

    /// State that the layers above keep with the transaction.
    fn attachments(&self) -> &Attachments;

    /// Commits. On success the writes survive a crash, and every later snapshot includes them.
    ///
    /// # Errors
    /// [`CommitError`] states whether the writes may have taken effect.
    async fn commit(&self) -> Result<Version, CommitError>;

    /// Whether a [`commit`](Self::commit) that was dropped before it ended may take effect.
    fn may_take_effect(&self) -> bool {
        true
    }

    /// After a failed try: waits as long as the engine requires for the error, and begins the next
    /// transaction. `None` if the engine has no rule, as the embedded engine, which has no
    /// conflicts.
    ///
    /// # Errors
    /// As [`Store::begin`].
    async fn retry(&self) -> Result<Option<Arc<dyn Transaction>>> {
        Ok(None)
    }

    /// Aborts. On return, everything that the transaction has read is durable, so that it may be
    /// returned to clients.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store has failed.
    async fn abort(&self) -> Result<()>;
}

/// Why a commit failed.
#[derive(Clone, Debug)]
pub enum CommitError {
    /// It had no effect. `CONFLICT`: try again. `UNAVAILABLE`, `TIMEOUT`, `TOO_LARGE`.
    Refused(Error),
    /// The outcome is unknown: it has taken effect, may still take effect, or never will. An
    /// engine without [`Store::commits_can_end_unknown`] has then failed, or had no time to sync it.
    Unknown(Error),
}

impl From<Error> for CommitError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Refused(error) | CommitError::Unknown(error) => error,
        }
    }
}

/// The limits of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreLimits {
    /// The largest size of a transaction in bytes, if limited.
    pub transaction_bytes_max: Option<usize>,
}

/// What a write transaction of the embedded engine waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteWait {
    /// To begin more slowly, because writers are faster than checkpoints.
    Pace,
    /// The write lock.
    Lock,
    /// Room for its changes in memory.
    Memory,
    /// Space in the log.
    Log,
    /// The checkpoint in progress, because it is large.
    Checkpoint,
    /// The sync of its commit, or of those that it has read.
    Sync,
}

/// Receives what an engine does apart from operations of requests, for metrics. The calls come from
/// threads of the engine and must return immediately.
pub trait EngineObserver: Send + Sync {
    /// The engine has written `bytes` to its log and synced it, which took `took`.
    fn log_synced(&self, took: Duration, bytes: u64);

    /// The engine has made a checkpoint, which took `took`.
    fn checkpointed(&self, took: Duration);

    /// A write transaction has waited for `time`.
    fn waited(&self, place: WriteWait, time: Duration);

    /// The files of the log have `bytes` bytes now.
    fn log_resized(&self, bytes: u64);
}

/// A storage engine.
#[async_trait]
pub trait Store: Send + Sync {
    /// Takes a snapshot: reads at the version of the last reported commit.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`.
    async fn snapshot(&self) -> Result<Arc<dyn Read>>;

    /// A snapshot that is taken at the first read at the latest. A remote engine then requests the
    /// version and the data at the same time.
    ///
    /// # Errors
    /// As [`Store::snapshot`]. The first read may return them.
    async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        self.snapshot().await
    }

    /// Begins a transaction. Use [`transact()`](super::transact()), which retries after a conflict.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`. A remote engine may return them from the first read.
    async fn begin(&self) -> Result<Arc<dyn Transaction>>;

    /// The limits of the engine.
    fn limits(&self) -> StoreLimits;

    /// Whether a commit can fail with an unknown outcome while the engine serves.
    /// [`transact()`](super::transact()) then writes a marker with each commit, and reads it to
    /// determine the outcome.
    fn commits_can_end_unknown(&self) -> bool {
        false
    }

    /// Whether only one process can open the store. Leases of other processes in it are then void.
    /// True for the embedded engine.
    fn is_exclusive(&self) -> bool {
        false
    }

    /// Whether the store was opened for reading only. It then rejects transactions.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Reports each commit, as soon as later snapshots include it, as a change of the received
    /// value, which is a number of no meaning. `None` if the engine does not know of all commits,
    /// because other processes commit too: ask for them with snapshots.
    fn commits(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Whether the engine can serve requests.
    ///
    /// # Errors
    /// `UNAVAILABLE`, with the reason.
    async fn ready(&self) -> Result<()>;

    /// Waits until the store has failed permanently, and returns the reason. The store must then be
    /// reopened.
    async fn failed(&self) -> Error;

    /// Whether the engine would keep commits in a log, which older programs do not read, and waits
    /// for [`enable_log`](Self::enable_log) to do so.
    fn lacks_log(&self) -> bool {
        false
    }

    /// Lets the engine keep commits in a log from now on. The store must have a format version that
    /// programs without logs reject.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store has failed.
    async fn enable_log(&self) -> Result<()> {
        Ok(())
    }

    /// Reports the engine's own work to `observer` from now on. Only the first observer is used. A
    /// no-op for engines that do nothing on their own.
    fn observe(&self, _observer: Arc<dyn EngineObserver>) {}

    /// An estimate of the bytes of the pairs from `begin` to before `end`, without reading them.
    /// `None` if the engine has none, as the embedded engine.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn estimated_bytes(&self, _begin: &[u8], _end: &[u8]) -> Result<Option<u64>> {
        Ok(None)
    }

    /// All pairs as of the last commit, for a backup.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the engine has its own backup tools. `UNAVAILABLE`.
    async fn backup(&self) -> Result<Backup> {
        Err(Error::bad_input(
            "a FoundationDB cluster is backed up by its own tools, such as fdbbackup: \
             docs/foundationdb.md",
        ))
    }
}

/// A shared store.
#[async_trait]
impl Store for Arc<dyn Store> {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        (**self).snapshot().await
    }

    async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        (**self).lazy_snapshot().await
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        (**self).begin().await
    }

    fn limits(&self) -> StoreLimits {
        (**self).limits()
    }

    fn commits_can_end_unknown(&self) -> bool {
        (**self).commits_can_end_unknown()
    }

    fn is_exclusive(&self) -> bool {
        (**self).is_exclusive()
    }

    fn is_read_only(&self) -> bool {
        (**self).is_read_only()
    }

    fn commits(&self) -> Option<watch::Receiver<u64>> {
        (**self).commits()
    }

    async fn ready(&self) -> Result<()> {
        (**self).ready().await
    }

    async fn failed(&self) -> Error {
        (**self).failed().await
    }

    fn lacks_log(&self) -> bool {
        (**self).lacks_log()
    }

    async fn enable_log(&self) -> Result<()> {
        (**self).enable_log().await
    }

    fn observe(&self, observer: Arc<dyn EngineObserver>) {
        (**self).observe(observer);
    }

    async fn estimated_bytes(&self, begin: &[u8], end: &[u8]) -> Result<Option<u64>> {
        (**self).estimated_bytes(begin, end).await
    }

    async fn backup(&self) -> Result<Backup> {
        (**self).backup().await
    }
}

/// What a transaction must not read, because it has written a versionstamp there that only the commit
/// determines. All engines reject the same reads.
#[derive(Default)]
pub(crate) struct PendingStamps {
    /// Keys with a stamp in the value.
    values: BTreeSet<Vec<u8>>,
    /// The bytes before the stamp of keys with a stamp in the key. A document has few of them.
    keys: BTreeSet<Vec<u8>>,
}

impl PendingStamps {
    /// Adds a key with a stamp in its value.
    pub(crate) fn add_value(&mut self, key: &[u8]) {
        self.values.insert(key.to_vec());
    }

    /// Adds a key with a stamp at `stamp_at`.
    pub(crate) fn add_key(&mut self, key: &[u8], stamp_at: usize) {
        let before = &key[..stamp_at];
        if !self.keys.contains(before) {
            self.keys.insert(before.to_vec());
        }
    }

    /// Removes what is inside a cleared range.
    pub(crate) fn clear(&mut self, begin: &[u8], end: &[u8]) {
        self.values
            .retain(|key| &key[..] < begin || &key[..] >= end);
        self.keys.retain(|before| {
            let (first, last) = stamped_range(before);
            &first[..] < begin || &last[..] > end
        });
    }

    /// Removes a key that is set to another value or cleared.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        self.values.remove(key);
    }

    /// Rejects a read of a range with a pending stamp.
    ///
    /// # Errors
    /// As [`Read::get`].
    pub(crate) fn check(&self, begin: &[u8], end: &[u8]) -> Result<()> {
        let from = (Bound::Included(begin), Bound::Unbounded);
        let first = self.values.range::<[u8], _>(from).next();
        if first.is_some_and(|first| &first[..] < end) {
            return Err(Self::value_read());
        }
        let meets = |before: &Vec<u8>| {
            let (first, last) = stamped_range(before);
            &first[..] < end && begin < &last[..]
        };
        if self.keys.iter().any(meets) {
            return Err(Error::bad_input(
                "an earlier field of this operation appended a document, whose key is known only \
                 after the commit; this field reads keys that may include it: send it in an \
                 operation of its own",
            ));
        }
        Ok(())
    }

    /// The error of a read of a key with a pending stamp in its value.
    pub(crate) fn value_read() -> Error {
        Error::internal("a transaction read a key whose versionstamp it had written")
    }
}

/// The range of the keys that begin with `before` and any version.
fn stamped_range(before: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let begin = [before, &[0; 10]].concat();
    let end = [before, &[0xFF; 11]].concat();
    (begin, end)
}
