//! Limits of FoundationDB: the size of a transaction, and the lifetime of a snapshot.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use phyllo::database::{Database, Existing, Scan};
use phyllo::error::ErrorKind;
use phyllo::limits::{CLUSTER_SNAPSHOT_TIME_MAX, CLUSTER_TRANSACTION_BYTES_MAX};
use phyllo::operations::{BatchChanges, NewDocument, change_batch};
use phyllo::store::{CommitError, RangeRead, Store, Transaction, key_after};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::graphql::support::{client_of, field_error};
use super::shared::empty_store;

cases!(
    threads [
        oversized_transactions_are_rejected_before_the_commit,
        non_conflicting_ranges_count_towards_the_limit,
        every_kind_of_operation_counts_before_the_commit,
        oversized_documents_are_rejected_and_leave_nothing,
        changes_of_too_many_documents_are_rejected_with_the_counts,
        large_documents_are_read_whole_in_any_number_of_parts,
        expired_snapshots_are_a_timeout,
        scans_continue_after_their_snapshot_expires,
    ]
);

async fn oversized_transactions_are_rejected_before_the_commit() {
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

async fn non_conflicting_ranges_count_towards_the_limit() {
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

/// The client is asked for the size only near the limit, so each kind of operation is tested
/// separately, with short and long keys.
async fn every_kind_of_operation_counts_before_the_commit() {
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

/// Repeats an operation with keys of this length until the transaction exceeds the limit.
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

async fn oversized_documents_are_rejected_and_leave_nothing() {
    let client = client_of(empty_store().await).await;
    let document = json!({"long": "x".repeat(11_000_000)});
    let mutation = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
    let response = client.ask(mutation, json!({"d": document})).await;
    assert_eq!(field_error(&response), "TOO_LARGE");
    let found = client.data("{ document(id: 1) { kind } }", "{}").await;
    assert_eq!(found, json!({"document": null}));
}

async fn changes_of_too_many_documents_are_rejected_with_the_counts() {
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

async fn large_documents_are_read_whole_in_any_number_of_parts() {
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

async fn expired_snapshots_are_a_timeout() {
    let store = empty_store().await;
    let snapshot = store.snapshot().await.expect("taken");
    assert_eq!(snapshot.get(b"key").await.expect("read"), None);
    sleep(CLUSTER_SNAPSHOT_TIME_MAX + Duration::from_secs(1)).await;
    let error = snapshot.get(b"key").await.expect_err("it is too old");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.message().contains("5 seconds"), "{error}");
}

async fn scans_continue_after_their_snapshot_expires() {
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
    // Concurrent writes before and after the position of the scan.
    put(&database, [(3, 1), (3_999, 1), (4_000, 1)].into_iter()).await;
    while let Some(scanned) = scan.next().await.expect("it continues") {
        found.push(scanned.expect("ours"));
    }
    assert_eq!(found.len(), 4_001, "none is missing and none comes twice");
    for (id, scanned) in found.iter().enumerate() {
        assert_eq!(scanned.id.to_string(), id.to_string());
        let round = usize::from(id >= 3_999);
        assert_eq!(scanned.json, text(round).into_bytes(), "{id}");
    }
}

/// Stores documents with these ids and rounds.
async fn put(database: &Database, documents: impl Iterator<Item = (i64, usize)>) {
    let documents = documents.map(|(id, round)| NewDocument {
        id: phyllo::document::id::DocumentId::Integer(id),
        leaves: phyllo::key::Leaves::from_json(&text(round)),
    });
    let documents: Vec<_> = documents.collect();
    for batch in documents.chunks(500) {
        let batch = BatchChanges::Put(Arc::new(batch.to_vec()), Existing::Replace);
        let put = change_batch(database, "D", Arc::new(batch), false, None, None);
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
