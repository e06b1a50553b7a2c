//! Reads all data of a store as of one commit.

use std::sync::Arc;

use super::{Batches, Pairs, Read};
use crate::error::Result;

/// All pairs of a store as of one commit, in key order.
pub struct Backup {
    last_commit: u64,
    batches: Batches<Arc<dyn Read>>,
}

impl Backup {
    /// The contents of `snapshot`, whose last commit has the number `last_commit`.
    pub(super) fn new(last_commit: u64, snapshot: Arc<dyn Read>) -> Self {
        // No key begins with 0xFF. FoundationDB reserves those keys for itself.
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

    /// The next pairs, or `None` at the end.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn next(&mut self) -> Result<Option<Pairs>> {
        self.batches.next().await
    }
}
