//! The memory that all requests share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::Resource;
use super::shed_waiting::{WaitingHolder, WaitingHolders};
use crate::error::{Error, Limit, Result};
use crate::limits::{HELD_FREE_BYTES, HELD_SMALL_BYTES, HELD_SMALL_BYTES_RESERVED};

/// Counts the bytes of memory that all requests hold, up to a limit.
///
/// The first [`HELD_FREE_BYTES`] of a share do not count. What follows, up to [`HELD_SMALL_BYTES`],
/// counts towards a reserve for small shares first, so that small requests succeed while large ones
/// use up the limit. When the reserve is used up, small shares count towards the limit too.
#[derive(Clone, Debug)]
pub struct Pool(Arc<PoolState>);

#[derive(Debug)]
struct PoolState {
    bytes_max: usize,
    /// Bytes of the large parts of all shares.
    large: AtomicUsize,
    /// Bytes of the small parts of all shares.
    small: AtomicUsize,
    waiting: Arc<WaitingHolders>,
}

impl Pool {
    /// A pool of `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self(Arc::new(PoolState {
            bytes_max,
            large: AtomicUsize::new(0),
            small: AtomicUsize::new(0),
            waiting: Arc::default(),
        }))
    }

    /// The limit, in bytes.
    pub fn bytes_max(&self) -> usize {
        self.0.bytes_max
    }

    /// The bytes that count towards the limit now.
    pub fn held(&self) -> usize {
        let small = self
            .0
            .small
            .load(Relaxed)
            .saturating_sub(HELD_SMALL_BYTES_RESERVED);
        self.0.large.load(Relaxed).saturating_add(small)
    }

    /// An empty share.
    pub fn share(&self) -> Share {
        self.share_with(false)
    }

    /// An empty share without a free and a small part, for one of many parts of a request.
    pub fn counted_share(&self) -> Share {
        self.share_with(true)
    }

    fn share_with(&self, all_large: bool) -> Share {
        Share {
            pool: self.clone(),
            bytes: AtomicUsize::new(0),
            all_large,
        }
    }

    /// Fails if the limit is exceeded.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the pool is used up.
    pub fn check(&self) -> Result<()> {
        let bytes_max = self.0.bytes_max;
        let held = self.held();
        // Waiting holders leave before the limit is reached, because they need some time for it.
        if held > bytes_max - bytes_max / 8 {
            let bytes = held - (bytes_max - bytes_max / 4);
            self.0.waiting.shed(bytes, Instant::now());
        }
        if held <= bytes_max {
            return Ok(());
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

/// The memory that one request holds of a [`Pool`]. Dropping it returns the memory.
#[derive(Debug)]
pub struct Share {
    pool: Pool,
    bytes: AtomicUsize,
    /// Whether all bytes are of the large part.
    all_large: bool,
}

impl Share {
    /// Takes `bytes` more. Returns the total of the share.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the pool is used up.
    pub fn take(&self, bytes: usize) -> Result<usize> {
        let (taken, counts) = self.hold(bytes);
        if counts {
            self.pool.check()?;
        }
        Ok(taken)
    }

    /// The bytes that the share holds.
    pub fn held(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// All memory of the share. No other thread may use the share meanwhile.
    pub(crate) fn clear(&self) {
        self.give(self.held());
    }

    /// Gives back `bytes` of what was taken.
    pub fn give(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Relaxed);
        self.uncount(before.saturating_sub(bytes), before);
    }

    /// Takes memory that is already allocated, beyond the limit if necessary.
    pub fn add(&self, bytes: usize) {
        self.hold(bytes);
    }

    /// Registers the holder of the share as waiting for its client. `shed` asks it to end. `None` if
    /// nothing of the share counts.
    pub(super) fn waiting(&self, shed: &Arc<Notify>) -> Option<WaitingHolder> {
        let bytes = self.held();
        let (small, large) = self.parts(bytes);
        (small + large > 0).then(|| self.pool.0.waiting.add(bytes, shed, Instant::now()))
    }

    /// Adds `bytes`. Returns the new total, and whether new bytes count towards the limit.
    fn hold(&self, bytes: usize) -> (usize, bool) {
        let before = self.bytes.fetch_add(bytes, Relaxed);
        let taken = before.saturating_add(bytes);
        let (before, after) = (self.parts(before), self.parts(taken));
        let (small, large) = (after.0 - before.0, after.1 - before.1);
        let mut counts = false;
        if small > 0 {
            let before = self.pool.0.small.fetch_add(small, Relaxed);
            counts = before + small > HELD_SMALL_BYTES_RESERVED;
        }
        if large > 0 {
            self.pool.0.large.fetch_add(large, Relaxed);
            counts = true;
        }
        (taken, counts)
    }

    /// What counts of the bytes from `to` to `from`.
    fn uncount(&self, to: usize, from: usize) {
        let (to, from) = (self.parts(to), self.parts(from));
        let (small, large) = (from.0 - to.0, from.1 - to.1);
        if small > 0 {
            self.pool.0.small.fetch_sub(small, Relaxed);
        }
        if large > 0 {
            self.pool.0.large.fetch_sub(large, Relaxed);
        }
    }

    /// The small and the large part of so many bytes.
    fn parts(&self, bytes: usize) -> (usize, usize) {
        if self.all_large {
            return (0, bytes);
        }
        let small = bytes.min(HELD_SMALL_BYTES).saturating_sub(HELD_FREE_BYTES);
        (small, bytes.saturating_sub(HELD_SMALL_BYTES))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.uncount(0, self.held());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn held_bytes_are_counted_together_and_released() {
        const SMALL: usize = HELD_SMALL_BYTES;
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

    #[test]
    fn small_shares_use_a_reserve_and_then_the_limit() {
        let pool = Pool::new(2 * HELD_SMALL_BYTES);
        let counted = HELD_SMALL_BYTES - HELD_FREE_BYTES;
        let in_reserve = HELD_SMALL_BYTES_RESERVED / counted;
        let mut shares = Vec::new();
        loop {
            let share = pool.share();
            if share.take(HELD_SMALL_BYTES).is_err() {
                break;
            }
            shares.push(share);
        }
        let more = shares.len() - in_reserve;
        assert!((2..=4).contains(&more), "{more} shares past the reserve");
        pool.share()
            .take(HELD_FREE_BYTES)
            .expect("it does not count");
        shares.truncate(in_reserve);
        assert_eq!(pool.held(), 0);
        pool.share().take(HELD_SMALL_BYTES).expect("there is room");
    }

    #[test]
    fn counted_shares_have_no_free_part() {
        let pool = Pool::new(100);
        let share = pool.counted_share();
        share.take(60).expect("there is room");
        assert_eq!((share.held(), pool.held()), (60, 60));
        assert!(share.take(60).is_err());
        drop(share);
        assert_eq!(pool.held(), 0);
    }
}
