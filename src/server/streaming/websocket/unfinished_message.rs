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
use crate::limits::WEBSOCKET_INIT_BYTES_MAX;

/// The memory of an unfinished message. The connection that reads it and the session share it.
pub(crate) struct UnfinishedMessage {
    share: Share,
    client: Mutex<WaitingClient>,
    shed: Arc<Notify>,
    /// Whether `connection_init` was handled. Before, little may be sent.
    initialised: AtomicBool,
    /// Why nothing more is read.
    refused: OnceLock<Closing>,
}

impl UnfinishedMessage {
    /// No message. The memory counts in `share`.
    pub(crate) fn new(share: Share) -> Self {
        let client = WaitingClient::default();
        Self {
            share,
            shed: client.shed(),
            client: Mutex::new(client),
            initialised: AtomicBool::new(false),
            refused: OnceLock::new(),
        }
    }

    fn client(&self) -> MutexGuard<'_, WaitingClient> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts bytes that were received.
    ///
    /// # Errors
    /// The client sent too much before `connection_init`, or there is no memory.
    fn received(&self, bytes: usize) -> io::Result<()> {
        let held = match self.share.take(bytes) {
            Ok(held) => held,
            Err(error) => return Err(self.refuse(Closing::TRY_AGAIN_LATER, error.message())),
        };
        if held > WEBSOCKET_INIT_BYTES_MAX && !self.initialised.load(Relaxed) {
            let reason = format!(
                "more than {WEBSOCKET_INIT_BYTES_MAX} bytes, which is the limit, were sent before \
                 connection_init was acknowledged"
            );
            return Err(self.refuse(Closing::TOO_LARGE, &reason));
        }
        self.client().waits(&self.share);
        Ok(())
    }

    fn refuse(&self, code: u16, reason: &str) -> io::Error {
        self.refused.get_or_init(|| Closing::with(code, reason));
        io::ErrorKind::OutOfMemory.into()
    }

    /// A message is complete. What has arrived of the next one is at most one buffer, which each
    /// connection has.
    pub(crate) fn finished(&self) {
        self.client().ends();
        self.share.clear();
    }

    /// A control frame was received, with a payload of so many bytes. It is not part of a message.
    pub(crate) fn control_frame(&self, payload_bytes: usize) {
        const HEADER_BYTES: usize = 6;
        let bytes = payload_bytes + HEADER_BYTES;
        self.share.give(bytes.min(self.share.held()));
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
        let reason = "the memory of an unfinished message is needed for others";
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
