//! How far the store is synced, and whether it still serves.

use tokio::sync::watch;

use super::tables::fault;
use crate::error::{Error, ErrorKind, Result};

/// Shared by all that write, sync, or read.
#[derive(Clone)]
pub(super) struct Progress(watch::Sender<ProgressState>);

#[derive(Clone)]
struct ProgressState {
    synced: u64,
    failure: Option<Error>,
}

impl Progress {
    pub(super) fn new(synced: u64) -> Self {
        let failure = None;
        Self(watch::Sender::new(ProgressState { synced, failure }))
    }

    /// Fails when the store has.
    pub(super) fn check(&self) -> Result<()> {
        match &self.0.borrow().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    pub(super) fn is_synced(&self, commit: u64) -> bool {
        self.0.borrow().synced >= commit
    }

    /// The commits up to this number are synced, and published. Two threads report theirs (the one
    /// that syncs and the one that reclaims) after they release the right to write, so an earlier
    /// commit may be reported after a later one.
    pub(super) fn advance(&self, commit: u64) {
        self.0
            .send_modify(|state| state.synced = state.synced.max(commit));
    }

    /// Returns when the commit of this number is synced.
    pub(super) async fn reaches(&self, commit: u64) -> Result<()> {
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

    /// Stops answering for good, because of a fault.
    pub(super) fn fail(&self, detail: &str) -> Error {
        self.end(Error::unavailable(
            "the store has failed and takes no more requests until it is opened anew",
            detail,
        ))
    }

    /// Stops answering for good, because nobody syncs any more.
    pub(super) fn close(&self) {
        self.end(Error::new(ErrorKind::Unavailable, "the store is closed"));
    }

    fn end(&self, failure: Error) -> Error {
        self.0.send_modify(|state| {
            state.failure.get_or_insert_with(|| failure.clone());
        });
        failure
    }

    /// What a request is told of a fault. After one of input or output redb answers nothing any
    /// more, so that is the store's end.
    pub(super) fn fault(&self, error: impl Into<redb::Error>) -> Error {
        match error.into() {
            error @ (redb::Error::Io(_)
            | redb::Error::PreviousIo
            | redb::Error::LockPoisoned(_)) => self.fail(&error.to_string()),
            error => fault(error),
        }
    }

    /// Returns when the store has failed.
    pub(super) async fn failed(&self) -> Error {
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
