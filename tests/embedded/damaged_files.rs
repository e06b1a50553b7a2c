//! Files that were cut off, changed, or mixed: the store has exactly the data of its latest file, or
//! it is rejected and the error names a place.

use std::time::Duration;

use phyllo::error::ErrorKind;
use phyllo::store::{EmbeddedOptions, LOG_NAMES, RangeRead, Store};
use redb::{ReadableDatabase, TableDefinition};
use tokio::time::{Instant, sleep};

use crate::disk::Disk;
use crate::machine::{Image, Machine, SEGMENT_BYTES, TRANSACTION_BYTES};
use crate::skip::rounds;
use crate::{all, all_in, assert_unavailable, set};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

const BLOCK: usize = 4096;
const SECTOR: usize = 512;

/// A state of a store: its files, and what it has.
struct Generation {
    image: Image,
    pairs: Pairs,
}

/// What a store has, as a reader sees it and after it was opened for writing. `None`: it is rejected,
/// no file is changed, and the error names a place.
async fn outcome(image: &Image, what: &str) -> Option<Pairs> {
    let machine = Machine::holding(image.clone());
    let Ok(reader) = machine.read() else {
        let error = assert_unavailable(machine.open().map(|_| ()));
        assert!(machine.image() == *image, "{what}: a file was changed");
        let message = error.message();
        let named = LOG_NAMES.iter().any(|name| message.contains(name));
        assert!(named || message.contains("is damaged"), "{what}: {error}");
        let placed = message.contains("at offset") || message.contains("is missing");
        assert!(!named || placed, "{what}: {error}");
        return None;
    };
    let snapshot = reader.snapshot().await.expect("it serves");
    let read = all_in(&*snapshot).await;
    drop((snapshot, reader));
    let Ok(read) = read else {
        return None;
    };
    let store = machine.open().expect("it was read");
    assert_eq!(all(&store).await, read, "{what}");
    Some(read)
}

/// What a store had at some moments, and after each of its commits.
struct History {
    generations: Vec<Generation>,
    /// The pairs after the commit of that number.
    commits: Vec<Pairs>,
}

/// The states of one store: in one process, before and after checkpoints and a transaction that is
/// not in the log, then closed, and in the next process.
async fn history() -> History {
    loop {
        if let Some(history) = history_without_pause().await {
            return history;
        }
    }
}

/// `None`: there was a pause, after which a checkpoint made a state of its own.
async fn history_without_pause() -> Option<History> {
    let machine = Machine::new();
    let mut generations = Vec::new();
    let mut commits = vec![Vec::new()];
    let mut store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    for round in 0..6_u8 {
        let (number, bytes) = if round < 2 { (4, 100) } else { (20, 3_000) };
        let small = (0..number).map(|number| (format!("{round} {number}"), bytes));
        let mut writes: Vec<_> = small.collect();
        if round == 1 || round == 3 {
            writes.push((format!("large {round}"), 2 * TRANSACTION_BYTES));
            writes.push(("after".to_owned(), 10));
        }
        for (key, bytes) in writes {
            let value = vec![round; bytes];
            set(&store, key, value).await.expect("committed");
            commits.push(all(&store).await);
        }
        let begun = Instant::now();
        // A checkpoint changes the file of redb before it changes what redb has.
        while {
            let calls = machine.calls();
            sleep(Duration::from_millis(30)).await;
            machine.calls() != calls
        } {}
        let (image, pairs) = (machine.image(), all(&store).await);
        if begun.elapsed() > Duration::from_millis(900) {
            return None;
        }
        generations.push(Generation { image, pairs });
        if round == 4 {
            drop(store);
            let (image, pairs) = (machine.image(), generations[4].pairs.clone());
            generations.push(Generation { image, pairs });
            store = machine.open().expect("it was closed");
        }
    }
    Some(History {
        generations,
        commits,
    })
}

/// The number of the last commit in a file of redb.
fn last_commit(file: &[u8]) -> usize {
    let engine: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");
    let database = redb::Builder::new().create_with_backend(Disk::holding(file.to_vec()));
    let read = database.expect("a store").begin_read().expect("read");
    let records = read.open_table(engine).expect("a table");
    let number = records.get("last_commit").expect("read");
    usize::try_from(number.expect("a record").value()).expect("few")
}

/// The first state in which a file has these contents.
fn first_with(generations: &[Generation], file: usize, bytes: &[u8]) -> usize {
    let has = |generation: &Generation| generation.image[file].as_deref() == Some(bytes);
    generations.iter().position(has).expect("it is of a state")
}

/// All files of all states, and missing and empty ones. Nothing knows of the commits that only a lost
/// file of the log had, so older files of the log can be accepted as an earlier state of the store. It
/// is one that the store had, and not earlier than the file of redb.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_different_states_are_never_mixed() {
    let History {
        generations,
        commits,
    } = history().await;
    let choices = |file: usize| {
        let mut choices: Vec<Option<Vec<u8>>> = Vec::new();
        for generation in &generations {
            let bytes = generation.image[file].clone();
            if !choices.contains(&bytes) {
                choices.push(bytes);
            }
        }
        choices
    };
    let with_absent = |file| [choices(file), vec![None, Some(Vec::new())]].concat();
    let (mut same, mut earlier, mut rejected) = (0, 0, 0);
    for database in choices(2) {
        let has = last_commit(database.as_ref().expect("it always exists"));
        for first in with_absent(0) {
            for second in with_absent(1) {
                let image = [first.clone(), second, database.clone()];
                let used = image.iter().enumerate().filter_map(|(file, bytes)| {
                    let bytes = bytes.as_deref().filter(|bytes| !bytes.is_empty())?;
                    Some(first_with(&generations, file, bytes))
                });
                let used: Vec<usize> = used.collect();
                let latest = used.iter().max().expect("the file of redb");
                let old_log = used[..used.len() - 1].iter().any(|log| log < latest);
                let what = format!("files of the states {used:?}");
                match outcome(&image, &what).await {
                    Some(pairs) if pairs == generations[*latest].pairs => same += 1,
                    Some(pairs) => {
                        assert!(old_log && commits[has..].contains(&pairs), "{what}");
                        earlier += 1;
                    }
                    None => rejected += 1,
                }
            }
        }
    }
    for generation in &generations {
        let pairs = outcome(&generation.image, "the files of one state").await;
        assert!(pairs.as_ref() == Some(&generation.pairs));
    }
    assert!(same >= generations.len(), "{same}");
    assert!(rejected > 10 * earlier, "{rejected} {earlier}");
}

/// A store with some frames in a segment, after a kill.
async fn killed() -> Generation {
    let machine = Machine::new();
    let options = EmbeddedOptions {
        log_segment_bytes: SEGMENT_BYTES,
        ..EmbeddedOptions::default()
    };
    let store = machine.open_with(options).expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..6_u8 {
        set(&store, format!("{number}"), vec![number; 900])
            .await
            .expect("committed");
    }
    let (image, pairs) = (machine.image(), all(&store).await);
    Generation { image, pairs }
}

/// The end of what was written to a file of the log.
fn written(file: &[u8]) -> usize {
    let mut end = BLOCK;
    for at in (BLOCK..file.len()).step_by(SECTOR) {
        if file[at + 500..at + 508] != [0; 8] {
            end = at + SECTOR;
        }
    }
    end
}

#[tokio::test(flavor = "multi_thread")]
async fn every_changed_byte_of_the_log_is_recognized() {
    let killed = killed().await;
    let mut rejected = 0;
    for file in 0..2 {
        let end = written(killed.image[file].as_ref().expect("a log")) + SECTOR;
        for at in (0..end).step_by(rounds(37, 1)) {
            let mut image = killed.image.clone();
            image[file].as_mut().expect("a log")[at] ^= 1 << (at % 8);
            let what = format!("the byte {at} of the file {file} changed");
            match outcome(&image, &what).await {
                Some(pairs) => assert!(pairs == killed.pairs, "{what}"),
                None => rejected += 1,
            }
        }
    }
    assert!(rejected > rounds(400, 15_000), "{rejected}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_prefix_of_a_file_is_recognized() {
    let killed = killed().await;
    for file in 0..3 {
        let bytes = killed.image[file].as_ref().expect("a file");
        let end = if file < 2 {
            written(bytes)
        } else {
            bytes.len()
        };
        let fine = (0..end).step_by(if file < 2 {
            SECTOR
        } else {
            BLOCK * rounds(4, 1)
        });
        // Within sectors, and in the allocated space after the last frame.
        let odd = (1..bytes.len()).step_by(rounds(60_001, 6_007));
        // An empty file of redb is a new store here. `generations.rs` tests it in a directory.
        for length in fine.chain(odd).filter(|length| file < 2 || *length > 0) {
            let mut image = killed.image.clone();
            image[file].as_mut().expect("a file").truncate(length);
            let what = format!("the file {file} was cut off after {length} bytes");
            if let Some(pairs) = outcome(&image, &what).await {
                assert!(pairs == killed.pairs, "{what}");
            }
        }
    }
}

/// redb does not verify its pages when it reads them, and panics on some contents.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_pages_of_redb_are_errors_and_no_panics() {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    for number in 0..600 {
        set(&store, format!("{number:04}"), vec![1; 400])
            .await
            .expect("committed");
    }
    drop(store);
    let (closed, pairs) = (machine.image(), 600);
    let file = closed[2].as_ref().expect("a file of redb");
    let used = (BLOCK..file.len()).step_by(BLOCK);
    let used = used.filter(|at| file[*at..at + BLOCK] != [0; BLOCK]);
    let used: Vec<usize> = used.collect();
    let (mut failed, mut whole) = (0, 0);
    for (number, at) in used.iter().enumerate().step_by(rounds(2, 1)) {
        let other = used[(number + 7) % used.len()];
        for damage in [
            [0; BLOCK],
            [0xFF; BLOCK],
            file[other..other + BLOCK].try_into().expect("a page"),
        ] {
            let mut image = closed.clone();
            image[2].as_mut().expect("a file")[*at..at + BLOCK].copy_from_slice(&damage);
            let machine = Machine::holding(image);
            let Ok(reader) = machine.read() else {
                failed += 1;
                continue;
            };
            let snapshot = reader.snapshot().await.expect("it serves");
            let forward = snapshot.range(RangeRead::new(b"", b"\xFF")).await;
            let backward = snapshot
                .range(RangeRead {
                    reverse: true,
                    ..RangeRead::new(b"", b"\xFF")
                })
                .await;
            let several = [RangeRead::new(b"00", b"02"), RangeRead::new(b"03", b"05")];
            let several = snapshot.ranges(&several).await;
            let one = snapshot.get(b"0300").await;
            let several = several.batches.iter().map(|batch| batch.as_ref().err());
            let errors = [
                forward.as_ref().err(),
                backward.as_ref().err(),
                one.as_ref().err(),
            ];
            let errors: Vec<_> = errors.into_iter().chain(several).flatten().collect();
            for error in &errors {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "page {at}");
            }
            // A store that is written to, and closed.
            if let Ok(store) = machine.open()
                && let Err(error) = set(&store, "0300", vec![2; 400]).await
            {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "page {at}");
            }
            if errors.is_empty() {
                whole += usize::from(
                    all_in(&*snapshot)
                        .await
                        .is_ok_and(|read| read.len() == pairs),
                );
            } else {
                failed += 1;
            }
        }
    }
    assert!(failed > 20, "{failed} failed");
    assert!(whole > 0, "some pages are not read");
}
