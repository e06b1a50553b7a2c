//! What an HTTP/1.1 connection has received and not yet read: the head of a request, and the buffer
//! into which its body is read.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::caller_slot::CallerSlot;
use crate::budget::{Share, WaitingClient};
use crate::limits::HTTP1_BUFFER_BYTES_MAX;

/// The memory of what a connection has received.
pub(super) struct UnreadBytes {
    share: Share,
    /// Whether bytes were received since the connection began to wait for a head.
    came: AtomicBool,
    /// Whether the connection waits for a head, or for the rest of it.
    in_head: AtomicBool,
    /// Whether there was no memory for what was received of a head.
    is_refused: AtomicBool,
    client: Mutex<WaitingClient>,
    shed: Arc<Notify>,
    /// `None` if everybody may read responses.
    caller: Option<CallerSlot>,
}

impl UnreadBytes {
    /// Nothing yet. The memory counts in `share`, and `caller` is the sender of the request that the
    /// connection serves.
    pub(super) fn new(share: Share, caller: Option<CallerSlot>) -> Self {
        let client = WaitingClient::default();
        Self {
            share,
            came: AtomicBool::new(false),
            in_head: AtomicBool::new(true),
            is_refused: AtomicBool::new(false),
            shed: client.shed(),
            client: Mutex::new(client),
            caller,
        }
    }

    fn client(&self) -> MutexGuard<'_, WaitingClient> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection waits for a head, because the response before was sent.
    pub(super) fn begin_head(&self) {
        // Earlier bytes belong to the previous request or cannot be distinguished from it.
        self.came.store(false, Relaxed);
        self.client().ends();
        self.share.clear();
        self.is_refused.store(false, Relaxed);
        self.in_head.store(true, Relaxed);
        if let Some(caller) = &self.caller {
            caller.set(None);
        }
    }

    /// A head is complete.
    pub(super) fn end_head(&self) {
        self.in_head.store(false, Relaxed);
        self.client().ends();
    }

    /// Whether a head has begun.
    pub(super) fn came(&self) -> bool {
        self.came.load(Relaxed)
    }

    /// Counts bytes that were received, up to the size of the buffer. If there is no memory for them, a
    /// complete head is served still: what then needs memory fails with a response.
    pub(super) fn received(&self, bytes: usize) {
        self.came.store(true, Relaxed);
        let bytes = bytes.min(HTTP1_BUFFER_BYTES_MAX.saturating_sub(self.share.held()));
        if !self.in_head.load(Relaxed) {
            self.share.add(bytes);
            return;
        }
        if self.share.take(bytes).is_err() {
            self.is_refused.store(true, Relaxed);
        }
        self.client().waits(&self.share);
    }

    /// Whether the connection may wait for more.
    ///
    /// # Errors
    /// There is no memory for the head of which a part was received.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.in_head.load(Relaxed) && self.is_refused.load(Relaxed) {
            let message = "there is no memory for the rest of a head";
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, message));
        }
        Ok(())
    }

    /// Completes when the connection must end, because its memory is needed.
    pub(super) async fn shed(&self) {
        loop {
            self.shed.notified().await;
            // The head may have been completed meanwhile. Its request is served.
            if self.in_head.load(Relaxed) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::budget::Pool;

    #[test]
    fn a_complete_head_is_served_without_memory() {
        let pool = Pool::new(0);
        let all = pool.counted_share();
        all.add(1);
        let unread = UnreadBytes::new(pool.share(), None);
        unread.received(HTTP1_BUFFER_BYTES_MAX);
        assert!(unread.check().is_err(), "the head may have more");
        unread.end_head();
        unread.check().expect("the head is complete");
        unread.received(1);
        unread.check().expect("it is of the body");
        unread.begin_head();
        unread.check().expect("nothing of the next head came");
    }

    #[test]
    fn a_connection_whose_head_is_complete_is_not_shed() {
        let unread = UnreadBytes::new(Pool::new(0).share(), None);
        unread.shed.notify_one();
        unread.end_head();
        assert!(unread.shed().now_or_never().is_none());
        unread.begin_head();
        assert!(unread.shed().now_or_never().is_none(), "it is forgotten");
        unread.shed.notify_one();
        assert!(unread.shed().now_or_never().is_some());
    }
}
