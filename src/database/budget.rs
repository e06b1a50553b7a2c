//! How much one request may read.

use crate::budget::{Pool, Share};
use crate::error::{Error, Result};
use crate::limits::{Bounds, READ_PER_RESPONSE};

/// How much of a store may be read by all that share it.
#[derive(Debug)]
pub struct ReadBudget {
    pub(super) bytes_max: usize,
    share: Share,
}

impl ReadBudget {
    /// A budget of so many bytes of keys and values, held in a pool.
    pub fn new(bytes_max: usize, pool: &Pool) -> Self {
        let share = pool.share();
        Self { bytes_max, share }
    }

    /// Takes note of what was read.
    ///
    /// # Errors
    /// `TOO_LARGE`: it is too much, names the limit. `UNAVAILABLE`: all requests together hold too
    /// much.
    pub fn spend(&self, bytes: usize) -> Result<()> {
        if self.share.take(bytes)? <= self.bytes_max {
            return Ok(());
        }
        Err(Error::too_large(format!(
            "what is stored here is more than one request may read ({} bytes of keys and values, \
             which is the limit): read it in parts by path, or page it with `children`",
            self.bytes_max
        )))
    }
}

/// What one request may read by default.
impl Default for ReadBudget {
    fn default() -> Self {
        let bytes_max = READ_PER_RESPONSE * Bounds::DEFAULT.response_bytes;
        Self::new(bytes_max, &Pool::new(usize::MAX))
    }
}

