//! Random hostile subscriptions, with slow readers, while writers change what they follow.
//!
//! The bounds on a second client's latency and on memory hold, each refused subscription has a code,
//! and once all subscribers are gone, no subscription is open and their memory is free.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IteratorRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

use super::bounds::{Bounds, mib};
use super::client::{body, post};
use super::generated::number;
use super::limits::Limits;
use super::server::{Server, alone};
use super::templates::{self, Template};
use super::watch::{Running, during};
use super::world::{self, LARGE, SMALL};

const SUBSCRIBERS: usize = 6;
const WRITERS: usize = 2;
/// The most subscriptions of one connection.
const OPERATIONS_MAX: usize = 8;
/// The longest time for which a client reads nothing.
const SILENCE_MAX: Duration = Duration::from_secs(3);
/// The longest time of one connection.
const CONNECTED_MAX: Duration = Duration::from_secs(8);
/// The duration in seconds if `PHYLLO_HOSTILE_SECONDS` is not set.
const SECONDS: u64 = 30;
/// The time in which the server notices that all subscribers have gone.
const NOTICED_MAX: Duration = Duration::from_secs(60);
/// The memory that may remain allocated after the subscribers have gone: caches, and what the
/// allocator keeps.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// The live queries that wait at the same time.
const WAITING: usize = 100;
/// The memory that these may take. Their responses have three times as much.
const WAITING_BYTES_MAX: usize = 100 << 20;

/// The time in which the allocator returns free memory.
const RETURNED_MAX: Duration = Duration::from_secs(10);

/// The codes that responses may have, and that refusals may have.
const CODES: [&str; 4] = ["TIMEOUT", "TOO_COMPLEX", "TOO_LARGE", "UNAVAILABLE"];

/// How often each kind of message was received: its type, and the codes in it.
pub(crate) type Received = BTreeMap<String, usize>;

#[test]
fn random_hostile_subscriptions_stay_within_all_bounds() {
    let Some(_alone) = alone() else { return };
    let seed = number("PHYLLO_HOSTILE_SEED").unwrap_or_else(rand::random);
    let seconds = number("PHYLLO_HOSTILE_SECONDS").unwrap_or(SECONDS);
    println!("PHYLLO_HOSTILE_SEED={seed}");
    let limits = Limits::LOW;
    let bounds = Bounds::new(limits);
    let server = Server::start_with(&limits, &["--change-retention", "1h"]);
    world::fill(&mut server.client(), 1);
    let templates = templates::of(&mut server.client());
    thread::sleep(Duration::from_secs(2));
    let before = server.memory_now();
    let running = Running::new(SUBSCRIBERS + WRITERS);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (received, seen) = during(&server, &bounds, &running, || {
        thread::scope(|scope| {
            let (server, running, templates) = (&server, &running, &templates[..]);
            let chance = |thread: usize| StdRng::seed_from_u64(seed.wrapping_add(thread as u64));
            let readers: Vec<_> = (0..SUBSCRIBERS)
                .map(|thread| {
                    let followed = (chance(thread), templates);
                    scope.spawn(move || follow(server, running, thread, followed, end))
                })
                .collect();
            let writers: Vec<_> = (SUBSCRIBERS..SUBSCRIBERS + WRITERS)
                .map(|thread| {
                    scope.spawn(move || write(server, running, thread, chance(thread), end))
                })
                .collect();
            for writer in writers {
                writer.join().expect("its writes are answered");
            }
            let mut received = Received::new();
            for reader in readers {
                for (kind, count) in reader.join().expect("it follows the protocol") {
                    *received.entry(kind).or_default() += count;
                }
            }
            received
        })
    });
    println!("{}\nreceived {received:#?}", seen.told());
    let mut violations = bounds.violations(&seen);
    for code in received.keys().filter_map(|kind| kind.split_once(' ')) {
        // A cursor of a template can be one of a place that a writer has replaced.
        let is_outdated = code == ("next", "BAD_USER_INPUT");
        if !CODES.contains(&code.1) && !is_outdated {
            violations.push(format!("a message of type {} has {}", code.0, code.1));
        }
    }
    assert!(received.contains_key("next"), "{received:?}");
    violations.extend(remaining(&server, before));
    violations.extend(server.stop_and_check());
    assert!(
        violations.is_empty(),
        "PHYLLO_HOSTILE_SEED={seed}: {violations:#?}"
    );
}

#[test]
fn waiting_live_queries_hold_no_large_responses() {
    let Some(_alone) = alone() else { return };
    let server = Server::start_with(&Limits::LOW, &["--change-retention", "1h"]);
    let mut client = server.client();
    world::store(&mut client, "arrays", "text", &world::array("text"));
    // Memory that any first use takes.
    let mut received = Received::new();
    let mut socket = Subscriber::open(&server);
    let mut before = 0;
    for number in 0..=WAITING {
        // Each response has three megabytes, and no two queries are the same.
        let query = format!(
            "subscription {{ document(collection: \"arrays\", id: \"text\") {{ u{number}: value }} }}"
        );
        socket.send(&json!({
            "id": number.to_string(), "type": "subscribe", "payload": {"query": query},
        }));
        let responses = number + 1;
        let begin = Instant::now();
        while received.get("next") != Some(&responses) {
            assert!(socket.receive(&mut received), "{received:?}");
            assert!(begin.elapsed() < NOTICED_MAX, "{received:?}");
        }
        if number == 0 {
            before = server.memory_now();
        }
    }
    // The allocator returns memory after a second. The server would soon miss an answer to its ping.
    let begin = Instant::now();
    while server.memory_now() > before + WAITING_BYTES_MAX {
        let more = mib(server.memory_now().saturating_sub(before));
        assert!(
            begin.elapsed() < RETURNED_MAX,
            "{WAITING} queries hold {more}"
        );
        thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until nothing is left of the subscribers. Returns what is left.
fn remaining(server: &Server, before: usize) -> Option<String> {
    let begin = Instant::now();
    loop {
        let response = server
            .client()
            .send(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let text = response.expect("it answers").text();
        let open = text.lines().filter(|line| {
            let counts = ["phyllo_subscriptions", "phyllo_websockets"];
            counts.iter().any(|name| line.starts_with(name)) && !line.ends_with(" 0")
        });
        let open: Vec<&str> = open.collect();
        let more = server.memory_now().saturating_sub(before);
        if open.is_empty() && more <= KEPT_BYTES_MAX {
            println!("afterwards {} more than before", mib(more));
            return None;
        }
        if begin.elapsed() > NOTICED_MAX {
            return Some(format!("{open:?} and {} remain", mib(more)));
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Opens connections one after the other. Returns what was received.
fn follow(
    server: &Server,
    running: &Running,
    thread: usize,
    (mut chance, templates): (StdRng, &[Template]),
    end: Instant,
) -> Received {
    let mut received = Received::new();
    while Instant::now() < end {
        let payloads: Vec<Value> = (0..chance.random_range(1..=OPERATIONS_MAX))
            .map(|_| subscription(&mut chance, templates))
            .collect();
        let queries: Vec<&str> = payloads
            .iter()
            .filter_map(|it| it["query"].as_str())
            .collect();
        running.note(thread, Some(queries.join("; ").chars().take(500).collect()));
        let mut socket = Subscriber::open(server);
        for (id, payload) in payloads.iter().enumerate() {
            socket.send(&json!({"id": id.to_string(), "type": "subscribe", "payload": payload}));
        }
        let until = end.min(Instant::now() + CONNECTED_MAX.mul_f64(chance.random()));
        let reads = chance.random_range(0..4);
        while Instant::now() < until {
            match reads {
                // It reads as fast as it can, or slowly, or after a long time, or never.
                0 => {}
                1 => thread::sleep(Duration::from_millis(200)),
                2 => thread::sleep(SILENCE_MAX.mul_f64(chance.random())),
                _ => {
                    thread::sleep(SILENCE_MAX);
                    break;
                }
            }
            if !socket.receive(&mut received) {
                break;
            }
            if chance.random_range(0..20) == 0 {
                let id = chance.random_range(0..queries.len()).to_string();
                socket.send(&json!({"id": id, "type": "complete"}));
            }
        }
        running.note(thread, None);
    }
    received
}

/// A client of a WebSocket. Dropping it closes the connection without a word.
pub(crate) struct Subscriber(WebSocket<TcpStream>);

impl Subscriber {
    pub(crate) fn open(server: &Server) -> Self {
        let url = format!("ws://{}/graphql", server.address);
        let mut request = url.into_client_request().expect("a request");
        let protocol = "graphql-transport-ws".parse().expect("a value");
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let stream = TcpStream::connect(&server.address).expect("it listens");
        stream
            .set_read_timeout(Some(NOTICED_MAX))
            .expect("a socket");
        let config = WebSocketConfig::default()
            .max_message_size(None)
            .max_frame_size(None);
        let opened = client::client_with_config(request, stream, Some(config));
        let (socket, _) = opened.expect("it is opened");
        let patience = Some(Duration::from_millis(500));
        socket
            .get_ref()
            .set_read_timeout(patience)
            .expect("a socket");
        socket
            .get_ref()
            .set_write_timeout(patience)
            .expect("a socket");
        let mut socket = Self(socket);
        socket.send(&json!({"type": "connection_init"}));
        socket
    }

    /// Sends a message, unless the server has closed the connection.
    pub(crate) fn send(&mut self, message: &Value) {
        let _closed = self.0.send(Message::text(message.to_string()));
    }

    /// Counts the next message, if it arrives soon. Returns false if the connection has ended.
    pub(crate) fn receive(&mut self, received: &mut Received) -> bool {
        let text = match self.0.read() {
            Ok(Message::Text(text)) => text,
            Ok(Message::Close(_)) => return false,
            Ok(_) => return true,
            Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => return true,
            Err(_) => return false,
        };
        let message = serde_json::from_str(&text);
        let message: Value =
            message.unwrap_or_else(|error| panic!("{error}: {}", &text[..text.len().min(500)]));
        let kind = message["type"].as_str().expect("a type");
        let payload = &message["payload"];
        let errors = payload["errors"].as_array().or(payload.as_array());
        let codes = errors.into_iter().flatten().map(|error| {
            let code = error["extensions"]["code"].as_str();
            format!("{kind} {}", code.unwrap_or("an error without a code"))
        });
        let mut kinds: Vec<String> = codes.collect();
        kinds.dedup();
        if kinds.is_empty() {
            kinds.push(kind.to_owned());
        }
        for kind in kinds {
            *received.entry(kind).or_default() += 1;
        }
        true
    }
}

/// A subscription that asks for much. Nearly all differ, so that they share no executions.
fn subscription(chance: &mut StdRng, templates: &[Template]) -> Value {
    if chance.random_range(0..4) == 0 {
        let templates = templates.iter();
        let follows = templates.filter(|template| template.query.starts_with("subscription"));
        let template = follows.choose(chance).expect("a subscription");
        return json!({"query": template.query, "variables": template.variables});
    }
    json!({"query": generated_subscription(chance)})
}

fn generated_subscription(chance: &mut StdRng) -> String {
    let unique = chance.random_range(0..1_000);
    let id = world::ARRAYS[chance.random_range(0..world::ARRAYS.len())];
    let fields = selection(chance);
    match chance.random_range(0..6) {
        0 | 1 => format!(
            "subscription {{ document(collection: \"arrays\", id: \"{id}\") {{ u{unique}: kind {fields} }} }}"
        ),
        2 => format!(
            "subscription {{ documents(collection: \"large\", first: {}) {{ \
             nodes {{ u{unique}: key {fields} }} }} }}",
            chance.random_range(1..=LARGE)
        ),
        3 => format!(
            "subscription {{ documents(collection: \"small\", first: {}, scanLimit: 100000, where: {{any: [ \
             {{at: \"$.n\", gte: {}}}, {{not: {{at: \"$..x\", eq: {unique}}}}}]}}) {{ \
             totalCount nodes {{ {fields} }} }} }}",
            chance.random_range(1..=SMALL),
            chance.random_range(0..50),
        ),
        4 => format!(
            "subscription {{ changes(collection: \"arrays\") {{ u{unique}: cursor patch paths \
             document {{ {fields} }} }} }}"
        ),
        _ => format!(
            "subscription {{ changes(collection: \"large\") {{ u{unique}: cursor patch \
             document {{ {fields} }} }} }}"
        ),
    }
}

/// Fields of a document that are large, many, or expensive.
fn selection(chance: &mut StdRng) -> String {
    let many = chance.random_range(1..=40);
    let aliases = |field: &str| {
        let fields: Vec<String> = (0..many).map(|at| format!("a{at}: {field}")).collect();
        fields.join(" ")
    };
    match chance.random_range(0..6) {
        0 => "value".to_owned(),
        1 => aliases("value"),
        2 => aliases("value(path: \"/a/7\")"),
        3 => aliases(
            "select(query: \"$..[?@.k > 3 && search(@.name, '(n|m)*1.*')]\") { path value }",
        ),
        4 => "children(first: 1000) { nodes { path kind value } }".to_owned(),
        _ => aliases("select(query: \"$..[::3]\") { path }"),
    }
}

/// Changes what is followed.
pub(crate) fn write(
    server: &Server,
    running: &Running,
    thread: usize,
    mut chance: StdRng,
    end: Instant,
) {
    let mut client = server.client();
    while Instant::now() < end {
        let value = chance.random_range(0..1_000_000);
        let large = json!("y".repeat(chance.random_range(1..1 << 20)));
        let (query, variables) = match chance.random_range(0..5) {
            0 => (
                "mutation($v: JSON) { replaceDocument(collection: \"arrays\", id: \"numbers\", \
                 path: \"/7\", document: $v) { key } }",
                json!({"v": value}),
            ),
            1 => (
                "mutation($v: JSON) { replaceDocument(collection: \"arrays\", id: \"text\", \
                 path: \"/s\", document: $v) { key } }",
                json!({"v": large}),
            ),
            2 => (
                "mutation($v: JSON) { mergeDocument(collection: \"arrays\", id: \"deep\", \
                 patch: $v) { key } }",
                json!({"v": {"more": [value, {"k": value, "name": "n1"}]}}),
            ),
            3 => (
                "mutation($v: JSON) { replaceDocument(collection: \"large\", id: \"large-3\", \
                 path: \"/a/7\", document: $v) { key } }",
                json!({"v": value}),
            ),
            _ => (
                "mutation($v: JSON) { replaceDocument(collection: \"small\", id: \"5\", \
                 path: \"/o/x\", document: $v) { key } }",
                json!({"v": value}),
            ),
        };
        running.note(thread, Some(query.to_owned()));
        let answer = client.send(&post(&body(query, &variables.to_string())));
        if let Some(answer) = answer {
            let codes = answer.codes();
            let known = codes.iter().all(|code| CODES.contains(&code.as_str()));
            assert!(known || codes == ["CONFLICT"], "{codes:?}");
        }
        running.note(thread, None);
        thread::sleep(Duration::from_millis(chance.random_range(0..100)));
    }
}
