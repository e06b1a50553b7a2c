//! What writers wait for before they begin: their pace, the write lock, and room for their changes.

use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::OwnedMutexGuard;
use tokio::time::sleep_until;

use super::group::{CommitGroup, Room};
use super::{Committer, WriteLock};
use crate::error::Result;
use crate::store::{EngineObserver, WriteWait};

/// A wait of a writer, which is reported when it ends, also if the writer gives up.
struct Wait<'o> {
    observer: Option<&'o dyn EngineObserver>,
    place: WriteWait,
    begun: Instant,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(observer) = self.observer {
            observer.waited(self.place, self.begun.elapsed());
        }
    }
}

impl Committer {
    /// Waits for the pace, for the write lock, and until there is room for the changes of a
    /// transaction. If a checkpoint is due, freezes the changes in memory for it.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store has failed, or the disk is full.
    pub(crate) async fn writer_with_room(&self) -> Result<OwnedMutexGuard<WriteLock>> {
        if self.is_paced.load(Ordering::Relaxed) {
            self.waits(WriteWait::Pace, self.pace()).await;
        }
        loop {
            let writer = match self.writer.clone().try_lock_owned() {
                Ok(writer) => writer,
                Err(_) => {
                    self.waits(WriteWait::Lock, self.writer_with_space())
                        .await?
                }
            };
            loop {
                let freed = self.freed.notified();
                self.progress.check()?;
                self.check_space()?;
                match self.room() {
                    Room::Free => return Ok(writer),
                    // Those who wait for the lock keep their order.
                    Room::MemoryFull => self.waits(WriteWait::Memory, freed).await,
                    Room::LogFull => self.waits(WriteWait::Log, freed).await,
                    Room::FullWithoutLog => {
                        drop(writer);
                        self.waits(WriteWait::Memory, freed).await;
                        break;
                    }
                }
            }
        }
    }

    /// Waits, and reports for how long.
    pub(crate) async fn waits<T>(&self, place: WriteWait, wait: impl Future<Output = T>) -> T {
        let _reported = Wait {
            observer: self.observer.get().map(|observer| &**observer),
            place,
            begun: Instant::now(),
        };
        wait.await
    }

    /// The caller holds the write lock.
    fn room(&self) -> Room {
        let mut group = self.group();
        if group.freeze_if_due(&self.options) {
            self.checkpointer.wake();
        }
        self.set_paced(&group);
        group.room(&self.options)
    }

    /// Records whether the next writers are delayed.
    pub(crate) fn set_paced(&self, group: &CommitGroup) {
        let is_paced = group.pace(&self.options).is_some();
        self.is_paced.store(is_paced, Ordering::Relaxed);
    }

    /// Waits until it is this writer's turn. Writers are delayed in the order in which they came.
    async fn pace(&self) {
        let mut next = self.next_begin.lock().await;
        loop {
            let freed = self.freed.notified();
            let Some((bytes, rate)) = self.group().pace(&self.options) else {
                return;
            };
            let Some(begins) = next.begin(Instant::now(), bytes, rate) else {
                return;
            };
            if self.progress.check().is_err() || self.check_space().is_err() {
                return;
            }
            tokio::select! {
                () = sleep_until(begins.into()) => {}
                () = freed => {}
            }
        }
    }
}
