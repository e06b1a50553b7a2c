//! Whether a cluster serves what a write needs.
//!
//! A cluster can give out read versions and serve reads while it cannot commit, for some seconds
//! after most of its processes are lost. So the check commits. Its transaction has a write conflict
//! with a key that nobody reads, and writes nothing: it passes through the same processes as a write
//! and is logged like one. As anybody may ask, the outcome is kept for a short time.

use foundationdb::FdbResult;
use foundationdb::options::ConflictRangeType;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::cluster::Cluster;
use super::failure;
use crate::error::{Error, Result};
use crate::limits::{CLUSTER_READY_KEPT_TIME, CLUSTER_READY_TIME_MAX};

/// The last outcome of the check, and when it ended.
#[derive(Default)]
pub(super) struct Readiness {
    last: Mutex<Option<(Instant, Result<()>)>>,
}

/// In Phyllo's part of the key space, before all families. Nothing is stored there.
const KEY: &[u8] = &[0];
const AFTER_KEY: &[u8] = &[0, 0];

impl Readiness {
    /// Commits a transaction that writes nothing, unless another caller just did.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the cluster does not commit in time, or says why it cannot.
    pub(super) async fn check(&self, cluster: &Cluster) -> Result<()> {
        let mut last = self.last.lock().await;
        if let Some((at, outcome)) = &*last
            && at.elapsed() < CLUSTER_READY_KEPT_TIME
        {
            return outcome.clone();
        }
        let outcome = match timeout(CLUSTER_READY_TIME_MAX, commit(cluster)).await {
            Ok(committed) => committed.map_err(failure::of_snapshot),
            Err(_) => Err(Error::unavailable(
                "the FoundationDB cluster does not answer",
                "",
            )),
        };
        *last = Some((Instant::now(), outcome.clone()));
        outcome
    }
}

async fn commit(cluster: &Cluster) -> FdbResult<()> {
    let (transaction, _) = cluster.transaction().await?;
    transaction.get(KEY, true).await?;
    transaction.add_conflict_range(KEY, AFTER_KEY, ConflictRangeType::Write)?;
    transaction.commit().await?;
    Ok(())
}
