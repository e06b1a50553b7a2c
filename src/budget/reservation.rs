//! Memory that a part of the work holds.

use super::{Budget, Resource, Share};
use crate::error::{Error, Result};

/// Memory that a request holds of what it reads, until this is dropped. It counts among what all
/// requests hold together.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    share: Share,
    bytes_max: usize,
}

impl Reservation {
    pub(super) fn new(budget: Budget, bytes_max: usize) -> Self {
        Self {
            share: budget.share(),
            budget,
            bytes_max,
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

    /// Takes more memory for keys and values that were read.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted): it, or all requests together,
    /// would hold too much. Whoever can do with less at a time may try that.
    pub fn hold(&self, bytes: usize) -> Result<()> {
        if self.share.take(bytes)? <= self.bytes_max {
            return Ok(());
        }
        Err(Error::exhausted(
            Resource::ReadBytes,
            format!(
                "what is stored here is more than one request may read ({} bytes of keys and \
                 values at a time, which is the limit): read it in parts by path, or page it with \
                 `children`",
                self.bytes_max
            ),
        ))
    }
}
