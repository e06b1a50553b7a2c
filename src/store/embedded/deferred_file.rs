//! The file of the database, whose changes can be deferred or rejected.
//!
//! - **While it is opened.** redb writes while it opens a file: it updates the header of a store that
//!   was not closed cleanly before it knows whether the repair succeeds. All changes are deferred
//!   until [`DeferredFile::settle`], so a file which cannot be opened stays unchanged.
//! - **During a checkpoint.** A durable commit of redb writes all changed pages and syncs, writes the
//!   header and syncs, and writes the header again and syncs. Transactions would wait for all that.
//!   Between [`DeferredFile::detach`] and [`DeferredFile::settle`] the pages are written as redb asks
//!   for, but headers, syncs, and whatever follows the first sync are deferred. So redb's commit
//!   returns without a sync, and the next transactions begin. [`DeferredFile::settle`] then does what
//!   was deferred, in order. Until the header is durable, the file has the previous durable state:
//!   redb never writes to pages of that state before the commit, and later writes are deferred.
//! - **After the store has failed.** redb makes all commits durable when it is closed. After a failed
//!   sync of the log, that would include commits that the log never had. [`DeferredFile::block`]
//!   rejects all changes.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

/// redb's header is at the beginning of the first page.
const HEADER_END: u64 = 4096;

/// A storage backend for redb, and a handle to [`settle`](Self::settle) it.
#[derive(Clone, Debug)]
pub(super) struct DeferredFile(Arc<FileState>);

#[derive(Debug)]
struct FileState {
    file: Box<dyn StorageBackend>,
    settled: AtomicBool,
    blocked: AtomicBool,
    held: Mutex<DeferredOperations>,
}

/// Operations that have not been applied to the file, in order.
#[derive(Debug)]
struct DeferredOperations {
    /// Whether only headers and syncs are deferred so far.
    passes_pages: bool,
    file_bytes: u64,
    bytes: u64,
    steps: Vec<FileOperation>,
}

#[derive(Clone, Debug)]
enum FileOperation {
    SetLen(u64),
    Write(u64, Arc<[u8]>),
    Sync,
}

impl DeferredFile {
    /// A backend for a file and its contents. All changes are deferred.
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
            held: Mutex::new(DeferredOperations {
                passes_pages: false,
                file_bytes: bytes,
                bytes,
                steps: Vec::new(),
            }),
        })))
    }

    /// Defers headers, syncs, and everything after the first sync. The file must be settled.
    pub(super) fn detach(&self) -> io::Result<()> {
        let mut held = self.held();
        held.bytes = self.0.file.len()?;
        held.file_bytes = held.bytes;
        held.passes_pages = true;
        self.0.settled.store(false, Ordering::Release);
        Ok(())
    }

    /// Applies the deferred operations. Later operations go to the file directly. On error, a file
    /// that was empty is emptied again.
    pub(super) fn settle(&self) -> io::Result<()> {
        let was_empty = self.held().file_bytes == 0;
        let mut applied = 0;
        loop {
            let step = {
                let mut held = self.held();
                let Some(step) = held.steps.get(applied) else {
                    held.steps.clear();
                    held.passes_pages = false;
                    self.0.settled.store(true, Ordering::Release);
                    return Ok(());
                };
                step.clone()
            };
            // The lock is not held, so others can read meanwhile.
            if let Err(error) = self.check_not_blocked().and_then(|()| self.apply(&step)) {
                if was_empty {
                    // If that fails too, the first error is the relevant one.
                    let _emptied = self.0.file.set_len(0);
                }
                return Err(error);
            }
            applied += 1;
        }
    }

    fn apply(&self, step: &FileOperation) -> io::Result<()> {
        match step {
            FileOperation::SetLen(bytes) => {
                // Reads of what is cut off must not reach the file.
                let mut held = self.held();
                self.0.file.set_len(*bytes)?;
                held.file_bytes = *bytes;
                Ok(())
            }
            FileOperation::Write(at, bytes) => self.0.file.write(*at, bytes),
            FileOperation::Sync => self.0.file.sync_data(),
        }
    }

    /// Rejects all further changes.
    pub(super) fn block(&self) {
        self.0.blocked.store(true, Ordering::Release);
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
    /// Whether a read of the file returns what it would if the operations had been applied.
    fn leave(&self, offset: u64, length: usize) -> bool {
        let end = offset + length as u64;
        self.steps.iter().all(|step| match step {
            FileOperation::SetLen(bytes) => end <= *bytes && end <= self.file_bytes,
            FileOperation::Write(at, bytes) => end <= *at || at + bytes.len() as u64 <= offset,
            FileOperation::Sync => true,
        })
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
        if let Some(held) = self.deferred()
            && !held.leave(offset, out.len())
        {
            return held.read(&*self.0.file, offset, out);
        }
        self.0.file.read(offset, out)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.check_not_blocked()?;
        let Some(mut held) = self.deferred() else {
            return self.0.file.set_len(bytes);
        };
        if held.passes_pages && bytes >= held.bytes {
            self.0.file.set_len(bytes)?;
            held.file_bytes = bytes;
        } else {
            held.steps.push(FileOperation::SetLen(bytes));
        }
        held.bytes = bytes;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check_not_blocked()?;
        let Some(mut held) = self.deferred() else {
            return self.0.file.sync_data();
        };
        held.passes_pages = false;
        held.steps.push(FileOperation::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check_not_blocked()?;
        let Some(mut held) = self.deferred() else {
            return self.0.file.write(offset, data);
        };
        if held.passes_pages && offset >= HEADER_END {
            return self.0.file.write(offset, data);
        }
        held.bytes = held.bytes.max(offset + data.len() as u64);
        held.steps.push(FileOperation::Write(offset, data.into()));
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

    #[derive(Clone, Debug)]
    struct Shared(Arc<InMemoryBackend>);

    impl StorageBackend for Shared {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }

        fn set_len(&self, bytes: u64) -> io::Result<()> {
            self.0.set_len(bytes)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.0.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.0.write(offset, data)
        }
    }

    fn settled() -> (Shared, DeferredFile) {
        let inner = Shared(Arc::default());
        inner.set_len(3 * HEADER_END).expect("memory");
        let file = DeferredFile::on(inner.clone()).expect("memory");
        file.settle().expect("memory");
        (inner, file)
    }

    fn bytes(file: &impl StorageBackend, offset: u64) -> [u8; 2] {
        let mut bytes = [0; 2];
        file.read(offset, &mut bytes).expect("inside");
        bytes
    }

    #[test]
    fn a_detached_commit_writes_pages_and_defers_headers() {
        let (inner, file) = settled();
        file.detach().expect("memory");
        file.set_len(4 * HEADER_END).expect("memory");
        file.write(0, b"h1").expect("memory");
        file.write(HEADER_END, b"p1").expect("memory");
        file.sync_data().expect("memory");
        file.write(0, b"h2").expect("memory");
        file.sync_data().expect("memory");
        file.write(2 * HEADER_END, b"p2").expect("memory");
        file.set_len(3 * HEADER_END).expect("memory");
        assert_eq!(
            [bytes(&file, 0), bytes(&file, HEADER_END)],
            [*b"h2", *b"p1"]
        );
        assert_eq!(bytes(&file, 2 * HEADER_END), *b"p2");
        assert_eq!(file.len().expect("memory"), 3 * HEADER_END);
        assert_eq!(bytes(&inner, 0), [0; 2]);
        assert_eq!(bytes(&inner, HEADER_END), *b"p1");
        assert_eq!(bytes(&inner, 2 * HEADER_END), [0; 2]);
        assert_eq!(inner.len().expect("memory"), 4 * HEADER_END);

        file.settle().expect("memory");
        assert_eq!(bytes(&inner, 0), *b"h2");
        assert_eq!(bytes(&inner, 2 * HEADER_END), *b"p2");
        assert_eq!(inner.len().expect("memory"), 3 * HEADER_END);
        file.write(0, b"h3").expect("memory");
        assert_eq!(bytes(&inner, 0), *b"h3");
    }

    #[test]
    fn a_blocked_file_rejects_all_changes() {
        let (inner, file) = settled();
        file.detach().expect("memory");
        file.write(0, b"h1").expect("memory");
        file.block();
        assert!(file.write(HEADER_END, b"p1").is_err());
        assert!(file.set_len(0).is_err());
        assert!(file.sync_data().is_err());
        assert!(file.settle().is_err());
        assert_eq!(bytes(&inner, 0), [0; 2]);
    }
}
