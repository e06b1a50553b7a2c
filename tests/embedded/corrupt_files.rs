//! Damaged and foreign files: they are rejected with a clear error and not modified.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use phyllo::store::{FILE_NAME, Store};
use rand::Rng;
use rand::rngs::StdRng;
use tempfile::TempDir;

use crate::disk::chance;
use crate::process::open;
use crate::{all, assert_unavailable, set};

const PAIRS: u32 = 1_500;
const SEEDS: u64 = 150;

#[tokio::test]
async fn foreign_files_are_rejected_and_unchanged() {
    let closed = Files::closed().await;
    let (whole, open_header) = (&closed.file, Files::killed().await.file);
    let random: Vec<u8> = bytes(&mut chance(1), whole.len());
    let with = |at: usize, bytes: &[u8]| {
        let mut file = whole.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let half = whole.len() / 2;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("one byte", whole[..1].to_vec()),
        ("the first bytes of the magic number", whole[..5].to_vec()),
        ("the magic number alone", whole[..9].to_vec()),
        ("a part of the header", whole[..100].to_vec()),
        ("the header alone", whole[..4096].to_vec()),
        ("half of a closed store", whole[..half].to_vec()),
        ("half of a store", open_header[..half].to_vec()),
        ("no magic number", with(0, &[0; 9])),
        ("a header of zeros", with(0, &[0; 512])),
        ("a header of noise", with(0, &random[..512])),
        ("noise behind the magic number", with(9, &random[..503])),
        ("zeros behind the magic number", with(9, &[0; 503])),
        ("zeros", vec![0; whole.len()]),
        ("noise", random.clone()),
        ("JSON", br#"{"a": [1, 2, 3]}"#.repeat(1_000)),
        ("text", b"not a store\n".to_vec()),
    ];
    for (name, file) in cases {
        let directory = directory_with(&file);
        let error = assert_unavailable(open(directory.path()).map(|_| ()));
        println!("{name}: {error}");
        assert_tells(&error, directory.path());
        assert!(read(directory.path()) == file, "{name}: it was changed");
        // The second attempt fails the same way: the first one left no lock.
        assert_unavailable(open(directory.path()).map(|_| ()));
        assert!(read(directory.path()) == file, "{name}: it was changed");
    }
}

#[test]
fn foreign_redb_files_are_rejected_and_unchanged() {
    type Numbers = redb::TableDefinition<'static, u64, u64>;
    for (name, other) in [
        ("numbers", "notes"),
        ("pairs", "notes"),
        ("notes", "engine"),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join(FILE_NAME);
        let database = redb::Database::create(&file).expect("made");
        let transaction = database.begin_write().expect("begun");
        for table in [name, other] {
            let table = Numbers::new(table);
            let mut table = transaction.open_table(table).expect("opened");
            table.insert(1, 2).expect("inserted");
        }
        transaction.commit().expect("committed");
        drop(database);
        let before = read(directory.path());
        let error = assert_unavailable(open(directory.path()).map(|_| ()));
        println!("{name}: {error}");
        assert_tells(&error, directory.path());
        assert!(read(directory.path()) == before, "it was changed");
    }
}

/// A damaged store whose process was killed is either rejected and unchanged, or has the state of a
/// commit.
#[tokio::test]
async fn damage_after_a_kill_is_rejected_or_rolled_back() {
    let files = Files::killed().await;
    let first = crate::seed::test_seed();
    let (mut refused, mut opened) = (BTreeMap::<String, usize>::new(), 0);
    for seed in (0..SEEDS).map(|seed| first.wrapping_add(seed)) {
        let mut file = files.file.clone();
        damage(&mut file, &mut chance(seed));
        let directory = directory_with(&file);
        match open(directory.path()) {
            Err(error) => {
                assert_tells(&error, directory.path());
                assert!(
                    read(directory.path()) == file,
                    "seed {seed}: it was changed ({error})"
                );
                let why = error
                    .message()
                    .split_once("store (")
                    .map_or("", |(_, why)| why);
                let why = why.split([':', ')']).next().unwrap_or_default();
                *refused.entry(why.to_owned()).or_default() += 1;
            }
            Ok((store, _)) => {
                opened += 1;
                let found = all(&store).await;
                assert!(files.states.contains(&found), "seed {seed}: no such state");
                set(&store, "after", "").await.expect("committed");
            }
        }
    }
    for (why, times) in refused {
        println!("{times} times {why}");
    }
    println!("{opened} times it was opened");
}

/// Opening a store that was closed verifies only its header.
#[tokio::test]
async fn damaged_headers_of_closed_stores_are_rejected_or_harmless() {
    let files = Files::closed().await;
    for bit in 0..512 * 8 {
        // A random eighth of them, to save time.
        if rand::random_range(0..8) != 0 {
            continue;
        }
        let mut file = files.file.clone();
        file[bit / 8] ^= 1 << (bit % 8);
        let directory = directory_with(&file);
        match open(directory.path()) {
            Err(error) => {
                assert_tells(&error, directory.path());
                assert!(read(directory.path()) == file, "bit {bit}: {error}");
            }
            Ok((store, _)) => {
                let found = all(&store).await;
                assert!(files.states.contains(&found), "bit {bit}: no such state");
                store.ready().await.expect("it serves");
            }
        }
    }
}

type State = Vec<(Vec<u8>, Vec<u8>)>;

/// A store's file, and the states that it may have.
struct Files {
    file: Vec<u8>,
    states: Vec<State>,
}

impl Files {
    async fn closed() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (states, store) = Self::fill(directory.path()).await;
        drop(store);
        let file = read(directory.path());
        Self { file, states }
    }

    /// The file as a killed process leaves it.
    async fn killed() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (states, store) = Self::fill(directory.path()).await;
        let file = read(directory.path());
        drop(store);
        Self { file, states }
    }

    async fn fill(directory: &Path) -> (Vec<State>, phyllo::store::Embedded) {
        let (store, _) = open(directory).expect("a new store");
        let mut states = vec![Vec::new()];
        for part in 0..4 {
            let transaction = store.begin().await.expect("begun");
            for number in 0..PAIRS / 4 {
                let key = format!("{number} of part {part}");
                transaction.set(key.as_bytes(), &[0x55; 300]);
            }
            transaction.commit().await.expect("committed");
            states.push(all(&store).await);
        }
        (states, store)
    }
}

fn damage(file: &mut Vec<u8>, chance: &mut StdRng) {
    let length = file.len();
    match chance.random_range(0..6) {
        0 => file.truncate(chance.random_range(1..length)),
        // A possible earlier length of the file: redb writes another header before it continues.
        5 => file.truncate(chance.random_range(1..=length / 4096) * 4096),
        1 => file.extend(vec![0; chance.random_range(1..100_000)]),
        2 => {
            for _ in 0..chance.random_range(1..20) {
                let at = chance.random_range(0..length);
                file[at] ^= 1 << chance.random_range(0..8);
            }
        }
        3 => {
            let at = chance.random_range(0..512);
            file[at] = chance.random();
        }
        _ => {
            let at = chance.random_range(0..length / 4096) * 4096;
            let noise = bytes(chance, 4096.min(length - at));
            file[at..at + noise.len()].copy_from_slice(&noise);
        }
    }
}

fn bytes(chance: &mut StdRng, count: usize) -> Vec<u8> {
    (0..count).map(|_| chance.random()).collect()
}

fn directory_with(file: &[u8]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(FILE_NAME), file).expect("written");
    directory
}

fn read(directory: &Path) -> Vec<u8> {
    fs::read(directory.join(FILE_NAME)).expect("read")
}

fn assert_tells(error: &phyllo::error::Error, directory: &Path) {
    let place = directory.join(FILE_NAME).display().to_string();
    assert!(error.message().contains(&place), "{error}");
    assert!(error.message().contains("cannot be opened"), "{error}");
    let reasons = ["damaged, or not a Phyllo store", "has the file format"];
    let tells = |reason: &&str| error.message().contains(reason);
    assert!(reasons.iter().any(tells), "{error}");
}
