//! The waker of a task that begins a slice at each poll.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Wake, Waker};

thread_local! {
    /// The waker of the task that this thread polls.
    static POLLED: Cell<*const TaskWaker> = const { Cell::new(ptr::null()) };
}

/// Wakes a task, but not out of its own poll: such a wake is noted, and the task decides.
///
/// The scheduler looks for what has arrived when no task is ready, or after some dozens of polls. Parts of one
/// task that wake each other would make it ready at the end of each poll, and a new request would wait for
/// dozens of slices.
pub(super) struct TaskWaker {
    scheduled: Waker,
    woke_itself: AtomicBool,
}

impl TaskWaker {
    /// A waker for polls that are scheduled with `scheduled`.
    pub(super) fn new(scheduled: &Waker) -> Arc<Self> {
        Arc::new(Self {
            scheduled: scheduled.clone(),
            woke_itself: AtomicBool::new(false),
        })
    }

    /// Whether it wakes what `scheduled` wakes.
    pub(super) fn wakes(&self, scheduled: &Waker) -> bool {
        self.scheduled.will_wake(scheduled)
    }

    /// Notes the wakes of this thread until the result is dropped.
    pub(super) fn begin_poll(self: &Arc<Self>) -> OwnWakes<'_> {
        OwnWakes {
            waker: self,
            around: POLLED.replace(Arc::as_ptr(self)),
        }
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if ptr::eq(POLLED.get(), Arc::as_ptr(self)) {
            self.woke_itself.store(true, Relaxed);
        } else {
            self.scheduled.wake_by_ref();
        }
    }
}

/// The wakes of a task by its own poll.
pub(super) struct OwnWakes<'w> {
    waker: &'w TaskWaker,
    /// The task around it that this thread polls.
    around: *const TaskWaker,
}

impl OwnWakes<'_> {
    /// Whether the poll has woken its task.
    pub(super) fn any(&self) -> bool {
        self.waker.woke_itself.load(Relaxed)
    }

    /// Forgets the wakes before a poll that is about to begin.
    pub(super) fn forget(&self) {
        self.waker.woke_itself.store(false, Relaxed);
    }
}

impl Drop for OwnWakes<'_> {
    fn drop(&mut self) {
        POLLED.set(self.around);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;
    use std::pin::pin;
    use std::sync::atomic::AtomicU64;

    use futures::poll;
    use futures::stream::{FuturesUnordered, StreamExt};
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;
    use tokio::runtime::Builder;

    use crate::budget::{Sliced, count_steps, turn};
    use crate::limits::SLICE_STEPS_MAX;

    use super::*;

    /// A task whose parts wake each other has a slice at a time, and does not keep what arrives waiting.
    #[test]
    fn what_arrives_is_served_between_the_slices_of_a_busy_task() {
        const ROUNDS: u64 = 20;
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build();
        let runtime = runtime.expect("started");
        let waited = runtime.block_on(runtime.spawn(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
            let mut client =
                TcpStream::connect(listener.local_addr().expect("bound")).expect("open");
            let (mut served, _) = listener.accept().await.expect("accepted");
            let slices = Arc::new(AtomicU64::new(0));
            let counted = slices.clone();
            let busy = tokio::spawn(Sliced::new(async move {
                let parts = (0..100).map(|_| async {
                    loop {
                        turn().await;
                        counted.fetch_add(1, Relaxed);
                        count_steps(SLICE_STEPS_MAX);
                    }
                });
                let mut parts: FuturesUnordered<_> = parts.collect();
                let _: Option<()> = parts.next().await;
            }));
            let mut waited = 0;
            for _ in 0..ROUNDS {
                let mut byte = [0];
                let mut reading = pin!(served.read_exact(&mut byte));
                assert!(poll!(&mut reading).is_pending());
                client.write_all(b"x").expect("written");
                let before = slices.load(Relaxed);
                reading.await.expect("read");
                waited += slices.load(Relaxed) - before;
            }
            busy.abort();
            waited
        }));
        let waited = waited.expect("done");
        assert!(waited <= 8 * ROUNDS, "{waited} slices");
    }
}
