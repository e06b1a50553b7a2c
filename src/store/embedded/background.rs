//! The handle of a background thread: `reclaim.rs`, `checkpoint.rs`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::{Notify, oneshot};

use super::tables::fault;
use crate::error::Result;

/// The nice value of background threads. On a processor that is fully used, such a thread gets about a
/// tenth of the time of another one. With 19 it would get a hundredth, and a checkpoint could then block
/// writers for seconds.
#[cfg(target_os = "linux")]
const BACKGROUND_NICE: i32 = 10;

/// The handle of a thread that works when it is woken, while the store is open.
pub(super) struct BackgroundThread {
    name: &'static str,
    woken: Arc<Notify>,
    /// Dropped to stop the thread.
    stop: Mutex<Option<oneshot::Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl BackgroundThread {
    /// A thread with this name, which is not yet started.
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            woken: Arc::new(Notify::new()),
            stop: Mutex::new(None),
            thread: Mutex::new(None),
        }
    }

    /// Starts the thread. It runs `run` until the receiver resolves. It has a lower priority than the
    /// threads that execute requests, so that these do not wait for a processor.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the thread cannot be started.
    pub(super) fn start(
        &self,
        run: impl FnOnce(&Notify, oneshot::Receiver<()>) + Send + 'static,
    ) -> Result<()> {
        let (stop, stopped) = oneshot::channel();
        *lock(&self.stop) = Some(stop);
        let woken = self.woken.clone();
        let thread = thread::Builder::new()
            .name(self.name.to_owned())
            .spawn(move || {
                lower_priority();
                run(&woken, stopped);
            })
            .map_err(fault)?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    /// Wakes the thread.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Stops the thread after its current step.
    pub(super) fn stop(&self) {
        lock(&self.stop).take();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // A panic of the thread was printed when it occurred.
            let _ended = thread.join();
        }
    }
}

/// Lowers the priority of this thread, where threads have priorities of their own.
#[cfg(target_os = "linux")]
fn lower_priority() {
    let thread = Some(rustix::thread::gettid());
    let nice = rustix::process::getpriority_process(thread).unwrap_or_default();
    // If it fails, the thread does the same work with its old priority.
    let _lowered = rustix::process::setpriority_process(thread, nice.max(BACKGROUND_NICE));
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

/// Locks a mutex. Its contents are consistent even if a thread panicked while it held the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn background_threads_have_a_lower_priority_than_others() {
        use std::sync::mpsc::channel;

        use rustix::process::getpriority_process;
        use rustix::thread::gettid;

        use super::{BACKGROUND_NICE, BackgroundThread};

        let nice = || getpriority_process(Some(gettid())).expect("a priority");
        let own = nice();
        let thread = BackgroundThread::new("lowered");
        let (send, lowered) = channel();
        let run = thread.start(move |_, _| send.send(nice()).expect("a receiver"));
        run.expect("a thread");
        assert_eq!(lowered.recv(), Ok(own.max(BACKGROUND_NICE)));
        assert_eq!(nice(), own);
    }
}
