//! The task that reads new commits, adds them to the recent ones, and notifies the subscribers.
//!
//! The commits are added before anybody is notified. So a subscriber that is notified of the first
//! of them that it wants finds all of them. It is notified once, however many changes they have. The
//! feed is locked for a bounded number of commits or subscribers at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::time::sleep;

use super::follow_errors::expired;
use super::patch_reader::LoggedPatches;
use super::pause::Pause;
use super::shared_commits::SharedCommits;
use super::signal::Signal;
use crate::budget::{Sliced, turn};
use crate::database::changes::interest::Interest;
use crate::database::changes::read_change_log::{LoggedCommit, Start, read_commits};
use crate::database::changes::settings::ChangeSettings;
use crate::database::changes::subscribers::{SubscriberWalk, Subscribers};
use crate::database::changes::write_commit_entry::now;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::limits::{CHANGES_POLL_TIME_MAX, CHANGES_RECENT_BYTES_MAX};
use crate::store::Store;

/// What the subscribers of a process share.
pub(super) struct FeedParts {
    pub(super) store: Arc<dyn Store>,
    pub(super) commits: SharedCommits,
    pub(super) patches: Arc<LoggedPatches>,
    state: Mutex<FeedState>,
    pub(super) observer: OnceLock<Arc<dyn ChangesObserver>>,
}

/// Records the progress of a server that follows the change log, and the size of the log.
pub trait ChangesObserver: Send + Sync {
    /// Commits have been read for the subscribers, and `recent_bytes` of them are in memory. `lag` is the
    /// time since the first of them, by the clocks of the servers.
    fn commits_read(&self, commits: usize, lag: Duration, recent_bytes: usize);

    /// The stored log has `bytes` bytes now, keys included. On a cluster this is an estimate.
    fn log_measured(&self, bytes: u64);
}

#[derive(Default)]
pub(super) struct FeedState {
    pub(super) subscribers: Subscribers<Signal>,
    /// The number of the next subscriber.
    next: u64,
    /// The task that reads new commits, if it runs.
    pub(super) tail: Option<CommitTail>,
}

/// The most commits that are added while the feed is locked.
const ADDED_AT_ONCE: usize = 64;

/// The progress of the task that reads new commits.
pub(super) struct CommitTail {
    /// Distinguishes tasks.
    pub(super) number: u64,
    /// The recent commits, in order.
    pub(super) recent: VecDeque<Arc<LoggedCommit>>,
    recent_bytes: usize,
    /// `recent` has all commits after this version.
    pub(super) after: Version,
    /// All commits up to this version have been read.
    pub(super) read_to: Version,
}

impl CommitTail {
    /// A task that has read all commits up to a version.
    pub(super) fn new(number: u64, version: Version) -> Self {
        Self {
            number,
            recent: VecDeque::new(),
            recent_bytes: 0,
            after: version,
            read_to: version,
        }
    }

    /// Adds a commit. The oldest ones past the limit are moved to `dropped`.
    fn push(&mut self, commit: Arc<LoggedCommit>, dropped: &mut Vec<Arc<LoggedCommit>>) {
        self.recent_bytes += commit.bytes;
        self.recent.push_back(commit);
        while self.recent_bytes > CHANGES_RECENT_BYTES_MAX {
            let Some(oldest) = self.recent.pop_front() else {
                return;
            };
            self.recent_bytes -= oldest.bytes;
            self.after = oldest.version;
            dropped.push(oldest);
        }
    }
}

impl FeedState {
    /// Ends the task and all subscriptions. The caller notifies the subscribers, without the lock.
    pub(super) fn end(&mut self) -> Subscribers<Signal> {
        self.tail = None;
        std::mem::take(&mut self.subscribers)
    }

    /// The task with this number, if it is the current one.
    pub(super) fn tail(&mut self, number: u64) -> Option<&mut CommitTail> {
        self.tail.as_mut().filter(|tail| tail.number == number)
    }
}

impl FeedParts {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            patches: Arc::new(LoggedPatches::new(store.clone())),
            store,
            commits: SharedCommits::default(),
            state: Mutex::default(),
            observer: OnceLock::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, FeedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a subscriber, and starts the task if it does not run.
    pub(super) fn add(
        self: &Arc<Self>,
        interest: &Interest,
        signal: &Arc<Signal>,
        version: Version,
    ) -> u64 {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.subscribers.add(interest, number, signal);
        if state.tail.is_none() {
            state.tail = Some(CommitTail::new(number, version));
            tokio::spawn(Sliced::new(run(Arc::downgrade(self), number)));
        }
        number
    }

    /// Reads the next commits and notifies subscribers. Returns whether there were any, or `None` if
    /// the task ends.
    async fn poll(&self, tail: u64, read_to: Version) -> Result<Option<bool>> {
        let snapshot = self.store.snapshot().await?;
        let newest = snapshot.version().await?;
        let page = read_commits(&*snapshot, Start::After(read_to)).await?;
        if page.horizon > read_to {
            let error = if ChangeSettings::read(&*snapshot)
                .await?
                .is_some_and(|settings| settings.is_on())
            {
                expired()
            } else {
                Error::new(ErrorKind::ChangesExpired, "the change log was switched off")
            };
            self.end(tail, &error).await;
            return Ok(None);
        }
        let any = !page.commits.is_empty();
        let last = page.commits.last().map(|commit| commit.version);
        let read_to = match last {
            Some(last) if !page.is_last => last,
            _ => newest.max(read_to),
        };
        let continues = self.publish(tail, page.commits, read_to).await;
        Ok(continues.then_some(any))
    }

    /// Adds commits to the recent ones and notifies subscribers. Returns whether the task continues.
    pub(super) async fn publish(
        &self,
        number: u64,
        commits: Vec<LoggedCommit>,
        read_to: Version,
    ) -> bool {
        let (count, first) = (commits.len(), commits.first().map(|commit| commit.time));
        let commits = self.commits.share(commits);
        for commits in commits.chunks(ADDED_AT_ONCE) {
            turn().await;
            if !self.push(number, commits) {
                return false;
            }
        }
        let Some(recent_bytes) = self.has_read_to(number, read_to) else {
            return false;
        };
        self.notify(&commits, read_to).await;
        if let (Some(observer), Some(first)) = (self.observer.get(), first) {
            let lag = Duration::from_millis(now().saturating_sub(first));
            observer.commits_read(count, lag, recent_bytes);
        }
        true
    }

    /// Adds commits to the recent ones. Returns whether the task continues.
    fn push(&self, number: u64, commits: &[Arc<LoggedCommit>]) -> bool {
        let mut dropped = Vec::new();
        {
            let mut state = self.state();
            let Some(tail) = state.tail(number) else {
                return false;
            };
            for commit in commits {
                tail.push(commit.clone(), &mut dropped);
            }
        }
        // They count from now on, because subscribers may hold them.
        for commit in dropped {
            if Arc::strong_count(&commit) > 1 {
                self.commits.count(&commit);
            }
        }
        true
    }

    /// Sets the version up to which all commits are among the recent ones. Returns the bytes of these.
    /// `None` if the task ends, because there is another one or there are no subscribers.
    fn has_read_to(&self, number: u64, read_to: Version) -> Option<usize> {
        let mut state = self.state();
        let is_followed = !state.subscribers.is_empty();
        let tail = state.tail(number)?;
        if !is_followed {
            state.tail = None;
            return None;
        }
        tail.read_to = read_to;
        Some(tail.recent_bytes)
    }

    /// Notifies the subscribers of commits, which are all up to `read_to`.
    async fn notify(&self, commits: &[Arc<LoggedCommit>], read_to: Version) {
        let mut walk = SubscriberWalk::default();
        for commit in commits {
            for change in &commit.changes {
                walk.visit(
                    change,
                    |range, most| self.state().subscribers.first(range, most),
                    |signal| signal.changed(commit.version, read_to),
                )
                .await;
            }
        }
    }

    /// Ends the task and all subscriptions, unless there is another task.
    pub(super) async fn end(&self, number: u64, error: &Error) {
        let subscribers = {
            let mut state = self.state();
            if state.tail(number).is_none() {
                return;
            }
            state.end()
        };
        for signal in subscribers.into_all() {
            turn().await;
            signal.end(error);
        }
    }
}

/// Reads new commits until there are no subscribers.
async fn run(parts: Weak<FeedParts>, number: u64) {
    let commits = parts.upgrade().and_then(|parts| parts.store.commits());
    let mut pause = Pause::new(commits);
    loop {
        let Some(parts) = parts.upgrade() else { return };
        let read_to = {
            let mut state = parts.state();
            match state.tail(number) {
                Some(tail) => tail.read_to,
                None => return,
            }
        };
        let polled = parts.poll(number, read_to).await;
        // A task that waits does not keep the store open.
        drop(parts);
        match polled {
            Ok(Some(any)) => pause.wait(any).await,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("the change log cannot be read, trying again: {error}");
                sleep(CHANGES_POLL_TIME_MAX).await;
            }
        }
    }
}
