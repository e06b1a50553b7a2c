//! HTTP/2, and clients that abuse it.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use futures::future::select_all;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::access::MUTATION;
use crate::support::{JSON, Server, insertion};

/// A timeout for what is expected to be fast, so that a failure does not hang.
const PATIENCE: Duration = Duration::from_secs(60);
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("in time")
}

/// A client with one connection.
pub(crate) struct Http2Client {
    send: SendRequest<Bytes>,
    connection: JoinHandle<Result<(), h2::Error>>,
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Http2Response {
    status: StatusCode,
    body: Vec<u8>,
}

impl Http2Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

impl Http2Client {
    pub(crate) async fn over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        let (send, connection) = in_time(h2::client::handshake(stream))
            .await
            .expect("HTTP/2");
        let connection = tokio::spawn(connection);
        Self { send, connection }
    }

    /// Connects with prior knowledge.
    pub(crate) async fn connect(server: &Server) -> Self {
        Self::over(tcp(server).await).await
    }

    /// Begins a POST with a body.
    async fn post(&mut self, accept: &str, body: impl Into<Bytes>) -> ResponseFuture {
        let request = request("POST", accept);
        self.send = in_time(self.send.clone().ready()).await.expect("room");
        let (response, mut sending) = self.send.send_request(request, false).expect("it is sent");
        let mut body = body.into();
        while !body.is_empty() {
            sending.reserve_capacity(body.len());
            let capacity = in_time(std::future::poll_fn(|context| {
                sending.poll_capacity(context)
            }));
            let capacity = capacity.await.expect("open").expect("no reset");
            let piece = body.split_to(capacity.min(body.len()));
            let last = body.is_empty();
            sending.send_data(piece, last).expect("it is sent");
        }
        response
    }

    /// Begins a query.
    async fn ask(&mut self, query: &str) -> ResponseFuture {
        self.post("*/*", json!({ "query": query }).to_string())
            .await
    }

    pub(crate) async fn query(&mut self, query: &str) -> Http2Response {
        whole(self.ask(query).await).await
    }

    /// The status of a request with this token. `None` if the server ends the connection.
    pub(crate) async fn status_with(&mut self, token: &str) -> Option<u16> {
        let request = Request::get("http://localhost/schema.graphql");
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.body(()).expect("a request");
        self.send = in_time(self.send.clone().ready()).await.ok()?;
        let (response, _) = self.send.send_request(request, true).ok()?;
        let response = in_time(response).await.ok()?;
        Some(response.status().as_u16())
    }

    async fn assert_serves(&mut self) {
        let response = self.query("{ __typename }").await;
        assert_eq!(response.json(), json!({"data": {"__typename": "Query"}}));
    }

    /// Waits until the server closes the connection.
    async fn ended(self) -> Result<(), h2::Error> {
        drop(self.send);
        in_time(self.connection).await.expect("no panic")
    }
}

async fn tcp(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(&server.address).await;
    stream.expect("the server listens")
}

fn request(method: &str, accept: &str) -> Request<()> {
    let request = Request::builder().method(method);
    let request = request.uri("http://localhost/graphql");
    let request = request.header(JSON.0, JSON.1).header("accept", accept);
    request.body(()).expect("a request")
}

async fn whole(response: ResponseFuture) -> Http2Response {
    let response = in_time(response).await.expect("a response");
    let (head, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(piece) = next(&mut body).await {
        bytes.extend_from_slice(&piece.expect("the whole body"));
    }
    Http2Response {
        status: head.status,
        body: bytes,
    }
}

/// The next piece of a body, whose window is given back.
async fn next(body: &mut RecvStream) -> Option<Result<Bytes, h2::Error>> {
    let piece = in_time(body.data()).await?;
    if let Ok(piece) = &piece {
        let _closed = body.flow_control().release_capacity(piece.len());
    }
    Some(piece)
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("it is short");
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The headers of `GET /` on `localhost` (RFC 7541).
const GET: &[u8] = b"\x82\x84\x86\x41\x09localhost";

/// Reads until the server closes the connection, and returns the reasons of the GOAWAY frames and
/// of the resets.
async fn reasons(mut stream: TcpStream) -> (Vec<u32>, Vec<u32>) {
    let mut bytes = Vec::new();
    // A reset also ends the connection.
    let _read = in_time(stream.read_to_end(&mut bytes)).await;
    let (mut away, mut resets) = (Vec::new(), Vec::new());
    let mut rest = &bytes[..];
    while rest.len() >= 9 {
        let length = usize::from(rest[0]) << 16 | usize::from(rest[1]) << 8 | usize::from(rest[2]);
        let kind = rest[3];
        let Some(payload) = rest.get(9..9 + length) else {
            break;
        };
        let code = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().expect("four"));
        match kind {
            3 => resets.push(code(0)),
            7 => away.push(code(4)),
            _ => {}
        }
        rest = &rest[9 + length..];
    }
    (away, resets)
}

#[tokio::test]
async fn requests_of_one_connection_are_answered_together() {
    let server = Server::start();
    let mut client = Http2Client::connect(&server).await;
    let inserted = client.post("*/*", insertion("1", "{\"a\":[1,2]}")).await;
    let inserted = whole(inserted).await;
    assert_eq!(inserted.json()["data"]["insertDocument"]["key"], "1");
    let mut asked = Vec::new();
    for _ in 0..100 {
        asked.push(
            client
                .ask("{ document(id: 1, path: \"/a/1\") { value } }")
                .await,
        );
    }
    for response in asked {
        let response = whole(response).await;
        assert_eq!(response.json(), json!({"data": {"document": {"value": 2}}}));
    }
    // The same port serves HTTP/1.1.
    server.assert_serves();
}

#[tokio::test]
async fn unknown_hosts_are_rejected() {
    let server = Server::start();
    let mut client = Http2Client::connect(&server).await;
    for (uri, header, expected) in [
        ("http://localhost/schema.graphql", None, 200),
        ("http://attacker.example/schema.graphql", None, 421),
        (
            "http://localhost/schema.graphql",
            Some("attacker.example"),
            421,
        ),
        (
            "http://attacker.example/schema.graphql",
            Some("localhost"),
            421,
        ),
        ("http://localhost/schema.graphql", Some("localhost"), 200),
    ] {
        let mut request = Request::get(uri);
        if let Some(host) = header {
            request = request.header("host", host);
        }
        let request = request.body(()).expect("a request");
        let sent = client.send.send_request(request, true).expect("it is sent");
        assert_eq!(whole(sent.0).await.status, expected, "{uri} {header:?}");
    }
}

#[tokio::test]
async fn streams_of_events_leave_room_for_other_requests() {
    let server = Server::with(&["--change-retention", "1h"]);
    let mut client = Http2Client::connect(&server).await;
    let query = "subscription { document(id: 1) { value } }";
    let body = json!({ "query": query }).to_string();
    let response = client.post("text/event-stream", body).await;
    let mut events = in_time(response).await.expect("a response").into_body();
    let mut seen = String::new();
    for value in 1..=20 {
        let changed = client.query(MUTATION).await.json();
        assert_eq!(changed["data"]["incrementDocument"]["value"], value);
        let event = format!("\"value\":{value}}}");
        while !seen.contains(&event) {
            let piece = next(&mut events).await.expect("more").expect("no reset");
            seen += std::str::from_utf8(&piece).expect("UTF-8");
        }
    }
    server.signal("TERM");
    while let Some(piece) = next(&mut events).await {
        seen += std::str::from_utf8(&piece.expect("no reset")).expect("UTF-8");
    }
    assert!(seen.ends_with(": the server ends the stream\n\n"), "{seen}");
    client.ended().await.expect("a graceful end");
    server.stopped();
}

#[tokio::test]
async fn streams_over_the_limit_of_a_connection_are_refused() {
    let server = Server::with(&[
        "--connection-requests-max",
        "2",
        "--idle-time-max",
        "300ms",
        "--header-time-max",
        "1s",
    ]);
    let mut raw = tcp(&server).await;
    let mut sent = [PREFACE, SETTINGS].concat();
    // Bodies that do not come.
    let post = [
        b"\x83\x04\x08/graphql\x86\x41\x09localhost".as_slice(),
        b"\x0f\x10\x10application/json",
    ];
    for stream in [1, 3, 5] {
        sent.extend(frame(1, 4, stream, &post.concat()));
    }
    for stream in [1, 3] {
        sent.extend(frame(3, 0, stream, &8_u32.to_be_bytes()));
    }
    raw.write_all(&sent).await.expect("it is sent");
    let (away, resets) = reasons(raw).await;
    assert_eq!(resets, [u32::from(Reason::REFUSED_STREAM)]);
    assert_eq!(away.last(), Some(&0), "it was idle: {away:?}");
    // A client that keeps to the limit waits.
    let mut client = Http2Client::connect(&server).await;
    for _ in 0..10 {
        client.assert_serves().await;
    }
}

#[tokio::test]
async fn requests_over_the_limit_of_the_server_are_refused() {
    let server = Server::with(&["--connections-max", "3"]);
    let (first, mut second) = (
        Http2Client::connect(&server).await,
        Http2Client::connect(&server).await,
    );
    // Bodies that do not come: three of the four are admitted, in any order.
    let mut bodies = Vec::new();
    let mut responses = Vec::new();
    for client in [&first, &first, &second, &second] {
        let post = client
            .send
            .clone()
            .send_request(request("POST", "*/*"), false);
        let (response, body) = post.expect("it is sent");
        responses.push(response);
        bodies.push(body);
    }
    let (refused, _, admitted) = in_time(select_all(responses)).await;
    let status = refused.expect("a response").status();
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let refused = second.query("{ __typename }").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    let extensions = &refused.json()["errors"][0]["extensions"];
    assert_eq!(extensions["code"], "UNAVAILABLE");
    drop((admitted, bodies));
    let admitted = async { while second.query("{ __typename }").await.status != StatusCode::OK {} };
    in_time(admitted).await;
}

#[tokio::test]
async fn long_headers_are_refused() {
    let server = Server::start();
    let mut client = Http2Client::connect(&server).await;
    let mut long = request("GET", "*/*");
    let value = "x".repeat(20 << 10).parse().expect("a value");
    long.headers_mut().insert("x-long", value);
    let sent = client.send.send_request(long, true).expect("it is sent");
    let status = whole(sent.0).await.status;
    assert_eq!(status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    client.assert_serves().await;
}

#[tokio::test]
async fn endless_header_blocks_end_the_connection() {
    let server = Server::start();
    let mut raw = tcp(&server).await;
    let mut sent = [PREFACE, SETTINGS, &frame(1, 0, 1, GET)].concat();
    let literal = [b"\0\x01x\x7f\x81\x01".as_slice(), &[b'y'; 256]].concat();
    for _ in 0..10_000 {
        sent.extend(frame(9, 0, 1, &literal));
    }
    // The server may close the connection before the end.
    let _sent = raw.write_all(&sent).await;
    let (away, _) = reasons(raw).await;
    assert!(away.iter().any(|code| *code != 0), "{away:?}");
    server.assert_serves();
}

#[tokio::test]
async fn rapid_resets_end_the_connection() {
    let server = Server::start();
    let mut raw = tcp(&server).await;
    let mut sent = [PREFACE, SETTINGS].concat();
    for stream in (1..20_000).step_by(2) {
        sent.extend(frame(1, 5, stream, GET));
        sent.extend(frame(3, 0, stream, &8_u32.to_be_bytes()));
    }
    let _sent = raw.write_all(&sent).await;
    let (away, _) = reasons(raw).await;
    let calm = u32::from(Reason::ENHANCE_YOUR_CALM);
    assert_eq!(away.last(), Some(&calm), "{away:?}");
    server.assert_serves();
}

#[tokio::test]
async fn connections_without_a_request_are_closed() {
    let server = Server::with(&["--header-time-max", "300ms", "--idle-time-max", "600ms"]);
    for begun in [
        &PREFACE[..1],
        &PREFACE[..20],
        PREFACE,
        &[PREFACE, SETTINGS].concat(),
    ] {
        let mut raw = tcp(&server).await;
        raw.write_all(begun).await.expect("it is sent");
        reasons(raw).await;
    }
    // Headers that do not end do not keep the connection open.
    let mut raw = tcp(&server).await;
    let begun = [PREFACE, SETTINGS, &frame(1, 0, 1, GET)].concat();
    raw.write_all(&begun).await.expect("it is sent");
    reasons(raw).await;
    let mut client = Http2Client::connect(&server).await;
    client.assert_serves().await;
    client.ended().await.expect("it was idle");
}

#[tokio::test]
async fn bodies_that_do_not_come_time_out() {
    let server = Server::with(&["--body-time-max", "300ms"]);
    let mut client = Http2Client::connect(&server).await;
    let sent = client.send.send_request(request("POST", "*/*"), false);
    let (response, _body) = sent.expect("it is sent");
    assert_eq!(whole(response).await.status, StatusCode::REQUEST_TIMEOUT);
    client.assert_serves().await;
}

#[tokio::test]
async fn responses_that_are_not_read_are_reset_and_others_are_served() {
    let server = Server::with(&["--send-time-max", "300ms"]);
    let text = json!("x".repeat(30 << 20)).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &text));
    let mut client = Http2Client::connect(&server).await;
    let response = client.ask("{ document(id: 1) { value } }").await;
    let mut body = in_time(response).await.expect("a response").into_body();
    let mut received = 0;
    let reason = loop {
        // The window is not given back.
        match in_time(body.data()).await.expect("a reset") {
            Ok(piece) => received += piece.len(),
            Err(error) => break error.reason(),
        }
    };
    assert_eq!(reason, Some(Reason::CANCEL));
    assert!(received < 1 << 20, "{received} bytes");
    drop(body);
    client.assert_serves().await;
    // A client that reads gets all of it.
    let whole = client.query("{ document(id: 1) { value } }").await;
    assert!(whole.body.len() > 30 << 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_responses_hold_counted_memory() {
    let limits = ["--held-bytes-max", "64MiB", "--send-time-max", "5s"];
    let server = Server::with(&limits);
    let text = json!("x".repeat(12 << 20)).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &text));
    let mut slow = Http2Client::connect(&server).await;
    let query = "{ document(id: 1) { value } }";
    let ask = || {
        server.ask(
            "POST",
            "/graphql",
            &[JSON],
            json!({ "query": query }).to_string(),
        )
    };
    let mut open = Vec::new();
    let refused = loop {
        open.push(slow.ask(query).await);
        let response = ask();
        if response.body.len() < 1_000 {
            break response;
        }
        assert!(open.len() < 10, "the memory is not counted");
    };
    assert_eq!(refused.code(), "UNAVAILABLE");
    // The unread streams are reset, and their memory is free.
    let read = async {
        while ask().body.len() < 12 << 20 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    in_time(read).await;
}
