//! A file that is not written before it was opened successfully, nor after the store has failed.
//!
//! redb writes while it opens a file: it updates the header of a store that was not closed cleanly
//! before it knows whether the repair succeeds. This backend defers those writes, so that a file
//! which cannot be opened stays unchanged.
//!
//! After a failed sync of the log, redb must not make the commits durable that the log may not have,
//! even if a checkpoint of them has begun. [`DeferredFile::block`] prevents it.
//!
//! A checkpoint writes many pages. If one sync wrote them all to the disk, the syncs of the log would wait
//! for it. So the file is also synced while redb writes, after each portion.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

use crate::limits::UNSYNCED_BYTES_MAX;

/// A storage backend for redb, and a handle to [`settle`](Self::settle) it.
#[derive(Clone, Debug)]
pub(super) struct DeferredFile(Arc<FileState>);

#[derive(Debug)]
struct FileState {
    file: Box<dyn StorageBackend>,
    settled: AtomicBool,
    blocked: AtomicBool,
    /// Bytes that were written to the file since its last sync.
    unsynced_bytes: AtomicU64,
    held: Mutex<DeferredOperations>,
}

/// Operations that have not been applied to the file, in order.
#[derive(Debug)]
struct DeferredOperations {
    file_bytes: u64,
    bytes: u64,
    steps: Vec<FileOperation>,
}

#[derive(Debug)]
enum FileOperation {
    SetLen(u64),
    Write(u64, Vec<u8>),
    Sync,
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
            settled: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            unsynced_bytes: AtomicU64::new(0),
            held: Mutex::new(DeferredOperations {
                file_bytes: bytes,
                bytes,
                steps: Vec::new(),
            }),
        })))
    }

    /// Applies the deferred operations. Later operations go to the file directly. On error, a file
    /// that was empty is emptied again.
    pub(super) fn settle(&self) -> io::Result<()> {
        let mut held = self.held();
        for step in std::mem::take(&mut held.steps) {
            let done = match step {
                FileOperation::SetLen(bytes) => self.0.file.set_len(bytes),
                FileOperation::Write(at, bytes) => self.0.file.write(at, &bytes),
                FileOperation::Sync => self.0.file.sync_data(),
            };
            if let Err(error) = done {
                if held.file_bytes == 0 {
                    // If that fails too, the first error is the relevant one.
                    let _emptied = self.0.file.set_len(0);
                }
                return Err(error);
            }
        }
        self.0.settled.store(true, Ordering::Release);
        Ok(())
    }

    /// Rejects all further changes.
    pub(super) fn block(&self) {
        self.0.blocked.store(true, Ordering::Release);
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

impl DeferredOperations {
    /// Reads the file as if the operations had been applied.
    fn read(&self, file: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        if end > self.bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (known, new) = out.split_at_mut(within(self.file_bytes, offset, end));
        file.read(offset, known)?;
        new.fill(0);
        for step in &self.steps {
            match step {
                FileOperation::SetLen(bytes) => out[within(*bytes, offset, end)..].fill(0),
                FileOperation::Write(at, bytes) => {
                    let written = *at..*at + bytes.len() as u64;
                    let begin = written.start.max(offset);
                    let end = written.end.min(end);
                    if begin < end {
                        out[index(begin - offset)..index(end - offset)]
                            .copy_from_slice(&bytes[index(begin - at)..index(end - at)]);
                    }
                }
                FileOperation::Sync => {}
            }
        }
        Ok(())
    }
}

/// The length of the part of a read from `offset` to `end` that lies before `bytes`.
fn within(bytes: u64, offset: u64, end: u64) -> usize {
    index(bytes.clamp(offset, end) - offset)
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("no longer than a buffer in memory")
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
        let Some(mut held) = self.deferred() else {
            return self.0.file.set_len(bytes);
        };
        held.bytes = bytes;
        held.steps.push(FileOperation::SetLen(bytes));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check_not_blocked()?;
        let Some(mut held) = self.deferred() else {
            return self.sync_now();
        };
        held.steps.push(FileOperation::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check_not_blocked()?;
        let Some(mut held) = self.deferred() else {
            self.0.file.write(offset, data)?;
            let written = data.len() as u64;
            let unsynced = &self.0.unsynced_bytes;
            if unsynced.fetch_add(written, Ordering::Relaxed) + written >= UNSYNCED_BYTES_MAX {
                self.sync_now()?;
            }
            return Ok(());
        };
        held.bytes = held.bytes.max(offset + data.len() as u64);
        held.steps.push(FileOperation::Write(offset, data.to_vec()));
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

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    /// Counts the bytes between the syncs of a file.
    #[derive(Clone, Debug, Default)]
    struct SyncedPortions {
        written: Arc<AtomicU64>,
        portions: Arc<Mutex<Vec<u64>>>,
    }

    impl StorageBackend for SyncedPortions {
        fn len(&self) -> io::Result<u64> {
            Ok(0)
        }

        fn read(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Ok(())
        }

        fn set_len(&self, _: u64) -> io::Result<()> {
            Ok(())
        }

        fn sync_data(&self) -> io::Result<()> {
            let written = self.written.swap(0, Ordering::Relaxed);
            let mut portions = self.portions.lock().expect("one thread");
            portions.push(written);
            Ok(())
        }

        fn write(&self, _: u64, data: &[u8]) -> io::Result<()> {
            self.written.fetch_add(data.len() as u64, Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn a_sync_writes_a_limited_number_of_bytes_to_the_disk() {
        let synced = SyncedPortions::default();
        let file = DeferredFile::on(synced.clone()).expect("memory");
        file.settle().expect("memory");
        let page = UNSYNCED_BYTES_MAX / 4;
        let data = vec![0; index(page)];
        for number in 0..6 {
            file.write(number * page, &data).expect("memory");
        }
        file.sync_data().expect("memory");
        file.write(0, &data).expect("memory");
        file.sync_data().expect("memory");
        let portions = synced.portions.lock().expect("one thread");
        assert_eq!(*portions, [4 * page, 2 * page, page]);
    }

    #[test]
    fn changes_are_deferred_until_the_file_is_settled_and_rejected_once_it_is_blocked() {
        let file = InMemoryBackend::new();
        file.set_len(6).expect("memory");
        let file = DeferredFile::on(file).expect("memory");
        let inner = || {
            let mut read = [0; 6];
            file.0.file.read(0, &mut read).expect("inside");
            (file.0.file.len().expect("memory"), read)
        };
        file.set_len(10).expect("deferred");
        file.write(4, b"bytes").expect("deferred");
        let mut read = [0; 6];
        file.read(3, &mut read).expect("inside");
        assert_eq!(&read, b"\0bytes");
        assert_eq!(inner(), (6, [0; 6]));
        file.settle().expect("memory");
        assert_eq!(inner(), (10, *b"\0\0\0\0by"));
        file.block();
        assert!(file.write(0, b"more").is_err());
        assert!(file.set_len(0).is_err());
        assert!(file.sync_data().is_err());
    }
}
