//! The memory that all requests share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::Resource;
use crate::error::{Error, Limit, Result};
use crate::limits::HELD_UNCOUNTED_BYTES;

/// Counts the bytes of memory that all requests hold, up to a limit.
#[derive(Clone, Debug)]
pub struct Pool(Arc<PoolState>);

#[derive(Debug)]
struct PoolState {
    bytes_max: usize,
    bytes: AtomicUsize,
}

impl Pool {
    /// A pool of `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        let bytes = AtomicUsize::new(0);
        Self(Arc::new(PoolState { bytes_max, bytes }))
    }

    /// The bytes that are held now, without the uncounted part of each share.
    pub fn held(&self) -> usize {
        self.0.bytes.load(Relaxed)
    }

    /// An empty share.
    pub fn share(&self) -> Share {
        Share {
            pool: self.clone(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// An empty share without an uncounted part, for one of many parts of a request.
    pub fn counted_share(&self) -> Share {
        Share {
            pool: self.clone(),
            bytes: AtomicUsize::new(HELD_UNCOUNTED_BYTES),
        }
    }
}

/// The memory that one request holds of a [`Pool`]. The first [`HELD_UNCOUNTED_BYTES`] are not
/// counted. Dropping it returns the memory.
#[derive(Debug)]
pub struct Share {
    pool: Pool,
    bytes: AtomicUsize,
}

impl Share {
    /// Takes `bytes` more. Returns the total of the share.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the pool is used up.
    pub fn take(&self, bytes: usize) -> Result<usize> {
        let (taken, counted) = self.hold(bytes);
        let bytes_max = self.pool.0.bytes_max;
        if counted == 0 || self.pool.held() <= bytes_max {
            return Ok(taken);
        }
        Err(Error::exhausted(
            Resource::Memory,
            Limit::new("heldBytes", bytes_max),
            format!(
                "all requests together would hold more than {bytes_max} bytes, which is the \
                 limit: try again"
            ),
        ))
    }
}

impl Share {
    /// The bytes that the share holds.
    pub fn held(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Gives back `bytes` of what was taken.
    pub fn give(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Relaxed);
        let uncounted = counted(before) - counted(before.saturating_sub(bytes));
        self.pool.0.bytes.fetch_sub(uncounted, Relaxed);
    }

    /// Takes memory that is already allocated, beyond the limit if necessary.
    pub fn add(&self, bytes: usize) {
        self.hold(bytes);
    }

    /// Adds `bytes`. Returns the new total, and how many of the new bytes are counted.
    fn hold(&self, bytes: usize) -> (usize, usize) {
        let before = self.bytes.fetch_add(bytes, Relaxed);
        let taken = before.saturating_add(bytes);
        let counted = counted(taken) - counted(before);
        self.pool.0.bytes.fetch_add(counted, Relaxed);
        (taken, counted)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let counted = counted(*self.bytes.get_mut());
        self.pool.0.bytes.fetch_sub(counted, Relaxed);
    }
}

fn counted(bytes: usize) -> usize {
    bytes.saturating_sub(HELD_UNCOUNTED_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn held_bytes_are_counted_together_and_released() {
        const SMALL: usize = HELD_UNCOUNTED_BYTES;
        let pool = Pool::new(100);
        let (one, other) = (pool.share(), pool.share());
        one.take(SMALL - 10).expect("it does not count");
        one.take(50).expect("there is room");
        other.take(SMALL).expect("it does not count");
        other.take(50).expect("there is room");
        assert_eq!(pool.held(), 90);
        let error = other.take(20).expect_err("110 bytes");
        assert_eq!(error.kind(), ErrorKind::Exhausted(Resource::Memory));
        assert!(error.message().contains("100 bytes"), "{error:?}");
        pool.share().take(SMALL).expect("it does not count");
        drop(other);
        assert_eq!(pool.held(), 40);
        let response = pool.share();
        response.add(SMALL + 200);
        assert_eq!(pool.held(), 240);
        assert!(one.take(1).is_err(), "there is no room");
        drop(response);
        one.take(1).expect("there is room");
        one.take(40).expect("there is room");
        one.give(60);
        assert_eq!(pool.held(), 22);
        one.give(SMALL + 20);
        assert_eq!((pool.held(), one.held()), (0, 2));
        one.clear();
        assert_eq!((one.held(), pool.held()), (0, 0));
        one.take(SMALL + 30).expect("there is room");
        assert_eq!(pool.held(), 30);
        drop(one);
        assert_eq!(pool.held(), 0);
    }
}
