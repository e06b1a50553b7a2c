//! Decoded commits that the followers of a process share.
//!
//! A commit of thousands of changes takes megabytes when it is decoded, and thousands of followers
//! can be at different positions. So a commit that one follower holds is the one that all others get,
//! its memory counts once, and few pages are decoded at the same time. What followers hold together is
//! bounded: those that have not asked for a change for longest lose their commits, and read them again
//! when they ask.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::Semaphore;

use crate::budget::Pool;
use crate::database::changes::read_change_log::{LoggedCommit, Start, read_commits};
use crate::error::Result;
use crate::key::Version;
use crate::limits::{CHANGES_HELD_BYTES, CHANGES_PAGES_KEPT_MAX, CHANGES_PAGES_READ_AT_ONCE};
use crate::store::Store;

/// The decoded commits of a process.
pub(super) struct SharedCommits {
    /// The memory of commits that followers hold.
    own: Pool,
    /// The memory that all requests hold. The commits count in it too.
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
    /// The commits that are lent to followers, those first that have not been used for longest.
    lent: BTreeMap<u64, Vec<Arc<LoggedCommit>>>,
    /// The number of the next use.
    next_use: u64,
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
            own: Pool::new(CHANGES_HELD_BYTES),
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

    /// Shares decoded commits: of each that is in memory already, returns that one.
    pub(super) fn share(&self, commits: Vec<LoggedCommit>) -> Vec<Arc<LoggedCommit>> {
        let mut known = self.known();
        let shared = commits
            .into_iter()
            .map(|commit| known.share(commit))
            .collect();
        known.sweep();
        shared
    }

    /// Counts a commit that followers may hold, and makes room for it.
    pub(super) fn count(&self, commit: &LoggedCommit) {
        commit.count_in(&self.own, self.pool.get());
        self.known().make_room(&self.own, self.bytes_max());
    }

    /// The bytes that followers may hold: a quarter of the memory of all requests, and less while
    /// requests need it.
    fn bytes_max(&self) -> usize {
        let Some(pool) = self.pool.get() else {
            return CHANGES_HELD_BYTES;
        };
        let bytes_max = pool.bytes_max();
        if pool.held() > bytes_max - bytes_max / 4 {
            return CHANGES_HELD_BYTES;
        }
        CHANGES_HELD_BYTES.max(bytes_max / 4)
    }

    /// Lends commits to a follower. Returns the number of the use.
    pub(super) fn lend(&self, commits: Vec<Arc<LoggedCommit>>) -> u64 {
        self.known().lend(commits)
    }

    /// The follower uses the commits that were lent under a number. Returns their next number. `None`
    /// if they were forgotten.
    pub(super) fn used(&self, number: u64) -> Option<u64> {
        let mut known = self.known();
        let commits = known.lent.remove(&number)?;
        Some(known.lend(commits))
    }

    /// The follower does not need the commits any more.
    pub(super) fn give_back(&self, number: u64) {
        let commits = self.known().lent.remove(&number);
        // They are freed while the others can continue.
        drop(commits);
    }

    /// Reads a page of the stored log, or returns the one that another follower has just read.
    ///
    /// # Errors
    /// As [`read_commits`].
    pub(super) async fn page(&self, store: &dyn Store, start: Start) -> Result<Arc<StoredPage>> {
        // The semaphore is never closed.
        let _reading = self.reading.acquire().await;
        if let Some(page) = self.known().page(start) {
            return Ok(page);
        }
        let snapshot = store.snapshot().await?;
        let page = read_commits(&*snapshot, start).await?;
        let commits = self.share(page.commits);
        for commit in &*commits {
            self.count(commit);
        }
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

    fn lend(&mut self, commits: Vec<Arc<LoggedCommit>>) -> u64 {
        let number = self.next_use;
        self.next_use += 1;
        self.lent.insert(number, commits);
        number
    }

    /// Forgets pages and lent commits until there is room in their pool, or nothing is left.
    fn make_room(&mut self, own: &Pool, bytes_max: usize) {
        while own.held() > bytes_max {
            if self.pages.pop_front().is_none() && self.lent.pop_first().is_none() {
                return;
            }
        }
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
