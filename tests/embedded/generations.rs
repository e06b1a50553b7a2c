//! Files of two generations of a store: the log is removed only if redb has all of its commits.

use std::fs;

use phyllo::store::{FILE_NAME, LOG_NAMES, Store};

use crate::machine::{Image, Machine};
use crate::process::open;
use crate::{all, all_in, assert_unavailable, set};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A generation of a store: its files before it was closed and after, and what it has.
struct Generation {
    killed: Image,
    closed: Image,
    pairs: Pairs,
}

/// Opens the store, writes to it, and closes it.
async fn generation(before: Option<&Image>, name: &str) -> Generation {
    let machine = before.map_or_else(Machine::new, |image| Machine::holding(image.clone()));
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..5 {
        set(&store, format!("{name} {number}"), name)
            .await
            .expect("committed");
    }
    let (killed, pairs) = (machine.image(), all(&store).await);
    drop(store);
    let closed = machine.image();
    assert!(killed[0].is_some() && closed[0].is_none() && closed[1].is_none());
    Generation {
        killed,
        closed,
        pairs,
    }
}

/// The files of a log, and the file of redb.
fn together(log: &Image, file: Option<Vec<u8>>) -> Image {
    [log[0].clone(), log[1].clone(), file]
}

/// Neither a writer nor a reader opens the store, and no file is changed.
fn assert_rejected(image: &Image) {
    let machine = Machine::holding(image.clone());
    let errors = [
        assert_unavailable(machine.open().map(|_| ())),
        assert_unavailable(machine.read().map(|_| ())),
    ];
    for error in errors {
        let named = LOG_NAMES.iter().any(|name| error.message().contains(name));
        assert!(named && error.message().contains("at offset"), "{error}");
    }
    assert!(machine.image() == *image, "a file was changed");
}

async fn assert_opens(image: &Image, pairs: &Pairs) {
    let machine = Machine::holding(image.clone());
    let reader = machine.read().expect("it is read");
    let snapshot = reader.snapshot().await;
    let read = all_in(&*snapshot.expect("the store serves")).await;
    assert_eq!(read.expect("read"), *pairs);
    drop(reader);
    let store = machine.open().expect("it opens");
    assert_eq!(all(&store).await, *pairs);
    assert!(!machine.has_log(), "the log has ended");
}

#[tokio::test]
async fn a_log_with_later_commits_than_a_closed_store_is_kept() {
    let first = generation(None, "first").await;
    let second = generation(Some(&first.closed), "second").await;
    let image = together(&second.killed, first.closed[2].clone());
    assert_rejected(&image);
    // The damaged header of a segment does not hide its frames.
    for file in 0..2 {
        let mut flipped = image.clone();
        if let Some(log) = &mut flipped[file] {
            log[20] ^= 1;
        }
        assert_rejected(&flipped);
    }
    // redb creates a store in an empty file, which has no commits.
    assert_rejected(&together(&first.killed, Some(Vec::new())));
}

#[tokio::test]
async fn the_log_that_a_crash_left_beside_a_closed_store_is_removed() {
    let first = generation(None, "first").await;
    let second = generation(Some(&first.closed), "second").await;
    for log in [&first.killed, &second.killed] {
        let image = together(log, second.closed[2].clone());
        assert_opens(&image, &second.pairs).await;
    }
    // A log that was not begun has segments without frames.
    let mut image = together(&second.killed, first.closed[2].clone());
    for log in image[..2].iter_mut().flatten() {
        log[4096..].fill(0);
    }
    assert_opens(&image, &first.pairs).await;
}

/// No empty store is created in place of one whose file was lost.
#[tokio::test]
async fn a_missing_or_empty_file_beside_a_log_is_rejected() {
    let Generation { killed, .. } = generation(None, "first").await;
    for file in [None, Some(Vec::new())] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        for (name, bytes) in LOG_NAMES.iter().zip(&killed) {
            if let Some(bytes) = bytes {
                fs::write(path(name), bytes).expect("written");
            }
        }
        if let Some(bytes) = &file {
            fs::write(path(FILE_NAME), bytes).expect("written");
        }
        let error = assert_unavailable(open(directory.path()).map(|_| ()));
        assert!(error.message().contains(FILE_NAME), "{error}");
        assert_eq!(fs::read(path(FILE_NAME)).ok(), file);
        for (name, bytes) in LOG_NAMES.iter().zip(&killed) {
            assert_eq!(fs::read(path(name)).ok(), *bytes, "{name}");
        }
    }
}

#[test]
fn an_empty_file_is_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(FILE_NAME);
    fs::write(&path, b"").expect("written");
    let error = assert_unavailable(open(directory.path()).map(|_| ()));
    assert!(error.message().contains("is empty"), "{error}");
    assert_eq!(fs::read(&path).expect("read"), b"");
}
