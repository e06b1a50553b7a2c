//! Reads a log after a crash.
//!
//! [`Recovery::begin`] verifies the whole log and changes nothing. [`Recovery::next`] then reads the
//! commits that redb does not have.

use std::io;

use redb::StorageBackend;

use super::damage::{Damage, damaged};
use super::frame::{FrameHeader, FrameShape, LogVersion, SegmentHeader};
use super::read_segment::{LogSegment, NextFrame, header, truncation};
use super::record::decode;
use super::sector::{self, Sector};
use super::{BLOCK_BYTES, Commit, LOG_NAMES, LogFiles, LogPlace, file_of};

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
    place: LogPlace,
    /// The last commit that is in redb.
    last_commit: u64,
    frames: Vec<FramePlace>,
    /// The last frame so far.
    previous: Option<FrameShape>,
    truncated: Option<String>,
}

/// The place of a verified frame.
struct FramePlace {
    version: LogVersion,
    log: u64,
    segment: u64,
    sequence: u64,
    offset: u64,
}

impl Recovery {
    /// Verifies the frames of a log. redb has the commits up to `last_commit`.
    pub(crate) fn begin(
        files: &dyn LogFiles,
        place: LogPlace,
        last_commit: u64,
    ) -> Result<Self, Damage> {
        match Self::up_to_damage(files, place, last_commit)? {
            (recovery, None) => Ok(recovery),
            (_, Some(damage)) => Err(damage),
        }
    }

    /// As [`begin`](Self::begin), but a damaged log ends before the damage, which is also returned.
    ///
    /// # Errors
    /// The files cannot be opened.
    pub(crate) fn up_to_damage(
        files: &dyn LogFiles,
        place: LogPlace,
        last_commit: u64,
    ) -> io::Result<(Self, Option<Damage>)> {
        let files = [files.open(0)?, files.open(1)?];
        let mut verification = Verification {
            files: &files,
            place,
            last_commit,
            frames: Vec::new(),
            previous: None,
            truncated: None,
        };
        let damage = verification.verify(place.segment).err();
        let Verification {
            frames, truncated, ..
        } = verification;
        let recovery = Self {
            files,
            last_commit,
            frames,
            read: 0,
            truncated,
        };
        Ok((recovery, damage))
    }

    /// Why a log of version 1 ends before the end of what was written, for the operator's log.
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
        let at = file_of(place.segment);
        let file = self.files[at].as_deref();
        let file = file.expect("the frame was read from this file");
        let segment = LogSegment {
            file,
            at,
            bytes: file.len()?,
            version: place.version,
            log: place.log,
            number: place.segment,
        };
        let NextFrame::Frame(_, body) = segment.next(place.offset, place.sequence, 0)? else {
            let what = "the frame there has changed while it was read";
            return Err(damaged(at, place.offset, what));
        };
        let mut rest = &body[..];
        let mut commits = Vec::new();
        while !rest.is_empty() {
            let commit = decode(&mut rest).ok_or_else(|| {
                let what = "a frame with a valid checksum has an invalid record";
                damaged(at, place.offset, what)
            })?;
            if commit.number > self.last_commit {
                commits.push(commit);
            }
        }
        Ok(Some(commits))
    }
}

impl<'f> Verification<'f> {
    /// Verifies the segments from this one on.
    fn verify(&mut self, mut number: u64) -> Result<(), Damage> {
        while self.segment_continues(number)? {
            number += 1;
        }
        Ok(())
    }

    /// Verifies a segment. Returns whether the log continues in the next one.
    fn segment_continues(&mut self, number: u64) -> Result<bool, Damage> {
        let (segment, mut reserved) = self.segment(number)?;
        let mut offset = BLOCK_BYTES as u64;
        loop {
            let sequence = self.expected();
            let shape = match segment.next(offset, sequence, reserved)? {
                NextFrame::Frame(shape, _) => shape,
                NextFrame::End { incomplete } => {
                    self.check_end(&segment, offset)?;
                    if incomplete {
                        self.truncated = Some(truncation(segment.at, offset));
                    }
                    return Ok(false);
                }
            };
            self.check_order(&shape.header, segment.at, offset)?;
            self.frames.push(FramePlace {
                version: segment.version,
                log: segment.log,
                segment: number,
                sequence: shape.header.sequence,
                offset,
            });
            let ends_segment = shape.header.ends_segment;
            reserved = shape.header.reserved;
            offset += shape.bytes().unwrap_or(0);
            self.previous = Some(shape);
            if ends_segment {
                return Ok(true);
            }
        }
    }

    /// The number of the next frame.
    fn expected(&self) -> u64 {
        let next = |previous: &FrameShape| previous.header.sequence + 1;
        self.previous.as_ref().map_or(self.place.first_frame, next)
    }

    /// A segment that must exist, and the length of its file that was allocated and synced.
    fn segment(&self, number: u64) -> Result<(LogSegment<'f>, u64), Damage> {
        let (file, header) = self.file(number)?;
        let (at, bytes) = (file_of(number), file.len()?);
        let SegmentHeader {
            version,
            log,
            segment,
            reserved,
            ..
        } = header;
        if segment != number {
            let what = format!("it has segment {segment} in place of {number}");
            return Err(damaged(at, 0, &what));
        }
        let segment = LogSegment {
            file,
            at,
            bytes,
            version,
            log,
            number,
        };
        segment.check_reserved(reserved)?;
        Ok((segment, reserved))
    }

    /// The file of a segment, which must be of this log, and the header in it.
    fn file(&self, number: u64) -> Result<(&'f dyn StorageBackend, SegmentHeader), Damage> {
        let at = file_of(number);
        let Some(file) = self.files[at].as_deref() else {
            let name = LOG_NAMES[at];
            return Err(Damage::Damaged(format!(
                "segment {number} of its write-ahead log, the file {name}, is missing"
            )));
        };
        match header(file, file.len()?)? {
            Some(header) if header.log == self.place.log => Ok((file, header)),
            Some(_) => {
                let what = "the file belongs to another store, or to another state of this one";
                Err(damaged(at, 0, what))
            }
            None => Err(damaged(at, 0, "the header of the segment is damaged")),
        }
    }

    /// Frames follow each other without gaps, and the first one begins where redb ends, or before.
    fn check_order(&self, header: &FrameHeader, at: usize, offset: u64) -> Result<(), Damage> {
        if header.needed > self.last_commit {
            let (needed, last) = (header.needed, self.last_commit);
            let what = format!(
                "the frame there needs the commits up to {needed}, but the store's file ends at \
                 commit {last}: it is of an earlier state"
            );
            return Err(damaged(at, offset, &what));
        }
        match &self.previous {
            Some(previous) if !follows(header, previous) => Err(damaged(
                at,
                offset,
                "a frame does not follow the one before it",
            )),
            None if header.base > self.last_commit => Err(damaged(
                at,
                offset,
                "the commits before the first frame are missing",
            )),
            _ => Ok(()),
        }
    }

    /// Checks that the log may end at `offset`: all frames that are known to be synced are before it.
    fn check_end(&self, segment: &LogSegment<'_>, offset: u64) -> Result<(), Damage> {
        let (end, at) = (self.expected(), segment.at);
        let synced = self.place.synced_frame;
        if synced >= end && segment.version == LogVersion::Sectors {
            let what = format!(
                "the log ends there before the frame {end}, but it had the frames up to {synced}: \
                 it is of an earlier state, or it was damaged"
            );
            return Err(damaged(at, offset, &what));
        }
        if segment.version == LogVersion::Sectors {
            // A log has both files from its beginning. If the other one is of a later log, this one is
            // of an earlier state.
            let (file, header) = self.file(segment.number + 1)?;
            self.check_before(file, &header)?;
        }
        let other = self.files[1 - at].as_deref();
        let follows = self.has_later(segment, offset + BLOCK_BYTES as u64)?
            || match other {
                Some(file) => {
                    let next = LogSegment {
                        file,
                        at: 1 - at,
                        bytes: file.len()?,
                        version: segment.version,
                        log: segment.log,
                        number: segment.number + 1,
                    };
                    self.has_later(&next, BLOCK_BYTES as u64)?
                }
                None => false,
            };
        if follows {
            let what = "the frame there is damaged: valid frames follow";
            return Err(damaged(at, offset, what));
        }
        Ok(())
    }

    /// Checks that the segment before the first one has its last frame, if its file still has that
    /// segment. Otherwise the files are of an earlier state, in which the first segment had no frames.
    fn check_before(
        &self,
        file: &dyn StorageBackend,
        header: &SegmentHeader,
    ) -> Result<(), Damage> {
        let LogPlace {
            log,
            segment,
            first_frame,
            synced_frame,
        } = self.place;
        if !self.frames.is_empty() || header.segment >= segment || synced_frame + 1 != first_frame {
            return Ok(());
        }
        let places = BLOCK_BYTES as u64..file.len()?;
        let found = sector::find(file, log, places, |_, sector| match sector {
            Sector::Valid { sequence, .. } if sequence == synced_frame => Some(()),
            _ => None,
        })?;
        if found.is_none() && synced_frame > 0 {
            let what = format!(
                "the frame {synced_frame} is missing, which was synced: the file is of an earlier \
                 state, or it was damaged"
            );
            return Err(damaged(file_of(header.segment), BLOCK_BYTES as u64, &what));
        }
        Ok(())
    }

    fn has_later(&self, segment: &LogSegment<'_>, offset: u64) -> io::Result<bool> {
        let sequence = match segment.version {
            // A part of the frame that was not synced is not a later one.
            LogVersion::Sectors => self.expected(),
            LogVersion::Blocks => self.previous.as_ref().map_or(0, |it| it.header.sequence),
        };
        segment.has_later(offset, sequence)
    }
}

/// Whether a frame was written after the one before it.
fn follows(header: &FrameHeader, previous: &FrameShape) -> bool {
    let chained = match previous.version {
        LogVersion::Sectors => header.previous == previous.checksum,
        LogVersion::Blocks => true,
    };
    chained
        && header.sequence == previous.header.sequence + 1
        && header.base == previous.header.last
}
