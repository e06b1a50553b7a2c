//! The process: start, output and shutdown.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use serde_json::json;

use crate::support::{JSON, Server, command, head, insertion};

#[test]
fn stop_signal_finishes_accepted_requests_and_exits_with_0() {
    for signal in ["TERM", "INT"] {
        let server = Server::start();
        let body = insertion("1", r#"{"late": true}"#);
        let (first, rest) = body.split_at(10);
        let mut slow = server.connect();
        // `100 Continue` shows that the request was accepted and the server waits for its body.
        let headers = [JSON, ("expect", "100-continue")];
        slow.send(head("POST", "/graphql", &headers, body.len()));
        assert_eq!(slow.response(false).status, 100);
        slow.send(first);
        let mut idle = server.connect();
        assert_eq!(idle.ask("GET", "/healthz", &[], "").status, 200);
        server.signal(signal);
        // The shutdown has begun once idle connections are closed.
        idle.assert_closed();
        slow.send(rest);
        let response = slow.response(true);
        assert_eq!(
            response.json(),
            json!({"data": {"insertDocument": {"key": "1"}}}),
            "{signal}"
        );
        slow.assert_closed();
        assert_eq!(
            TcpStream::connect(&server.address)
                .map(|_| ())
                .map_err(|error| error.kind()),
            Err(std::io::ErrorKind::ConnectionRefused)
        );
        let directory = server.stopped();
        let server = Server::on(directory, &[]);
        let found = server.query("{ document(id: 1) { value } }");
        assert_eq!(
            found,
            json!({"data": {"document": {"value": {"late": true}}}}),
            "it was written"
        );
    }
}

#[test]
fn idle_servers_stop_immediately() {
    let server = Server::start();
    server.signal("TERM");
    server.stopped();
}

#[test]
fn port_in_use_is_reported_and_the_process_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    command
        .arg("serve")
        .arg("--store")
        .arg(directory.path().join("store"))
        .args(["--listen", &address]);
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains(&address) && said.contains("address is in use") && said.contains("--listen"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn foreign_address_is_reported_and_the_process_fails() {
    let directory = tempfile::tempdir().expect("a directory");
    for address in ["192.0.2.1:8080", "nonsense", "127.0.0.1", "127.0.0.1:99999"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
        command
            .arg("serve")
            .arg("--store")
            .arg(directory.path())
            .args(["--listen", address]);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{address}");
        assert!(said.contains(address), "{said}");
    }
}

#[test]
fn start_prints_the_urls() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut process = command(&directory, &[]).spawn().expect("the binary starts");
    let mut stdout = process.stdout.take().expect("a pipe");
    let mut said = String::new();
    while !said.contains("Ctrl-C") {
        let mut byte = [0];
        stdout.read_exact(&mut byte).expect("it says more");
        said.push(char::from(byte[0]));
    }
    for told in ["http://127.0.0.1:", "/graphql", "/schema.graphql"] {
        assert!(said.contains(told), "{said}");
    }
    process.kill().expect("it runs");
    process.wait().expect("it ends");
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let server = Server::start();
    for id in 0..20 {
        let response = server.ask(
            "POST",
            "/graphql",
            &[JSON],
            insertion(&id.to_string(), "[1]"),
        );
        assert_eq!(
            response.json()["data"]["insertDocument"]["key"],
            json!(id.to_string())
        );
    }
    server.signal("KILL");
    let directory = server.ended();
    let server = Server::on(directory, &[]);
    assert_eq!(
        server.query("{ collections { count } }"),
        json!({"data": {"collections": [{"count": 20}]}})
    );
}
