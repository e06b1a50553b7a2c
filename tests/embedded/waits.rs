//! Each wait of a write transaction is reported with what it waited for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::poll;
use phyllo::store::{EngineObserver, Store, WriteWait};

use crate::machine::{Machine, OVERLAY_BYTES_MAX, TRANSACTION_BYTES};
use crate::{begin, set};

const VALUE_BYTES: usize = TRANSACTION_BYTES / 2;

/// The places of the waits so far.
#[derive(Default)]
struct Waits(Mutex<Vec<WriteWait>>);

impl Waits {
    fn has(&self, place: WriteWait) -> bool {
        self.0.lock().expect("a list").contains(&place)
    }
}

impl EngineObserver for Waits {
    fn log_synced(&self, _took: Duration, _bytes: u64) {}

    fn checkpointed(&self, _took: Duration) {}

    fn waited(&self, place: WriteWait, _time: Duration) {
        self.0.lock().expect("a list").push(place);
    }

    fn log_resized(&self, _bytes: u64) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_are_reported_with_their_places() {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    let waits = Arc::new(Waits::default());
    store.observe(waits.clone());
    for number in 0..2 {
        set(&store, format!("first {number}"), "value")
            .await
            .expect("committed");
    }
    assert!(waits.has(WriteWait::Sync));
    assert!(!waits.has(WriteWait::Pace));

    let open = begin(&store).await;
    let mut next = Box::pin(store.begin());
    assert!(poll!(&mut next).is_pending());
    open.abort().await.expect("nothing was written");
    drop(next.await.expect("the lock"));
    assert!(waits.has(WriteWait::Lock));

    let syncs = machine.database_syncs();
    machine.hold_database_syncs(true);
    let mut number = 0;
    while number <= OVERLAY_BYTES_MAX / VALUE_BYTES {
        set(&store, format!("{number}"), vec![1; VALUE_BYTES])
            .await
            .expect("committed");
        number += 1;
        if number == OVERLAY_BYTES_MAX * 3 / 4 / VALUE_BYTES {
            machine.held_database_sync(syncs).await;
            // Given up, it is reported, too.
            let large = begin(&store).await;
            large.set(b"large", &vec![1; 2 * TRANSACTION_BYTES]);
            let mut commit = large.commit();
            assert!(poll!(&mut commit).is_pending());
            drop(commit);
            assert!(waits.has(WriteWait::Checkpoint));
        }
    }
    let mut full = Box::pin(store.begin());
    while !waits.has(WriteWait::Pace) || !waits.has(WriteWait::Memory) {
        let waited = tokio::time::timeout(Duration::from_millis(400), &mut full);
        assert!(waited.await.is_err(), "there is no room");
        full = Box::pin(store.begin());
    }
    drop(full);
    machine.hold_database_syncs(false);
    set(&store, "last", "").await.expect("committed");
    assert!(!waits.has(WriteWait::Log));
}
