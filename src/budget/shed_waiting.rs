//! Holders of memory that wait for their clients: for the rest of a body or of a message, or for a
//! client to take a response.
//!
//! When memory runs short, those that have waited longest without progress end first. A holder that
//! makes progress registers again, so its age is the time since its last progress.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::SHED_TIME_MIN;

/// The holders of a pool that wait, in the order in which they began to.
#[derive(Debug, Default)]
pub(super) struct WaitingHolders(Mutex<HolderQueue>);

#[derive(Debug, Default)]
struct HolderQueue {
    waiting: BTreeMap<u64, Holder>,
    /// The number of the next holder.
    next: u64,
    /// Bytes of the holders that were told to end and have not ended yet.
    leaving_bytes: usize,
}

#[derive(Debug)]
struct Holder {
    bytes: usize,
    since: Instant,
    shed: Arc<Notify>,
}

/// A holder that waits. Dropping it says that it made progress, or ended.
#[derive(Debug)]
pub(super) struct WaitingHolder {
    holders: Arc<WaitingHolders>,
    number: u64,
    /// The bytes that it held when it was added.
    pub(super) bytes: usize,
}

impl WaitingHolders {
    fn queue(&self) -> MutexGuard<'_, HolderQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a holder of `bytes` bytes, which `shed` asks to end.
    pub(super) fn add(
        self: &Arc<Self>,
        bytes: usize,
        shed: &Arc<Notify>,
        since: Instant,
    ) -> WaitingHolder {
        let mut queue = self.queue();
        let number = queue.next;
        queue.next += 1;
        let holder = Holder {
            bytes,
            since,
            shed: shed.clone(),
        };
        queue.waiting.insert(number, holder);
        WaitingHolder {
            holders: self.clone(),
            number,
            bytes,
        }
    }

    /// Tells the holders to end that have waited longest, until those that leave hold `bytes`
    /// bytes. Those that have waited until `now` for less than [`SHED_TIME_MIN`] stay.
    pub(super) fn shed(&self, bytes: usize, now: Instant) {
        let mut queue = self.queue();
        while queue.leaving_bytes < bytes
            && let Some(oldest) = queue.waiting.first_entry()
            && now.saturating_duration_since(oldest.get().since) >= SHED_TIME_MIN
        {
            let holder = oldest.remove();
            queue.leaving_bytes += holder.bytes;
            holder.shed.notify_one();
        }
    }
}

impl Drop for WaitingHolder {
    fn drop(&mut self) {
        let mut queue = self.holders.queue();
        if queue.waiting.remove(&self.number).is_none() {
            queue.leaving_bytes -= self.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn is_told(shed: &Notify) -> bool {
        shed.notified().now_or_never().is_some()
    }

    #[test]
    fn those_that_wait_longest_end_first_until_enough_leave() {
        let holders = Arc::new(WaitingHolders::default());
        let begun = Instant::now();
        let later = begun + SHED_TIME_MIN;
        let shed: [Arc<Notify>; 4] = std::array::from_fn(|_| Arc::default());
        let [first, second, third] =
            [0, 1, 2].map(|at| holders.add(10 * (at + 1), &shed[at], begun));
        holders.shed(usize::MAX, begun);
        assert!(!is_told(&shed[0]), "it began just now");
        drop(first);
        let young = holders.add(10, &shed[3], later);
        holders.shed(5, later);
        holders.shed(20, later);
        assert!(is_told(&shed[1]));
        assert!(!is_told(&shed[2]), "20 bytes leave");
        drop(second);
        holders.shed(40, later);
        assert!(is_told(&shed[2]));
        assert!(!is_told(&shed[3]), "it is young");
        drop((third, young));
        let queue = holders.queue();
        assert_eq!((queue.waiting.len(), queue.leaving_bytes), (0, 0));
    }
}
