//! Checks the files of a log that the redb file does not name.
//!
//! A store that was closed has no log. A crash can leave the files of its last log, before they
//! were removed: redb then has all of their commits. It can also leave the files of a log that was
//! not begun: they have no frames. Any other log belongs to a later state, or to another store, so
//! it is not removed.

use redb::StorageBackend;

use super::damage::{Damage, damaged};
use super::frame::{FrameShape, LogVersion};
use super::read_segment::{LogSegment, NextFrame, block, header};
use super::{BLOCK_BYTES, LOG_NAMES, LogFiles};

/// Checks that redb, whose last commit is `last_commit`, has every commit of the log's files.
/// Changes nothing.
///
/// # Errors
/// `Damaged`: a frame has later commits. The message names the file and the offset.
pub(crate) fn check_leftover(files: &dyn LogFiles, last_commit: u64) -> Result<(), Damage> {
    for at in 0..LOG_NAMES.len() {
        if let Some(file) = files.open(at)? {
            check_file(&*file, at, last_commit)?;
        }
    }
    Ok(())
}

fn check_file(file: &dyn StorageBackend, at: usize, last_commit: u64) -> Result<(), Damage> {
    let bytes = file.len()?;
    let header = header(file, bytes)?;
    // Without frames, too, it is of a later state if it began after more commits.
    if let Some(header) = header.filter(|header| header.base > last_commit) {
        return Err(of_another_state(at, 0, header.base, last_commit));
    }
    let mut offset = BLOCK_BYTES as u64;
    while offset + BLOCK_BYTES as u64 <= bytes {
        let first = block(file, offset)?;
        let mut found = BLOCK_BYTES as u64;
        for version in [LogVersion::Sectors, LogVersion::Blocks] {
            let Some(shape) = FrameShape::read(&first, version) else {
                continue;
            };
            // Clients choose the body of a frame, but not the random number of the log.
            let belongs =
                header.is_none_or(|it| (it.log, it.version) == (shape.header.log, version));
            if !belongs {
                continue;
            }
            let later = shape.header.last > last_commit;
            let segment = LogSegment {
                file,
                at,
                bytes,
                version,
                log: shape.header.log,
                number: shape.header.segment,
            };
            match segment.next(offset, shape.header.sequence, 0) {
                Ok(NextFrame::Frame(shape, _)) if later => {
                    return Err(of_another_state(at, offset, shape.header.last, last_commit));
                }
                Ok(NextFrame::Frame(shape, _)) => {
                    found = shape.bytes().unwrap_or(found);
                    break;
                }
                // If the header of the segment is damaged, other bytes can look like a frame.
                Err(Damage::Damaged(what)) if later && header.is_some() => {
                    return Err(Damage::Damaged(what));
                }
                Err(Damage::Io(error)) => return Err(Damage::Io(error)),
                Ok(NextFrame::End { .. }) | Err(Damage::Damaged(_)) => {}
            }
        }
        offset += found;
    }
    Ok(())
}

fn of_another_state(at: usize, offset: u64, last: u64, last_commit: u64) -> Damage {
    let what = format!(
        "the log has the commits up to {last}, but the store ends at commit {last_commit} and does \
         not name this log: one of them is from another state of the store, or from another store"
    );
    damaged(at, offset, &what)
}
