//! A store as it is at one moment, to be written elsewhere.

use std::sync::Arc;

use super::{Batches, Pairs, Read};
use crate::error::Result;

/// All pairs of a store at one moment, in the order of their keys.
pub struct Backup {
    last_commit: u64,
    batches: Batches<Arc<dyn Read>>,
}

impl Backup {
    /// What a snapshot shows, the last of whose commits has this number.
    pub(super) fn new(last_commit: u64, snapshot: Arc<dyn Read>) -> Self {
        // No key begins with 0xFF, as in a cluster, where those are the database's own.
        let batches = Batches::new(snapshot, [], [0xFF]);
        Self {
            last_commit,
            batches,
        }
    }

    /// The number of the last commit.
    pub fn last_commit(&self) -> u64 {
        self.last_commit
    }

    /// The next pairs; none behind the last.
    ///
    /// # Errors
    /// What the store fails with.
    pub async fn next(&mut self) -> Result<Option<Pairs>> {
        self.batches.next().await
    }
}
