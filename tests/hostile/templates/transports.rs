//! How operations are sent.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::Request;
use h2::{RecvStream, SendStream};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::super::client::{body, get, post};
use super::super::server::Server;
use super::super::subscribed::Subscriber;
use super::Template;

/// A way in which a client sends an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Post,
    Get,
    WebSocket,
    /// Server-sent events.
    Events,
    Multipart,
    /// With prior knowledge. A subscription is sent as events.
    Http2,
}

/// The longest URL that is sent.
const URL_BYTES_MAX: usize = 60 << 10;
/// For how long a subscription is read.
const FOLLOWED: Duration = Duration::from_millis(1_500);
/// The longest time of an operation.
const PATIENCE: Duration = Duration::from_secs(60);

impl Transport {
    pub(super) const ALL: [Self; 6] = [
        Self::Post,
        Self::Get,
        Self::WebSocket,
        Self::Events,
        Self::Multipart,
        Self::Http2,
    ];

    /// Whether it can transport an operation.
    pub(super) fn takes(self, template: &Template) -> bool {
        let follows = template.query.starts_with("subscription");
        match self {
            Self::Post => !follows,
            Self::Get => {
                let reads = !follows && !template.query.starts_with("mutation");
                let no_variables = template.variables == json!({});
                reads && no_variables && get(&template.query).len() <= URL_BYTES_MAX
            }
            Self::Multipart => follows,
            Self::WebSocket | Self::Events | Self::Http2 => true,
        }
    }

    /// Sends an operation and reads its responses. A subscription gets changes meanwhile.
    pub(super) fn send(self, server: &Server, template: &Template) {
        let follows = template.query.starts_with("subscription");
        let body = body(&template.query, &template.variables.to_string());
        match self {
            Self::Post => exchange(server, &post(&body)),
            Self::Get => exchange(server, &get(&template.query)),
            Self::WebSocket => by_websocket(server, template, follows),
            Self::Http2 => by_http2(server, body, follows),
            Self::Events if follows => follow(server, &streamed(&body, "text/event-stream")),
            Self::Events => exchange(server, &streamed(&body, "text/event-stream")),
            Self::Multipart => {
                follow(
                    server,
                    &streamed(&body, "multipart/mixed;subscriptionSpec=1.0"),
                );
            }
        }
    }
}

/// A request whose response is a stream.
fn streamed(body: &str, accepted: &str) -> Vec<u8> {
    let head = format!("POST /graphql HTTP/1.1\r\naccept: {accepted}\r\n");
    let post = post(body);
    let rest = post.strip_prefix(b"POST /graphql HTTP/1.1\r\n".as_slice());
    [head.as_bytes(), rest.expect("a POST")].concat()
}

fn exchange(server: &Server, request: &[u8]) {
    server.client().send(request).expect("it answers");
}

/// Reads a stream for some time while what it follows changes.
fn follow(server: &Server, request: &[u8]) {
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    let soon = Some(Duration::from_millis(50));
    stream.set_read_timeout(soon).expect("a socket");
    stream.write_all(request).expect("it reads");
    let mut read = || {
        let begin = Instant::now();
        let mut taken = vec![0; 1 << 20];
        while begin.elapsed() < FOLLOWED {
            if matches!(stream.read(&mut taken), Ok(0)) {
                break;
            }
        }
    };
    read();
    change(server);
    read();
}

/// Sends a POST and reads the response, or its beginning if it is a stream.
fn by_http2(server: &Server, body: String, follows: bool) {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let stream = TcpStream::connect(&server.address).expect("it listens");
        stream.set_nonblocking(true).expect("a socket");
        let stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
        let handshake = h2::client::handshake(stream).await;
        let (send, connection) = handshake.expect("HTTP/2");
        let connection = tokio::spawn(connection);
        let accept = if follows { "text/event-stream" } else { "*/*" };
        let request = Request::post("http://localhost/graphql")
            .header("content-type", "application/json")
            .header("accept", accept);
        let request = request.body(()).expect("a request");
        let mut send = send.ready().await.expect("room");
        let (response, sending) = send.send_request(request, false).expect("it is open");
        send_data(sending, body.into()).await;
        let response = timeout(PATIENCE, response).await.expect("it answers");
        let mut data = response.expect("it answers").into_body();
        if follows {
            read_data(&mut data, FOLLOWED).await;
            change(server);
            read_data(&mut data, FOLLOWED).await;
        } else {
            assert!(read_data(&mut data, PATIENCE).await, "it ends");
        }
        connection.abort();
    });
}

async fn send_data(mut sending: SendStream<Bytes>, mut body: Bytes) {
    while !body.is_empty() {
        sending.reserve_capacity(body.len());
        let capacity = poll_fn(|context| sending.poll_capacity(context)).await;
        // A server that has answered may not read the rest.
        let Some(Ok(capacity)) = capacity else { return };
        let piece = body.split_to(capacity.min(body.len()));
        let is_last = body.is_empty();
        sending.send_data(piece, is_last).expect("it is open");
    }
}

/// Reads a body for some time. Returns whether it ended.
async fn read_data(data: &mut RecvStream, time: Duration) -> bool {
    let read = async {
        while let Some(Ok(piece)) = data.data().await {
            let _closed = data.flow_control().release_capacity(piece.len());
        }
    };
    timeout(time, read).await.is_ok()
}

fn by_websocket(server: &Server, template: &Template, follows: bool) {
    let mut socket = Subscriber::open(server);
    let payload = json!({"query": template.query, "variables": template.variables});
    socket.send(&json!({"id": "1", "type": "subscribe", "payload": payload}));
    let mut received = BTreeMap::new();
    let begin = Instant::now();
    if follows {
        while begin.elapsed() < FOLLOWED {
            socket.receive(&mut received);
        }
        change(server);
        while begin.elapsed() < 2 * FOLLOWED {
            socket.receive(&mut received);
        }
        return;
    }
    let is_done = |received: &BTreeMap<String, usize>| {
        let mut kinds = received.keys();
        kinds.any(|kind| kind.starts_with("complete") || kind.starts_with("error"))
    };
    while !is_done(&received) {
        assert!(begin.elapsed() < PATIENCE, "{}", template.name);
        assert!(socket.receive(&mut received), "{}", template.name);
    }
}

/// Changes what subscriptions follow: many documents in one commit, and a place of a large one.
fn change(server: &Server) {
    let mut client = server.client();
    let query = "mutation {
        updateDocuments(collection: \"small\", where: {}, everything: true,
            increment: [{at: \"$.o.x\"}]) { changed }
        incrementDocument(collection: \"arrays\", id: \"numbers\", path: \"/7\") { kind } }";
    client.ask(query, &json!({}));
}
