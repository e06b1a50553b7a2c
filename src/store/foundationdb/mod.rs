//! The engine for a FoundationDB cluster: the store's keys are the cluster's keys, as they are.
//!
//! Any number of processes may open one cluster; none holds anything. Each transaction has a
//! timeout and a limit on its tries, so no call waits for ever. A cluster that is away makes
//! calls fail with `UNAVAILABLE`, and they succeed again when it is back.
//!
//! The network thread that the client needs is started once ([`Network`]).

mod failure;
mod network;
mod range;
mod reads;
mod size;
mod snapshot;
mod span;
mod tls;
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use foundationdb::options::TransactionOption;
use foundationdb::{Database, FdbResult};
use tokio::time::timeout;

use super::{Read, Store, StoreLimits, Transaction};
use crate::error::{Error, Result};
use crate::limits::{CLUSTER_READY_TIME_MAX, CLUSTER_TRANSACTION_BYTES_MAX};
pub use network::{Network, NetworkOptions};
use snapshot::Snapshot;
use transaction::ClusterTransaction;

/// A store in a cluster.
pub struct FoundationDb {
    cluster: Arc<Cluster>,
}

/// What stores, snapshots and transactions share.
struct Cluster {
    prospects: span::Prospects,
    // Dropped in this order: the network outlives every use of it.
    database: Database,
    _network: Network,
}

impl Cluster {
    /// A transaction that has got its version, which also shows that the cluster answers.
    async fn transaction(&self) -> FdbResult<(foundationdb::Transaction, i64)> {
        versioned(self.database.create_trx()?).await
    }
}

/// Gets the version of a transaction, waiting as long as the client finds right where the cluster
/// has too much to do.
async fn versioned(
    mut transaction: foundationdb::Transaction,
) -> FdbResult<(foundationdb::Transaction, i64)> {
    loop {
        match transaction.get_read_version().await {
            Ok(version) => return Ok((transaction, version)),
            Err(error) => transaction = transaction.on_error(error).await?,
        }
    }
}

/// Lets a transaction that has taken so long go on for as long as a new one.
fn extend(transaction: &foundationdb::Transaction, taken: Duration) -> FdbResult<()> {
    let time_max = taken + crate::limits::CLUSTER_TRANSACTION_TIME_MAX;
    transaction.set_option(TransactionOption::Timeout(network::millis(time_max)))
}

#[async_trait]
impl Store for FoundationDb {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        let snapshot = Snapshot::take(self.cluster.clone()).await;
        Ok(Arc::new(snapshot.map_err(failure::of_snapshot)?))
    }

    async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        let snapshot = Snapshot::lazy(self.cluster.clone());
        Ok(Arc::new(snapshot.map_err(failure::of_snapshot)?))
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        let begun = ClusterTransaction::begin(self.cluster.clone());
        Ok(Arc::new(begun.map_err(failure::of_transaction)?))
    }

    fn limits(&self) -> StoreLimits {
        StoreLimits {
            transaction_bytes_max: Some(CLUSTER_TRANSACTION_BYTES_MAX),
        }
    }

    fn commits_can_end_unknown(&self) -> bool {
        true
    }

    async fn ready(&self) -> Result<()> {
        match timeout(CLUSTER_READY_TIME_MAX, self.cluster.transaction()).await {
            Ok(answered) => answered.map(|_| ()).map_err(failure::of_snapshot),
            Err(_) => Err(Error::unavailable(
                "the FoundationDB cluster does not answer",
                "",
            )),
        }
    }

    /// A cluster that fails comes back.
    async fn failed(&self) -> Error {
        std::future::pending().await
    }
}
