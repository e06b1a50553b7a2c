//! Gzip in requests and responses.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::support::{JSON, Response, Server, insertion};

const GZIP: (&str, &str) = ("content-encoding", "gzip");
const QUERY: &str = r#"{"query": "{ __typename }"}"#;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn decoded(response: &Response) -> String {
    let mut text = String::new();
    let mut decoder = MultiGzDecoder::new(&response.bytes[..]);
    decoder.read_to_string(&mut text).expect("gzip of a text");
    text
}

/// A server with a compressible document, and the URL path that reads it.
fn with_document() -> (Server, &'static str, String) {
    let server = Server::start();
    let document = json!(vec!["the same again"; 10_000]).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &document));
    let answer = format!(r#"{{"data":{{"document":{{"value":{document}}}}}}}"#);
    (server, "/graphql?query={document(id:1){value}}", answer)
}

#[test]
fn large_responses_are_compressed_if_the_client_accepts_gzip() {
    let (server, path, answer) = with_document();
    for (accepted, compressed) in [
        ("gzip", true),
        ("gzip, deflate, br, zstd", true),
        ("br;q=1, GZIP;q=0.2", true),
        ("br, zstd, deflate", false),
        ("gzip;q=0", false),
        ("identity", false),
        ("", false),
    ] {
        let response = server.ask("GET", path, &[("accept-encoding", accepted)], "");
        let vary = response.list("vary");
        assert_eq!(vary, ["accept", "accept-encoding"], "{accepted}");
        if compressed {
            assert_eq!(response.header("content-encoding"), Some("gzip"));
            assert!(response.bytes.len() < answer.len() / 10, "{accepted}");
            assert_eq!(decoded(&response), answer, "{accepted}");
        } else {
            assert_eq!(response.header("content-encoding"), None, "{accepted}");
            assert_eq!(response.body, answer, "{accepted}");
        }
    }
    assert_eq!(server.ask("GET", path, &[], "").body, answer);
    let accepting = [("accept-encoding", "gzip")];
    let schema = server.ask("GET", "/schema.graphql", &accepting, "");
    assert_eq!(decoded(&schema), include_str!("../../schema.graphql"));
}

#[test]
fn small_responses_are_not_compressed() {
    let server = Server::start();
    let headers = [JSON, ("accept-encoding", "gzip")];
    let response = server.ask("POST", "/graphql", &headers, QUERY);
    assert_eq!(response.header("content-encoding"), None);
    assert_eq!(response.json(), json!({"data": {"__typename": "Query"}}));
}

#[test]
fn head_has_the_same_headers_as_get_for_compressed_responses() {
    let (server, path, _) = with_document();
    for headers in [&[][..], &[("accept-encoding", "gzip")]] {
        let mut connection = server.connect();
        let get = connection.ask("GET", path, headers, "");
        let head = connection.ask("HEAD", path, headers, "");
        for name in ["content-type", "content-encoding", "content-length", "vary"] {
            assert_eq!(head.header(name), get.header(name), "{name}");
        }
        // The connection still works, so no body followed the head.
        assert_eq!(connection.ask("GET", "/healthz", &[], "").body, "ok\n");
    }
}

#[test]
fn gzip_request_bodies_are_accepted() {
    let server = Server::start();
    let document = json!({"a": vec![1; 10_000]});
    let body = gzip(insertion("1", &document.to_string()).as_bytes());
    let response = server.ask("POST", "/graphql", &[JSON, GZIP], &body);
    assert_eq!(response.json()["data"]["insertDocument"]["key"], json!("1"));
    let found = server.query("{ document(id: 1) { value } }");
    assert_eq!(found["data"]["document"]["value"], document);
    // Consecutive members form one text (RFC 1952 §2.2).
    let (first, rest) = QUERY.split_at(9);
    let members = [gzip(first.as_bytes()), gzip(rest.as_bytes())].concat();
    let response = server.ask("POST", "/graphql", &[JSON, GZIP], &members);
    assert_eq!(response.json(), json!({"data": {"__typename": "Query"}}));
    let plain = [JSON, ("content-encoding", "identity")];
    assert_eq!(server.ask("POST", "/graphql", &plain, QUERY).status, 200);
}

#[test]
fn malformed_gzip_bodies_are_rejected_without_effects() {
    let server = Server::start();
    let whole = gzip(insertion("1", "1").as_bytes());
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    for body in [
        insertion("1", "1").into_bytes(),
        whole[..whole.len() - 9].to_vec(),
        whole[..5].to_vec(),
        damaged,
        gzip(&whole),
        [&whole[..], b"more"].concat(),
    ] {
        let response = server.ask("POST", "/graphql", &[JSON, GZIP], &body);
        assert_eq!(
            (response.status, response.code().as_str()),
            (400, "BAD_USER_INPUT")
        );
    }
    for coding in ["br", "deflate", "zstd", "gzip, gzip", "x"] {
        let headers = [JSON, ("content-encoding", coding)];
        let response = server.ask("POST", "/graphql", &headers, &whole);
        assert_eq!(
            (response.status, response.header("accept-encoding")),
            (415, Some("gzip")),
            "{coding}"
        );
    }
    let twice = [JSON, GZIP, GZIP];
    let response = server.ask("POST", "/graphql", &twice, gzip(&whole));
    assert_eq!(response.status, 415);
    let found = server.query("{ document(id: 1) { kind } }");
    assert_eq!(found, json!({"data": {"document": null}}));
}

#[test]
fn gzip_bombs_are_rejected_by_decoded_size_and_not_buffered() {
    const LIMIT: usize = 4 << 20;
    let server = Server::with(&["--body-bytes-max", &LIMIT.to_string()]);
    let exact = format!("{QUERY}{}", " ".repeat(LIMIT - QUERY.len()));
    let taken = server.ask("POST", "/graphql", &[JSON, GZIP], gzip(exact.as_bytes()));
    assert_eq!(taken.json(), json!({"data": {"__typename": "Query"}}));
    let before = server.memory_peak();
    let spaces = gzip(&vec![b' '; 16 << 20]);
    let one_more = gzip(format!("{exact} ").as_bytes());
    // 1 GiB in consecutive members, and in one.
    for bomb in [one_more, spaces.repeat(64), gzip(&vec![b' '; 256 << 20])] {
        assert!(bomb.len() < LIMIT, "it passes the limit only when decoded");
        let mut connection = server.connect();
        connection.offer(crate::support::head(
            "POST",
            "/graphql",
            &[JSON, GZIP],
            bomb.len(),
        ));
        connection.offer(&bomb);
        let response = connection.response(true);
        assert_eq!(
            (response.status, response.code().as_str()),
            (413, "TOO_LARGE")
        );
        assert!(response.body.contains("4194304 bytes"), "{response:?}");
        server.assert_serves();
    }
    let more = server.memory_peak().saturating_sub(before);
    // The allocator retains some freed memory of each thread, but far less than the 256 MiB of the
    // smallest bomb.
    assert!(more < 16 * LIMIT, "{more} bytes more for bombs of 1 GiB");
    // A body that decodes to nothing is limited by its encoded size.
    let nothing = gzip(b"").repeat(LIMIT / 20 + 1);
    let mut connection = server.connect();
    connection.offer(crate::support::head(
        "POST",
        "/graphql",
        &[JSON, GZIP],
        nothing.len(),
    ));
    connection.offer(&nothing);
    assert_eq!(connection.response(true).status, 413);
    server.assert_serves();
}

/// Sends a gzip body. The server may read only a part of it.
fn offered(server: &Server, body: &[u8]) -> Response {
    let mut connection = server.connect();
    let head = crate::support::head("POST", "/graphql", &[JSON, GZIP], body.len());
    connection.offer(head);
    connection.offer(body);
    connection.response(true)
}

#[test]
fn gzip_members_are_limited_by_their_decoded_size() {
    let server = Server::start();
    let (query, empty, kib16) = (gzip(QUERY.as_bytes()), gzip(b""), gzip(&[b' '; 16 << 10]));
    let taken = json!({"data": {"__typename": "Query"}});
    for (body, what) in [
        ([&query[..], &empty.repeat(999)].concat(), "1,000"),
        ([&empty.repeat(999)[..], &query].concat(), "1,000"),
        // Members of a size that common programs write are not limited in number.
        (
            [&kib16.repeat(1_900)[..], &query].concat(),
            "1,901 that are large",
        ),
        (
            [&kib16.repeat(50)[..], &empty.repeat(999), &query].concat(),
            "one more for each 16 KiB",
        ),
    ] {
        assert_eq!(offered(&server, &body).json(), taken, "{what}");
    }
    let many = (32 << 20) / empty.len();
    for (body, what) in [
        ([&query[..], &empty.repeat(1_000)].concat(), "1,001"),
        ([&empty.repeat(1_000)[..], &query].concat(), "1,001"),
        (empty.repeat(many), "32 MiB of them"),
        (
            [&kib16.repeat(50)[..], &empty.repeat(1_000), &query].concat(),
            "more than one for each 16 KiB",
        ),
        (
            [&query[..], &gzip(b" ").repeat(many / 2)].concat(),
            "a byte in each",
        ),
    ] {
        let begin = Instant::now();
        let response = offered(&server, &body);
        assert_eq!(
            (response.status, response.code().as_str()),
            (413, "TOO_LARGE"),
            "{what}"
        );
        assert!(
            response.body.contains("the limit is 1000"),
            "{what}: {response:?}"
        );
        // Without the limit it would take far longer on any machine.
        let time = begin.elapsed();
        assert!(time < Duration::from_secs(4), "{what}: {time:?}");
        server.assert_serves();
    }
}
