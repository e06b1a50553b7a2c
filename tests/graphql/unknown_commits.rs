//! Commits with an unknown outcome are told to subscribers exactly once: those that took effect as
//! well as those that were repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use phyllo::store::Store;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use super::replica::Responses;
use super::support::{Client, NONE, NotExclusive, client_of};
use crate::injected::{Fault, Injected};
use crate::seed::test_seed;

cases!(threads[changes_of_unknown_commits_are_told_once_and_in_order]);

const WRITERS: u64 = 4;
/// The keys of the documents that all writers change.
const KEYS: u32 = 8;
const CHANGES: &str = "cursor version kind key patch resync";
/// Those who resume at the same time.
const RESUMED: usize = 3;

/// The documents of one commit after it. `None` if it removed the document.
type Committed = BTreeMap<String, Option<Value>>;

/// The documents at a version, by their keys.
type Documents = BTreeMap<String, Value>;

async fn changes_of_unknown_commits_are_told_once_and_in_order() {
    let seed = test_seed();
    let faulty = |store| Injected::new(store, Fault::CommitUnknownAtRandom, usize::MAX);
    let store: Arc<dyn Store> = Arc::new(super::empty_store().await);
    let client = client_of(NotExclusive(faulty(store))).await;
    client.log_changes().await;
    let mut changes = subscribe(&client, "").await;
    let begin = client.data("{ changesCursor }", NONE).await;
    let reader = tokio::spawn(read_in_parts(
        client.clone(),
        seed,
        begin["changesCursor"].clone(),
    ));
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| tokio::spawn(write(client.clone(), seed + number, number)))
        .collect();
    let mut committed = BTreeMap::new();
    let mut told = Vec::new();
    for writer in writers {
        for (version, documents) in writer.await.expect("a writer that did not fail") {
            let twice = committed.insert(version.clone(), documents);
            assert!(twice.is_none(), "two commits of version {version}");
        }
    }
    let last = client.mutate("mergeDocument(id: \"end\", patch: 1) { version }");
    let last = last.await["mergeDocument"]["version"].clone();
    while told
        .last()
        .is_none_or(|change: &Value| change["version"] != last)
    {
        told.push(next(&mut changes).await);
    }
    changes.assert_silent().await;
    let parts = reader.await.expect("a reader that did not fail");
    assert_eq!(parts, told);
    told.pop();
    let versions = replay(&told, &committed);
    assert_eq!(versions, committed.keys().cloned().collect());
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..RESUMED {
        resume(&client, &told, random.random_range(0..told.len())).await;
    }
    assert_eq!(client.check().await, []);
}

/// Applies the changes. After those of each version, its documents must be those that its writer
/// got. Returns the versions.
fn replay(told: &[Value], committed: &BTreeMap<String, Committed>) -> BTreeSet<String> {
    let mut documents = Documents::new();
    let mut versions = BTreeSet::new();
    for changes in told.chunk_by(|one, next| one["version"] == next["version"]) {
        let version = changes[0]["version"].as_str().expect("a version");
        let newest = versions.last().map_or("", String::as_str);
        assert!(version > newest, "{version} after {newest}");
        versions.insert(version.to_owned());
        let expected = committed.get(version);
        let expected = expected.unwrap_or_else(|| panic!("nobody wrote {changes:?}"));
        for change in changes {
            apply(&mut documents, change);
        }
        let changed = |change: &Value| {
            let key = change["key"].as_str().expect("a key").to_owned();
            (key.clone(), documents.get(&key).cloned())
        };
        let found: Vec<_> = changes.iter().map(changed).collect();
        assert_eq!(found.len(), expected.len(), "{changes:?}");
        assert_eq!(Committed::from_iter(found), *expected, "{changes:?}");
    }
    versions
}

/// Applies one change to the documents.
fn apply(documents: &mut Documents, change: &Value) {
    assert_eq!(change["resync"], json!(false));
    let key = change["key"].as_str().expect("a key");
    let before = documents.remove(key);
    let kind = change["kind"].as_str().expect("a kind");
    assert_eq!(before.is_some(), kind != "CREATED", "{change}");
    if kind == "DELETED" {
        return;
    }
    let mut document = before.unwrap_or_default();
    let patch: json_patch::Patch =
        serde_json::from_value(change["patch"].clone()).expect("a JSON Patch");
    json_patch::patch(&mut document, &patch).unwrap_or_else(|error| panic!("{error}: {change}"));
    documents.insert(key.to_owned(), document);
}

/// Who resumes after a change gets the same further ones.
async fn resume(client: &Client, told: &[Value], at: usize) {
    let after = format!("(after: {})", told[at]["cursor"]);
    let mut changes = subscribe(client, &after).await;
    for change in &told[at + 1..] {
        assert_eq!(next(&mut changes).await, *change);
    }
    assert_eq!(next(&mut changes).await["key"], "end");
    changes.assert_silent().await;
}

async fn subscribe(client: &Client, arguments: &str) -> Responses {
    let query = format!("subscription {{ changes{arguments} {{ {CHANGES} }} }}");
    client.subscribe(&query).await
}

async fn next(changes: &mut Responses) -> Value {
    let mut response = changes.next().await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["changes"].take()
}

/// Resumes again and again, each time after some changes, until the last one.
async fn read_in_parts(client: Client, seed: u64, mut cursor: Value) -> Vec<Value> {
    let mut random = StdRng::seed_from_u64(!seed);
    let mut told = Vec::new();
    loop {
        let mut changes = subscribe(&client, &format!("(after: {cursor})")).await;
        for _ in 0..random.random_range(1..10) {
            let change = next(&mut changes).await;
            let is_last = change["key"] == "end";
            cursor = change["cursor"].clone();
            told.push(change);
            if is_last {
                return told;
            }
        }
    }
}

/// Random operations of one writer. Returns the commits that changed something, by their versions.
async fn write(client: Client, seed: u64, number: u64) -> Vec<(String, Committed)> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut committed = Vec::new();
    for round in 0..3 * u64::from(super::sequences()) {
        let (key, other) = (random.random_range(0..KEYS), random.random_range(0..KEYS));
        // A value that no other operation writes. Increments change a value by far less than values
        // differ, so they do not make a value either, and each operation changes its document.
        let value = (number * 100_000 + round + 1) * 1_000_000_000;
        let query = match random.random_range(0..6) {
            0 => format!("b: mergeDocument(id: {key}, patch: {{n: {value}, tags: []}}) {{ F }}"),
            1 => format!(
                "b: incrementDocument(id: {key}, path: \"/n\", by: {}) {{ F }}",
                round + 1
            ),
            2 => format!(
                "b: patchDocument(id: {key}, patch: [{{op: \"add\", path: \"/tags/0\", value: {value}}}]) {{ F }}"
            ),
            3 => format!("b: appendDocument(document: {{n: {value}}}) {{ F }}"),
            4 => format!(
                "a: deleteDocument(id: {key}) {{ deleted }} b: mergeDocument(id: \"log\", patch: {value}) {{ F }}"
            ),
            _ => format!(
                "a: mergeDocument(id: {key}, patch: {{m: {value}}}) {{ F }} \
                 b: mergeDocument(id: {other}, patch: {{o: {value}}}) {{ F }}"
            ),
        };
        let query = query.replace('F', "key version value");
        let response = client.ask(&format!("mutation {{ {query} }}"), NONE).await;
        if let Some(code) = response["errors"][0]["extensions"]["code"].as_str() {
            // The document or the place does not exist.
            assert!(
                ["NOT_FOUND", "BAD_USER_INPUT", "TEST_FAILED"].contains(&code),
                "{response}"
            );
            continue;
        }
        let data = &response["data"];
        let version = data["b"]["version"].as_str().expect("a version").to_owned();
        committed.push((version, documents_of(data, key)));
    }
    committed
}

/// The documents that a mutation changed. `key` is that of a deletion.
fn documents_of(data: &Value, key: u32) -> Committed {
    let mut committed = Committed::new();
    for field in ["a", "b"] {
        let answer = &data[field];
        if answer["deleted"] == json!(true) {
            committed.insert(key.to_string(), None);
        }
        if let Some(key) = answer["key"].as_str() {
            committed.insert(key.to_owned(), Some(answer["value"].clone()));
        }
    }
    committed
}
