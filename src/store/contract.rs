//! The engines' contract.

use super::backup::Backup;
use super::read::RangeRead;
use super::read::Read;
use crate::error::{Error, Result};
use crate::key::Version;
use async_trait::async_trait;
use std::sync::Arc;

/// A serializable transaction that reads its own writes. Dropped without a commit it has had no
/// effect.
#[async_trait]
pub trait Transaction: Read {
    /// Reads in the same transaction that make it conflict with nothing. On the embedded engine,
    /// where no transaction conflicts, the same as other reads.
    fn without_conflict(&self) -> &dyn Read;

    /// Reads ranges that are going to be read in this transaction, all at the same time, so that it
    /// need not wait for each; conflicts with nothing. What this fails with, they fail with. A no-op
    /// where nothing [is remote](Read::is_remote).
    async fn read_ahead(&self, _ranges: &[RangeRead<'_>]) {}

    /// Sets the value of a key.
    fn set(&self, key: &[u8], value: &[u8]);

    /// Removes a key.
    fn clear(&self, key: &[u8]);

    /// Removes the keys from `begin` to before `end`.
    fn clear_range(&self, begin: &[u8], end: &[u8]);

    /// Removes the keys from `begin` to before `end` in a time that does not grow with their
    /// number. Whether the engine removes them from its file later, in the background: until then
    /// only programs that know of that may open the store.
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn clear_large_range(&self, begin: &[u8], end: &[u8]) -> Result<bool> {
        self.clear_range(begin, end);
        Ok(false)
    }

    /// Adds to a 64-bit little-endian integer, which is 0 where nothing is; conflicts with no
    /// other addition.
    fn add(&self, key: &[u8], by: i64);

    /// Sets a value in which the ten bytes from `stamp_at` become this commit's [`Version`].
    fn set_versionstamped_value(&self, key: &[u8], value: &[u8], stamp_at: usize);

    /// Sets a key in which the ten bytes from `stamp_at` become this commit's [`Version`].
    fn set_versionstamped_key(&self, key: &[u8], stamp_at: usize, value: &[u8]);

    /// Makes the transaction conflict with writes to the range, as if it had read it. A no-op on
    /// the embedded engine.
    fn add_read_conflict(&self, _begin: &[u8], _end: &[u8]) {}

    /// Makes transactions that read the range conflict with this one, as if it had written it. A
    /// no-op on the embedded engine.
    fn add_write_conflict(&self, _begin: &[u8], _end: &[u8]) {}

    /// Writes from here on make no write conflicts of their own; cover them by
    /// [`Transaction::add_write_conflict`]. A no-op on the embedded engine.
    fn without_write_conflicts(&self, _on: bool) {}

    /// Bytes of the transaction so far, counted as the engine counts them against
    /// [`StoreLimits::transaction_bytes_max`].
    ///
    /// # Errors
    /// As [`Read::get`].
    async fn bytes(&self) -> Result<usize>;

    /// Whether nothing was written in it so far.
    fn is_read_only(&self) -> bool;

    /// Commits. Success means that it will survive a crash, and that every snapshot taken from
    /// now on shows it.
    ///
    /// # Errors
    /// [`CommitError`] tells whether it can have taken effect all the same.
    async fn commit(&self) -> Result<Version, CommitError>;

    /// After a try that failed: waits for as long as the engine finds right for what it failed
    /// with, and begins the transaction of the next try. None if the engine has no opinion, as the
    /// embedded engine, where no transaction conflicts.
    ///
    /// # Errors
    /// As [`Store::begin`].
    async fn retry(&self) -> Result<Option<Arc<dyn Transaction>>> {
        Ok(None)
    }

    /// Gives up. On return, what the transaction has read is as durable as if it had come from a
    /// snapshot, so that it may be told to others.
    ///
    /// # Errors
    /// `UNAVAILABLE`: it never will be.
    async fn abort(&self) -> Result<()>;
}

/// How a commit failed.
#[derive(Clone, Debug)]
pub enum CommitError {
    /// It has had no effect. `CONFLICT`: try again. `UNAVAILABLE`, `TIMEOUT`, `TOO_LARGE`.
    Refused(Error),
    /// It has taken effect, or will, or never will: nobody knows yet. Only of an engine whose
    /// [`Store::commits_can_end_unknown`].
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

/// What an engine allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreLimits {
    /// The bytes of one transaction, if they are limited.
    pub transaction_bytes_max: Option<usize>,
}

/// An engine.
#[async_trait]
pub trait Store: Send + Sync {
    /// A snapshot: reads at the version of the last commit that was reported.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`.
    async fn snapshot(&self) -> Result<Arc<dyn Read>>;

    /// A snapshot that is taken no later than its first read, so that an engine that has to ask for
    /// a version can be asked for pairs together with it.
    ///
    /// # Errors
    /// As [`Store::snapshot`], which the first read may then return.
    async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        self.snapshot().await
    }

    /// A new transaction. Use [`transact()`], which tries again after a conflict.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`; of an engine that has to ask for a version, the first read may
    /// return them.
    async fn begin(&self) -> Result<Arc<dyn Transaction>>;

    /// What the engine allows.
    fn limits(&self) -> StoreLimits;

    /// Whether a commit can end without anybody knowing whether it took effect. [`transact()`]
    /// then leaves a marker with each, and finds out.
    fn commits_can_end_unknown(&self) -> bool {
        false
    }

    /// Whether no other process can have the store open while this one does. What another process
    /// has reserved in it, such as a lease, is then void. True for the embedded engine.
    fn is_exclusive(&self) -> bool {
        false
    }

    /// Whether it serves.
    ///
    /// # Errors
    /// `UNAVAILABLE`: why not.
    async fn ready(&self) -> Result<()>;

    /// Returns when the store has failed for good, with the reason: it must be opened anew.
    async fn failed(&self) -> Error;

    /// All that every commit so far has left, to be written to a directory of its own.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the engine has tools of its own for that. `UNAVAILABLE`.
    async fn backup(&self) -> Result<Backup> {
        Err(Error::bad_input(
            "a FoundationDB cluster is backed up by its own tools, such as fdbbackup: \
             docs/foundationdb.md",
        ))
    }
}

/// What is shared is a store as well.
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

    async fn ready(&self) -> Result<()> {
        (**self).ready().await
    }

    async fn failed(&self) -> Error {
        (**self).failed().await
    }

    async fn backup(&self) -> Result<Backup> {
        (**self).backup().await
    }
}
