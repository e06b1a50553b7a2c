//! Keys and names of every kind in addresses.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{assert_problem, get, put};
use crate::support::{JSON, Server};

/// Percent-encodes everything.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        write!(encoded, "%{byte:02X}").expect("a string takes all");
    }
    encoded
}

#[test]
fn keys_are_ids_in_their_text_form() {
    let server = Server::start();
    let keys = [
        "a",
        "42",
        "-5",
        "007",
        "\"42\"",
        "\"\"",
        "a/b",
        "/",
        "\0",
        ".",
        "..",
        "%2F",
        "?",
        "#",
        "\u{e4}\u{1f600}",
        "@",
        "@0123456789abcdef01234567",
        "a b",
        "+",
        "~1",
        "\\",
    ];
    for (number, key) in keys.iter().enumerate() {
        put(
            &server,
            &format!("/documents/D/{}", encoded(key)),
            &number.to_string(),
        );
    }
    for (number, key) in keys.iter().enumerate() {
        let found = get(&server, &format!("/documents/D/{}", encoded(key)));
        assert_eq!(found.body, number.to_string(), "{key:?}");
        let query = format!(
            "{{ document(id: {}) {{ value document {{ key }} }} }}",
            json!(key)
        );
        let found = server.query(&query);
        let document = &found["data"]["document"];
        assert_eq!(document["value"], number, "{key:?}: {found}");
        assert_eq!(document["document"]["key"], *key);
    }
    let all = server.query("{ collections { count } }");
    assert_eq!(all["data"]["collections"][0]["count"], keys.len());
}

#[test]
fn malformed_keys_are_refused() {
    let server = Server::start();
    for key in ["", "%22", "%22a", "%FF", "%", "%2", "%zz", "%ED%A0%80"] {
        let path = format!("/documents/D/{key}");
        assert_problem(&get(&server, &path), 400, "BAD_USER_INPUT");
    }
    assert_problem(&get(&server, "/documents//a"), 400, "BAD_USER_INPUT");
    let long = format!("/documents/D/{}", "x".repeat(20_000));
    let refused = server.ask("PUT", &long, &[JSON], "1");
    assert_problem(&refused, 413, "TOO_LARGE");
    assert!(matches!(get(&server, &long).status, 404 | 413));
}

#[test]
fn segments_after_the_key_are_names_and_indexes() {
    let server = Server::start();
    let document = json!({
        "": {"": 1}, "a/b": 2, "~": 3, "~1": 4, "0": [5, 6], "\0": 7, ".": {"..": 8},
        "m~n": 9, "%": 10, "-": 11,
    });
    put(&server, "/documents/D/k", &document.to_string());
    for (path, expected) in [
        ("//", json!(1)),
        ("/", json!({"": 1})),
        ("/a%2Fb", json!(2)),
        ("/a~1b", json!(2)),
        ("/~0", json!(3)),
        ("/~01", json!(4)),
        ("/0/1", json!(6)),
        ("/%00", json!(7)),
        ("/%2E/%2E%2E", json!(8)),
        ("/m~0n", json!(9)),
        ("/%25", json!(10)),
        ("/-", json!(11)),
    ] {
        let found = get(&server, &format!("/documents/D/k{path}"));
        assert_eq!((found.status, found.json()), (200, expected), "{path}");
    }
    for path in ["/~", "/~2", "/a~"] {
        let refused = get(&server, &format!("/documents/D/k{path}"));
        assert_eq!(refused.status, 400, "{path}: {refused:?}");
    }
}

#[test]
fn pointers_of_16_kib_are_read() {
    let server = Server::start();
    let deep: Value = (0..100).fold(json!(1), |inner, _| json!({"abcdefgh": inner}));
    put(&server, "/documents/D/k", &deep.to_string());
    let pointer = "/abcdefgh".repeat(100);
    assert_eq!(get(&server, &format!("/documents/D/k{pointer}")).body, "1");
    // 16 KiB of a pointer that no document can have, in one segment and in many.
    for pointer in [format!("/{}", "x".repeat(16 << 10)), "/x".repeat(8 << 10)] {
        let refused = get(&server, &format!("/documents/D/k{pointer}"));
        assert!(matches!(refused.status, 400 | 404 | 413), "{refused:?}");
        super::code(&refused);
    }
    server.assert_serves();
}
