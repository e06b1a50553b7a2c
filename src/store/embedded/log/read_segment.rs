//! Reads a segment of a log: which frames it has, and whether the log ends or is damaged.
//!
//! In version 2, what is at the place of the next frame decides it:
//!
//! - All sectors are of this frame: it was written completely.
//! - Some are older, or were allocated and not synced: it was not synced, so the log ends before it.
//! - Anything else was changed after it was written, because a disk writes whole sectors.
//!
//! In version 1 a frame that was not synced cannot be told from a damaged one, unless others follow.

use std::io;

use redb::StorageBackend;

use super::damage::{Damage, damaged};
use super::frame::{FrameShape, LogVersion, SegmentHeader};
use super::sector::{self, SECTOR_BYTES, Sector};
use super::{BLOCK_BYTES, LOG_NAMES};

/// A segment that is being read.
pub(super) struct LogSegment<'f> {
    pub(super) file: &'f dyn StorageBackend,
    /// The number of the file.
    pub(super) at: usize,
    /// The length of the file.
    pub(super) bytes: u64,
    pub(super) version: LogVersion,
    pub(super) log: u64,
    pub(super) number: u64,
}

/// What is at the place of the next frame.
pub(super) enum NextFrame {
    /// A valid frame: its header and its body.
    Frame(FrameShape, Vec<u8>),
    /// The log ends here, unless a later frame follows.
    End {
        /// Whether something that may be a part of the frame is there (version 1).
        incomplete: bool,
    },
}

/// The header of a segment. `None` if the file has none, or it is damaged.
pub(super) fn header(file: &dyn StorageBackend, bytes: u64) -> io::Result<Option<SegmentHeader>> {
    if bytes < BLOCK_BYTES as u64 {
        return Ok(None);
    }
    Ok(SegmentHeader::read(&block(file, 0)?))
}

pub(super) fn block(file: &dyn StorageBackend, offset: u64) -> io::Result<Vec<u8>> {
    let mut block = vec![0; BLOCK_BYTES];
    file.read(offset, &mut block)?;
    Ok(block)
}

impl LogSegment<'_> {
    /// What is at the place of the frame `sequence`. Space below `reserved` was allocated and synced.
    pub(super) fn next(
        &self,
        offset: u64,
        sequence: u64,
        reserved: u64,
    ) -> Result<NextFrame, Damage> {
        match self.version {
            LogVersion::Blocks => Ok(self.in_blocks(offset)?),
            LogVersion::Sectors => self.in_sectors(offset, sequence, reserved),
        }
    }

    /// Checks that the file has the space that was allocated and synced.
    pub(super) fn check_reserved(&self, reserved: u64) -> Result<(), Damage> {
        if self.bytes >= reserved {
            return Ok(());
        }
        let what = format!("the file ends there, but it had {reserved} bytes");
        Err(damaged(self.at, self.bytes, &what))
    }

    /// Whether the segment has a part of a frame (version 2) or a valid frame (version 1) after the
    /// frame `sequence`, at or behind an offset.
    pub(super) fn has_later(&self, mut offset: u64, sequence: u64) -> io::Result<bool> {
        if self.version == LogVersion::Sectors {
            let places = BLOCK_BYTES as u64..self.bytes;
            let found = sector::find(self.file, self.log, places, |_, sector| match sector {
                Sector::Valid { sequence: of, .. } if of > sequence => Some(()),
                _ => None,
            });
            return Ok(found?.is_some());
        }
        while offset + BLOCK_BYTES as u64 <= self.bytes {
            match self.in_blocks(offset)? {
                NextFrame::Frame(shape, _) if shape.header.sequence > sequence => return Ok(true),
                _ => offset += BLOCK_BYTES as u64,
            }
        }
        Ok(false)
    }

    fn in_sectors(&self, offset: u64, sequence: u64, reserved: u64) -> Result<NextFrame, Damage> {
        const END: NextFrame = NextFrame::End { incomplete: false };
        let wrong = |offset, what: &str| Err(damaged(self.at, offset, what));
        self.check_reserved((offset + BLOCK_BYTES as u64).min(reserved))?;
        if offset + BLOCK_BYTES as u64 > self.bytes {
            return Ok(END);
        }
        let first = block(self.file, offset)?;
        match Sector::read(self.log, offset, &first[..SECTOR_BYTES]) {
            Sector::Valid {
                sequence: found,
                payload,
            } if found == sequence => self.frame(offset, sequence, payload),
            Sector::Valid {
                sequence: found, ..
            } if found > sequence => wrong(
                offset,
                &format!("it has the frame {found} in place of the frame {sequence}"),
            ),
            Sector::Valid { .. } => Ok(END),
            Sector::Zero if offset >= reserved => Ok(END),
            Sector::Zero | Sector::Invalid => {
                wrong(offset, "the sector there is damaged after it was written")
            }
        }
    }

    /// The frame whose first sector is valid.
    fn frame(&self, offset: u64, sequence: u64, payload: &[u8]) -> Result<NextFrame, Damage> {
        let wrong = |offset, what: &str| damaged(self.at, offset, what);
        let invalid = || wrong(offset, "the header of the frame is invalid");
        let shape = FrameShape::read(payload, self.version).ok_or_else(invalid)?;
        let header = &shape.header;
        let end = shape.bytes().and_then(|bytes| offset.checked_add(bytes));
        let end = end.filter(|end| *end < header.reserved);
        let known = (header.log, header.segment, header.sequence);
        let (Some(end), true) = (end, known == (self.log, self.number, sequence)) else {
            return Err(invalid());
        };
        self.check_reserved(header.reserved)?;
        let mut frame = Vec::new();
        let other = sector::find(
            self.file,
            self.log,
            offset..end,
            |at, sector| match sector {
                Sector::Valid {
                    sequence: found,
                    payload,
                } if found == sequence => {
                    frame.extend_from_slice(payload);
                    None
                }
                Sector::Valid {
                    sequence: found, ..
                } if found < sequence => Some(None),
                _ => Some(Some(at)),
            },
        );
        match other? {
            Some(None) => return Ok(NextFrame::End { incomplete: false }),
            Some(Some(at)) => {
                let what = "the sector there is damaged after it was written";
                return Err(wrong(at, what));
            }
            None => {}
        }
        frame.truncate(shape.frame_bytes().map_or(0, index));
        if !shape.is_intact(&frame) {
            return Err(wrong(offset, "the checksum of the frame is wrong"));
        }
        Ok(NextFrame::Frame(
            shape,
            frame.split_off(self.version.frame_header_bytes()),
        ))
    }

    fn in_blocks(&self, offset: u64) -> io::Result<NextFrame> {
        let end = |incomplete| Ok(NextFrame::End { incomplete });
        if offset + BLOCK_BYTES as u64 > self.bytes {
            return end(false);
        }
        let block = block(self.file, offset)?;
        let Some(shape) = FrameShape::read(&block, self.version) else {
            return end(block.iter().any(|byte| *byte != 0));
        };
        let header = &shape.header;
        // A frame of the segment whose file this was.
        if header.log == self.log && header.segment + 2 <= self.number {
            return end(false);
        }
        let bytes = shape.bytes().filter(|bytes| *bytes <= self.bytes - offset);
        if bytes.is_none() || (header.log, header.segment) != (self.log, self.number) {
            return end(true);
        }
        let mut frame = vec![0; shape.frame_bytes().map_or(0, index)];
        self.file.read(offset, &mut frame)?;
        if !shape.is_intact(&frame) {
            return end(true);
        }
        Ok(NextFrame::Frame(
            shape,
            frame.split_off(self.version.frame_header_bytes()),
        ))
    }
}

/// Says where a log of version 1 ends with an incomplete frame.
pub(super) fn truncation(file: usize, offset: u64) -> String {
    let name = LOG_NAMES[file];
    format!(
        "the write-ahead log {name} ends at offset {offset} with a frame that was not written \
         completely; none of its transactions was reported as committed, unless the disk has lost \
         or changed synced data"
    )
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("no longer than a file that was read")
}
