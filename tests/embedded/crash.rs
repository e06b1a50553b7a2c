//! Crashes during a sync: acknowledged transactions survive, and of the others a prefix of whole
//! transactions.

use std::collections::BTreeMap;
use std::pin::Pin;

use futures::poll;
use phyllo::error::Result;
use phyllo::store::{Embedded, Store};
use rand::Rng;

use crate::disk::{Disk, Sync, chance};
use crate::{all, begin, set};

const SEEDS: u64 = 12;
const CRASHES: u64 = 12;

/// Each commit writes its number to these keys, and a pair of its own.
const KEYS: [&str; 3] = ["first", "middle", "zz last"];

#[tokio::test]
async fn crashes_lose_no_acknowledged_transaction_and_leave_no_partial_one() {
    let first = crate::seed::test_seed();
    for seed in 0..SEEDS {
        crashes(first.wrapping_add(seed)).await;
    }
}

async fn crashes(seed: u64) {
    let mut chance = chance(seed);
    let disk = Disk::new();
    let store = Embedded::on_backend(disk.clone()).expect("a new store");
    let mut acknowledged = 0;
    for _ in 0..chance.random_range(0..6) {
        acknowledged += 1;
        write(&store, acknowledged, chance.random_range(0..5_000))
            .await
            .expect("committed");
    }
    // Several transactions wait for the next sync, which does not complete.
    disk.let_syncs(Sync::Waits);
    let syncs = disk.syncs();
    let blocker = begin(&store).await;
    blocker.set(b"blocker", b"");
    let mut waiting: Vec<Pin<Box<dyn Future<Output = Result<()>>>>> = Vec::new();
    for number in 1..=chance.random_range(1..6) {
        let bytes = chance.random_range(0..5_000);
        waiting.push(Box::pin(write(&store, acknowledged + number, bytes)));
        assert!(poll!(waiting.last_mut().expect("pushed")).is_pending());
    }
    let attempted = acknowledged + waiting.len() as u64;
    let mut commit = Box::pin(blocker.commit());
    assert!(poll!(&mut commit).is_pending());
    for write in &mut waiting {
        assert!(poll!(write).is_pending());
    }
    // At the first sync of a commit, and at a later one if there are more.
    disk.begins_sync(syncs + 1).await;
    for crash in 0..CRASHES {
        let found = disk.after_crash(&mut chance);
        check(found, acknowledged, attempted, &format!("{seed}, {crash}")).await;
    }
    disk.let_syncs(Sync::Succeeds);
    for write in waiting {
        write.await.expect("committed");
    }
    commit.await.expect("committed");
    // Only writes that redb makes on its own are unsynced now.
    for crash in 0..3 {
        let found = disk.after_crash(&mut chance);
        check(
            found,
            attempted,
            attempted,
            &format!("{seed}, {crash} at rest"),
        )
        .await;
    }
}

async fn write(store: &Embedded, number: u64, bytes: usize) -> Result<()> {
    let transaction = store.begin().await?;
    for key in KEYS {
        transaction.set(key.as_bytes(), &number.to_be_bytes());
    }
    let own = vec![u8::try_from(number).expect("few"); bytes];
    transaction.set(format!("own {number:03}").as_bytes(), &own);
    Ok(transaction.commit().await.map(|_| ())?)
}

async fn check(disk: Disk, acknowledged: u64, attempted: u64, case: &str) {
    let store = Embedded::on_backend(disk.clone())
        .unwrap_or_else(|error| panic!("seed and crash {case}: {error}"));
    let found: BTreeMap<_, _> = all(&store).await.into_iter().collect();
    let last = |key: &str| found.get(key.as_bytes()).cloned();
    let number = last(KEYS[0]).map_or(0, |value| {
        u64::from_be_bytes(value.try_into().expect("eight bytes"))
    });
    assert!(
        (acknowledged..=attempted).contains(&number),
        "seed and crash {case}: {number} is there, {acknowledged} were acknowledged"
    );
    for key in KEYS {
        assert_eq!(last(key), last(KEYS[0]), "seed and crash {case}: {key}");
    }
    for own in 1..=attempted {
        let there = last(&format!("own {own:03}"));
        assert_eq!(
            there.is_some(),
            own <= number,
            "seed and crash {case}: {own}"
        );
        let intact = |byte: &u8| u64::from(*byte) == own;
        assert!(there.is_none_or(|value| value.iter().all(intact)));
    }
    // The store can still be written.
    set(&store, "after", case).await.expect("committed");
    drop(store);
    let store = Embedded::on_backend(disk).expect("it was closed");
    assert_eq!(
        crate::get(&store, "after").await,
        Some(case.as_bytes().to_vec())
    );
}
