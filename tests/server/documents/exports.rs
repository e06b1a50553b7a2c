//! `GET` of a collection.

use std::fmt::Write as _;

use serde_json::json;

use super::{NDJSON, assert_problem, get, lines, put};
use crate::support::{Connection, Server, head};

fn with_documents(count: usize, text: &str) -> Server {
    let server = Server::start();
    let mut body = String::new();
    for n in 0..count {
        writeln!(
            body,
            "{{\"id\":\"{n}\",\"document\":{{\"n\":{n},\"t\":\"{text}\"}}}}"
        )
        .expect("a string");
    }
    let done = server.ask("POST", "/documents/D", &[NDJSON], &body);
    assert_eq!(lines(&done).pop().expect("a line")["written"], count);
    server
}

#[test]
fn a_collection_is_exported_in_the_order_of_its_keys() {
    let server = with_documents(3_000, "");
    put(&server, "/documents/D/a%0A", "null");
    put(&server, "/documents/D/%223%22", "[]");
    let export = get(&server, "/documents/D");
    assert_eq!(export.header("content-type"), Some("application/x-ndjson"));
    let found = lines(&export);
    assert_eq!(found.len(), 3_002);
    assert_eq!(found[0], json!({"id": "\"3\"", "document": []}));
    assert_eq!(found[1], json!({"id": "a\n", "document": null}));
    for (n, line) in found[2..].iter().enumerate() {
        assert_eq!(
            line,
            &json!({"id": n.to_string(), "document": {"n": n, "t": ""}})
        );
    }
    let copy = server.ask("POST", "/documents/E", &[NDJSON], &export.body);
    assert_eq!(lines(&copy).pop().expect("a line")["written"], 3_002);
    assert_eq!(get(&server, "/documents/E").body, export.body);
    let absent = get(&server, "/documents/none");
    assert_eq!((absent.status, &*absent.body), (200, ""));
    let gzip = [("accept-encoding", "gzip")];
    for (path, encoding) in [("/documents/none", None), ("/documents/D", Some("gzip"))] {
        let coded = server.ask("GET", path, &gzip, "");
        assert_eq!(coded.status, 200);
        if encoding.is_some() {
            assert_eq!(coded.header("content-encoding"), encoding);
            assert!(coded.bytes.len() < export.body.len() / 4);
        }
    }
    let head = server.ask("HEAD", "/documents/D", &[], "");
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("application/x-ndjson"))
    );
}

#[test]
fn an_export_resumes_after_a_key() {
    let server = with_documents(1_000, "");
    put(&server, "/documents/D/a", "1");
    let whole = get(&server, "/documents/D");
    for (after, left_out) in [
        ("a", 1),
        ("0", 2),
        ("41", 43),
        ("999", 1_001),
        ("\"\"", 0),
        ("41000", 1_001),
    ] {
        let after: String = form_urlencoded::byte_serialize(after.as_bytes()).collect();
        let rest = get(&server, &format!("/documents/D?after={after}"));
        let expected: Vec<&str> = whole.body.lines().skip(left_out).collect();
        assert_eq!(rest.body.lines().collect::<Vec<_>>(), expected, "{after}");
    }
    assert_problem(&get(&server, "/documents/D?after="), 400, "BAD_USER_INPUT");
    assert_problem(&get(&server, "/documents/D?from=1"), 400, "BAD_USER_INPUT");
    let image = server.ask("GET", "/documents/D", &[("accept", "image/png")], "");
    assert_problem(&image, 406, "BAD_USER_INPUT");
}

#[test]
fn an_export_has_one_version_and_takes_bounded_memory() {
    let text = "x".repeat(2_000);
    let server = with_documents(20_000, &text);
    let before = server.memory_peak();
    let mut connection = server.connect();
    connection.send(head("GET", "/documents/D", &[], 0));
    // The connection takes a part of it, and the rest is read after the changes.
    std::thread::sleep(std::time::Duration::from_secs(1));
    for n in [0, 10_000, 19_999] {
        put(&server, &format!("/documents/D/{n}/n"), "\"changed\"");
    }
    let export = connection.response(true);
    let version = export.header("phyllo-version").expect("a version");
    assert_eq!(version, version_of(&server, 19_998));
    assert!(!export.body.contains("changed"));
    assert_eq!(export.body.lines().count(), 20_000);
    assert!(get(&server, "/documents/D").body.contains("changed"));
    let grown = server.memory_peak().saturating_sub(before);
    assert!(grown < 100 << 20, "{grown} bytes for an export of 40 MB");
}

/// The version of a document.
fn version_of(server: &Server, n: usize) -> String {
    let found = server.query(&format!("{{ document(id: {n}) {{ version }} }}"));
    let version = found["data"]["document"]["version"].as_str();
    version.expect("a version").to_owned()
}

/// The last version is in a trailer, for clients that take trailers.
#[test]
fn an_export_states_its_versions() {
    let server = with_documents(2_000, &"x".repeat(100));
    put(&server, "/documents/E/1", "1");
    let version = version_of_last_commit(&server);
    for (headers, has_trailer) in [
        (&[("te", "trailers")][..], true),
        (&[("te", "trailers"), ("accept-encoding", "gzip")], true),
        (&[], false),
    ] {
        let mut connection = server.connect();
        let headers = [headers, &[("connection", "close")]].concat();
        connection.send(head("GET", "/documents/D", &headers, 0));
        let response = String::from_utf8_lossy(&connection.rest()).into_owned();
        let (head, body) = response.split_once("\r\n\r\n").expect("a response");
        let stated = format!("phyllo-version: {version}");
        assert!(head.contains(&stated), "{head}");
        assert!(head.contains("trailer: phyllo-version"), "{head}");
        let end = if has_trailer {
            format!("\r\n0\r\n{stated}\r\n\r\n")
        } else {
            "\r\n0\r\n\r\n".to_owned()
        };
        assert!(body.ends_with(&end), "{}", &body[body.len() - 200..]);
    }
    let empty = get(&server, "/documents/none");
    assert_eq!(empty.header("phyllo-version"), Some(&*version));
}

fn version_of_last_commit(server: &Server) -> String {
    get(server, "/documents/E/1")
        .header("etag")
        .expect("a tag")
        .trim_matches('"')
        .to_owned()
}

/// Exports and uploads are counted as other requests are.
#[test]
fn streams_of_lines_are_in_the_metrics() {
    let server = with_documents(1_500, "");
    get(&server, "/documents/D");
    let metrics = get(&server, "/metrics").body;
    for line in [
        r#"phyllo_requests_total{type="upload",operation="",outcome="ok"} 1"#,
        r#"phyllo_requests_total{type="export",operation="",outcome="ok"} 1"#,
        r#"phyllo_request_seconds_count{type="export"} 1"#,
    ] {
        assert!(
            metrics.lines().any(|written| written == line),
            "{line} in {metrics}"
        );
    }
    let read = metrics
        .lines()
        .find_map(|line| line.strip_prefix(r#"phyllo_request_store_bytes_sum{type="export"} "#));
    let read: f64 = read.expect("a sum").parse().expect("a number");
    assert!(read > 1_500.0 * 10.0, "{read}");
}

/// The text of a document is in memory until it is sent.
#[test]
fn exports_share_the_memory_of_all_requests() {
    const DOCUMENT: usize = 16 << 20;
    let server = Server::with(&["--held-bytes-max", "128MiB"]);
    put(
        &server,
        "/documents/D/large",
        &format!("\"{}\"", "x".repeat(DOCUMENT)),
    );
    let before = server.memory_peak();
    let exports: Vec<Connection> = (0..20)
        .map(|_| {
            let mut connection = server.connect();
            connection.send(head("GET", "/documents/D", &[("connection", "close")], 0));
            // Its text is read, and the rest of it waits for the client.
            std::thread::sleep(std::time::Duration::from_millis(200));
            connection
        })
        .collect();
    server.assert_serves();
    let is_complete = |mut export: Connection| export.rest().len() > DOCUMENT;
    let complete = exports
        .into_iter()
        .map(is_complete)
        .filter(|complete| *complete)
        .count();
    assert!(
        (1..=8).contains(&complete),
        "{complete} of 20 exports were complete"
    );
    let grown = server.memory_peak() - before;
    assert!(grown < 256 << 20, "{} MiB for 20 exports", grown >> 20);
    assert!(get(&server, "/documents/D").bytes.len() > DOCUMENT);
}
