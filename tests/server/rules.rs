//! The file of access rules: start, reload, and callers without and with a token.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::access::{WRITER, bearer, token_file};
use crate::support::{JSON, Server, command};

const OPEN: &str = "[[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"open\"\n";
const WRITE: &str = "[[allow]]\nwho = { token = \"writer\" }\n\
                     actions = [\"read\", \"write\", \"create\"]\ncollection = \"*\"\n";

fn write(directory: &Path, text: &str) -> String {
    let path = directory.join("rules.toml");
    fs::write(&path, text).expect("a file");
    path.to_str().expect("a plain path").to_owned()
}

/// The response to an operation, with this token.
fn ask(server: &Server, token: Option<&str>, query: &str) -> Value {
    let token = token.map(bearer);
    let mut headers = vec![JSON];
    headers.extend(
        token
            .as_ref()
            .map(|token| ("authorization", token.as_str())),
    );
    let body = json!({ "query": query }).to_string();
    server.ask("POST", "/graphql", &headers, body).json()
}

fn code(response: &Value) -> &str {
    response["errors"][0]["extensions"]["code"]
        .as_str()
        .unwrap_or("none")
}

fn read(collection: &str) -> String {
    format!("{{ document(id: 1, collection: {collection:?}) {{ value }} }}")
}

fn wait_for(server: &Server, collection: &str, expected: &str) {
    let begin = Instant::now();
    while code(&ask(server, None, &read(collection))) != expected {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{}",
            server.log()
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn invalid_rules_prevent_the_start_and_say_where() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing");
    let invalid = write(directory.path(), &OPEN.replace("who", "whom"));
    for (path, why) in [
        (
            missing.to_str().expect("a plain path"),
            "missing cannot be read",
        ),
        (
            &*invalid,
            "line 2, column 1 of the rules: a rule has no member \"whom\"",
        ),
    ] {
        let output = command(&directory, &["--rules", path])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{said}");
    }
}

#[test]
fn callers_may_do_what_rules_allow_with_and_without_a_token() {
    let directory = tempfile::tempdir().expect("a directory");
    let tokens = token_file(directory.path());
    let rules = write(directory.path(), &format!("{OPEN}{WRITE}"));
    let server = Server::with(&["--rules", &rules, "--token-file", &tokens]);
    for collection in ["open", "closed"] {
        let insert = format!(
            "mutation {{ insertDocument(id: 1, collection: {collection:?}, document: 5) {{ key }} }}"
        );
        assert_eq!(code(&ask(&server, None, &insert)), "FORBIDDEN");
        assert_eq!(code(&ask(&server, Some(WRITER), &insert)), "none");
    }
    let found = ask(&server, None, &read("open"));
    assert_eq!(found["data"]["document"]["value"], 5, "{found}");
    let refused = ask(&server, None, &read("closed"));
    assert_eq!(code(&refused), "FORBIDDEN", "{refused}");
    let found = ask(&server, Some(WRITER), &read("closed"));
    assert_eq!(found["data"]["document"]["value"], 5, "{found}");
    // An unknown token is not a caller without a token.
    let unknown = ask(&server, Some("unknown-0123456789abcdef"), &read("open"));
    assert_eq!(code(&unknown), "UNAUTHENTICATED");
    // Rules say nothing about metrics.
    assert_eq!(
        server.ask("GET", "/metrics", &[], String::new()).status,
        401
    );
}

#[test]
fn changed_rules_are_in_force_and_invalid_ones_are_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = write(directory.path(), OPEN);
    let server = Server::logged(&["--rules", &path]);
    wait_for(&server, "open", "none");
    wait_for(&server, "other", "FORBIDDEN");
    write(directory.path(), &OPEN.replace("\"open\"", "\"other\""));
    wait_for(&server, "other", "none");
    wait_for(&server, "open", "FORBIDDEN");
    write(directory.path(), &OPEN.replace("[\"read\"]", "[\"reed\"]"));
    server.wait_for_log("stays in effect: line 3, column 12 of the rules");
    wait_for(&server, "other", "none");
    write(directory.path(), "");
    server.signal("HUP");
    wait_for(&server, "other", "FORBIDDEN");
}
