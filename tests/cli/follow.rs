//! `phyllo changes` and `phyllo get --watch`

use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::process::{Child, ChildStdout, Command};

use serde_json::{Value, json};

use super::harness::Store;

/// A store with a change log, held by a server or not.
fn logged(served: bool) -> Store {
    let mut store = Store::alone();
    store.log_changes();
    if served {
        store.serve();
    }
    store
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// A command that is still running, and its output by lines.
struct Following {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Following {
    fn start(store: &Store, arguments: &[&str]) -> Self {
        let mut child = store.command(arguments).spawn().expect("the binary runs");
        let out = child.stdout.take().expect("a pipe");
        let lines = BufReader::new(out).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        let line = self.lines.next().expect("a line");
        line.expect("UTF-8")
    }

    /// Sends a signal and waits for the end.
    fn end(mut self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("kill").success());
        self.child.wait().expect("it ends");
        let mut said = String::new();
        let mut err = self.child.stderr.take().expect("a pipe");
        err.read_to_string(&mut said).expect("UTF-8");
        assert!(!said.contains("panicked"), "{said}");
        assert!(self.lines.next().is_none(), "more lines");
    }
}

/// Creates, changes and deletes a document. Returns the lines of the changes.
fn changed(store: &Store) -> Vec<Value> {
    store.import("{\"a\":1,\"b\":[1,2]}", &["--name", "d"]);
    store.out(&[
        "update",
        "--where",
        "{\"at\": \"$.a\", \"eq\": 1}",
        "--set",
        "$.a=2",
    ]);
    store.out(&["delete", "D", "--where", "{\"at\": \"$.a\", \"eq\": 2}"]);
    let lines = store.out(&["changes"]);
    lines.lines().map(parsed).collect()
}

#[test]
fn changes_are_printed_as_json_lines() {
    for served in [false, true] {
        let store = logged(served);
        let changes = changed(&store);
        let parts = changes.iter().map(|change| {
            json!([
                change["kind"],
                change["key"],
                change["paths"],
                change["patch"]
            ])
        });
        assert_eq!(
            parts.collect::<Vec<_>>(),
            [
                json!([
                    "CREATED",
                    "d",
                    [""],
                    [{"op": "add", "path": "", "value": {"a": 1, "b": [1, 2]}}]
                ]),
                json!([
                    "UPDATED",
                    "d",
                    ["/a"],
                    [{"op": "replace", "path": "/a", "value": 2}]
                ]),
                json!(["DELETED", "d", [""], null]),
            ]
        );
        for change in &changes {
            assert_eq!(change["collection"], "D");
            assert_eq!(change["resync"], false);
            assert!(change["time"].as_u64().is_some_and(|time| time > 1 << 40));
        }
        let first = changes[0]["cursor"].as_str().expect("a cursor");
        let rest = store.out(&["changes", "--after", first]);
        let rest: Vec<Value> = rest.lines().map(parsed).collect();
        assert_eq!(rest, changes[1..]);
        let at_b = store.out(&["changes", "--id", "d", "--path", "/b", "--after", first]);
        let at_b: Vec<Value> = at_b.lines().map(parsed).collect();
        assert_eq!(at_b, changes[2..]);
        for none in [&["--collection", "other"][..], &["--id", "x"]] {
            assert_eq!(store.out(&[&["changes"], none].concat()), "");
        }
    }
}

#[test]
fn changes_without_a_log_or_with_an_unknown_cursor_fail() {
    let store = Store::without_log();
    store.import("1", &["--name", "d"]);
    let off = store.run(&["changes"]).expect(1);
    off.says("the change log of this store is off")
        .says("`phyllo serve --change-retention 24h`");
    let off = store.run(&["get", "d", "--watch"]).expect(1);
    off.says("the change log of this store is off");
    store.log_changes();
    for cursor in ["x", "5d1c9a0f3be2a771-00000000000000120000"] {
        let refused = store.run(&["changes", "--after", cursor]);
        assert!(
            refused.code != Some(0) && refused.out.is_empty(),
            "{refused:?}"
        );
        assert!(refused.err.contains("cursor"), "{}", refused.err);
    }
    store.run(&["changes", "--path", "/a"]).expect(2);
}

#[test]
fn followed_changes_are_printed_at_once() {
    for signal in ["-INT", "-TERM"] {
        let store = logged(true);
        let changes = changed(&store);
        let last = changes[2]["cursor"].as_str().expect("a cursor");
        let mut following = Following::start(&store, &["changes", "--follow", "--after", last]);
        for value in 1..=3 {
            store.import(value.to_string(), &["--name", &format!("n{value}")]);
            let line = parsed(&following.line());
            assert_eq!(line["kind"], "CREATED");
            assert_eq!(line["patch"][0]["value"], value);
        }
        following.end(signal);
    }
}

#[test]
fn watched_values_are_printed_when_they_change() {
    let store = logged(true);
    store.import("{\"a\":1,\"b\":1}", &["--name", "d"]);
    let mut watching = Following::start(&store, &["get", "d", "/a", "--watch"]);
    assert_eq!(watching.line(), "1");
    // Changes next to the value print nothing.
    store.out(&[
        "update",
        "--where",
        "{\"at\": \"$.b\", \"eq\": 1}",
        "--set",
        "$.b=2",
    ]);
    store.out(&[
        "update",
        "--where",
        "{\"at\": \"$.b\", \"eq\": 2}",
        "--set",
        "$.a=[true]",
    ]);
    assert_eq!(watching.line(), "[true]");
    store.out(&["delete", "D", "--where", "{\"at\": \"$.b\", \"eq\": 2}"]);
    assert_eq!(watching.line(), "");
    store.import("{\"a\":2}", &["--name", "d"]);
    assert_eq!(watching.line(), "2");
    watching.end("-INT");
}

#[test]
fn commands_that_follow_end_when_the_server_stops() {
    let mut store = logged(true);
    store.import("1", &["--name", "d"]);
    let mut watching = Following::start(&store, &["get", "d", "--watch"]);
    assert_eq!(watching.line(), "1");
    store.stop();
    assert!(watching.lines.next().is_none());
    assert!(!watching.child.wait().expect("it ends").success());
}

#[test]
fn a_closed_pipe_ends_the_commands_without_an_error() {
    for served in [false, true] {
        let store = logged(served);
        let text = "x".repeat(1_000);
        let lines: Vec<String> = (0..2_000)
            .map(|number| format!("{{\"doc_id\":{number},\"text\":\"{text}\"}}\n"))
            .collect();
        store.import(lines.concat(), &["--format", "lines", "--id", "/doc_id"]);
        let mut following = Following::start(&store, &["changes"]);
        following.line();
        drop(following.lines);
        assert!(following.child.wait().expect("it ends").success());
        let mut said = String::new();
        let mut err = following.child.stderr.take().expect("a pipe");
        err.read_to_string(&mut said).expect("UTF-8");
        assert_eq!(said, "");
    }
}
