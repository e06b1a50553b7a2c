//! Checks the files of a log that the redb file does not name.
//!
//! A store that was closed has no log. A crash can leave the files of its last log, before they
//! were removed: redb then has all of their commits. It can also leave the files of a log that was
//! not begun: they have no frames. Any other log belongs to a later state, or to another store, so
//! it is not removed.

use redb::StorageBackend;

use super::recovery::{BlockContent, Damage, LogSegment, damaged};
use super::{BLOCK_BYTES, LOG_NAMES, LogFiles};

/// Checks that redb, whose last commit is `last_commit`, has every commit of the log's files.
/// Changes nothing.
///
/// # Errors
/// `Damaged`: a valid frame has later commits. The message names the file and the offset.
pub(crate) fn check_ended(files: &dyn LogFiles, last_commit: u64) -> Result<(), Damage> {
    for at in 0..LOG_NAMES.len() {
        if let Some(file) = files.open(at)? {
            check_file(&*file, at, last_commit)?;
        }
    }
    Ok(())
}

fn check_file(file: &dyn StorageBackend, at: usize, last_commit: u64) -> Result<(), Damage> {
    let bytes = file.len()?;
    let header = LogSegment::unnumbered(file, bytes).header()?;
    let mut offset = BLOCK_BYTES as u64;
    while offset + BLOCK_BYTES as u64 <= bytes {
        let found = LogSegment::unnumbered(file, bytes).frame_of_any_log(offset)?;
        let Some(BlockContent::Frame {
            header: frame,
            bytes,
            ..
        }) = found
        else {
            offset += BLOCK_BYTES as u64;
            continue;
        };
        // Clients choose the body of a frame, but not the random number of the log.
        let belongs = header.is_none_or(|header| header.log == frame.log);
        if !belongs {
            offset += BLOCK_BYTES as u64;
            continue;
        }
        if frame.last > last_commit {
            let last = frame.last;
            let what = format!(
                "the log has the commits up to {last}, but the store ends at commit {last_commit} \
                 and does not name this log: one of them is from another state of the store, or \
                 from another store"
            );
            return Err(damaged(at, offset, &what));
        }
        offset += bytes;
    }
    Ok(())
}
