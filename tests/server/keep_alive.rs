//! Connections that rest between two requests: kept for longer than a head may take, and no longer
//! than they may rest.

use std::thread::sleep;
use std::time::Duration;

use crate::support::{Connection, JSON, Server, head};

const ASKING: &str = r#"{"query": "{ __typename }"}"#;
/// A limit that fires in no test, and one that has fired when [`past`] is over.
const NEVER: &str = "600s";
const SOON: &str = "1s";

/// Rests for longer than [`SOON`].
fn past() {
    sleep(Duration::from_secs(3));
}

fn ask(connection: &mut Connection) {
    let response = connection.ask("POST", "/graphql", &[JSON], ASKING);
    assert_eq!(response.body, r#"{"data":{"__typename":"Query"}}"#);
}

#[test]
fn between_two_requests_a_connection_may_rest_for_longer_than_a_head_may_take() {
    let server = Server::with(&["--header-time-max", SOON, "--idle-time-max", NEVER]);
    let mut resting = server.connect();
    for _ in 0..3 {
        ask(&mut resting);
        past();
    }
    ask(&mut resting);
}

#[test]
fn a_connection_that_rests_for_too_long_ends() {
    let server = Server::with(&["--header-time-max", NEVER, "--idle-time-max", SOON]);
    let (mut resting, mut new) = (server.connect(), server.connect());
    ask(&mut resting);
    resting.rest();
    // One that has sent nothing yet does not rest: it has the time of a head.
    past();
    ask(&mut new);
    new.rest();
}

#[test]
fn a_new_connection_has_the_time_of_a_head_and_not_that_of_a_rest() {
    let server = Server::with(&["--header-time-max", SOON, "--idle-time-max", NEVER]);
    for begun in ["", "G"] {
        let mut new = server.connect();
        new.send(begun);
        new.rest();
    }
    server.assert_serves();
}

#[test]
fn a_head_that_has_begun_has_its_own_time_also_after_a_rest() {
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
fn a_head_that_begins_before_a_rest_is_over_may_still_take_its_time() {
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
