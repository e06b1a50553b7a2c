//! Checks that take longer than the engine keeps a snapshot.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::future::BoxFuture;
use phyllo::database::{Check, Finding, Severity, Summary};
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::document::path::{Place, Segment};
use phyllo::error::{Error, Result};
use phyllo::key::{Family, IndexKey, IndexValue};
use phyllo::store::{Decision, Read, Store, StoreLimits, Transaction};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::time::Instant;

use super::support::{Client, client};
use crate::injected::{Fault, Injected};

cases!(
    async [
        a_check_beside_writers_finds_no_false_faults,
        a_check_ends_although_collections_and_indexes_grow,
    ]
    damaged("the cases damage it") [
        a_check_in_many_snapshots_finds_what_one_in_one_snapshot_finds,
        faults_are_found_beside_writers,
        a_snapshot_that_ends_at_once_is_an_error,
    ]
);

/// Enough for the documents that are read at the same time.
const READS: [usize; 4] = [300, 401, 557, 1_000];
const DOCUMENTS: i64 = 150;

async fn filled() -> Client {
    let client = client().await;
    client.log_changes().await;
    client
        .mutate(
            r#"a: createIndex(name: "n", on: ["$.n"], unique: true) { state }
               b: createIndex(name: "tags", on: ["$.tags[*]", "$.group"]) { state }
               c: createIndex(collection: "E", name: "n", on: ["$.n"]) { state }"#,
        )
        .await;
    for first in (0..DOCUMENTS).step_by(25) {
        let mutations: String = (first..first + 25)
            .map(|id| insert(id, "D") + &insert(id, "E"))
            .collect();
        client.mutate(&mutations).await;
    }
    client
}

fn insert(id: i64, collection: &str) -> String {
    let text = "x".repeat(usize::try_from(id % 3).expect("small") * 20);
    format!(
        r#"{collection}{id}: insertDocument(collection: "{collection}", id: {id}, document: {{
            n: {id}, tags: ["a", "b{id}"], group: {}, text: "{text}", list: [1, [2, 3], {{}}]
        }}) {{ key }} "#,
        id % 7
    )
}

/// Runs a check to its end.
async fn run(mut check: Check) -> (Vec<Finding>, Summary) {
    let mut found = Vec::new();
    while let Some(finding) = check.next_finding().await.expect("a check") {
        found.push(finding);
    }
    found.sort_by(|a, b| (&a.key, &a.code).cmp(&(&b.key, &b.code)));
    (found, check.summary())
}

/// Damages the documents and entries of two documents, and the count of a collection. Returns the codes
/// of the findings.
async fn damage(client: &Client, id: i64) -> Vec<&'static str> {
    let index = IndexKey::new("D", 1).expect("short");
    let entry = |value: i64| {
        let value = IndexValue::of_leaf(&Leaf::Integer(value));
        let entry = index.entry(value.bytes(), &DocumentId::Integer(id));
        entry.expect("short")
    };
    let list = Place(vec![Segment::Key("list".to_owned()), Segment::Index(9)]);
    let hole = Family::Document("D", &DocumentId::Integer(id + 1), &list);
    let hole = hole.key().expect("short");
    let count = Family::Count("E", 0).key().expect("short");
    let (missing, stale) = (entry(id), entry(1_000_000));
    let deadline = Instant::now() + std::time::Duration::from_secs(30);
    let write = move |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        transaction.clear(&missing);
        transaction.set(&stale, b"");
        transaction.set(&hole, &foundationdb_tuple::pack(&7_i64));
        transaction.add(&count, 1);
        Box::pin(std::future::ready(Ok(Decision::Commit(()))))
    };
    client
        .database
        .transact(deadline, write)
        .await
        .expect("damaged");
    vec!["COUNT", "HOLE", "NO_INDEX_ENTRY", "STALE_INDEX_ENTRY"]
}

fn codes(found: &[Finding]) -> Vec<&str> {
    let mut codes: Vec<_> = found.iter().map(|finding| &*finding.code).collect();
    codes.sort_unstable();
    codes
}

async fn a_check_in_many_snapshots_finds_what_one_in_one_snapshot_finds() {
    let client = filled().await;
    let store = client.database.store().clone();
    for is_damaged in [false, true] {
        let mut expected = Vec::new();
        if is_damaged {
            expected = damage(&client, 77).await;
        }
        let snapshot = store.snapshot().await.expect("a snapshot");
        let once = run(Check::new(&snapshot, None)).await;
        assert_eq!(codes(&once.0), expected);
        for reads in READS {
            let ending = Ending::new(&store, reads, None);
            let check = Check::of_store(ending.clone(), None).await;
            assert_eq!(run(check.expect("begun")).await, once, "{reads}");
            let taken = ending.taken.load(Ordering::Relaxed);
            assert!(taken > 2, "{taken} snapshots of {reads} reads");
        }
    }
}

async fn a_check_beside_writers_finds_no_false_faults() {
    for (seed, reads) in (0..).zip(READS) {
        let client = filled().await;
        let store = client.database.store().clone();
        let ending = Ending::new(&store, reads, Some((client.clone(), seed)));
        let check = Check::of_store(ending.clone(), None).await;
        let (found, _) = run(check.expect("begun")).await;
        assert_eq!(found, [], "{seed}");
        let taken = ending.taken.load(Ordering::Relaxed);
        assert!(taken > 2, "{taken} snapshots of {reads} reads");
    }
}

async fn a_check_ends_although_collections_and_indexes_grow() {
    let client = filled().await;
    let store = client.database.store().clone();
    let ending = Arc::new(Ending {
        writes: Writes::Ascending,
        ..Ending::within(&store, 300, Some((client.clone(), 0)))
    });
    let check = Check::of_store(ending.clone(), None).await;
    let (found, _) = run(check.expect("begun")).await;
    assert_eq!(found, []);
}

async fn faults_are_found_beside_writers() {
    for (seed, reads) in (10..).zip(READS) {
        let client = filled().await;
        let store = client.database.store().clone();
        // The writers do not change these documents.
        let expected = damage(&client, DOCUMENTS - 2).await;
        let ending = Ending::new(&store, reads, Some((client.clone(), seed)));
        let check = Check::of_store(ending, None).await;
        let (found, summary) = run(check.expect("begun")).await;
        assert_eq!(codes(&found), expected, "{seed}: {found:#?}");
        let faults = found.iter().filter(|it| it.severity == Severity::Fault);
        assert_eq!(summary.faults, faults.count() as u64);
    }
}

async fn a_snapshot_that_ends_at_once_is_an_error() {
    let client = filled().await;
    let store = client.database.store().clone();
    let ending = Ending::new(&store, 0, None);
    let check = Check::of_store(ending.clone(), None).await;
    check
        .expect("begun")
        .next_finding()
        .await
        .expect_err("it cannot be read");
    assert!(ending.taken.load(Ordering::Relaxed) < 20);
}

/// A store that drops each snapshot after some reads. Before it takes the next one, other clients
/// change the store.
struct Ending {
    inner: Injected,
    taken: AtomicUsize,
    /// A client, and the seed of its changes.
    writer: Option<(Client, u64)>,
    writes: Writes,
}

/// What other clients do between two snapshots.
enum Writes {
    /// Random changes of a few documents.
    Random,
    /// New documents behind all others, more than a check reads in one snapshot.
    Ascending,
}

/// More snapshots than any check here needs.
const SNAPSHOTS_MAX: u64 = 300;

impl Ending {
    fn new(store: &Arc<dyn Store>, reads: usize, writer: Option<(Client, u64)>) -> Arc<Self> {
        Arc::new(Self::within(store, reads, writer))
    }

    fn within(store: &Arc<dyn Store>, reads: usize, writer: Option<(Client, u64)>) -> Self {
        Self {
            inner: Injected::new(store.clone(), Fault::SnapshotsEnd, reads),
            taken: AtomicUsize::new(0),
            writer,
            writes: Writes::Random,
        }
    }
}

/// Stores documents whose ids and values are behind those of all others.
async fn append(client: &Client, turn: u64) {
    let first = 1_000_000 + 1_000 * i64::try_from(turn).expect("small");
    let inserts: String = (first..first + 100)
        .map(|id| format!("d{id}: insertDocument(id: {id}, document: {{n: {id}}}) {{ key }} "))
        .collect();
    client.mutate(&inserts).await;
}

/// Random changes of documents, which create, delete and move values of both indexes.
async fn change(client: &Client, random: &mut StdRng) {
    for number in 0..4 {
        let id = random.random_range(0..DOCUMENTS - 4);
        let other = random.random_range(0..DOCUMENTS - 4);
        let collection = ["D", "E"][random.random_range(0..2)];
        let value = random.random_range(1_000..1_000_000_000);
        let mutation = match random.random_range(0..5) {
            0 => format!(r#"deleteDocument(collection: "{collection}", id: {id}) {{ deleted }}"#),
            1 => format!(
                r#"insertDocument(collection: "{collection}", id: "new{value}", document: {{
                    n: {value}, tags: ["a"] }}) {{ key }}"#
            ),
            2 => format!(
                r#"replaceDocument(collection: "{collection}", id: {id}, document: {{
                    n: {value}, tags: ["a", {number}], group: {number} }}) {{ key }}"#
            ),
            3 => format!(
                r#"mergeDocument(collection: "{collection}", id: {id}, patch: {{
                    tags: ["b", {value}] }}) {{ key }}"#
            ),
            // The unique values of two documents are exchanged.
            _ => format!(
                r#"a: mergeDocument(id: {id}, patch: {{n: {other}}}) {{ key }}
                   b: mergeDocument(id: {other}, patch: {{n: {id}}}) {{ key }}"#
            ),
        };
        // A unique value may be taken.
        client
            .ask(&format!("mutation {{ {mutation} }}"), json!({}))
            .await;
    }
}

#[async_trait]
impl Store for Ending {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed) as u64;
        if let Some((client, seed)) = &self.writer
            && taken > 0
        {
            assert!(taken < SNAPSHOTS_MAX, "the check does not end");
            match self.writes {
                Writes::Random => {
                    let mut random = StdRng::seed_from_u64(1_000 * seed + taken);
                    change(client, &mut random).await;
                }
                Writes::Ascending => append(client, taken).await,
            }
        }
        self.inner.snapshot().await
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
