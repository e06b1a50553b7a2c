//! Closes connections whose clients read responses too slowly.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::limits::{
    LINGER_BYTES_AT_ONCE, LINGER_BYTES_MAX, LINGER_SILENCE_MAX, LINGER_TIME_MAX,
    SENT_BYTES_PER_TIME, SLOW_TIMES_MAX,
};

/// A stream that fails with [`io::ErrorKind::TimedOut`] if the peer takes nothing of the pending data
/// within the given time, or less than [`SENT_BYTES_PER_TIME`] within [`SLOW_TIMES_MAX`] times as
/// long.
pub(crate) struct TimedWrites<S, H> {
    stream: S,
    /// What is dropped with the connection, also after it became a WebSocket.
    _held: H,
    time: Duration,
    /// Set from when a write blocks until enough bytes, or all of them, are written.
    waiting: Option<Waiting>,
    lingering: Option<Lingering>,
}

/// The time after the last response, in which incoming data is discarded.
struct Lingering {
    /// The end, at the latest.
    over: Pin<Box<Sleep>>,
    /// The end, unless more data comes.
    silent: Pin<Box<Sleep>>,
    discarded: usize,
}

struct Waiting {
    over: Pin<Box<Sleep>>,
    /// The end, however often the peer takes a little.
    at_last: Instant,
    taken: usize,
}

impl<S, H> TimedWrites<S, H> {
    pub(crate) fn new(stream: S, time: Duration, held: H) -> Self {
        Self {
            stream,
            _held: held,
            time,
            waiting: None,
            lingering: None,
        }
    }

    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &wrote {
            Poll::Pending => {
                let waiting = self.waiting.get_or_insert_with(|| Waiting {
                    over: Box::pin(sleep(self.time)),
                    at_last: Instant::now() + self.time * SLOW_TIMES_MAX,
                    taken: 0,
                });
                if waiting.over.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
            Poll::Ready(Ok(bytes)) => {
                if let Some(waiting) = &mut self.waiting {
                    waiting.taken += bytes;
                    if waiting.taken >= SENT_BYTES_PER_TIME {
                        self.waiting = None;
                    } else if *bytes > 0 {
                        let end = (Instant::now() + self.time).min(waiting.at_last);
                        waiting.over.as_mut().reset(end);
                    }
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        wrote
    }
}

impl<S: AsyncRead + Unpin, H: Unpin> AsyncRead for TimedWrites<S, H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin, H: Unpin> AsyncWrite for TimedWrites<S, H> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.wrote(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Flushed data has been written, at least to the kernel.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.waiting = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// If the client still sends, or begins to send, for example the body of a request that was
    /// rejected by its headers, closing at once would reset the connection and lose the response. So
    /// incoming data is discarded until the client closes its side, or for a limited time.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.lingering.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
        }
        let lingering = this.lingering.get_or_insert_with(|| Lingering {
            over: Box::pin(sleep(LINGER_TIME_MAX)),
            silent: Box::pin(sleep(LINGER_SILENCE_MAX)),
            discarded: 0,
        });
        if lingering.over.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut room = [0; LINGER_BYTES_AT_ONCE];
        let mut buffer = ReadBuf::new(&mut room);
        match Pin::new(&mut this.stream).poll_read(context, &mut buffer) {
            Poll::Pending => lingering.silent.as_mut().poll(context).map(Ok),
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                lingering.discarded += buffer.filled().len();
                if lingering.discarded > LINGER_BYTES_MAX {
                    return Poll::Ready(Ok(()));
                }
                let end = Instant::now() + LINGER_SILENCE_MAX;
                lingering.silent.as_mut().reset(end);
                // Yields to other tasks before reading more.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            // The client has closed its side.
            Poll::Ready(_) => Poll::Ready(Ok(())),
        }
    }
}
