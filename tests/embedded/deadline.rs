//! A transaction ends at its deadline, whatever it waits for. Its error says whether it may have
//! committed.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join, ready};
use phyllo::error::{Error, ErrorKind, Result};
use phyllo::store::{Decision, Embedded, Transaction, TransactionResult, transact};
use tokio::time::Instant;

use crate::machine::{Machine, OVERLAY_BYTES_MAX, TRANSACTION_BYTES};
use crate::{all, begin, get, logged, set};

/// The bytes of a value of a transaction in memory.
const VALUE_BYTES: usize = TRANSACTION_BYTES / 2;

const TIME: Duration = Duration::from_millis(200);

/// Sets one pair within [`TIME`].
async fn set_in_time(store: &Embedded, key: &'static str, bytes: usize) -> Result<()> {
    let set = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        transaction.set(key.as_bytes(), &vec![1; bytes]);
        Box::pin(ready(Ok(Decision::Commit(()))))
    };
    transact(store, Instant::now() + TIME, set)
        .await
        .map(|_| ())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_waits_for_its_sync_has_an_unknown_outcome_at_the_deadline() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    machine.hold_log_syncs(true);
    let waited = set_in_time(&store, "key", 5).await;
    machine.hold_log_syncs(false);
    let error = waited.expect_err("it was not synced");
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    assert!(!error.message().contains("nothing was written"), "{error}");
    // A later commit is synced after it.
    set(&store, "later", "value").await.expect("committed");
    assert_eq!(get(&store, "key").await, Some(vec![1; 5]));
}

/// What the transaction has read is not durable yet.
#[tokio::test(flavor = "multi_thread")]
async fn reads_of_unsynced_commits_are_not_returned_at_the_deadline() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    machine.hold_log_syncs(true);
    let first = begin(&store).await;
    first.set(b"key", b"value");
    let unsynced = first.commit();
    let read = |decides: fn(usize) -> Result<Decision<usize>>| {
        transact(&store, Instant::now() + TIME, move |transaction| {
            Box::pin(async move {
                let found = transaction.get(b"key").await?;
                decides(found.map_or(0, |value| value.len()))
            })
        })
    };
    let reads = async {
        let mut errors = Vec::new();
        errors.push(read(|found| Ok(Decision::Commit(found))).await.err());
        errors.push(read(|found| Ok(Decision::Abort(found))).await.err());
        errors.push(read(|_| Err(Error::bad_input("a fault"))).await.err());
        machine.hold_log_syncs(false);
        errors
    };
    let (committed, errors) = join(unsynced, reads).await;
    committed.expect("committed");
    for error in errors {
        let error = error.expect("it was not synced");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
    let found = read(|found| Ok(Decision::Commit(found))).await;
    assert!(matches!(found, Ok(TransactionResult::Committed(5, _))));
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_that_wait_for_room_time_out_and_write_nothing() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    machine.hold_database_syncs(true);
    let transaction = begin(&store).await;
    let waits_for_the_lock = set_in_time(&store, "waits for the lock", 1).await;
    transaction.abort().await.expect("nothing was written");
    // The last one reaches the limit.
    for number in 0..=OVERLAY_BYTES_MAX / VALUE_BYTES {
        set(&store, format!("{number}"), vec![1; VALUE_BYTES])
            .await
            .expect("committed");
    }
    let waits_for_room = set_in_time(&store, "waits for room", 1).await;
    let pairs = all(&store).await;
    machine.hold_database_syncs(false);
    for waited in [waits_for_the_lock, waits_for_room] {
        let error = waited.expect_err("it has waited");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(error.message().contains("nothing was written"), "{error}");
    }
    set(&store, "later", "value").await.expect("committed");
    let mut expected = pairs;
    expected.push((b"later".to_vec(), b"value".to_vec()));
    assert_eq!(all(&store).await, expected);
}

/// A large transaction waits for the checkpoint in progress.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_transaction_that_waits_for_a_checkpoint_times_out_and_writes_nothing() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    let syncs = machine.database_syncs();
    machine.hold_database_syncs(true);
    for number in 0..OVERLAY_BYTES_MAX * 3 / 4 / 5_000 {
        set(&store, format!("{number}"), vec![1; 5_000])
            .await
            .expect("committed");
    }
    machine.held_database_sync(syncs).await;
    let waited = set_in_time(&store, "large", 2 * TRANSACTION_BYTES).await;
    machine.hold_database_syncs(false);
    let error = waited.expect_err("it has waited");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    set(&store, "later", "value").await.expect("committed");
    assert_eq!(get(&store, "large").await, None);
}
