//! A file that is not written before it was opened successfully, nor after the store has failed.
//!
//! redb writes while it opens a file: it updates the header of a store that was not closed cleanly
//! before it knows whether the repair succeeds. This backend defers those writes, so that a file
//! which cannot be opened stays unchanged.
//!
//! After a failed sync of the log, redb must not make the commits durable that the log may not have,
//! even if a checkpoint of them has begun. [`DeferredFile::block`] prevents it.
//!
//! If the disk is full while a store is opened, the writes that find no space are deferred, too.
//! [`DeferredFile::check_written`] then reports how much space is missing.
//!
//! A checkpoint writes many pages. If one sync wrote them all to the disk, the syncs of the log would wait
//! for it. So the file is also synced while redb writes, after each portion.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

use crate::limits::UNSYNCED_BYTES_MAX;

/// The unit in which file systems allocate space.
const BLOCK_BYTES: u64 = 4_096;

/// Whether an operation on a file found no space.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// A storage backend for redb, and a handle to [`settle`](Self::settle) it.
#[derive(Clone, Debug)]
pub(super) struct DeferredFile(Arc<FileState>);

#[derive(Debug)]
struct FileState {
    file: Box<dyn StorageBackend>,
    settled: AtomicBool,
    /// Whether writes that find no space are deferred.
    opening: AtomicBool,
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
    /// Whether the file was empty before the disk was found full.
    was_empty: bool,
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
            opening: AtomicBool::new(true),
            blocked: AtomicBool::new(false),
            unsynced_bytes: AtomicU64::new(0),
            held: Mutex::new(DeferredOperations {
                file_bytes: bytes,
                bytes,
                was_empty: false,
                steps: Vec::new(),
            }),
        })))
    }

    /// Applies the deferred operations. Later operations go to the file directly. If the disk is
    /// full, the other operations and later ones stay deferred. On another error, a file that was
    /// empty is emptied again.
    pub(super) fn settle(&self) -> io::Result<()> {
        let mut held = self.held();
        let mut steps = std::mem::take(&mut held.steps).into_iter();
        while let Some(step) = steps.next() {
            let done = match &step {
                FileOperation::SetLen(bytes) => self.0.file.set_len(*bytes),
                FileOperation::Write(at, bytes) => self.0.file.write(*at, bytes),
                FileOperation::Sync => self.0.file.sync_data(),
            };
            match done {
                Ok(()) => {}
                Err(error) if is_full(&error) => {
                    held.was_empty = held.file_bytes == 0;
                    held.file_bytes = self.0.file.len()?;
                    held.steps.push(step);
                    held.steps.extend(steps);
                    return Ok(());
                }
                Err(error) => {
                    if held.file_bytes == 0 {
                        // If that fails too, the first error is the relevant one.
                        let _emptied = self.0.file.set_len(0);
                    }
                    return Err(error);
                }
            }
        }
        self.0.settled.store(true, Ordering::Release);
        Ok(())
    }

    /// Ends the opening of a store. Later writes that find no space fail.
    ///
    /// # Errors
    /// `StorageFull`: writes are deferred, because the disk was full. All further changes are
    /// rejected. A file that was empty is emptied again.
    pub(super) fn check_written(&self) -> io::Result<()> {
        self.0.opening.store(false, Ordering::Release);
        let Some(held) = self.deferred() else {
            return Ok(());
        };
        let missing = held.blocks() * BLOCK_BYTES;
        self.block();
        if held.was_empty {
            let _emptied = self.0.file.set_len(0);
        }
        let message = format!("the disk is full: about {missing} bytes of space are missing");
        Err(io::Error::new(io::ErrorKind::StorageFull, message))
    }

    /// Defers operations from now on, because the disk is full.
    fn defer(&self) -> io::Result<MutexGuard<'_, DeferredOperations>> {
        let mut held = self.held();
        held.file_bytes = self.0.file.len()?;
        held.bytes = held.file_bytes;
        self.0.settled.store(false, Ordering::Release);
        Ok(held)
    }

    fn write_now(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.file.write(offset, data)?;
        let written = data.len() as u64;
        let unsynced = &self.0.unsynced_bytes;
        if unsynced.fetch_add(written, Ordering::Relaxed) + written >= UNSYNCED_BYTES_MAX {
            self.sync_now()?;
        }
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
    fn write(&mut self, offset: u64, data: &[u8]) {
        self.bytes = self.bytes.max(offset + data.len() as u64);
        self.steps.push(FileOperation::Write(offset, data.to_vec()));
    }

    /// The number of different blocks in the deferred writes.
    fn blocks(&self) -> u64 {
        let blocks: BTreeSet<u64> = self
            .steps
            .iter()
            .flat_map(|step| match step {
                FileOperation::Write(at, bytes) if !bytes.is_empty() => {
                    at / BLOCK_BYTES..(at + bytes.len() as u64).div_ceil(BLOCK_BYTES)
                }
                _ => 0..0,
            })
            .collect();
        blocks.len() as u64
    }

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
        let mut held = match self.deferred() {
            Some(held) => held,
            None => match self.0.file.set_len(bytes) {
                Err(error) if is_full(&error) && self.0.opening.load(Ordering::Acquire) => {
                    self.defer()?
                }
                done => return done,
            },
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
        let mut held = match self.deferred() {
            Some(held) => held,
            None => match self.write_now(offset, data) {
                Err(error) if is_full(&error) && self.0.opening.load(Ordering::Acquire) => {
                    self.defer()?
                }
                written => return written,
            },
        };
        held.write(offset, data);
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
