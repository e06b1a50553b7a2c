//! `takeDocuments`: a collection as a queue.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        documents_are_taken_in_the_order_of_their_keys,
        documents_are_taken_by_their_keys,
        the_number_of_documents_is_bounded,
        a_later_field_sees_that_documents_are_gone,
    ]
    threads [
        concurrent_consumers_take_each_document_once,
    ]
);

const CONSUMERS: usize = 32;
const DOCUMENTS: usize = 320;

async fn documents_are_taken_in_the_order_of_their_keys() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    for (id, document) in [("b", "2"), ("a", "1"), ("10", r#"{"n":10}"#), ("9", "[9]")] {
        client.insert(id, document).await;
    }
    let take = "takeDocuments { key deleted deletedId value document { key } }";
    let taken = client.mutate(take).await;
    let expected = json!([
        {"key": "a", "deleted": true, "deletedId": "D/a", "value": 1, "document": null}
    ]);
    assert_eq!(taken["takeDocuments"], expected);
    let taken = client.mutate("takeDocuments(first: 2) { key value }").await;
    let expected = json!([{"key": "b", "value": 2}, {"key": "9", "value": [9]}]);
    assert_eq!(taken["takeDocuments"], expected);
    let taken = client.mutate("takeDocuments(first: 2) { key }").await;
    assert_eq!(taken["takeDocuments"], json!([{"key": "10"}]));
    let taken = client.mutate("takeDocuments(first: 2) { value }").await;
    assert_eq!(taken["takeDocuments"], json!([]));
    let other = client
        .mutate(r#"takeDocuments(collection: "none") { key }"#)
        .await;
    assert_eq!(other["takeDocuments"], json!([]));
    assert_eq!(client.check().await, []);
}

async fn documents_are_taken_by_their_keys() {
    let client = client().await;
    for id in ["a/1", "a/2", "b/1", "b/2", "b/3", "9"] {
        client.insert(id, json!(id)).await;
    }
    for (keys, taken) in [
        (
            r#"{prefix: "b/"}"#,
            json!([{"value": "b/1"}, {"value": "b/2"}]),
        ),
        (r#"{prefix: "b/"}"#, json!([{"value": "b/3"}])),
        (r#"{prefix: "b/"}"#, json!([])),
        (
            r#"{in: ["9", "a/2", "x"]}"#,
            json!([{"value": "a/2"}, {"value": "9"}]),
        ),
        ("{}", json!([{"value": "a/1"}])),
    ] {
        let field = format!("takeDocuments(keys: {keys}, first: 2) {{ value }}");
        assert_eq!(
            client.mutate(&field).await["takeDocuments"],
            taken,
            "{keys}"
        );
    }
    let query = r#"mutation { takeDocuments(keys: {gt: "a", gte: "b"}) { key } }"#;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("the argument `keys`"), "{message}");
}

async fn the_number_of_documents_is_bounded() {
    let client = client().await;
    client.insert("1", "1").await;
    for first in ["0", "-1", "1001"] {
        let query = format!("mutation {{ takeDocuments(first: {first}) {{ key }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(message.contains("from 1 to 1000"), "{message}");
    }
    let empty = r#"mutation { takeDocuments(collection: "") { key } }"#;
    assert_eq!(client.error(empty, NONE).await.0, "BAD_USER_INPUT");
    let taken = client.mutate("takeDocuments(first: 1000) { key }").await;
    assert_eq!(taken["takeDocuments"], json!([{"key": "1"}]));
}

async fn a_later_field_sees_that_documents_are_gone() {
    let client = client().await;
    client.insert("1", "1").await;
    client.insert("2", "2").await;
    let data = client
        .mutate(
            r#"a: takeDocuments { key }
               insertDocument(id: 1, document: "again") { key }
               b: takeDocuments(first: 2) { key value }"#,
        )
        .await;
    assert_eq!(data["a"], json!([{"key": "1"}]));
    let expected = json!([{"key": "1", "value": "again"}, {"key": "2", "value": 2}]);
    assert_eq!(data["b"], expected);
    assert_eq!(client.check().await, []);
}

async fn concurrent_consumers_take_each_document_once() {
    let client = client().await;
    let half = DOCUMENTS / 2;
    insert(&client, 0..half).await;
    let producer = {
        let client = client.clone();
        tokio::spawn(async move {
            for id in half..DOCUMENTS {
                insert(&client, id..id + 1).await;
            }
        })
    };
    let consumers = (0..CONSUMERS).map(|number| {
        let client = client.clone();
        tokio::spawn(async move { consume(&client, 1 + number % 3).await })
    });
    let consumers: Vec<_> = consumers.collect();
    producer.await.expect("the producer ends");
    let mut taken = Vec::new();
    for consumer in consumers {
        taken.extend(consumer.await.expect("no consumer fails"));
    }
    taken.extend(consume(&client, 1_000).await);
    let distinct: BTreeSet<_> = taken.iter().copied().collect();
    assert_eq!(taken.len(), distinct.len(), "a document was taken twice");
    assert_eq!(distinct, (0..DOCUMENTS).collect());
    assert_eq!(client.check().await, []);
}

async fn insert(client: &Client, ids: std::ops::Range<usize>) {
    let fields =
        ids.map(|id| format!("i{id}: insertDocument(id: {id}, document: {id}) {{ key }} "));
    let query = format!("mutation {{ {} }}", fields.collect::<String>());
    committed(client, &query).await;
}

/// Takes documents until there are none.
async fn consume(client: &Client, first: usize) -> Vec<usize> {
    let query = format!("mutation {{ takeDocuments(first: {first}) {{ value }} }}");
    let mut taken = Vec::new();
    loop {
        let data = committed(client, &query).await;
        let deletions = data["takeDocuments"].as_array().expect("a list");
        if deletions.is_empty() {
            return taken;
        }
        let numbers = deletions.iter().map(|it| it["value"].as_u64());
        let number = |it: Option<u64>| usize::try_from(it.expect("a number")).expect("small");
        taken.extend(numbers.map(number));
    }
}

/// The data of a mutation, which is sent again after a conflict.
async fn committed(client: &Client, query: &str) -> Value {
    loop {
        let mut response = client.ask(query, NONE).await;
        if response.get("errors").is_none() {
            return response["data"].take();
        }
        let code = &response["errors"][0]["extensions"]["code"];
        assert_eq!(code, "CONFLICT", "{response}");
    }
}
