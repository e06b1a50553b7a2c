//! A store that is open for reading only: it has what a recovery finds, and no file is changed.

use phyllo::store::{EmbeddedReader, Store};
use rand::Rng;

use crate::disk::chance;
use crate::machine::{Image, Machine};
use crate::{all, all_in, assert_unavailable, begin, set};

/// The largest transactions are written to redb directly.
const VALUE_BYTES_MAX: usize = 9_000;

async fn pairs(store: &EmbeddedReader) -> Vec<(Vec<u8>, Vec<u8>)> {
    let snapshot = store.snapshot().await.expect("the store serves");
    all_in(&*snapshot).await.expect("read")
}

/// Commits random changes, so that the log and its segments change often.
async fn changed(machine: &Machine, seed: u64, commits: usize) {
    let mut chance = chance(seed);
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..commits {
        let transaction = begin(&store).await;
        let key = format!("{:02}", chance.random_range(0..40));
        match chance.random_range(0..6) {
            0 => transaction.clear(key.as_bytes()),
            1 => transaction.clear_range(key.as_bytes(), b"30"),
            2 => transaction.add(b"count", 1),
            _ => {
                let bytes = chance.random_range(0..VALUE_BYTES_MAX);
                transaction.set(key.as_bytes(), &vec![0x55; bytes]);
            }
        }
        transaction.set(b"last", number.to_string().as_bytes());
        transaction.commit().await.expect("committed");
    }
}

/// Asserts that a reader finds what a recovery finds, or fails as it does, and changes nothing.
async fn assert_reads_as_recovered(image: &Image) {
    let reading = Machine::holding(image.clone());
    let read = match reading.read() {
        Ok(store) => {
            let found = pairs(&store).await;
            assert_unavailable(store.begin().await.map(|_| ()));
            Ok(found)
        }
        Err(error) => Err(error.to_string()),
    };
    assert!(reading.image() == *image, "it was changed");
    let recovering = Machine::holding(image.clone());
    let recovered = match recovering.open() {
        Ok(store) => Ok(all(&store).await),
        Err(error) => Err(error.to_string()),
    };
    assert_eq!(read, recovered);
}

#[tokio::test]
async fn a_reader_finds_what_a_recovery_finds_after_a_crash_at_any_moment() {
    let seed = crate::seed::test_seed();
    let rounds = crate::skip::rounds(2, 20);
    for seed in (0..rounds).map(|round| seed.wrapping_add(round)) {
        let machine = Machine::new();
        changed(&machine, seed, 60).await;
        assert_reads_as_recovered(&machine.image()).await;
        let mut chance = chance(seed);
        // The file has its first tables after some calls.
        for call in (20..machine.calls()).step_by(3) {
            assert_reads_as_recovered(&machine.after_crash(call, &mut chance)).await;
        }
    }
}

#[tokio::test]
async fn a_store_that_was_killed_on_a_full_disk_is_read_and_reports_the_missing_space() {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..12 {
        set(&store, format!("{number:02}"), vec![0x55; 3_000])
            .await
            .expect("committed");
    }
    let expected = all(&store).await;
    // After a kill, the last commits are only in the log.
    let killed = machine.image();
    drop(store);
    let mut reported = Vec::new();
    for free in [0, 5_000, 20_000] {
        let machine = Machine::holding(killed.clone());
        machine.take_only(Some(free));
        let store = machine.open().expect("it can be read");
        assert_eq!(all(&store).await, expected);
        let error = assert_unavailable(set(&store, "refused", "").await);
        drop(store);
        assert!(machine.has_log());
        let text = error.message();
        let missing = text.split_once("about ").and_then(|(_, rest)| {
            let (bytes, rest) = rest.split_once(" bytes of space are missing")?;
            assert!(rest.contains("nothing was changed"), "{text}");
            bytes.parse::<usize>().ok()
        });
        reported.push(missing.unwrap_or_else(|| panic!("{text}")));
        // Nothing is lost: it can be read now, and recovered later.
        let image = machine.image();
        let reader = machine.read().expect("it can be read");
        assert_eq!(pairs(&reader).await, expected);
        drop(reader);
        assert!(machine.image() == image, "it was changed");
        // A server that was started on the full disk continues when there is space.
        let store = machine.open().expect("it can be read");
        machine.take_only(None);
        crate::full_disk::accepted(&store, "accepted").await;
        let pairs = all(&store).await;
        assert_eq!(pairs.len(), expected.len() + 1);
        let killed = Machine::holding(machine.image());
        assert_eq!(all(&killed.open().expect("it is recovered")).await, pairs);
        drop(store);
        assert!(!machine.has_log(), "it was closed");
        let store = machine.open().expect("there is space");
        assert_eq!(all(&store).await, pairs);
    }
    println!("bytes missing: {reported:?}");
    assert!(
        reported.is_sorted_by(|more, less| more >= less),
        "{reported:?}"
    );
    assert!((20_000..4_000_000).contains(&reported[0]), "{reported:?}");
}
