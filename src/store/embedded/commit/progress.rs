//! The state that writers, readers and the sync thread share: the last synced commit, and the
//! failure of the store.

use tokio::sync::watch;

use super::super::tables::fault;
use crate::error::{Error, ErrorKind, Result};

/// A shared handle to the state.
#[derive(Clone)]
pub(crate) struct Progress(watch::Sender<ProgressState>);

#[derive(Clone)]
struct ProgressState {
    synced: u64,
    failure: Option<Error>,
}

impl Progress {
    pub(crate) fn new(synced: u64) -> Self {
        let failure = None;
        Self(watch::Sender::new(ProgressState { synced, failure }))
    }

    /// Fails if the store has failed.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.0.borrow().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    pub(crate) fn is_synced(&self, commit: u64) -> bool {
        self.0.borrow().synced >= commit
    }

    /// Records that the commits up to this number are synced and published. The sync thread and the
    /// reclaim thread call it after they release the write lock, so an earlier commit may be
    /// recorded after a later one.
    pub(crate) fn advance(&self, commit: u64) {
        self.0
            .send_modify(|state| state.synced = state.synced.max(commit));
    }

    /// Waits until the commit is synced.
    pub(crate) async fn reaches(&self, commit: u64) -> Result<()> {
        let mut progress = self.0.subscribe();
        let settled = progress
            .wait_for(|state| state.synced >= commit || state.failure.is_some())
            .await
            .map_err(fault)?;
        match &settled.failure {
            Some(failure) if settled.synced < commit => Err(failure.clone()),
            _ => Ok(()),
        }
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
        self.0.send_modify(|state| {
            state.failure.get_or_insert_with(|| failure.clone());
        });
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
        let mut progress = self.0.subscribe();
        let failed = progress.wait_for(|state| state.failure.is_some()).await;
        let failure = failed.ok().and_then(|state| state.failure.clone());
        failure.unwrap_or_else(|| fault("the store is closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_commit_reported_late_does_not_hide_a_later_one() {
        let progress = Progress::new(0);
        progress.advance(2);
        progress.advance(1);
        assert!(progress.is_synced(2));
    }
}
