//! The handle of a background thread: `reclaim.rs`, `checkpoint.rs`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::{Notify, oneshot};

use super::tables::fault;
use crate::error::Result;

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

    /// Starts the thread. It runs `run` until the receiver resolves.
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
            .spawn(move || run(&woken, stopped))
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

/// Locks a mutex. Its contents are consistent even if a thread panicked while it held the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
