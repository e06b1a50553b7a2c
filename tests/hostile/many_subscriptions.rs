//! Many subscriptions that differ, each with large variables or a large plan. They count towards
//! `--held-bytes-max` as long as they are open: those that exceed it are refused, the others continue.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bounds::Bounds;
use super::limits::Limits;
use super::server::{Server, alone};
use super::subscribed::{Received, Subscriber};
use super::watch::{Running, during};
use super::world::store;

/// Each connection sends them without reading, until it has sent all.
const CONNECTIONS: usize = 30;
const EACH: usize = 100;
/// Bytes of a string in a variable, of which the limit is 64 KiB.
const TEXT_BYTES: usize = 60_000;
/// Paths in a list.
const PATHS: usize = 900;
/// Fields of a plan.
const FIELDS: usize = 900;

/// The time for which the connections are read, one after the other.
const READ_TIME: Duration = Duration::from_secs(5);

/// The payload of a subscription, by its number.
type Payload = fn(usize) -> Value;

#[test]
fn many_subscriptions_with_large_operations_stay_within_memory() {
    let Some(_alone) = alone() else { return };
    let bounds = Bounds::new(Limits::LOW);
    let mut violations = Vec::new();
    let families: [(&str, Payload); 4] = [
        ("strings", |number| {
            let text = format!("{number}{}", "x".repeat(TEXT_BYTES));
            let query = "subscription($v: JSON!) { documents(collection: \"D\", \
                where: {at: \"$.a\", eq: $v}) { totalCount } }";
            json!({"query": query, "variables": {"v": text}})
        }),
        ("paths", |number| {
            let paths: Vec<String> = (0..PATHS).map(|at| format!("/{number}/{at}")).collect();
            let query = "subscription($v: [Path!]!) { document(collection: \"D\", id: 1) \
                { values(paths: $v) } }";
            json!({"query": query, "variables": {"v": paths}})
        }),
        ("fields of a document", |number| {
            json!({"query": format!("subscription {{ document(collection: \"D\", id: 1) {} }}",
                fields(number, "kind"))})
        }),
        (
            "fields of changes",
            |number| json!({"query": format!("subscription {{ changes {} }}", fields(number, "key"))}),
        ),
    ];
    for (name, payload) in families {
        let server = Server::start_with(&Limits::LOW, &["--change-retention", "1h"]);
        store(&mut server.client(), "D", "1", "{\"a\":1}");
        let running = Running::new(1);
        running.note(0, Some(name.to_owned()));
        let (received, seen) = during(&server, &bounds, &running, || {
            let mut received = Received::new();
            let mut open = Vec::new();
            for connection in 0..CONNECTIONS {
                let mut socket = Subscriber::open(&server);
                for at in 0..EACH {
                    let payload = payload(connection * EACH + at);
                    let id = at.to_string();
                    socket.send(&json!({"id": id, "type": "subscribe", "payload": payload}));
                }
                open.push(socket);
            }
            let end = Instant::now() + READ_TIME;
            for socket in &mut open {
                for _ in 0..EACH {
                    if Instant::now() > end || !socket.receive(&mut received) {
                        break;
                    }
                }
            }
            received
        });
        println!("{name}: {}; {received:?}", seen.told());
        let found = bounds.violations(&seen);
        violations.extend(found.into_iter().map(|found| format!("{name}: {found}")));
        violations.extend(server.stop_and_check());
    }
    assert!(violations.is_empty(), "{violations:#?}");
}

fn fields(number: usize, field: &str) -> String {
    let fields: Vec<String> = (0..FIELDS).map(|at| format!("a{at}: {field}")).collect();
    format!("{{ b{number}: {field} {} }}", fields.join(" "))
}
