//! Commits of which nobody knows whether they took effect, and how that is found out.
//!
//! Every try of a transaction leaves the same marker, with the try's own number and its
//! versionstamp, and conflicts with whoever has left it before. So at most one try ever takes
//! effect, whatever is still on its way; and which one did is read from the marker.

use std::time::SystemTime;

use super::{Transaction, key_after};
use crate::error::{Error, Result};
use crate::key::{CommitMarker, Version};
use crate::limits::{COMMIT_MARKER_TIME, COMMIT_SHARDS, COMMITS_PER_CLEANING};

/// The tries whose outcome is unknown, and what their bodies answered.
pub(super) struct UnknownCommit<T> {
    key: Vec<u8>,
    tries: Vec<(u64, T)>,
    /// A try that is to keep all earlier ones from taking effect has ended unknown too.
    barred: bool,
}

/// What became of the tries in doubt.
pub(super) enum Resolution<T> {
    /// This one took effect.
    Committed(T, Version),
    /// None did, and none will.
    Barred,
    /// None did so far.
    Nothing,
}

impl<T> UnknownCommit<T> {
    /// For the tries of one transaction.
    ///
    /// # Errors
    /// None; a marker's key is short.
    pub(super) fn new() -> Result<Self> {
        let expiry = seconds_now() + COMMIT_MARKER_TIME.as_secs();
        Ok(Self {
            key: CommitMarker::new(rand::random(), expiry).key()?,
            tries: Vec::new(),
            barred: false,
        })
    }

    /// Whether any try's outcome is unknown.
    pub(super) fn is_open(&self) -> bool {
        !self.tries.is_empty() || self.barred
    }

    /// The outcome of this try, whose body answered this, is unknown.
    pub(super) fn add(&mut self, number: u64, value: Option<T>) {
        match value {
            Some(value) => self.tries.push((number, value)),
            None => self.barred = true,
        }
    }

    /// Finds out what became of them. The transaction cannot commit if that changes.
    pub(super) async fn find(&mut self, transaction: &dyn Transaction) -> Result<Resolution<T>> {
        let Some(marker) = transaction.get(&self.key).await? else {
            return Ok(Resolution::Nothing);
        };
        let (version, number) = CommitMarker::decode(&marker)
            .ok_or_else(|| Error::internal("the marker of a commit cannot be read"))?;
        let at = self.tries.iter().position(|(try_, _)| *try_ == number);
        Ok(match at {
            Some(at) => Resolution::Committed(self.tries.swap_remove(at).1, version),
            None => Resolution::Barred,
        })
    }

    /// Leaves this try's marker, and from time to time clears what markers have expired.
    pub(super) fn mark(&self, transaction: &dyn Transaction, number: u64) {
        transaction.add_read_conflict(&self.key, &key_after(&self.key));
        let value = CommitMarker::value(number);
        transaction.set_versionstamped_value(&self.key, &value, CommitMarker::STAMP_AT);
        if rand::random_range(0..COMMITS_PER_CLEANING) == 0 {
            let shard = rand::random_range(0..COMMIT_SHARDS);
            let (begin, end) = CommitMarker::expired(shard, seconds_now());
            transaction.clear_range(&begin, &end);
        }
    }

    /// What is told when it stays unknown.
    pub(super) fn error(last: &Error) -> Error {
        let message = format!(
            "the time for the operation is over, and it is not known whether it took effect: all \
             of it has, or nothing of it. What came last: {}",
            last.message()
        );
        Error::timeout(None, message)
    }
}

fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
