//! `dropCollection`.

use std::fmt::Write;

use foundationdb_tuple::pack;
use phyllo::database::{BuildStep, Builder};
use phyllo::key::{Family, ranges_of_collection};
use serde_json::{Value, json};

use super::support::{Client, NONE, all_pairs, client};

cases!(
    async [
        drop_removes_all_data_of_the_collection_and_no_other,
        drop_requires_the_everything_flag,
        dropping_a_missing_collection_returns_zero_documents,
        an_operation_can_drop_and_write_the_same_collection,
        older_snapshots_still_see_the_collection,
        large_collections_can_be_dropped_and_created_again,
        failed_operations_drop_nothing,
        dropping_a_collection_ends_its_index_builds,
        a_new_index_with_a_reused_number_is_built_from_the_start,
        large_indexes_can_be_dropped_and_created_again,
    ]
    threads [
        documents_stored_during_a_drop_are_complete_or_absent,
    ]
);

/// Names that sort right before and after `D`, or begin with it.
const OTHERS: [&str; 5] = ["C", "D\0", "Da", "E", "d"];

async fn drop_collection(client: &Client, collection: &str) -> Value {
    let query = "mutation($c: String!) {
        dropCollection(collection: $c, everything: true) { collection documents }
    }";
    let data = client.data(query, json!({"c": collection})).await;
    assert_eq!(data["dropCollection"]["collection"], collection);
    data["dropCollection"]["documents"].clone()
}

async fn insert_into(client: &Client, collection: &str, id: i64, document: Value) {
    let query = "mutation($c: String!, $id: ID, $d: JSON) {
        insertDocument(collection: $c, id: $id, document: $d) { key }
    }";
    let variables = json!({"c": collection, "id": id.to_string(), "d": document});
    client.data(query, variables).await;
}

async fn collections(client: &Client) -> Value {
    let data = client
        .data(
            "{ collections { name count indexes { name state } } }",
            NONE,
        )
        .await;
    data["collections"].clone()
}

/// The stored pairs of a collection, including its entry in each family.
async fn pairs_of(client: &Client, collection: &str) -> usize {
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let mut count = 0;
    for (begin, end) in ranges_of_collection(collection) {
        count += all_pairs(&*snapshot, &begin, &end).await.len();
    }
    count
}

async fn plant(client: &Client, key: Vec<u8>) {
    let transaction = client.database.store().begin().await.expect("begun");
    transaction.set(&key, &pack(&(1,)));
    transaction.commit().await.expect("committed");
}

async fn drop_removes_all_data_of_the_collection_and_no_other() {
    let client = client().await;
    for collection in ["D"].iter().chain(&OTHERS) {
        let on = "mutation($c: String!, $n: String!, $on: [JSONPath!]!, $u: Boolean) {
            createIndex(collection: $c, name: $n, on: $on, unique: $u) { state }
        }";
        let index = |name: &str, on: &str, unique: bool| json!({"c": collection, "n": name, "on": [on], "u": unique});
        client.data(on, index("ready", "$.n", false)).await;
        for id in 0..3 {
            insert_into(
                &client,
                collection,
                id,
                json!({"n": id, "same": 1, "tags": ["a", "b"]}),
            )
            .await;
        }
        client.data(on, index("failed", "$.same", true)).await;
    }
    client.build().await;
    for collection in ["D"].iter().chain(&OTHERS) {
        let on = "mutation($c: String!) {
            createIndex(collection: $c, name: \"building\", on: [\"$.tags[*]\"]) { state }
        }";
        client.data(on, json!({"c": collection})).await;
    }
    // Data of another program, and a document whose id has no GraphQL form.
    plant(&client, pack(&("D", 9, "n"))).await;
    plant(&client, pack(&("D", 1.5, "n"))).await;
    let mut before = collections(&client).await;
    assert_eq!(before.as_array().expect("a list").len(), 1 + OTHERS.len());
    let states = before[0]["indexes"].to_string();
    for state in ["READY", "FAILED", "BUILDING"] {
        assert!(states.contains(state), "{states}");
    }
    let mut others = Vec::new();
    for other in OTHERS {
        others.push(pairs_of(&client, other).await);
    }
    assert_eq!(drop_collection(&client, "D").await, 3);
    assert_eq!(pairs_of(&client, "D").await, 0);
    before
        .as_array_mut()
        .expect("a list")
        .retain(|it| it["name"] != "D");
    assert_eq!(collections(&client).await, before);
    for (other, pairs) in OTHERS.iter().zip(others) {
        assert_eq!(pairs_of(&client, other).await, pairs, "{other:?}");
    }
    let data = client
        .data(
            "{ document(id: 1) { value } documents { nodes { key } } }",
            NONE,
        )
        .await;
    assert_eq!(data, json!({"document": null, "documents": {"nodes": []}}));
    assert_eq!(client.check().await, []);
    client.build().await;
    for other in OTHERS {
        assert_eq!(drop_collection(&client, other).await, 3);
    }
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let left = all_pairs(&*snapshot, b"", b"\xFF").await;
    let families: Vec<_> = left.iter().map(|(key, _)| key.to_vec()).collect();
    let format = Family::Format.key().expect("short");
    let kept = |key: &Vec<u8>| *key == format || key.starts_with(&[0, 0x15, 8]);
    assert!(families.iter().all(kept), "{families:?}");
}

async fn drop_requires_the_everything_flag() {
    let client = client().await;
    client.insert("1", "1").await;
    for arguments in [
        "collection: \"D\"",
        "collection: \"D\", everything: false",
        "collection: \"\", everything: true",
    ] {
        let query = format!("mutation {{ dropCollection({arguments}) {{ documents }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{arguments}: {message}");
    }
    let query = "mutation { dropCollection(everything: true) { documents } }";
    let (_, message) = client.error(query, NONE).await;
    assert!(message.contains("collection"), "{message}");
    let query =
        "mutation($c: String!) { dropCollection(collection: $c, everything: true) { documents } }";
    let (code, _) = client.error(query, json!({"c": "x".repeat(20_000)})).await;
    assert_eq!(code, "TOO_LARGE");
    assert_eq!(client.stored("1").await, "1");
}

async fn dropping_a_missing_collection_returns_zero_documents() {
    let client = client().await;
    client.insert("1", "1").await;
    assert_eq!(drop_collection(&client, "E").await, 0);
    assert_eq!(client.stored("1").await, "1");
    assert_eq!(drop_collection(&client, "D").await, 1);
    assert_eq!(drop_collection(&client, "D").await, 0);
}

async fn an_operation_can_drop_and_write_the_same_collection() {
    let client = client().await;
    client.insert("1", r#"{"old":1}"#).await;
    let data = client
        .mutate(
            r#"a: insertDocument(id: 2, document: 2) { key }
            dropCollection(collection: "D", everything: true) { documents }
            b: insertDocument(id: 1, document: {new: 1}) { value version }
            c: createIndex(name: "n", on: ["$.new"]) { state }"#,
        )
        .await;
    assert_eq!(data["dropCollection"]["documents"], 2);
    assert_eq!(data["b"]["value"], json!({"new": 1}));
    assert_eq!(data["c"]["state"], "BUILDING");
    client.build().await;
    let read = "{ a: document(id: 1) { value version } b: document(id: 2) { value } }";
    let read = client.data(read, NONE).await;
    assert_eq!(read["a"], data["b"]);
    assert_eq!(read["b"], Value::Null);
    let expected = json!([{"name": "D", "count": 1, "indexes": [{"name": "n", "state": "READY"}]}]);
    assert_eq!(collections(&client).await, expected);
    assert_eq!(client.check().await, []);
}

async fn older_snapshots_still_see_the_collection() {
    let client = client().await;
    client.insert("1", large(12_000)).await;
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let (begin, end) = Family::documents("D");
    // A cluster assigns a snapshot its version at the first read.
    let before = all_pairs(&*snapshot, &begin, &end).await;
    drop_collection(&client, "D").await;
    let after = all_pairs(&*snapshot, &begin, &end).await;
    assert!(before.iter().eq(after.iter()));
    assert_eq!(pairs_of(&client, "D").await, 0);
}

/// A document with this many leaves.
fn large(leaves: usize) -> String {
    let mut json = String::from(r#"{"items":["#);
    for leaf in 0..leaves {
        let comma = if leaf == 0 { "" } else { "," };
        write!(json, "{comma}{leaf}").expect("room");
    }
    json + "]}"
}

async fn large_collections_can_be_dropped_and_created_again() {
    let client = client().await;
    for round in 0..3 {
        for id in 0..3 {
            client.insert(&id.to_string(), large(8_000 + round)).await;
        }
        assert_eq!(client.stored("1").await, large(8_000 + round));
        assert_eq!(client.check().await, []);
        assert_eq!(drop_collection(&client, "D").await, 3);
        assert_eq!(pairs_of(&client, "D").await, 0);
        assert_eq!(client.check().await, []);
    }
    client.insert("1", large(10)).await;
    client
        .mutate(r#"replaceDocument(id: 1, path: "/items/3", document: null) { key }"#)
        .await;
    let stored = client.stored("1").await;
    assert_eq!(stored, large(10).replace("3,4", "null,4"));
    assert_eq!(client.check().await, []);
}

async fn failed_operations_drop_nothing() {
    let client = client().await;
    client.insert("1", large(12_000)).await;
    let query = r#"mutation {
        dropCollection(collection: "D", everything: true) { documents }
        incrementDocument(id: 1, path: "/none/deeper") { key }
    }"#;
    let (code, _) = client.error(query, NONE).await;
    assert_eq!(code, "NOT_FOUND");
    assert_eq!(client.stored("1").await, large(12_000));
    assert_eq!(client.check().await, []);
}

async fn dropping_a_collection_ends_its_index_builds() {
    let client = client().await;
    for id in 0..600 {
        client.insert(&id.to_string(), r#"{"n":1}"#).await;
    }
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    let mut builder = Builder::new(client.database.clone());
    let built = builder.step().await.expect("a batch");
    assert!(
        matches!(built, BuildStep::Documents(_, _, 1..)),
        "{built:?}"
    );
    drop_collection(&client, "D").await;
    assert_eq!(builder.step().await.expect("a batch"), BuildStep::Nothing);
    assert_eq!(pairs_of(&client, "D").await, 0);
    assert_eq!(collections(&client).await, json!([]));
}

async fn a_new_index_with_a_reused_number_is_built_from_the_start() {
    let client = client().await;
    let insert = async || {
        client.insert("1", r#"{"items":["first"]}"#).await;
        client.insert("2", large(150_000)).await;
    };
    insert().await;
    let create = r#"createIndex(name: "n", on: ["$.items[*]"]) { state }"#;
    client.mutate(create).await;
    let mut builder = Builder::new(client.database.clone());
    // In the middle of the large document.
    for _ in 0..4 {
        builder.step().await.expect("a batch");
    }
    drop_collection(&client, "D").await;
    insert().await;
    client.mutate(create).await;
    builder.finish().await.expect("it can be built");
    let query =
        r#"{ documents(where: {at: "$.items[*]", eq: "first"}) { nodes { key } plan { index } } }"#;
    let data = client.data(query, NONE).await;
    let expected = json!({"nodes": [{"key": "1"}], "plan": {"index": "n"}});
    assert_eq!(data["documents"], expected);
    assert_eq!(client.check().await, []);
}

async fn large_indexes_can_be_dropped_and_created_again() {
    let client = client().await;
    client.insert("1", large(15_000)).await;
    let create = r#"createIndex(name: "n", on: ["$.items[*]"]) { state }"#;
    for _ in 0..2 {
        client.mutate(create).await;
        client.build().await;
        assert_eq!(client.check().await, []);
        let query =
            r#"{ documents(where: {at: "$.items[*]", eq: 9}) { nodes { key } plan { index } } }"#;
        let data = client.data(query, NONE).await;
        assert_eq!(data["documents"]["plan"]["index"], "n");
        assert_eq!(data["documents"]["nodes"][0]["key"], "1");
        client.mutate(r#"dropIndex(name: "n")"#).await;
    }
    assert_eq!(client.check().await, []);
}

async fn documents_stored_during_a_drop_are_complete_or_absent() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"], unique: true) { state }"#)
        .await;
    let writers = (0..3).map(|writer| {
        let client = client.clone();
        tokio::spawn(async move {
            for number in 0..30 {
                let id = writer * 1_000 + number;
                let document = json!({"n": id, "items": vec![number; 200]});
                insert_into(&client, "D", id, document).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    for _ in 0..4 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        drop_collection(&client, "D").await;
        assert_eq!(client.check().await, []);
    }
    for writer in writers {
        writer.await.expect("it writes");
    }
    assert_eq!(client.check().await, []);
}
