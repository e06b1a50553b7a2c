//! Request bodies: size limit, chunks, and connections that stay open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Connection, JSON, Server, head, insertion};

const LIMIT: usize = 1_000;

fn limited() -> Server {
    Server::with(&["--body-bytes-max", &LIMIT.to_string()])
}

/// A body of this size that queries `__typename`.
fn padded(bytes: usize) -> String {
    let body = r#"{"query": "{ __typename }"}"#;
    format!("{body}{}", " ".repeat(bytes - body.len()))
}

fn chunk(bytes: &str) -> String {
    format!("{:x}\r\n{bytes}\r\n", bytes.len())
}

fn begin_chunked(connection: &mut Connection) {
    connection.send(head(
        "POST",
        "/graphql",
        &[JSON, ("transfer-encoding", "chunked")],
        0,
    ));
}

#[test]
fn bodies_over_the_limit_are_rejected_by_their_content_length() {
    let server = limited();
    let mut connection = server.connect();
    connection.send(head("POST", "/graphql", &[JSON], LIMIT + 1));
    let response = connection.response(true);
    assert_eq!(
        (response.status, response.code().as_str()),
        (413, "TOO_LARGE")
    );
    assert!(response.body.contains("1000 bytes"), "{}", response.body);
    server.assert_serves();
}

#[test]
fn chunked_bodies_over_the_limit_are_rejected() {
    let server = limited();
    let mut connection = server.connect();
    begin_chunked(&mut connection);
    // The body never ends. The response arrives once the limit is exceeded.
    connection.offer(chunk(&padded(600)));
    connection.offer(chunk(&" ".repeat(401)));
    let response = connection.response(true);
    assert_eq!(
        (response.status, response.code().as_str()),
        (413, "TOO_LARGE")
    );
    server.assert_serves();
}

#[test]
fn bodies_of_exactly_the_limit_are_accepted() {
    let server = limited();
    let mut connection = server.connect();
    assert_eq!(
        connection
            .ask("POST", "/graphql", &[JSON], padded(LIMIT))
            .status,
        200
    );
    begin_chunked(&mut connection);
    connection.send(chunk(&padded(LIMIT)) + "0\r\n\r\n");
    assert_eq!(connection.response(true).status, 200);
    assert_eq!(
        connection
            .ask("POST", "/graphql", &[JSON], padded(LIMIT + 1))
            .status,
        413
    );
}

#[test]
fn default_limit_accepts_a_large_document() {
    let server = Server::start();
    let text = "x".repeat(4 << 20);
    let response = server.ask(
        "POST",
        "/graphql",
        &[JSON],
        insertion("1", &json!({"t": text}).to_string()),
    );
    assert_eq!(response.json()["data"]["insertDocument"]["key"], json!("1"));
    let found = server.query("{ document(id: 1) { value } }");
    assert_eq!(found["data"]["document"]["value"]["t"], json!(text));
    let mut connection = server.connect();
    connection.send(head("POST", "/graphql", &[JSON], (32 << 20) + 1));
    let response = connection.response(true);
    assert_eq!(response.status, 413);
    assert!(
        response.body.contains("33554432 bytes"),
        "{}",
        response.body
    );
}

#[test]
fn slow_bodies_are_answered_when_complete_and_block_no_other_requests() {
    let server = Server::start();
    let body = insertion("1", "[1, 2]");
    let mut slow = server.connect();
    slow.send(head("POST", "/graphql", &[JSON], body.len()));
    for byte in body.as_bytes() {
        slow.send([*byte]);
    }
    assert_eq!(
        slow.response(true).json(),
        json!({"data": {"insertDocument": {"key": "1"}}})
    );
    let (half, rest) = body.split_at(body.len() / 2);
    let body = slow
        .ask("POST", "/graphql", &[JSON], insertion("2", "1"))
        .json();
    assert_eq!(body["data"]["insertDocument"]["key"], json!("2"));
    slow.send(head("POST", "/graphql", &[JSON], half.len() + rest.len()));
    slow.send(half);
    for _ in 0..50 {
        server.assert_serves();
    }
    slow.send(rest);
    assert_eq!(slow.response(true).code(), "ALREADY_EXISTS");
}

#[test]
fn truncated_bodies_write_nothing() {
    let server = Server::start();
    let body = insertion("1", "1");
    for sent in [0, 1, body.len() - 1] {
        let mut connection = server.connect();
        connection.send(head("POST", "/graphql", &[JSON], body.len()));
        connection.send(&body[..sent]);
        drop(connection);
        let mut connection = server.connect();
        begin_chunked(&mut connection);
        connection.send(chunk(&body));
        drop(connection);
    }
    server.assert_serves();
    assert_eq!(
        server.query("{ document(id: 1) { kind } }"),
        json!({"data": {"document": null}})
    );
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start();
    let mut connection = server.connect();
    let mut all = String::new();
    for id in 0..50 {
        let body = insertion(&id.to_string(), &id.to_string());
        all += &(head("POST", "/graphql", &[JSON], body.len()) + &body);
        all += &head(
            "GET",
            &format!("/graphql?query={{document(id:{id}){{value}}}}"),
            &[],
            0,
        );
    }
    connection.send(all);
    for id in 0..50 {
        let inserted = connection.response(true).json();
        assert_eq!(
            inserted["data"]["insertDocument"]["key"],
            json!(id.to_string())
        );
        assert_eq!(
            connection.response(true).json(),
            json!({"data": {"document": {"value": id}}})
        );
    }
}

#[test]
fn malformed_http_is_rejected_and_the_server_continues() {
    let server = Server::start();
    for (bytes, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), 400),
        (
            "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n".to_owned(),
            400,
        ),
        (
            "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"
                .to_owned(),
            400,
        ),
        (
            "GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n".to_owned(),
            400,
        ),
        (
            format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(70_000)),
            414,
        ),
        (
            format!(
                "GET / HTTP/1.1\r\nhost: x\r\n{}\r\n",
                "a: b\r\n".repeat(200)
            ),
            431,
        ),
    ] {
        let mut connection = server.connect();
        connection.offer(&bytes);
        assert_eq!(connection.response(false).status, status, "{bytes:.60}");
        server.assert_serves();
    }
    for bytes in [
        &b"\0\xff\x16\x03\x01"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"",
    ] {
        let mut connection = server.connect();
        connection.offer(bytes);
        drop(connection);
        server.assert_serves();
    }
}

#[test]
fn deeply_nested_bodies_are_rejected() {
    let server = Server::start();
    for brackets in [
        "[".repeat(5_000),
        "[".repeat(2_000_000),
        "{\"a\":".repeat(400_000),
    ] {
        for body in [
            brackets.clone(),
            format!(r#"{{"query": "{{ __typename }}", "variables": {{"x": {brackets}"#),
            format!(
                r#"{{"query": "{{ document(id: {}) {{ kind }} }}"}}"#,
                brackets.replace('"', "")
            ),
        ] {
            let response = server.ask("POST", "/graphql", &[JSON], &body);
            assert!(["BAD_USER_INPUT", "TOO_COMPLEX"].contains(&response.code().as_str()));
            assert!(response.body.len() < 1_000, "{}", response.body.len());
        }
        server.assert_serves();
    }
}

/// Some clients send the headers, then the body, and read only after that.
#[test]
fn a_client_that_sends_a_rejected_body_late_receives_the_response() {
    let server = limited();
    for pause in [0, 50, 300] {
        for bytes in [LIMIT + 1, 4 << 20] {
            let mut connection = server.connect();
            connection.send(head("POST", "/graphql", &[JSON], bytes));
            std::thread::sleep(Duration::from_millis(pause));
            for part in vec![b' '; bytes].chunks(1 << 20) {
                connection.send(part);
            }
            let response = connection.response(true);
            assert_eq!(
                (response.status, response.code().as_str()),
                (413, "TOO_LARGE"),
                "{bytes} bytes after {pause} ms"
            );
        }
    }
    server.assert_serves();
}

/// A rejected client that neither sends nor closes loses its connection after a second, and one
/// that never stops sending after a few.
#[test]
fn a_rejected_client_cannot_hold_its_connection() {
    let server = Server::with(&["--body-bytes-max", "1000", "--connections-max", "1"]);
    for sends in [false, true] {
        let mut connection = server.connect();
        connection.send(head("POST", "/graphql", &[JSON], 1 << 40));
        assert_eq!(connection.response(true).status, 413);
        let begun = Instant::now();
        let ended = Arc::new(AtomicBool::new(false));
        let sender = sends.then(|| {
            let (mut other, ended) = (connection.other(), ended.clone());
            std::thread::spawn(move || {
                while !ended.load(Ordering::Relaxed) && other.offer([b' '; 100]) {
                    std::thread::sleep(Duration::from_millis(20));
                }
            })
        });
        // The next connection is accepted once the first one has ended.
        server.assert_serves();
        let took = begun.elapsed();
        ended.store(true, Ordering::Relaxed);
        if let Some(sender) = sender {
            sender.join().expect("it ends");
        }
        let limit = if sends { 10 } else { 5 };
        assert!(took < Duration::from_secs(limit), "{took:?}");
    }
}
