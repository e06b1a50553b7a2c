//! Memory use of a server process with a store of 3,000,000 leaves, and its start time after a
//! clean stop and after a kill.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::load::{graphql, rate};
use support::{database, document, store_document};

/// Documents of 40 leaves, next to one document of 1,000,000. Most leaves are in small documents.
const SMALL_DOCUMENTS: usize = 50_000;
const SMALL_LEAVES: usize = 40;
const LARGE_LEAVES: usize = 1_000_000;
const MIB: f64 = 1024.0 * 1024.0;

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path());
    let bytes = fs::metadata(directory.path().join(phyllo::store::FILE_NAME))
        .expect("the file")
        .len();
    println!(
        "the store: 3,000,000 leaves in {:.0} MiB on disk",
        bytes as f64 / MIB
    );

    let (mut server, address, clean) = start(directory.path());
    println!("start after a clean stop: {clean:.2} s until it serves");
    println!("resident memory at rest: {:.0} MiB", resident_mib(&server));
    let one = graphql(
        "query($id: ID!) { document(id: $id, path: \"/record0000003\") { value } }",
        "{\"id\":1000000}",
    );
    for round in 1..=3 {
        let answered = rate(address, &one, 32, Duration::from_secs(3));
        println!(
            "resident memory after load {round}: {:.0} MiB (at {answered:.0} requests/s)",
            resident_mib(&server)
        );
    }
    let export = Command::new(env!("CARGO_BIN_EXE_phyllo"))
        .args(["export", "--output", "/dev/null", "--store"])
        .arg(directory.path())
        .stderr(Stdio::null())
        .status();
    assert!(
        export.expect("it runs").success(),
        "an export reads every leaf"
    );
    println!(
        "resident memory after every leaf was read: {:.0} MiB",
        resident_mib(&server)
    );
    let insert = graphql(
        "mutation { insertDocument(document: {a: 1}) { key } }",
        "{}",
    );
    rate(address, &insert, 32, Duration::from_secs(1));
    kill(&mut server);
    let (mut server, _, killed) = start(directory.path());
    println!(
        "start after a kill: {killed:.2} s until it serves ({:.1} times as long)",
        killed / clean
    );
    kill(&mut server);
}

fn fill(directory: &Path) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let database = database(directory).await;
        store_document(&database, 1_000_000, &document(LARGE_LEAVES)).await;
        let small = document(SMALL_LEAVES);
        let leaves = std::sync::Arc::new(phyllo::key::Leaves::from_json(&small).expect("valid"));
        for batch in 0..SMALL_DOCUMENTS / 500 {
            support::store_batch(&database, batch * 500, 500, leaves.clone()).await;
        }
    });
}

/// Starts the server and waits until it is ready. Returns its address and the start time in
/// seconds.
fn start(directory: &Path) -> (Child, SocketAddr, f64) {
    let begin = Instant::now();
    let mut server = Command::new(env!("CARGO_BIN_EXE_phyllo"))
        .args(["serve", "--listen", "127.0.0.1:0", "--store"])
        .arg(directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let out = server.stdout.take().expect("piped");
    let mut lines = BufReader::new(out).lines();
    let first = lines
        .next()
        .expect("it says where it serves")
        .expect("text");
    let address = first
        .trim_end_matches('/')
        .rsplit("//")
        .next()
        .expect("an address");
    let address = address.parse().expect("an address");
    (server, address, begin.elapsed().as_secs_f64())
}

fn kill(server: &mut Child) {
    server.kill().expect("it runs");
    server.wait().expect("it ends");
}

fn resident_mib(server: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).expect("it runs");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("VmRSS");
    let kib = line
        .split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse::<f64>().ok());
    kib.expect("a number") / 1024.0
}
