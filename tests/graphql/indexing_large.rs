//! Indexes on documents that exceed one read batch: built in several transactions while the
//! documents change, and maintained.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use foundationdb_tuple::{Bytes, pack, unpack};
use futures::future::BoxFuture;
use phyllo::database::{BuildStep, Builder};
use phyllo::key::{Family, IndexKey, IndexValue, Leaves};
use phyllo::store::{Decision, Transaction};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::{Client, NONE, all_pairs, client};

cases!(
    async [
        large_documents_are_found_by_indexes_created_before_or_after_them,
        unique_indexes_on_large_documents_fail_and_name_a_duplicate,
        documents_that_grow_by_copies_keep_their_unique_values,
        large_documents_are_indexed_by_a_builder_that_resumes_in_the_middle,
        deleting_a_large_document_clears_its_entries,
        an_array_that_changes_during_an_index_build_has_correct_entries,
        strings_too_large_for_an_entry_in_a_large_array_fail_the_index,
    ]
);

/// An array of equal strings, followed by another one.
fn filled(elements: usize, last: &str) -> String {
    let mut json = String::from(r#"{"items":["#);
    for _ in 0..elements {
        json.push_str(r#""filler","#);
    }
    write!(json, "{last:?}]}}").expect("room");
    json
}

async fn state(client: &Client, name: &str) -> (String, String) {
    let query = "{ collections { indexes { name state error } } }";
    let data = client.data(query, NONE).await;
    let indexes = data["collections"][0]["indexes"].as_array().cloned();
    let indexes = indexes.expect("indexes");
    let index = indexes.iter().find(|index| index["name"] == name);
    let index = index.expect("an index of this name");
    let text = |field: &str| index[field].as_str().unwrap_or_default().to_owned();
    (text("state"), text("error"))
}

async fn create(client: &Client, name: &str, on: Value, unique: bool) {
    let fields = format!("createIndex(name: {name:?}, on: {on}, unique: {unique}) {{ state }}");
    client.mutate(&fields).await;
}

/// The entries of the index of this number, without its prefix.
async fn entries(client: &Client, number: u64) -> BTreeSet<Vec<u8>> {
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let key = IndexKey::new("D", number).expect("short");
    let (begin, end) = key.all();
    let pairs = all_pairs(&*snapshot, &begin, &end).await;
    let entries = pairs
        .iter()
        .map(|(entry, _)| key.relative(entry).expect("an entry").to_vec());
    entries.collect()
}

async fn found(client: &Client, mark: &str) -> Value {
    let query = format!(
        "{{ documents(where: {{at: \"$.items[*]\", eq: {mark:?}}}) {{ nodes {{ key }} }} }}"
    );
    client.data(&query, NONE).await["documents"]["nodes"].take()
}

async fn large_documents_are_found_by_indexes_created_before_or_after_them() {
    let client = client().await;
    create(&client, "before", json!(["$.items[*]"]), false).await;
    for id in 0..3 {
        // Fits into a transaction of a cluster.
        let document = filled(130_000, &format!("mark-{id}"));
        client.insert(&id.to_string(), document).await;
    }
    assert_eq!(found(&client, "mark-2").await, json!([{"key": "2"}]));
    create(&client, "after", json!(["$.items[*]"]), false).await;
    client.build().await;
    assert_eq!(state(&client, "after").await.0, "READY");
    assert_eq!(entries(&client, 1).await.len(), 6);
    assert_eq!(entries(&client, 1).await, entries(&client, 2).await);
    client.mutate("dropIndex(name: \"before\")").await;
    for id in 0..3 {
        let id = id.to_string();
        assert_eq!(
            found(&client, &format!("mark-{id}")).await,
            json!([{"key": id}])
        );
    }
    assert_eq!(client.check().await, []);
}

async fn unique_indexes_on_large_documents_fail_and_name_a_duplicate() {
    let client = client().await;
    for id in 0..2 {
        let document = filled(30_000, "mark").replace("filler", &format!("filler-{id}"));
        client.insert(&id.to_string(), document).await;
    }
    create(&client, "unique", json!(["$.items[*]"]), true).await;
    client.build().await;
    let (state, error) = state(&client, "unique").await;
    assert_eq!(state, "FAILED");
    for told in ["the document 1", "\"mark\"", "of the document 0 already"] {
        assert!(error.contains(told), "{error}");
    }
    assert_eq!(entries(&client, 1).await.len(), 0);
}

async fn documents_that_grow_by_copies_keep_their_unique_values() {
    let client = client().await;
    create(&client, "unique", json!(["$.a[*]"]), true).await;
    let large = "x".repeat(3 << 20);
    client
        .insert("1", json!({"a": ["mark0", {"x": large}]}))
        .await;
    for copy in 2..10 {
        let patch = format!(
            r#"[{{op: "copy", from: "/a/1", path: "/a/-"}},
                {{op: "add", path: "/a/{copy}/n", value: {copy}}}]"#
        );
        client
            .mutate(&format!("patchDocument(id: 1, patch: {patch}) {{ key }}"))
            .await;
    }
    assert_eq!(entries(&client, 1).await.len(), 10);
    let again = r#"mutation { insertDocument(id: 2, document: {a: ["mark0"]}) { key } }"#;
    let (code, _) = client.error(again, NONE).await;
    assert_eq!(code, "UNIQUE_VIOLATION");
    assert_eq!(client.check().await, []);
}

/// Ends the lease of the builder of the index of this number.
async fn end_lease(client: &Client, number: u64) {
    let write = move |transaction: Arc<dyn Transaction>| {
        Box::pin(async move {
            let key = Family::Build("D", number).key()?;
            let value = transaction.get(&key).await?.expect("a build");
            let (name, owner, _, position): (String, Bytes<'_>, i64, Bytes<'_>) =
                unpack(&value).expect("a build");
            transaction.set(&key, &pack(&(&name[..], owner, 0_i64, position)));
            Ok(Decision::Commit(()))
        }) as BoxFuture<'static, _>
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    let written = client.database.transact(deadline, write).await;
    assert!(written.is_ok());
}

async fn large_documents_are_indexed_by_a_builder_that_resumes_in_the_middle() {
    let client = client().await;
    let items: Vec<usize> = (0..30_000).collect();
    client.insert("1", json!({"items": items})).await;
    client.insert("2", json!({"items": [7]})).await;
    create(&client, "n", json!(["$.items[*]"]), false).await;
    let mut first = Builder::new(client.database.clone());
    let mut before = 0;
    while before == 0 {
        let step = first.step().await.expect("a batch");
        assert!(matches!(step, BuildStep::Documents(_, _, 0)), "{step:?}");
        before = entries(&client, 1).await.len();
    }
    assert!(before < 10_000, "one transaction set {before} entries");
    drop(first);
    end_lease(&client, 1).await;
    client.build().await;
    assert_eq!(state(&client, "n").await.0, "READY");
    assert_eq!(entries(&client, 1).await.len(), 30_001);
    assert_eq!(client.check().await, []);
}

async fn deleting_a_large_document_clears_its_entries() {
    let client = client().await;
    create(&client, "n", json!(["$.items[*]"]), false).await;
    create(&client, "pair", json!(["$.s", "$.items[*].v"]), false).await;
    let items: Vec<usize> = (0..30_000).collect();
    client.insert("1", json!({"s": 1, "items": items})).await;
    client.insert("2", json!({"s": 1, "items": [7]})).await;
    assert_eq!(entries(&client, 1).await.len(), 30_001);
    client.mutate("deleteDocument(id: 1) { deleted }").await;
    assert_eq!(entries(&client, 1).await.len(), 1);
    assert_eq!(entries(&client, 2).await.len(), 1);
    assert_eq!(client.check().await, []);
}

async fn strings_too_large_for_an_entry_in_a_large_array_fail_the_index() {
    let client = client().await;
    let mut items: Vec<Value> = (0..20_000).map(|number| json!(number)).collect();
    items[19_000] = json!("x".repeat(150_000));
    client.insert("1", json!({"items": items})).await;
    create(&client, "n", json!(["$.items[*]"]), false).await;
    client.build().await;
    let (state, error) = state(&client, "n").await;
    assert_eq!(state, "FAILED");
    assert!(error.contains("the document 1"), "{error}");
    assert!(error.contains("bytes at $.items[*] is too long"), "{error}");
    assert_eq!(entries(&client, 1).await.len(), 0);
}

/// The kinds of random changes.
const INDEXES: [&[&str]; 4] = [
    &["$.items[*]"],
    &["$.s", "$.items[*]"],
    &["$.s", "$.items[*].v"],
    &["$.items[*].v", "$.s"],
];

/// A document in memory that changes like the stored one.
struct Model {
    random: StdRng,
    document: Option<Value>,
    /// One in this many elements is an object with a member `v`.
    objects: u32,
}

impl Model {
    fn element(&mut self) -> Value {
        let value = self.random.random_range(0..12_000);
        if self.random.random_ratio(1, self.objects) {
            json!({"v": value})
        } else {
            json!(value)
        }
    }

    fn new_document(&mut self) -> Value {
        let items: Vec<Value> = (0..12_000).map(|_| self.element()).collect();
        json!({"s": self.random.random_range(0..3), "items": items})
    }

    fn items(&mut self) -> &mut Vec<Value> {
        let document = self.document.as_mut().expect("a document");
        document["items"].as_array_mut().expect("an array")
    }

    /// Changes the document, and returns the mutation that does the same.
    fn change(&mut self) -> (String, Value) {
        let none = Value::Null;
        if self.document.is_none() {
            let document = self.new_document();
            self.document = Some(document.clone());
            return (
                "insertDocument(id: 1, document: $v) { key }".to_owned(),
                document,
            );
        }
        let length = self.items().len();
        let at = self.random.random_range(0..length);
        let element = self.element();
        let patch = |op: &str, at: &str| {
            format!(
                "patchDocument(id: 1, patch: [{{op: {op:?}, path: \"/items/{at}\", value: $v}}]) \
                 {{ key }}"
            )
        };
        match self.random.random_range(0..9) {
            0 => {
                self.items().insert(0, element.clone());
                (patch("add", "0"), element)
            }
            1 => {
                self.items().insert(at, element.clone());
                (patch("add", &at.to_string()), element)
            }
            2 => {
                self.items().push(element.clone());
                (patch("add", "-"), element)
            }
            3 | 4 => {
                self.items()[at] = element.clone();
                (patch("replace", &at.to_string()), element)
            }
            5 => {
                self.items().remove(at);
                (
                    format!("deleteDocument(id: 1, path: \"/items/{at}\") {{ deleted }}"),
                    none,
                )
            }
            6 => {
                let s = json!(self.random.random_range(0..3));
                self.document.as_mut().expect("a document")["s"] = s.clone();
                let field = "replaceDocument(id: 1, path: \"/s\", document: $v) { key }";
                (field.to_owned(), s)
            }
            7 if self.random.random_ratio(1, 3) => {
                self.document = None;
                ("deleteDocument(id: 1) { deleted }".to_owned(), none)
            }
            _ => {
                let last = json!({"v": 20_000});
                let objects = self.items().iter().position(|item| item == &last);
                // The only object is added and removed.
                if let Some(at) = objects {
                    self.items()[at] = json!(1);
                    (patch("replace", &at.to_string()), json!(1))
                } else {
                    self.items()[at] = last.clone();
                    (patch("replace", &at.to_string()), last)
                }
            }
        }
    }

    /// The number of entries of the document in an index, by definition.
    fn entries(&self, on: &[&str]) -> usize {
        let Some(document) = &self.document else {
            return 0;
        };
        let items = document["items"].as_array().expect("an array").iter();
        let values: Vec<&Value> = if on.contains(&"$.items[*].v") {
            items.filter_map(|item| item.get("v")).collect()
        } else {
            items.collect()
        };
        let packed = values.into_iter().map(|value| {
            let leaves = Leaves::from_json(&value.to_string()).expect("JSON");
            let value = IndexValue::of_leaves(&leaves).expect("short");
            value.expect("a value").bytes().to_vec()
        });
        let packed: BTreeSet<Vec<u8>> = packed.collect();
        let says_missing = packed.is_empty() && on[0] == "$.s";
        packed.len() + usize::from(says_missing)
    }
}

async fn an_array_that_changes_during_an_index_build_has_correct_entries() {
    let seeds = std::env::var("PHYLLO_MODEL_RUNS").ok();
    let seeds: u64 = seeds.and_then(|runs| runs.parse().ok()).unwrap_or(1);
    for seed in 0..seeds {
        for (number, on) in INDEXES.iter().enumerate() {
            changes_while_built(seed * 10 + number as u64, on).await;
        }
    }
}

async fn changes_while_built(seed: u64, on: &[&str]) {
    let mut random = StdRng::seed_from_u64(seed);
    let client = client().await;
    let objects = [2, 5_000, u32::MAX][random.random_range(0..3)];
    let mut model = Model {
        random,
        document: None,
        objects,
    };
    let change = async |model: &mut Model| {
        let (field, value) = model.change();
        let declared = if field.contains("$v") {
            "($v: JSON)"
        } else {
            ""
        };
        let query = format!("mutation{declared} {{ {field} }}");
        let variables = if declared.is_empty() {
            json!({})
        } else {
            json!({"v": value})
        };
        client.data(&query, variables).await;
    };
    change(&mut model).await;
    create(&client, "i", json!(on), false).await;
    let mut builder = Builder::new(client.database.clone());
    loop {
        for _ in 0..model.random.random_range(0..4) {
            change(&mut model).await;
        }
        match builder.step().await.expect("a batch") {
            BuildStep::Ready(..) => break,
            BuildStep::Documents(..) => {}
            other => panic!("seed {seed}: {other:?}"),
        }
        if model.random.random_ratio(1, 12) {
            end_lease(&client, 1).await;
            builder = Builder::new(client.database.clone());
        }
    }
    for round in 0..3 {
        create(&client, &format!("after {round}"), json!(on), false).await;
        client.build().await;
        let kept = entries(&client, 1).await;
        assert_eq!(kept.len(), model.entries(on), "seed {seed}, {on:?}");
        let built = entries(&client, round + 2).await;
        assert!(kept == built, "seed {seed}, {on:?}");
        for _ in 0..6 {
            change(&mut model).await;
        }
    }
    assert_eq!(client.check().await, [], "seed {seed}");
}
