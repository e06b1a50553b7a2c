//! Transactions that are too large for memory.

use phyllo::store::Embedded;
use rand::Rng;

use crate::disk::chance;
use crate::machine::{Image, Machine, TRANSACTION_BYTES};
use crate::{all, begin, get, logged, set};

const LARGE: usize = 2 * TRANSACTION_BYTES;

fn reopened(image: Image) -> Embedded {
    Machine::holding(image).open().expect("it is recovered")
}

/// A large transaction reads what was committed in memory, and its own writes. Without a commit it
/// has no effect.
#[tokio::test]
async fn a_large_transaction_reads_its_writes_and_can_be_aborted() {
    let store = logged(&Machine::new()).await;
    set(&store, "small", "in memory").await.expect("committed");
    let before = all(&store).await;
    for commits in [false, true] {
        let transaction = begin(&store).await;
        transaction.set(b"before", b"a read");
        assert!(transaction.get(b"before").await.expect("read").is_some());
        transaction.add(b"count", 2);
        transaction.set(b"large", &vec![1; LARGE]);
        let large = transaction.get(b"large").await.expect("read");
        assert_eq!(large, Some(vec![1; LARGE]));
        let small = transaction.get(b"small").await.expect("read");
        assert_eq!(small, Some(b"in memory".to_vec()));
        transaction.clear_range(b"first 0", b"first 1");
        transaction.add(b"count", 3);
        assert!(transaction.get(b"first 0").await.expect("read").is_none());
        if commits {
            transaction.commit().await.expect("committed");
        } else {
            transaction.abort().await.expect("synced");
            assert_eq!(all(&store).await, before);
        }
    }
    assert_eq!(get(&store, "before").await, Some(b"a read".to_vec()));
    assert_eq!(get(&store, "large").await, Some(vec![1; LARGE]));
    assert_eq!(get(&store, "first 0").await, None);
    let count = get(&store, "count").await;
    assert_eq!(count, Some(5_i64.to_le_bytes().to_vec()));
}

/// A large transaction is not in the log, so it takes no space there.
#[tokio::test]
async fn a_large_transaction_leaves_the_files_of_the_log_as_they_are() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    let log_bytes = || machine.log_bytes().iter().sum::<usize>();
    let before = log_bytes();
    set(&store, "large", vec![1; 100 * TRANSACTION_BYTES])
        .await
        .expect("committed");
    assert!(
        log_bytes() <= before,
        "{} bytes, {before} before",
        log_bytes()
    );
    let large = get(&store, "large").await;
    assert_eq!(large, Some(vec![1; 100 * TRANSACTION_BYTES]));
}

/// Transactions of all sizes, and clears of ranges. After a crash at any call, the store has all that
/// were acknowledged before it, and no part of another one.
#[tokio::test(flavor = "multi_thread")]
async fn crashes_between_small_and_large_transactions_lose_nothing() {
    let seed = crate::seed::test_seed();
    let chance = &mut chance(seed);
    for _ in 0..6 {
        let machine = Machine::new();
        let store = logged(&machine).await;
        let mut states = vec![(machine.calls(), all(&store).await)];
        for number in 0..60_u8 {
            let transaction = begin(&store).await;
            transaction.set(b"number", &[number]);
            let key = format!("key {:02}", chance.random_range(0..30));
            let bytes = chance.random_range(0..LARGE);
            transaction.set(key.as_bytes(), &vec![number; bytes]);
            if chance.random_bool(0.2) {
                transaction.clear_range(key.as_bytes(), b"key 9");
            }
            transaction.add(b"count", 1);
            transaction.commit().await.expect("committed");
            states.push((machine.calls(), all(&store).await));
        }
        for _ in 0..40 {
            let call = chance.random_range(states[0].0..=machine.calls());
            let image = machine.after_crash(call, chance);
            let found = all(&reopened(image)).await;
            let acknowledged = states.iter().rposition(|(calls, _)| *calls <= call);
            let acknowledged = acknowledged.expect("the first one was");
            let next = states.len().min(acknowledged + 2);
            let known = states[acknowledged..next].iter();
            let state = known.map(|(_, state)| state).find(|state| **state == found);
            assert!(state.is_some(), "seed {seed}, call {call}");
        }
    }
}
