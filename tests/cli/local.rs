//! The local socket

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use phyllo::server::local::SOCKET_NAME;

use super::harness::Store;

#[test]
fn socket_is_private_and_removed_when_the_server_stops() {
    let mut store = Store::served();
    let socket = store.path().join(SOCKET_NAME);
    let metadata = std::fs::metadata(&socket).expect("the socket");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    store.import("[1]", &[]);
    store.stop();
    assert!(!socket.exists());
    assert_eq!(store.count(), 1);
}

#[test]
fn leftover_socket_of_a_killed_server_is_ignored() {
    let mut store = Store::alone();
    store.import("[1]", &[]);
    drop(UnixListener::bind(store.path().join(SOCKET_NAME)).expect("a socket"));
    assert_eq!(store.count(), 1);
    store.serve();
    assert_eq!(store.count(), 1);
}

#[test]
fn directory_paths_may_be_longer_than_socket_paths() {
    let mut store = Store::at(&["directory-of-thirty-two-bytes-000"; 6].join("/"));
    store.import("[1]", &["--name", "x"]);
    store.serve();
    store.import("[1,2]", &["--name", "x"]);
    assert_eq!(store.count(), 2);
    let socket = store.path().join(SOCKET_NAME);
    assert!(socket.exists());
    store.stop();
    assert!(!socket.exists());
}

#[test]
fn stores_held_by_another_command_are_reported() {
    let store = Store::alone();
    store.import("[1]", &["--name", "x"]);
    let mut holder = store.spawn(&["import", "-"]);
    let run = loop {
        // Reads the store until another command holds it.
        let run = store.run(&["get", "x-1"]);
        if run.code != Some(0) {
            break run.expect(1);
        }
    };
    run.says("another process holds the store")
        .says("and does not share it");
    let run = store.run(&["serve", "--listen", "127.0.0.1:0"]);
    run.expect(1).says("another process holds the store");
    drop(holder.stdin.take());
    assert!(holder.wait().expect("the binary runs").success());
    assert_eq!(store.out(&["get", "x-1"]), "1\n");
}

#[test]
fn commands_work_during_and_after_a_server_run() {
    let store = Store::alone();
    let server = store.spawn(&["serve", "--listen", "127.0.0.1:0"]);
    while !store.path().join(SOCKET_NAME).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    store.import("[1,2]", &["--name", "x"]);
    assert_eq!(store.out(&["get", "x-2"]), "2\n");
    let id = server.id().to_string();
    let sent = std::process::Command::new("kill").arg(id).status();
    assert!(sent.expect("kill").success());
    super::harness::Ran::from(server.wait_with_output().expect("the binary runs")).expect(0);
    assert!(!store.path().join(SOCKET_NAME).exists());
    assert_eq!(store.ids("D"), ["x-1", "x-2"]);
}

#[test]
fn incompatible_server_versions_are_reported() {
    let store = Store::alone();
    store.import("[1]", &[]);
    let socket = UnixListener::bind(store.path().join(SOCKET_NAME)).expect("a socket");
    let server = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = socket.accept().expect("a client");
        let _read = stream.read(&mut [0; 4096]).expect("a request");
        stream
            .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
            .expect("a client");
    });
    store
        .run(&["collections"])
        .expect(1)
        .says("another version");
    server.join().expect("the server");
}

#[test]
fn errors_through_a_server_equal_direct_errors() {
    let alone = Store::alone();
    let served = Store::served();
    for store in [&alone, &served] {
        store.import("1", &["--name", "x"]);
    }
    let long = format!("/{}", "k".repeat(11_000));
    let long_id = "i".repeat(11_000);
    for arguments in [
        &["get", "x", &long][..],
        &["get", &long_id],
        &["get", "y"],
        &["import", "-", "--format", "array"],
    ] {
        let [direct, through] = [&alone, &served].map(|store| store.run(arguments).expect(1));
        assert_eq!(direct.err.lines().next(), through.err.lines().next());
        assert_eq!(direct.out, through.out);
    }
}
