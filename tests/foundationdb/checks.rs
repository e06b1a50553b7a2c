//! Checks that take longer than a cluster keeps a snapshot.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use phyllo::database::{Check, Finding};
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::error::{Error, Result};
use phyllo::key::{IndexKey, IndexValue};
use phyllo::limits::CLUSTER_SNAPSHOT_TIME_MAX;
use phyllo::store::{Decision, Read, Store, StoreLimits, Transaction};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::graphql::support::{Client, client_of};
use super::shared::empty_store;

cases!(
    damaged("an entry is removed") [
        a_fault_is_found_after_many_snapshots_beside_writers,
    ]
);

/// So many that a check takes several times [`TIME_LEFT_MIN`], also on a fast cluster.
const DOCUMENTS: i64 = 12_000;

async fn filled() -> Client {
    let client = client_of(empty_store().await).await;
    client
        .mutate(
            r#"a: createIndex(name: "n", on: ["$.n"], unique: true) { state }
               b: createIndex(name: "tags", on: ["$.tags[*]"]) { state }"#,
        )
        .await;
    for first in (0..DOCUMENTS).step_by(100) {
        let inserts: Vec<String> = (first..first + 100)
            .map(|id| {
                let tags = json!(["all", format!("a{id}"), format!("b{}", id % 7)]).to_string();
                format!(
                    "d{id}: insertDocument(id: {id}, document: {{n: {id}, tags: {tags}}}) {{ key }} "
                )
            })
            .collect();
        client.mutate(&inserts.concat()).await;
    }
    client
}

async fn a_fault_is_found_after_many_snapshots_beside_writers() {
    let client = filled().await;
    let store = client.database.store().clone();
    let index = IndexKey::new("D", 1).expect("short");
    let value = IndexValue::of_leaf(&Leaf::Integer(DOCUMENTS - 1));
    let entry = index.entry(value.bytes(), &DocumentId::Integer(DOCUMENTS - 1));
    let entry = entry.expect("short");
    let begun = Instant::now();
    let check = Check::of_store(store.clone(), None).await.expect("begun");
    assert_eq!(all(check).await, []);
    // Four snapshots, if the next checks are as fast.
    let time_left = begun.elapsed() / 4;
    let time_left = time_left.clamp(TIME_LEFT_MIN, CLUSTER_SNAPSHOT_TIME_MAX / 2);
    // The writers leave the damaged document alone.
    for is_damaged in [false, true] {
        if is_damaged {
            remove(&client, &entry).await;
        }
        let over = Arc::new(AtomicBool::new(false));
        let writer = tokio::spawn(write(client.clone(), over.clone()));
        let old = Arc::new(OldSnapshots::of(store.clone(), time_left));
        let check = Check::of_store(old.clone(), None).await.expect("begun");
        let found = all(check).await;
        assert!(old.taken.load(Ordering::Relaxed) > 1);
        over.store(true, Ordering::Release);
        writer.await.expect("it writes");
        let codes: Vec<_> = found.iter().map(|it| (&*it.code, &it.key)).collect();
        let expected = [("NO_INDEX_ENTRY", &entry)];
        assert_eq!(codes, expected[..usize::from(is_damaged)]);
    }
}

async fn all(mut check: Check) -> Vec<Finding> {
    let mut found = Vec::new();
    while let Some(finding) = check.next_finding().await.expect("a check") {
        found.push(finding);
    }
    found
}

async fn remove(client: &Client, entry: &[u8]) {
    let entry = entry.to_vec();
    let deadline = Instant::now() + Duration::from_secs(30);
    let write = move |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        transaction.clear(&entry);
        Box::pin(std::future::ready(Ok(Decision::Commit(()))))
    };
    let removed = client.database.transact(deadline, write);
    removed.await.expect("removed");
}

/// Changes, deletes and creates documents until it is over.
async fn write(client: Client, over: Arc<AtomicBool>) {
    for number in 0.. {
        if over.load(Ordering::Acquire) {
            return;
        }
        let id = number * 37 % (DOCUMENTS - 10);
        let value = 1_000_000 + id;
        let mutation = match number % 3 {
            0 => format!(
                "mergeDocument(id: {id}, patch: {{n: {value}, tags: [{}]}}) {{ key }}",
                number % 10
            ),
            1 => format!("deleteDocument(id: {id}) {{ deleted }}"),
            _ => format!("replaceDocument(id: \"new{id}\", document: {{tags: [1]}}) {{ key }}"),
        };
        client.mutate(&mutation).await;
        sleep(WRITER_PAUSE).await;
    }
}

/// Leaves the cluster time for the check.
const WRITER_PAUSE: Duration = Duration::from_millis(20);
/// Enough to continue a check.
const TIME_LEFT_MIN: Duration = Duration::from_millis(500);

/// A store whose snapshots are so old that the cluster soon drops them.
struct OldSnapshots {
    inner: Arc<dyn Store>,
    /// What is left of the time for which the cluster keeps a snapshot.
    time_left: Duration,
    taken: AtomicUsize,
}

impl OldSnapshots {
    fn of(inner: Arc<dyn Store>, time_left: Duration) -> Self {
        Self {
            inner,
            time_left,
            taken: AtomicUsize::new(0),
        }
    }
}

#[async_trait]
impl Store for OldSnapshots {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        self.taken.fetch_add(1, Ordering::Relaxed);
        let snapshot = self.inner.snapshot().await?;
        sleep(CLUSTER_SNAPSHOT_TIME_MAX.saturating_sub(self.time_left)).await;
        Ok(snapshot)
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        self.inner.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.inner.limits()
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn failed(&self) -> Error {
        self.inner.failed().await
    }
}
