//! The bytes of the stored change log: the measured ones are those of its pairs.

use std::time::Duration;

use phyllo::database::LogSize;
use phyllo::key::{ChangeLogPart, ChangeLogRange, ChangesDecoder};
use phyllo::limits::{CHANGE_SHARDS, CHANGES_EXPIRED_AT_ONCE};
use serde_json::json;
use tokio::time::sleep;

use super::support::{Client, all_pairs, client};

cases!(
    async [
        the_measured_bytes_are_those_of_the_pairs,
        expired_entries_are_not_measured,
        entries_of_a_wrong_clock_expire_with_later_ones,
        the_log_is_empty_after_it_was_off,
    ]
);

/// The bytes of the log by its pairs.
async fn stored(client: &Client) -> u64 {
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let begin = ChangeLogRange::new(ChangeLogPart::Headers, 0);
    let end = ChangeLogRange::new(ChangeLogPart::Patches, CHANGE_SHARDS);
    let pairs = all_pairs(&*snapshot, begin.begin(), &end.end()).await;
    let bytes = |(key, value): (&[u8], &[u8])| (key.len() + value.len()) as u64;
    pairs.iter().map(bytes).sum()
}

/// Measures the log. On an engine that counts it, it must be exact, also for a program that has just
/// opened the store. Returns the bytes.
async fn measured(client: &Client, size: &mut LogSize) -> u64 {
    let stored = stored(client).await;
    let measured = client
        .database
        .measure_changes(size)
        .await
        .expect("it can be read");
    if client.database.store().is_exclusive() {
        assert_eq!(measured, Some(stored));
        let mut opened = LogSize::default();
        let measured = client.database.measure_changes(&mut opened).await;
        let measured = measured.expect("it can be read");
        assert_eq!(measured, Some(stored));
    } else {
        assert!(measured.is_some(), "a cluster has an estimate");
    }
    stored
}

async fn logging() -> (Client, LogSize) {
    let client = client().await;
    let mut size = LogSize::default();
    assert_eq!(measured(&client, &mut size).await, 0);
    client.log_changes().await;
    (client, size)
}

async fn the_measured_bytes_are_those_of_the_pairs() {
    let (client, mut size) = logging().await;
    assert_eq!(measured(&client, &mut size).await, 0);
    let mut last = 0;
    let mut grows = async || {
        let bytes = measured(&client, &mut size).await;
        assert!(bytes > last, "{bytes} {last}");
        last = bytes;
    };
    client.insert("1", r#"{"a":1,"b":[1]}"#).await;
    grows().await;
    // Patches of several pieces, and one that ends with its piece.
    for bytes in [9_950, 10_000, 25_000, 300_000] {
        let text = json!("x".repeat(bytes));
        client.insert(&format!("t{bytes}"), &text).await;
    }
    grows().await;
    // An entry with several headers.
    let long = |letter: char| letter.to_string().repeat(9_000);
    let fields = ('a'..='h').map(|letter| {
        let id = json!(long(letter));
        format!("{letter}: insertDocument(id: {id}, document: {{n: 1}}) {{ key }} ")
    });
    client.mutate(&fields.collect::<String>()).await;
    grows().await;
    client
        .mutate("updateDocuments(where: {}, everything: true, set: [{at: \"$.n\", value: 2}]) { changed }")
        .await;
    grows().await;
    client.mutate("deleteDocument(id: 1) { deleted }").await;
    client
        .mutate("dropCollection(collection: \"D\", everything: true) { documents }")
        .await;
    grows().await;
}

async fn expired_entries_are_not_measured() {
    let (client, mut size) = logging().await;
    // More entries than one transaction removes.
    let count = if client.database.store().is_exclusive() {
        CHANGES_EXPIRED_AT_ONCE + 100
    } else {
        50
    };
    client.insert("1", "0").await;
    for _ in 0..count {
        client
            .mutate("incrementDocument(id: 1, by: 1) { version }")
            .await;
    }
    let before = measured(&client, &mut size).await;
    client
        .database
        .expire_changes(&mut size)
        .await
        .expect("nothing expires");
    assert_eq!(measured(&client, &mut size).await, before);
    client.keep_changes(Duration::from_secs(1)).await;
    sleep(Duration::from_millis(1_100)).await;
    // Not measured before the others expire.
    client.insert("2", "0").await;
    client
        .database
        .expire_changes(&mut size)
        .await
        .expect("it can be written");
    let one = measured(&client, &mut size).await;
    assert!(0 < one && one < before / 20, "{one} {before}");
    client.insert("3", "0").await;
    sleep(Duration::from_millis(1_100)).await;
    client
        .database
        .expire_changes(&mut size)
        .await
        .expect("it can be written");
    assert_eq!(measured(&client, &mut size).await, 0);
    client.insert("4", "0").await;
    assert!(measured(&client, &mut size).await > 0);
    assert_eq!(client.check().await, []);
}

/// Adds 35 years to the times of all entries, as if the clock had been wrong.
async fn write_with_a_wrong_clock(client: &Client) {
    let transaction = client.database.store().begin().await.expect("it serves");
    for shard in 0..CHANGE_SHARDS {
        let headers = ChangeLogRange::new(ChangeLogPart::Headers, shard);
        let pairs = all_pairs(&*transaction, headers.begin(), &headers.end()).await;
        for (key, header) in pairs.iter() {
            let time = ChangesDecoder::time(header).expect("a time");
            let mut ahead = header.to_vec();
            // The type of the number, then its six bytes.
            ahead[1] += 1;
            assert_eq!(ChangesDecoder::time(&ahead), Some(time + (1 << 40)));
            transaction.set(key, &ahead);
        }
    }
    transaction.commit().await.expect("a commit");
}

async fn entries_of_a_wrong_clock_expire_with_later_ones() {
    let (client, mut size) = logging().await;
    client.keep_changes(Duration::from_secs(1)).await;
    // Some cases have more such entries than one transaction removes.
    let many = if client.database.store().is_exclusive() {
        CHANGES_EXPIRED_AT_ONCE + 100
    } else {
        40
    };
    for count in [1, many] {
        client.insert("1", "0").await;
        for _ in 1..count {
            client
                .mutate("incrementDocument(id: 1, by: 1) { version }")
                .await;
        }
        write_with_a_wrong_clock(&client).await;
        sleep(Duration::from_millis(1_100)).await;
        let expire = async |size: &mut LogSize| {
            let expired = client.database.expire_changes(size).await;
            expired.expect("it can be written");
        };
        expire(&mut size).await;
        assert!(
            measured(&client, &mut size).await > 0,
            "none is known to have expired"
        );
        client.mutate("deleteDocument(id: 1) { deleted }").await;
        // On a cluster, each shard has entries of its own, and a commit has a random one: none of all is
        // missed by so many but once in a million times.
        let later = if client.database.store().is_exclusive() {
            1
        } else {
            16 * u32::from(CHANGE_SHARDS)
        };
        for number in 0..later {
            client.insert(&format!("{count}-{number}"), "0").await;
        }
        sleep(Duration::from_millis(1_100)).await;
        expire(&mut size).await;
        if client.database.store().is_exclusive() {
            assert_eq!(measured(&client, &mut size).await, 0);
        }
        assert_eq!(client.check().await, []);
    }
}

async fn the_log_is_empty_after_it_was_off() {
    let (client, mut size) = logging().await;
    client.insert("1", "0").await;
    let one = measured(&client, &mut size).await;
    client.keep_changes(Duration::ZERO).await;
    client.insert("2", "0").await;
    assert_eq!(measured(&client, &mut size).await, 0);
    client.log_changes().await;
    client.insert("3", "0").await;
    // The first shard has a shorter number in the keys of a header and of its patch.
    let is_one = |bytes: u64| bytes.abs_diff(one) <= 2;
    assert!(is_one(measured(&client, &mut size).await));
    // Off and on again between two measurements.
    client.keep_changes(Duration::ZERO).await;
    client.log_changes().await;
    client.insert("4", "0").await;
    assert!(is_one(measured(&client, &mut size).await));
}
