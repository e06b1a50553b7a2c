//! Reads a log after a crash.
//!
//! [`Recovery::begin`] verifies the whole log and changes nothing. [`Recovery::next`] then reads the
//! commits that redb does not have.

use std::io;

use redb::StorageBackend;

use super::frame::{FRAME_HEADER_BYTES, FrameHeader, FrameShape, SegmentHeader, is_intact};
use super::record::decode;
use super::{BLOCK_BYTES, Commit, LOG_NAMES, LogFiles, file_of};

/// Why a log cannot be recovered.
pub(crate) enum Damage {
    /// Bytes that were synced are missing or wrong.
    Damaged(String),
    /// A file cannot be read.
    Io(io::Error),
}

impl From<io::Error> for Damage {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The verified frames of a log.
pub(crate) struct Recovery {
    files: [Option<Box<dyn StorageBackend>>; 2],
    /// The last commit that is in redb.
    last_commit: u64,
    frames: Vec<FramePlace>,
    /// The number of frames that were read.
    read: usize,
    truncated: Option<String>,
}

/// Verifies a log, one segment after another.
struct Verification<'f> {
    files: &'f [Option<Box<dyn StorageBackend>>; 2],
    log: u64,
    /// The last commit that is in redb.
    last_commit: u64,
    frames: Vec<FramePlace>,
    /// The last frame so far.
    previous: Option<FrameHeader>,
    truncated: Option<String>,
}

/// The place of a verified frame.
struct FramePlace {
    file: usize,
    offset: u64,
    body_bytes: u64,
}

/// A segment that is being verified.
pub(super) struct LogSegment<'f> {
    file: &'f dyn StorageBackend,
    bytes: u64,
    log: u64,
    number: u64,
}

/// What is at a block of a segment.
pub(super) enum BlockContent {
    /// A valid frame. `bytes` is its length with padding.
    Frame {
        header: FrameHeader,
        body_bytes: u64,
        bytes: u64,
    },
    /// Nothing was ever written here since the segment before the last one.
    Blank,
    /// Anything else, such as a part of a frame.
    Other,
}

impl Recovery {
    /// Verifies the frames of `log` from the segment `first` on. redb has the commits up to
    /// `last_commit`.
    pub(crate) fn begin(
        files: &dyn LogFiles,
        log: u64,
        first: u64,
        last_commit: u64,
    ) -> Result<Self, Damage> {
        let files = [files.open(0)?, files.open(1)?];
        let mut verification = Verification {
            files: &files,
            log,
            last_commit,
            frames: Vec::new(),
            previous: None,
            truncated: None,
        };
        let mut number = first;
        while verification.segment_continues(number)? {
            number += 1;
        }
        let Verification {
            frames, truncated, ..
        } = verification;
        Ok(Self {
            files,
            last_commit,
            frames,
            read: 0,
            truncated,
        })
    }

    /// Why the log ends before the end of what was written, for the operator's log.
    pub(crate) fn truncated(&self) -> Option<&str> {
        self.truncated.as_deref()
    }

    /// Which part of the frames was read, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "shown to people")]
    pub(crate) fn progress(&self) -> f64 {
        self.read as f64 / self.frames.len().max(1) as f64
    }

    /// The commits of the next frame that redb does not have. `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Commit>>, Damage> {
        let Some(place) = self.frames.get(self.read) else {
            return Ok(None);
        };
        self.read += 1;
        let mut body = vec![0; index(place.body_bytes)];
        let file = self.files[place.file].as_deref();
        let file = file.expect("the frame was read from this file");
        file.read(place.offset + FRAME_HEADER_BYTES as u64, &mut body)?;
        let mut rest = &body[..];
        let mut commits = Vec::new();
        while !rest.is_empty() {
            let commit = decode(&mut rest).ok_or_else(|| {
                let what = "a frame with a valid checksum has an invalid record";
                damaged(place.file, place.offset, what)
            })?;
            if commit.number > self.last_commit {
                commits.push(commit);
            }
        }
        Ok(Some(commits))
    }
}

impl<'f> Verification<'f> {
    /// Verifies a segment. Returns whether the log continues in the next one.
    fn segment_continues(&mut self, number: u64) -> Result<bool, Damage> {
        let at = file_of(number);
        let segment = self.segment(number)?;
        let mut offset = BLOCK_BYTES as u64;
        loop {
            let (header, body_bytes, bytes) = match segment.at(offset)? {
                BlockContent::Frame {
                    header,
                    body_bytes,
                    bytes,
                } => (header, body_bytes, bytes),
                found => {
                    self.check_end(&segment, offset)?;
                    if let BlockContent::Other = found {
                        self.truncated = Some(truncation(at, offset));
                    }
                    return Ok(false);
                }
            };
            self.check_order(&header, at, offset)?;
            self.frames.push(FramePlace {
                file: at,
                offset,
                body_bytes,
            });
            self.previous = Some(header);
            if header.ends_segment {
                return Ok(true);
            }
            offset += bytes;
        }
    }

    /// A segment that must exist.
    fn segment(&self, number: u64) -> Result<LogSegment<'f>, Damage> {
        let log = self.log;
        let at = file_of(number);
        let Some(file) = self.files[at].as_deref() else {
            let name = LOG_NAMES[at];
            return Err(Damage::Damaged(format!(
                "segment {number} of its write-ahead log, the file {name}, is missing"
            )));
        };
        let segment = LogSegment {
            file,
            bytes: file.len()?,
            log,
            number,
        };
        match segment.header()? {
            Some(header)
                if header
                    == (SegmentHeader {
                        log,
                        segment: number,
                    }) =>
            {
                Ok(segment)
            }
            Some(header) if header.log != log => Err(damaged(
                at,
                0,
                "the file belongs to another store, or to another state of this one",
            )),
            Some(header) => {
                let what = format!("it has segment {} in place of {number}", header.segment);
                Err(damaged(at, 0, &what))
            }
            None => Err(damaged(at, 0, "the header of the segment is damaged")),
        }
    }

    /// Frames follow each other without gaps, and the first one begins where redb ends, or before.
    fn check_order(&self, header: &FrameHeader, at: usize, offset: u64) -> Result<(), Damage> {
        match &self.previous {
            Some(previous)
                if header.sequence != previous.sequence + 1 || header.base != previous.last =>
            {
                Err(damaged(
                    at,
                    offset,
                    "a frame does not follow the one before it",
                ))
            }
            None if header.base > self.last_commit => Err(damaged(
                at,
                offset,
                "the commits before the first frame are missing",
            )),
            _ => Ok(()),
        }
    }

    /// Checks that no valid frame follows the end of the log at `offset`.
    fn check_end(&self, segment: &LogSegment<'_>, offset: u64) -> Result<(), Damage> {
        let after = self.previous.map_or(0, |previous| previous.sequence);
        let at = file_of(segment.number);
        let follows = segment.has_frame(offset + BLOCK_BYTES as u64, after)?;
        let next = self.files[1 - at].as_deref();
        let follows = follows
            || match next {
                Some(file) => {
                    let next = LogSegment {
                        file,
                        bytes: file.len()?,
                        log: segment.log,
                        number: segment.number + 1,
                    };
                    next.has_frame(BLOCK_BYTES as u64, after)?
                }
                None => false,
            };
        if follows {
            let what = "the frame there is damaged: valid frames follow";
            return Err(damaged(at, offset, what));
        }
        Ok(())
    }
}

impl<'f> LogSegment<'f> {
    /// A file whose log and segment are not known.
    pub(super) fn unnumbered(file: &'f dyn StorageBackend, bytes: u64) -> Self {
        Self {
            file,
            bytes,
            log: 0,
            number: 0,
        }
    }

    /// What begins at this block, if it is the beginning of a frame of any log.
    pub(super) fn frame_of_any_log(&self, offset: u64) -> io::Result<Option<BlockContent>> {
        let Some(shape) = FrameShape::read(&self.block(offset)?) else {
            return Ok(None);
        };
        let segment = LogSegment {
            file: self.file,
            bytes: self.bytes,
            log: shape.header.log,
            number: shape.header.segment,
        };
        segment.at(offset).map(Some)
    }

    pub(super) fn header(&self) -> io::Result<Option<SegmentHeader>> {
        if self.bytes < BLOCK_BYTES as u64 {
            return Ok(None);
        }
        Ok(SegmentHeader::read(&self.block(0)?))
    }

    fn block(&self, offset: u64) -> io::Result<Vec<u8>> {
        let mut block = vec![0; BLOCK_BYTES];
        self.file.read(offset, &mut block)?;
        Ok(block)
    }

    /// What begins at this block.
    fn at(&self, offset: u64) -> io::Result<BlockContent> {
        if offset + BLOCK_BYTES as u64 > self.bytes {
            return Ok(BlockContent::Blank);
        }
        let block = self.block(offset)?;
        let Some(shape) = FrameShape::read(&block) else {
            let blank = block.iter().all(|byte| *byte == 0);
            return Ok(if blank {
                BlockContent::Blank
            } else {
                BlockContent::Other
            });
        };
        let header = shape.header;
        // A frame of the segment whose file this was.
        if header.log == self.log && header.segment + 2 <= self.number {
            return Ok(BlockContent::Blank);
        }
        let bytes = shape.bytes().filter(|bytes| *bytes <= self.bytes - offset);
        let (Some(bytes), true, true) =
            (bytes, header.log == self.log, header.segment == self.number)
        else {
            return Ok(BlockContent::Other);
        };
        if self.is_intact(offset, &block, shape.body_bytes)? {
            Ok(BlockContent::Frame {
                header,
                body_bytes: shape.body_bytes,
                bytes,
            })
        } else {
            Ok(BlockContent::Other)
        }
    }

    fn is_intact(&self, offset: u64, header: &[u8], body_bytes: u64) -> io::Result<bool> {
        let mut body = vec![0; index(body_bytes)];
        self.file
            .read(offset + FRAME_HEADER_BYTES as u64, &mut body)?;
        Ok(is_intact(header, &body))
    }

    /// Whether a valid frame with a sequence number above `after` begins at or behind `offset`.
    fn has_frame(&self, mut offset: u64, after: u64) -> io::Result<bool> {
        while offset + (BLOCK_BYTES as u64) <= self.bytes {
            match self.at(offset)? {
                BlockContent::Frame { header, .. } if header.sequence > after => return Ok(true),
                _ => offset += BLOCK_BYTES as u64,
            }
        }
        Ok(false)
    }
}

fn truncation(file: usize, offset: u64) -> String {
    let name = LOG_NAMES[file];
    format!(
        "the write-ahead log {name} ends at offset {offset} with a frame that was not written \
         completely; none of its transactions was reported as committed, unless the disk has lost \
         or changed synced data"
    )
}

pub(super) fn damaged(file: usize, offset: u64, what: &str) -> Damage {
    let name = LOG_NAMES[file];
    Damage::Damaged(format!("write-ahead log {name} at offset {offset}: {what}"))
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("no longer than a file that was read")
}
