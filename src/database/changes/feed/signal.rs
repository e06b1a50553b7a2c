//! Tells a subscriber that it should look for changes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::error::{Error, Result};
use crate::key::Version;

/// Wakes a subscriber.
#[derive(Default)]
pub(super) struct Signal {
    notify: Notify,
    state: Mutex<SignalState>,
}

#[derive(Default)]
struct SignalState {
    /// The first commit of which the subscriber was notified since it last took changes.
    first: Option<Version>,
    /// The subscriber finds all commits up to this version when it looks for changes.
    told_to: Option<Version>,
    /// Why the subscription has ended.
    ended: Option<Error>,
}

impl Signal {
    /// Notifies the subscriber of a commit. It finds this one and all others up to `read_to` when it
    /// looks for changes, so it is notified once for all of them.
    pub(super) fn changed(&self, version: Version, read_to: Version) {
        let mut state = self.state();
        if state.told_to >= Some(read_to) {
            return;
        }
        state.told_to = Some(read_to);
        if state.first.is_none() {
            state.first = Some(version);
            self.notify.notify_one();
        }
    }

    /// The subscriber has found all commits that it was notified of.
    pub(super) fn forget(&self) {
        self.state().first = None;
    }

    /// Ends the subscription.
    pub(super) fn end(&self, error: &Error) {
        self.state().ended.get_or_insert_with(|| error.clone());
        self.notify.notify_one();
    }

    /// Waits for a notification, and returns the first commit that it is about.
    ///
    /// # Errors
    /// Why the subscription has ended.
    pub(super) async fn notified(&self) -> Result<Version> {
        loop {
            {
                let mut state = self.state();
                if let Some(ended) = &state.ended {
                    return Err(ended.clone());
                }
                if let Some(first) = state.first.take() {
                    return Ok(first);
                }
            }
            self.notify.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
