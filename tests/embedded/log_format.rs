//! A log built from the description in docs/format.md, not by the engine.

use std::fs;

use phyllo::store::{FILE_NAME, LOG_NAMES};
use redb::{Database, TableDefinition};

use crate::process::open;
use crate::{all, begin};

const ENGINE: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");
const LOG: u64 = 0xAB_CDEF_0123;
const BLOCK: usize = 4096;

#[tokio::test]
async fn a_log_is_read_as_documented() {
    let directory = tempfile::tempdir().expect("a directory");
    let (store, _) = open(directory.path()).expect("a store");
    let transaction = begin(&store).await;
    for key in ["a", "b", "c", "d", "f"] {
        transaction.set(key.as_bytes(), b"old");
    }
    transaction.commit().await.expect("committed");
    drop((transaction, store));

    let file = directory.path().join(FILE_NAME);
    let database = Database::open(file).expect("it was closed");
    let transaction = database.begin_write().expect("begun");
    {
        let mut engine = transaction.open_table(ENGINE).expect("a table");
        engine.insert("log", LOG).expect("set");
        engine.insert("log_segment", 1).expect("set");
    }
    transaction.commit().expect("committed");
    drop(database);

    // The first frame begins with a commit that the file has.
    let ignored = record(1, &[set("ignored", "")]);
    let second = record(2, &[clear("a"), set("e", "new"), add("n", 7)]);
    let third = record(3, &[clear_range(2, "b", "c"), add("n", -2)]);
    let last = record(9, &[clear_range(3, "d", "e"), set("g", "new")]);
    let odd = [
        segment(1),
        frame(Place::new(1, 1), (0, 2), &[ignored, second].concat()),
        frame(Place::last(1, 2), (2, 3), &third),
    ];
    let even = [segment(2), frame(Place::new(2, 3), (3, 9), &last)];
    for (name, bytes) in LOG_NAMES.iter().zip([even.concat(), odd.concat()]) {
        fs::write(directory.path().join(name), bytes).expect("written");
    }

    let (store, _) = open(directory.path()).expect("it is recovered");
    let five = 5_i64.to_le_bytes();
    let expected: [(&str, &[u8]); 5] = [
        ("c", b"old"),
        ("e", b"new"),
        ("f", b"old"),
        ("g", b"new"),
        ("n", &five),
    ];
    let expected = expected.map(|(key, value)| (key.as_bytes().to_vec(), value.to_vec()));
    assert_eq!(all(&store).await, expected);
    let transaction = begin(&store).await;
    transaction.set(b"h", b"");
    let version = transaction.commit().await.expect("committed");
    assert_eq!(version.0[..8], 10_u64.to_be_bytes());
    for name in LOG_NAMES {
        assert!(!directory.path().join(name).exists(), "the log has ended");
    }
}

/// Where a frame is.
#[derive(Clone, Copy)]
struct Place {
    segment: u64,
    sequence: u64,
    ends_segment: bool,
}

impl Place {
    fn new(segment: u64, sequence: u64) -> Self {
        Self {
            segment,
            sequence,
            ends_segment: false,
        }
    }

    fn last(segment: u64, sequence: u64) -> Self {
        Self {
            ends_segment: true,
            ..Self::new(segment, sequence)
        }
    }
}

fn segment(number: u64) -> Vec<u8> {
    let begin = [&b"phyllolg"[..], &1_u32.to_le_bytes()].concat();
    let end = [LOG.to_le_bytes(), number.to_le_bytes()].concat();
    let checksum = crc32(&[&begin[..], &end].concat());
    padded([&begin[..], &checksum.to_le_bytes(), &end].concat())
}

fn frame(place: Place, (base, last): (u64, u64), body: &[u8]) -> Vec<u8> {
    let mut frame = b"PhFr".to_vec();
    frame.extend(u32::from(place.ends_segment).to_le_bytes());
    let length = body.len() as u64;
    for number in [LOG, place.segment, place.sequence, base, last, length] {
        frame.extend(number.to_le_bytes());
    }
    frame.extend([0; 4]);
    let checksum = crc32(&[&frame[..], body].concat());
    frame.extend(checksum.to_le_bytes());
    frame.extend(body);
    padded(frame)
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}

fn record(commit: u64, writes: &[Vec<u8>]) -> Vec<u8> {
    let count = u32::try_from(writes.len()).expect("few").to_le_bytes();
    [&commit.to_le_bytes()[..], &count, &writes.concat()].concat()
}

fn clear(key: &str) -> Vec<u8> {
    [&[0][..], &bytes(key)].concat()
}

fn set(key: &str, value: &str) -> Vec<u8> {
    [&[1][..], &bytes(key), &bytes(value)].concat()
}

fn clear_range(kind: u8, begin: &str, end: &str) -> Vec<u8> {
    [&[kind][..], &bytes(begin), &bytes(end)].concat()
}

fn add(key: &str, by: i64) -> Vec<u8> {
    [&[4][..], &bytes(key), &by.to_le_bytes()].concat()
}

fn bytes(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("short");
    [&length.to_le_bytes(), text.as_bytes()].concat()
}

/// The CRC-32 of gzip and Ethernet, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let low = crc & 1;
            crc >>= 1;
            if low == 1 {
                crc ^= 0xEDB8_8320;
            }
        }
    }
    !crc
}
