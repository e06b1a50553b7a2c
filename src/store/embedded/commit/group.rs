//! The commits that wait for a sync, and the changes in memory: when these are written to redb, and
//! when writers wait.
//!
//! A checkpoint is due when a segment of the log has ended, or half of the bytes that may be in memory
//! are in the newer overlay. The next holder of the write lock then freezes the overlay and notes where
//! the log continues after it. So a checkpoint does not wait for the write lock behind writers, and
//! however many there are, the changes in memory and the log have a limit.

use std::sync::Arc;
use std::time::Instant;

use super::super::log::{Frame, LogPlace, LogWriter};
use super::super::options::EmbeddedOptions;
use super::super::tables::overlays::Layer;
use super::super::tables::view::{Base, View};
use super::super::tables::writes::WriteList;
use super::pace::{Backlog, Checkpointed};

/// Bytes of a change in an overlay, besides its key and its value.
const CHANGE_BYTES: usize = 16;
/// The rate of a checkpoint of fewer bytes says little.
const MEASURED_BYTES_MIN: usize = 1 << 20;
/// The mean size of transactions is over about so many of them.
const AVERAGED: usize = 16;

/// The commits that wait for the next sync, and the state after them.
pub(crate) struct CommitGroup {
    /// All commits so far.
    pub(crate) view: View,
    /// The log, once it has begun.
    pub(crate) log: Option<Arc<LogWriter>>,
    /// The commits, if there is a log.
    pub(crate) frame: Frame,
    /// Bytes of the changes in the newer overlay of the view.
    newer_bytes: usize,
    /// What is in the older overlay of the view.
    frozen: Option<Frozen>,
    /// The mean bytes of the last transactions.
    mean_bytes: usize,
    /// The rate of the last checkpoints in bytes per second.
    rate: Option<f64>,
}

/// Changes of memory that a checkpoint writes to redb.
#[derive(Clone, Copy)]
struct Frozen {
    /// The last commit among them.
    last_commit: u64,
    bytes: usize,
    /// The bytes of the log that were in use.
    log_bytes: u64,
    since: Instant,
    /// Where the commits after them are.
    place: LogPlace,
}

/// Whether a transaction can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// It can.
    Free,
    /// Too many changes are in memory.
    MemoryFull,
    /// The log is too long.
    LogFull,
    /// Too many changes are in memory, and they are written only when the sync thread gets the write
    /// lock, because there is no log.
    FullWithoutLog,
}

impl CommitGroup {
    pub(crate) fn new(view: View) -> Self {
        Self {
            view,
            log: None,
            frame: Frame::new(),
            newer_bytes: 0,
            frozen: None,
            mean_bytes: 0,
            rate: None,
        }
    }

    /// Makes the view of a transaction the latest one, and adds its writes. The caller holds the
    /// write lock.
    pub(crate) fn commit(&mut self, changed: View, last_commit: u64, writes: &WriteList) {
        self.view.commit(changed, last_commit);
        let bytes = writes.bytes() + writes.len() * CHANGE_BYTES;
        self.newer_bytes += bytes;
        self.mean_bytes = (self.mean_bytes * (AVERAGED - 1) + bytes) / AVERAGED;
        if self.log.is_some() {
            self.frame.push(last_commit, writes);
        }
    }

    /// Whether changes wait to be written to redb by a checkpoint.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Whether a checkpoint has to be made, now or after the one in progress.
    pub(crate) fn is_checkpoint_due(&self, options: &EmbeddedOptions) -> bool {
        self.log.as_ref().is_some_and(|log| {
            self.newer_bytes >= options.overlay_bytes_max / 2 || log.space().segment_ended
        })
    }

    /// Freezes the changes so far, unless others are still to be written. The commits after them are
    /// in the log at `place`. The caller holds the write lock.
    pub(crate) fn freeze(&mut self, place: LogPlace) {
        if self.frozen.is_none() {
            self.view.freeze();
            self.frozen = Some(Frozen {
                last_commit: self.view.last_commit,
                bytes: std::mem::take(&mut self.newer_bytes),
                log_bytes: self.log_bytes(),
                since: Instant::now(),
                place,
            });
        }
    }

    /// Freezes the changes so far if a checkpoint is due. Returns whether it did. The caller holds the
    /// write lock.
    pub(crate) fn freeze_if_due(&mut self, options: &EmbeddedOptions) -> bool {
        let freezes = self.frozen.is_none() && self.is_checkpoint_due(options);
        if freezes {
            self.freeze(log_place(self.log.as_deref()));
        }
        freezes
    }

    /// The frozen changes, the last commit among them, and where the commits after them are.
    pub(crate) fn frozen(&self) -> Option<(Layer, u64, LogPlace)> {
        let frozen = self.frozen?;
        Some((self.view.older(), frozen.last_commit, frozen.place))
    }

    /// Whether there is room for the changes of another transaction. The caller holds the write lock and
    /// has frozen the changes if a checkpoint is due.
    pub(crate) fn room(&self, options: &EmbeddedOptions) -> Room {
        let bytes = self.newer_bytes + self.frozen.map_or(0, |frozen| frozen.bytes);
        let is_full = bytes >= options.overlay_bytes_max;
        let Some(log) = &self.log else {
            return if is_full {
                Room::FullWithoutLog
            } else {
                Room::Free
            };
        };
        if is_full {
            return Room::MemoryFull;
        }
        // If nothing is in progress, only the next frame can end the segment.
        let progresses =
            self.is_frozen() || self.frame.record_bytes() > 0 || log.space().is_writing;
        if self.log_bytes() >= options.log_bytes_max && progresses {
            return Room::LogFull;
        }
        Room::Free
    }

    /// Replaces the base of the view by one that was just written.
    pub(crate) fn rebase(&mut self, base: &Arc<Base>) {
        self.view.rebase(base);
        if let Some(frozen) = self.frozen
            && frozen.last_commit <= base.last_commit
        {
            self.frozen = None;
            self.measure(&frozen);
        }
        if self.view.is_durable() {
            self.newer_bytes = 0;
        }
    }

    /// The bytes of the log that are in use, or will be.
    fn log_bytes(&self) -> u64 {
        let used = self.log.as_ref().map_or(0, |log| log.space().used);
        used + self.frame.record_bytes()
    }

    /// How fast the changes were written.
    fn measure(&mut self, written: &Frozen) {
        if written.bytes >= MEASURED_BYTES_MIN {
            let took = written.since.elapsed().as_secs_f64();
            let rate = float(written.bytes) / took.max(0.000_001);
            self.rate = Some(self.rate.map_or(rate, |before| f64::midpoint(before, rate)));
        }
    }

    /// The mean bytes of the last transactions, and how many bytes of transactions may begin in a
    /// second. `None` if there is no limit.
    pub(crate) fn pace(&self, options: &EmbeddedOptions) -> Option<(f64, f64)> {
        let shares = |bytes: usize, log_bytes: u64| {
            let log_bytes = usize::try_from(log_bytes).unwrap_or(usize::MAX);
            let log_bytes_max = usize::try_from(options.log_bytes_max).unwrap_or(usize::MAX);
            [
                float(bytes) / float(options.overlay_bytes_max),
                float(log_bytes) / float(log_bytes_max),
            ]
        };
        self.log.as_ref()?;
        let frozen_bytes = self.frozen.map_or(0, |frozen| frozen.bytes);
        let backlog = Backlog {
            frozen: self.frozen.map(|frozen| Checkpointed {
                bytes: float(frozen.bytes),
                shares: shares(frozen.bytes, frozen.log_bytes),
                elapsed: frozen.since.elapsed(),
            }),
            shares: shares(self.newer_bytes + frozen_bytes, self.log_bytes()),
            rate: self.rate,
        };
        Some((float(self.mean_bytes), backlog.pace()?))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rates need no more than 53 bits"
)]
fn float(bytes: usize) -> f64 {
    bytes as f64
}

/// Where the commits after a durable one of redb are.
pub(crate) fn log_place(log: Option<&LogWriter>) -> LogPlace {
    log.map(LogWriter::place).unwrap_or_default()
}
