//! The engine for a FoundationDB cluster. The store's keys are the cluster's keys, without a
//! prefix.
//!
//! Any number of processes can open one cluster; none has a lock. Each transaction has a timeout
//! and a retry limit, so no call waits forever. While a cluster is unreachable, calls fail with
//! `UNAVAILABLE`.
//!
//! The client needs a network thread, which is started once per process ([`Network`]).

mod cluster;
mod failure;
mod network;
mod range;
mod readiness;
mod reads;
mod shared;
mod size;
mod snapshot;
mod span;
mod tls;
mod transaction;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use cluster::Cluster;
use foundationdb::Database;
use foundationdb::options::DatabaseOption;
use network::millis;
pub use network::{Network, NetworkOptions};
use readiness::Readiness;
use snapshot::Snapshot;
use span::Prospects;
use transaction::ClusterTransaction;

use super::{Read, Store, StoreLimits, Transaction};
use crate::error::{Error, Result};
use crate::limits::{
    CLUSTER_TRANSACTION_BYTES_MAX, CLUSTER_TRANSACTION_TIME_MAX, TRANSACTION_TRIES_MAX,
};

/// A store in a cluster.
pub struct FoundationDb {
    cluster: Arc<Cluster>,
    readiness: Readiness,
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
        self.readiness.check(&self.cluster).await
    }

    async fn estimated_bytes(&self, begin: &[u8], end: &[u8]) -> Result<Option<u64>> {
        let snapshot = Snapshot::lazy(self.cluster.clone()).map_err(failure::of_snapshot)?;
        let bytes = snapshot.estimated_bytes(begin, end).await?;
        Ok(Some(u64::try_from(bytes).unwrap_or_default()))
    }

    /// Never returns, because a cluster can recover.
    async fn failed(&self) -> Error {
        std::future::pending().await
    }
}

impl Network {
    /// Opens the cluster of a cluster file, or of the default one of FoundationDB's tools. The
    /// cluster need not be reachable yet.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the file is unreadable or not a cluster file, or it requires TLS and the TLS
    /// settings in the environment are invalid.
    pub fn open(&self, cluster_file: Option<&Path>) -> Result<FoundationDb> {
        let path = match cluster_file {
            Some(path) => Some(failure::check_cluster_file(path)?),
            None => None,
        };
        tls::check(cluster_file)?;
        let database = Database::new(path).map_err(|error| failure::of_open(error, path))?;
        let time_max = millis(CLUSTER_TRANSACTION_TIME_MAX);
        let tries_max = i32::try_from(TRANSACTION_TRIES_MAX).unwrap_or(i32::MAX);
        for option in [
            DatabaseOption::TransactionTimeout(time_max),
            DatabaseOption::TransactionRetryLimit(tries_max),
        ] {
            database.set_option(option).map_err(failure::of_client)?;
        }
        Ok(FoundationDb {
            readiness: Readiness::default(),
            cluster: Arc::new(Cluster {
                prospects: Prospects::default(),
                database,
                _network: self.clone(),
            }),
        })
    }
}
