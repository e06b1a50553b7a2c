//! How much one request may read, and how much all of them may hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::limits::{Bounds, READ_PER_RESPONSE};

/// Bytes that all requests hold together.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Held>);

#[derive(Debug)]
struct Held {
    bytes_max: usize,
    bytes: AtomicUsize,
}

impl Pool {
    /// A pool of so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        let bytes = AtomicUsize::new(0);
        Self(Arc::new(Held { bytes_max, bytes }))
    }

    /// Bytes that are held now.
    pub fn held(&self) -> usize {
        self.0.bytes.load(Relaxed)
    }

    /// A share of nothing yet.
    pub fn share(&self) -> Share {
        Share {
            pool: self.clone(),
            bytes: AtomicUsize::new(0),
        }
    }
}

/// What one request holds of a [`Pool`]; given back when dropped.
#[derive(Debug)]
pub struct Share {
    pool: Pool,
    bytes: AtomicUsize,
}

impl Share {
    /// Takes more. Returns what the share holds with it.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the pool has no more.
    pub fn take(&self, bytes: usize) -> Result<usize> {
        let Held {
            bytes_max,
            bytes: held,
        } = &*self.pool.0;
        let taken = self.bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if held.fetch_add(bytes, Relaxed).saturating_add(bytes) <= *bytes_max {
            return Ok(taken);
        }
        Err(Error::unavailable(
            format!(
                "all requests together would hold more than {bytes_max} bytes, which is the \
                 limit: try again"
            ),
            "",
        ))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.pool.0.bytes.fetch_sub(*self.bytes.get_mut(), Relaxed);
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn what_requests_hold_is_counted_together_and_given_back() {
        let pool = Pool::new(100);
        let (one, other) = (pool.share(), ReadBudget::new(70, &pool));
        one.take(40).expect("there is room");
        other.spend(50).expect("there is room");
        let error = other.spend(20).expect_err("110 bytes");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().contains("100 bytes"), "{error:?}");
        drop(other);
        assert_eq!(pool.held(), 40);
        let other = ReadBudget::new(50, &pool);
        let error = other.spend(51).expect_err("its own limit");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("50 bytes"), "{error:?}");
        drop((one, other));
        assert_eq!(pool.held(), 0);
    }
}
