//! A log built from the description in docs/format.md, not by the engine.

use std::fs;

use phyllo::store::{FILE_NAME, LOG_NAMES};
use redb::{Database, TableDefinition};

use crate::process::open;
use crate::{all, begin};

const ENGINE: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");
const LOG: u64 = 0xAB_CDEF_0123;
const BLOCK: usize = 4096;
const SECTOR: usize = 512;
/// The length of a file that was allocated and synced.
const RESERVED: usize = 4 * BLOCK;

/// Logs of programs before version 2, which a crash has left.
#[tokio::test]
async fn a_log_of_version_1_is_read_as_documented() {
    let odd = [
        segment(1),
        frame(Place::new(1, 1), (0, 2), &bodies()[0]),
        frame(Place::last(1, 2), (2, 3), &bodies()[1]),
    ];
    let even = [segment(2), frame(Place::new(2, 3), (3, 9), &bodies()[2])];
    check(&[], [even.concat(), odd.concat()]).await;
}

#[tokio::test]
async fn a_log_is_read_as_documented() {
    let first = frame_2(Place::new(1, 1), (0, 2), 0, &bodies()[0]);
    let second = frame_2(Place::last(1, 2), (2, 3), checksum_2(&first), &bodies()[1]);
    let third = frame_2(Place::new(2, 3), (3, 9), checksum_2(&second), &bodies()[2]);
    let odd = file_2(1, &[(1, first), (2, second)]);
    let even = file_2(2, &[(3, third)]);
    check(
        &[("log_first_frame", 1), ("log_synced_frame", 2)],
        [even, odd],
    )
    .await;
}

/// The records of three frames. The first one begins with a commit that the redb file has.
fn bodies() -> [Vec<u8>; 3] {
    let ignored = record(1, &[set("ignored", "")]);
    let second = record(2, &[clear("a"), set("e", "new"), add("n", 7)]);
    let third = record(3, &[clear_range(2, "b", "c"), add("n", -2)]);
    let last = record(9, &[clear_range(3, "d", "e"), set("g", "new")]);
    [[ignored, second].concat(), third, last]
}

/// Checks what a store with this log has.
async fn check(records: &[(&str, u64)], log: [Vec<u8>; 2]) {
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
        for (name, number) in records {
            engine.insert(name, number).expect("set");
        }
    }
    transaction.commit().expect("committed");
    drop(database);

    for (name, bytes) in LOG_NAMES.iter().zip(log) {
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

/// The file of a segment of version 2.
fn file_2(segment: u64, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let begin = [&b"phyllolg"[..], &2_u32.to_le_bytes()].concat();
    let end = [LOG, segment, RESERVED as u64, 1]
        .map(u64::to_le_bytes)
        .concat();
    let checksum = crc32(&[&begin[..], &end].concat());
    let mut file = padded([&begin[..], &checksum.to_le_bytes(), &end].concat());
    for (sequence, frame) in frames {
        for part in frame.chunks(500) {
            sector(&mut file, *sequence, part);
        }
        while !file.len().is_multiple_of(BLOCK) {
            sector(&mut file, *sequence, &[]);
        }
    }
    // Allocated space.
    while file.len() < RESERVED {
        sector(&mut file, 0, &[]);
    }
    file
}

fn sector(file: &mut Vec<u8>, sequence: u64, part: &[u8]) {
    let offset = file.len();
    file.extend(part);
    file.resize(offset + 500, 0);
    file.extend(sequence.to_le_bytes());
    let numbers = [LOG, offset as u64].map(u64::to_le_bytes).concat();
    let checksum = crc32(&[&file[offset..], &numbers].concat());
    file.extend(checksum.to_le_bytes());
    assert!(file.len().is_multiple_of(SECTOR));
}

/// A frame of version 2.
fn frame_2(place: Place, (base, last): (u64, u64), previous: u32, body: &[u8]) -> Vec<u8> {
    let mut frame = b"PhFr".to_vec();
    frame.extend(u32::from(place.ends_segment).to_le_bytes());
    let (length, reserved, needed) = (body.len() as u64, RESERVED as u64, 1);
    let numbers = [
        LOG,
        place.segment,
        place.sequence,
        base,
        last,
        length,
        reserved,
        needed,
    ];
    frame.extend(numbers.map(u64::to_le_bytes).concat());
    frame.extend(previous.to_le_bytes());
    let checksum = crc32(&[&frame[..], body].concat());
    frame.extend(checksum.to_le_bytes());
    frame.extend(body);
    frame
}

/// The checksum of a frame of version 2.
fn checksum_2(frame: &[u8]) -> u32 {
    let mut checksum = [0; 4];
    checksum.copy_from_slice(&frame[76..80]);
    u32::from_le_bytes(checksum)
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
