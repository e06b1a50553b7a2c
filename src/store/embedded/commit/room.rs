//! What writers wait for before they begin: the write lock, and room for their changes.

use tokio::sync::OwnedMutexGuard;

use super::group::Room;
use super::{Committer, WriteLock};
use crate::error::Result;

impl Committer {
    /// Waits for the write lock, and until there is room for the changes of a transaction. If a
    /// checkpoint is due, freezes the changes in memory for it.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store has failed, or the disk is full.
    pub(crate) async fn writer_with_room(&self) -> Result<OwnedMutexGuard<WriteLock>> {
        loop {
            let writer = self.writer_with_space().await?;
            loop {
                let freed = self.freed.notified();
                self.progress.check()?;
                self.check_space()?;
                match self.room() {
                    Room::Free => return Ok(writer),
                    // Those who wait for the lock keep their order.
                    Room::Full => freed.await,
                    Room::FullWithoutLog => {
                        drop(writer);
                        freed.await;
                        break;
                    }
                }
            }
        }
    }

    /// The caller holds the write lock.
    fn room(&self) -> Room {
        let mut group = self.group();
        if group.freeze_if_due(&self.options) {
            self.checkpointer.wake();
        }
        group.room(&self.options)
    }
}
