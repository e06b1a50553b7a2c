//! The pause between two looks for new commits.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::limits::{CHANGES_POLL_TIME_MAX, CHANGES_POLL_TIME_MIN};

/// Waits for the next commits.
pub(super) struct Pause {
    /// Reports commits, if the engine can.
    commits: Option<watch::Receiver<u64>>,
    time: Duration,
}

/// Without commits, the task checks this often whether there are still subscribers.
const IDLE_TIME_MAX: Duration = Duration::from_secs(1);

impl Pause {
    pub(super) fn new(commits: Option<watch::Receiver<u64>>) -> Self {
        Self {
            commits,
            time: CHANGES_POLL_TIME_MIN,
        }
    }

    /// `any` says whether the last poll found commits.
    pub(super) async fn wait(&mut self, any: bool) {
        if let Some(commits) = &mut self.commits {
            // An error means that the store is closed, which the next poll reports.
            let _changed = timeout(IDLE_TIME_MAX, commits.changed()).await;
            return;
        }
        self.time = if any {
            CHANGES_POLL_TIME_MIN
        } else {
            (self.time * 2).min(CHANGES_POLL_TIME_MAX)
        };
        sleep(self.time).await;
    }
}
