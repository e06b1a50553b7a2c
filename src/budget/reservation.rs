//! Memory for a part of the work.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::{Budget, Resource, Share};
use crate::error::{Error, Limit, Result};

/// Memory that a request holds for data that it has read. It counts towards the memory of all
/// requests. Dropping it returns the memory.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    share: Share,
    /// The bytes of the share besides keys and values, which the limit does not concern.
    besides: AtomicUsize,
    bytes_max: usize,
}

impl Reservation {
    pub(super) fn new(budget: Budget, bytes_max: usize) -> Self {
        Self {
            share: budget.share(),
            besides: AtomicUsize::new(0),
            budget,
            bytes_max,
        }
    }

    /// The budget that the reservation belongs to.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The most bytes that it may hold.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The bytes that it holds for keys and values.
    pub fn held(&self) -> usize {
        let besides = self.besides.load(Relaxed);
        self.share.held().saturating_sub(besides)
    }

    /// Whether a call exceeded the limit of the reservation.
    pub fn is_full(&self) -> bool {
        self.held() > self.bytes_max
    }

    /// Takes memory for keys and values that were read.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted): the reservation, or all
    /// requests together, would hold too much. The caller may retry with less data at a time.
    pub fn hold(&self, bytes: usize) -> Result<()> {
        let taken = self.share.take(bytes);
        if !self.is_full() {
            return taken.map(|_| ());
        }
        // Trying again later does not help a request that needs more than one request may have, so
        // this error comes before that of the memory of all requests.
        Err(Error::exhausted(
            Resource::ReadBytes,
            Limit::new("readBytesAtOnce", self.bytes_max),
            format!(
                "the stored value is larger than one request may read at a time ({} bytes of keys \
                 and values, which is the limit): read it in parts by path, or page it with \
                 `children`",
                self.bytes_max
            ),
        ))
    }

    /// Takes memory besides keys and values. It is allocated already, and counts towards the memory of
    /// all requests only.
    pub fn hold_besides(&self, bytes: usize) {
        // First, so that what a concurrent call compares with the limit is never too much.
        self.besides.fetch_add(bytes, Relaxed);
        self.share.add(bytes);
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
