//! What rules cost in reads of the store, and in rounds of reads. Reads of one round are concurrent.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use async_trait::async_trait;
use phyllo::error::{Error, Result};
use phyllo::key::Version;
use phyllo::store::{Batch, MultiRange, RangeRead, Read, Store, StoreLimits, Transaction};
use serde_json::json;

use super::super::support::client_of;
use super::{Client, NONE, anyone, user};

cases!(
    async [
        prefix_rules_cost_no_read,
        a_condition_of_named_documents_costs_one_range_each_in_one_round,
        a_condition_of_a_page_costs_what_a_filter_costs,
    ]
);

/// The reads of snapshots.
#[derive(Default)]
pub(crate) struct Rounds {
    in_flight: AtomicUsize,
    /// How often a read began while there was no other.
    begun: AtomicUsize,
}

impl Rounds {
    /// The rounds so far.
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Relaxed)
    }

    /// Does a read. Others can begin before it ends.
    async fn read<T>(&self, read: impl Future<Output = T>) -> T {
        if self.in_flight.fetch_add(1, Relaxed) == 0 {
            self.begun.fetch_add(1, Relaxed);
        }
        tokio::task::yield_now().await;
        let done = read.await;
        self.in_flight.fetch_sub(1, Relaxed);
        done
    }
}

/// An engine whose rounds are counted.
pub(crate) struct CountedStore {
    inner: Arc<dyn Store>,
    rounds: Arc<Rounds>,
}

impl CountedStore {
    pub(crate) fn new(inner: Arc<dyn Store>, rounds: Arc<Rounds>) -> Self {
        Self { inner, rounds }
    }
}

struct CountedSnapshot {
    inner: Arc<dyn Read>,
    rounds: Arc<Rounds>,
}

#[async_trait]
impl Store for CountedStore {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        Ok(Arc::new(CountedSnapshot {
            inner: self.inner.snapshot().await?,
            rounds: self.rounds.clone(),
        }))
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        self.inner.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.inner.limits()
    }

    fn commits_can_end_unknown(&self) -> bool {
        self.inner.commits_can_end_unknown()
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn failed(&self) -> Error {
        self.inner.failed().await
    }
}

#[async_trait]
impl Read for CountedSnapshot {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.rounds.read(self.inner.get(key)).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        self.rounds.read(self.inner.range(range)).await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        self.rounds.read(self.inner.ranges(ranges)).await
    }

    async fn version(&self) -> Result<Version> {
        self.inner.version().await
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }
}

/// Requests without rules, with rules without conditions, and with conditions.
struct Compared {
    rounds: Arc<Rounds>,
    free: Client,
    prefix: Client,
    conditional: Client,
}

impl Compared {
    async fn new() -> Self {
        let rounds = Arc::<Rounds>::default();
        let free = client_of(CountedStore::new(
            Arc::new(super::super::empty_store().await),
            rounds.clone(),
        ));
        let free = free.await;
        for number in 0..6 {
            free.mutate(&format!(
                r#"insertDocument(collection: "notes", id: {number}, document: {{open: true, a: {{b: {number}, c: [1, 2]}}}}) {{ key }}"#
            ))
            .await;
        }
        let to = "actions = [\"read\", \"list\"]\ncollection = \"notes\"";
        let open = format!("{to}\nwhere = {{ at = \"$.open\", eq = true }}");
        let prefix = free.limited(anyone(&[to]), user(json!({})));
        let conditional = free.limited(anyone(&[&open]), user(json!({})));
        Self {
            rounds,
            free,
            prefix,
            conditional,
        }
    }

    /// The ranges and the rounds of a query with a condition, in addition to those without rules. Asserts that
    /// rules without conditions add nothing, and that all responses are the same.
    async fn cost_of_condition(&self, query: &str) -> (u64, usize) {
        let (expected, free) = self.cost(&self.free, query).await;
        let (found, prefix) = self.cost(&self.prefix, query).await;
        assert_eq!((found, prefix), (expected.clone(), free), "{query}");
        let (found, conditional) = self.cost(&self.conditional, query).await;
        assert_eq!(found, expected, "{query}");
        (conditional.0 - free.0, conditional.1 - free.1)
    }

    async fn cost(&self, client: &Client, query: &str) -> (serde_json::Value, (u64, usize)) {
        let before = self.rounds.begun();
        let (data, counts) = client.cost(query, NONE).await;
        let rounds = self.rounds.begun() - before;
        (data, (counts.ranges + counts.gets, rounds))
    }
}

fn document(id: usize, selection: &str) -> String {
    format!(r#"d{id}: document(collection: "notes", id: {id}) {{ {selection} }}"#)
}

async fn prefix_rules_cost_no_read() {
    let compared = Compared::new().await;
    for query in [
        document(1, "value"),
        document(1, "version a: value(path: \"/a/b\") children { nodes { value } }"),
        r#"documents(collection: "notes", where: {at: "$.a.b", gt: 1}) { totalCount nodes { key value(path: "/a") } }"#.to_owned(),
        r#"aggregate(collection: "notes") { groups { sum(of: "$.a.b") } }"#.to_owned(),
    ] {
        let query = format!("{{ {query} }}");
        let (free, prefix) = (&compared.free, &compared.prefix);
        let free = compared.cost(free, &query).await;
        assert_eq!(compared.cost(prefix, &query).await, free, "{query}");
    }
}

async fn a_condition_of_named_documents_costs_one_range_each_in_one_round() {
    let compared = Compared::new().await;
    for selection in [
        "value",
        "value(path: \"/a/b\")",
        "select(query: \"$.a.*\") { value }",
    ] {
        for count in [1, 2, 6] {
            let documents = (0..count).map(|id| document(id, selection));
            let query = format!("{{ {} }}", documents.collect::<String>());
            let cost = compared.cost_of_condition(&query).await;
            assert_eq!(cost, (count as u64, 1), "{query}");
        }
    }
}

async fn a_condition_of_a_page_costs_what_a_filter_costs() {
    let compared = Compared::new().await;
    let page = r#"{ documents(collection: "notes") { nodes { key value(path: "/a") } } }"#;
    // A page without a filter becomes a search, which examines each document.
    let (ranges, rounds) = compared.cost_of_condition(page).await;
    assert!(ranges <= 7 && rounds <= 2, "{ranges} {rounds}");
    // A page with a filter examines one place more, in the same rounds.
    let filtered = r#"{ documents(collection: "notes", where: {at: "$.a.b", gte: 0}) { nodes { value(path: "/a") } } }"#;
    let (ranges, rounds) = compared.cost_of_condition(filtered).await;
    assert!(ranges <= 6 && rounds == 0, "{ranges} {rounds}");
    // An index serves the condition: one range of its entries.
    let on = r#"createIndex(collection: "notes", name: "open", on: ["$.open"]) { name }"#;
    compared.free.mutate(on).await;
    compared.free.build().await;
    let (ranges, rounds) = compared.cost_of_condition(page).await;
    assert!(ranges <= 1 && rounds <= 1, "{ranges} {rounds}");
}
