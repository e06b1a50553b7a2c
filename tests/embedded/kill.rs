//! SIGKILL while a process writes: acknowledged commits are there, and no commit is partial.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use phyllo::store::{Embedded, EmbeddedOptions, LOG_NAMES, Store};
use rand::Rng;

use crate::disk::chance;
use crate::process::{Process, said_directory, say};
use crate::{all, begin};

const KILLS: usize = 20;
const KILLS_OF_LONG_TESTS: usize = 200;
const WRITERS: usize = 16;

fn open(directory: &Path) -> Embedded {
    let options = EmbeddedOptions {
        log_segment_bytes: 256 << 10,
        overlay_transaction_bytes_max: 10_000,
        ..EmbeddedOptions::default()
    };
    Embedded::open(directory, options, |_| {}).expect("it opens")
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_under_load_lose_no_acknowledged_commit() {
    let kills = if crate::skip::runs_long_tests() {
        KILLS_OF_LONG_TESTS
    } else {
        KILLS
    };
    let seed = crate::seed::test_seed();
    let chance = &mut chance(seed);
    let directory = tempfile::tempdir().expect("a directory");
    // The last acknowledged number of each writer.
    let mut acknowledged = BTreeMap::<usize, u64>::new();
    let mut logs = 0;
    for kill in 0..kills {
        let other = Process::start(
            "kill::the_other_process_writes_until_it_is_killed",
            directory.path(),
        );
        let mut lines = chance.random_range(1..3_000);
        other.until_killed(|line| {
            // The last line can be incomplete.
            let told = line.split_once(" wrote ");
            let told = told.and_then(|(writer, number)| {
                Some((writer.parse::<usize>().ok()?, number.parse::<u64>().ok()?))
            });
            let Some((writer, number)) = told else {
                return false;
            };
            let least = acknowledged.entry(writer).or_default();
            *least = number.max(*least);
            lines -= 1_i32;
            lines <= 0
        });
        let has_log = |name: &&str| directory.path().join(name).exists();
        logs += usize::from(LOG_NAMES.iter().all(has_log));
        let store = open(directory.path());
        check(&store, &acknowledged, &format!("seed {seed}, kill {kill}")).await;
    }
    println!("{kills} kills, {logs} with a log");
    assert!(logs * 2 > kills, "{logs} of {kills} had a log");
}

/// Every writer sets its number and a pair for each number, in one transaction.
async fn check(store: &Embedded, acknowledged: &BTreeMap<usize, u64>, case: &str) {
    let found: BTreeMap<_, _> = all(store).await.into_iter().collect();
    for (writer, least) in acknowledged {
        let key = format!("last {writer:03}").into_bytes();
        let last = found.get(&key).expect("acknowledged");
        let last = u64::from_be_bytes(last[..].try_into().expect("eight bytes"));
        assert!(last >= *least, "{case}: {last} of {least} of {writer}");
        let own = format!("own {writer:03} ").into_bytes();
        let end = format!("own {writer:03}!").into_bytes();
        let own = found.range(own..end).count() as u64;
        assert_eq!(own, last, "{case}: pairs of {writer}");
    }
}

/// Not a test: [`Process::start`] runs it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test runs it in a process of its own"]
async fn the_other_process_writes_until_it_is_killed() {
    let Some(directory) = said_directory() else {
        return;
    };
    let store = Arc::new(open(Path::new(&directory)));
    store.enable_log().await.expect("enabled");
    let writers = (0..WRITERS).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            loop {
                let number = write(&store, writer).await;
                say(&format!("{writer} wrote {number}"));
            }
        })
    });
    // They do not end.
    futures::future::join_all(writers.collect::<Vec<_>>()).await;
}

async fn write(store: &Embedded, writer: usize) -> u64 {
    let transaction = begin(store).await;
    let key = format!("last {writer:03}").into_bytes();
    let last = transaction.get(&key).await.expect("read");
    let last = last.map_or(0, |last| {
        u64::from_be_bytes(last.try_into().expect("eight bytes"))
    });
    let number = last + 1;
    transaction.set(&key, &number.to_be_bytes());
    let own = format!("own {writer:03} {number:08}");
    // A few transactions are written to redb directly.
    let bytes = if number % 100 == 0 { 20_000 } else { 500 };
    transaction.set(own.as_bytes(), &vec![0x55; bytes]);
    transaction.commit().await.expect("committed");
    number
}
