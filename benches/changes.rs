//! Changes of documents over HTTP: the effect of the document's size on a change, and the bytes
//! that a change writes to disk.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

/// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::fs::read_to_string;
use std::net::SocketAddr;
use std::time::Duration;

use phyllo::database::Database;
use support::load::{ask_in_order, graphql, rate, rate_of};
use support::{ROUNDS, appends, compare, database, document, report, serve, store_document};
use tokio::runtime::Runtime;

const CLIENTS: usize = 32;
const TURN: Duration = Duration::from_millis(1500);
const LARGE: i64 = 1;
const SMALL: i64 = 2;
const LONG_LIST: i64 = 3;
const SHORT_LIST: i64 = 4;
/// The id of the first per-client document.
const OWN: usize = 100;

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let (database, address) = runtime.block_on(async {
        let database = database(directory.path()).await;
        (database.clone(), serve(database).await)
    });
    runtime.block_on(async {
        store_document(&database, LARGE, &document(1_000_000)).await;
        store_document(&database, SMALL, &document(40)).await;
        store_document(&database, LONG_LIST, &list(1_000_000)).await;
        for own in 0..CLIENTS {
            let id = i64::try_from(OWN + own).expect("small");
            store_document(&database, id, &document(40 * CLIENTS)).await;
        }
    });
    leaf_in_large_and_small(address);
    append_to_long_and_short(address, &runtime, &database);
    one_document_and_many(address);
    appends::compare_collections(address);
    bytes_written(address, 1);
    bytes_written(address, CLIENTS);
}

fn list(elements: usize) -> String {
    let elements: Vec<String> = (0..elements).map(|element| element.to_string()).collect();
    format!("[{}]", elements.join(","))
}

/// A change of one leaf in a record that only this client changes.
fn increment(document: impl std::fmt::Display, record: usize) -> Vec<u8> {
    let query = format!(
        "mutation {{ incrementDocument(id: {document}, path: [\"record{record:07}\", \"count\"]) {{ version }} }}"
    );
    graphql(&query, "{}")
}

fn leaf_in_large_and_small(address: SocketAddr) {
    let (large, small) = (increment(LARGE, 125_000), increment(SMALL, 5));
    compare(
        "changing one leaf of 1,000,000, against one of 40, 32 clients",
        "at least 0.90",
        || rate(address, &large, CLIENTS, TURN),
        || rate(address, &small, CLIENTS, TURN),
    );
    let apart: Vec<_> = (0..CLIENTS)
        .map(|client| increment(LARGE, client * 7_000))
        .collect();
    let together: Vec<_> = (0..CLIENTS)
        .map(|client| increment(LARGE, 125_000 + client))
        .collect();
    compare(
        "changing 32 leaves far apart in a document of 1,000,000, against 32 side by side",
        "none set",
        || rate_of(address, &apart, CLIENTS, TURN),
        || rate_of(address, &together, CLIENTS, TURN),
    );
}

fn append_to_long_and_short(address: SocketAddr, runtime: &Runtime, database: &Database) {
    let append = |id: i64| {
        let query = format!(
            "mutation {{ replaceDocument(id: {id}, path: \"/-\", document: 7) {{ version }} }}"
        );
        graphql(&query, "{}")
    };
    let (long, short) = (append(LONG_LIST), append(SHORT_LIST));
    compare(
        "an append to an array of 1,000,000, against one of 10, 32 clients",
        "at least 0.90",
        || rate(address, &long, CLIENTS, TURN),
        || {
            runtime.block_on(store_document(database, SHORT_LIST, &list(10)));
            rate(address, &short, CLIENTS, TURN)
        },
    );
}

fn one_document_and_many(address: SocketAddr) {
    let one: Vec<_> = (0..CLIENTS).map(|client| increment(OWN, client)).collect();
    let many: Vec<_> = (0..CLIENTS)
        .map(|client| increment(OWN + client, client))
        .collect();
    compare(
        "changes of 32 clients to one document, against to 32 documents",
        "none set",
        || rate_of(address, &one, CLIENTS, TURN),
        || rate_of(address, &many, CLIENTS, TURN),
    );
}

/// Measures the bytes written to disk per byte of JSON while strings of 100 bytes are replaced.
fn bytes_written(address: SocketAddr, clients: usize) {
    const TEXT_BYTES: usize = 100;
    const CHANGES: usize = 200;
    let replace = |client: usize, letter: &str| {
        let text = letter.repeat(TEXT_BYTES - 2);
        let query = format!(
            "mutation {{ replaceDocument(id: {LARGE}, path: [\"record{:07}\", \"name\"], document: \"{text}\") {{ version }} }}",
            client * 7_000
        );
        graphql(&query, "{}")
    };
    let sequences: Vec<Vec<Vec<u8>>> = (0..clients)
        .map(|client| {
            let letters = ["a", "b"].iter().cycle().take(CHANGES);
            letters.map(|letter| replace(client, letter)).collect()
        })
        .collect();
    let mut figures = Vec::new();
    for _ in 0..ROUNDS {
        let before = written();
        ask_in_order(address, &sequences);
        let changed = clients * CHANGES * TEXT_BYTES;
        figures.push((written() - before) as f64 / changed as f64);
    }
    report(
        &format!("bytes written to disk per byte of JSON changed, {clients} clients"),
        figures,
        "none set",
        "[strings of 100 bytes in a document of 1,000,000 leaves]",
    );
}

/// The bytes that this process has written to disk.
fn written() -> u64 {
    let counts = read_to_string("/proc/self/io").expect("Linux counts them");
    let line = counts
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).expect("a number")
}
