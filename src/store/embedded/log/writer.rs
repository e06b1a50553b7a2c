//! Writes frames, and allocates and recycles the space for them.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::StorageBackend;

use super::super::background::lock;
use super::super::tables::writes::WriteList;
use super::frame::{FRAME_HEADER_BYTES, FrameHeader, SegmentHeader};
use super::{BLOCK_BYTES, LogFiles, file_of, record};

/// The first segment of a log.
pub(super) const FIRST_SEGMENT: u64 = 1;
/// Space is allocated in portions of this size.
const ALLOCATED_BYTES: usize = 1 << 20;
/// Bytes that a frame takes besides its records, at most.
const FRAME_BYTES_MAX: u64 = (FRAME_HEADER_BYTES + BLOCK_BYTES) as u64;

/// The records of commits that wait for one sync.
pub(crate) struct Frame {
    /// Room for the header, then the records.
    bytes: Vec<u8>,
}

impl Frame {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; FRAME_HEADER_BYTES],
        }
    }

    /// Adds the record of a commit.
    pub(crate) fn push(&mut self, number: u64, writes: &WriteList) {
        record::encode(number, writes, &mut self.bytes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.len() == FRAME_HEADER_BYTES
    }

    /// The size of the records in bytes.
    pub(crate) fn record_bytes(&self) -> u64 {
        (self.bytes.len() - FRAME_HEADER_BYTES) as u64
    }

    /// Removes all records and keeps the memory, unless it is large.
    fn reset(&mut self) {
        self.bytes.truncate(FRAME_HEADER_BYTES);
        self.bytes.shrink_to(ALLOCATED_BYTES);
    }
}

/// A log that is being written.
pub(crate) struct LogWriter {
    log: u64,
    files: [Box<dyn StorageBackend>; 2],
    /// The size from which on a segment ends.
    segment_bytes: u64,
    /// The allocated bytes of each file. Locked while space is allocated, and before `tail`.
    allocated: Mutex<[u64; 2]>,
    /// The sum of them.
    bytes: AtomicU64,
    tail: Mutex<Tail>,
}

/// Where the next frame is written.
struct Tail {
    segment: u64,
    offset: u64,
    sequence: u64,
    /// The last commit in the log.
    last: u64,
    /// The bytes that the next frame may take.
    reserved: u64,
    /// The last segment whose header is synced: the present one or the next.
    prepared: u64,
}

impl Tail {
    /// Where a frame of this size would end in each file: in the present segment, or at the begin
    /// of the next one.
    fn ends(&self, bytes: u64) -> [u64; 2] {
        let mut ends = [BLOCK_BYTES as u64 + bytes; 2];
        ends[file_of(self.segment)] = self.offset + bytes;
        ends
    }
}

impl LogWriter {
    /// Begins a log whose first frame follows the commit `last`. The files are synced; the log is in
    /// use once redb has its number.
    pub(crate) fn begin(files: &dyn LogFiles, segment_bytes: u64, last: u64) -> io::Result<Self> {
        let log = rand::random_range(1..=u64::MAX);
        let first = [files.create(0)?, files.create(1)?];
        let mut allocated = [0; 2];
        for segment in [FIRST_SEGMENT, FIRST_SEGMENT + 1] {
            let file = file_of(segment);
            allocate(&*first[file], &mut allocated[file], BLOCK_BYTES as u64)?;
            let header = SegmentHeader { log, segment };
            first[file].write(0, &header.block())?;
            first[file].sync_data()?;
        }
        files.sync_names()?;
        Ok(Self {
            log,
            files: first,
            segment_bytes,
            allocated: Mutex::new(allocated),
            bytes: AtomicU64::new(allocated.iter().sum()),
            tail: Mutex::new(Tail {
                segment: FIRST_SEGMENT,
                offset: BLOCK_BYTES as u64,
                sequence: 1,
                last,
                reserved: 0,
                prepared: FIRST_SEGMENT + 1,
            }),
        })
    }

    /// The number of the log.
    pub(crate) fn number(&self) -> u64 {
        self.log
    }

    /// The segment of the next frame, at present.
    pub(crate) fn segment(&self) -> u64 {
        lock(&self.tail).segment
    }

    /// The bytes of both files.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Allocates space for a frame with this many bytes of records, wherever it is written. Other
    /// frames can be written meanwhile.
    ///
    /// # Errors
    /// The disk is full, for example. The log is as before.
    pub(crate) fn reserve(&self, record_bytes: u64) -> io::Result<()> {
        let bytes = record_bytes + FRAME_BYTES_MAX;
        let mut allocated = lock(&self.allocated);
        loop {
            let ends = {
                let mut tail = lock(&self.tail);
                let ends = tail.ends(bytes);
                if ends[0] <= allocated[0] && ends[1] <= allocated[1] {
                    tail.reserved = bytes;
                    return Ok(());
                }
                ends
            };
            for (file, end) in ends.into_iter().enumerate() {
                let done = allocate(&*self.files[file], &mut allocated[file], end);
                self.bytes.store(allocated.iter().sum(), Ordering::Relaxed);
                done?;
            }
        }
    }

    /// Writes and syncs a frame, up to the commit `last`, and empties it. Returns whether it ended a
    /// segment. Only one thread calls this.
    ///
    /// # Errors
    /// Errors of the file. What the file then contains is unknown.
    pub(crate) fn append(&self, frame: &mut Frame, last: u64) -> io::Result<bool> {
        let (header, offset) = {
            let mut tail = lock(&self.tail);
            let bytes = frame.bytes.len().next_multiple_of(BLOCK_BYTES) as u64;
            let (segment, offset) = (tail.segment, tail.offset);
            let ends_segment =
                tail.prepared > segment && offset + bytes + BLOCK_BYTES as u64 > self.segment_bytes;
            let header = FrameHeader {
                log: self.log,
                segment,
                sequence: tail.sequence,
                base: tail.last,
                last,
                ends_segment,
            };
            tail.sequence += 1;
            tail.last = last;
            if ends_segment {
                tail.segment += 1;
                tail.offset = BLOCK_BYTES as u64;
            } else {
                tail.offset += bytes;
            }
            (header, offset)
        };
        header.complete(&mut frame.bytes);
        let file = &*self.files[file_of(header.segment)];
        file.write(offset, &frame.bytes)?;
        file.sync_data()?;
        frame.reset();
        Ok(header.ends_segment)
    }

    /// Prepares the file of the segment before the present one for the next one. The caller has
    /// checkpointed all commits in segments before `first_needed`.
    ///
    /// # Errors
    /// Errors of the file.
    pub(crate) fn recycle(&self, first_needed: u64) -> io::Result<()> {
        let next = {
            let mut allocated = lock(&self.allocated);
            let tail = lock(&self.tail);
            if tail.prepared > tail.segment || first_needed < tail.segment {
                return Ok(());
            }
            let file = file_of(tail.segment + 1);
            let kept = self.segment_bytes.max(BLOCK_BYTES as u64 + tail.reserved);
            let kept = kept.next_multiple_of(ALLOCATED_BYTES as u64);
            if kept < allocated[file] {
                // A large frame was longer than the segment should be.
                self.files[file].set_len(kept)?;
                allocated[file] = kept;
                self.bytes.store(allocated.iter().sum(), Ordering::Relaxed);
            }
            tail.segment + 1
        };
        // No frame is written to this file until the segment is prepared.
        let header = SegmentHeader {
            log: self.log,
            segment: next,
        };
        let file = &*self.files[file_of(next)];
        file.write(0, &header.block())?;
        file.sync_data()?;
        lock(&self.tail).prepared = next;
        Ok(())
    }
}

/// Extends a file to at least `end` bytes. The new space is written, so that the disk has it, and
/// so that later syncs write no metadata.
fn allocate(file: &dyn StorageBackend, allocated: &mut u64, end: u64) -> io::Result<()> {
    while *allocated < end {
        let next = *allocated + ALLOCATED_BYTES as u64;
        if file.len()? < next {
            file.set_len(next)?;
        }
        let zeros = vec![0; ALLOCATED_BYTES];
        file.write(*allocated, &zeros)?;
        *allocated = next;
    }
    Ok(())
}
