//! What is read of a damaged store: all that is intact, and the keys whose pairs are lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use phyllo::error::Result;
use phyllo::store::{Embedded, EmbeddedOptions, FILE_NAME, LOG_NAMES, LostKeys, Salvage, Store};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::machine::{Image, Machine};
use crate::{all, all_in, set};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

const PAGE_BYTES: usize = 4096;
const DATABASE: usize = 2;

struct Salvaged {
    pairs: Pairs,
    lost: LostKeys,
    faults: Vec<String>,
    last_commit: u64,
}

/// Reads the store that these files are. Checks that they are not changed.
async fn salvaged(image: &Image) -> Salvaged {
    let directory = tempfile::tempdir().expect("a directory");
    let (store, target) = (directory.path().join("store"), directory.path().join("to"));
    fs::create_dir(&store).expect("made");
    fs::create_dir(&target).expect("made");
    for (file, name) in image.iter().zip(names()) {
        if let Some(contents) = file {
            fs::write(store.join(name), contents).expect("written");
        }
    }
    let salvage = Salvage::open(&store, &target).expect("it is read");
    let snapshot = salvage.reader.snapshot().await.expect("a snapshot");
    let pairs = all_in(&*snapshot).await.expect("intact");
    let last_commit = snapshot.version().await.expect("a version").commit_number();
    let backup = salvage.reader.backup().await.expect("a backup");
    assert_eq!(backup.last_commit(), last_commit);
    assert_unchanged(&store, image);
    assert!(
        fs::read_dir(&target).expect("read").next().is_none(),
        "a file is left"
    );
    Salvaged {
        pairs,
        lost: salvage.lost,
        faults: salvage.faults,
        last_commit,
    }
}

fn names() -> [&'static str; 3] {
    [LOG_NAMES[0], LOG_NAMES[1], FILE_NAME]
}

fn assert_unchanged(store: &Path, image: &Image) {
    for (file, name) in image.iter().zip(names()) {
        assert!(
            fs::read(store.join(name)).ok() == *file,
            "{name} was changed"
        );
    }
}

/// Asserts that exactly the pairs whose keys are not lost are there, as they were in `expected`.
fn assert_whole(salvaged: &Salvaged, expected: &Pairs) {
    let is_known =
        |(key, _): &&(Vec<u8>, Vec<u8>)| !salvaged.lost.has_any(key, &[&key[..], &[0]].concat());
    let known = |pairs: &Pairs| pairs.iter().filter(is_known).cloned().collect::<Pairs>();
    assert!(
        known(&salvaged.pairs) == known(expected),
        "{:?}",
        salvaged.faults
    );
}

/// A store that was written.
struct Written {
    /// Its pairs after each commit, by its number.
    states: BTreeMap<u64, Pairs>,
    /// Its files before it was closed.
    killed: Image,
    /// Its files after it was closed.
    closed: Image,
}

impl Written {
    /// The number of the last commit, and all pairs.
    fn last(&self) -> (u64, &Pairs) {
        let (number, pairs) = self.states.last_key_value().expect("states");
        (*number, pairs)
    }
}

/// A store with all kinds of writes.
async fn written(chance: &mut StdRng, open: impl FnOnce(&Machine) -> Result<Embedded>) -> Written {
    let machine = Machine::new();
    let store = open(&machine).expect("a store");
    store.enable_log().await.expect("enabled");
    let mut states = BTreeMap::new();
    for _ in 0..120 {
        let transaction = store.begin().await.expect("it serves");
        for _ in 0..chance.random_range(1..6) {
            let key = format!("{:04}", chance.random_range(0..2_000));
            let value = vec![chance.random(); chance.random_range(0..400)];
            match chance.random_range(0..20) {
                0 => transaction.clear_range(key.as_bytes(), format!("{key}9").as_bytes()),
                1 => transaction.clear(key.as_bytes()),
                2 => transaction.add(b"count", 1),
                3 => {
                    let end = [&key.as_bytes()[..2], b"9"].concat();
                    let large = transaction.clear_large_range(key.as_bytes(), &end).await;
                    large.expect("it is cleared");
                }
                _ => transaction.set(key.as_bytes(), &value),
            }
        }
        let version = transaction.commit().await.expect("committed");
        states.insert(version.commit_number(), all(&store).await);
    }
    // Some are only in the log.
    let killed = machine.image();
    drop(store);
    Written {
        states,
        killed,
        closed: machine.image(),
    }
}

#[tokio::test]
async fn an_intact_store_is_read_completely() {
    let mut chance = StdRng::seed_from_u64(1);
    let written = written(&mut chance, Machine::open).await;
    let (last, pairs) = written.last();
    for image in [&written.killed, &written.closed] {
        let salvaged = salvaged(image).await;
        assert!(salvaged.faults.is_empty(), "{:?}", salvaged.faults);
        assert!(salvaged.lost.is_empty());
        assert!(salvaged.pairs == *pairs);
        assert_eq!(salvaged.last_commit, last);
    }
}

#[tokio::test]
async fn a_damaged_page_loses_only_its_own_pairs() {
    let mut chance = StdRng::seed_from_u64(2);
    let written = written(&mut chance, Machine::open).await;
    let (_, pairs) = written.last();
    let intact = &written.closed;
    let pages = intact[DATABASE].as_ref().map_or(0, Vec::len) / PAGE_BYTES;
    let (mut partly, mut completely) = (0, 0);
    for page in 1..pages {
        let mut image = intact.clone();
        let file = image[DATABASE].as_mut().expect("a file");
        let at = page * PAGE_BYTES + chance.random_range(0..60);
        file[at] ^= 1 << chance.random_range(0..8);
        let salvaged = salvaged(&image).await;
        assert_whole(&salvaged, pairs);
        if salvaged.faults.is_empty() {
            assert!(salvaged.lost.is_empty());
            assert!(salvaged.pairs == *pairs, "page {page}");
        }
        let lost = pairs.len() - salvaged.pairs.len();
        partly += usize::from(lost > 0 && lost < pairs.len());
        completely += usize::from(lost == pairs.len());
    }
    assert!(partly > 10, "{partly} of {pages} pages have pairs");
    assert!(completely > 0, "the root was damaged, too");
}

/// Opens the store with a log that has room for all commits.
fn without_checkpoints(machine: &Machine) -> Result<Embedded> {
    machine.open_with(EmbeddedOptions::default())
}

#[tokio::test]
async fn a_damaged_log_is_applied_up_to_the_damage() {
    let mut chance = StdRng::seed_from_u64(3);
    let written = written(&mut chance, without_checkpoints).await;
    let intact = &written.killed;
    let (mut earlier, mut ends) = (0, Vec::new());
    for file in 0..DATABASE {
        let bytes = intact[file].as_ref().map_or(0, Vec::len).min(256 << 10);
        for sector in (0..bytes).step_by(2_560) {
            let mut image = intact.clone();
            let contents = image[file].as_mut().expect("a file");
            contents[sector + chance.random_range(0..400)] ^= 0x10;
            let salvaged = salvaged(&image).await;
            assert!(salvaged.lost.is_empty());
            let state = &written.states[&salvaged.last_commit];
            assert!(salvaged.pairs == *state, "{:?}", salvaged.faults);
            let is_last = salvaged.last_commit == written.last().0;
            assert!(is_last || !salvaged.faults.is_empty());
            earlier += usize::from(!is_last);
            ends.push(salvaged.last_commit);
        }
    }
    ends.sort_unstable();
    ends.dedup();
    assert!(
        earlier > 10 && ends.len() > 3,
        "{earlier} times, at {ends:?}"
    );
}

/// Without the file, what the log has written or cleared is known, and nothing else.
#[tokio::test]
async fn a_log_beside_a_missing_or_empty_file_is_read() {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..40 {
        set(&store, format!("{number:02}"), vec![1; 300])
            .await
            .expect("committed");
    }
    let transaction = store.begin().await.expect("it serves");
    transaction.clear_range(b"10", b"20");
    transaction.add(b"count", 1);
    transaction.commit().await.expect("committed");
    let pairs = all(&store).await;
    let killed = machine.image();
    drop(store);
    for file in [None, Some(Vec::new()), Some(vec![7; 3 * PAGE_BYTES])] {
        let image = [killed[0].clone(), killed[1].clone(), file];
        let salvaged = salvaged(&image).await;
        assert!(
            salvaged.faults[0].contains(FILE_NAME),
            "{:?}",
            salvaged.faults
        );
        assert_whole(&salvaged, &pairs);
        assert!(!salvaged.lost.has_any(b"10", b"20"));
        assert!(!salvaged.lost.has_any(b"39", b"39\0"), "the log has it");
        assert!(
            salvaged.lost.has_any(b"count", b"count\0"),
            "something was added to it"
        );
        assert!(salvaged.lost.has_any(b"other", b"other\0"));
        assert!(!salvaged.pairs.is_empty());
    }
    // The log of a later state is not applied to a file that does not name it.
    let closed = machine.image();
    let image = [
        killed[0].clone(),
        killed[1].clone(),
        closed[DATABASE].clone(),
    ];
    let salvaged = salvaged(&image).await;
    assert!(salvaged.faults.is_empty() && salvaged.pairs == pairs);
}

#[tokio::test]
async fn a_store_that_is_open_is_not_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_store, _) = crate::process::open(directory.path()).expect("a store");
    let error =
        crate::assert_unavailable(Salvage::open(directory.path(), directory.path()).map(|_| ()));
    assert!(error.message().contains("has locked it"), "{error}");
}
