//! Leases of background work, so that only one of the processes of a cluster does it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Database;
use crate::limits::INDEX_LEASE_EXPIRY_MAX;

/// A process that may hold leases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseHolder {
    owner: [u8; 16],
    /// Whether no other process can do the work, so that leases of other owners are ignored.
    exclusive: bool,
}

impl LeaseHolder {
    /// A new holder of leases in a database.
    pub(crate) fn of(database: &Database) -> Self {
        Self {
            owner: rand::random(),
            exclusive: database.store().is_exclusive(),
        }
    }

    /// The name of the holder in its leases.
    pub(crate) fn owner(&self) -> &[u8] {
        &self.owner
    }

    /// Whether the holder may do work whose lease is of `owner` and expires at `expiry`, in seconds
    /// since 1970. A lease that expires later than any lease granted now is ignored: the clock of its
    /// holder, or this one, was set back.
    pub(crate) fn may_go_on(&self, owner: &[u8], expiry: i64) -> bool {
        let expiry_max = seconds_from_now(INDEX_LEASE_EXPIRY_MAX);
        let now = seconds_from_now(Duration::ZERO);
        self.exclusive || self.owner == owner || expiry <= now || expiry > expiry_max
    }
}

/// The time after a duration, in seconds since 1970.
pub(crate) fn seconds_from_now(after: Duration) -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        + after;
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
