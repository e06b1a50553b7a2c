//! A live query without subscribers stops in the middle of an execution.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use phyllo::error::{Error, Result};
use phyllo::key::Version;
use phyllo::store::{Batch, RangeRead, Read, Store, StoreLimits, Transaction};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use super::support::client_of;

cases!(async [a_live_query_without_subscribers_stops_in_the_middle]);

/// More leaves than one batch has, which fit into a transaction of a cluster.
const LEAVES: usize = 130_000;
const PATIENCE: Duration = Duration::from_secs(30);

async fn a_live_query_without_subscribers_stops_in_the_middle() {
    let waiting = Arc::new(watch::Sender::new(0));
    let engine = Stuck(super::empty_store().await, waiting.clone());
    let client = client_of(engine).await;
    client.log_changes().await;
    client.insert("1", json!(vec![0; LEAVES])).await;
    for _ in 0..2 {
        let subscription = client
            .subscribe("subscription { document(id: 1) { value } }")
            .await;
        waits(&waiting, 1).await;
        drop(subscription);
        waits(&waiting, 0).await;
    }
}

/// Waits until this number of reads wait for their second batch.
async fn waits(waiting: &watch::Sender<usize>, number: usize) {
    let mut waiting = waiting.subscribe();
    let reached = timeout(PATIENCE, waiting.wait_for(|now| *now == number));
    reached.await.expect("it is in time").expect("it is open");
}

/// An engine whose snapshots never return the second batch of a range. Counts the reads that wait for
/// it.
struct Stuck<S>(S, Arc<watch::Sender<usize>>);

struct StuckRead(Arc<dyn Read>, Arc<watch::Sender<usize>>);

/// Counts a read until it is dropped.
struct Waiting<'w>(&'w watch::Sender<usize>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

#[async_trait]
impl<S: Store> Store for Stuck<S> {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        let snapshot = self.0.snapshot().await?;
        Ok(Arc::new(StuckRead(snapshot, self.1.clone())))
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        self.0.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.0.limits()
    }

    fn commits(&self) -> Option<watch::Receiver<u64>> {
        self.0.commits()
    }

    fn is_exclusive(&self) -> bool {
        self.0.is_exclusive()
    }

    async fn ready(&self) -> Result<()> {
        self.0.ready().await
    }

    async fn failed(&self) -> Error {
        self.0.failed().await
    }
}

#[async_trait]
impl Read for StuckRead {
    async fn version(&self) -> Result<Version> {
        self.0.version().await
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.get(key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        if range.resumed {
            self.1.send_modify(|waiting| *waiting += 1);
            let _waiting = Waiting(&self.1);
            pending::<()>().await;
        }
        self.0.range(range).await
    }
}
