//! The check of stored documents against types: beside writers, other servers, changes of the types, and
//! snapshots that end.

use std::sync::Arc;
use std::sync::Mutex;

use async_trait::async_trait;
use futures::future::BoxFuture;
use phyllo::database::{Database, TypeCheckStep, TypeChecker, TypeState};
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::document::path::{Place, Segment};
use phyllo::error::{Error, ErrorKind, Result};
use phyllo::key::{Family, pack_leaf};
use phyllo::operations;
use phyllo::store::{Read, Store, StoreLimits, Transaction};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::{Client, NONE, client};
use super::types::{set_type, stored_type};
use super::types_model::fits;
use crate::injected::{Fault, Injected};

cases!(
    async [
        a_document_that_outlives_its_snapshot_is_checked,
        a_document_that_changes_while_it_outlives_its_snapshot_is_read_again,
        a_check_against_an_earlier_definition_is_not_recorded,
        two_servers_share_a_check,
        a_type_is_checked_again_on_demand,
        a_running_check_begins_again_on_demand,
        a_checker_of_one_collection_leaves_others_alone,
        a_simulation_outlives_its_snapshots,
        a_simulation_of_a_command_reads_many_documents_and_no_write_waits,
    ]
    threads [
        types_that_change_while_clients_write_hold,
    ]
    damaged("the cases damage it") [
        a_damaged_document_fits_no_type,
        a_damaged_type_does_not_keep_others_from_being_checked,
    ]
);

/// A database on another handle of the store of a client.
async fn opened(store: Arc<dyn Store>) -> Database {
    let deadline = Instant::now() + std::time::Duration::from_secs(30);
    let opened = Database::open(store, deadline).await;
    opened.expect("opened")
}

/// A document of a few MiB, the last leaf of which does not fit.
async fn large_document() -> Client {
    let client = client().await;
    let mut list: Vec<Value> = (0..600).map(|_| json!("x".repeat(8_000))).collect();
    list.push(json!(5));
    let query = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
    client.data(query, json!({"d": {"list": list}})).await;
    let strings = json!({"properties": {"list": {"items": {"type": "string"}}}});
    set_type(&client, "D", &strings).await;
    client
}

async fn a_document_that_outlives_its_snapshot_is_checked() {
    let client = large_document().await;
    let store = client.database.store().clone();
    let ending = Injected::new(store, Fault::SnapshotsEnd, 5);
    let mut checker = TypeChecker::new(opened(Arc::new(ending)).await);
    checker.finish().await.expect("checked");
    let stored = stored_type(&client).await;
    assert_eq!(stored["state"], "FAILED");
    assert_eq!(stored["violations"][0]["place"], "/list/600");
}

async fn a_document_that_changes_while_it_outlives_its_snapshot_is_read_again() {
    let client = large_document().await;
    let ending = Injected::new(client.database.store().clone(), Fault::SnapshotsEnd, 5);
    let writer = client.clone();
    let meanwhile = Meanwhile::at_snapshot(Arc::new(ending), 4, move || {
        let writer = writer.clone();
        Box::pin(async move {
            let change = r#"deleteDocument(id: 1, path: "/list/600") { deleted }"#;
            writer.mutate(change).await;
        })
    });
    let mut checker = TypeChecker::new(opened(meanwhile.clone()).await);
    let error = checker.step().await.expect_err("it has changed");
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(meanwhile.is_done(), "the document was changed");
    checker.finish().await.expect("checked");
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
}

async fn a_check_against_an_earlier_definition_is_not_recorded() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    let integers = json!({"properties": {"a": {"type": "integer"}}});
    set_type(&client, "D", &integers).await;
    let writer = client.clone();
    let again = integers.clone();
    // The document that does not fit is written after the checker has read, and before it records.
    let meanwhile = Meanwhile::at_begin(client.database.store().clone(), move || {
        let (writer, again) = (writer.clone(), again.clone());
        Box::pin(async move {
            set_type(&writer, "D", &json!({"type": "object"})).await;
            writer.insert("2", r#"{"a":"text"}"#).await;
            set_type(&writer, "D", &again).await;
        })
    });
    let mut checker = TypeChecker::new(opened(meanwhile.clone()).await);
    let step = checker.step().await.expect("a step");
    assert!(meanwhile.is_done(), "the type was set meanwhile");
    assert_eq!(step, TypeCheckStep::Documents("D".to_owned(), 0));
    checker.finish().await.expect("checked");
    let stored = stored_type(&client).await;
    assert_eq!(stored["state"], "FAILED");
    assert_eq!(stored["violations"][0]["key"], "2");
}

async fn two_servers_share_a_check() {
    let client = client().await;
    for id in 0..40 {
        client
            .insert(&id.to_string(), &json!({"a": id}).to_string())
            .await;
    }
    let type_of_a = |kind: &str| json!({"properties": {"a": {"type": kind}}});
    set_type(&client, "D", &type_of_a("string")).await;
    // On an engine that other processes can use, too, the first one to record has the lease.
    let shared: Arc<dyn Store> = Arc::new(Shared(client.database.store().clone()));
    let mut first = TypeChecker::new(opened(shared.clone()).await);
    let mut second = TypeChecker::new(opened(shared).await);
    let (one, other) = futures::join!(first.finish(), second.finish());
    one.expect("checked");
    other.expect("checked");
    let stored = stored_type(&client).await;
    assert_eq!(stored["state"], "FAILED");
    assert_eq!(stored["violations"].as_array().map(Vec::len), Some(40));
    set_type(&client, "D", &type_of_a("integer")).await;
    let (one, other) = futures::join!(second.finish(), first.finish());
    one.expect("checked");
    other.expect("checked");
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
}

async fn a_type_is_checked_again_on_demand() {
    let client = client().await;
    assert!(!again(&client).await, "it has no type");
    let integers = json!({"properties": {"a": {"type": "integer"}}});
    set_type(&client, "D", &integers).await;
    client.insert("1", r#"{"a":1}"#).await;
    // Another program changes the document.
    let place = Place(vec![Segment::Key("a".to_owned())]);
    let key = Family::Document("D", &DocumentId::Integer(1), &place)
        .key()
        .expect("short");
    set(&client, &key, &pack_leaf(&Leaf::String("x".into()))).await;
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
    assert!(again(&client).await);
    assert_eq!(stored_type(&client).await["state"], "CHECKING");
    assert!(again(&client).await);
    client.check_types().await;
    assert_eq!(stored_type(&client).await["state"], "FAILED");
    client
        .mutate(r#"replaceDocument(id: 1, path: "/a", document: 2) { key }"#)
        .await;
    assert!(again(&client).await);
    client.check_types().await;
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
}

async fn a_running_check_begins_again_on_demand() {
    let client = client().await;
    let ids: Vec<i64> = (0..600).collect();
    for some in ids.chunks(300) {
        let inserts = some
            .iter()
            .map(|id| format!("d{id}: insertDocument(id: {id}, document: {{a: \"x\"}}) {{ key }}"));
        client.mutate(&inserts.collect::<Vec<_>>().join(" ")).await;
    }
    let first = r#"replaceDocument(id: 0, path: "/a", document: 1) { key }"#;
    client.mutate(first).await;
    let strings = json!({"properties": {"a": {"type": "string"}}});
    set_type(&client, "D", &strings).await;
    let mut checker = TypeChecker::new(client.database.clone());
    let step = checker.step().await.expect("a step");
    assert!(matches!(step, TypeCheckStep::Documents(_, documents) if documents > 0));
    assert_eq!(stored_type(&client).await["violations"][0]["key"], "0");
    let corrected = r#"replaceDocument(id: 0, path: "/a", document: "y") { key }"#;
    client.mutate(corrected).await;
    assert!(again(&client).await);
    let stored = stored_type(&client).await;
    assert_eq!(
        (&stored["checked"], &stored["violations"]),
        (&json!(0), &json!([]))
    );
    checker.finish().await.expect("checked");
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
}

async fn a_simulation_outlives_its_snapshots() {
    let client = large_document().await;
    client
        .mutate(r#"dropCollectionType(collection: "D")"#)
        .await;
    let ending = Injected::new(client.database.store().clone(), Fault::SnapshotsEnd, 5);
    let database = opened(Arc::new(ending)).await;
    let strings = r#"{"properties": {"list": {"items": {"type": "string"}}}}"#;
    let simulated = operations::set_type(&database, "D", strings, true).await;
    let simulated = simulated.expect("simulated");
    assert!(simulated.complete);
    assert_eq!(simulated.misfits.len(), 1);
}

async fn a_checker_of_one_collection_leaves_others_alone() {
    let client = client().await;
    for collection in ["C", "D"] {
        let insert =
            format!("insertDocument(collection: {collection:?}, id: 1, document: {{}}) {{ key }}");
        client.mutate(&insert).await;
        set_type(&client, collection, &json!({"type": "object"})).await;
    }
    let mut checker = TypeChecker::of_collection(client.database.clone(), "D");
    checker.finish().await.expect("checked");
    let query = "{ collections { name type { state } } }";
    let data = client.data(query, NONE).await;
    let state = |at: usize| data["collections"][at]["type"]["state"].clone();
    assert_eq!((state(0), state(1)), (json!("CHECKING"), json!("ENFORCED")));
}

async fn a_simulation_of_a_command_reads_many_documents_and_no_write_waits() {
    /// More than the engines return in one batch.
    const DOCUMENTS: i64 = 2_300;
    let client = client().await;
    let ids: Vec<i64> = (0..DOCUMENTS).collect();
    for some in ids.chunks(500) {
        let inserts = some.iter().map(|id| {
            let value = if id + 1 == DOCUMENTS { "true" } else { "1" };
            format!("d{id}: insertDocument(id: {id}, document: {{a: {value}}}) {{ key }}")
        });
        client.mutate(&inserts.collect::<Vec<_>>().join(" ")).await;
    }
    // The only writer of the embedded engine. The simulation does not wait for it, and it not for the
    // simulation.
    let writer = client.database.store().begin().await.expect("begun");
    let integers = r#"{"properties": {"a": {"type": "integer"}}}"#;
    let simulated = operations::set_type(&client.database, "D", integers, true).await;
    let simulated = simulated.expect("simulated");
    drop(writer);
    assert_eq!(simulated.examined, Some(DOCUMENTS.cast_unsigned()));
    assert!(simulated.complete);
    assert_eq!(simulated.state, TypeState::Failed);
    let keys: Vec<_> = simulated.misfits.iter().map(|it| it.id.clone()).collect();
    assert_eq!(keys, [DocumentId::Integer(DOCUMENTS - 1)]);
    assert_eq!(stored_type(&client).await, Value::Null);
}

async fn again(client: &Client) -> bool {
    let begun = operations::check_type(&client.database, "D").await;
    begun.expect("begun")
}

async fn set(client: &Client, key: &[u8], value: &[u8]) {
    let transaction = client.database.store().begin().await.expect("begun");
    transaction.set(key, value);
    transaction.commit().await.expect("committed");
}

async fn a_damaged_document_fits_no_type() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    client.insert("2", r#"{"a":2}"#).await;
    let place = Place(vec![Segment::Key("b".to_owned())]);
    let key = Family::Document("D", &DocumentId::Integer(1), &place)
        .key()
        .expect("short");
    set(&client, &key, b"no leaf").await;
    set_type(&client, "D", &json!({"type": "object"})).await;
    client.check_types().await;
    let stored = stored_type(&client).await;
    assert_eq!(stored["state"], "FAILED");
    let found = stored["violations"].as_array().expect("a list");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["key"], &found[0]["value"]),
        (&json!("1"), &Value::Null)
    );
}

async fn a_damaged_type_does_not_keep_others_from_being_checked() {
    let client = client().await;
    for collection in ["C", "D"] {
        let insert =
            format!("insertDocument(collection: {collection:?}, id: 1, document: {{}}) {{ key }}");
        client.mutate(&insert).await;
        let schema = json!({"type": "object", "title": collection});
        set_type(&client, collection, &schema).await;
    }
    let text = Family::TypeText("C", 0).key().expect("short");
    set(&client, &text, b"{}").await;
    let mut checker = TypeChecker::new(opened(client.database.store().clone()).await);
    let ended = TypeCheckStep::Ended("D".to_owned(), TypeState::Enforced);
    assert_eq!(checker.step().await.expect("a step"), ended);
    let error = checker.step().await.expect_err("the type is damaged");
    assert_eq!(error.kind(), ErrorKind::Internal);
    // Writes are not accepted without validation, and dropping the type repairs it.
    let other = client.of_database(opened(client.database.store().clone()).await);
    let insert = r#"insertDocument(collection: "C", id: 2, document: {}) { key }"#;
    let (code, _) = other.error(&format!("mutation {{ {insert} }}"), NONE).await;
    assert_eq!(code, "INTERNAL");
    other.mutate(r#"dropCollectionType(collection: "C")"#).await;
    other.mutate(insert).await;
    checker.finish().await.expect("checked");
    // And so does another type.
    let schema = json!({"type": "object", "title": "E"});
    set_type(&client, "C", &schema).await;
    set(&client, &text, b"{}").await;
    let other = client.of_database(opened(client.database.store().clone()).await);
    let wider = json!({"type": ["object", "null"], "title": "E"});
    let again = set_type(&other, "C", &wider).await;
    assert_eq!(again["effect"], "NEEDS_CHECK");
    checker.finish().await.expect("checked");
}

/// The types that change while clients write. Each rejects documents that another one accepts.
fn changing() -> [Value; 3] {
    let of_list = |kind: &str| {
        json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": kind}, "list": {"type": "array", "items": {"type": kind}, "maxItems": 3}}})
    };
    [
        of_list("integer"),
        of_list("string"),
        json!({"type": "object"}),
    ]
}

async fn types_that_change_while_clients_write_hold() {
    const CLIENTS: u64 = 8;
    const WRITES: usize = 60;
    let client = client().await;
    let schemas = changing();
    let writers = (0..CLIENTS).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(number);
            for _ in 0..WRITES {
                let id = random.random_range(0..6);
                let value = [json!(number), json!("s")][random.random_range(0..2)].clone();
                let fields = match random.random_range(0..4) {
                    0 => format!("replaceDocument(id: {id}, document: {{a: {value}}}) {{ key }}"),
                    1 => format!("replaceDocument(id: {id}, path: \"/a\", document: {value}) {{ key }}"),
                    2 => format!("mergeDocument(id: {id}, patch: {{list: [{value}, {value}]}}) {{ key }}"),
                    _ => format!(
                        "patchDocument(id: {id}, patch: [{{op: \"add\", path: \"/list/-\", value: {value}}}]) {{ key }}"
                    ),
                };
                let response = client.ask(&format!("mutation {{ {fields} }}"), NONE).await;
                if let Some(errors) = response.get("errors") {
                    let code = errors[0]["extensions"]["code"].as_str().expect("a code");
                    let expected = ["TYPE_MISMATCH", "NOT_FOUND", "CONFLICT"];
                    assert!(expected.contains(&code), "{fields}: {response}");
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut checker = TypeChecker::new(client.database.clone());
    let mut random = StdRng::seed_from_u64(CLIENTS);
    let (mut enforced, mut sets) = (0, 0);
    while sets < 5 || writers.iter().any(|writer| !writer.is_finished()) {
        let schema = &schemas[random.random_range(0..schemas.len())];
        set_type(&client, "D", schema).await;
        sets += 1;
        for _ in 0..random.random_range(0..3) {
            // A check of documents that change all the time may have to be repeated.
            let _repeated = checker.step().await;
        }
        // In one snapshot: the state, and the documents.
        let query =
            "{ collections { type { schema state } } documents(first: 100) { nodes { value } } }";
        let data = client.data(query, NONE).await;
        let of = &data["collections"][0]["type"];
        if of["state"] == "ENFORCED" {
            enforced += 1;
            let nodes = data["documents"]["nodes"].as_array().expect("a list");
            let unfit = nodes
                .iter()
                .find(|node| !fits(&of["schema"], &node["value"]));
            assert_eq!(unfit, None, "{of}");
        }
    }
    for writer in writers {
        writer.await.expect("a client that did not fail");
    }
    assert!(enforced > 0, "no state was enforced after {sets} types");
    client.check_types().await;
    assert_eq!(client.check().await, []);
}

type Work = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// A store at which something happens once, just before a transaction begins or a snapshot is taken.
struct Meanwhile {
    inner: Arc<dyn Store>,
    /// The snapshots that are taken before. None for the next transaction.
    snapshots: Mutex<Option<usize>>,
    work: Mutex<Option<Work>>,
}

impl Meanwhile {
    fn at_begin(
        inner: Arc<dyn Store>,
        work: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner,
            snapshots: Mutex::new(None),
            work: Mutex::new(Some(Box::new(work))),
        })
    }

    fn at_snapshot(
        inner: Arc<dyn Store>,
        number: usize,
        work: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner,
            snapshots: Mutex::new(Some(number)),
            work: Mutex::new(Some(Box::new(work))),
        })
    }

    fn is_done(&self) -> bool {
        self.work.lock().expect("not poisoned").is_none()
    }

    async fn work(&self) {
        let work = self.work.lock().expect("not poisoned").take();
        if let Some(work) = work {
            work().await;
        }
    }

    /// Whether it is time, counting a snapshot.
    fn is_time(&self) -> bool {
        let mut left = self.snapshots.lock().expect("not poisoned");
        match &mut *left {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }
}

#[async_trait]
impl Store for Meanwhile {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        if self.is_time() {
            self.work().await;
        }
        self.inner.snapshot().await
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        let at_begin = self.snapshots.lock().expect("not poisoned").is_none();
        if at_begin {
            self.work().await;
        }
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

/// A store that other processes may use, too.
struct Shared(Arc<dyn Store>);

#[async_trait]
impl Store for Shared {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        self.0.snapshot().await
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        self.0.begin().await
    }

    fn limits(&self) -> StoreLimits {
        self.0.limits()
    }

    fn is_exclusive(&self) -> bool {
        false
    }

    async fn ready(&self) -> Result<()> {
        self.0.ready().await
    }

    async fn failed(&self) -> Error {
        self.0.failed().await
    }
}
