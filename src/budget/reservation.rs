//! Memory that a part of the work holds.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Budget, Resource, Share};
use crate::error::{Error, Limit, Result};

/// Memory that a request holds of what it reads, until this is dropped. It counts among what all
/// requests hold together.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    share: Share,
    bytes_max: usize,
    full: AtomicBool,
}

impl Reservation {
    pub(super) fn new(budget: Budget, bytes_max: usize) -> Self {
        Self {
            share: budget.share(),
            budget,
            bytes_max,
            full: AtomicBool::new(false),
        }
    }

    /// The budget that it belongs to.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The bytes that it may hold.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The bytes that it holds.
    pub fn held(&self) -> usize {
        self.share.held()
    }

    /// Whether more was asked for than it may hold.
    pub fn is_full(&self) -> bool {
        self.full.load(Relaxed)
    }

    /// Takes more memory for keys and values that were read.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted): it, or all requests together,
    /// would hold too much. Whoever can do with less at a time may try that.
    pub fn hold(&self, bytes: usize) -> Result<()> {
        if self.share.take(bytes)? <= self.bytes_max {
            return Ok(());
        }
        self.full.store(true, Relaxed);
        Err(Error::exhausted(
            Resource::ReadBytes,
            Limit::new("readBytesAtOnce", self.bytes_max),
            format!(
                "what is stored here is more than one request may read ({} bytes of keys and \
                 values at a time, which is the limit): read it in parts by path, or page it with \
                 `children`",
                self.bytes_max
            ),
        ))
    }
}

impl Budget {
    /// Memory for what this request reads and keeps.
    pub fn reserve(&self) -> Reservation {
        Reservation::new(self.clone(), self.0.limits.reserved_bytes)
    }

    /// Memory for a part of the work, of so many bytes at most.
    pub fn reserve_at_most(&self, bytes_max: usize) -> Reservation {
        Reservation::new(self.clone(), bytes_max.min(self.0.limits.reserved_bytes))
    }
}
