//! The state that writers, readers and the sync thread share: the last synced commit, and the
//! failure of the store.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, OnceLock};

use tokio::sync::{Notify, oneshot};

use super::super::background::lock;
use super::super::tables::fault;
use crate::error::{Error, ErrorKind, Result};

/// A shared handle to the state.
#[derive(Clone)]
pub(crate) struct Progress(Arc<ProgressState>);

struct ProgressState {
    synced: AtomicU64,
    failure: OnceLock<Error>,
    failed: Notify,
    /// Those that wait, with their commits. A sync wakes those whose commits it synced, and no others.
    waiting: Mutex<Vec<(u64, oneshot::Sender<()>)>>,
}

impl Progress {
    pub(crate) fn new(synced: u64) -> Self {
        Self(Arc::new(ProgressState {
            synced: AtomicU64::new(synced),
            failure: OnceLock::new(),
            failed: Notify::new(),
            waiting: Mutex::default(),
        }))
    }

    /// Fails if the store has failed.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.failure.get() {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    pub(crate) fn is_synced(&self, commit: u64) -> bool {
        self.0.synced.load(Acquire) >= commit
    }

    /// Records that the commits up to this number are synced and published. The sync thread and the
    /// reclaim thread call it after they release the write lock, so an earlier commit may be
    /// recorded after a later one.
    pub(crate) fn advance(&self, commit: u64) {
        let woken: Vec<_> = {
            let mut waiting = lock(&self.0.waiting);
            let synced = self.0.synced.fetch_max(commit, Release).max(commit);
            waiting
                .extract_if(.., |(commit, _)| *commit <= synced)
                .collect()
        };
        wake(woken);
    }

    /// Waits until the commit is synced.
    pub(crate) async fn reaches(&self, commit: u64) -> Result<()> {
        if let Some(woken) = self.wait_for(commit) {
            let _ended = woken.await;
        }
        if self.is_synced(commit) {
            return Ok(());
        }
        self.check()
    }

    /// Resolves when the commit is synced or the store has failed. `None` if that is so already.
    fn wait_for(&self, commit: u64) -> Option<oneshot::Receiver<()>> {
        // Both are set before those that wait are taken.
        let mut waiting = lock(&self.0.waiting);
        if self.is_synced(commit) || self.0.failure.get().is_some() {
            return None;
        }
        if waiting.len() == waiting.capacity() {
            // While a sync takes long, those that gave up do not add up.
            waiting.retain(|(_, waker)| !waker.is_closed());
        }
        let (waker, woken) = oneshot::channel();
        waiting.push((commit, waker));
        Some(woken)
    }

    /// Fails the store permanently because of a fault.
    pub(crate) fn fail(&self, detail: &str) -> Error {
        self.end(Error::unavailable(
            "the store has failed and rejects all requests until it is reopened",
            detail,
        ))
    }

    /// Fails the store permanently because it is closed and its sync thread has ended.
    pub(crate) fn close(&self) {
        self.end(Error::new(ErrorKind::Unavailable, "the store is closed"));
    }

    fn end(&self, failure: Error) -> Error {
        self.0.failure.get_or_init(|| failure.clone());
        wake(std::mem::take(&mut *lock(&self.0.waiting)));
        self.0.failed.notify_waiters();
        failure
    }

    /// Converts a redb error. redb stops working after an I/O error, so such an error fails the
    /// store permanently.
    pub(crate) fn fault(&self, error: impl Into<redb::Error>) -> Error {
        match error.into() {
            error @ (redb::Error::Io(_)
            | redb::Error::PreviousIo
            | redb::Error::LockPoisoned(_)) => self.fail(&error.to_string()),
            error => fault(error),
        }
    }

    /// Waits until the store has failed.
    pub(crate) async fn failed(&self) -> Error {
        loop {
            let failed = self.0.failed.notified();
            if let Some(failure) = self.0.failure.get() {
                return failure.clone();
            }
            failed.await;
        }
    }
}

fn wake(waiting: Vec<(u64, oneshot::Sender<()>)>) {
    for (_, waker) in waiting {
        // One that no longer waits has dropped its end.
        let _sent = waker.send(());
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::poll;

    use super::*;

    #[test]
    fn an_earlier_commit_reported_late_does_not_hide_a_later_one() {
        let progress = Progress::new(0);
        progress.advance(2);
        progress.advance(1);
        assert!(progress.is_synced(2));
    }

    #[tokio::test]
    async fn a_sync_ends_the_waits_for_its_commits_and_no_others() {
        let progress = Progress::new(0);
        let (mut first, mut second) = (pin!(progress.reaches(1)), pin!(progress.reaches(2)));
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        progress.advance(1);
        first.await.expect("synced");
        assert!(poll!(&mut second).is_pending());
        assert_eq!(lock(&progress.0.waiting).len(), 1);
        progress.advance(3);
        second.await.expect("synced");
        progress.reaches(3).await.expect("synced");
    }

    #[test]
    fn waits_that_were_given_up_do_not_add_up() {
        let progress = Progress::new(0);
        for _ in 0..10_000 {
            drop(progress.wait_for(1));
        }
        assert!(lock(&progress.0.waiting).len() < 10);
    }

    #[tokio::test]
    async fn a_failure_ends_the_waits_for_what_was_not_synced() {
        let progress = Progress::new(1);
        let (mut waits, mut failed) = (pin!(progress.reaches(2)), pin!(progress.failed()));
        assert!(poll!(&mut waits).is_pending() && poll!(&mut failed).is_pending());
        progress.advance(1);
        progress.fail("broken");
        assert!(waits.await.is_err() && progress.check().is_err());
        progress.reaches(1).await.expect("synced before");
        assert!(progress.reaches(2).await.is_err());
        assert_eq!(
            failed.await.to_string(),
            progress.failed().await.to_string()
        );
    }
}
