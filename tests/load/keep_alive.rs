//! Connections that are kept and not used.

use std::process::Command;

use super::client::{Connection, ask};
use super::server::Server;
use super::skip::{rounds, skipped};

/// Files that the test or the server has open besides.
const OTHERS: usize = 100;
/// What a connection at rest may hold, in bytes.
const HELD_MAX: usize = 20 << 10;

#[test]
fn thousands_of_connections_at_rest_hold_little_each() {
    let connections = rounds(500, 5_000);
    let files = rlimit::increase_nofile_limit(u64::MAX).expect("a limit");
    if files < (connections + OTHERS) as u64 {
        skipped(
            &format!("{connections} connections at rest"),
            &format!("a process may have only {files} files open"),
        );
        return;
    }
    // The server raises its own limit: it begins with one that is far too low.
    let mut command = Command::new("prlimit");
    command.args(["--nofile=256:", "--", env!("CARGO_BIN_EXE_phyllo")]);
    let store = tempfile::tempdir().expect("a directory");
    let times = ["--header-time-max", "600s", "--idle-time-max", "600s"];
    let server = Server::run(command, store.path(), &times);
    let query = |connection: &mut Connection| {
        let answer = connection.query("{ collections { name } }");
        assert!(answer.expect("an answer")["errors"].is_null());
    };
    let open = || Connection::open(&server.url()).expect("the server listens");
    // What the first requests bring about is held once.
    for _ in 0..100 {
        query(&mut open());
    }
    let before = server.memory();
    let mut open_connections: Vec<_> = (0..connections).map(|_| open()).collect();
    open_connections.iter_mut().for_each(query);
    let held = server.memory().saturating_sub(before) / connections;
    println!("{held} bytes for each of {connections} connections at rest");
    assert!(held <= HELD_MAX, "{held} bytes each");
    assert!(ask(&server.url(), "{ __typename }")["errors"].is_null());
}
