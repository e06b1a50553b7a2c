//! Makes a group of commits durable: by one frame of the log, or without a log by a checkpoint.

use std::thread;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::commit::group::log_place;
use super::commit::{Committer, Woken};
use super::log::{Frame, LogWriter};
use super::tables::fault;
use crate::error::Result;

/// Syncs a group of commits with one frame after another, and reuses the memory.
pub(super) struct GroupSync {
    spare: Option<Frame>,
    /// Whether the last group had several commits.
    had_several: bool,
    /// Groups that were synced by a checkpoint.
    groups: u64,
    /// Whether a group was written to the log since the last time without commits.
    wrote: bool,
}

impl GroupSync {
    pub(super) fn new() -> Self {
        Self {
            spare: None,
            had_several: false,
            groups: 0,
            wrote: false,
        }
    }

    /// Syncs and publishes the commits so far.
    pub(super) fn sync(
        &mut self,
        committer: &Committer,
        runtime: &Runtime,
        why: Woken,
    ) -> Result<()> {
        if why == Woken::Idle {
            if std::mem::take(&mut self.wrote) {
                committer.checkpointer.wake();
            }
            return Ok(());
        }
        let log = committer.group().log.clone();
        match log {
            Some(log) => self.with_log(committer, &log),
            None => self.by_checkpoint(committer, runtime),
        }
    }

    pub(super) fn with_log(&mut self, committer: &Committer, log: &LogWriter) -> Result<()> {
        if self.had_several {
            // Threads that are ready may have more commits for this sync. On an idle processor nothing waits.
            thread::yield_now();
        }
        let (mut frame, view) = {
            let mut group = committer.group();
            if group.frame.is_empty() {
                return Ok(());
            }
            let next = self.spare.take().unwrap_or_else(Frame::new);
            let frame = std::mem::replace(&mut group.frame, next);
            log.announce(frame.record_bytes());
            (frame, group.view.clone())
        };
        let bytes = frame.record_bytes();
        let begun = Instant::now();
        log.append(&mut frame, view.last_commit).map_err(fault)?;
        let took = begun.elapsed();
        self.spare = Some(frame);
        self.had_several = !committer.progress.is_synced(view.last_commit - 1);
        self.wrote = true;
        if let Some(observer) = committer.observer.get() {
            observer.log_synced(took, bytes);
            observer.log_resized(log.bytes());
        }
        committer.publish(view);
        committer.freed.notify_waiters();
        let group = committer.group();
        // After a checkpoint, its thread looks whether another one is due.
        if !group.is_frozen() && group.is_checkpoint_due(&committer.options) {
            committer.checkpointer.wake();
        }
        Ok(())
    }

    /// Syncs the commits by a checkpoint. From the second group on, begins a log if the store may
    /// have one.
    fn by_checkpoint(&mut self, committer: &Committer, runtime: &Runtime) -> Result<()> {
        let Some(writer) = committer.writer_unless_closed(runtime) else {
            return Ok(());
        };
        if committer.progress.is_synced(writer.last_commit) {
            return Ok(());
        }
        let log = committer.log.as_ref().filter(|log| log.is_enabled());
        let begun = match log {
            Some(log) if self.groups > 0 => {
                let base = committer.group().view.base().last_commit;
                log.begin(base, writer.last_commit)
            }
            _ => None,
        };
        self.groups += u64::from(log.is_some());
        let place = log_place(begun.as_deref());
        runtime.block_on(committer.write_all(place))?;
        committer.group().log = begun;
        Ok(())
    }
}
