//! Idle connections stay open for longer than the head timeout, but only until the idle timeout.

use std::thread::sleep;
use std::time::Duration;

use crate::support::{Connection, JSON, Server, head};

const ASKING: &str = r#"{"query": "{ __typename }"}"#;
/// A timeout that never expires in a test, and one that has expired after [`past`].
const NEVER: &str = "600s";
const SOON: &str = "1s";

/// Waits for longer than [`SOON`].
fn past() {
    sleep(Duration::from_secs(3));
}

fn ask(connection: &mut Connection) {
    let response = connection.ask("POST", "/graphql", &[JSON], ASKING);
    assert_eq!(response.body, r#"{"data":{"__typename":"Query"}}"#);
}

#[test]
fn idle_connections_stay_open_for_longer_than_the_head_timeout() {
    let server = Server::with(&["--header-time-max", SOON, "--idle-time-max", NEVER]);
    let mut resting = server.connect();
    for _ in 0..3 {
        ask(&mut resting);
        past();
    }
    ask(&mut resting);
}

#[test]
fn idle_connections_are_closed_after_the_idle_timeout() {
    let server = Server::with(&["--header-time-max", NEVER, "--idle-time-max", SOON]);
    let (mut resting, mut new) = (server.connect(), server.connect());
    ask(&mut resting);
    resting.rest();
    // A connection that has sent nothing is not idle. The head timeout applies to it.
    past();
    ask(&mut new);
    new.rest();
}

#[test]
fn head_timeout_applies_to_new_connections() {
    let server = Server::with(&["--header-time-max", SOON, "--idle-time-max", NEVER]);
    for begun in ["", "G"] {
        let mut new = server.connect();
        new.send(begun);
        new.rest();
    }
    server.assert_serves();
}

#[test]
fn head_timeout_applies_to_heads_begun_after_an_idle_time() {
    let server = Server::with(&["--header-time-max", SOON, "--idle-time-max", NEVER]);
    for begun in ["P", "POST /graphql HTTP/1.1\r\nhost: localhost\r\nx: y"] {
        let mut resting = server.connect();
        ask(&mut resting);
        past();
        resting.send(begun);
        resting.rest();
    }
    let mut slow = server.connect();
    ask(&mut slow);
    slow.send("GET /graphql HTTP/1.1\r\nhost: localhost\r\nx: ");
    while slow.offer("y") {
        server.assert_serves();
    }
}

#[test]
fn heads_begun_before_the_idle_timeout_get_the_whole_head_timeout() {
    let server = Server::with(&["--header-time-max", NEVER, "--idle-time-max", "2s"]);
    let mut resting = server.connect();
    ask(&mut resting);
    let request = head("POST", "/graphql", &[JSON], ASKING.len()) + ASKING;
    let (first, rest) = request.split_at(1);
    resting.send(first);
    sleep(Duration::from_secs(4));
    resting.send(rest);
    assert_eq!(resting.response(true).status, 200);
}
