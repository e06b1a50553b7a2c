//! Hostile connections: slow senders and readers, half-closed connections, endless pipelining. Each
//! is closed or throttled, and other clients are served meanwhile.

use std::net::Shutdown;
use std::thread;

use serde_json::json;

use crate::support::{Connection, JSON, Server, head, insertion};

/// A body that queries `__typename`.
const ASKING: &str = r#"{"query": "{ __typename }"}"#;

fn begin_post(connection: &mut Connection, length: usize) {
    connection.send(head("POST", "/graphql", &[JSON], length));
}

#[test]
fn connections_without_a_request_head_are_closed() {
    let server = Server::with(&["--header-time-max", "300ms"]);
    for begun in [
        "",
        "G",
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\n",
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\nx: y",
    ] {
        let mut slow: Vec<Connection> = (0..20).map(|_| server.connect()).collect();
        for connection in &mut slow {
            connection.send(begun);
        }
        server.assert_serves();
        for connection in &mut slow {
            connection.rest();
        }
    }
    server.assert_serves();
}

#[test]
fn slow_request_heads_time_out_even_if_bytes_keep_arriving() {
    let server = Server::with(&["--header-time-max", "300ms"]);
    let mut slow = server.connect();
    slow.send("GET /graphql HTTP/1.1\r\nhost: localhost\r\nx: ");
    // If each byte restarted the timeout, this loop would never end.
    while slow.offer("y") {
        server.assert_serves();
    }
    server.assert_serves();
}

#[test]
fn missing_bodies_time_out_and_the_error_names_the_limit() {
    let server = Server::with(&["--body-time-max", "300ms"]);
    for sent in ["", "{", &ASKING[..ASKING.len() - 1]] {
        let mut slow: Vec<Connection> = (0..20).map(|_| server.connect()).collect();
        for connection in &mut slow {
            begin_post(connection, ASKING.len());
            connection.send(sent);
        }
        server.assert_serves();
        for connection in &mut slow {
            let response = connection.response(true);
            assert_eq!((response.status, &*response.code()), (408, "TIMEOUT"));
            assert!(response.body.contains("300ms"), "{}", response.body);
            connection.rest();
        }
    }
}

#[test]
fn missing_compressed_bodies_time_out() {
    let server = Server::with(&["--body-time-max", "300ms"]);
    let mut slow = server.connect();
    let headers = [JSON, ("content-encoding", "gzip")];
    slow.send(head("POST", "/graphql", &headers, 100));
    slow.send([0x1F, 0x8B, 8]);
    let response = slow.response(true);
    assert_eq!((response.status, &*response.code()), (408, "TIMEOUT"));
}

#[test]
fn connections_over_the_limit_wait_until_one_closes() {
    let server = Server::with(&["--connections-max", "2"]);
    let asked = |connection: &mut Connection| {
        let query = r#"{"query": "{ document(id: 1) { value } }"}"#;
        connection.ask("POST", "/graphql", &[JSON], query).json()
    };
    let (mut first, mut second) = (server.connect(), server.connect());
    let nothing = json!({"data": {"document": null}});
    assert_eq!(
        (asked(&mut first), asked(&mut second)),
        (nothing.clone(), nothing.clone())
    );
    let mut waiting = server.connect();
    let body = insertion("1", "1");
    begin_post(&mut waiting, body.len());
    waiting.send(&body);
    for _ in 0..50 {
        assert_eq!(asked(&mut first), nothing, "the third has its turn already");
    }
    drop(second);
    let inserted = waiting.response(true).json();
    assert_eq!(inserted, json!({"data": {"insertDocument": {"key": "1"}}}));
    assert_eq!(
        asked(&mut first),
        json!({"data": {"document": {"value": 1}}})
    );
}

#[test]
fn half_closed_connections_are_released() {
    let server = Server::with(&["--connections-max", "4"]);
    let whole = head("POST", "/graphql", &[JSON], ASKING.len()) + ASKING;
    for at in 0..200 {
        // The client stops sending at the start, inside the head, and before, inside and after the
        // body.
        let sent = [
            0,
            10,
            whole.len() - ASKING.len(),
            whole.len() - 1,
            whole.len(),
        ][at % 5];
        let mut half = server.connect();
        half.send(&whole[..sent]);
        half.shutdown(Shutdown::Write);
        half.rest();
        server.assert_serves();
    }
}

#[test]
fn disconnected_clients_release_their_connection() {
    let server = Server::with(&["--connections-max", "2"]);
    let body = insertion("1", &format!("[{}1]", "1,".repeat(200_000)));
    server.ask("POST", "/graphql", &[JSON], body);
    let query = r#"{"query": "{ document(id: 1) { value } }"}"#;
    for _ in 0..40 {
        let mut gone = server.connect();
        gone.send(head("POST", "/graphql", &[JSON], query.len()) + query);
        drop(gone);
    }
    server.assert_serves();
}

/// Stores a value whose responses exceed the kernel's socket buffers.
fn with_large_value(arguments: &[&str]) -> Server {
    let server = Server::with(arguments);
    let text = "x".repeat(30 << 20);
    let body = insertion("1", &json!(text).to_string());
    let response = server.ask("POST", "/graphql", &[JSON], body);
    assert_eq!(response.status, 200);
    server
}

#[test]
fn clients_that_read_no_response_are_disconnected() {
    let server = with_large_value(&["--send-time-max", "300ms", "--connections-max", "1"]);
    let query = r#"{"query": "{ document(id: 1) { value } }"}"#;
    let mut idle = server.connect();
    idle.send(head("POST", "/graphql", &[JSON], query.len()) + query);
    // Only one connection is allowed, which the client that does not read holds until it is
    // disconnected.
    server.assert_serves();
    let received = idle.rest().len();
    assert!(received < 30 << 20, "{received} bytes");
}

#[test]
fn pipelined_requests_with_unread_responses_are_not_read() {
    let server = with_large_value(&[]);
    let query = "{ document(id: 1) { value } }";
    let get = head(
        "GET",
        &format!("/graphql?query={}", query.replace(' ', "%20")),
        &[],
        0,
    );
    let before = server.memory_peak();
    let connection = server.connect();
    let mut sending = connection.other();
    let all = get.repeat(400_000);
    let sender = thread::spawn(move || sending.offer(all));
    for _ in 0..200 {
        server.assert_serves();
    }
    let more = server.memory_peak().saturating_sub(before);
    // A response has 30 MiB and is built from the data read, so a few copies of it are expected at
    // most.
    assert!(more < 256 << 20, "{more} bytes more for 400,000 requests");
    connection.shutdown(Shutdown::Both);
    assert!(!sender.join().expect("it ends"), "not all of it was taken");
    server.assert_serves();
}

#[test]
fn pipelined_requests_do_not_block_other_clients() {
    const REQUESTS: usize = 5_000;
    let server = Server::start();
    let request = head("POST", "/graphql", &[JSON], ASKING.len()) + ASKING;
    let mut row = server.connect();
    let mut sending = row.other();
    let sender = thread::spawn(move || sending.offer(request.repeat(REQUESTS)));
    for at in 0..REQUESTS {
        assert_eq!(
            row.response(true).body,
            r#"{"data":{"__typename":"Query"}}"#
        );
        if at % 100 == 0 {
            server.assert_serves();
        }
    }
    assert!(sender.join().expect("it ends"), "all of it was taken");
}

#[test]
fn small_requests_are_answered_when_held_memory_is_exhausted() {
    // The timeout is long, so that the slow readers stay connected on a slow machine. While the
    // third response is built, the data read for it is held too.
    let patience = ["--held-bytes-max", "121MiB", "--send-time-max", "300s"];
    let server = with_large_value(&patience);
    let query = r#"{"query": "{ document(id: 1) { value } }"}"#;
    let mut holding: Vec<Connection> = (0..3).map(|_| server.connect()).collect();
    for connection in &mut holding {
        connection.send(head("POST", "/graphql", &[JSON], query.len()) + query);
        // The head was sent, and most of the 30 MiB are unread.
        assert_eq!(connection.response(false).status, 200);
    }
    let another = server.ask("POST", "/graphql", &[JSON], query);
    assert_eq!(another.code(), "UNAVAILABLE");
    assert!(another.body.contains("126877696 bytes"), "{}", another.body);
    let large = json!("x".repeat(63 << 19)).to_string();
    let body = insertion("3", &large);
    for _ in 0..5 {
        // The request is rejected before its body is complete. A client that keeps sending still
        // gets the response.
        let mut connection = server.connect();
        connection.send(head("POST", "/graphql", &[JSON], body.len()));
        connection.offer(&body);
        let large = connection.response(true);
        assert_eq!((large.status, &*large.code()), (503, "UNAVAILABLE"));
    }
    server.assert_serves();
    let small = server.ask("POST", "/graphql", &[JSON], insertion("2", "[1]"));
    assert_eq!(small.json()["data"]["insertDocument"]["key"], "2");
    for mut connection in holding {
        connection.shutdown(Shutdown::Both);
        connection.rest();
    }
}
