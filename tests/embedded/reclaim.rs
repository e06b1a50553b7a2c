//! Ranges cleared by tombstones: their pairs are removed in the background, also after a crash
//! during that.

use std::path::Path;
use std::time::{Duration, Instant};

use phyllo::store::FILE_NAME;
use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition};
use tempfile::TempDir;

use crate::process::{Process, open, said_directory, say};
use crate::{all, begin, get, set};

const PAIRS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("pairs");
const ENGINE: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");
const TOMBSTONES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("tombstones");

const COUNT: u32 = 300_000;
const TIME_MAX: Duration = Duration::from_secs(60);

fn key(number: u32) -> Vec<u8> {
    format!("m{number:07}").into_bytes()
}

/// The number of pairs and tombstones in the file of a store that no process holds.
fn in_file(directory: &Path) -> (u64, u64) {
    let database = Database::open(directory.join(FILE_NAME)).expect("it opens");
    let read = database.begin_read().expect("read");
    let pairs = read.open_table(PAIRS).expect("a table");
    let tombstones = read.open_table(TOMBSTONES);
    let tombstones = tombstones.map_or(0, |table| table.len().expect("read"));
    (pairs.len().expect("read"), tombstones)
}

/// Reopens the store until no tombstone is left.
async fn reclaimed(directory: &Path) -> u64 {
    let begun = Instant::now();
    loop {
        let (store, _) = open(directory).expect("it opens");
        tokio::time::sleep(Duration::from_millis(200)).await;
        drop(store);
        let (pairs, tombstones) = in_file(directory);
        if tombstones == 0 {
            return pairs;
        }
        assert!(begun.elapsed() < TIME_MAX, "{pairs} pairs are left");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_background_removal_is_continued_by_the_next_process() {
    let directory = TempDir::new().expect("a directory");
    let mut killed = Process::start(
        "reclaim::the_other_process_clears_and_is_killed",
        directory.path(),
    );
    killed.wait_until("cleared");
    killed.wait_for_abort();
    let (pairs, tombstones) = in_file(directory.path());
    assert_eq!(tombstones, 1);
    assert!((2..=u64::from(COUNT) + 2).contains(&pairs), "{pairs}");
    assert!(pairs > 100_000, "it was not killed in the middle: {pairs}");
    let (store, _) = open(directory.path()).expect("it is repaired");
    let expected = [
        (b"l".to_vec(), b"before".to_vec()),
        (b"n".to_vec(), b"behind".to_vec()),
    ];
    assert_eq!(all(&store).await, expected);
    set(&store, key(COUNT / 2), "new").await.expect("committed");
    drop(store);
    assert_eq!(reclaimed(directory.path()).await, 3);
    let (store, _) = open(directory.path()).expect("it was closed");
    assert_eq!(get(&store, key(COUNT / 2)).await, Some(b"new".to_vec()));
    assert_eq!(get(&store, key(COUNT / 2 + 1)).await, None);
}

/// Not a test: [`Process::start`] runs it.
#[tokio::test]
#[ignore = "another test runs it in a process of its own"]
async fn the_other_process_clears_and_is_killed() {
    let Some(directory) = said_directory() else {
        return;
    };
    let (store, _) = open(Path::new(&directory)).expect("it opens");
    fill(&store).await;
    clear(&store).await;
    say("cleared");
    std::process::abort();
}

async fn fill(store: &phyllo::store::Embedded) {
    let transaction = begin(store).await;
    transaction.set(b"l", b"before");
    for number in 0..COUNT {
        transaction.set(&key(number), b"old");
    }
    transaction.set(b"n", b"behind");
    transaction.commit().await.expect("committed");
}

async fn clear(store: &phyllo::store::Embedded) {
    let transaction = begin(store).await;
    let later = transaction.clear_large_range(b"m", b"n").await;
    assert!(later.expect("cleared"), "pairs are left in the file");
    transaction.commit().await.expect("committed");
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_continue_during_background_removal() {
    let directory = TempDir::new().expect("a directory");
    let (store, _) = open(directory.path()).expect("a new store");
    fill(&store).await;
    let begun = Instant::now();
    clear(&store).await;
    let cleared = begun.elapsed();
    let (mut longest, mut commits) = (Duration::ZERO, 0);
    while begun.elapsed() < Duration::from_secs(2) {
        let begun = Instant::now();
        set(&store, format!("o{commits}"), "other")
            .await
            .expect("committed");
        longest = longest.max(begun.elapsed());
        commits += 1;
    }
    println!("cleared in {cleared:?}; {commits} commits meanwhile, the longest took {longest:?}");
    // A sync of a slow disk takes long, and other processes use this machine.
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    assert_eq!(all(&store).await.len(), commits + 2);
    drop(store);
    let kept = commits as u64 + 2;
    let (pairs, _) = in_file(directory.path());
    // Some were removed while the store was open, and the rest after it is opened again.
    assert!(pairs < u64::from(COUNT) + kept, "{pairs}");
    assert_eq!(reclaimed(directory.path()).await, kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_closes_immediately_during_background_removal() {
    let directory = TempDir::new().expect("a directory");
    let (store, _) = open(directory.path()).expect("a new store");
    fill(&store).await;
    clear(&store).await;
    // An open transaction blocks the removal thread.
    let open_transaction = begin(&store).await;
    drop(store);
    drop(open_transaction);
    let (pairs, tombstones) = in_file(directory.path());
    assert_eq!(tombstones, 1);
    assert!(pairs > 2);
    assert_eq!(reclaimed(directory.path()).await, 2);
}

/// A file built from the description in docs/format.md, not by the engine.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_tombstones_is_read_as_documented() {
    let directory = TempDir::new().expect("a directory");
    let database = Database::create(directory.path().join(FILE_NAME)).expect("a file");
    let transaction = database.begin_write().expect("begun");
    {
        let mut pairs = transaction.open_table(PAIRS).expect("a table");
        for name in ["a", "b", "c", "d", "e", "f"] {
            pairs.insert(name.as_bytes(), &b"value"[..]).expect("set");
        }
        let mut engine = transaction.open_table(ENGINE).expect("a table");
        engine.insert("last_commit", 7).expect("set");
        let mut tombstones = transaction.open_table(TOMBSTONES).expect("a table");
        for (begin, end) in [("", "a"), ("b", "d"), ("d\0", "f")] {
            tombstones
                .insert(begin.as_bytes(), end.as_bytes())
                .expect("set");
        }
    }
    transaction.commit().expect("committed");
    drop(database);
    let (store, _) = open(directory.path()).expect("a store");
    let left = || ["a", "d", "f"].map(|name| (name.as_bytes().to_vec(), b"value".to_vec()));
    assert_eq!(all(&store).await, left());
    assert_eq!(get(&store, "b").await, None);
    drop(store);
    assert_eq!(reclaimed(directory.path()).await, 3);
    let (store, _) = open(directory.path()).expect("a store");
    assert_eq!(all(&store).await, left());
}
