//! The handle on the thread that removes cleared pairs (`reclaim`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::{Notify, oneshot};

use super::tables::fault;
use crate::error::Result;

/// The thread, while the store is open.
pub(super) struct Reclaimer {
    woken: Arc<Notify>,
    /// Dropped to end the thread.
    stop: Mutex<Option<oneshot::Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Reclaimer {
    pub(super) fn new() -> Self {
        Self {
            woken: Arc::new(Notify::new()),
            stop: Mutex::new(None),
            thread: Mutex::new(None),
        }
    }

    /// Starts the thread, which does `run` until the second argument of it resolves.
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
            .name("phyllo-reclaim".to_owned())
            .spawn(move || run(&woken, stopped))
            .map_err(fault)?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    /// A commit has left a tombstone.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Ends the thread, between two portions.
    pub(super) fn stop(&self) {
        lock(&self.stop).take();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // A panic of that thread was printed when it happened.
            let _ended = thread.join();
        }
    }
}

/// A panic of another thread does not end the use of its values.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
