//! `phyllo import` of files that are made to take memory or time

use std::fs;
use std::io::{Read, Write};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use phyllo::limits::{IMPORT_COLUMNS_MAX, IMPORT_STREAMED_DOCUMENT_BYTES_MAX};
use ruzstd::encoding::{CompressionLevel, compress};

use super::harness::{Ran, Store};

const MIB: usize = 1 << 20;
/// What the program takes for small documents, in a debug build with its symbols.
const BASE_BYTES: usize = 192 * MIB;
const RUN_TIME_MAX: Duration = Duration::from_secs(120);

/// Runs an import. It may take so many bytes beside those of small documents.
#[track_caller]
fn import_within(store: &Store, bytes: usize, arguments: &[&str]) -> Ran {
    let arguments = [&["import"], arguments].concat();
    let child = store.command(&arguments).spawn().expect("the binary runs");
    let (ran, peak) = watched(child);
    let limit = BASE_BYTES + bytes;
    assert!(
        peak <= limit,
        "{} of {} MiB: {ran:#?}",
        peak / MIB,
        limit / MIB
    );
    ran
}

/// Waits for the end of a command. Returns the most memory that it had.
fn watched(mut child: Child) -> (Ran, usize) {
    let begun = Instant::now();
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        peak = peak.max(resident(&child));
        if begun.elapsed() > RUN_TIME_MAX {
            child.kill().expect("a child");
            panic!("it does not end: {:#?}", child.wait_with_output());
        }
        thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().expect("a child");
    (Ran::from(output), peak)
}

/// The most memory that a command had so far. Zero after its end.
fn resident(child: &Child) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    kilobytes.map_or(0, |kilobytes| {
        kilobytes.parse::<usize>().expect("a number") << 10
    })
}

fn repeated(byte: u8, count: usize) -> impl Read {
    std::io::repeat(byte).take(count as u64)
}

fn gzip(mut text: impl Read) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::copy(&mut text, &mut encoder).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(text: impl Read) -> Vec<u8> {
    let mut compressed = Vec::new();
    compress(text, &mut compressed, CompressionLevel::Fastest);
    compressed
}

/// Memory is bounded by the longest line: its text while it is read, and while it is written its leaves.
#[test]
fn long_lines_take_memory_of_their_size() {
    const LINE: usize = 100 * MIB;
    let store = Store::alone();
    let text = "x".repeat(LINE);
    let lines = format!("{{\"n\":1}}\n{{\"a\":\"{text}\"}}\n{{\"a\":{text}\n{{\"n\":4}}\n");
    let file = store.file("long.ndjson", lines);
    drop(text);
    let go_on = [&file, "--on-error", "continue"];
    let run = import_within(&store, 6 * LINE, &go_on).expect(1);
    run.says("long.ndjson: line 3, column 6 (document 3): ")
        .says("3 created, 0 replaced; 0 skipped, 1 failed");
    let export = store.out(&["export"]);
    let lengths: Vec<usize> = export.lines().map(str::len).collect();
    assert_eq!(lengths.len(), 3);
    assert!(lengths[1] > LINE, "{lengths:?}");
}

/// A small file cannot fill the memory: the decompressed text of one document is limited.
#[test]
fn decompression_bombs_take_bounded_memory() {
    const BOMB: usize = 2 * IMPORT_STREAMED_DOCUMENT_BYTES_MAX;
    let store = Store::alone();
    let string = || (&b"{\"a\":\""[..]).chain(repeated(b' ', BOMB));
    let line = || (&b"1\n["[..]).chain(repeated(b'[', BOMB));
    // The header is read, and the record does not end.
    let quoted = || (&b"a,b\n1,\""[..]).chain(repeated(b'x', BOMB));
    for (name, bomb) in [
        ("string.json.gz", gzip(string())),
        ("string.json.zst", zstd(string())),
        ("line.ndjson.gz", gzip(line())),
        ("quoted.csv.gz", gzip(quoted())),
    ] {
        assert!(bomb.len() < 4 * MIB);
        let file = store.file(name, bomb);
        // The buffer has two copies while it grows.
        let run = import_within(&store, 3 * IMPORT_STREAMED_DOCUMENT_BYTES_MAX, &[&file]);
        let limit = IMPORT_STREAMED_DOCUMENT_BYTES_MAX >> 20;
        run.expect(1).says(&format!(
            "{file}: it cannot be read: a document of more than {limit} MiB in a compressed file"
        ));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_input_without_an_end_takes_bounded_memory() {
    let store = Store::alone();
    let endless = "/dev/zero";
    let run = import_within(&store, 3 * IMPORT_STREAMED_DOCUMENT_BYTES_MAX, &[endless]);
    run.expect(1)
        .says("/dev/zero: it cannot be read: a document of more than 256 MiB in a compressed file or a pipe");
}

#[test]
fn columns_are_limited() {
    let store = Store::alone();
    let names = |count: usize| -> String {
        let names: Vec<String> = (0..count).map(|number| format!("c{number}")).collect();
        names.join(",")
    };
    let row = vec!["v"; IMPORT_COLUMNS_MAX].join(",");
    let header = names(IMPORT_COLUMNS_MAX);
    let file = store.file("wide.csv", format!("{header}\n{row}\n{row},v\n{row}\n"));
    let go_on = [&file, "--on-error", "continue"];
    let run = import_within(&store, 128 * MIB, &go_on).expect(1);
    run.says("wide.csv: line 3, column 1 (document 2): the number of fields is 100001")
        .says("2 created");
    let last = format!("/c{}", IMPORT_COLUMNS_MAX - 1);
    assert_eq!(store.out(&["get", "wide-1", &last]), "\"v\"\n");
    let file = store.file("wider.csv", format!("{}\n", names(IMPORT_COLUMNS_MAX + 1)));
    import_within(&store, 64 * MIB, &[&file])
        .expect(1)
        .says("wider.csv: line 1, column 1: the record has more than 100000 fields");
    // Fields without text take memory for their ends.
    let commas = gzip((&b"a\n"[..]).chain(repeated(b',', 256 * MIB)));
    let file = store.file("commas.csv.gz", commas);
    import_within(&store, 16 * MIB, &[&file])
        .expect(1)
        .says("commas.csv.gz: line 2, column 1: the record has more than 100000 fields");
}

/// An open quotation mark makes one record of the rest of the file.
#[test]
fn an_open_quotation_mark_takes_memory_of_the_rest_of_the_file() {
    const REST: usize = 64 * MIB;
    let store = Store::alone();
    let file = store.file(
        "open.csv",
        format!("a,b\n1,2\n3,\"{}", "4,5\n".repeat(REST / 4)),
    );
    let run = import_within(&store, 3 * REST, &[&file]).expect(1);
    run.says("open.csv: line 3, column 1: a quotation mark in this record is not closed")
        .says("1 document imported");
    assert_eq!(store.ids("D"), ["open-1"]);
}

#[test]
fn deep_values_are_rejected_without_recursion() {
    const LEVELS: usize = 8 * MIB;
    let store = Store::alone();
    let arrays = "[".repeat(LEVELS) + &"]".repeat(LEVELS);
    let objects = "{\"$date\":".repeat(LEVELS / 4);
    for (name, text, options) in [
        ("document.json", format!("{{\n\"a\":{arrays}}}"), &[][..]),
        ("array.json", format!("[1,{arrays}]"), &[]),
        ("lines.ndjson", format!("1\n{arrays}\n"), &[]),
        (
            "following.json",
            format!("{{\n\"a\":1}}{{\"a\":{arrays}}}{{}}"),
            &[],
        ),
        (
            "objects.ndjson",
            format!("1\n{objects}\n"),
            &["--extended-json"],
        ),
    ] {
        let file = store.file(name, &text);
        let arguments = [&[&*file, "--on-error", "continue"], options].concat();
        let run = import_within(&store, 4 * text.len(), &arguments).expect(1);
        run.says(", 1 failed");
    }
    assert_eq!(store.ids("D").len(), 5);
}

/// Documents that follow one another take no memory after they were read. Nothing is stored, because the engine has a
/// cache.
#[test]
fn an_endless_stream_of_documents_takes_bounded_memory() {
    let store = Store::alone();
    for separator in ["", "\n"] {
        let mut child = store.spawn(&["import", "-", "--dry-run"]);
        let mut pipe = child.stdin.take().expect("a pipe");
        let document = format!("{{\"t\":\"{}\"}}{separator}", "x".repeat(1_000));
        let documents = document.repeat(1_000);
        let mut early = 0;
        for written in 0..100 {
            pipe.write_all(documents.as_bytes()).expect("it is read");
            if written == 20 {
                early = resident(&child);
            }
        }
        let late = resident(&child);
        assert!(early > 0 && late < early + 16 * MIB, "{early} {late}");
        drop(pipe);
        let (ran, peak) = watched(child);
        ran.expect(0).says("100000 documents can be imported");
        assert!(peak <= 64 * MIB, "{peak}");
    }
}
