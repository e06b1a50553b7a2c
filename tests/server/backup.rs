//! A backup of a store while a server writes to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;

use serde_json::{Value, json};

use crate::support::{JSON, Server};

const WRITERS: usize = 4;

/// Runs a command on the store in a directory and returns its output.
fn phyllo(arguments: &[&str], store: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    let output = command.args(arguments).arg("--store").arg(store).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Writes until stopped. Each operation inserts a document and increments two counters. Counts the
/// responses.
fn write(server: &Server, writer: usize, answered: &AtomicU64, stop: &AtomicBool) {
    let query = "mutation($id: ID!, $d: JSON) { insertDocument(id: $id, document: $d) { key } \
                 a: incrementDocument(id: \"a\") { key } b: incrementDocument(id: \"b\") { key } }";
    let mut connection = server.connect();
    while !stop.load(SeqCst) {
        let number = answered.load(SeqCst);
        let document = json!({"number": number, "text": "x".repeat(500)});
        let variables = json!({"id": format!("{writer}-{number}"), "d": document});
        let body = json!({"query": query, "variables": variables}).to_string();
        let response = connection.ask("POST", "/graphql", &[JSON], body);
        assert_eq!(response.json().get("errors"), None, "{}", response.body);
        answered.fetch_add(1, SeqCst);
    }
}

/// Returns how many documents of each writer an export has, and the counters. The documents must be
/// the first ones of the writer.
fn count(export: &str) -> (BTreeMap<String, u64>, [u64; 2]) {
    let (mut writers, mut counters) = (BTreeMap::new(), [0; 2]);
    for line in export.lines() {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let (id, document) = (record["id"].as_str().expect("an id"), &record["document"]);
        match id {
            "a" => counters[0] = document.as_u64().expect("a number"),
            "b" => counters[1] = document.as_u64().expect("a number"),
            id => {
                let (writer, number) = id.split_once('-').expect("one that was written");
                assert_eq!(document["number"].to_string(), number);
                assert_eq!(document["text"], "x".repeat(500));
                *writers.entry(writer.to_owned()).or_default() += 1;
            }
        }
    }
    for (writer, count) in &writers {
        let last = format!("\"{writer}-{}\"", count - 1);
        assert!(export.contains(&last), "{writer} has no gap");
    }
    (writers, counters)
}

#[test]
fn backups_during_writes_have_all_acknowledged_writes_and_no_partial_ones() {
    let server = Server::start();
    let directory = tempfile::tempdir().expect("a directory");
    let answered: [AtomicU64; WRITERS] = Default::default();
    let stop = AtomicBool::new(false);
    let answered_now = || answered.each_ref().map(|count| count.load(SeqCst));
    let bounds: Vec<_> = thread::scope(|scope| {
        for (writer, answered) in answered.iter().enumerate() {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || write(server, writer, answered, stop));
        }
        let backups = (0..3).map(|number| {
            while answered_now()
                .iter()
                .any(|count| *count < 50 * (number + 1))
            {
                thread::yield_now();
            }
            let place = directory.path().join(number.to_string());
            let before = answered_now();
            phyllo(
                &["backup", place.to_str().expect("a plain path")],
                server.store(),
            );
            (place, before, answered_now())
        });
        let backups = backups.collect();
        stop.store(true, SeqCst);
        backups
    });
    for (place, before, after) in bounds {
        assert_ne!(before, after, "they wrote meanwhile");
        let checked = phyllo(&["check"], &place);
        assert!(checked.contains("sound"), "{checked}");
        let (writers, [a, b]) = count(&phyllo(&["export"], &place));
        assert_eq!((a, b), (writers.values().sum(), a));
        for (writer, (before, after)) in before.iter().zip(after).enumerate() {
            let found = writers[&writer.to_string()];
            // One write may have been in flight.
            assert!(
                (*before..=after + 1).contains(&found),
                "{before} {found} {after}"
            );
        }
    }
    server.assert_serves();
}

#[test]
fn backups_can_be_served_and_written_to() {
    let server = Server::start();
    server.query("mutation { insertDocument(id: 1, document: {a: [1, null]}) { key } }");
    let restored = tempfile::tempdir().expect("a directory");
    let place = restored.path().to_str().expect("a plain path");
    phyllo(&["backup", place], server.store());
    server.query("mutation { deleteDocument(id: 1) { deleted } }");
    let restored = Server::on(restored, &[]);
    let found = restored.query("{ document(id: 1) { value version } collections { count } }");
    assert_eq!(found["data"]["document"]["value"], json!({"a": [1, null]}));
    assert_eq!(found["data"]["collections"], json!([{"count": 1}]));
    let version = &found["data"]["document"]["version"];
    let change = format!(
        "mutation {{ incrementDocument(id: 1, path: \"/a/0\", ifVersion: {version}) {{ value }} }}"
    );
    let changed = restored.query(&change);
    assert_eq!(
        changed["data"]["incrementDocument"]["value"],
        json!({"a": [2, null]})
    );
}
