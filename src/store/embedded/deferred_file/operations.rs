//! Operations on a file that have not been applied to it, and the file as if they had been.

use std::collections::{BTreeSet, VecDeque};
use std::io;

use redb::StorageBackend;

/// The unit in which file systems allocate space.
const BLOCK_BYTES: u64 = 4_096;

/// Whether an operation on a file found no space.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// Operations that have not been applied to a file, in order.
#[derive(Debug, Default)]
pub(super) struct DeferredOperations {
    /// The length of the file in bytes.
    pub(super) file_bytes: u64,
    /// Its length in bytes after all operations.
    pub(super) bytes: u64,
    steps: VecDeque<FileOperation>,
    /// The blocks that the operations write.
    blocks: BTreeSet<u64>,
}

#[derive(Debug)]
enum FileOperation {
    SetLen(u64),
    Write(u64, Vec<u8>),
    Sync,
}

impl FileOperation {
    fn apply(&self, file: &dyn StorageBackend) -> io::Result<()> {
        match self {
            Self::SetLen(bytes) => file.set_len(*bytes),
            Self::Write(at, bytes) => file.write(*at, bytes),
            Self::Sync => file.sync_data(),
        }
    }
}

impl DeferredOperations {
    /// No operations on a file of this length in bytes.
    pub(super) fn on(bytes: u64) -> Self {
        Self {
            file_bytes: bytes,
            bytes,
            ..Self::default()
        }
    }

    pub(super) fn set_len(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.steps.push_back(FileOperation::SetLen(bytes));
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        self.bytes = self.bytes.max(end);
        self.blocks
            .extend(offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES));
        self.steps
            .push_back(FileOperation::Write(offset, data.to_vec()));
    }

    pub(super) fn sync(&mut self) {
        self.steps.push_back(FileOperation::Sync);
    }

    /// Applies the operations, until one finds no space. Returns whether all were applied. Those that
    /// were not stay.
    ///
    /// # Errors
    /// Errors of the file. A sync that finds no space is one: what was written before it may be lost.
    pub(super) fn apply(&mut self, file: &dyn StorageBackend) -> io::Result<bool> {
        let before = self.steps.len();
        let mut outcome = Ok(true);
        while let Some(step) = self.steps.front() {
            if let Err(error) = step.apply(file) {
                let waits = is_full(&error) && !matches!(step, FileOperation::Sync);
                outcome = if waits { Ok(false) } else { Err(error) };
                break;
            }
            self.steps.pop_front();
        }
        if self.steps.len() < before {
            self.file_bytes = file.len()?;
            self.blocks = self.steps.iter().flat_map(blocks_of).collect();
        }
        outcome
    }

    /// The bytes of the blocks that the operations write.
    pub(super) fn block_bytes(&self) -> u64 {
        self.blocks.len() as u64 * BLOCK_BYTES
    }

    /// Reads the file as if the operations had been applied.
    pub(super) fn read(
        &self,
        file: &dyn StorageBackend,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
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

/// The blocks that an operation writes.
fn blocks_of(step: &FileOperation) -> std::ops::Range<u64> {
    match step {
        FileOperation::Write(at, bytes) => {
            at / BLOCK_BYTES..(at + bytes.len() as u64).div_ceil(BLOCK_BYTES)
        }
        FileOperation::SetLen(_) | FileOperation::Sync => 0..0,
    }
}

/// The length of the part of a read from `offset` to `end` that lies before `bytes`.
fn within(bytes: u64, offset: u64, end: u64) -> usize {
    index(bytes.clamp(offset, end) - offset)
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("no longer than a buffer in memory")
}
