//! Kills the server process at random moments while clients write typed documents and types change. The
//! check of stored documents resumes, and a type that is enforced is one that all documents fit.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{JSON, Server, head};

const KILLS: usize = 12;
const CLIENTS: u64 = 3;
/// More than one portion of a check.
const DOCUMENTS: u64 = 2_000;
/// The documents that change, at the end of the first portions.
const CHANGED: std::ops::Range<u64> = 480..520;

/// The types of the member `a`. Null is no type.
const KINDS: [Option<&str>; 4] = [Some("integer"), Some("boolean"), Some("number"), None];

fn fits(kind: &str, value: &Value) -> bool {
    match kind {
        "boolean" => value.is_boolean(),
        _ => value.is_number(),
    }
}

/// Sends a request. Returns `None` if the server ended before it responded.
fn send(address: &str, query: &str) -> Option<Value> {
    let body = json!({"query": query}).to_string();
    let headers = [JSON, ("connection", "close")];
    let mut stream = TcpStream::connect(address).ok()?;
    let head = head("POST", "/graphql", &headers, body.len());
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let (_, body) = response.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}

/// Writes random values until the server ends.
fn write_documents(address: &str, stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        let id = rand::random_range(CHANGED);
        let value = [json!(id), json!(true)][rand::random_range(0..2)].clone();
        let query = if rand::random_bool(0.5) {
            format!(
                "mutation {{ replaceDocument(id: {id}, path: \"/a\", document: {value}) {{ key }} }}"
            )
        } else {
            format!("mutation {{ replaceDocument(id: {id}, document: {{a: {value}}}) {{ key }} }}")
        };
        let Some(response) = send(address, &query) else {
            return;
        };
        if let Some(errors) = response.get("errors") {
            assert_eq!(
                errors[0]["extensions"]["code"], "TYPE_MISMATCH",
                "{response}"
            );
        }
    }
}

/// Sets and drops types until the server ends.
fn change_types(address: &str, stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        let query = match KINDS[rand::random_range(0..KINDS.len())] {
            Some(kind) => format!(
                "mutation {{ setCollectionType(collection: \"D\", schema: {{properties: {{a: \
                 {{type: {kind:?}}}}}}}) {{ state }} }}"
            ),
            None => "mutation { dropCollectionType(collection: \"D\") }".to_owned(),
        };
        let Some(response) = send(address, &query) else {
            return;
        };
        assert_eq!(response.get("errors"), None, "{response}");
        std::thread::sleep(Duration::from_millis(rand::random_range(0..60)));
    }
}

/// The kind of the type and its state, once it has been checked. None if there is no type.
fn checked(server: &Server) -> Option<(String, String)> {
    let begin = Instant::now();
    loop {
        let found = server.query("{ collections { type { schema state violations { key } } } }");
        let found = &found["data"]["collections"][0]["type"];
        let state = found["state"].as_str()?;
        if state != "CHECKING" {
            let kind = found["schema"]["properties"]["a"]["type"].as_str();
            let violations = found["violations"].as_array().expect("a list");
            assert_eq!(violations.is_empty(), state == "ENFORCED", "{found}");
            return Some((kind.expect("a kind").to_owned(), state.to_owned()));
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{found}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The values of all documents.
fn values(server: &Server) -> Vec<Value> {
    let mut values = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = server.query(&format!(
            "{{ documents(first: 1000, after: {after}) {{ nodes {{ value(path: \"/a\") }} \
             pageInfo {{ hasNextPage endCursor }} }} }}"
        ));
        let page = &page["data"]["documents"];
        let nodes = page["nodes"].as_array().expect("a page");
        values.extend(nodes.iter().map(|node| node["value"].clone()));
        if page["pageInfo"]["hasNextPage"] != true {
            return values;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

#[test]
fn an_enforced_type_holds_although_the_server_is_killed() {
    let mut server = Server::start();
    for first in (0..DOCUMENTS).step_by(500) {
        let mut inserts = String::new();
        for id in first..first + 500 {
            let insert = format!("insertDocument(id: {id}, document: {{a: {id}}}) {{ key }}");
            write!(inserts, "d{id}: {insert} ").expect("a string");
        }
        let stored = server.query(&format!("mutation {{ {inserts} }}"));
        assert_eq!(stored.get("errors"), None, "{stored}");
    }
    let mut enforced = 0;
    for _ in 0..KILLS {
        let stop = AtomicBool::new(false);
        let address = server.address.clone();
        let pause = Duration::from_millis(rand::random_range(20..300));
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| write_documents(&address, &stop));
            }
            scope.spawn(|| change_types(&address, &stop));
            std::thread::sleep(pause);
            server.signal("KILL");
            stop.store(true, Relaxed);
        });
        server = Server::on(server.ended(), &[]);
        // Nothing is written meanwhile.
        if let Some((kind, state)) = checked(&server) {
            let all_fit = values(&server).iter().all(|value| fits(&kind, value));
            if state == "ENFORCED" {
                assert!(all_fit, "{kind}");
                enforced += 1;
            } else {
                // The documents may have been corrected since the check. Setting the type repeats it.
                let query = format!(
                    "mutation {{ setCollectionType(collection: \"D\", schema: {{properties: {{a: \
                     {{type: {kind:?}}}}}}}) {{ state }} }}"
                );
                assert_eq!(server.query(&query).get("errors"), None);
                let (_, state) = checked(&server).expect("a type");
                assert_eq!(all_fit, state == "ENFORCED", "{kind}");
            }
        }
        // The next round begins with documents that fit numbers.
        server.query("mutation { dropCollectionType(collection: \"D\") }");
        let mut repairs = String::new();
        for id in CHANGED {
            let repair = format!("replaceDocument(id: {id}, document: {{a: {id}}}) {{ key }}");
            write!(repairs, "d{id}: {repair} ").expect("a string");
        }
        let repaired = server.query(&format!("mutation {{ {repairs} }}"));
        assert_eq!(repaired.get("errors"), None, "{repaired}");
        let set = r#"mutation { setCollectionType(collection: "D", schema: {properties: {a: {type: "integer"}}}) { state } }"#;
        assert_eq!(server.query(set).get("errors"), None);
    }
    let ended = checked(&server).expect("a type");
    assert_eq!(ended, ("integer".to_owned(), "ENFORCED".to_owned()));
    assert_eq!(values(&server).len() as u64, DOCUMENTS);
    println!("{enforced} of {KILLS} types were enforced after a kill");
}
