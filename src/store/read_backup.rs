//! Reads all data of a store as of one commit.

use std::sync::Arc;

use super::{Batches, Pairs, Read};
use crate::error::Result;
use crate::key::Family;

/// All pairs of a store as of one commit, in key order, without the change log: a restored store has
/// another history. Other pairs can take its place.
pub struct Backup {
    last_commit: u64,
    snapshot: Arc<dyn Read>,
    batches: Batches<Arc<dyn Read>>,
    /// Returned in place of the change log.
    log: Pairs,
    /// The first key after the change log, until the pairs before the log are read.
    resumed_at: Option<Vec<u8>>,
}

impl Backup {
    /// The contents of `snapshot`, whose last commit has the number `last_commit`.
    pub(super) fn new(last_commit: u64, snapshot: Arc<dyn Read>) -> Self {
        let (log, behind) = Family::change_log();
        Self {
            last_commit,
            batches: Batches::new(snapshot.clone(), [], log),
            snapshot,
            log: Pairs::default(),
            resumed_at: Some(behind),
        }
    }

    /// The snapshot that is backed up.
    pub fn snapshot(&self) -> &dyn Read {
        &*self.snapshot
    }

    /// The backup with these pairs in place of the change log.
    #[must_use]
    pub fn with_log(self, log: Pairs) -> Self {
        Self { log, ..self }
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
        loop {
            if let Some(pairs) = self.batches.next().await? {
                return Ok(Some(pairs));
            }
            let Some(begin) = self.resumed_at.take() else {
                return Ok(None);
            };
            // No key begins with 0xFF. FoundationDB reserves those keys for itself.
            self.batches = Batches::new(self.snapshot.clone(), begin, [0xFF]);
            if !self.log.is_empty() {
                return Ok(Some(std::mem::take(&mut self.log)));
            }
        }
    }
}
