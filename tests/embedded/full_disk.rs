//! A disk on which redb's file finds no space: writes are rejected, reads continue, and nothing is
//! lost.

use std::sync::Arc;
use std::time::Duration;

use phyllo::database::Database;
use phyllo::store::{Embedded, Store};
use tokio::time::{Instant, sleep};

use crate::machine::{Machine, TRANSACTION_BYTES};
use crate::{all, assert_unavailable, get, set};

const FULL: &str = "the disk of the store is full";

async fn logged(machine: &Machine) -> Embedded {
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..3 {
        set(&store, format!("first {number}"), "value")
            .await
            .expect("committed");
    }
    store
}

/// Writes until a checkpoint finds no space. Returns the number of commits.
async fn fill(machine: &Machine, store: &Embedded) -> usize {
    machine.fill_database(true);
    for number in 0..10_000 {
        let key = format!("{number:05}");
        if let Err(error) = set(store, key, vec![1; 3_000]).await {
            let error = assert_unavailable::<()>(Err(error));
            assert!(error.message().contains(FULL), "{error}");
            assert!(error.message().contains("nothing was changed"), "{error}");
            return number;
        }
    }
    panic!("no checkpoint was made");
}

/// Waits until a write is accepted.
pub(crate) async fn accepted(store: &Embedded, key: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while let Err(error) = set(store, key, "value").await {
        assert!(error.message().contains(FULL), "{error}");
        assert!(Instant::now() < deadline, "writes are still rejected");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_are_rejected_and_reads_continue_until_there_is_space() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    for round in 0..3 {
        let committed = fill(&machine, &store).await;
        let pairs = all(&store).await;
        assert!(pairs.len() >= 3 + committed);
        let error = store.ready().await.expect_err("it cannot be written");
        assert!(error.message().contains(FULL), "{error}");
        assert_eq!(get(&store, "first 0").await, Some(b"value".to_vec()));
        let error = assert_unavailable(set(&store, "refused", "").await);
        assert!(
            error.message().contains("bytes of space are missing"),
            "{error}"
        );
        // A kill loses nothing.
        let killed = Machine::holding(machine.image());
        assert_eq!(all(&killed.open().expect("it is recovered")).await, pairs);
        machine.fill_database(false);
        accepted(&store, &format!("after {round}")).await;
        store.ready().await.expect("it can be written");
        let pairs = all(&store).await;
        let killed = Machine::holding(machine.image());
        assert_eq!(all(&killed.open().expect("it is recovered")).await, pairs);
    }
    let pairs = all(&store).await;
    drop(store);
    assert!(!machine.has_log(), "it was closed");
    let store = machine.open().expect("it was closed");
    assert_eq!(all(&store).await, pairs);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_closed_on_a_full_disk_keeps_its_log() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    fill(&machine, &store).await;
    let pairs = all(&store).await;
    drop(store);
    assert!(machine.has_log());
    // Readers need no space.
    let reader = machine.read().expect("it is read");
    let snapshot = reader.snapshot().await.expect("it serves");
    assert_eq!(crate::all_in(&*snapshot).await.expect("read"), pairs);
    drop((snapshot, reader));
    machine.fill_database(false);
    let store = machine.open().expect("it is recovered");
    assert_eq!(all(&store).await, pairs);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_cannot_be_written_is_ready_to_read() {
    let machine = Machine::new();
    let store = Arc::new(logged(&machine).await);
    let deadline = Instant::now() + Duration::from_secs(60);
    let opened = Database::open_or_create(store.clone(), Duration::ZERO, deadline).await;
    let database = opened.expect("opened");
    fill(&machine, &store).await;
    assert_unavailable(database.ready().await);
    database.ready_to_read().await.expect("reads continue");
    machine.fill_database(false);
    accepted(&store, "after").await;
    database.ready().await.expect("it can be written");
}

/// A transaction that is written to redb directly is in no log. It succeeds when there is space.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_transaction_waits_for_space() {
    let machine = Machine::new();
    let store = Arc::new(logged(&machine).await);
    let pairs = all(&store).await;
    machine.fill_database(true);
    let large = {
        let store = store.clone();
        tokio::spawn(async move { set(&store, "large", vec![7; 2 * TRANSACTION_BYTES]).await })
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !matches!(&store.begin().await, Err(error) if error.message().contains(FULL)) {
        assert!(Instant::now() < deadline, "writes are accepted");
    }
    assert!(!large.is_finished());
    assert_eq!(all(&store).await, pairs, "it is not durable");
    let killed = Machine::holding(machine.image());
    assert_eq!(all(&killed.open().expect("it is recovered")).await, pairs);
    machine.fill_database(false);
    large.await.expect("no panic").expect("there is space");
    accepted(&store, "after").await;
    let pairs = all(&store).await;
    assert_eq!(pairs.len(), 5);
    let killed = Machine::holding(machine.image());
    assert_eq!(all(&killed.open().expect("it is recovered")).await, pairs);
}
