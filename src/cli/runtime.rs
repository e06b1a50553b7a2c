//! The scheduler of the process.

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::limits::POLLS_BETWEEN_EVENTS;

/// Starts the threads that serve.
///
/// # Errors
/// The system has no threads or no descriptors for them.
pub(crate) fn start() -> io::Result<Runtime> {
    configured(&mut Builder::new_multi_thread()).build()
}

fn configured(builder: &mut Builder) -> &mut Builder {
    builder.enable_all().event_interval(POLLS_BETWEEN_EVENTS)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::Write;
    use std::net::TcpStream;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;
    use std::task::Poll;

    use futures::poll;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;

    /// A task that is ready again after each poll does not keep what arrives waiting.
    #[test]
    fn what_arrives_is_served_between_the_polls_of_a_busy_task() {
        const ROUNDS: u32 = 20;
        let mut builder = Builder::new_multi_thread();
        let runtime = configured(&mut builder).worker_threads(1).build();
        let runtime = runtime.expect("started");
        let waited = runtime.block_on(runtime.spawn(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
            let mut client =
                TcpStream::connect(listener.local_addr().expect("bound")).expect("open");
            let (mut served, _) = listener.accept().await.expect("accepted");
            let polls = Arc::new(AtomicU32::new(0));
            let counted = polls.clone();
            let busy = tokio::spawn(poll_fn(move |context| -> Poll<()> {
                counted.fetch_add(1, Relaxed);
                context.waker().wake_by_ref();
                Poll::Pending
            }));
            let mut waited = 0;
            for _ in 0..ROUNDS {
                let mut byte = [0];
                let mut reading = pin!(served.read_exact(&mut byte));
                assert!(poll!(&mut reading).is_pending());
                client.write_all(b"x").expect("written");
                let before = polls.load(Relaxed);
                reading.await.expect("read");
                waited += polls.load(Relaxed) - before;
            }
            busy.abort();
            waited
        }));
        let waited = waited.expect("done");
        assert!(
            waited <= 4 * ROUNDS * POLLS_BETWEEN_EVENTS,
            "{waited} polls"
        );
    }
}
