//! Upgrades of the store format by another program while this one runs.

use std::time::Duration;

use foundationdb_tuple::pack;
use phyllo::database::{Database, FORMAT_TYPES};
use phyllo::key::Family;
use phyllo::store::{Pairs, Store};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::support::{Client, NONE, all_pairs, client, client_of};

cases!(
    damaged("the format is unknown, missing, or older than the data") [
        writes_are_rejected_after_another_program_upgraded_the_format,
        responses_from_an_unknown_format_are_withheld,
        reads_are_rejected_after_the_format_was_polled,
        emptied_stores_can_be_written,
    ]
    async [
        index_entries_are_maintained_after_another_program_creates_the_first_index,
        queries_do_not_read_the_format_and_mutations_read_it_once,
    ]
);

/// Writes the format as another program does, without informing this one.
async fn raise(store: &dyn Store, format: Option<&[u8]>) {
    let transaction = store.begin().await.expect("begun");
    let key = Family::Format.key().expect("short");
    match format {
        Some(format) => transaction.set(&key, format),
        None => transaction.clear(&key),
    }
    transaction.commit().await.expect("committed");
}

/// All stored pairs, read from the store directly.
async fn stored(client: &Client) -> Pairs {
    let snapshot = client.database.store().snapshot().await;
    all_pairs(&*snapshot.expect("a snapshot"), b"", b"\xFF").await
}

async fn refusal(client: &Client, query: &str) -> String {
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "UNAVAILABLE", "{query}: {message}");
    message
}

const READS: [&str; 3] = [
    "{ document(id: 1) { value } }",
    "{ collections { name } }",
    "{ documents(first: 1) { nodes { key } } }",
];

const WRITES: [&str; 7] = [
    "insertDocument(id: 2, document: {a: 1}) { key }",
    "replaceDocument(id: 1, document: {a: 2}) { key }",
    "incrementDocument(id: 1, path: \"/a\") { key }",
    "deleteDocument(id: 1) { deleted }",
    "updateDocuments(where: {}, everything: true, set: [{at: \"$.a\", value: 3}]) { matched }",
    "takeDocuments(first: 1) { key }",
    "createIndex(name: \"n\", on: [\"$.a\"]) { state }",
];

async fn writes_are_rejected_after_another_program_upgraded_the_format() {
    for format in [FORMAT_TYPES + 1, 0, -1, i64::MAX] {
        for write in WRITES {
            let client = client().await;
            client.insert("1", r#"{"a":1}"#).await;
            let store = client.database.store().clone();
            raise(&*store, Some(&pack(&(format,)))).await;
            let before = stored(&client).await;
            // The error of a program that opens the store now.
            let deadline = Instant::now() + Duration::from_secs(30);
            let opened = Database::open(store.clone(), deadline).await;
            let error = opened.err().expect("it is not opened");
            assert!(error.message().contains(&format!("format {format};")));
            let mutation = format!("mutation {{ {write} }}");
            assert_eq!(refusal(&client, &mutation).await, error.message());
            assert!(stored(&client).await.iter().eq(before.iter()), "{write}");
            // From then on, reads are rejected, and so is the next write.
            for read in READS {
                assert_eq!(refusal(&client, read).await, error.message());
            }
            let ready = client
                .database
                .ready()
                .await
                .expect_err("it does not serve");
            assert_eq!(ready.message(), error.message());
            refusal(&client, &mutation).await;
            assert!(stored(&client).await.iter().eq(before.iter()), "{write}");
            // The format is known again, because a backup of the store was restored.
            raise(&*store, Some(&pack(&(1,)))).await;
            client.mutate(write).await;
            client.database.ready().await.expect("it serves");
            client.data(READS[1], NONE).await;
        }
    }
}

async fn responses_from_an_unknown_format_are_withheld() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    raise(&**client.database.store(), Some(&pack(&(10,)))).await;
    // Each fails because of the data it reads, which may have another meaning in that format.
    for write in [
        "insertDocument(id: 1, document: 1) { key }",
        "incrementDocument(id: 1) { key }",
        "deleteDocument(id: 1, ifVersion: \"00000000000000000001\") { deleted }",
    ] {
        let message = refusal(&client, &format!("mutation {{ {write} }}")).await;
        assert!(message.contains("format 10"), "{message}");
    }
    // A format that is not a number is unknown.
    for damaged in [&b""[..], b"1", &pack(&("3",)), &pack(&(1, 1))] {
        raise(&**client.database.store(), Some(damaged)).await;
        let before = stored(&client).await;
        let mutation = format!("mutation {{ {} }}", WRITES[0]);
        let (code, _) = client.error(&mutation, NONE).await;
        assert_eq!(code, "INTERNAL");
        assert!(stored(&client).await.iter().eq(before.iter()));
    }
}

async fn reads_are_rejected_after_the_format_was_polled() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    let database = client.database.clone();
    let polling = tokio::spawn(async move { database.watch_format().await });
    for (format, refused) in [
        (2, false),
        (10, true),
        (3, false),
        (4, false),
        (5, false),
        (6, false),
        (7, false),
        (8, false),
        (9, false),
        (10, true),
    ] {
        raise(&**client.database.store(), Some(&pack(&(format,)))).await;
        let begin = Instant::now();
        loop {
            let response = client.ask(READS[0], NONE).await;
            if response.get("errors").is_some() == refused {
                break;
            }
            let waited = begin.elapsed();
            assert!(waited < Duration::from_secs(60), "{format}: {response}");
            sleep(Duration::from_millis(20)).await;
        }
    }
    polling.abort();
}

async fn index_entries_are_maintained_after_another_program_creates_the_first_index() {
    let client = client().await;
    client.insert("1", r#"{"n":1}"#).await;
    // Another server on the same store.
    let other = client_of(client.database.store().clone()).await;
    other
        .mutate(r#"createIndex(name: "n", on: ["$.n"], unique: true) { state }"#)
        .await;
    client.insert("2", r#"{"n":2}"#).await;
    other.build().await;
    client.insert("3", r#"{"n":3}"#).await;
    client.mutate("deleteDocument(id: 1) { deleted }").await;
    let query = "mutation { insertDocument(id: 4, document: {n: 3}) { key } }";
    assert_eq!(client.error(query, NONE).await.0, "UNIQUE_VIOLATION");
    assert_eq!(client.check().await, []);
    assert_eq!(other.check().await, []);
}

async fn emptied_stores_can_be_written() {
    let client = client().await;
    client.insert("1", "1").await;
    raise(&**client.database.store(), None).await;
    client.insert("2", "2").await;
    assert_eq!(client.stored("2").await, "2");
}

async fn queries_do_not_read_the_format_and_mutations_read_it_once() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    let (_, cost) = client.cost("{ document(id: 1) { value } }", NONE).await;
    assert_eq!(cost.gets, 0);
    let insert = "mutation { insertDocument(id: 2, document: 1) { key } }";
    let replace = "mutation { replaceDocument(id: 2, document: 2) { key } }";
    for mutation in [insert, replace] {
        let (data, cost) = client.cost(mutation, NONE).await;
        assert_ne!(data, json!(null));
        assert_eq!((cost.transactions, cost.commits), (1, 1));
        assert!(cost.gets <= 2, "{mutation}: {cost:?}");
    }
}
