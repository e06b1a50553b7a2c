//! Users' tokens over every transport, and the end of streams whose token ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::keys::{SignerKey, claims, from_now, key_set};
use super::{Files, ask, message, server_with};
use crate::access::{MUTATION, QUERY, READER, WRITER, bearer, token_file};
use crate::support::{JSON, Server, head};
use crate::websockets::{PROTOCOL, open};

const WATCH: &str = "subscription { document(id: 1) { value } }";
/// Seconds before now at which a token expires that is accepted for about three more, because of the
/// difference of clocks that is allowed.
const ALMOST: i64 = -57;

fn server(files: &Files, key: &SignerKey, more: &[&str]) -> Server {
    let more = [&["--change-retention", "1h"], more].concat();
    server_with(files, &key_set([key]), &more)
}

fn valid(key: &SignerKey) -> String {
    key.token(&claims(&json!({})))
}

fn ending(key: &SignerKey) -> String {
    key.token(&claims(&json!({"exp": from_now(ALMOST)})))
}

#[test]
fn users_send_requests_in_every_way() {
    let (files, key) = (Files::new(), SignerKey::new("k", "RS256"));
    let server = server(&files, &key, &["--batch-max", "2"]);
    let (good, bad) = (valid(&key), key.token(&claims(&json!({"exp": 1}))));
    for (token, status) in [(&good, 200), (&bad, 401)] {
        let token = bearer(token);
        let token = ("authorization", token.as_str());
        let post = |query: &Value, accept: &str| {
            let headers = [JSON, token, ("accept", accept)];
            server.ask("POST", "/graphql", &headers, query.to_string())
        };
        for accept in [
            "*/*",
            "text/event-stream",
            "multipart/mixed;subscriptionSpec=1.0",
        ] {
            for query in [QUERY, MUTATION] {
                let response = post(&json!({ "query": query }), accept);
                assert_eq!(response.status, status, "{accept} {query}");
            }
        }
        let batch = json!([{ "query": QUERY }, { "query": MUTATION }]);
        assert_eq!(post(&batch, "*/*").status, status);
        let get = "/graphql?query=%7B__typename%7D";
        for path in [get, "/schema.graphql"] {
            assert_eq!(
                server.ask("GET", path, &[token], "").status,
                status,
                "{path}"
            );
        }
        let open = open(&server, &[PROTOCOL, token]);
        assert_eq!(open.map_or_else(|status| status, |_| 200), status);
    }
    let incremented = server.log();
    assert!(!incremented.contains("SECRET-subject"), "{incremented}");
    for secret in good.split('.').chain(bad.split('.').skip(1)) {
        assert!(!incremented.contains(secret), "{incremented}");
    }
}

#[test]
fn tokens_in_connection_init_identify_users() {
    let (files, key) = (Files::new(), SignerKey::new("k", "EdDSA"));
    let server = server(&files, &key, &[]);
    let ack = json!({"type": "connection_ack"});
    let good = valid(&key);
    for payload in [
        json!({"Authorization": bearer(&good)}),
        json!({ "token": good }),
    ] {
        let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
        assert_eq!(client.initialised(&payload), ack);
        assert_eq!(client.ask(QUERY), json!({"data": {"__typename": "Query"}}));
    }
    let mut altered = valid(&key);
    altered.insert(altered.len() - 5, 'A');
    for (token, reason) in [
        (key.token(&claims(&json!({"exp": 1}))), "it has expired"),
        (
            key.token(&claims(&json!({"aud": "x"}))),
            "its `aud` has none",
        ),
        (altered, "not "),
    ] {
        let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
        client.send(&json!({"type": "connection_init", "payload": {"token": token}}));
        let (code, why) = client.closed();
        assert_eq!(code, 4403);
        assert!(why.contains(reason), "{why}");
    }
    // The limit of what is received before the token is known.
    let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
    let long = "x".repeat(1 << 20);
    client.offer(&json!({"type": "connection_init", "payload": {"token": long}}));
    assert!(client.ends_refused());
    let log = server.log();
    for secret in good.split('.').chain(["SECRET-subject", "xxxxxxxx"]) {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn a_websocket_ends_when_its_token_does() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server(&files, &key, &[]);
    let begin = Instant::now();
    let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
    let payload = json!({"token": ending(&key)});
    assert_eq!(
        client.initialised(&payload),
        json!({"type": "connection_ack"})
    );
    client.subscribe("1", WATCH);
    assert_eq!(client.receive()["type"], "next");
    let (code, reason) = client.closed();
    assert_eq!(code, 4403);
    assert_eq!(reason, "the token is not accepted: it has expired");
    let took = begin.elapsed();
    assert!(
        took > Duration::from_secs(1) && took < Duration::from_secs(30),
        "{took:?}"
    );
}

/// Opens a stream with a token and reads it to its end.
fn streamed(server: &Server, token: &str, accept: &str) -> String {
    let mut connection = server.connect();
    let token = bearer(token);
    let body = json!({ "query": WATCH }).to_string();
    let headers = [JSON, ("authorization", &*token), ("accept", accept)];
    connection.send(head("POST", "/graphql", &headers, body.len()) + &body);
    let response = connection.response(true);
    assert_eq!(response.status, 200);
    response.body
}

#[test]
fn streams_end_with_an_error_when_their_token_does() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server(&files, &key, &[]);
    let error = "{\"errors\":[{\"message\":\"the token is not accepted: it has expired\",\
                 \"extensions\":{\"code\":\"UNAUTHENTICATED\"}}]}";
    let events = streamed(&server, &ending(&key), "text/event-stream");
    let end = format!("event: next\ndata: {error}\n\nevent: complete\ndata: \n\n");
    assert!(
        events.contains("event: next\n") && events.ends_with(&end),
        "{events}"
    );
    let parts = streamed(
        &server,
        &ending(&key),
        "multipart/mixed;subscriptionSpec=1.0",
    );
    let error = error.replacen('{', "{\"payload\":null,", 1);
    assert!(
        parts.ends_with(&format!("{error}\r\n--graphql--\r\n")),
        "{parts}"
    );
}

#[test]
fn streams_end_when_the_key_of_their_token_is_removed() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server(&files, &key, &[]);
    let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
    let payload = json!({"token": valid(&key)});
    assert_eq!(
        client.initialised(&payload),
        json!({"type": "connection_ack"})
    );
    client.subscribe("1", WATCH);
    assert_eq!(client.receive()["type"], "next");
    files.write("keys.json", &key_set([&SignerKey::new("k", "ES256")]));
    let (code, reason) = client.closed();
    assert_eq!(code, 4403);
    assert!(reason.contains("was removed from the key set"), "{reason}");
}

#[test]
fn tokens_of_the_token_file_work_beside_those_of_users() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let tokens = token_file(files.path("").as_path());
    let server = server(&files, &key, &["--token-file", &tokens]);
    for token in [READER, WRITER, &valid(&key)] {
        assert_eq!(ask(&server, token).status, 200);
    }
    let response = ask(&server, "unknown-0123456789");
    assert_eq!(response.status, 401);
    assert!(message(&response).contains("is not known to this server"));
}

#[test]
fn a_read_only_server_allows_users_no_mutations() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server(&files, &key, &["--read-only"]);
    let token = bearer(&valid(&key));
    let headers = [JSON, ("authorization", token.as_str())];
    for (query, status) in [(QUERY, 200), (MUTATION, 403)] {
        let body = json!({ "query": query }).to_string();
        let response = server.ask("POST", "/graphql", &headers, body);
        assert_eq!(response.status, status, "{query}");
    }
}
