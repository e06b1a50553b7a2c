//! `GET` and `HEAD`: representations, conditional requests, ranges.

use serde_json::json;

use super::{assert_problem, get, put, tag};
use crate::support::Server;

const PLACE: &str = "/documents/D/a";
const TEXT: (&str, &str) = ("accept", "text/plain");

fn with_document() -> Server {
    let server = Server::start();
    let long = "\u{e4}".repeat(2_000);
    put(
        &server,
        PLACE,
        &json!({"n": 1, "list": [null, {"x": "y\n"}], "long": long}).to_string(),
    );
    server
}

#[test]
fn a_document_and_its_parts_are_json() {
    let server = with_document();
    let whole = get(&server, PLACE);
    assert_eq!(whole.status, 200);
    assert_eq!(whole.header("content-type"), Some("application/json"));
    assert_eq!(whole.header("cache-control"), Some("private, no-cache"));
    assert_eq!(whole.json()["list"], json!([null, {"x": "y\n"}]));
    for (path, expected) in [
        ("/n", "1"),
        ("/list/0", "null"),
        ("/list/1", r#"{"x":"y\n"}"#),
        ("/list/1/x", r#""y\n""#),
    ] {
        let part = get(&server, &format!("{PLACE}{path}"));
        assert_eq!((part.status, &*part.body), (200, expected), "{path}");
        assert_eq!(tag(&part), tag(&whole), "{path}");
    }
    for path in ["/m", "/n/x", "/list/2", "/list/-", "/"] {
        let absent = get(&server, &format!("{PLACE}{path}"));
        assert_problem(&absent, 404, "NOT_FOUND");
        assert_eq!(absent.json()["place"], path);
    }
    assert_problem(&get(&server, "/documents/D/b"), 404, "NOT_FOUND");
    assert_problem(&get(&server, "/documents/E/a"), 404, "NOT_FOUND");
}

#[test]
fn head_has_the_headers_of_get() {
    let server = with_document();
    for path in [PLACE, "/documents/D/a/list", "/documents/D/none"] {
        let (head, whole) = (server.ask("HEAD", path, &[], ""), get(&server, path));
        assert_eq!(head.status, whole.status);
        for name in [
            "etag",
            "content-type",
            "content-length",
            "vary",
            "cache-control",
        ] {
            assert_eq!(head.header(name), whole.header(name), "{path} {name}");
        }
        assert_eq!(head.body, "");
    }
}

#[test]
fn an_unchanged_document_is_not_sent_again() {
    let server = with_document();
    let first = tag(&get(&server, PLACE));
    for known in [first.clone(), format!("\"0\", W/{first}"), "*".to_owned()] {
        let unchanged = server.ask("GET", PLACE, &[("if-none-match", &known)], "");
        assert_eq!((unchanged.status, &*unchanged.body), (304, ""), "{known}");
        assert_eq!(tag(&unchanged), first);
    }
    let matching = server.ask("GET", PLACE, &[("if-match", &first)], "");
    assert_eq!(matching.status, 200);
    put(&server, "/documents/D/a/n", "2");
    let changed = server.ask("GET", PLACE, &[("if-none-match", &first)], "");
    assert_eq!(changed.status, 200);
    assert_ne!(tag(&changed), first);
    let failed = server.ask("GET", PLACE, &[("if-match", &first)], "");
    assert_problem(&failed, 412, "VERSION_MISMATCH");
    let absent = server.ask("GET", "/documents/D/b", &[("if-none-match", "*")], "");
    assert_problem(&absent, 404, "NOT_FOUND");
}

#[test]
fn each_representation_has_its_own_tag_and_all_match() {
    let server = with_document();
    let path = "/documents/D/a/long";
    let json = tag(&get(&server, path));
    let gzip = server.ask("GET", path, &[("accept-encoding", "gzip")], "");
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    let text = server.ask("GET", path, &[TEXT], "");
    let (gzip, text) = (tag(&gzip), tag(&text));
    assert!(json != gzip && json != text && gzip != text);
    for known in [&json, &gzip, &text] {
        let unchanged = server.ask("GET", path, &[("if-none-match", known)], "");
        assert_eq!(unchanged.status, 304, "{known}");
        let written = server.ask("DELETE", "/documents/D/a/none", &[("if-match", known)], "");
        assert_eq!(written.status, 412, "nothing is at the place");
        let matching = server.ask("GET", path, &[("if-match", known)], "");
        assert_eq!(matching.status, 200, "{known}");
    }
}

#[test]
fn a_string_is_read_as_text_in_ranges() {
    let server = with_document();
    let path = "/documents/D/a/long";
    let whole = server.ask("GET", path, &[TEXT], "");
    assert_eq!(
        whole.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.body, "\u{e4}".repeat(2_000));
    for (range, content_range, bytes) in [
        ("bytes=0-1", "bytes 0-1/4000", "\u{e4}".as_bytes()),
        ("bytes=3998-", "bytes 3998-3999/4000", "\u{e4}".as_bytes()),
        (
            "bytes=-4",
            "bytes 3996-3999/4000",
            "\u{e4}\u{e4}".as_bytes(),
        ),
    ] {
        let part = server.ask("GET", path, &[TEXT, ("range", range)], "");
        assert_eq!(
            (part.status, part.header("content-range")),
            (206, Some(content_range))
        );
        assert_eq!(part.bytes, bytes);
    }
    let past = server.ask("GET", path, &[TEXT, ("range", "bytes=4000-")], "");
    assert_problem(&past, 416, "BAD_USER_INPUT");
    assert_eq!(past.header("content-range"), Some("bytes */4000"));
    let current = tag(&whole);
    for (condition, status) in [(&*current, 206), ("\"0\"", 200)] {
        let headers = [TEXT, ("range", "bytes=0-1"), ("if-range", condition)];
        assert_eq!(
            server.ask("GET", path, &headers, "").status,
            status,
            "{condition}"
        );
    }
    let json = server.ask("GET", path, &[("range", "bytes=0-1")], "");
    assert_eq!(json.status, 200, "JSON has no ranges");
    let number = server.ask("GET", "/documents/D/a/n", &[TEXT], "");
    assert_problem(&number, 406, "BAD_USER_INPUT");
    let image = server.ask("GET", PLACE, &[("accept", "image/png")], "");
    assert_problem(&image, 406, "BAD_USER_INPUT");
}

#[test]
fn other_methods_and_collections_have_their_own_statuses() {
    let server = with_document();
    let posted = server.ask("POST", PLACE, &[], "");
    assert_problem(&posted, 405, "BAD_USER_INPUT");
    let allowed = "GET, HEAD, PUT, PATCH, DELETE, OPTIONS";
    assert_eq!(posted.header("allow"), Some(allowed));
    let options = server.ask("OPTIONS", PLACE, &[], "");
    assert_eq!(
        (options.status, options.header("allow")),
        (204, Some(allowed))
    );
    let deleted = server.ask("DELETE", "/documents/D", &[], "");
    assert_problem(&deleted, 405, "BAD_USER_INPUT");
    assert_eq!(deleted.header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    assert_problem(&get(&server, "/documents/"), 400, "BAD_USER_INPUT");
}

#[test]
fn a_response_over_the_limit_is_refused() {
    let server = Server::with(&["--response-bytes-max", "1KiB"]);
    put(
        &server,
        PLACE,
        &json!({"long": "x".repeat(2_000), "n": 1}).to_string(),
    );
    let refused = get(&server, PLACE);
    assert_problem(&refused, 413, "TOO_LARGE");
    assert_eq!(refused.json()["limitName"], "responseBytes");
    assert_eq!(get(&server, "/documents/D/a/n").body, "1");
}
