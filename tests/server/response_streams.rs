//! Responses as server-sent events and as parts.

use serde_json::json;

use crate::access::{MUTATION, QUERY, READER, bearer, token_file};
use crate::support::{JSON, Response, Server, head, insertion};

const EVENTS: (&str, &str) = ("accept", "text/event-stream");
const PARTS: (&str, &str) = (
    "accept",
    "multipart/mixed;boundary=\"graphql\";subscriptionSpec=\"1.0\", application/json;q=0.9",
);
const TYPENAME: &str = r#"{"data":{"__typename":"Query"}}"#;

fn post(server: &Server, headers: &[(&str, &str)], query: &str) -> Response {
    let body = json!({"query": query}).to_string();
    server.ask("POST", "/graphql", &[&[JSON], headers].concat(), body)
}

/// A stream with one response.
fn events(response: &str) -> String {
    format!(":\n\nevent: next\ndata: {response}\n\nevent: complete\ndata: \n\n")
}

#[test]
fn queries_and_mutations_are_answered_with_events() {
    let server = Server::start();
    let response = post(&server, &[EVENTS, ("accept-encoding", "gzip")], QUERY);
    assert_eq!(response.status, 200);
    assert_eq!(response.body, events(TYPENAME));
    for (name, value) in [
        ("content-type", Some("text/event-stream; charset=utf-8")),
        ("content-encoding", None),
        ("cache-control", Some("no-store, no-transform")),
        ("x-accel-buffering", Some("no")),
    ] {
        assert_eq!(response.header(name), value, "{name}");
    }
    let response = post(&server, &[EVENTS], MUTATION);
    assert_eq!(
        response.body,
        events(r#"{"data":{"incrementDocument":{"value":1}}}"#)
    );
    let metrics = server.ask("GET", "/metrics", &[], "").body;
    let sent = r#"phyllo_stream_messages_total{transport="sse"} 2"#;
    assert!(metrics.contains(sent), "{metrics}");
}

#[test]
fn get_executes_no_mutations() {
    let server = Server::start();
    let get = |query: &str, headers: &[(&str, &str)]| {
        let query = query
            .replace(' ', "%20")
            .replace('{', "%7B")
            .replace('}', "%7D");
        server.ask("GET", &format!("/graphql?query={query}"), headers, "")
    };
    let response = get(QUERY, &[EVENTS]);
    assert_eq!(response.body, events(TYPENAME));
    assert_eq!(
        response.header("cache-control"),
        Some("no-store, no-transform")
    );
    let response = get(MUTATION, &[EVENTS, ("last-event-id", "x")]);
    assert_eq!(response.status, 200);
    assert!(
        response.body.contains("must be sent by POST"),
        "{}",
        response.body
    );
    assert_eq!(
        server.query("{ document(id: 1) { value } }"),
        json!({"data": {"document": null}})
    );
}

#[test]
fn errors_before_the_execution_are_events_and_unreadable_requests_are_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::with(&[
        "--token-file",
        &token_file(directory.path()),
        "--batch-max",
        "2",
    ]);
    let token = bearer(READER);
    let token = ("authorization", &*token);
    for (query, code) in [("{ nothing }", "BAD_USER_INPUT"), (MUTATION, "FORBIDDEN")] {
        let response = post(&server, &[EVENTS, token], query);
        assert_eq!(response.status, 200);
        let begin = ":\n\nevent: next\ndata: {\"errors\":[";
        assert!(response.body.starts_with(begin), "{}", response.body);
        assert!(response.body.contains(code), "{}", response.body);
        assert!(response.body.ends_with("event: complete\ndata: \n\n"));
    }
    let batch = json!([{"query": QUERY}]).to_string();
    let one = json!({"query": QUERY}).to_string();
    for (headers, body, status) in [
        (vec![JSON, EVENTS], &*one, 401),
        (vec![EVENTS, token], &*one, 415),
        (vec![JSON, EVENTS, token], "{", 400),
        (vec![JSON, EVENTS, token], "{}", 400),
        (vec![JSON, EVENTS, token], &*batch, 400),
        (
            vec![JSON, EVENTS, token, ("last-event-id", "caf\u{e9}")],
            &*one,
            400,
        ),
        (vec![JSON, ("accept", "multipart/mixed"), token], &*one, 406),
    ] {
        let response = server.ask("POST", "/graphql", &headers, body);
        assert_eq!(response.status, status, "{headers:?} {body}");
        assert!(response.json()["errors"][0]["message"].is_string());
    }
}

#[test]
fn the_first_media_type_that_a_client_accepts_is_sent() {
    let server = Server::start();
    for (accept, expected) in [
        ("application/json, text/event-stream", TYPENAME.to_owned()),
        ("text/event-stream, application/json", events(TYPENAME)),
        ("text/event-stream;q=0.1, */*;q=0.2", TYPENAME.to_owned()),
    ] {
        let response = post(&server, &[("accept", accept)], QUERY);
        assert_eq!(response.body, expected, "{accept}");
    }
}

#[test]
fn parts_are_sent_in_the_form_of_apollo() {
    let server = Server::start();
    let response = post(&server, &[PARTS, ("accept-encoding", "gzip")], QUERY);
    assert_eq!(
        response.header("content-type"),
        Some("multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0")
    );
    assert_eq!(
        response.body,
        format!(
            "--graphql\r\ncontent-type: application/json\r\n\r\n{{\"payload\":{TYPENAME}}}\r\n\
             --graphql--\r\n"
        )
    );
}

#[test]
fn large_responses_are_sent_in_pieces() {
    let server = Server::start();
    let text = json!("x".repeat(1 << 20)).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &text));
    let response = post(&server, &[EVENTS], "{ document(id: 1) { value } }");
    assert_eq!(
        response.body,
        events(&format!(r#"{{"data":{{"document":{{"value":{text}}}}}}}"#))
    );
}

#[test]
fn clients_that_read_no_events_are_disconnected() {
    let server = Server::with(&["--send-time-max", "300ms", "--connections-max", "1"]);
    let text = json!("x".repeat(30 << 20)).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &text));
    let body = json!({"query": "{ document(id: 1) { value } }"}).to_string();
    let mut idle = server.connect();
    idle.send(head("POST", "/graphql", &[JSON, EVENTS], body.len()) + &body);
    // Only one connection is allowed, which the client holds until it is disconnected.
    server.assert_serves();
    let received = idle.rest().len();
    assert!(received < 30 << 20, "{received} bytes");
}
