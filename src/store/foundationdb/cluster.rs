//! The connection to a cluster, and its transactions.

use std::time::Duration;

use foundationdb::options::TransactionOption;
use foundationdb::{Database, FdbResult};

use super::network::{Network, millis};
use super::span::Prospects;

/// The state that stores, snapshots and transactions share.
pub(super) struct Cluster {
    pub(super) prospects: Prospects,
    // Dropped in this order: the network must outlive every use of it.
    pub(super) database: Database,
    pub(super) _network: Network,
}

impl Cluster {
    /// A transaction with its read version, which also proves that the cluster answers.
    pub(super) async fn transaction(&self) -> FdbResult<(foundationdb::Transaction, i64)> {
        versioned(self.database.create_trx()?).await
    }
}

/// Gets the read version of a transaction. Waits as long as the client requires if the cluster is
/// overloaded.
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

/// Extends the timeout of a transaction that has already taken `taken` by that of a new one.
pub(super) fn extend(transaction: &foundationdb::Transaction, taken: Duration) -> FdbResult<()> {
    let time_max = taken + crate::limits::CLUSTER_TRANSACTION_TIME_MAX;
    transaction.set_option(TransactionOption::Timeout(millis(time_max)))
}
