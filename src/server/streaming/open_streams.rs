//! The streams of a server that are open, and their end when the server stops.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

/// The open streams of a server. Clones share them.
#[derive(Clone)]
pub struct OpenStreams(Arc<watch::Sender<bool>>);

impl Default for OpenStreams {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl fmt::Debug for OpenStreams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenStreams({})", self.0.receiver_count())
    }
}

impl OpenStreams {
    /// Counts a stream as open until the value is dropped.
    pub(crate) fn open(&self) -> OpenStream {
        OpenStream(self.0.subscribe())
    }

    /// Tells all streams to end.
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Waits until no stream is open.
    pub(crate) async fn ended(&self) {
        self.0.closed().await;
    }
}

/// An open stream.
#[derive(Debug)]
pub(crate) struct OpenStream(watch::Receiver<bool>);

impl OpenStream {
    /// Waits until the stream must end because the server stops.
    pub(crate) async fn stopped(&mut self) {
        if self.0.wait_for(|stop| *stop).await.is_err() {
            // Nobody can stop the streams anymore.
            std::future::pending::<()>().await;
        }
    }
}
