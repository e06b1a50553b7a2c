//! A holder of memory that waits for its client.

use std::sync::Arc;

use tokio::sync::Notify;

use super::Share;
use super::shed_waiting::WaitingHolder;
use crate::limits::HELD_FREE_BYTES;

/// Memory that is held while a client sends the rest of something, or takes it.
#[derive(Debug, Default)]
pub(crate) struct WaitingClient {
    waiting: Option<WaitingHolder>,
    shed: Arc<Notify>,
}

impl WaitingClient {
    /// Registers the holder of a share, or registers it again if its client has made progress: if the
    /// share has grown by [`HELD_FREE_BYTES`]. Less is none, so that single bytes keep nothing.
    pub(crate) fn waits(&mut self, share: &Share) {
        let bytes = share.held();
        let known = self.waiting.as_ref().map_or(0, |waiting| waiting.bytes);
        if bytes >= known + HELD_FREE_BYTES {
            // The old one is dropped first, so that it does not count twice.
            self.waiting = None;
            self.waiting = share.waiting(&self.shed);
        }
    }

    /// The client has sent or taken everything.
    pub(crate) fn ends(&mut self) {
        self.waiting = None;
    }

    /// Tells the holder to end, because its memory is needed.
    pub(crate) fn shed(&self) -> Arc<Notify> {
        self.shed.clone()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::budget::Pool;
    use crate::limits::SHED_TIME_MIN;

    fn is_told(shed: &Notify) -> bool {
        shed.notified().now_or_never().is_some()
    }

    #[tokio::test]
    async fn a_full_pool_ends_those_without_progress() {
        let pool = Pool::new(800_000);
        let [still, slow, quick] = [(); 3].map(|()| (pool.share(), WaitingClient::default()));
        let mut clients = [still, slow, quick];
        for (share, client) in &mut clients {
            share.take(300_000).expect("there is room");
            client.waits(share);
        }
        tokio::time::sleep(SHED_TIME_MIN).await;
        for (at, bytes) in [(1, 1), (2, HELD_FREE_BYTES)] {
            let (share, client) = &mut clients[at];
            share.take(bytes).expect("there is room");
            client.waits(share);
        }
        let told = |at: usize| is_told(&clients[at].1.shed());
        assert!(pool.share().take(400_000).is_err());
        assert_eq!([0, 1, 2].map(told), [true, true, false]);
        drop(clients);
        assert_eq!(pool.held(), 0);
    }
}
