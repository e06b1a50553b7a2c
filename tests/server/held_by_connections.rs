//! The memory that many connections hold together in each state in which a client can leave one, and
//! the end of streams whose callers lose their right.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::access::{READER, WRITER, bearer, token_file};
use crate::support::{JSON, Server, head, insertion};
use crate::tls::Identity;

/// Connections in each state, if the test may open so many files.
const CONNECTIONS_MAX: usize = 2_500;
/// Tests of this file, which may run at the same time.
const TESTS: usize = 10;
/// Subscriptions that follow changes. A private copy of the log for each would take 1 GB.
const FOLLOWERS: usize = 160;
const MIB: usize = 1 << 20;
/// What the limits of [`server`] hold: the memory of requests, its reserve for small ones, and the
/// cache. The rest of the bound of docs/limits.md is for up to 10,000 connections.
const HELD_BYTES: usize = (16 + 64 + 16) * MIB;
/// Memory of each connection beside what counts: its task and its buffers.
const CONNECTION_BYTES: usize = 48 << 10;

/// How many connections a test opens: as many as its share of the files that the process may open.
fn connections() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| {
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // Without more files, there are fewer connections.
        let _refused = setrlimit(Resource::Nofile, limit);
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        usize::try_from(files).unwrap_or(usize::MAX)
    });
    (LIMIT.saturating_sub(256) / TESTS).min(CONNECTIONS_MAX)
}

/// A server whose memory for requests is small, and which ends nothing during the test.
fn server(more: &[&str]) -> Server {
    let mut arguments = vec![
        "--held-bytes-max",
        "16MiB",
        "--cache-mib",
        "16",
        "--change-retention",
        "1h",
        "--send-time-max",
        "600s",
        "--ping-time-max",
        "600s",
        "--header-time-max",
        "600s",
        "--init-time-max",
        "600s",
        "--body-time-max",
        "600s",
    ];
    arguments.extend_from_slice(more);
    Server::with(&arguments)
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(&server.address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).expect("a socket");
    // A server that does not read blocks the writer for a moment at most.
    let short = Some(Duration::from_millis(50));
    stream.set_write_timeout(short).expect("a socket");
    stream
}

/// Sends as much as the server takes.
fn offer(stream: &mut TcpStream, bytes: &[u8]) {
    let _closed = stream.write_all(bytes);
}

/// Opens connections, leaves each in a state, and asserts the memory of the server.
fn assert_bounded(server: &Server, state: &str, leave: impl Fn(&mut TcpStream)) {
    assert_bounded_for(connections(), server, state, leave);
}

fn assert_bounded_for(
    connections: usize,
    server: &Server,
    state: &str,
    leave: impl Fn(&mut TcpStream),
) {
    let before = server.memory_peak();
    let open: Vec<TcpStream> = (0..connections)
        .map(|_| {
            let mut stream = connect(server);
            leave(&mut stream);
            stream
        })
        .collect();
    // The server handles what was sent.
    for _ in 0..20 {
        sleep(Duration::from_millis(50));
        server.assert_serves();
    }
    let more = server.memory_peak().saturating_sub(before);
    let bound = HELD_BYTES + connections * CONNECTION_BYTES;
    assert!(
        more < bound,
        "{state}: {connections} connections take {} KiB each",
        more / connections / 1024
    );
    drop(open);
}

fn upgrade(stream: &mut TcpStream) {
    let handshake = "GET /graphql HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n\
                     connection: upgrade\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                     sec-websocket-version: 13\r\n\
                     sec-websocket-protocol: graphql-transport-ws\r\n\r\n";
    stream.write_all(handshake.as_bytes()).expect("it is sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a response");
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{head:?}");
}

/// A text frame of a client, whose mask changes nothing.
fn frame(payload: &[u8], is_last: bool) -> Vec<u8> {
    frame_of(if is_last { 0x81 } else { 0x01 }, payload)
}

/// A frame that begins with this byte.
fn frame_of(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | 127];
    frame.extend_from_slice(&(payload.len() as u64).to_be_bytes());
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(payload);
    frame
}

const INIT: &[u8] = br#"{"type":"connection_init"}"#;

#[test]
fn unfinished_heads_are_bounded() {
    let server = server(&[]);
    let line = format!("GET /{} HTTP/1.1\r\n", "x".repeat(60_000));
    assert_bounded(&server, "heads", |stream| offer(stream, line.as_bytes()));
}

#[test]
fn unfinished_bodies_are_bounded() {
    let server = server(&[]);
    let large = head("POST", "/graphql", &[JSON], 20 << 20) + &"x".repeat(400_000);
    let small = head("POST", "/graphql", &[JSON], 70_000) + &"x".repeat(65_000);
    assert_bounded(&server, "small bodies", |stream| {
        offer(stream, small.as_bytes());
    });
    assert_bounded(&server, "large bodies", |stream| {
        offer(stream, large.as_bytes());
    });
}

#[test]
fn clients_with_a_body_are_served_when_the_unfinished_bodies_of_others_take_all_memory() {
    let server = server(&[]);
    let small = head("POST", "/graphql", &[JSON], 70_000) + &"x".repeat(65_000);
    let large = head("POST", "/graphql", &[JSON], 30 << 20) + &"x".repeat(1 << 20);
    // The first ones fill a part of the reserve for small bodies, and the last ones all the rest.
    let open = connections().max(200);
    let _holding: Vec<TcpStream> = (0..open)
        .map(|at| {
            let mut stream = connect(&server);
            let sent = if at < open - 100 { &small } else { &large };
            offer(&mut stream, sent.as_bytes());
            stream
        })
        .collect();
    sleep(Duration::from_millis(1_500));
    let body = insertion("1", &json!("x".repeat(4 << 20)).to_string());
    let begun = Instant::now();
    // Those that have waited longest leave.
    while server.ask("POST", "/graphql", &[JSON], &body).status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody leaves");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn unfinished_streams_of_http2_are_bounded() {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let server = server(&[]);
    // POST /graphql with a content type, without Huffman codes or an index (RFC 7541 §6.2.2).
    let mut block = vec![0x83, 0x86];
    for (name, value) in [
        (&b":path"[..], &b"/graphql"[..]),
        (b":authority", b"localhost"),
        (b"content-type", b"application/json"),
    ] {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).expect("it is short"));
            block.extend_from_slice(text);
        }
    }
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).expect("it is short");
        let mut frame = length.to_be_bytes()[1..].to_vec();
        frame.extend_from_slice(&[kind, flags]);
        frame.extend_from_slice(&stream.to_be_bytes());
        frame.extend_from_slice(payload);
        frame
    };
    let mut sent = PREFACE.to_vec();
    // Together as much as the window of a connection.
    for stream in 0..15 {
        sent.extend(frame(1, 4, 2 * stream + 1, &block));
        sent.extend(frame(0, 0, 2 * stream + 1, &[b'x'; 16_000]));
    }
    assert_bounded(&server, "HTTP/2 streams", |stream| offer(stream, &sent));
}

#[test]
fn unfinished_tls_handshakes_are_bounded() {
    let identity = Identity::new();
    let arguments = identity.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let tls = server(&arguments);
    // A record of a handshake whose message is longer.
    let mut record = vec![22, 3, 1, 0x40, 0, 1, 0, 0xff, 0];
    record.resize(16_000, 0);
    let before = tls.memory_peak();
    let open: Vec<TcpStream> = (0..connections())
        .map(|_| {
            let mut stream = connect(&tls);
            offer(&mut stream, &record);
            stream
        })
        .collect();
    sleep(Duration::from_secs(1));
    let more = tls.memory_peak().saturating_sub(before);
    assert!(more < connections() * CONNECTION_BYTES, "{more} bytes");
    drop(open);
}

#[test]
fn unfinished_messages_of_websockets_are_bounded() {
    let server = server(&[]);
    let message = frame(&vec![b'x'; 200_000], false);
    assert_bounded(&server, "before connection_init", |stream| {
        upgrade(stream);
        offer(stream, &message);
    });
    assert_bounded(&server, "after connection_init", |stream| {
        upgrade(stream);
        offer(stream, &frame(INIT, true));
        offer(stream, &message);
    });
}

#[test]
fn pongs_between_the_frames_of_a_message_do_not_hide_its_size() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = server(&["--token-file", &token_file(directory.path())]);
    let mut stream = connect(&server);
    upgrade(&mut stream);
    for at in 0..20 {
        let is_first = at == 0;
        offer(&mut stream, &frame_of(u8::from(is_first), &[b'x'; 1_000]));
        offer(&mut stream, &[0x8A, 0x80, 0, 0, 0, 0]);
    }
    let mut closed = Vec::new();
    let _ended = stream.read_to_end(&mut closed);
    assert_eq!(closed.first(), Some(&0x88), "a close frame");
    assert_eq!(closed.get(2..4), Some(&1009_u16.to_be_bytes()[..]));
}

/// Stores a value of 1 MB and changes that a subscriber can resume.
fn with_changes(server: &Server) -> String {
    let cursor = server.query("{ changesCursor }")["data"]["changesCursor"].clone();
    let cursor = cursor.as_str().expect("a cursor").to_owned();
    let text = json!("x".repeat(1 << 20)).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &text));
    for at in 0..20 {
        let field = |n: usize| {
            format!("a{n}: insertDocument(id: \"document-{at}-{n}\", document: 1) {{ key }} ")
        };
        let fields: Vec<String> = (0..500).map(field).collect();
        let fields = fields.concat();
        let body = json!({"query": format!("mutation {{ {fields} }}")}).to_string();
        let answer = server.ask("POST", "/graphql", &[JSON], body);
        assert_eq!(answer.status, 200);
    }
    cursor
}

#[test]
fn clients_that_do_not_read_are_bounded() {
    let server = server(&[]);
    let cursor = with_changes(&server);
    let reading = json!({"query": "{ document(id: 1) { value } }"}).to_string();
    let response = head("POST", "/graphql", &[JSON], reading.len()) + &reading;
    assert_bounded(&server, "responses", |stream| {
        offer(stream, response.as_bytes());
    });
    let following = format!(
        "subscription {{ changes(collection: \"D\", after: \"{cursor}\") {{ cursor key paths }} }}"
    );
    let body = json!({"query": following}).to_string();
    let headers = [JSON, ("accept", "text/event-stream")];
    let events = head("POST", "/graphql", &headers, body.len()) + &body;
    // Each is sent as much as the socket buffers take, so there are fewer.
    assert_bounded_for(FOLLOWERS, &server, "events", |stream| {
        offer(stream, events.as_bytes());
    });
    assert_bounded_for(FOLLOWERS / 8, &server, "WebSockets", |stream| {
        upgrade(stream);
        offer(stream, &frame(INIT, true));
        for id in 0..8 {
            let payload = json!({"query": following});
            let subscribe = json!({"id": id.to_string(), "type": "subscribe", "payload": payload});
            offer(stream, &frame(subscribe.to_string().as_bytes(), true));
        }
    });
}

/// Removes the reader from the token file.
fn remove_reader(file: &str) {
    let left = format!("writer read-write {WRITER}\n");
    fs::write(Path::new(file), left).expect("a file");
}

#[test]
fn whatever_is_sent_to_a_removed_token_ends_although_its_client_reads_slowly() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let server = Server::with(&[
        "--token-file",
        &file,
        "--send-time-max",
        "600s",
        "--ping-time-max",
        "600s",
    ]);
    let writer = bearer(WRITER);
    let text = json!("x".repeat(30 << 20)).to_string();
    let headers = [JSON, ("authorization", &*writer)];
    let inserted = server.ask("POST", "/graphql", &headers, insertion("1", &text));
    assert_eq!(inserted.status, 200, "{}", inserted.body);
    let reader = bearer(READER);
    let body = json!({"query": "{ document(id: 1) { value } }"}).to_string();
    let live = json!({"query": "subscription { document(id: 1) { value } }"}).to_string();
    let mut slow: Vec<TcpStream> = [
        ("application/json", &body),
        ("text/event-stream", &live),
        ("multipart/mixed;subscriptionSpec=1.0", &live),
    ]
    .into_iter()
    .map(|(accept, body)| {
        let mut stream = connect(&server);
        let headers = [JSON, ("authorization", &*reader), ("accept", accept)];
        let request = head("POST", "/graphql", &headers, body.len()) + body;
        offer(&mut stream, request.as_bytes());
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect("a response");
        assert_eq!(&first, b"HTTP/1.1 200");
        stream
    })
    .collect();
    let mut socket = connect(&server);
    upgrade(&mut socket);
    let init = json!({"type": "connection_init", "payload": {"token": READER}}).to_string();
    offer(&mut socket, &frame(init.as_bytes(), true));
    let payload = json!({"query": "subscription { document(id: 1) { value } }"});
    let subscribe = json!({"id": "1", "type": "subscribe", "payload": payload}).to_string();
    offer(&mut socket, &frame(subscribe.as_bytes(), true));
    slow.push(socket);
    sleep(Duration::from_millis(500));
    remove_reader(&file);
    // The clients read nothing until long after. What they get then was sent before.
    sleep(Duration::from_secs(4));
    for stream in &mut slow {
        let (mut bytes, mut buffer) = (0, vec![0; 1 << 16]);
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            bytes += read;
        }
        assert!(bytes < 30 << 20, "{bytes} bytes");
    }
}
