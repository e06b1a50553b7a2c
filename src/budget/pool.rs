//! Memory that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Resource;
use crate::error::{Error, Limit, Result};
use crate::limits::HELD_UNCOUNTED_BYTES;

/// Bytes of memory that all requests hold together.
#[derive(Clone, Debug)]
pub struct Pool(Arc<PoolState>);

#[derive(Debug)]
struct PoolState {
    bytes_max: usize,
    bytes: AtomicUsize,
}

impl Pool {
    /// A pool of so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        let bytes = AtomicUsize::new(0);
        Self(Arc::new(PoolState { bytes_max, bytes }))
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

    /// A share of nothing yet, for one of many parts of a request: also its first bytes count.
    pub fn counted_share(&self) -> Share {
        Share {
            pool: self.clone(),
            bytes: AtomicUsize::new(HELD_UNCOUNTED_BYTES),
        }
    }
}

/// What one request holds of a [`Pool`], but for the first [`HELD_UNCOUNTED_BYTES`]; given back when
/// dropped.
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
    /// The bytes that it holds.
    pub fn held(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Takes more of what is there in any case, so that others get less.
    pub fn add(&self, bytes: usize) {
        self.hold(bytes);
    }

    /// What the share holds with so many more bytes, and how many of them count.
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
    fn bytes_that_requests_hold_are_counted_together_and_given_back() {
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
        drop(one);
        assert_eq!(pool.held(), 0);
    }
}
