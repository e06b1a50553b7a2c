//! `PUT`, `PATCH` and `DELETE`.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::scope;

use serde_json::{Value, json};

use super::{JSON_PATCH, MERGE_PATCH, assert_problem, get, put, tag};
use crate::support::{JSON, Response, Server};

const PLACE: &str = "/documents/D/a";

fn asked(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    server.ask(method, path, headers, body)
}

#[test]
fn put_says_whether_the_value_is_new() {
    let server = Server::start();
    let created = asked(&server, "PUT", PLACE, &[JSON], r#"{"b": 1.0, "a": []}"#);
    assert_eq!((created.status, &*created.body), (201, ""));
    let stored = get(&server, PLACE);
    assert_eq!(stored.body, r#"{"a":[],"b":1.0}"#);
    assert_eq!(tag(&stored), tag(&created));
    assert_eq!(asked(&server, "PUT", PLACE, &[JSON], "[1]").status, 204);
    assert_eq!(
        asked(&server, "PUT", &format!("{PLACE}/0"), &[JSON], "{}").status,
        204
    );
    let member = asked(&server, "PUT", &format!("{PLACE}/0/new"), &[JSON], "null");
    assert_eq!(member.status, 201);
    assert_eq!(
        asked(&server, "PUT", &format!("{PLACE}/-"), &[JSON], "2").status,
        201
    );
    assert_eq!(get(&server, PLACE).body, r#"[{"new":null},2]"#);
    let orphan = asked(&server, "PUT", "/documents/D/b/x", &[JSON], "1");
    assert_problem(&orphan, 404, "NOT_FOUND");
    let unfit = asked(&server, "PUT", &format!("{PLACE}/name"), &[JSON], "1");
    assert_problem(&unfit, 409, "INVALID_PATH");
}

#[test]
fn patches_are_merged_or_applied() {
    let server = Server::start();
    let created = asked(
        &server,
        "PATCH",
        PLACE,
        &[MERGE_PATCH],
        r#"{"n": {"x": 1, "y": null}}"#,
    );
    assert_eq!((created.status, &*created.body), (201, r#"{"n":{"x":1}}"#));
    let merged = asked(
        &server,
        "PATCH",
        PLACE,
        &[MERGE_PATCH],
        r#"{"n": {"x": null, "z": []}}"#,
    );
    assert_eq!((merged.status, &*merged.body), (200, r#"{"n":{"z":[]}}"#));
    assert_eq!(tag(&merged), tag(&get(&server, PLACE)));
    let patch =
        r#"[{"op": "test", "path": "/z", "value": []}, {"op": "add", "path": "/z/-", "value": 3}]"#;
    let patched = asked(
        &server,
        "PATCH",
        &format!("{PLACE}/n"),
        &[JSON_PATCH],
        patch,
    );
    assert_eq!((patched.status, &*patched.body), (200, r#"{"z":[3]}"#));
    let again = asked(
        &server,
        "PATCH",
        &format!("{PLACE}/n"),
        &[JSON_PATCH],
        patch,
    );
    assert_problem(&again, 409, "TEST_FAILED");
    assert_eq!(again.json()["operation"], 0);
    let absent = asked(&server, "PATCH", "/documents/D/b", &[JSON_PATCH], "[]");
    assert_problem(&absent, 404, "NOT_FOUND");
    let unknown = asked(&server, "PATCH", PLACE, &[JSON], "{}");
    assert_problem(&unknown, 415, "BAD_USER_INPUT");
    assert_eq!(
        unknown.header("accept-patch"),
        Some("application/merge-patch+json, application/json-patch+json")
    );
    assert_eq!(get(&server, PLACE).body, r#"{"n":{"z":[3]}}"#);
}

#[test]
fn delete_removes_what_is_there() {
    let server = Server::start();
    put(&server, PLACE, r#"{"a": [1, 2], "b": 3}"#);
    let prefer = ("prefer", "return=representation");
    let removed = asked(&server, "DELETE", &format!("{PLACE}/a/0"), &[prefer], "");
    assert_eq!((removed.status, &*removed.body), (200, "1"));
    assert_eq!(
        removed.header("preference-applied"),
        Some("return=representation")
    );
    assert_eq!(get(&server, PLACE).body, r#"{"a":[2],"b":3}"#);
    assert_eq!(asked(&server, "DELETE", PLACE, &[], "").status, 204);
    assert_problem(&asked(&server, "DELETE", PLACE, &[], ""), 404, "NOT_FOUND");
    assert_problem(&get(&server, PLACE), 404, "NOT_FOUND");
}

#[test]
fn preferences_decide_what_is_returned() {
    let server = Server::start();
    let minimal = ("prefer", "return=minimal");
    let whole = ("prefer", "return=representation");
    let put = asked(&server, "PUT", PLACE, &[JSON, whole], r#"{"a":1}"#);
    assert_eq!((put.status, &*put.body), (201, r#"{"a":1}"#));
    let patched = asked(
        &server,
        "PATCH",
        PLACE,
        &[MERGE_PATCH, minimal],
        r#"{"a":2}"#,
    );
    assert_eq!((patched.status, &*patched.body), (204, ""));
    assert_eq!(patched.header("preference-applied"), Some("return=minimal"));
    assert_eq!(tag(&patched), tag(&get(&server, PLACE)));
}

#[test]
fn conditions_are_checked_in_the_transaction() {
    let server = Server::start();
    let any = ("if-match", "*");
    let none = ("if-none-match", "*");
    assert_problem(
        &asked(&server, "PUT", PLACE, &[JSON, any], "1"),
        412,
        "VERSION_MISMATCH",
    );
    assert_eq!(
        asked(&server, "PUT", PLACE, &[JSON, none], r#"{"n": 1}"#).status,
        201
    );
    let exists = asked(&server, "PUT", PLACE, &[JSON, none], "2");
    assert_problem(&exists, 412, "ALREADY_EXISTS");
    let first = tag(&get(&server, PLACE));
    assert_eq!(
        asked(&server, "PUT", PLACE, &[JSON, any], r#"{"n": 2}"#).status,
        204
    );
    let second = tag(&get(&server, PLACE));
    for (method, media, body) in [
        ("PUT", JSON, "3"),
        ("PATCH", MERGE_PATCH, "{\"n\":3}"),
        ("PATCH", JSON_PATCH, "[]"),
        ("DELETE", JSON, ""),
    ] {
        let stale = asked(&server, method, PLACE, &[media, ("if-match", &first)], body);
        assert_problem(&stale, 412, "VERSION_MISMATCH");
        assert_eq!(
            format!(
                "{:?}",
                stale.json()["currentVersion"].as_str().expect("a version")
            ),
            second
        );
        let weak = format!("W/{second}");
        let weak = asked(&server, method, PLACE, &[media, ("if-match", &weak)], body);
        assert_problem(&weak, 412, "VERSION_MISMATCH");
        let known = asked(
            &server,
            method,
            PLACE,
            &[media, ("if-none-match", &second)],
            body,
        );
        assert_problem(&known, 412, "ALREADY_EXISTS");
    }
    assert_eq!(get(&server, PLACE).body, r#"{"n":2}"#);
    let both = format!("{first}, {second}");
    let part = format!("{PLACE}/m");
    let absent = asked(&server, "PUT", &part, &[JSON, ("if-match", &second)], "1");
    assert_problem(&absent, 412, "VERSION_MISMATCH");
    assert_eq!(asked(&server, "PUT", &part, &[JSON, none], "1").status, 201);
    assert_problem(
        &asked(&server, "PUT", &part, &[JSON, none], "2"),
        412,
        "ALREADY_EXISTS",
    );
    let old = asked(&server, "DELETE", PLACE, &[("if-match", &both)], "");
    assert_problem(&old, 412, "VERSION_MISMATCH");
    let now = format!("{first}, {}", tag(&get(&server, PLACE)));
    assert_eq!(
        asked(&server, "DELETE", PLACE, &[("if-match", &now)], "").status,
        204
    );
}

#[test]
fn of_many_creations_one_succeeds() {
    let server = Server::start();
    let created = AtomicUsize::new(0);
    scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let headers = [JSON, ("if-none-match", "*")];
                let response = server.ask("PUT", PLACE, &headers, "1");
                match response.status {
                    201 => drop(created.fetch_add(1, Relaxed)),
                    412 => {}
                    other => panic!("{other}"),
                }
            });
        }
    });
    assert_eq!(created.into_inner(), 1);
}

#[test]
fn an_operation_with_an_idempotency_key_takes_effect_once() {
    let server = Server::start();
    let key = ("idempotency-key", "\"one\"");
    let none = ("if-none-match", "*");
    let first = asked(&server, "PUT", PLACE, &[JSON, key, none], "[]");
    let again = asked(&server, "PUT", PLACE, &[JSON, key, none], "[]");
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(tag(&first), tag(&again));
    let other = asked(&server, "PUT", PLACE, &[JSON, key], "[]");
    assert_problem(&other, 400, "BAD_USER_INPUT");
    let append = r#"[{"op":"add","path":"/-","value":1}]"#;
    let key = ("idempotency-key", "two");
    for _ in 0..3 {
        let appended = asked(&server, "PATCH", PLACE, &[JSON_PATCH, key], append);
        assert_eq!((appended.status, &*appended.body), (200, "[1]"));
    }
}

#[test]
fn a_body_is_one_json_value() {
    let server = Server::start();
    put(&server, PLACE, "1");
    for body in [
        "",
        "{",
        "1 2",
        "1,\"id\":\"b\"",
        "{\"a\":1}}",
        "\u{feff}1",
        "nul",
    ] {
        let refused = asked(&server, "PUT", PLACE, &[JSON], body);
        assert_problem(&refused, 400, "BAD_USER_INPUT");
    }
    let text = asked(
        &server,
        "PUT",
        PLACE,
        &[("content-type", "text/plain")],
        "1",
    );
    assert_problem(&text, 415, "BAD_USER_INPUT");
    let coding = ("content-encoding", "br");
    let coded = asked(&server, "PUT", PLACE, &[JSON, coding], "1");
    assert_problem(&coded, 415, "BAD_USER_INPUT");
    assert_eq!(coded.header("accept-encoding"), Some("gzip"));
    assert_eq!(get(&server, PLACE).body, "1");
    assert_problem(&get(&server, "/documents/D/b"), 404, "NOT_FOUND");
}

#[test]
fn limits_are_those_of_graphql() {
    let server = Server::with(&["--body-bytes-max", "1KiB", "--body-time-max", "1s"]);
    let long = format!("\"{}\"", "x".repeat(2_000));
    let large = asked(&server, "PUT", PLACE, &[JSON], &long);
    assert_problem(&large, 413, "TOO_LARGE");
    assert_eq!(large.json()["limitName"], "bodyBytes");
    let mut slow = server.connect();
    slow.send(crate::support::head("PUT", PLACE, &[JSON], 10));
    slow.send("[1,");
    let late = slow.response(true);
    assert_problem(&late, 408, "TIMEOUT");
    let deep = "[".repeat(400) + &"]".repeat(400);
    let deep = asked(&server, "PUT", PLACE, &[JSON], &deep);
    assert_problem(&deep, 413, "TOO_LARGE");
    server.assert_serves();
}

#[test]
fn types_and_unique_indexes_hold() {
    let server = Server::start();
    let made = server.query(
        r#"mutation { setCollectionType(collection: "D", schema: {type: "object", properties: {n: {type: "integer"}}}) { __typename }
            createIndex(name: "n", on: ["$.n"], unique: true) { name } }"#,
    );
    assert_eq!(made["errors"], Value::Null, "{made}");
    put(&server, PLACE, r#"{"n":1}"#);
    let unfit = asked(&server, "PUT", PLACE, &[JSON], r#"{"n":"x"}"#);
    assert_problem(&unfit, 422, "TYPE_MISMATCH");
    assert_eq!(unfit.json()["violations"][0]["place"], "/n");
    let taken = asked(&server, "PUT", "/documents/D/b", &[JSON], r#"{"n":1}"#);
    assert_problem(&taken, 409, "UNIQUE_VIOLATION");
    assert_eq!(get(&server, PLACE).json(), json!({"n": 1}));
}
