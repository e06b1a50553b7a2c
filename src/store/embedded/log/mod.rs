//! The write-ahead log: makes commits durable with one sequential write and one sync.
//!
//! redb is a copy-on-write tree. A durable commit of it writes every page that changed, and syncs
//! twice. So commits are written to memory and to the log, with one sync. From time to time a
//! *checkpoint* (`checkpoint.rs`) writes their changes to redb in one durable commit; the log before it
//! is then free.
//!
//! **Frames.** The commits that one sync covers are one frame ([`frame`], [`record`]): a header with
//! a checksum, then the record of each commit. A frame begins at a block, so writing it never
//! touches a block of an earlier frame. It is written only after the sync of the previous frame
//! succeeded. So a crash can leave only the last frame incomplete. In a file, frames are stored in
//! sectors, and each has the number of its frame and a checksum ([`sector`]). So a frame that was not
//! synced can be told from one that was damaged. Each frame has the checksum of the one before.
//!
//! **Segments.** A log is a sequence of segments, numbered from 1. Segment *n* is in file *n* mod 2
//! ([`files`]). The header of a segment is synced before a frame in the segment before it says that
//! the log continues there. When a checkpoint has freed a segment, its file is used for the next
//! one ([`writer`]). Space is allocated before a commit is accepted, so a full disk rejects
//! transactions and does not fail the store.
//!
//! **Logs.** Each opening of a store begins a new log with a random number. The table `engine` of
//! the redb file has the number of the log, the first segment that may have commits that redb does
//! not have, and the last frame that was synced ([`place`]). So files of another log, of an older
//! state of the same store, or of another store are recognized. A store that is closed has no log.
//! Files of a log that redb does not name are removed only if redb has all of their commits
//! ([`leftover_files`]).
//!
//! **Recovery.** The frames are read from the first segment on ([`recovery`], [`read_segment`]). The log
//! ends before the first frame that was not synced. If a frame is damaged, or one that was synced is
//! missing, the store is refused. All commits that redb does not have are applied to it, and made
//! durable by one commit that also ends the log. A crash before that commit changes nothing, so
//! recovery can be repeated.

mod damage;
mod files;
mod found;
mod frame;
mod leftover_files;
mod place;
mod read_segment;
mod record;
mod recovery;
mod replay;
mod sector;
mod store_log;
mod writer;

pub(super) use damage::Damage;
pub(super) use files::LogDirectory;
pub use files::{LOG_NAMES, LogFiles};
pub(super) use found::place_in_files;
pub(super) use leftover_files::check_leftover;
pub(super) use place::LogPlace;
pub(super) use record::{Commit, bytes_max};
pub(super) use recovery::Recovery;
pub(super) use replay::{error_of, replay};
pub(super) use store_log::{StoreLog, describe};
pub(super) use writer::{Frame, LogWriter};

/// Frames and headers begin at a multiple of this, the size of a page of the system's cache and of
/// the sectors of disks.
const BLOCK_BYTES: usize = 4096;

/// The file of a segment.
fn file_of(segment: u64) -> usize {
    usize::from(segment % 2 == 1)
}
