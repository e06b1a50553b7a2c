//! A file that is not written before it was opened successfully, nor after the store has failed.
//!
//! redb writes while it opens a file: it updates the header of a store that was not closed cleanly
//! before it knows whether the repair succeeds. This backend defers those writes, so that a file
//! which cannot be opened stays unchanged.
//!
//! After a failed sync of the log, redb must not make the commits durable that the log may not have,
//! even if a checkpoint of them has begun. [`DeferredFile::block`] prevents it.
//!
//! If the disk is full, the writes that find no space are deferred, too. While a store is opened,
//! [`DeferredFile::check_written`] then reports how much space is missing. In an open store,
//! [`DeferredFile::wait_for_space`] applies them when there is space.
//!
//! A checkpoint writes many pages. If one sync wrote them all to the disk, the syncs of the log would wait
//! for it. So the file is also synced while redb writes, after each portion.

mod operations;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

use self::operations::{DeferredOperations, is_full};
use crate::limits::UNSYNCED_BYTES_MAX;

/// The time between two tries to write to a full disk.
const SPACE_CHECK_TIME: Duration = Duration::from_millis(100);

/// A storage backend for redb, and a handle to [`settle`](Self::settle) it.
#[derive(Clone, Debug)]
pub(super) struct DeferredFile(Arc<FileState>);

#[derive(Debug)]
struct FileState {
    file: Box<dyn StorageBackend>,
    /// Whether the file was empty when the backend was made.
    is_new: bool,
    settled: AtomicBool,
    /// Bytes of the blocks that the deferred operations write.
    deferred_bytes: AtomicU64,
    /// Whether writes that find no space are deferred.
    defers: AtomicBool,
    /// Whether nobody waits for space any more.
    closing: AtomicBool,
    blocked: AtomicBool,
    /// Bytes that were written to the file since its last sync.
    unsynced_bytes: AtomicU64,
    held: Mutex<DeferredOperations>,
}

impl DeferredFile {
    /// A backend for a file and its contents.
    pub(super) fn new(file: File) -> Result<Self, DatabaseError> {
        Ok(Self::on(FileBackend::new(file)?)?)
    }

    /// A backend for another one and its contents.
    pub(super) fn on(file: impl StorageBackend) -> io::Result<Self> {
        let bytes = file.len()?;
        Ok(Self(Arc::new(FileState {
            file: Box::new(file),
            is_new: bytes == 0,
            settled: AtomicBool::new(false),
            deferred_bytes: AtomicU64::new(0),
            defers: AtomicBool::new(true),
            closing: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            unsynced_bytes: AtomicU64::new(0),
            held: Mutex::new(DeferredOperations::on(bytes)),
        })))
    }

    /// Whether the file was empty when the backend was made.
    pub(super) fn is_new(&self) -> bool {
        self.0.is_new
    }

    /// Applies the deferred operations. Later operations go to the file directly. If the disk is
    /// full, the other operations and later ones stay deferred.
    ///
    /// # Errors
    /// Errors of the file. What was not applied stays deferred.
    pub(super) fn settle(&self) -> io::Result<()> {
        let mut held = self.held();
        if held.apply(&*self.0.file)? {
            self.0.settled.store(true, Ordering::Release);
        }
        self.count(&held);
        Ok(())
    }

    /// [`settle`](Self::settle) for the file of a new store, which must be written completely. On an
    /// error it is emptied again.
    ///
    /// # Errors
    /// `StorageFull`: the disk is full. Errors of the file.
    pub(super) fn settle_new(&self) -> io::Result<()> {
        let written = self.settle().and_then(|()| self.check_written());
        if written.is_err() {
            self.block();
            // If that fails too, the first error is the relevant one.
            let _emptied = self.0.file.set_len(0);
        }
        written
    }

    /// Checks that no write is deferred. Later writes that find no space fail.
    ///
    /// # Errors
    /// `StorageFull`: the disk is full. All further changes are rejected.
    pub(super) fn check_written(&self) -> io::Result<()> {
        self.0.defers.store(false, Ordering::Release);
        let Some(missing) = self.missing_bytes() else {
            return Ok(());
        };
        self.block();
        let message = format!("the disk is full: about {missing} bytes of space are missing");
        Err(io::Error::new(io::ErrorKind::StorageFull, message))
    }

    /// Defers writes of an open store that find no space.
    pub(super) fn defer_when_full(&self) {
        self.0.defers.store(true, Ordering::Release);
    }

    /// How many bytes of space are missing, if operations are deferred.
    pub(super) fn missing_bytes(&self) -> Option<u64> {
        let settled = self.0.settled.load(Ordering::Acquire);
        (!settled).then(|| self.0.deferred_bytes.load(Ordering::Relaxed))
    }

    /// Blocks the thread until all operations are applied. Calls `full` with the missing bytes first.
    ///
    /// # Errors
    /// `StorageFull`: the store is closed meanwhile. Errors of the file.
    pub(super) fn wait_for_space(&self, full: impl FnOnce(u64)) -> io::Result<()> {
        let Some(missing) = self.missing_bytes() else {
            return Ok(());
        };
        full(missing);
        loop {
            self.check_not_blocked()?;
            self.settle()?;
            if self.missing_bytes().is_none() {
                return Ok(());
            }
            if self.0.closing.load(Ordering::Acquire) {
                let message = "the disk is full, and the store is closed";
                return Err(io::Error::new(io::ErrorKind::StorageFull, message));
            }
            thread::sleep(SPACE_CHECK_TIME);
        }
    }

    /// Ends all waiting for space.
    pub(super) fn stop_waiting(&self) {
        self.0.closing.store(true, Ordering::Release);
    }

    /// Rejects all further changes.
    pub(super) fn block(&self) {
        self.0.blocked.store(true, Ordering::Release);
    }

    /// Defers operations from now on, because one found no space.
    ///
    /// # Errors
    /// The operation's error, unless such operations are deferred. Errors of the file.
    fn defer(&self, error: io::Error) -> io::Result<MutexGuard<'_, DeferredOperations>> {
        if !is_full(&error) || !self.0.defers.load(Ordering::Acquire) {
            return Err(error);
        }
        let mut held = self.held();
        *held = DeferredOperations::on(self.0.file.len()?);
        self.0.settled.store(false, Ordering::Release);
        Ok(held)
    }

    /// Counts the bytes of the deferred operations.
    fn count(&self, held: &DeferredOperations) {
        let bytes = held.block_bytes();
        self.0.deferred_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Syncs the file after each portion of written bytes. After a failed sync, what was written before may
    /// be lost, so the error is never deferred.
    fn written(&self, bytes: u64) -> io::Result<()> {
        let unsynced = &self.0.unsynced_bytes;
        if unsynced.fetch_add(bytes, Ordering::Relaxed) + bytes >= UNSYNCED_BYTES_MAX {
            self.sync_now()?;
        }
        Ok(())
    }

    fn sync_now(&self) -> io::Result<()> {
        self.0.unsynced_bytes.store(0, Ordering::Relaxed);
        self.0.file.sync_data()
    }

    fn check_not_blocked(&self) -> io::Result<()> {
        if self.0.blocked.load(Ordering::Acquire) {
            return Err(io::Error::other("the store has failed"));
        }
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, DeferredOperations> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The deferred operations, unless the file is settled.
    fn deferred(&self) -> Option<MutexGuard<'_, DeferredOperations>> {
        if self.0.settled.load(Ordering::Acquire) {
            return None;
        }
        let held = self.held();
        (!self.0.settled.load(Ordering::Acquire)).then_some(held)
    }
}

impl StorageBackend for DeferredFile {
    fn len(&self) -> io::Result<u64> {
        match self.deferred() {
            Some(held) => Ok(held.bytes),
            None => self.0.file.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match self.deferred() {
            Some(held) => held.read(&*self.0.file, offset, out),
            None => self.0.file.read(offset, out),
        }
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.check_not_blocked()?;
        let mut held = match self.deferred() {
            Some(held) => held,
            None => match self.0.file.set_len(bytes) {
                Ok(()) => return Ok(()),
                Err(error) => self.defer(error)?,
            },
        };
        held.set_len(bytes);
        self.count(&held);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check_not_blocked()?;
        let Some(mut held) = self.deferred() else {
            return self.sync_now();
        };
        held.sync();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check_not_blocked()?;
        let mut held = match self.deferred() {
            Some(held) => held,
            None => match self.0.file.write(offset, data) {
                Ok(()) => return self.written(data.len() as u64),
                Err(error) => self.defer(error)?,
            },
        };
        held.write(offset, data);
        self.count(&held);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.0.file.close()
    }

    fn try_lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<bool, BackendError> {
        self.0.file.try_lock_range(from, to)
    }

    fn try_lock_shared_range(
        &self,
        from: Bound<u64>,
        to: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.0.file.try_lock_shared_range(from, to)
    }

    fn lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_range(from, to)
    }

    fn lock_shared_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_shared_range(from, to)
    }

    fn unlock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.unlock_range(from, to)
    }

    fn query_lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<bool, BackendError> {
        self.0.file.query_lock_range(from, to)
    }
}
