//! The time limit of a request is checked during its work.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use phyllo::graphql::{GraphQlResponse, Methods, Request};
use phyllo::limits::{Bounds, LEAVES_WRITTEN_AT_A_TIME};
use phyllo::store::{Batch, RangeRead, Read, Store, StoreLimits, Transaction};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::support::{NONE, client, client_of_within};
use super::typed::limited;
use super::types::set_type;

cases!(
    async [
        without_time_nothing_is_read_or_written,
        long_reads_stop_at_the_time_limit,
        long_work_yields_repeatedly,
        types_that_cannot_be_read_delay_no_request,
    ]
);

async fn without_time_nothing_is_read_or_written() {
    let bounds = Bounds {
        request_time: Duration::ZERO,
        ..Bounds::DEFAULT
    };
    let client = client_of_within(super::empty_store().await, bounds).await;
    let before = client.counts();
    for query in [
        "{ document(id: 1) { value } }",
        "{ collections { name } }",
        "mutation { insertDocument(id: 1, document: {a: 1}) { key } }",
    ] {
        let (code, message) = client.error(query, NONE).await;
        assert_eq!(code, "TIMEOUT");
        assert!(message.contains("0ns"), "{message}");
        let is_mutation = query.starts_with("mutation");
        assert_eq!(message.contains("written"), is_mutation, "{message}");
    }
    let after = client.counts();
    assert_eq!(
        (after.ranges, after.writes, after.commits),
        (before.ranges, before.writes, before.commits)
    );
}

/// The duration of each batch on the slow engine.
const BATCH_TIME: Duration = Duration::from_millis(20);

async fn long_reads_stop_at_the_time_limit() {
    let bounds = Bounds {
        request_time: 3 * BATCH_TIME,
        response_bytes: 1 << 30,
        ..Bounds::DEFAULT
    };
    let engine = Arc::new(super::empty_store().await);
    let writing = client_of_within(Shared(engine.clone()), Bounds::DEFAULT).await;
    // They fit into a transaction of a cluster.
    let leaves = 130_000_u64;
    writing
        .insert("1", json!((0..leaves).collect::<Vec<_>>()))
        .await;
    let client = client_of_within(Slow(Shared(engine)), bounds).await;
    let before = client.counts();
    let (code, message) = client.error("{ document(id: 1) { value } }", NONE).await;
    assert_eq!(code, "TIMEOUT");
    assert!(message.contains("60ms"), "{message}");
    assert!(
        !message.contains("written"),
        "a query writes nothing: {message}"
    );
    // Each batch takes at least its duration, so at most three of eight are read on any machine.
    let read = client.counts().pairs - before.pairs;
    assert!(read < leaves / 2, "{read} pairs, of {leaves}");
}

async fn long_work_yields_repeatedly() {
    let client = client().await;
    let leaves = 4 * LEAVES_WRITTEN_AT_A_TIME;
    client.insert("1", json!(vec![1; leaves])).await;
    let reading = "{ document(id: 1) { value } }".to_owned();
    let writing = format!(
        "mutation {{ replaceDocument(id: 2, document: {{a: [{}]}}) {{ key }} }}",
        "[] ".repeat(4_900)
    );
    for (query, turns_min) in [(reading, 6), (writing, 1)] {
        let request = Request {
            query,
            ..Request::default()
        };
        let mut answer = pin!(client.graphql.answer(request, Methods::All));
        let mut context = Context::from_waker(Waker::noop());
        let mut turns = 0;
        let answer = loop {
            match answer.as_mut().poll(&mut context) {
                Poll::Ready(answer) => break answer,
                // Waits for the engine end in their own time.
                Poll::Pending => tokio::task::yield_now().await,
            }
            turns += 1;
        };
        assert!(matches!(answer, GraphQlResponse::Executed(_)), "{answer:?}");
        assert!(turns >= turns_min, "{turns} turns");
    }
}

async fn types_that_cannot_be_read_delay_no_request() {
    let bounds = Bounds {
        request_time: Duration::from_secs(3),
        ..Bounds::DEFAULT
    };
    let (stalled, is_stalled) = watch::channel(false);
    let engine = Arc::new(super::empty_store().await);
    let client = client_of_within(Stalling(Shared(engine), is_stalled), bounds).await;
    let schema = |name: &str| json!({"type": "object", "title": name, "properties": {"a": true}});
    for (collection, name) in [("shown", "Shown"), ("hidden", "Hidden")] {
        set_type(&client, collection, &schema(name)).await;
    }
    let rules =
        "[[allow]]\nwho = \"anyone\"\nactions = [\"read\", \"list\"]\ncollection = \"shown\"";
    let limited = limited(&client, rules).await;
    stalled.send_replace(true);
    // The commit is answered at the deadline.
    let change =
        "mutation($s: JSON!) { setCollectionType(collection: \"shown\", schema: $s) { state } }";
    let changed = client.data(change, json!({"s": schema("Changed")}));
    let changed = timeout(Duration::from_secs(60), changed).await;
    changed.expect("the change is answered");
    // A schema is shown while the types are read.
    let following = limited.clone();
    let following = tokio::spawn(async move { following.graphql.refresh_types().await });
    tokio::task::yield_now().await;
    let shown = limited.text("{ __schema { types { name } } }", NONE);
    let shown = timeout(Duration::from_secs(60), shown).await;
    let shown = shown.expect("the schema is shown");
    assert!(shown.contains("\"Shown\"") && !shown.contains("Hidden"));
    stalled.send_replace(false);
    following.await.expect("no panic").expect("types");
    client.graphql.refresh_types().await.expect("types");
    for client in [client, limited] {
        client
            .data(
                "{ __typename ... on Query { changed(key: 1) { key } } }",
                NONE,
            )
            .await;
    }
}

/// An engine whose snapshots wait while the flag is set.
struct Stalling<S>(S, watch::Receiver<bool>);

#[async_trait]
impl<S: Store> Store for Stalling<S> {
    async fn snapshot(&self) -> phyllo::error::Result<Arc<dyn Read>> {
        let mut stalled = self.1.clone();
        // Without a sender, nothing is stalled.
        drop(stalled.wait_for(|stalled| !stalled).await);
        self.0.snapshot().await
    }

    async fn begin(&self) -> phyllo::error::Result<Arc<dyn Transaction>> {
        self.0.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.0.limits()
    }

    fn is_exclusive(&self) -> bool {
        self.0.is_exclusive()
    }

    async fn ready(&self) -> phyllo::error::Result<()> {
        self.0.ready().await
    }

    async fn failed(&self) -> phyllo::error::Error {
        self.0.failed().await
    }
}

/// An engine that several databases share.
struct Shared<S>(Arc<S>);

#[async_trait]
impl<S: Store> Store for Shared<S> {
    async fn snapshot(&self) -> phyllo::error::Result<Arc<dyn Read>> {
        self.0.snapshot().await
    }

    async fn begin(&self) -> phyllo::error::Result<Arc<dyn Transaction>> {
        self.0.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.0.limits()
    }

    fn commits_can_end_unknown(&self) -> bool {
        self.0.commits_can_end_unknown()
    }

    fn is_exclusive(&self) -> bool {
        self.0.is_exclusive()
    }

    async fn ready(&self) -> phyllo::error::Result<()> {
        self.0.ready().await
    }

    async fn failed(&self) -> phyllo::error::Error {
        self.0.failed().await
    }
}

/// An engine whose snapshots delay each batch.
struct Slow<S>(S);

#[async_trait]
impl<S: Store> Store for Slow<S> {
    async fn snapshot(&self) -> phyllo::error::Result<Arc<dyn Read>> {
        let snapshot = self.0.snapshot().await?;
        Ok(Arc::new(SlowRead(snapshot)))
    }

    async fn begin(&self) -> phyllo::error::Result<Arc<dyn Transaction>> {
        self.0.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.0.limits()
    }

    fn is_exclusive(&self) -> bool {
        self.0.is_exclusive()
    }

    async fn ready(&self) -> phyllo::error::Result<()> {
        self.0.ready().await
    }

    async fn failed(&self) -> phyllo::error::Error {
        self.0.failed().await
    }
}

struct SlowRead(Arc<dyn Read>);

#[async_trait]
impl Read for SlowRead {
    async fn version(&self) -> phyllo::error::Result<phyllo::key::Version> {
        self.0.version().await
    }

    async fn get(&self, key: &[u8]) -> phyllo::error::Result<Option<Vec<u8>>> {
        self.0.get(key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> phyllo::error::Result<Batch> {
        sleep(BATCH_TIME).await;
        self.0.range(range).await
    }
}
