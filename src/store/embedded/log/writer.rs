//! Writes frames, and allocates and recycles the space for them.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::StorageBackend;

use super::super::background::lock;
use super::super::tables::writes::WriteList;
use super::frame::{FRAME_HEADER_BYTES, FrameHeader, LogVersion, SegmentHeader};
use super::sector::{self, stored_bytes};
use super::{BLOCK_BYTES, LogFiles, LogPlace, file_of, record};

/// The first segment of a log.
pub(super) const FIRST_SEGMENT: u64 = 1;
/// Space is allocated in portions of this size.
const ALLOCATED_BYTES: usize = 1 << 20;

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
    /// The last commit that redb had durably before the log began.
    base: u64,
    files: [Box<dyn StorageBackend>; 2],
    /// The size from which on a segment ends.
    segment_bytes: u64,
    /// Locked while space is allocated, and before `tail`.
    allocating: Mutex<()>,
    /// The allocated bytes of each file.
    allocated: [AtomicU64; 2],
    /// The last commit that redb has and no frame.
    needed: AtomicU64,
    tail: Mutex<Tail>,
}

/// The space of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogSpace {
    /// Bytes of both files up to the last frame of each. Those of a segment that was recycled do not
    /// count.
    pub(crate) used: u64,
    /// Whether a segment has ended and was not recycled.
    pub(crate) segment_ended: bool,
    /// Whether a frame is being written.
    pub(crate) is_writing: bool,
}

/// Where the next frame is written.
struct Tail {
    segment: u64,
    /// The number of the first frame of the segment.
    first_sequence: u64,
    offset: u64,
    /// The bytes of the segment before, until it is recycled.
    previous_bytes: u64,
    /// The bytes of records of a frame that has no place yet.
    announced: u64,
    sequence: u64,
    /// The number of the last frame that was synced.
    synced: u64,
    /// The checksum of the last frame.
    previous: u32,
    /// The last commit in the log.
    last: u64,
    /// The allocated bytes of each file that are synced.
    durable: [u64; 2],
    /// The bytes that the next frame may take.
    reserved: u64,
    /// The last segment whose header is synced: the present one or the next.
    prepared: u64,
}

impl Tail {
    /// Where the block after a frame of this size would end in each file: in the present segment, or
    /// at the begin of the next one.
    fn ends(&self, bytes: u64) -> [u64; 2] {
        let block = BLOCK_BYTES as u64;
        let mut ends = [block + bytes + block; 2];
        ends[file_of(self.segment)] = self.offset + bytes + block;
        ends
    }
}

impl LogWriter {
    /// The space in bytes that a log takes when it begins.
    pub(crate) const FIRST_BYTES: u64 = 2 * ALLOCATED_BYTES as u64;

    /// Begins a log whose first frame follows the commit `last`. redb has the commits up to `base`
    /// durably. The files are synced; the log is in use once redb has its number.
    pub(crate) fn begin(
        files: &dyn LogFiles,
        segment_bytes: u64,
        base: u64,
        last: u64,
    ) -> io::Result<Self> {
        let log = rand::random_range(1..=u64::MAX);
        let first = [files.create(0)?, files.create(1)?];
        let mut durable = [0; 2];
        for segment in [FIRST_SEGMENT, FIRST_SEGMENT + 1] {
            let file = file_of(segment);
            durable[file] = allocate(&*first[file], log, 0, BLOCK_BYTES as u64)?;
            let header = header(log, segment, durable[file], base);
            first[file].write(0, &header.block())?;
            first[file].sync_data()?;
        }
        files.sync_names()?;
        Ok(Self {
            log,
            base,
            files: first,
            segment_bytes,
            allocating: Mutex::new(()),
            allocated: durable.map(AtomicU64::new),
            needed: AtomicU64::new(0),
            tail: Mutex::new(Tail {
                segment: FIRST_SEGMENT,
                first_sequence: 1,
                offset: BLOCK_BYTES as u64,
                previous_bytes: 0,
                announced: 0,
                sequence: 1,
                synced: 0,
                previous: 0,
                last,
                durable,
                reserved: 0,
                prepared: FIRST_SEGMENT + 1,
            }),
        })
    }

    /// Where the next commits are, for redb's records.
    pub(crate) fn place(&self) -> LogPlace {
        let tail = lock(&self.tail);
        LogPlace {
            log: self.log,
            segment: tail.segment,
            first_frame: tail.first_sequence,
            synced_frame: tail.synced,
        }
    }

    /// The bytes of both files.
    pub(crate) fn bytes(&self) -> u64 {
        let [first, second] = &self.allocated;
        first.load(Ordering::Relaxed) + second.load(Ordering::Relaxed)
    }

    /// How much of the log is in use.
    pub(crate) fn space(&self) -> LogSpace {
        let tail = lock(&self.tail);
        LogSpace {
            used: tail.offset + tail.previous_bytes + tail.announced,
            segment_ended: tail.prepared == tail.segment,
            is_writing: tail.sequence > tail.synced + 1,
        }
    }

    /// Says that redb has made a commit durable that is not in the log. Later frames need it.
    pub(crate) fn needs(&self, commit: u64) {
        self.needed.fetch_max(commit, Ordering::AcqRel);
    }

    /// Allocates space for a frame with this many bytes of records, wherever it is written. Other
    /// frames can be written meanwhile.
    ///
    /// # Errors
    /// The disk is full, for example. The log is as before.
    pub(crate) fn reserve(&self, record_bytes: u64) -> io::Result<()> {
        let bytes = stored(FRAME_HEADER_BYTES as u64 + record_bytes);
        self.allocate_for(bytes, |tail| tail.reserved = bytes)
    }

    /// Allocates space for another frame of a small transaction, unless there is some, and changes
    /// nothing else.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub(crate) fn try_space(&self) -> io::Result<()> {
        self.allocate_for(BLOCK_BYTES as u64, |_| {})
    }

    /// Allocates space for a frame of this many stored bytes, and then calls `allocated`.
    fn allocate_for(&self, bytes: u64, allocated: impl FnOnce(&mut Tail)) -> io::Result<()> {
        let _allocating = lock(&self.allocating);
        loop {
            let ends = {
                let mut tail = lock(&self.tail);
                let ends = tail.ends(bytes);
                let has = |file: usize| ends[file] <= self.allocated[file].load(Ordering::Acquire);
                if has(0) && has(1) {
                    allocated(&mut tail);
                    return Ok(());
                }
                ends
            };
            for (file, end) in ends.into_iter().enumerate() {
                let mut allocated = self.allocated[file].load(Ordering::Acquire);
                while allocated < end {
                    allocated = allocate(&*self.files[file], self.log, allocated, end)?;
                    self.allocated[file].store(allocated, Ordering::Release);
                }
            }
        }
    }

    /// Counts a frame with this many bytes of records as written, before [`append`](Self::append) does it.
    pub(crate) fn announce(&self, record_bytes: u64) {
        lock(&self.tail).announced = record_bytes;
    }

    /// Writes and syncs a frame, up to the commit `last`, and empties it. Only one thread calls this.
    ///
    /// # Errors
    /// Errors of the file. What the file then contains is unknown.
    pub(crate) fn append(&self, frame: &mut Frame, last: u64) -> io::Result<()> {
        self.sync_allocated()?;
        let bytes = stored(frame.bytes.len() as u64);
        let (header, offset) = {
            let mut tail = lock(&self.tail);
            let (segment, offset) = (tail.segment, tail.offset);
            let ends_segment =
                tail.prepared > segment && offset + bytes + BLOCK_BYTES as u64 > self.segment_bytes;
            let header = FrameHeader {
                log: self.log,
                segment,
                sequence: tail.sequence,
                base: tail.last,
                last,
                reserved: tail.durable[file_of(segment)],
                needed: self.needed.load(Ordering::Acquire),
                previous: tail.previous,
                ends_segment,
            };
            tail.sequence += 1;
            tail.last = last;
            tail.announced = 0;
            if ends_segment {
                tail.segment += 1;
                tail.first_sequence = tail.sequence;
                tail.previous_bytes = offset + bytes;
                tail.offset = BLOCK_BYTES as u64;
            } else {
                tail.offset += bytes;
            }
            (header, offset)
        };
        let checksum = header.complete(&mut frame.bytes);
        let file = &*self.files[file_of(header.segment)];
        let places = offset..offset + bytes;
        sector::write(file, self.log, header.sequence, &frame.bytes, places)?;
        file.sync_data()?;
        frame.reset();
        let mut tail = lock(&self.tail);
        tail.previous = checksum;
        tail.synced = header.sequence;
        Ok(())
    }

    /// Syncs the space that was allocated since the last frame, before a frame is written to it.
    /// After a crash, space below [`FrameHeader::reserved`] is never in an unknown state.
    fn sync_allocated(&self) -> io::Result<()> {
        let (file, durable) = {
            let tail = lock(&self.tail);
            let file = file_of(tail.segment);
            (file, tail.durable[file])
        };
        let allocated = self.allocated[file].load(Ordering::Acquire);
        if allocated > durable {
            self.files[file].sync_data()?;
            lock(&self.tail).durable[file] = allocated;
        }
        Ok(())
    }

    /// Prepares the file of the segment before the present one for the next one. The caller has
    /// checkpointed all commits in segments before `first_needed`.
    ///
    /// # Errors
    /// Errors of the file.
    pub(crate) fn recycle(&self, first_needed: u64) -> io::Result<()> {
        let (next, allocated) = {
            let _allocating = lock(&self.allocating);
            let tail = lock(&self.tail);
            if tail.prepared > tail.segment || first_needed < tail.segment {
                return Ok(());
            }
            let file = file_of(tail.segment + 1);
            let kept = self
                .segment_bytes
                .max(tail.ends(tail.reserved)[file])
                .next_multiple_of(ALLOCATED_BYTES as u64);
            let mut allocated = self.allocated[file].load(Ordering::Acquire);
            if kept < allocated {
                // A large frame was longer than the segment should be.
                self.files[file].set_len(kept)?;
                self.allocated[file].store(kept, Ordering::Release);
                allocated = kept;
            }
            (tail.segment + 1, allocated)
        };
        // No frame is written to this file until the segment is prepared.
        let file = &*self.files[file_of(next)];
        let header = header(self.log, next, allocated, self.base);
        file.write(0, &header.block())?;
        file.sync_data()?;
        let mut tail = lock(&self.tail);
        tail.durable[file_of(next)] = allocated;
        tail.prepared = next;
        tail.previous_bytes = 0;
        Ok(())
    }
}

/// The header of a segment whose file has this much allocated space, which is synced with it.
fn header(log: u64, segment: u64, reserved: u64, base: u64) -> SegmentHeader {
    SegmentHeader {
        version: LogVersion::Sectors,
        log,
        segment,
        reserved,
        base,
    }
}

fn stored(frame_bytes: u64) -> u64 {
    stored_bytes(frame_bytes).expect("a frame is in memory")
}

/// Extends a file by one portion, if it ends before `end`, and returns its length. The new space is
/// written, so that the disk has it, and so that later syncs write no metadata.
fn allocate(file: &dyn StorageBackend, log: u64, allocated: u64, end: u64) -> io::Result<u64> {
    if allocated >= end {
        return Ok(allocated);
    }
    let next = allocated + ALLOCATED_BYTES as u64;
    if file.len()? < next {
        file.set_len(next)?;
    }
    sector::write(file, log, 0, &[], allocated..next)?;
    Ok(next)
}
