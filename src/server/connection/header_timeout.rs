//! Timeouts for the head of a request. One timeout applies to the first head of a connection and to
//! heads that have begun. Another, longer one applies to idle connections.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time;

use super::unread::UnreadBytes;

/// Timeouts for request heads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadTimes {
    /// From the first byte of a head to its last. For the first head of a connection, from when the
    /// connection was opened.
    pub(crate) head: Duration,
    /// From the end of one request to the first byte of the next.
    pub(crate) idle: Duration,
}

/// Wraps a stream to count received bytes, and returns the timer for its connection, which was
/// opened at this time.
pub(super) fn timed<S>(
    stream: S,
    times: HeadTimes,
    opened: time::Instant,
    unread: &Arc<UnreadBytes>,
) -> (CountedReads<S>, HeadTimer) {
    let timer = HeadTimer {
        times,
        unread: unread.clone(),
        opened,
        first: AtomicBool::new(true),
    };
    let unread = unread.clone();
    (CountedReads { stream, unread }, timer)
}

/// Gives each head its timeout. The connection calls `sleep` once each time it begins to wait for a
/// head, and for no other reason. The duration that it passes is ignored.
pub(crate) struct HeadTimer {
    times: HeadTimes,
    unread: Arc<UnreadBytes>,
    opened: time::Instant,
    /// Whether the connection has not waited for a head yet.
    first: AtomicBool,
}

impl Timer for HeadTimer {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Sleep>> {
        let first = self.first.swap(false, Relaxed);
        self.unread.begin_head();
        let over = if first {
            self.opened + self.times.head
        } else {
            time::Instant::now() + self.times.idle
        };
        Box::pin(HeadSleep {
            over: Box::pin(time::sleep_until(over)),
            head: self.times.head,
            begins: (!first).then(|| self.unread.clone()),
        })
    }

    fn sleep_until(&self, _: Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(Duration::ZERO)
    }
}

/// Completes when a head has not arrived in time.
struct HeadSleep {
    over: Pin<Box<time::Sleep>>,
    head: Duration,
    /// Set when the head begins. `None` once that was seen.
    begins: Option<Arc<UnreadBytes>>,
}

impl Sleep for HeadSleep {}

impl Future for HeadSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.begins.take_if(|begins| begins.came()).is_some() {
            let over = time::Instant::now() + self.head;
            self.over.as_mut().reset(over);
        }
        self.over.as_mut().poll(context)
    }
}

/// A stream that counts the bytes that are received.
pub(crate) struct CountedReads<S> {
    stream: S,
    unread: Arc<UnreadBytes>,
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedReads<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.unread.check()?;
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            self.unread.received(bytes);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedReads<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
