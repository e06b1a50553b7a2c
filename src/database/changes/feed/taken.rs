//! The commits that a follower has taken and not yet returned.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use super::shared_commits::SharedCommits;
use crate::database::changes::read_change_log::LoggedCommit;
use crate::limits::HELD_FREE_BYTES;

/// The commits that a follower has taken, in order. Unless they are small, they are lent: the process
/// forgets them when memory is short. Then the follower takes them again.
#[derive(Default)]
pub(super) struct TakenCommits {
    commits: VecDeque<TakenCommit>,
    /// The number under which the process lends them.
    lent: Option<u64>,
}

enum TakenCommit {
    Kept(Arc<LoggedCommit>),
    Lent(Weak<LoggedCommit>),
}

impl TakenCommits {
    pub(super) fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Takes commits after all others were returned.
    pub(super) fn fill(&mut self, shared: &SharedCommits, commits: Vec<Arc<LoggedCommit>>) {
        self.clear(shared);
        if commits.iter().map(|commit| commit.bytes).sum::<usize>() <= HELD_FREE_BYTES {
            self.commits
                .extend(commits.into_iter().map(TakenCommit::Kept));
            return;
        }
        let lent = commits.iter().map(Arc::downgrade).map(TakenCommit::Lent);
        self.commits.extend(lent);
        self.lent = Some(shared.lend(commits));
    }

    /// The first commit. `None` if there is none, or if it was forgotten.
    pub(super) fn first(&mut self, shared: &SharedCommits) -> Option<Arc<LoggedCommit>> {
        let first = match self.commits.front()? {
            TakenCommit::Kept(commit) => Some(commit.clone()),
            TakenCommit::Lent(commit) => commit.upgrade(),
        };
        if first.is_none() {
            self.clear(shared);
        } else if let Some(number) = self.lent {
            self.lent = shared.used(number);
        }
        first
    }

    /// The commits in order, up to the first that was forgotten.
    pub(super) fn held(&self) -> impl Iterator<Item = Arc<LoggedCommit>> {
        self.commits.iter().map_while(|commit| match commit {
            TakenCommit::Kept(commit) => Some(commit.clone()),
            TakenCommit::Lent(commit) => commit.upgrade(),
        })
    }

    /// Removes the first commit, because all of it was returned.
    pub(super) fn pop(&mut self, shared: &SharedCommits) {
        self.commits.pop_front();
        if self.commits.is_empty() {
            self.clear(shared);
        }
    }

    /// Forgets all commits.
    pub(super) fn clear(&mut self, shared: &SharedCommits) {
        // A follower that waits has none, so it takes no memory for them.
        self.commits = VecDeque::new();
        if let Some(number) = self.lent.take() {
            shared.give_back(number);
        }
    }
}
