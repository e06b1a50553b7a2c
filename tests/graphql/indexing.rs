//! Indexes: creating, building and dropping them, uniqueness, and maintenance by every change.
//! Queries by index are tested in `finding` and `plans`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use foundationdb_tuple::{Bytes, pack, unpack};
use phyllo::database::{BuildStep, Builder};
use phyllo::document::id::DocumentId;
use phyllo::key::{Family, IndexKey};
use phyllo::store::{Decision, Store, Transaction};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::{Client, NONE, NotExclusive, all_pairs, client, client_of};

cases!(
    async [
        indexes_on_empty_collections_are_ready_immediately,
        existing_indexes_are_returned_and_name_conflicts_are_rejected,
        invalid_indexes_are_rejected,
        duplicate_values_are_rejected_by_every_mutation,
        missing_values_and_duplicates_within_a_document_violate_nothing,
        values_too_large_for_an_entry_are_rejected_with_the_index_name,
        indexes_on_existing_documents_are_built_and_then_used,
        builds_resume_on_another_server_after_the_lease_expires,
        leases_that_end_implausibly_late_are_void,
        foreign_leases_are_ignored_if_no_other_process_can_build,
        builds_that_find_a_violation_fail_and_leave_no_entries,
        dropped_indexes_leave_no_data,
        foreign_documents_get_entries_when_they_are_written,
    ]
    threads [
        indexes_are_built_while_documents_change,
        one_of_many_concurrent_writers_of_a_unique_value_succeeds,
    ]
);

async fn indexes(client: &Client) -> Value {
    let query = "{ collections { name count indexes { name on unique state error } } }";
    client.data(query, NONE).await["collections"].take()
}

async fn state(client: &Client, name: &str) -> (String, Value) {
    let collections = indexes(client).await;
    let all = collections[0]["indexes"].as_array().expect("indexes");
    let index = all.iter().find(|index| index["name"] == name);
    let index = index.unwrap_or_else(|| panic!("no index {name}: {collections}"));
    let state = index["state"].as_str().expect("a state");
    (state.to_owned(), index["error"].clone())
}

/// The entries of the index of this number, as document ids.
async fn entries(client: &Client, number: u64, columns: usize) -> Vec<String> {
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let key = IndexKey::new("D", number).expect("short");
    let (begin, end) = key.all();
    let pairs = all_pairs(&*snapshot, &begin, &end).await;
    let entries = pairs.iter().map(|(entry, value)| {
        assert_eq!(value, b"");
        let (_, id) = key.parse(entry, columns).expect("an entry");
        id.to_string()
    });
    entries.collect()
}

async fn sound(client: &Client) {
    assert_eq!(client.check().await, []);
}

async fn indexes_on_empty_collections_are_ready_immediately() {
    let client = client().await;
    let made = client
        .mutate(
            r#"createIndex(name: "by slug", on: ["$.slug", "$['tags'][*]"], unique: true) {
                name on unique state error
            }"#,
        )
        .await;
    let index = json!({
        "name": "by slug",
        "on": ["$.slug", "$['tags'][*]"],
        "unique": true,
        "state": "READY",
        "error": null,
    });
    assert_eq!(made["createIndex"], index);
    let collection = json!([{"name": "D", "count": 0, "indexes": [index]}]);
    assert_eq!(indexes(&client).await, collection);
    client
        .insert("1", r#"{"slug":"a","tags":["x","y","x"]}"#)
        .await;
    client.insert("2", r#"{"slug":"b"}"#).await;
    client.insert("3", r#"{"tags":["x"]}"#).await;
    assert_eq!(entries(&client, 1, 2).await, ["1", "1", "2"]);
    sound(&client).await;
}

async fn existing_indexes_are_returned_and_name_conflicts_are_rejected() {
    let client = client().await;
    let make = r#"createIndex(name: "i", on: ["$.a"]) { state }"#;
    client.mutate(make).await;
    client.insert("1", r#"{"a":1}"#).await;
    let again = r#"createIndex(name: "i", on: ["$['a']"]) { on state }"#;
    let same = json!({"createIndex": {"on": ["$.a"], "state": "READY"}});
    assert_eq!(client.mutate(again).await, same);
    for other in [
        r#"createIndex(name: "i", on: ["$.b"]) { state }"#,
        r#"createIndex(name: "i", on: ["$.a", "$.b"]) { state }"#,
        r#"createIndex(name: "i", on: ["$.a"], unique: true) { state }"#,
    ] {
        let query = format!("mutation {{ {other} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "ALREADY_EXISTS", "{other}");
        assert!(message.contains("\"i\""), "{message}");
    }
    // In another collection it is another index.
    client
        .mutate(r#"createIndex(collection: "E", name: "i", on: ["$.b"]) { state }"#)
        .await;
    assert_eq!(
        indexes(&client).await[1]["indexes"][0]["on"],
        json!(["$.b"])
    );
}

async fn invalid_indexes_are_rejected() {
    let client = client().await;
    let long = "x".repeat(256);
    let many: Vec<String> = (0..9).map(|at| format!("$.p{at}")).collect();
    for (name, on, code, told) in [
        ("", json!(["$.a"]), "BAD_USER_INPUT", "1 to 255 bytes"),
        (&long[..], json!(["$.a"]), "BAD_USER_INPUT", "has 256"),
        (
            "i",
            json!([]),
            "BAD_USER_INPUT",
            "1 to 8 JSONPaths, not on 0",
        ),
        (
            "i",
            json!(many),
            "BAD_USER_INPUT",
            "1 to 8 JSONPaths, not on 9",
        ),
        ("i", json!(["$.a", "$['a']"]), "BAD_USER_INPUT", "twice"),
        ("i", json!(["$[*][*]"]), "BAD_USER_INPUT", "at most one [*]"),
        (
            "i",
            json!(["$.a[*]", "$.b[*]"]),
            "BAD_USER_INPUT",
            "at most one [*]",
        ),
        ("i", json!(["$..a"]), "BAD_USER_INPUT", "cannot be on $..a"),
        (
            "i",
            json!(["$[-1]"]),
            "BAD_USER_INPUT",
            "cannot be on $[-1]",
        ),
        ("i", json!(["$[?@.a]"]), "BAD_USER_INPUT", "cannot be on"),
        ("i", json!(["$['a','b']"]), "BAD_USER_INPUT", "cannot be on"),
        ("i", json!(["a"]), "BAD_USER_INPUT", "JSONPath"),
    ] {
        let query =
            "mutation($n: String!, $o: [JSONPath!]!) { createIndex(name: $n, on: $o) { state } }";
        let (found, message) = client.error(query, json!({"n": name, "o": on})).await;
        assert_eq!(found, code, "{on}");
        assert!(message.contains(told), "{on}: {message}");
    }
    assert_eq!(indexes(&client).await, json!([]));
    let made: Vec<String> = (0..64)
        .map(|at| format!("i{at}: createIndex(name: \"i{at}\", on: [\"$.a\"]) {{ state }}"))
        .collect();
    client.mutate(&made.join(" ")).await;
    let query = r#"mutation { createIndex(name: "one more", on: ["$.a"]) { state } }"#;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("the limit is 64"), "{message}");
}

async fn duplicate_values_are_rejected_by_every_mutation() {
    let client = client().await;
    client
        .mutate(
            r#"one: createIndex(name: "slug", on: ["$.slug"], unique: true) { state }
               two: createIndex(name: "pair", on: ["$.a", "$.b[*]"], unique: true) { state }"#,
        )
        .await;
    client
        .insert("1", r#"{"slug":"bop","a":1,"b":[1,2]}"#)
        .await;
    client
        .insert("2", r#"{"slug":"swing","a":1,"b":[3]}"#)
        .await;
    for (field, index, value) in [
        (
            r#"insertDocument(id: 3, document: {slug: "bop"}) { key }"#,
            "slug",
            r#""bop" at $.slug"#,
        ),
        (
            r#"replaceDocument(id: 2, document: {slug: "bop"}) { key }"#,
            "slug",
            r#""bop""#,
        ),
        (
            r#"replaceDocument(id: 3, document: {slug: "bop"}) { key }"#,
            "slug",
            r#""bop""#,
        ),
        (
            r#"replaceDocument(id: 2, path: "/slug", document: "bop") { key }"#,
            "slug",
            r#""bop""#,
        ),
        (
            r#"mergeDocument(id: 2, patch: {slug: "bop"}) { key }"#,
            "slug",
            r#""bop""#,
        ),
        (
            r#"patchDocument(id: 2, patch: [{op: "replace", path: "/slug", value: "bop"}]) { key }"#,
            "slug",
            r#""bop""#,
        ),
        (
            r#"replaceDocument(id: 2, path: "/b/-", document: 2.0) { key }"#,
            "pair",
            "1 at $.a, 2 at $.b[*]",
        ),
        (
            r#"incrementDocument(id: 2, path: "/b/0", by: -2) { key }"#,
            "pair",
            "1 at $.b[*]",
        ),
        (
            r#"updateDocuments(where: {at: "$.slug", eq: "swing"}, set: [{at: "$.slug", value: "bop"}]) { changed }"#,
            "slug",
            r#""bop""#,
        ),
    ] {
        let query = format!("mutation {{ {field} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "UNIQUE_VIOLATION", "{field}: {message}");
        assert!(message.contains(&format!("\"{index}\"")), "{message}");
        assert!(message.contains(value), "{field}: {message}");
        assert!(message.contains("of the document 1 already"), "{message}");
    }
    let bop = r#"{"a":1,"b":[1,2],"slug":"bop"}"#;
    assert_eq!(client.stored("1").await, bop);
    assert_eq!(
        client.stored("2").await,
        r#"{"a":1,"b":[3],"slug":"swing"}"#
    );
    // A field may use a value that an earlier field of the operation freed.
    client
        .mutate(
            r#"a: deleteDocument(id: 1) { deleted }
               b: replaceDocument(id: 2, path: "/slug", document: "bop") { key }
               c: insertDocument(id: 1, document: {slug: "swing"}) { key }"#,
        )
        .await;
    sound(&client).await;
}

async fn missing_values_and_duplicates_within_a_document_violate_nothing() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "pair", on: ["$.a[*]", "$.b"], unique: true) { state }"#)
        .await;
    for (id, document) in [
        ("1", r#"{"a":[1,1,1.0],"b":1}"#),
        ("2", r#"{"a":[1]}"#),
        ("3", r#"{"a":[1]}"#),
        ("4", r#"{"b":1}"#),
        ("5", r#"{"a":[],"b":1}"#),
        ("6", r#"{"a":[1],"b":null}"#),
    ] {
        client.insert(id, document).await;
    }
    let query = "mutation { insertDocument(id: 7, document: {a: {x: 1}, b: null}) { key } }";
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "UNIQUE_VIOLATION", "null is a value");
    assert!(
        message.contains("null at $.b of the document 6"),
        "{message}"
    );
    sound(&client).await;
}

async fn values_too_large_for_an_entry_are_rejected_with_the_index_name() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "text", on: ["$.t"]) { state }"#)
        .await;
    for length in [9_990, 150_000] {
        let query = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
        let variables = json!({"d": {"t": "x".repeat(length)}});
        let (code, message) = client.error(query, variables).await;
        assert_eq!(code, "TOO_LARGE", "{message}");
        assert!(message.contains("\"text\""), "{message}");
    }
    client
        .insert(
            "1",
            json!({"t": "x".repeat(9_900), "u": "y".repeat(150_000)}),
        )
        .await;
    // A container is stored by its digest, however large it is.
    client
        .insert("2", json!({"t": ["x".repeat(150_000)]}))
        .await;
    assert_eq!(entries(&client, 1, 1).await.len(), 2);
    sound(&client).await;
}

async fn indexes_on_existing_documents_are_built_and_then_used() {
    let client = client().await;
    for id in 0..150 {
        client
            .insert(&id.to_string(), json!({"n": id % 7, "l": [id, [id]]}))
            .await;
    }
    let made = client
        .mutate(
            r#"a: createIndex(name: "a", on: ["$.n"]) { state }
               b: createIndex(name: "b", on: ["$.l[*]"], unique: true) { state }"#,
        )
        .await;
    assert_eq!(made["a"]["state"], "BUILDING");
    assert_eq!(entries(&client, 1, 1).await.len(), 0);
    // Documents written meanwhile already have entries.
    client.insert("1000", r#"{"n":1000}"#).await;
    client.mutate("deleteDocument(id: 5) { deleted }").await;
    assert_eq!(entries(&client, 1, 1).await, ["1000"]);
    client.build().await;
    for name in ["a", "b"] {
        assert_eq!(
            state(&client, name).await,
            ("READY".to_owned(), Value::Null)
        );
    }
    assert_eq!(entries(&client, 1, 1).await.len(), 150);
    assert_eq!(entries(&client, 2, 1).await.len(), 298);
    sound(&client).await;
}

/// Rewrites the build state of the first index.
pub(super) async fn rewrite_build(
    client: &Client,
    to: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
) {
    let to = Arc::new(to);
    let deadline = Instant::now() + Duration::from_secs(30);
    let write = move |transaction: Arc<dyn Transaction>| {
        let to = to.clone();
        Box::pin(async move {
            let key = Family::Build("D", 1).key()?;
            let value = transaction.get(&key).await?.expect("a build");
            transaction.set(&key, &to(&value));
            Ok(Decision::Commit(()))
        }) as futures::future::BoxFuture<'static, _>
    };
    let written = client.database.transact(deadline, write).await;
    assert!(written.is_ok());
}

/// The name, the owner, the expiry of the lease and the position.
pub(super) type BuildValue<'v> = (String, Bytes<'v>, i64, Bytes<'v>);

async fn builds_resume_on_another_server_after_the_lease_expires() {
    let client = client_of(NotExclusive(super::empty_store().await)).await;
    let documents: Vec<String> = (0..1200)
        .map(|id| format!("i{id}: insertDocument(id: {id}, document: {{n: {id}}}) {{ key }}"))
        .collect();
    for some in documents.chunks(400) {
        client.mutate(&some.join(" ")).await;
    }
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    let mut first = Builder::new(client.database.clone());
    let step = first.step().await.expect("a batch");
    let BuildStep::Documents(_, name, done) = step else {
        panic!("{step:?}");
    };
    assert_eq!(name, "n");
    assert!(done > 0 && done < 1200, "{done}");
    let mut second = Builder::new(client.database.clone());
    let step = second.step().await.expect("nothing to do");
    assert_eq!(step, BuildStep::Nothing, "the first has the lease");
    // The first server is gone, and time passes.
    drop(first);
    rewrite_build(&client, |value| {
        let (name, owner, expiry, position): BuildValue<'_> = unpack(value).expect("a build");
        let now = SystemTime::UNIX_EPOCH
            .elapsed()
            .expect("after 1970")
            .as_secs();
        let left = u64::try_from(expiry).expect("positive").saturating_sub(now);
        assert!((1..=11).contains(&left), "the lease runs for {left} s more");
        pack(&(&name[..], owner, 0_i64, position))
    })
    .await;
    let mut rest = 0;
    loop {
        match second.step().await.expect("a batch") {
            BuildStep::Documents(_, _, more) => rest += more,
            BuildStep::Ready(collection, index) => {
                assert_eq!((&collection[..], &index[..]), ("D", "n"));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(done + rest, 1200, "no document was done twice");
    assert_eq!(entries(&client, 1, 1).await.len(), 1200);
    sound(&client).await;
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().expect("after 1970");
    i64::try_from(since.as_secs()).expect("before the year 292 billion")
}

/// A store with an index that another server has begun to build. Its lease ends in this many
/// seconds.
async fn leased(engine: impl Store + 'static, ahead: i64) -> Client {
    let client = client_of(engine).await;
    for id in 0..3 {
        client.insert(&id.to_string(), json!({"n": id})).await;
    }
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    rewrite_build(&client, move |value| {
        let (name, _, _, position): BuildValue<'_> = unpack(value).expect("a build");
        let other = Bytes::from(&b"another server !"[..]);
        pack(&(&name[..], other, now().saturating_add(ahead), position))
    })
    .await;
    client
}

async fn leases_that_end_implausibly_late_are_void() {
    // A clock that was set back makes a lease appear longer.
    for (ahead, holds) in [
        (-7200, false),
        (-1, false),
        (8, true),
        (15, true),
        (60, false),
        (7200, false),
        (i64::MAX, false),
    ] {
        let engine = NotExclusive(super::empty_store().await);
        let client = leased(engine, ahead).await;
        client.build().await;
        let expected = if holds { "BUILDING" } else { "READY" };
        let found = state(&client, "n").await.0;
        assert_eq!(found, expected, "a lease for {ahead} s");
        let built = entries(&client, 1, 1).await.len();
        assert_eq!(built, if holds { 0 } else { 3 }, "a lease for {ahead} s");
    }
}

async fn foreign_leases_are_ignored_if_no_other_process_can_build() {
    for ahead in [-1, 8, 15, 7200] {
        let client = leased(super::empty_store().await, ahead).await;
        client.build().await;
        let exclusive = client.database.store().is_exclusive();
        let holds = !exclusive && (0..20).contains(&ahead);
        let expected = if holds { "BUILDING" } else { "READY" };
        let found = state(&client, "n").await.0;
        assert_eq!(found, expected, "a lease for {ahead} s");
    }
}

async fn builds_that_find_a_violation_fail_and_leave_no_entries() {
    let client = client().await;
    for id in 0..10 {
        client
            .insert(&id.to_string(), json!({"n": id % 9, "t": "x"}))
            .await;
    }
    client.insert("10", json!({"t": "x".repeat(20_000)})).await;
    client
        .mutate(
            r#"a: createIndex(name: "n", on: ["$.n"], unique: true) { state }
               b: createIndex(name: "t", on: ["$.t"]) { state }"#,
        )
        .await;
    client.build().await;
    let (state_of_n, error) = state(&client, "n").await;
    assert_eq!(state_of_n, "FAILED");
    let error = error.as_str().expect("a reason").to_owned();
    for told in ["the document 9", "0 at $.n of the document 0"] {
        assert!(error.contains(told), "{error}");
    }
    let (state_of_t, error) = state(&client, "t").await;
    assert_eq!(state_of_t, "FAILED");
    assert!(
        error
            .as_str()
            .expect("a reason")
            .contains("the document 10"),
        "{error}"
    );
    assert_eq!(entries(&client, 1, 1).await.len(), 0);
    assert_eq!(entries(&client, 2, 1).await.len(), 0);
    // It is no longer maintained, and can be created again once the violation is removed.
    client.insert("11", r#"{"n":0}"#).await;
    sound(&client).await;
    client
        .mutate(
            r#"a: deleteDocument(id: 9) { deleted }
               b: deleteDocument(id: 11) { deleted }
               c: dropIndex(name: "n")
               d: createIndex(name: "n", on: ["$.n"], unique: true) { state }"#,
        )
        .await;
    client.build().await;
    assert_eq!(state(&client, "n").await.0, "READY");
    sound(&client).await;
}

async fn dropped_indexes_leave_no_data() {
    let client = client().await;
    client
        .mutate(
            r#"a: createIndex(name: "a", on: ["$.a"], unique: true) { state }
               b: createIndex(name: "b", on: ["$.b"]) { state }"#,
        )
        .await;
    client.insert("1", r#"{"a":1,"b":1}"#).await;
    let dropped = client
        .mutate(r#"a: dropIndex(name: "a") b: dropIndex(name: "a") c: dropIndex(name: "none")"#)
        .await;
    assert_eq!(dropped, json!({"a": true, "b": false, "c": false}));
    assert_eq!(entries(&client, 1, 1).await.len(), 0);
    assert_eq!(entries(&client, 2, 1).await, ["1"]);
    client.insert("2", r#"{"a":1}"#).await;
    // An index that is being built.
    client
        .mutate(
            r#"a: createIndex(name: "c", on: ["$.a"], unique: true) { state }
               b: dropIndex(name: "c")"#,
        )
        .await;
    client.build().await;
    let left = indexes(&client).await;
    assert_eq!(
        left[0]["indexes"].as_array().expect("a list").len(),
        1,
        "{left}"
    );
    sound(&client).await;
}

async fn foreign_documents_get_entries_when_they_are_written() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "a", on: ["$.a"]) { state }"#)
        .await;
    client
        .plant(1, &[(json!(["a"]), "7"), (json!(["b"]), "8")])
        .await;
    assert_eq!(entries(&client, 1, 1).await.len(), 0);
    // The index is updated even if the change is elsewhere in the document.
    client
        .mutate(r#"replaceDocument(id: 1, path: "/b", document: 9) { key }"#)
        .await;
    assert_eq!(entries(&client, 1, 1).await, ["1"]);
    sound(&client).await;
}

async fn indexes_are_built_while_documents_change() {
    let client = client().await;
    for some in (0..1000).collect::<Vec<_>>().chunks(250) {
        let fields = some
            .iter()
            .map(|id| format!("i{id}: insertDocument(id: {id}, document: {{n: 0}}) {{ key }} "));
        client.mutate(&fields.collect::<String>()).await;
    }
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    let writers = (0..4).map(|writer| {
        let client = client.clone();
        tokio::spawn(async move {
            for round in 0..60 {
                let id = (round * 17 + writer * 251) % 1000;
                let field = match round % 4 {
                    0 => format!("deleteDocument(id: {id}) {{ deleted }}"),
                    1 => format!("mergeDocument(id: {id}, patch: {{n: {round}}}) {{ key }}"),
                    2 => format!("insertDocument(document: {{n: {round}}}) {{ key }}"),
                    _ => format!("replaceDocument(id: {id}, document: {{m: {round}}}) {{ key }}"),
                };
                client.mutate(&field).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut builder = Builder::new(client.database.clone());
    let deadline = Instant::now() + Duration::from_secs(60);
    while state(&client, "n").await.0 == "BUILDING" {
        assert!(Instant::now() < deadline, "it is never built");
        // A conflict with a writer is not a failure. The next step repeats it.
        let _step = builder.step().await;
    }
    for writer in writers {
        writer.await.expect("no writer fails");
    }
    assert_eq!(state(&client, "n").await, ("READY".to_owned(), Value::Null));
    sound(&client).await;
}

async fn one_of_many_concurrent_writers_of_a_unique_value_succeeds() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "slug", on: ["$.slug"], unique: true) { state }"#)
        .await;
    for round in 0..5 {
        let writers = (0..8).map(|writer| {
            let client = client.clone();
            tokio::spawn(async move {
                let id = DocumentId::Integer(round * 100 + writer).to_string();
                let query = format!(
                    "mutation {{ insertDocument(id: {id}, document: {{slug: {round}}}) {{ key }} }}"
                );
                client.ask(&query, NONE).await
            })
        });
        let mut stored = 0;
        for writer in writers.collect::<Vec<_>>() {
            let response = writer.await.expect("an answer");
            if response.get("errors").is_none() {
                stored += 1;
            } else {
                let code = &response["errors"][0]["extensions"]["code"];
                assert_eq!(code, "UNIQUE_VIOLATION", "{response}");
            }
        }
        assert_eq!(stored, 1);
    }
    sound(&client).await;
}
