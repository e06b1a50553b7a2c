//! A cluster, and transactions on it.

use super::network::{Network, millis};
use super::span::Prospects;
use foundationdb::options::TransactionOption;
use foundationdb::{Database, FdbResult};
use std::time::Duration;

/// What stores, snapshots and transactions share.
pub(super) struct Cluster {
    pub(super) prospects: Prospects,
    // Dropped in this order: the network outlives every use of it.
    pub(super) database: Database,
    pub(super) _network: Network,
}

impl Cluster {
    /// A transaction that has got its version, which also shows that the cluster answers.
    pub(super) async fn transaction(&self) -> FdbResult<(foundationdb::Transaction, i64)> {
        versioned(self.database.create_trx()?).await
    }
}

/// Gets the version of a transaction, waiting as long as the client finds right where the cluster
/// has too much to do.
pub(super) async fn versioned(
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
pub(super) fn extend(transaction: &foundationdb::Transaction, taken: Duration) -> FdbResult<()> {
    let time_max = taken + crate::limits::CLUSTER_TRANSACTION_TIME_MAX;
    transaction.set_option(TransactionOption::Timeout(millis(time_max)))
}
