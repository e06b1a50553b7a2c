//! What a client has sent of a message, before the message is complete.

use std::io;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use super::closing::Closing;
use crate::budget::{Share, WaitingClient};
use crate::limits::{HELD_SMALL_BYTES, WEBSOCKET_BUFFER_BYTES, WEBSOCKET_INIT_BYTES_MAX};

/// The memory of what a client has sent. The connection that reads it and the session share it.
///
/// A frame is complete in the buffer of the connection before it is copied to the message. The buffer
/// keeps its size, so it counts beside the message, and until the connection ends.
pub(crate) struct UnfinishedMessage {
    share: Share,
    received: Mutex<Received>,
    shed: Arc<Notify>,
    /// Whether `connection_init` was handled. Before, little may be sent.
    initialised: AtomicBool,
    /// Why nothing more is read.
    refused: OnceLock<Closing>,
}

/// What was received, in bytes.
#[derive(Default)]
struct Received {
    client: WaitingClient,
    /// Of the message that is not complete.
    message: usize,
    /// The largest message so far. Smaller ones fit in the buffer that each connection has.
    buffer: usize,
}

impl Received {
    /// The buffer for the message, which may have one frame.
    fn buffer(&self) -> usize {
        let message = self.message;
        let new = if message > WEBSOCKET_BUFFER_BYTES {
            message
        } else {
            0
        };
        self.buffer.max(new)
    }

    /// Gives back what is not needed any more.
    fn shrink(&self, share: &Share) {
        let needed = self.message + self.buffer();
        share.give(share.held().saturating_sub(needed));
    }
}

impl UnfinishedMessage {
    /// No message. The memory counts in `share`.
    pub(crate) fn new(share: Share) -> Self {
        let received = Received::default();
        Self {
            share,
            shed: received.client.shed(),
            received: Mutex::new(received),
            initialised: AtomicBool::new(false),
            refused: OnceLock::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts bytes that were received.
    ///
    /// # Errors
    /// The client sent too much before `connection_init`, or there is no memory.
    fn received(&self, bytes: usize) -> io::Result<()> {
        let mut received = self.state();
        received.message += bytes;
        let needed = received.message + received.buffer();
        let more = needed.saturating_sub(self.share.held());
        if let Err(error) = self.share.take(more) {
            return Err(self.refuse(Closing::TRY_AGAIN_LATER, error.message()));
        }
        if received.message > WEBSOCKET_INIT_BYTES_MAX && !self.initialised.load(Relaxed) {
            let reason = format!(
                "more than {WEBSOCKET_INIT_BYTES_MAX} bytes, which is the limit, were sent before \
                 connection_init was acknowledged"
            );
            return Err(self.refuse(Closing::TOO_LARGE, &reason));
        }
        received.client.waits(&self.share);
        Ok(())
    }

    fn refuse(&self, code: u16, reason: &str) -> io::Error {
        self.refused.get_or_init(|| Closing::with(code, reason));
        io::ErrorKind::OutOfMemory.into()
    }

    /// A message is complete. What has arrived of the next one is at most one buffer, which each
    /// connection has. A connection that keeps a large buffer can be ended when memory is short.
    pub(crate) fn finished(&self) {
        let mut received = self.state();
        received.buffer = received.buffer();
        received.message = 0;
        received.shrink(&self.share);
        received.client.ends();
        if received.buffer > HELD_SMALL_BYTES {
            received.client.waits(&self.share);
        }
    }

    /// A control frame was received, with a payload of so many bytes. It is not part of a message.
    pub(crate) fn control_frame(&self, payload_bytes: usize) {
        const HEADER_BYTES: usize = 6;
        let mut received = self.state();
        let message = received.message;
        received.message = message.saturating_sub(payload_bytes + HEADER_BYTES);
        received.shrink(&self.share);
    }

    /// `connection_init` was handled.
    pub(crate) fn initialised(&self) {
        self.initialised.store(true, Relaxed);
    }

    /// Why nothing more is read, if this is so.
    pub(crate) fn refused(&self) -> Option<Closing> {
        self.refused.get().cloned()
    }

    /// Waits until the connection must end, because its memory is needed.
    pub(crate) async fn shed(&self) -> Closing {
        self.shed.notified().await;
        let reason = "the memory of what the client has sent is needed for others";
        Closing::with(Closing::TRY_AGAIN_LATER, reason)
    }
}

/// A stream whose received bytes count as an unfinished message.
pub(crate) struct CountedStream<S> {
    pub(crate) stream: S,
    pub(crate) unfinished: Arc<UnfinishedMessage>,
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            self.unfinished.received(bytes)?;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::budget::Pool;
    use crate::limits::{HELD_FREE_BYTES, SHED_TIME_MIN};

    const LARGE: usize = 200_000;

    #[test]
    fn a_buffer_counts_beside_the_message_and_stays() {
        let pool = Pool::new(10 * LARGE);
        let message = UnfinishedMessage::new(pool.share());
        message.initialised();
        let held = |message: &UnfinishedMessage| message.share.held();
        message.received(1_000).expect("there is room");
        assert_eq!(
            held(&message),
            1_000,
            "it fits in the buffer of each connection"
        );
        message.received(LARGE - 1_000).expect("there is room");
        assert_eq!(held(&message), 2 * LARGE);
        assert_eq!(pool.held(), 2 * LARGE - HELD_SMALL_BYTES);
        message.control_frame(94);
        assert_eq!(held(&message), 2 * (LARGE - 100));
        message.received(100).expect("there is room");
        message.finished();
        assert_eq!(held(&message), LARGE, "the buffer");
        // Smaller messages fit in it.
        message.received(LARGE / 2).expect("there is room");
        assert_eq!(held(&message), LARGE + LARGE / 2);
        message.finished();
        assert_eq!(held(&message), LARGE);
        drop(message);
        assert_eq!(pool.held(), 0);
        let small = UnfinishedMessage::new(pool.share());
        small.received(HELD_FREE_BYTES).expect("there is room");
        small.finished();
        assert_eq!(held(&small), 0);
    }

    #[tokio::test]
    async fn a_connection_with_a_large_buffer_ends_when_memory_is_short() {
        let pool = Pool::new(2 * LARGE);
        let messages = [LARGE, HELD_SMALL_BYTES].map(|bytes| {
            let message = UnfinishedMessage::new(pool.share());
            message.initialised();
            message.received(bytes).expect("there is room");
            message.finished();
            message
        });
        tokio::time::sleep(SHED_TIME_MIN).await;
        let more = pool.counted_share();
        assert!(more.take(2 * LARGE).is_err());
        let told = |message: &UnfinishedMessage| message.shed().now_or_never().is_some();
        assert_eq!(messages.each_ref().map(told), [true, false]);
    }
}
