//! Where a log begins according to its own files, if the file of the store that would say it is lost.

use std::io;

use redb::StorageBackend;

use super::frame::{FrameHeader, FrameShape, LogVersion, SegmentHeader};
use super::read_segment::{block, header};
use super::sector::{SECTOR_BYTES, Sector};
use super::{BLOCK_BYTES, LOG_NAMES, LogFiles, LogPlace};

/// The place of the first frame that the files have, and the number of the commit before it. `None` if
/// they have no valid frame at the begin of a segment. If the files are of different logs, the one with
/// the latest commits counts.
///
/// # Errors
/// Errors of the files.
pub(crate) fn place_in_files(files: &dyn LogFiles) -> io::Result<Option<(LogPlace, u64)>> {
    let mut found: Vec<FrameHeader> = Vec::new();
    for at in 0..LOG_NAMES.len() {
        if let Some(file) = files.open(at)? {
            found.extend(first_frame(&*file)?);
        }
    }
    let Some(latest) = found.iter().max_by_key(|frame| frame.last).copied() else {
        return Ok(None);
    };
    let same = found.iter().filter(|frame| frame.log == latest.log);
    let first = same.min_by_key(|frame| frame.sequence);
    Ok(first.map(|frame| {
        let place = LogPlace {
            log: frame.log,
            segment: frame.segment,
            first_frame: frame.sequence,
            synced_frame: 0,
        };
        (place, frame.base)
    }))
}

/// The header of the first frame of the segment that a file has.
fn first_frame(file: &dyn StorageBackend) -> io::Result<Option<FrameHeader>> {
    let bytes = file.len()?;
    let Some(segment) = header(file, bytes)? else {
        return Ok(None);
    };
    let offset = BLOCK_BYTES as u64;
    if bytes < 2 * offset {
        return Ok(None);
    }
    let first = block(file, offset)?;
    Ok(frame_of(&segment, offset, &first)
        .filter(|frame| (frame.log, frame.segment) == (segment.log, segment.segment)))
}

fn frame_of(segment: &SegmentHeader, offset: u64, first: &[u8]) -> Option<FrameHeader> {
    let shape = match segment.version {
        LogVersion::Blocks => FrameShape::read(first, segment.version),
        LogVersion::Sectors => match Sector::read(segment.log, offset, &first[..SECTOR_BYTES]) {
            Sector::Valid { payload, .. } => FrameShape::read(payload, segment.version),
            Sector::Zero | Sector::Invalid => None,
        },
    };
    shape.map(|shape| shape.header)
}
