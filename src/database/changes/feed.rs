//! Follows the change log for the subscribers of a server.
//!
//! One task reads new commits, once for all subscribers, while there are any. It keeps the recent
//! commits in memory and notifies the subscribers whose interest includes a change. Subscribers
//! then take the commits from memory at their own speed. A subscriber that is too slow, or that
//! resumes, reads the stored log instead, so no subscriber has a queue of its own, and none misses a
//! change or gets one twice.

mod follow_errors;
mod patch_reader;
pub(crate) mod patch_window;
mod pause;
pub(crate) mod shared_commits;
mod signal;
mod tail;
mod taken;

use std::sync::Arc;

use follow_errors::{expired, log_is_off, other_history};
use taken::TakenCommits;

use self::patch_window::{ChangePatch, PatchWindow};
use self::signal::Signal;
pub use self::tail::ChangesObserver;
use self::tail::FeedParts;
use super::change_cursor::{ChangeCursor, ChangePosition};
use super::history::Histories;
use super::interest::Interest;
use super::read_change_log::{LoggedCommit, Start};
use super::settings::{ChangeSettings, horizon_of};
use crate::budget::{Pool, count_steps, turn};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Family, Version};
use crate::limits::STEPS_PER_CHANGE;
use crate::store::Store;

/// The changes of a store, for the subscribers of this process.
#[derive(Clone)]
pub(crate) struct ChangeFeed(Arc<FeedParts>);

/// A commit with changes that a subscriber wants.
#[derive(Clone)]
pub struct FollowedChange {
    /// The commit.
    pub commit: Arc<LoggedCommit>,
    /// The position of the change in the commit.
    pub change: usize,
    /// The position after the change.
    pub cursor: ChangeCursor,
    /// The edits.
    pub patch: ChangePatch,
}

/// Where a subscriber begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowFrom {
    /// After all commits so far.
    Now,
    /// With the first commit in the log.
    Beginning,
    /// After this position.
    Cursor(ChangeCursor),
}

/// A subscriber.
pub struct ChangeFollower {
    feed: ChangeFeed,
    number: u64,
    interest: Interest,
    histories: Histories,
    position: ChangePosition,
    signal: Arc<Signal>,
    /// Commits that were taken but not yet returned in full.
    taken: TakenCommits,
    /// The number of changes of the first of them that were looked at.
    looked_at: usize,
    patches: Arc<PatchWindow>,
}

impl ChangeFeed {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(Arc::new(FeedParts::new(store)))
    }

    /// Counts the commits that followers hold in a pool of memory. Only the first one is used.
    pub(crate) fn count_in(&self, pool: Pool) {
        self.0.commits.count_in(pool);
    }

    /// Reports the progress to an observer. Only the first one is used.
    pub(crate) fn observe(&self, observer: Arc<dyn ChangesObserver>) {
        let _first = self.0.observer.set(observer);
    }

    /// Reports the bytes of the stored log to the observer.
    pub(crate) fn measured(&self, bytes: u64) {
        if let Some(observer) = self.0.observer.get() {
            observer.log_measured(bytes);
        }
    }

    /// Follows the changes from a position on.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the log is off, or the cursor belongs to another history. `CHANGES_EXPIRED`:
    /// the log no longer has all changes after the cursor. Errors of the store.
    pub(crate) async fn follow(
        &self,
        interest: Interest,
        from: FollowFrom,
    ) -> Result<ChangeFollower> {
        let snapshot = self.0.store.snapshot().await?;
        let settings = ChangeSettings::read(&*snapshot)
            .await?
            .filter(ChangeSettings::is_on)
            .ok_or_else(log_is_off)?;
        let histories = Histories::of(settings, &*snapshot);
        if let FollowFrom::Cursor(after) = &from {
            if after.history != histories.name(after.position.version) {
                return Err(other_history());
            }
            if after.position.version > snapshot.version().await? {
                return Err(other_history());
            }
        }
        let signal = Arc::new(Signal::default());
        let number = self.0.add(&interest, &signal, snapshot.version().await?);
        let mut follower = ChangeFollower {
            feed: self.clone(),
            number,
            interest,
            histories,
            position: ChangePosition::after(Version([0; 10])),
            signal,
            taken: TakenCommits::default(),
            looked_at: 0,
            patches: Arc::new(PatchWindow::new(&self.0.patches)),
        };
        // Only a snapshot that is taken after the subscriber was added has all earlier commits.
        follower.position = match from {
            FollowFrom::Cursor(after) => after.position,
            FollowFrom::Now => {
                ChangePosition::after(self.0.store.snapshot().await?.version().await?)
            }
            FollowFrom::Beginning => {
                let horizon = snapshot.get(&Family::ChangeHorizon.key()?).await?;
                ChangePosition::after(horizon_of(horizon.as_deref())?)
            }
        };
        Ok(follower)
    }

    /// Ends all subscriptions, because the server stops.
    pub(crate) fn stop(&self) {
        let error = Error::new(ErrorKind::Unavailable, "the server stops");
        let subscribers = self.0.state().end();
        for signal in subscribers.into_all() {
            signal.end(&error);
        }
    }
}

impl Drop for ChangeFollower {
    fn drop(&mut self) {
        self.taken.clear(&self.feed.0.commits);
        let mut state = self.feed.0.state();
        state.subscribers.remove(&self.interest, self.number);
        if state.subscribers.is_empty() {
            drop(state);
            self.feed.0.commits.forget_pages();
        }
    }
}

impl ChangeFollower {
    /// Waits until a change is wanted of which the subscriber was not yet notified. For subscribers
    /// that read the newest state and need no single changes.
    ///
    /// # Errors
    /// `CHANGES_EXPIRED`: the log was switched off, or is no longer complete.
    pub async fn changed(&self) -> Result<()> {
        self.signal.notified().await.map(|_| ())
    }

    /// The next change.
    ///
    /// # Errors
    /// `CHANGES_EXPIRED`: the log no longer has it. Errors of the store.
    pub async fn next(&mut self) -> Result<FollowedChange> {
        loop {
            if let Some(change) = self.take().await {
                return Ok(change);
            }
            match self.take_recent() {
                Recent::Taken => {}
                // Boxed, so that waiting subscribers take less memory.
                Recent::Gone => Box::pin(self.take_stored()).await?,
                Recent::NoneYet => self.wait().await?,
            }
        }
    }

    /// The next change of the commits up to a version. `None` if there are no more.
    ///
    /// # Errors
    /// As [`ChangeFollower::next`].
    pub async fn next_until(&mut self, end: Version) -> Result<Option<FollowedChange>> {
        loop {
            if let Some(change) = self.take().await {
                return Ok((change.commit.version <= end).then_some(change));
            }
            self.take_stored().await?;
            if self.taken.is_empty() {
                return Ok(None);
            }
        }
    }

    /// The next change of the commits that were taken.
    async fn take(&mut self) -> Option<FollowedChange> {
        'turns: loop {
            // No commit is held here: a connection that does not read can wait here for long.
            turn().await;
            count_steps(STEPS_PER_CHANGE);
            let Some(commit) = self.taken.first(&self.feed.0.commits) else {
                self.looked_at = 0;
                return None;
            };
            while let Some(change) = commit.changes.get(self.looked_at) {
                let number = self.looked_at;
                self.looked_at += 1;
                let at = ChangePosition {
                    version: commit.version,
                    change: u32::try_from(number).unwrap_or(u32::MAX),
                };
                if at <= self.position || !self.interest.includes(change) {
                    if self.looked_at.is_multiple_of(LOOKED_AT_ONCE) {
                        continue 'turns;
                    }
                    continue;
                }
                let is_last = self.looked_at == commit.changes.len();
                self.position = if is_last {
                    ChangePosition::after(commit.version)
                } else {
                    at
                };
                return Some(FollowedChange {
                    patch: {
                        let taken = self.taken.held();
                        self.patches.of(&commit, taken, number, &self.interest)
                    },
                    cursor: ChangeCursor {
                        history: self.histories.name(self.position.version),
                        position: self.position,
                    },
                    commit,
                    change: number,
                });
            }
            self.position = self.position.max(ChangePosition::after(commit.version));
            self.looked_at = 0;
            self.taken.pop(&self.feed.0.commits);
        }
    }

    /// Takes commits from memory, up to an amount.
    fn take_recent(&mut self) -> Recent {
        let state = self.feed.0.state();
        let Some(tail) = &state.tail else {
            // The task has ended, and with it the subscription.
            return Recent::NoneYet;
        };
        if self.position < ChangePosition::after(tail.after) {
            return Recent::Gone;
        }
        let position = self.position;
        let first = tail
            .recent
            .partition_point(|commit| ChangePosition::after(commit.version) <= position);
        let (mut bytes, mut commits) = (0, Vec::new());
        for commit in tail.recent.iter().skip(first).take(COMMITS_AT_ONCE) {
            bytes += commit.bytes;
            if bytes > COMMIT_BYTES_AT_ONCE && !commits.is_empty() {
                break;
            }
            commits.push(commit.clone());
        }
        if !commits.is_empty() {
            self.taken.fill(&self.feed.0.commits, commits);
            return Recent::Taken;
        }
        // Later notifications are of commits after these.
        self.position = self.position.max(ChangePosition::after(tail.read_to));
        self.signal.forget();
        Recent::NoneYet
    }

    /// Takes commits from the stored log.
    async fn take_stored(&mut self) -> Result<()> {
        let parts = &self.feed.0;
        let start = self.position.start();
        let page = parts.commits.page(&*parts.store, start).await?;
        let is_complete = match start {
            Start::After(version) => page.horizon <= version,
            Start::At(version) => page.horizon < version,
        };
        if !is_complete {
            return Err(expired());
        }
        if page.commits.is_empty() {
            self.position = self.position.max(ChangePosition::after(page.newest));
        }
        self.taken.fill(&parts.commits, page.commits.clone());
        Ok(())
    }

    /// Waits for a notification after the position.
    async fn wait(&mut self) -> Result<()> {
        self.patches.clear();
        let first = self.signal.notified().await?;
        // Between the position and this commit, nothing was wanted.
        self.position = self.position.max(before(first));
        Ok(())
    }
}

/// Changes that a subscriber examines before it yields, if it wants none of them.
const LOOKED_AT_ONCE: usize = 64;
/// Commits that a subscriber takes from memory at once.
const COMMITS_AT_ONCE: usize = 64;
/// Bytes of these commits, unless one has more.
const COMMIT_BYTES_AT_ONCE: usize = 64 << 10;

/// What a subscriber found in memory.
enum Recent {
    /// It took commits.
    Taken,
    /// The commits after its position are no longer in memory.
    Gone,
    /// There are none.
    NoneYet,
}

/// The position before all changes of a commit.
fn before(Version(mut version): Version) -> ChangePosition {
    for byte in version.iter_mut().rev() {
        let (less, borrowed) = byte.overflowing_sub(1);
        *byte = less;
        if !borrowed {
            break;
        }
    }
    ChangePosition::after(Version(version))
}

#[cfg(test)]
mod tests;
