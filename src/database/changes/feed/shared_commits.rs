//! Decoded commits that the followers of a process share.
//!
//! A commit of thousands of changes takes megabytes when it is decoded, and thousands of followers
//! can be at different positions. So a commit that one follower holds is the one that all others get,
//! its memory counts once, few pages are decoded at the same time, and a follower that finds no
//! memory waits without holding any.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::budget::Pool;
use crate::database::changes::read::{LoggedCommit, Start, read_commits};
use crate::error::Result;
use crate::key::Version;
use crate::limits::{
    CHANGES_PAGES_KEPT_MAX, CHANGES_PAGES_READ_AT_ONCE, CHANGES_WAIT_TIME, HELD_FREE_BYTES,
};
use crate::store::Store;

/// The decoded commits of a process.
pub(super) struct SharedCommits {
    /// The memory that all requests hold. Without one, the memory of commits is not limited.
    pool: OnceLock<Pool>,
    /// Permits to read and decode a page.
    reading: Semaphore,
    state: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The commits that are in memory.
    commits: HashMap<Version, Weak<LoggedCommit>>,
    /// The number of commits at which those that are gone are removed from the map.
    swept_at: usize,
    /// The pages that were read last.
    pages: VecDeque<(Start, Arc<StoredPage>)>,
}

/// A page of the stored log.
pub(super) struct StoredPage {
    pub(super) commits: Vec<Arc<LoggedCommit>>,
    /// All commits after this version were in the log.
    pub(super) horizon: Version,
    /// The version of the snapshot of which the page was read.
    pub(super) newest: Version,
}

impl Default for SharedCommits {
    fn default() -> Self {
        Self {
            pool: OnceLock::new(),
            reading: Semaphore::new(CHANGES_PAGES_READ_AT_ONCE),
            state: Mutex::default(),
        }
    }
}

impl SharedCommits {
    /// Counts the memory of commits in a pool. Only the first one is used.
    pub(super) fn count_in(&self, pool: Pool) {
        let _first = self.pool.set(pool);
    }

    /// Whether there is memory for further commits.
    pub(super) fn has_memory(&self) -> bool {
        self.pool.get().is_none_or(|pool| pool.check().is_ok())
    }

    /// Whether a follower may keep a commit: one that is small, or any one if there is memory.
    pub(super) fn may_keep(&self, commit: &LoggedCommit) -> bool {
        commit.bytes <= HELD_FREE_BYTES || self.has_memory()
    }

    /// Waits until there may be memory.
    pub(super) async fn memory(&self) {
        while !self.has_memory() {
            self.forget_pages();
            sleep(CHANGES_WAIT_TIME).await;
        }
    }

    /// Shares decoded commits: of each that is in memory already, returns that one.
    pub(super) fn share(&self, commits: Vec<LoggedCommit>) -> Vec<Arc<LoggedCommit>> {
        let mut known = self.known();
        let shared = commits.into_iter().map(|commit| known.share(commit));
        let shared = shared.collect();
        known.sweep();
        shared
    }

    /// Counts a commit that others may hold.
    pub(super) fn count(&self, commit: &LoggedCommit) {
        if let Some(pool) = self.pool.get() {
            commit.count_in(pool);
        }
    }

    /// Reads a page of the stored log, or returns the one that another follower has just read. Waits
    /// for memory.
    ///
    /// # Errors
    /// As [`read_commits`].
    pub(super) async fn page(&self, store: &dyn Store, start: Start) -> Result<Arc<StoredPage>> {
        self.memory().await;
        // The semaphore is never closed.
        let _reading = self.reading.acquire().await;
        if let Some(page) = self.known().page(start) {
            return Ok(page);
        }
        let snapshot = store.snapshot().await?;
        let page = read_commits(&*snapshot, start).await?;
        let commits = self.share(page.commits);
        commits.iter().for_each(|commit| self.count(commit));
        let page = Arc::new(StoredPage {
            commits,
            horizon: page.horizon,
            newest: snapshot.version().await?,
        });
        if !page.commits.is_empty() {
            self.known().keep_page(start, page.clone());
        }
        Ok(page)
    }

    /// Drops the pages that are kept.
    pub(super) fn forget_pages(&self) {
        let pages = std::mem::take(&mut self.known().pages);
        drop(pages);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn share(&mut self, commit: LoggedCommit) -> Arc<LoggedCommit> {
        if let Some(known) = self.commits.get(&commit.version).and_then(Weak::upgrade) {
            return known;
        }
        let commit = Arc::new(commit);
        self.commits.insert(commit.version, Arc::downgrade(&commit));
        commit
    }

    fn page(&self, start: Start) -> Option<Arc<StoredPage>> {
        let found = self.pages.iter().find(|(at, _)| *at == start);
        found.map(|(_, page)| page.clone())
    }

    fn keep_page(&mut self, start: Start, page: Arc<StoredPage>) {
        self.pages.push_back((start, page));
        if self.pages.len() > CHANGES_PAGES_KEPT_MAX {
            self.pages.pop_front();
        }
    }

    /// Removes the commits that are gone, whenever the map has doubled.
    fn sweep(&mut self) {
        const SWEPT_AT_MIN: usize = 1_024;
        if self.commits.len() < self.swept_at.max(SWEPT_AT_MIN) {
            return;
        }
        self.commits.retain(|_, commit| commit.strong_count() > 0);
        self.swept_at = 2 * self.commits.len();
    }
}
