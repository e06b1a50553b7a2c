//! `GET` of a collection.

use std::fmt::Write as _;

use serde_json::json;

use super::{NDJSON, assert_problem, get, lines, put};
use crate::support::{Server, head};

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
    assert!(!export.body.contains("changed"));
    assert_eq!(export.body.lines().count(), 20_000);
    assert!(get(&server, "/documents/D").body.contains("changed"));
    let grown = server.memory_peak().saturating_sub(before);
    assert!(grown < 100 << 20, "{grown} bytes for an export of 40 MB");
}
