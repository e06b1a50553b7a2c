//! The process: how it starts, what it says, and how it ends.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use serde_json::json;

use crate::support::{JSON, Server, command, head, insertion};

#[test]
fn a_signal_to_stop_lets_what_was_accepted_be_answered_and_ends_with_success() {
    for signal in ["TERM", "INT"] {
        let server = Server::start();
        let body = insertion("1", r#"{"late": true}"#);
        let (first, rest) = body.split_at(10);
        let mut slow = server.connect();
        // Continue says that the request was accepted and its body is waited for.
        let headers = [JSON, ("expect", "100-continue")];
        slow.send(head("POST", "/graphql", &headers, body.len()));
        assert_eq!(slow.response(false).status, 100);
        slow.send(first);
        let mut idle = server.connect();
        assert_eq!(idle.ask("GET", "/healthz", &[], "").status, 200);
        server.signal(signal);
        // It has begun to stop when it has closed what is idle.
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
fn a_server_that_nobody_has_called_stops_at_once() {
    let server = Server::start();
    server.signal("TERM");
    server.stopped();
}

#[test]
fn a_port_that_is_taken_is_said_and_the_process_fails() {
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
        said.contains(&address) && said.contains("another program") && said.contains("--listen"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn an_address_that_is_none_of_this_machine_is_said_and_the_process_fails() {
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
fn it_says_where_to_go_when_it_is_up() {
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
fn what_was_answered_survives_a_kill() {
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
