//! The write-ahead log: what it recovers, what it rejects, and that a closed store has none.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use phyllo::error::{Error, ErrorKind};
use phyllo::store::{Decision, Embedded, EmbeddedOptions, LOG_NAMES, Store, transact};
use rand::Rng;
use rand::rngs::StdRng;
use tokio::task::JoinHandle;

use crate::disk::chance;
use crate::machine::{Image, Machine, SEGMENT_BYTES};
use crate::{all, assert_failed, assert_unavailable, begun_by, get, logged, set};

const BLOCK: usize = 4096;
const SECTOR: usize = 512;

fn reopened(image: &Image) -> Embedded {
    Machine::holding(image.clone())
        .open()
        .expect("it is recovered")
}

/// The error of a store that is rejected. Nothing was changed.
fn rejected(image: &Image) -> Error {
    let machine = Machine::holding(image.clone());
    let error = assert_unavailable(machine.open().map(|_| ()));
    assert!(machine.image() == *image, "it was changed: {error}");
    assert!(error.message().contains("is damaged"), "{error}");
    error
}

/// The places of the frames of a file: the offset of each, and the end of the last.
fn frames(file: &[u8]) -> Vec<usize> {
    let mut offsets = vec![BLOCK];
    let mut at = BLOCK;
    let segment = &file[24..32];
    while file.len() >= at + BLOCK && file[at..].starts_with(b"PhFr") {
        if &file[at + 16..at + 24] != segment {
            break;
        }
        let mut length = [0; 8];
        length.copy_from_slice(&file[at + 48..at + 56]);
        let length = usize::try_from(u64::from_le_bytes(length)).expect("small");
        let sectors = (80 + length).div_ceil(500);
        at += (sectors * SECTOR).next_multiple_of(BLOCK);
        offsets.push(at);
    }
    offsets
}

/// The file of the log that has the most frames.
fn fullest(image: &Image) -> usize {
    let count = |file: &usize| image[*file].as_ref().map_or(0, |file| frames(file).len());
    (0..2).max_by_key(count).expect("two files")
}

#[tokio::test]
async fn a_log_is_replayed_after_a_kill_and_removed_on_close() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    let transaction = crate::begin(&store).await;
    transaction.set(b"b", b"set");
    transaction.set(b"c", b"set and cleared");
    transaction.add(b"count", 5);
    transaction.commit().await.expect("committed");
    let transaction = crate::begin(&store).await;
    // The writes before a read and those after it belong to one commit.
    transaction.add(b"count", 2);
    assert!(transaction.get(b"b").await.expect("read").is_some());
    transaction.clear(b"c");
    transaction.clear_range(b"first 1", b"first 2");
    transaction.set_versionstamped_value(b"stamped", &[0; 10], 0);
    let version = transaction.commit().await.expect("committed");
    let expected = all(&store).await;
    let killed = machine.image();
    drop(store);

    let recovered = Machine::holding(killed);
    let store = recovered.open().expect("it is recovered");
    assert_eq!(all(&store).await, expected);
    assert_eq!(get(&store, "stamped").await, Some(version.0.to_vec()));
    assert_eq!(
        get(&store, "count").await,
        Some(7_i64.to_le_bytes().to_vec())
    );
    let transaction = crate::begin(&store).await;
    transaction.set(b"next", b"");
    let next = transaction.commit().await.expect("committed");
    assert!(next > version, "versions continue");
    drop(store);
    for closed in [recovered, machine] {
        let [first, second, file] = closed.image();
        assert!(first.is_none() && second.is_none(), "the log is removed");
        let store = reopened(&[None, None, file]);
        assert!(all(&store).await.len() >= expected.len());
    }
}

/// The second group of commits begins the log, so a command with one transaction creates no files.
#[tokio::test]
async fn a_single_commit_needs_no_log() {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    set(&store, "key", "value").await.expect("committed");
    assert!(!machine.has_log());
    let store = reopened(&machine.image());
    assert_eq!(get(&store, "key").await, Some(b"value".to_vec()));
}

#[tokio::test]
async fn a_store_without_an_enabled_log_has_none() {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    assert!(store.lacks_log());
    for number in 0..5 {
        set(&store, format!("{number}"), "")
            .await
            .expect("committed");
    }
    assert!(!machine.has_log());
    store.enable_log().await.expect("enabled");
    assert!(!store.lacks_log());
    drop(store);
    assert!(!machine.open().expect("a store").lacks_log());
}

/// Checkpoints free segments, so the files stay small, and a kill at any time loses nothing.
#[tokio::test(flavor = "multi_thread")]
async fn segments_are_reused_after_checkpoints() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    let mut segments = BTreeSet::new();
    for number in 0..200_u32 {
        let value = vec![0x55; 5_000];
        set(&store, format!("{number:03}"), value)
            .await
            .expect("committed");
        if number % 10 == 0 {
            let image = machine.image();
            for file in image[..2].iter().flatten() {
                segments.insert(file[24..32].to_vec());
                assert!(file.len() <= 2 << 20, "{} bytes", file.len());
            }
            let store = reopened(&image);
            assert_eq!(all(&store).await.len(), 3 + number as usize);
        }
    }
    assert!(segments.len() > 5, "{} segments", segments.len());
}

/// A transaction that is larger than a segment.
#[tokio::test]
async fn a_frame_can_be_larger_than_a_segment() {
    let machine = Machine::new();
    let options = EmbeddedOptions {
        log_segment_bytes: SEGMENT_BYTES,
        ..EmbeddedOptions::default()
    };
    let store = begun_by(machine.open_with(options).expect("a store")).await;
    let bytes = 20 * usize::try_from(SEGMENT_BYTES).expect("small");
    for number in 0..3 {
        set(&store, format!("large {number}"), vec![number; bytes])
            .await
            .expect("committed");
        let store = reopened(&machine.image());
        assert_eq!(all(&store).await.len(), 3 + usize::from(number));
        assert_eq!(
            get(&store, format!("large {number}")).await,
            Some(vec![number; bytes])
        );
    }
}

/// A store with several frames in one segment.
struct Written {
    /// The files before the last commit.
    before: Image,
    image: Image,
    file: usize,
    frames: Vec<usize>,
    /// The number of pairs.
    pairs: usize,
}

async fn written() -> Written {
    let machine = Machine::new();
    let options = EmbeddedOptions::default();
    let store = machine.open_with(options).expect("a store");
    store.enable_log().await.expect("enabled");
    let mut before = machine.image();
    for number in 0..9 {
        before = machine.image();
        set(&store, format!("{number}"), vec![number; 3_000])
            .await
            .expect("committed");
    }
    let image = machine.image();
    let file = fullest(&image);
    let frames = frames(image[file].as_ref().expect("a log"));
    // The first two commits began the log.
    assert_eq!(frames.len(), 8);
    Written {
        before,
        image,
        file,
        frames,
        pairs: 9,
    }
}

/// A frame that a crash has left incomplete is the end of the log.
#[tokio::test]
async fn a_torn_last_frame_is_dropped() {
    let written = written().await;
    let chance = &mut chance(crate::seed::test_seed());
    let [.., begin, _] = written.frames[..] else {
        panic!("frames");
    };
    for round in 0..60 {
        let mut image = written.image.clone();
        let before = written.before[written.file].as_ref().expect("a log");
        let file = image[written.file].as_mut().expect("a log");
        // The last sectors are padding. They are a part of the frame, too.
        let sectors: Vec<_> = (begin..begin + BLOCK).step_by(SECTOR).collect();
        let kept = chance.random_range(0..sectors.len());
        for (number, at) in sectors.into_iter().enumerate() {
            let lost = if round % 2 == 0 {
                number >= kept
            } else {
                number == kept || chance.random_bool(0.5)
            };
            if lost {
                file[at..at + SECTOR].copy_from_slice(&before[at..at + SECTOR]);
            }
        }
        let store = reopened(&image);
        assert_eq!(all(&store).await.len(), written.pairs - 1);
        set(&store, "after", "").await.expect("committed");
    }
}

/// A disk writes a sector completely or not at all, so other contents are damage, also in the last
/// frame.
#[tokio::test]
async fn a_damaged_frame_is_rejected() {
    let written = written().await;
    let chance = &mut chance(crate::seed::test_seed());
    let [first, .., last, _] = written.frames[..] else {
        panic!("frames");
    };
    let name = LOG_NAMES[written.file];
    for _ in 0..60 {
        let mut image = written.image.clone();
        let file = image[written.file].as_mut().expect("a log");
        let at = written.frames[chance.random_range(0..written.frames.len() - 1)];
        let bit = chance.random_range(at * 8..(at + BLOCK) * 8);
        file[bit / 8] ^= 1 << (bit % 8);
        let error = rejected(&image);
        assert!(error.message().contains(name), "{error}");
        let place = format!("offset {}:", bit / 8 / SECTOR * SECTOR);
        assert!(error.message().contains(&place), "{place} {error}");
    }
    let zeroed = [
        ("header", 0..48),
        ("frames", first..last),
        ("last frame", last..last + BLOCK),
        ("a sector of it", last + SECTOR..last + 2 * SECTOR),
    ];
    for (what, at) in zeroed {
        let mut image = written.image.clone();
        image[written.file].as_mut().expect("a log")[at].fill(0);
        let error = rejected(&image);
        assert!(error.message().contains(name), "{what}: {error}");
    }
}

#[tokio::test]
async fn missing_swapped_and_foreign_segments_are_rejected() {
    let first = written().await;
    let second = written().await;
    let other = 1 - first.file;
    let mut missing = first.image.clone();
    missing[first.file] = None;
    assert!(rejected(&missing).message().contains("is missing"));
    missing[other] = None;
    assert!(rejected(&missing).message().contains("is missing"));

    let mut swapped = first.image.clone();
    swapped.swap(0, 1);
    assert!(rejected(&swapped).message().contains("in place of"));

    let mut foreign = first.image.clone();
    foreign[first.file].clone_from(&second.image[first.file]);
    assert!(rejected(&foreign).message().contains("another store"));

    // The log goes with the redb file of the same state.
    let mut foreign = first.image.clone();
    foreign[2].clone_from(&second.image[2]);
    assert!(rejected(&foreign).message().contains("another store"));
}

/// The end of a segment says that the log continues in the next one.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_last_segment_is_noticed() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    let mut number = 0;
    let image = loop {
        number += 1;
        set(&store, format!("{number}"), vec![1; 3_000])
            .await
            .expect("committed");
        let image = machine.image();
        let counts = [0, 1].map(|file| frames(image[file].as_ref().expect("a log")).len());
        // Before the checkpoint, both segments are needed.
        if counts.iter().all(|count| *count > 1) {
            break image;
        }
        assert!(number < 5_000, "no moment before a checkpoint was met");
    };
    let last = |file: usize| image[file].as_ref().expect("a log")[24];
    let newer = usize::from(last(1) > last(0));
    let mut missing = image.clone();
    missing[newer] = None;
    // A checkpoint that ended meanwhile needs only the newer segment.
    let error = rejected(&missing);
    assert!(error.message().contains("is missing"), "{error}");
    drop(store);
}

/// Crashes during recovery, one after another, change nothing.
#[tokio::test]
async fn recovery_can_crash_repeatedly() {
    let seed = crate::seed::test_seed();
    let chance = &mut chance(seed);
    let written = written().await;
    for _ in 0..20 {
        let mut image = written.image.clone();
        for _ in 0..chance.random_range(1..5) {
            let machine = Machine::holding(image.clone());
            drop(machine.open().expect("it is recovered"));
            image = crash(&machine, chance);
        }
        let store = reopened(&image);
        assert_eq!(all(&store).await.len(), written.pairs, "seed {seed}");
    }
}

fn crash(machine: &Machine, chance: &mut StdRng) -> Image {
    machine.after_crash(chance.random_range(0..=machine.calls()), chance)
}

/// Space is allocated before a commit is accepted. A full disk rejects the transaction, and the store
/// continues.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_rejects_transactions_and_keeps_the_store() {
    let machine = Machine::new();
    let options = EmbeddedOptions::default();
    let store = machine.open_with(options).expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..3 {
        set(&store, format!("{number}"), "value")
            .await
            .expect("committed");
    }
    machine.take_only(Some(100_000));
    let error = assert_unavailable(set(&store, "large", vec![1; 3 << 20]).await);
    assert!(
        error.message().contains("disk of the store is full"),
        "{error}"
    );
    assert!(error.message().contains("nothing was changed"), "{error}");
    assert_eq!(get(&store, "large").await, None);
    let calls = machine.calls();
    store.ready().await.expect("there is room for a small one");
    assert_eq!(machine.calls(), calls, "the space was allocated before");
    set(&store, "small", "value")
        .await
        .expect("there is room for it");
    machine.take_only(None);
    set(&store, "large", vec![1; 3 << 20])
        .await
        .expect("there is room again");
    let store = reopened(&machine.image());
    assert_eq!(all(&store).await.len(), 5);
}

/// redb would commit on close what the log does not have.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_sync_of_the_log_fails_the_store_and_commits_nothing() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    set(&store, "before", "value").await.expect("committed");
    machine.fail_log_syncs();
    let before = machine.image();
    let error = assert_unavailable(set(&store, "lost", "value").await);
    assert!(error.message().contains("until it is reopened"), "{error}");
    let reason = assert_failed(&store).await;
    assert!(
        reason
            .detail()
            .is_some_and(|detail| detail.contains("as the test asked for"))
    );
    drop(store);
    assert!(machine.image()[2] == before[2], "redb wrote nothing");
    // The frame may have been written. Without it, nothing of the transaction is there.
    let [_, _, file] = machine.image();
    let store = reopened(&[before[0].clone(), before[1].clone(), file]);
    assert_eq!(get(&store, "lost").await, None);
    assert_eq!(get(&store, "before").await, Some(b"value".to_vec()));
}

/// The frame may have been written, so clients are not told to send the operation again.
#[tokio::test(flavor = "multi_thread")]
async fn the_outcome_of_a_transaction_whose_sync_fails_is_unknown() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    machine.fail_log_syncs();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let write = || {
        transact(&store, deadline, |transaction| {
            transaction.set(b"key", b"value");
            Box::pin(async { Ok(Decision::Commit(())) })
        })
    };
    let error = write().await.err().expect("the sync fails");
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    // Later transactions are rejected before they write.
    let error = write().await.err().expect("the store has failed");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

/// Spawns a commit, which ends after its sync.
fn spawned(store: &Arc<Embedded>, key: &str, value: &str) -> JoinHandle<()> {
    let (store, key, value) = (store.clone(), key.to_owned(), value.to_owned());
    tokio::spawn(async move { set(&store, key, value).await.expect("committed") })
}

/// Waits until the log has begun this many syncs.
async fn begun(machine: &Machine, syncs: usize) {
    while machine.log_syncs() < syncs {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Gives others the time to do what they must not do.
async fn pause() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

/// While a group syncs, the next one executes. Nothing of either is visible or reported.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_execute_while_the_log_syncs() {
    let machine = Machine::new();
    let store = Arc::new(logged(&machine).await);
    set(&store, "key", "old").await.expect("committed");
    machine.hold_log_syncs(true);
    let syncs = machine.log_syncs();
    let first = spawned(&store, "key", "first");
    begun(&machine, syncs + 1).await;

    // These read the unsynced commit.
    let reader = crate::begin(&store).await;
    let value = reader.get(b"key").await.expect("read");
    assert_eq!(value, Some(b"first".to_vec()));
    let aborted = tokio::spawn(async move { reader.abort().await });
    let reader = crate::begin(&store).await;
    let read_only = tokio::spawn(async move { reader.commit().await.map(drop) });
    let second: Vec<_> = (0..64)
        .map(|number| spawned(&store, &format!("second {number}"), ""))
        .collect();
    pause().await;
    assert!(!first.is_finished());
    assert!(!aborted.is_finished(), "it has read an unsynced commit");
    assert!(!read_only.is_finished(), "it could read an unsynced commit");
    assert!(second.iter().all(|commit| !commit.is_finished()));
    assert_eq!(get(&store, "key").await, Some(b"old".to_vec()));
    assert_eq!(all(&store).await.len(), 3);
    let executed = crate::begin(&store).await;
    let value = executed.get(b"second 63").await.expect("read");
    assert_eq!(value, Some(Vec::new()), "it was executed");
    drop(executed);

    machine.hold_log_syncs(false);
    first.await.expect("committed");
    aborted.await.expect("no panic").expect("synced");
    read_only.await.expect("no panic").expect("synced");
    for commit in second {
        commit.await.expect("committed");
    }
    assert_eq!(get(&store, "key").await, Some(b"first".to_vec()));
    let syncs = machine.log_syncs() - syncs;
    assert!(syncs <= 4, "{syncs} syncs of 65 commits");
}

/// A transaction that read an unsynced commit fails if the sync does.
#[tokio::test(flavor = "multi_thread")]
async fn readers_of_a_commit_whose_sync_fails_are_told() {
    let machine = Machine::new();
    let store = Arc::new(logged(&machine).await);
    machine.hold_log_syncs(true);
    let syncs = machine.log_syncs();
    let writer = {
        let store = store.clone();
        tokio::spawn(async move { set(&store, "key", "value").await })
    };
    begun(&machine, syncs + 1).await;
    let reader = crate::begin(&store).await;
    assert!(reader.get(b"key").await.expect("read").is_some());
    let aborted = tokio::spawn(async move { reader.abort().await });
    pause().await;
    machine.fail_log_syncs();
    machine.hold_log_syncs(false);
    assert_unavailable(writer.await.expect("no panic"));
    assert_unavailable(aborted.await.expect("no panic"));
    assert_failed(&store).await;
}

/// The lock is held, so the checkpoint that ends the log cannot be made.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_closes_during_a_transaction_keeps_its_log() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    set(&store, "before", "").await.expect("committed");
    let open = crate::begin(&store).await;
    open.set(b"undone", b"");
    drop(store);
    assert!(
        machine.has_log(),
        "the checkpoint of the close could not be made"
    );
    drop(open);
    let store = reopened(&machine.image());
    assert_eq!(get(&store, "before").await, Some(Vec::new()));
    assert_eq!(get(&store, "undone").await, None);
}

/// A checkpoint waits for the disk without the write lock. Until it is durable, the log has
/// everything.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_commit_while_a_checkpoint_syncs() {
    let machine = Machine::new();
    let store = logged(&machine).await;
    machine.hold_database_syncs(true);
    let syncs = machine.database_syncs();
    let write = async |number: usize| {
        let value = vec![0x55; 5_000];
        set(&store, format!("{number:03}"), value)
            .await
            .expect("committed");
    };
    let mut number = 0;
    while machine.database_syncs() == syncs {
        write(number).await;
        number += 1;
        assert!(number < 1_000, "no segment has ended");
        // The checkpoint must reach its sync before more is written than may wait for it.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Fewer bytes than may wait for the checkpoint.
    for _ in 0..10 {
        write(number).await;
        number += 1;
    }
    let chance = &mut chance(crate::seed::test_seed());
    for _ in 0..10 {
        let image = machine.after_crash(machine.calls(), chance);
        assert_eq!(all(&reopened(&image)).await.len(), number + 2);
    }
    machine.hold_database_syncs(false);
    for _ in 0..50 {
        write(number).await;
        number += 1;
        let image = machine.after_crash(machine.calls(), chance);
        assert_eq!(all(&reopened(&image)).await.len(), number + 2);
    }
}
