//! WebSockets over TCP: the handshake, who may open one, and their limits.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::http::{HeaderName, HeaderValue, Request};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, HandshakeError, Message, WebSocket};

use crate::access::{MUTATION, QUERY, READER, WRITER, bearer, token_file};
use crate::support::{JSON, Server, head, insertion};

pub(crate) const PROTOCOL: (&str, &str) = ("sec-websocket-protocol", "graphql-transport-ws");

pub(crate) struct SocketClient(WebSocket<TcpStream>);

/// Opens a WebSocket with these headers. An error is the status of the response.
pub(crate) fn open(server: &Server, headers: &[(&str, &str)]) -> Result<SocketClient, u16> {
    let url = format!("ws://{}/graphql", server.address);
    let mut request: Request<()> = url.into_client_request().expect("a request");
    for (name, value) in headers {
        let name: HeaderName = name.parse().expect("a name");
        let value: HeaderValue = value.parse().expect("a value");
        request.headers_mut().insert(name, value);
    }
    let stream = TcpStream::connect(&server.address).expect("the server listens");
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).expect("a socket");
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(SocketClient(socket)),
        Err(HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            Err(response.status().as_u16())
        }
        Err(error) => panic!("{error}"),
    }
}

/// Opens a WebSocket that is acknowledged.
pub(crate) fn acknowledged(server: &Server) -> SocketClient {
    let mut client = open(server, &[PROTOCOL]).expect("it is opened");
    assert_eq!(
        client.initialised(&json!({})),
        json!({"type": "connection_ack"})
    );
    client
}

impl SocketClient {
    pub(crate) fn send(&mut self, message: &Value) {
        let text = Message::text(message.to_string());
        self.0.send(text).expect("it is sent");
    }

    pub(crate) fn receive(&mut self) -> Value {
        match self.0.read().expect("a message") {
            Message::Text(text) => serde_json::from_str(&text).expect("JSON"),
            other => panic!("{other:?}"),
        }
    }

    /// Sends `connection_init` and returns the response.
    pub(crate) fn initialised(&mut self, payload: &Value) -> Value {
        self.send(&json!({"type": "connection_init", "payload": payload}));
        self.receive()
    }

    pub(crate) fn subscribe(&mut self, id: &str, query: &str) {
        self.send(&json!({"id": id, "type": "subscribe", "payload": {"query": query}}));
    }

    /// The payload of the only response to an operation.
    pub(crate) fn ask(&mut self, query: &str) -> Value {
        self.request(&json!({ "query": query }))
    }

    /// The payload of the only response to a request.
    pub(crate) fn request(&mut self, payload: &Value) -> Value {
        self.send(&json!({"id": "1", "type": "subscribe", "payload": payload}));
        let next = self.receive();
        if next["type"] == json!("next") {
            let complete = json!({"id": "1", "type": "complete"});
            assert_eq!(self.receive(), complete);
        }
        next["payload"].clone()
    }

    /// Reads until the server closes the connection. Returns its code and reason.
    pub(crate) fn closed(mut self) -> (u16, String) {
        loop {
            match self.0.read().expect("a message") {
                Message::Close(frame) => {
                    let frame = frame.expect("a code");
                    return (frame.code.into(), frame.reason.to_string());
                }
                Message::Ping(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Sends as much of a message as the server reads.
    pub(crate) fn offer(&mut self, message: &Value) {
        let _sent = self.0.send(Message::text(message.to_string()));
    }

    /// Whether the server ends the connection without another message than a close frame.
    pub(crate) fn ends_refused(mut self) -> bool {
        loop {
            match self.0.read() {
                Ok(Message::Close(_)) => {}
                Ok(_) => return false,
                Err(_) => return true,
            }
        }
    }
}

/// The value of a metric without labels.
fn metric(server: &Server, name: &str) -> u64 {
    let text = server.ask("GET", "/metrics", &[], "").body;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok())
        .expect("the metric")
}

fn wait_for_metric(server: &Server, name: &str, expected: u64) {
    let begin = Instant::now();
    while metric(server, name) != expected {
        let found = metric(server, name);
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{name} is {found}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn queries_and_mutations_are_executed() {
    let server = Server::start();
    let mut client = acknowledged(&server);
    let incremented = json!({"data": {"incrementDocument": {"value": 1}}});
    assert_eq!(client.ask(MUTATION), incremented);
    let found = client.ask("{ document(id: 1) { value } }");
    assert_eq!(found, json!({"data": {"document": {"value": 1}}}));
    let invalid = client.ask("{ nothing }");
    assert_eq!(invalid[0]["extensions"]["code"], json!("BAD_USER_INPUT"));
    // Numbers in variables keep their text.
    let query = "mutation($d: JSON) { replaceDocument(id: 2, document: $d) { value } }";
    let digits = "1".repeat(100);
    let message = format!(
        r#"{{"id":"2","type":"subscribe","payload":{{"query":{},"variables":{{"d":{digits}}}}}}}"#,
        json!(query)
    );
    client.0.send(Message::text(message)).expect("it is sent");
    let next = client
        .0
        .read()
        .expect("a message")
        .into_text()
        .expect("a text");
    assert!(next.contains(&digits), "{next}");
    let metrics = server.ask("GET", "/metrics", &[], "").body;
    let sent = r#"phyllo_stream_messages_total{transport="websocket"} 3"#;
    assert!(metrics.contains(sent), "{metrics}");
}

#[test]
fn tokens_are_sent_with_the_handshake_or_with_connection_init() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::with(&["--token-file", &token_file(directory.path())]);
    let wrong = bearer("wrong-0123456789abcdef");
    let by_header = |token: &str| open(&server, &[PROTOCOL, ("authorization", token)]);
    assert_eq!(by_header(&wrong).err(), Some(401));
    let ack = json!({"type": "connection_ack"});
    let mut client = by_header(&bearer(READER)).expect("the token is known");
    assert_eq!(client.initialised(&Value::Null), ack);
    assert_eq!(client.ask(QUERY), json!({"data": {"__typename": "Query"}}));
    let refused = client.ask(MUTATION);
    assert_eq!(refused[0]["extensions"]["code"], json!("FORBIDDEN"));
    // The token of the payload takes precedence.
    let mut client = by_header(&bearer(READER)).expect("the token is known");
    let payload = json!({"Authorization": bearer(WRITER)});
    assert_eq!(client.initialised(&payload), ack);
    assert!(client.ask(MUTATION)["data"]["incrementDocument"].is_object());
    for payload in [
        json!({}),
        json!({"Authorization": wrong}),
        json!({"token": "x"}),
    ] {
        let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
        client.send(&json!({"type": "connection_init", "payload": payload}));
        assert_eq!(client.closed().0, 4403, "{payload}");
    }
    let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
    client.subscribe("1", QUERY);
    assert_eq!(client.closed().0, 4401);
    // Other routes need the token in the header, also for what looks like a handshake.
    let headers = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    for path in ["/schema.graphql", "/metrics"] {
        assert_eq!(server.ask("GET", path, &headers, "").status, 401, "{path}");
    }
    assert_eq!(server.ask("POST", "/graphql", &headers, "").status, 401);
}

#[test]
fn pages_of_other_sites_cannot_connect() {
    let server = Server::with(&["--cors-origin", "https://app.example"]);
    let own = format!("http://{}", server.address);
    for (origin, expected) in [
        ("https://app.example", None),
        (&*own, None),
        ("http://127.0.0.1:1", Some(403)),
        ("https://attacker.example", Some(403)),
        ("null", Some(403)),
    ] {
        let found = open(&server, &[PROTOCOL, ("origin", origin)]);
        assert_eq!(found.err(), expected, "{origin}");
    }
    // The host is checked too: otherwise a page whose name leads here would be of the same origin.
    let rebound = [
        PROTOCOL,
        ("origin", "http://attacker.example"),
        ("host", "attacker.example"),
    ];
    assert_eq!(open(&server, &rebound).err(), Some(421));
}

#[test]
fn connections_without_the_subprotocol_are_closed_with_4406() {
    let server = Server::start();
    for (offered, reason) in [
        (None, "must offer graphql-transport-ws"),
        (Some("soap"), "must offer graphql-transport-ws"),
        (Some("graphql-ws"), "older ones are not supported"),
    ] {
        let mut request = head(
            "GET",
            "/graphql",
            &[
                ("connection", "keep-alive, Upgrade"),
                ("upgrade", "WebSocket"),
                ("sec-websocket-version", "13"),
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ],
            0,
        );
        if let Some(offered) = offered {
            let line = format!("\r\nsec-websocket-protocol: {offered}\r\n\r\n");
            request = request.replace("\r\n\r\n", &line);
        }
        let mut connection = server.connect();
        connection.send(request);
        let response = connection.response(false);
        assert_eq!(response.status, 101);
        let accept = response.header("sec-websocket-accept");
        assert_eq!(accept, Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        assert_eq!(response.header("sec-websocket-protocol"), None);
        let close = connection.rest();
        assert_eq!(
            close[..4],
            [0x88, u8::try_from(close.len() - 2).expect("short"), 17, 54]
        );
        let text = String::from_utf8_lossy(&close[4..]);
        assert!(text.contains(reason), "{text}");
    }
    let both = ("sec-websocket-protocol", "graphql-ws, graphql-transport-ws");
    let mut client = open(&server, &[both]).expect("it is opened");
    assert_eq!(
        client.initialised(&json!({}))["type"],
        json!("connection_ack")
    );
}

#[test]
fn invalid_handshakes_are_refused() {
    let server = Server::start();
    let valid = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    for (name, value, status) in [
        ("connection", "keep-alive", 400),
        ("sec-websocket-version", "8", 426),
        ("sec-websocket-key", "", 400),
    ] {
        let headers = valid.iter().filter(|header| header.0 != name).copied();
        let mut headers: Vec<_> = headers.collect();
        if !value.is_empty() {
            headers.push((name, value));
        }
        let response = server.ask("GET", "/graphql", &headers, "");
        assert_eq!(response.status, status, "{name}");
        assert_eq!(response.code(), "BAD_USER_INPUT");
        let version = response.header("sec-websocket-version");
        assert_eq!(version, (status == 426).then_some("13"));
    }
}

#[test]
fn websockets_count_as_connections() {
    let server = Server::with(&["--connections-max", "2"]);
    let first = acknowledged(&server);
    let mut second = acknowledged(&server);
    let mut waiting = server.connect();
    let body = json!({"query": QUERY}).to_string();
    waiting.send(head("POST", "/graphql", &[JSON], body.len()) + &body);
    for _ in 0..50 {
        assert!(second.ask(QUERY)["data"].is_object());
    }
    drop(first);
    assert_eq!(waiting.response(true).status, 200);
}

#[test]
fn subscriptions_over_the_limit_are_refused_and_all_are_counted() {
    let server = Server::with(&["--change-retention", "1h", "--subscriptions-max", "2"]);
    let gauge = "phyllo_subscriptions{transport=\"websocket\"}";
    let mut client = acknowledged(&server);
    let query = "subscription { document(id: 1) { value } }";
    let nothing = json!({"data": {"document": null}});
    for id in ["a", "b"] {
        client.subscribe(id, query);
        let next = json!({"id": id, "type": "next", "payload": nothing});
        assert_eq!(client.receive(), next);
    }
    assert_eq!(metric(&server, gauge), 2);
    client.subscribe("c", query);
    let refused = client.receive();
    assert_eq!(
        (&refused["id"], &refused["type"]),
        (&json!("c"), &json!("error"))
    );
    let extensions = &refused["payload"][0]["extensions"];
    assert_eq!(extensions["code"], "UNAVAILABLE");
    assert_eq!(extensions["limitName"], "subscriptions");
    assert_eq!(extensions["limit"], 2);
    client.send(&json!({"id": "a", "type": "complete"}));
    wait_for_metric(&server, gauge, 1);
    client.subscribe("c", query);
    assert_eq!(client.receive()["type"], "next");
    assert_eq!(metric(&server, "phyllo_changes_commits_total"), 0);
    server.ask("POST", "/graphql", &[JSON], insertion("1", "5"));
    for _ in ["b", "c"] {
        assert_eq!(client.receive()["payload"]["data"]["document"]["value"], 5);
    }
    assert_eq!(metric(&server, "phyllo_changes_commits_total"), 1);
    assert_eq!(metric(&server, "phyllo_changes_lag_seconds_count"), 1);
    assert!(metric(&server, "phyllo_changes_recent_bytes") > 0);
    drop(client);
    wait_for_metric(&server, gauge, 0);
}

#[test]
fn abrupt_disconnects_leave_nothing_open() {
    let server = Server::start();
    server.ask(
        "POST",
        "/graphql",
        &[JSON],
        insertion("1", &json!("x".repeat(1 << 20)).to_string()),
    );
    for round in 0..300 {
        let Ok(mut client) = open(&server, &[PROTOCOL]) else {
            panic!("it is opened");
        };
        if round % 3 > 0 {
            client.initialised(&json!({}));
            for id in 0..round % 7 {
                client.subscribe(&id.to_string(), "{ document(id: 1) { value } }");
            }
        }
    }
    wait_for_metric(&server, "phyllo_websockets", 0);
    // The connection that asks for the metrics is open.
    wait_for_metric(&server, "phyllo_connections", 1);
}

#[test]
fn clients_that_read_nothing_are_disconnected() {
    let server = Server::with(&["--send-time-max", "500ms", "--ping-time-max", "600s"]);
    let text = json!("x".repeat(8 << 20)).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &text));
    let mut idle = acknowledged(&server);
    for id in 0..8 {
        idle.subscribe(&id.to_string(), "{ document(id: 1) { value } }");
    }
    wait_for_metric(&server, "phyllo_websockets", 0);
    server.assert_serves();
    // The responses were dropped.
    let mut received = 0;
    while let Ok(message) = idle.0.read() {
        received += message.len();
    }
    assert!(received < 64 << 20, "{received} bytes");
}

#[test]
fn large_messages_and_missing_initialisations_close_the_connection() {
    let server = Server::with(&["--message-bytes-max", "1KiB", "--init-time-max", "300ms"]);
    let mut client = acknowledged(&server);
    client.subscribe("1", &"x".repeat(100_000));
    let (code, reason) = client.closed();
    assert_eq!(code, 1009);
    assert!(reason.contains("1024 bytes"), "{reason}");
    let client = open(&server, &[PROTOCOL]).expect("it is opened");
    assert_eq!(client.closed().0, 4408);
}

#[test]
fn stopping_closes_websockets_with_a_code_after_which_clients_connect_again() {
    let server = Server::start();
    let clients = [acknowledged(&server), acknowledged(&server)];
    let begin = Instant::now();
    server.signal("TERM");
    for client in clients {
        assert_eq!(
            client.closed(),
            (1001, "the server is shutting down".to_owned())
        );
    }
    server.stopped();
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "{:?}",
        begin.elapsed()
    );
}
