//! Commits with an unknown outcome, and how the outcome is determined.
//!
//! Every try of a transaction writes the same marker key, with its own number and its versionstamp
//! as the value, and has a read conflict on that key. So at most one try can take effect, even if
//! commits are still in flight, and the marker names that try.

use std::time::SystemTime;

use crate::error::{Error, ErrorKind, Result};
use crate::key::{CommitMarker, Version};
use crate::limits::{COMMIT_MARKER_TIME, COMMIT_SHARDS, COMMITS_PER_CLEANING};
use crate::store::{Transaction, key_after};

/// The tries with an unknown outcome, each with the result of its body.
pub(super) struct UnknownCommit<T> {
    key: Vec<u8>,
    tries: Vec<(u64, T)>,
    /// Whether the outcome of a try that commits the marker alone is unknown.
    barred: bool,
}

/// The outcome of the open tries.
pub(super) enum Resolution<T> {
    /// This try took effect.
    Committed(T, Version),
    /// None took effect, and none can.
    Barred,
    /// None has taken effect so far.
    Nothing,
}

impl<T> UnknownCommit<T> {
    /// For the tries of one transaction.
    ///
    /// # Errors
    /// Never, because a marker's key is short.
    pub(super) fn new() -> Result<Self> {
        let expiry = seconds_now() + COMMIT_MARKER_TIME.as_secs();
        Ok(Self {
            key: CommitMarker::new(rand::random(), expiry).key()?,
            tries: Vec::new(),
            barred: false,
        })
    }

    /// Whether the outcome of any try is unknown.
    pub(super) fn is_open(&self) -> bool {
        !self.tries.is_empty() || self.barred
    }

    /// Records a try with an unknown outcome. `value` is the result of its body, if it had one.
    pub(super) fn add(&mut self, number: u64, value: Option<T>) {
        match value {
            Some(value) => self.tries.push((number, value)),
            None => self.barred = true,
        }
    }

    /// Reads the outcome of the open tries. The read conflicts with their commits.
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

    /// Writes the marker of this try. One commit in [`COMMITS_PER_CLEANING`] also clears expired
    /// markers.
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
}

/// The error of an operation whose outcome cannot be determined.
pub(super) fn outcome_unknown(why: &str, last: &Error) -> Error {
    let message = format!(
        "{why}, and it is not known whether the operation took effect: either all of it did, or \
         nothing. The last error: {}",
        last.message()
    );
    Error::new(ErrorKind::OutcomeUnknown, message)
}

fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
