//! The cost of the change log and of subscriptions: inserts with the log on and off and beside
//! idle subscriptions, the memory of a subscription, one commit to many subscribers, and the time
//! from a commit to its event. The servers are processes of their own. With `PHYLLO_BENCH_CLUSTER`
//! (`fdb:FILE`), they use a FoundationDB cluster, and events come from a second server.
//!
//! With `PHYLLO_BENCH_PROGRAMS=OLD,NEW` (paths of two builds of phyllo), the same figures of servers of
//! both, by turns.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use support::load::{Connection, ask_in_order, graphql, rate};
use support::programs::{Program, paths};
use support::{compare, document, report};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

/// The program that cargo built with this benchmark.
const THIS: &str = env!("CARGO_BIN_EXE_phyllo");
const CLIENTS: usize = 32;
const TURN: Duration = Duration::from_secs(3);
const ON: &[&str] = &["--change-retention", "1h"];
const OFF: &[&str] = &["--change-retention", "0"];
/// Subscribers of one place, and the connections that they share.
const SUBSCRIBERS: usize = 10_000;
const CONNECTIONS: usize = 1_000;
const PATIENCE: Duration = Duration::from_secs(120);

fn main() {
    let clients = Runtime::new().expect("a runtime");
    let cluster = std::env::var("PHYLLO_BENCH_CLUSTER").ok();
    let store = cluster.as_deref();
    let asked = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    let wanted = |name: &str| asked.as_ref().is_none_or(|asked| asked == name);
    let programs = paths();
    if !programs.is_empty() {
        compare_programs(&clients, &programs, &wanted);
        return;
    }
    if wanted("log") {
        inserts_with_the_log(store);
    }
    if wanted("idle") {
        inserts_beside_idle_subscriptions(&clients, store);
    }
    if wanted("memory") && store.is_none() {
        memory(&clients, THIS);
    }
    if wanted("broadcast") && store.is_none() {
        broadcasts(&clients);
    }
    if wanted("latency") {
        latencies(&clients, THIS, store);
    }
}

fn start(store: Option<&str>, arguments: &[&str]) -> Program {
    Program::start_with(THIS.as_ref(), store, arguments)
}

/// Prints the ratio of each program's rates to those of the first, and the memory and latencies of each.
fn compare_programs(clients: &Runtime, programs: &[PathBuf], wanted: &impl Fn(&str) -> bool) {
    let (first, others) = programs.split_first().expect("it is not empty");
    let start = |path: &Path| Program::start_with(path, None, ON);
    for other in others {
        let versions = format!("{} against {}", other.display(), first.display());
        if wanted("log") {
            let (new, old) = (start(other), start(first));
            compare(
                &format!("inserts of 40 leaves with the change log: {versions}"),
                "none",
                || rate(new.address, &insert(), CLIENTS, TURN),
                || rate(old.address, &insert(), CLIENTS, TURN),
            );
        }
        if wanted("idle") {
            let (new, old) = (start(other), start(first));
            let open = |server: &Program| {
                subscriptions(clients, server.address, 50, SUBSCRIBERS / 50, idle_query)
            };
            let _open = (open(&new), open(&old));
            compare(
                &format!("inserts beside 10,000 idle subscriptions: {versions}"),
                "none",
                || rate(new.address, &insert(), CLIENTS, TURN),
                || rate(old.address, &insert(), CLIENTS, TURN),
            );
        }
        if wanted("broadcast") {
            let (new, old) = (start(other), start(first));
            let mut opened = [&new, &old].map(|server| subscribers(clients, server.address));
            let [ours, theirs] = &mut opened;
            compare(
                &format!("messages of one commit to 10,000 subscribers: {versions}"),
                "none",
                || SUBSCRIBERS as f64 / broadcast_once(clients, new.address, ours),
                || SUBSCRIBERS as f64 / broadcast_once(clients, old.address, theirs),
            );
        }
    }
    for program in programs {
        let path = program.to_str().expect("a path in UTF-8");
        if wanted("memory") {
            println!("{path}:");
            memory(clients, path);
        }
    }
    // By turns, as the machine is not equally fast all the time.
    for _ in 0..if wanted("latency") { 3 } else { 0 } {
        for program in programs {
            let path = program.to_str().expect("a path in UTF-8");
            println!("{path}:");
            latencies(clients, path, None);
        }
    }
}

fn insert() -> Vec<u8> {
    let text = document(40);
    graphql(
        "mutation($document: JSON) { insertDocument(collection: \"inserted\", document: $document) \
         { key } }",
        &format!("{{\"document\":{text}}}"),
    )
}

/// Each turn has a new server, because the setting belongs to the store, which may be a cluster.
fn inserts_with_the_log(store: Option<&str>) {
    let inserts = |arguments: &[&str]| {
        let server = start(store, arguments);
        rate(server.address, &insert(), CLIENTS, TURN)
    };
    compare(
        "inserts of 40 leaves with the change log, against without",
        "at least 0.85",
        || inserts(ON),
        || inserts(OFF),
    );
}

fn inserts_beside_idle_subscriptions(clients: &Runtime, store: Option<&str>) {
    let (idle, alone) = (start(store, ON), start(store, ON));
    let _open = subscriptions(clients, idle.address, 50, SUBSCRIBERS / 50, idle_query);
    compare(
        "inserts of 40 leaves beside 10,000 idle subscriptions, against without any",
        "at least 0.95",
        || rate(idle.address, &insert(), CLIENTS, TURN),
        || rate(alone.address, &insert(), CLIENTS, TURN),
    );
}

/// A subscription to a place of its own, which nothing changes.
fn idle_query(number: usize) -> Value {
    json!({
        "query": "subscription($id: ID!) { document(id: $id, collection: \"idle\", path: \"/a\") { value } }",
        "variables": {"id": number.to_string()},
    })
}

fn memory(clients: &Runtime, program: &str) {
    for (what, connections, each, goal) in [
        ("an idle subscription with its connection", 2_000, 1, 24),
        ("an idle subscription on a shared connection", 40, 250, 3),
    ] {
        let server = Program::start_with(program.as_ref(), None, ON);
        // Memory that any first use takes.
        drop(subscriptions(clients, server.address, 20, 1, idle_query));
        std::thread::sleep(Duration::from_secs(1));
        let before = server.resident_bytes();
        let query = |number: usize| idle_query(number + 100);
        let open = subscriptions(clients, server.address, connections, each, query);
        std::thread::sleep(Duration::from_secs(1));
        let more = server.resident_bytes().saturating_sub(before);
        let each = more as f64 / (connections * each) as f64 / 1024.0;
        println!("memory of {what}: {each:.1} KiB (goal at most {goal})");
        drop(open);
    }
}

/// Subscriptions, which end when this is dropped. Their clients answer pings.
struct Subscriptions {
    tasks: Vec<tokio::task::JoinHandle<()>>,
    /// Gets the time of each response.
    responses: mpsc::UnboundedReceiver<Instant>,
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Subscriptions {
    /// Waits for so many responses, and returns when the last one came.
    async fn responses(&mut self, count: usize) -> Instant {
        let mut last = Instant::now();
        for _ in 0..count {
            let response = timeout(PATIENCE, self.responses.recv()).await;
            last = response.expect("in time").expect("they are open");
        }
        last
    }
}

/// Opens `each` subscriptions on each connection, and waits for the first response of each.
fn subscriptions(
    clients: &Runtime,
    address: SocketAddr,
    connections: usize,
    each: usize,
    payload: impl Fn(usize) -> Value,
) -> Subscriptions {
    let (send, responses) = mpsc::unbounded_channel();
    clients.block_on(async {
        let mut tasks = Vec::new();
        for connection in 0..connections {
            let mut socket = connect(address).await;
            for at in 0..each {
                let payload = payload(connection * each + at);
                let subscribe = json!({
                    "id": at.to_string(), "type": "subscribe", "payload": payload,
                });
                let sent = socket.feed(Message::text(subscribe.to_string())).await;
                sent.expect("it is sent");
            }
            socket.flush().await.expect("it is sent");
            tasks.push(tokio::spawn(receive(socket, send.clone())));
        }
        let mut open = Subscriptions { tasks, responses };
        open.responses(connections * each).await;
        open
    })
}

async fn connect(address: SocketAddr) -> WebSocketStream<TcpStream> {
    let request = format!("ws://{address}/graphql").into_client_request();
    let mut request = request.expect("a URL");
    let protocol = "graphql-transport-ws".parse().expect("a value");
    request
        .headers_mut()
        .insert("sec-websocket-protocol", protocol);
    let stream = TcpStream::connect(address).await.expect("it listens");
    let (mut socket, _) = client_async(request, stream).await.expect("a handshake");
    let init = Message::text("{\"type\":\"connection_init\"}");
    socket.send(init).await.expect("it is sent");
    let ack = socket.next().await.expect("an answer").expect("a message");
    assert!(ack.to_string().contains("connection_ack"), "{ack}");
    socket
}

/// Reports the time of each message with data.
async fn receive(mut socket: WebSocketStream<TcpStream>, send: mpsc::UnboundedSender<Instant>) {
    while let Some(Ok(message)) = socket.next().await {
        if let Message::Text(text) = message {
            assert!(text.contains("\"data\":"), "{text}");
            if send.send(Instant::now()).is_err() {
                return;
            }
        }
    }
}

fn increment() -> Vec<u8> {
    graphql(
        "mutation { incrementDocument(id: \"counter\") { value } }",
        "{}",
    )
}

/// Opens all subscriptions to one place.
fn subscribers(clients: &Runtime, address: SocketAddr) -> Subscriptions {
    ask_in_order(address, &[vec![increment()]]);
    let query = |_| json!({"query": "subscription { document(id: \"counter\") { value } }"});
    let each = SUBSCRIBERS / CONNECTIONS;
    subscriptions(clients, address, CONNECTIONS, each, query)
}

/// The seconds from one commit to the message of the last subscriber.
fn broadcast_once(clients: &Runtime, address: SocketAddr, open: &mut Subscriptions) -> f64 {
    let begun = Instant::now();
    let asking = std::thread::spawn(move || ask_in_order(address, &[vec![increment()]]));
    let last = clients.block_on(open.responses(SUBSCRIBERS));
    asking.join().expect("it was answered");
    last.duration_since(begun).as_secs_f64()
}

/// One commit to all subscribers of one place, and the same messages from a server that does
/// nothing else.
fn broadcasts(clients: &Runtime) {
    let server = start(None, ON);
    let each = SUBSCRIBERS / CONNECTIONS;
    let mut open = subscribers(clients, server.address);
    let (plain, publish) = plain_server();
    let mut plain_open = clients.block_on(async {
        let (send, responses) = mpsc::unbounded_channel();
        let mut tasks = Vec::new();
        for _ in 0..CONNECTIONS {
            let stream = TcpStream::connect(plain).await.expect("it listens");
            let url = format!("ws://{plain}/");
            let (socket, _) = client_async(url, stream).await.expect("a handshake");
            tasks.push(tokio::spawn(receive(socket, send.clone())));
        }
        Subscriptions { tasks, responses }
    });
    let mut taken = Vec::new();
    compare(
        "messages of one commit to 10,000 subscribers, against a plain broadcast",
        "at least 0.50",
        || {
            let seconds = broadcast_once(clients, server.address, &mut open);
            taken.push(seconds * 1e3);
            SUBSCRIBERS as f64 / seconds
        },
        || {
            let begun = Instant::now();
            for at in 0..each {
                let text = format!(
                    "{{\"id\":\"{at}\",\"type\":\"next\",\"payload\":{{\"data\":{{\"document\":{{\
                     \"value\":5}}}}}}}}"
                );
                publish.send(Message::text(text)).expect("it has receivers");
            }
            let last = clients.block_on(plain_open.responses(SUBSCRIBERS));
            SUBSCRIBERS as f64 / last.duration_since(begun).as_secs_f64()
        },
    );
    report("  until the last of them has it, ms", taken, "none", "");
}

/// A server that sends each published message to all its connections, on a runtime of its own.
fn plain_server() -> (SocketAddr, broadcast::Sender<Message>) {
    let (publish, _) = broadcast::channel::<Message>(1_000);
    let (address, sender) = (std::sync::mpsc::channel(), publish.clone());
    let (tell, told) = address;
    std::thread::spawn(move || {
        Runtime::new().expect("a runtime").block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            tell.send(address).expect("it is awaited");
            while let Ok((stream, _)) = listener.accept().await {
                let mut messages = sender.subscribe();
                stream.set_nodelay(true).expect("a socket");
                tokio::spawn(async move {
                    let mut socket = accept_async(stream).await.expect("a handshake");
                    while let Ok(message) = messages.recv().await {
                        if socket.send(message).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
    });
    (told.recv().expect("it starts"), publish)
}

/// The times from a request that changes a leaf to its response, and to the event of a subscriber.
fn latencies(clients: &Runtime, program: &str, store: Option<&str>) {
    const CHANGES: usize = 1_000;
    let start = |store: Option<&str>| Program::start_with(program.as_ref(), store, ON);
    let writer = start(store);
    // On a cluster, the subscriber is at another server.
    let other = store.map(|store| start(Some(store)));
    let reader = other.as_ref().unwrap_or(&writer).address;
    ask_in_order(writer.address, &[vec![increment()]]);
    for (what, query) in [
        (
            "document",
            "subscription { document(id: \"counter\") { value } }",
        ),
        (
            "changes",
            "subscription { changes(id: \"counter\") { cursor patch } }",
        ),
    ] {
        // `changes` has no first response.
        let first = usize::from(what == "document");
        let mut open = clients.block_on(async {
            let (send, responses) = mpsc::unbounded_channel();
            let mut socket = connect(reader).await;
            let subscribe = json!({
                "id": "1", "type": "subscribe", "payload": { "query": query },
            });
            let sent = socket.send(Message::text(subscribe.to_string())).await;
            sent.expect("it is sent");
            let tasks = vec![tokio::spawn(receive(socket, send))];
            Subscriptions { tasks, responses }
        });
        clients.block_on(open.responses(first));
        std::thread::sleep(Duration::from_secs(1));
        let (mut to_response, mut to_event) = (Vec::new(), Vec::new());
        let request: Arc<[u8]> = increment().into();
        let mut connection = clients.block_on(Connection::open(writer.address));
        for _ in 0..CHANGES {
            clients.block_on(async {
                let begun = Instant::now();
                let ask = async {
                    connection.ask(&request).await;
                    begun.elapsed().as_secs_f64() * 1e3
                };
                let (responded, event) = tokio::join!(ask, open.responses(1));
                to_response.push(responded);
                to_event.push(event.duration_since(begun).as_secs_f64() * 1e3);
            });
        }
        to_response.sort_by(f64::total_cmp);
        to_event.sort_by(f64::total_cmp);
        let at = |sorted: &[f64], percent: usize| sorted[sorted.len() * percent / 100];
        println!(
            "from a request to its event in `{what}`: p50 {:.2} ms, p99 {:.2} ms; to its response: \
             p50 {:.2} ms, p99 {:.2} ms",
            at(&to_event, 50),
            at(&to_event, 99),
            at(&to_response, 50),
            at(&to_response, 99),
        );
    }
}
