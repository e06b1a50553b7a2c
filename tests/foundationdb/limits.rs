//! What FoundationDB bounds: the size of a transaction, and the life of a snapshot.

use std::fmt::Write;
use std::time::Duration;

use phyllo::database::{Database, Existing, Scan};
use phyllo::error::ErrorKind;
use phyllo::limits::{CLUSTER_SNAPSHOT_TIME_MAX, CLUSTER_TRANSACTION_BYTES_MAX};
use phyllo::operations::{self, NewDocument, Policy};
use phyllo::store::{CommitError, RangeRead, Store, Transaction, key_after};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::graphql::support::{client_of, field_error};
use super::shared::empty_store;

cases!(
    threads [
        a_transaction_past_the_limit_is_refused_with_its_size_before_the_commit,
        ranges_that_must_not_conflict_count_against_the_limit,
        whatever_fills_a_transaction_is_counted_before_the_commit,
        a_document_past_the_limit_is_too_large_and_leaves_nothing,
        a_change_of_many_documents_past_the_limit_is_refused_with_the_counts,
        a_large_document_is_read_whole_however_many_parts_it_is_read_in,
        a_snapshot_that_is_kept_no_longer_is_a_timeout,
        a_scan_goes_on_where_its_snapshot_is_kept_no_longer,
    ]
);

async fn a_transaction_past_the_limit_is_refused_with_its_size_before_the_commit() {
    let store = empty_store().await;
    let transaction = store.begin().await.expect("begun");
    for number in 0_u32..101 {
        transaction.set(&number.to_be_bytes(), &vec![7; 100_000]);
    }
    let bytes = transaction.bytes().await.expect("counted");
    assert!(bytes > CLUSTER_TRANSACTION_BYTES_MAX);
    let refused = transaction.commit().await.expect_err("it is too large");
    let CommitError::Refused(error) = refused else {
        panic!("nothing was sent: {refused:?}");
    };
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.message().contains(&bytes.to_string()), "{error}");
    assert!(error.message().contains("10000000"), "{error}");
    let snapshot = store.snapshot().await.expect("taken");
    assert_eq!(snapshot.get(&[0; 4]).await.expect("read"), None);
}

async fn ranges_that_must_not_conflict_count_against_the_limit() {
    let store = empty_store().await;
    let transaction = store.begin().await.expect("begun");
    transaction.set(b"key", b"");
    let before = transaction.bytes().await.expect("counted");
    let long = [1; 9_000];
    transaction.add_read_conflict(&long, &key_after(&long));
    let read = transaction.bytes().await.expect("counted");
    assert!(read >= before + 2 * long.len());
    transaction.add_write_conflict(&long, &key_after(&long));
    let written = transaction.bytes().await.expect("counted");
    assert!(written >= read + 2 * long.len());
}

/// The client is asked for the size only where it may pass the limit, so each thing that adds to it
/// is tried by itself, on short keys and on long ones.
async fn whatever_fills_a_transaction_is_counted_before_the_commit() {
    type Fill = fn(&dyn Transaction, &[u8]);
    let fillings: [(&str, Fill); 9] = [
        ("set", |on, key| on.set(key, b"")),
        ("clear", |on, key| on.clear(key)),
        ("clear a range", |on, key| {
            on.clear_range(key, &key_after(key));
        }),
        ("add", |on, key| on.add(key, 1)),
        ("stamp a value", |on, key| {
            on.set_versionstamped_value(key, &[0; 10], 0);
        }),
        ("stamp a key", |on, key| {
            on.set_versionstamped_key(&[key, &[0; 10]].concat(), key.len(), b"");
        }),
        ("set without a conflict of its own", |on, key| {
            on.without_write_conflicts(true);
            on.set(key, b"");
        }),
        ("conflict with writes", |on, key| {
            on.add_read_conflict(key, &key_after(key));
        }),
        ("conflict with reads", |on, key| {
            on.add_write_conflict(key, &key_after(key));
        }),
    ];
    let store = empty_store().await;
    for (what, fill) in fillings {
        for length in [16, 5_000] {
            let fill = async |on: &dyn Transaction, key: &[u8]| fill(on, key);
            past_the_limit_is_refused(&store, what, length, fill).await;
        }
    }
    for length in [1_000, 5_000] {
        let get = async |on: &dyn Transaction, key: &[u8]| {
            on.get(key).await.expect("read");
        };
        past_the_limit_is_refused(&store, "read a key", length, get).await;
        let range = async |on: &dyn Transaction, key: &[u8]| {
            let range = RangeRead::new(key, &[0xFE]).at_most(1);
            on.range(range).await.expect("read");
        };
        past_the_limit_is_refused(&store, "read a range", length, range).await;
    }
}

/// Does something to key after key of this length until the transaction is past the limit.
async fn past_the_limit_is_refused(
    store: &impl Store,
    what: &str,
    length: usize,
    fill: impl AsyncFn(&dyn Transaction, &[u8]),
) {
    let transaction = store.begin().await.expect("begun");
    transaction.set(b"one", b"write at least");
    let mut key = vec![9; length];
    let mut bytes = 0;
    for number in 0_u32.. {
        key[..4].copy_from_slice(&number.to_be_bytes());
        fill(&*transaction, &key).await;
        if number % 512 == 511 {
            bytes = transaction.bytes().await.expect("counted");
        }
        if bytes > CLUSTER_TRANSACTION_BYTES_MAX {
            break;
        }
        assert!(number < 300_000, "{what}: {bytes} bytes are never too many");
    }
    let refused = transaction.commit().await.expect_err("it is too large");
    let CommitError::Refused(error) = refused else {
        panic!("{what}: it was sent: {refused:?}");
    };
    let told = format!("a transaction of {bytes} bytes");
    assert!(error.message().contains(&told), "{what}: {error}");
}

async fn a_document_past_the_limit_is_too_large_and_leaves_nothing() {
    let client = client_of(empty_store().await).await;
    let document = json!({"long": "x".repeat(11_000_000)});
    let mutation = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
    let response = client.ask(mutation, json!({"d": document})).await;
    assert_eq!(field_error(&response), "TOO_LARGE");
    let found = client.data("{ document(id: 1) { kind } }", "{}").await;
    assert_eq!(found, json!({"document": null}));
}

async fn a_change_of_many_documents_past_the_limit_is_refused_with_the_counts() {
    let client = client_of(empty_store().await).await;
    for id in 0..200 {
        client.insert(&id.to_string(), r#"{"t":""}"#).await;
    }
    let mutation = "mutation($v: JSON) {
        updateDocuments(where: {}, everything: true, set: [{at: \"$.t\", value: $v}]) { changed }
    }";
    let variables = json!({"v": "x".repeat(90_000)});
    let (code, message) = client.error(mutation, variables).await;
    assert_eq!(code, "TOO_LARGE", "{message}");
    for told in [
        "200 documents match",
        "changing 128 of them",
        "10000000 bytes",
    ] {
        assert!(message.contains(told), "{message}");
    }
    let found = client.data("{ document(id: 0) { value } }", "{}").await;
    assert_eq!(found["document"]["value"], json!({"t": ""}));
}

async fn a_large_document_is_read_whole_however_many_parts_it_is_read_in() {
    let client = client_of(empty_store().await).await;
    let mut document = String::from("{");
    for number in 0..3_000 {
        let comma = if number > 0 { "," } else { "" };
        let text = "abcdefgh".repeat(number % 300);
        write!(document, "{comma}\"{number:05}\":\"{text}\"").expect("memory");
    }
    document.push('}');
    assert!(document.len() > 3_000_000);
    client.insert("1", &document).await;
    assert!(
        client.stored("1").await == document,
        "what went in comes out"
    );
}

async fn a_snapshot_that_is_kept_no_longer_is_a_timeout() {
    let store = empty_store().await;
    let snapshot = store.snapshot().await.expect("taken");
    assert_eq!(snapshot.get(b"key").await.expect("read"), None);
    sleep(CLUSTER_SNAPSHOT_TIME_MAX + Duration::from_secs(1)).await;
    let error = snapshot.get(b"key").await.expect_err("it is too old");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.message().contains("5 seconds"), "{error}");
}

async fn a_scan_goes_on_where_its_snapshot_is_kept_no_longer() {
    let store = std::sync::Arc::new(empty_store().await);
    let deadline = Instant::now() + Duration::from_secs(30);
    let database = Database::open(store, deadline).await.expect("opened");
    // More than a batch of documents, each of several pairs.
    put(&database, (0..4_000).map(|id| (id, 0))).await;
    let mut scan = Scan::over(&database, "D").await.expect("taken");
    let mut found = Vec::new();
    for _ in 0..10 {
        let scanned = scan.next().await.expect("read").expect("there");
        found.push(scanned.expect("ours"));
    }
    sleep(CLUSTER_SNAPSHOT_TIME_MAX + Duration::from_secs(1)).await;
    // What is written meanwhile, before what was read and behind it, grown at both ends.
    put(&database, [(3, 1), (3_999, 1), (4_000, 1)].into_iter()).await;
    while let Some(scanned) = scan.next().await.expect("it goes on") {
        found.push(scanned.expect("ours"));
    }
    assert_eq!(found.len(), 4_001, "none is missing and none comes twice");
    for (id, scanned) in found.iter().enumerate() {
        assert_eq!(scanned.id.to_string(), id.to_string());
        let round = usize::from(id >= 3_999);
        assert_eq!(scanned.json, text(round).into_bytes(), "{id}");
    }
}

/// Stores documents of these ids, as they are in these rounds.
async fn put(database: &Database, documents: impl Iterator<Item = (i64, usize)>) {
    let documents = documents.map(|(id, round)| NewDocument {
        id: phyllo::document::id::DocumentId::Integer(id),
        leaves: phyllo::key::Leaves::from_json(&text(round)),
    });
    let policy = Policy {
        existing: Existing::Replace,
        go_on: false,
    };
    let documents: Vec<_> = documents.collect();
    for batch in documents.chunks(500) {
        let put = operations::put_batch(database, "D", std::sync::Arc::new(batch.to_vec()), policy);
        for put in put.await.expect("stored") {
            put.expect("stored");
        }
    }
}

fn text(round: usize) -> String {
    let more = format!("\"r{round}\":{round}");
    let a = if round > 0 { "\"a\":0," } else { "" };
    let z = if round > 0 { ",\"z\":0" } else { "" };
    format!("{{{a}\"m\":\"{}\",{more}{z}}}", "x".repeat(100))
}
