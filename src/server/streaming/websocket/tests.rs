//! The protocol, with a client over a pipe.

use std::io::Write as _;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::closing::Closing;
use super::session::{self, SessionOptions};
use super::unfinished_message::UnfinishedMessage;
use crate::budget::Pool;
use crate::graphql::Methods;
use crate::limits::Bounds;
use crate::server::access::{Access, AccessOptions};
use crate::server::streaming::fake::FakeSource;
use crate::server::streaming::open_streams::OpenStreams;

/// So that a failure does not hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes in the pipe.
const PIPE: usize = 1 << 10;
const SHORT: Duration = Duration::from_millis(200);

struct TestClient {
    socket: WebSocketStream<DuplexStream>,
    source: FakeSource,
    streams: OpenStreams,
    served: JoinHandle<Closing>,
}

async fn connect(access: Access, bounds: Bounds) -> TestClient {
    let (here, there) = tokio::io::duplex(PIPE);
    let config = WebSocketConfig::default().max_message_size(Some(bounds.message_bytes));
    let (source, streams) = (FakeSource::default(), OpenStreams::default());
    let options = SessionOptions {
        source: source.clone(),
        caller: access.anonymous().ok(),
        access,
        bounds,
        pool: Pool::new(1 << 20),
    };
    let open = streams.open();
    let unfinished = UnfinishedMessage::new(options.pool.share());
    let served = tokio::spawn(async move {
        let server = WebSocketStream::from_raw_socket(there, Role::Server, Some(config));
        session::serve(&mut server.await, options, &unfinished, open).await
    });
    TestClient {
        socket: WebSocketStream::from_raw_socket(here, Role::Client, None).await,
        source,
        streams,
        served,
    }
}

/// A client whose connection is acknowledged.
async fn acknowledged(bounds: Bounds) -> TestClient {
    let mut client = connect(Access::default(), bounds).await;
    client.send(&json!({"type": "connection_init"})).await;
    assert_eq!(client.receive().await, json!({"type": "connection_ack"}));
    client
}

fn subscribe(id: &str, query: &str) -> Value {
    json!({"id": id, "type": "subscribe", "payload": {"query": query}})
}

fn complete(id: &str) -> Value {
    json!({"id": id, "type": "complete"})
}

impl TestClient {
    async fn send(&mut self, message: &Value) {
        let text = Message::text(message.to_string());
        self.socket.send(text).await.expect("it is sent");
    }

    async fn message(&mut self) -> Message {
        let message = timeout(PATIENCE, self.socket.next()).await;
        message
            .expect("in time")
            .expect("a message")
            .expect("a message")
    }

    async fn receive(&mut self) -> Value {
        let message = self.message().await.into_text().expect("a text");
        serde_json::from_str(&message).expect("JSON")
    }

    /// Reads until the server closes the connection. Returns its code and reason.
    async fn closed(mut self) -> (u16, String) {
        let frame = loop {
            match self.message().await {
                Message::Close(frame) => break frame.expect("a code"),
                Message::Ping(_) => {}
                other => panic!("{other:?}"),
            }
        };
        assert!(self.socket.next().await.is_none_or(|end| end.is_err()));
        let closing = self.served.await.expect("it ends");
        assert_eq!(closing.code(), u16::from(frame.code));
        assert_eq!(self.source.open.load(SeqCst), 0);
        timeout(PATIENCE, self.streams.ended())
            .await
            .expect("in time");
        (closing.code(), frame.reason.to_string())
    }

    /// Waits until this number of operations is open.
    async fn until_open(&self, operations: usize) {
        let reached = async {
            while self.source.open.load(SeqCst) != operations {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, reached).await.expect("in time");
    }
}

/// Sends messages after the acknowledgement. Returns how the server closes the connection.
async fn closed_after(messages: &[Message]) -> (u16, String) {
    let mut client = acknowledged(Bounds::DEFAULT).await;
    for message in messages {
        client
            .socket
            .send(message.clone())
            .await
            .expect("it is sent");
    }
    client.closed().await
}

#[tokio::test]
async fn operations_respond_and_complete() {
    let mut client = acknowledged(Bounds::DEFAULT).await;
    client.send(&subscribe("a", "three")).await;
    for number in 1..=3 {
        let next = json!({"id": "a", "type": "next", "payload": {"data": number}});
        assert_eq!(client.receive().await, next);
    }
    assert_eq!(client.receive().await, complete("a"));
    client.send(&subscribe("a", "no")).await;
    let error = client.receive().await;
    assert_eq!(
        (&error["id"], &error["type"]),
        (&json!("a"), &json!("error"))
    );
    assert_eq!(error["payload"][0]["message"], json!("no"));
    // The error ended the operation, so the id is free.
    client.send(&subscribe("a", "one")).await;
    assert_eq!(client.receive().await["type"], json!("next"));
    assert_eq!(client.receive().await, complete("a"));
    assert_eq!(client.source.open.load(SeqCst), 0);
    let methods = *client.source.methods.lock().expect("no panic");
    assert_eq!(methods, Some(Methods::All));
}

#[tokio::test]
async fn operations_that_the_client_completes_are_dropped() {
    let mut client = acknowledged(Bounds::DEFAULT).await;
    client.send(&subscribe("a", "silent")).await;
    client.send(&subscribe("b", "silent")).await;
    client.until_open(2).await;
    client.send(&complete("a")).await;
    client.send(&complete("unknown")).await;
    client.until_open(1).await;
    client.send(&subscribe("a", "one")).await;
    assert_eq!(client.receive().await["payload"], json!({"data": 1}));
    assert_eq!(client.receive().await, complete("a"));
    client.socket.close(None).await.expect("it is closed");
    let source = client.source.clone();
    assert_eq!(client.served.await.expect("it ends"), Closing::gone());
    assert_eq!(source.open.load(SeqCst), 0);
}

#[tokio::test]
async fn pings_are_answered_at_any_time() {
    let mut client = connect(Access::default(), Bounds::DEFAULT).await;
    client.send(&json!({"type": "ping"})).await;
    assert_eq!(client.receive().await, json!({"type": "pong"}));
    client.send(&json!({"type": "pong"})).await;
    client
        .send(&json!({"type": "connection_init", "payload": {"x": 1}}))
        .await;
    assert_eq!(client.receive().await, json!({"type": "connection_ack"}));
    client
        .send(&json!({"type": "ping", "payload": {"a": [1]}}))
        .await;
    let pong = json!({"type": "pong", "payload": {"a": [1]}});
    assert_eq!(client.receive().await, pong);
    client
        .socket
        .send(Message::Ping("x".into()))
        .await
        .expect("it is sent");
    assert_eq!(client.message().await, Message::Pong("x".into()));
}

#[tokio::test]
async fn violations_of_the_protocol_have_its_codes() {
    let text = |value: Value| Message::text(value.to_string());
    let (code, reason) = closed_after(&[Message::text("{")]).await;
    assert_eq!(code, 4400);
    assert!(reason.contains("JSON object"), "{reason}");
    let (code, reason) = closed_after(&[Message::binary("{}")]).await;
    assert_eq!(code, 4400);
    assert!(reason.contains("binary"), "{reason}");
    let silent = text(subscribe("a", "silent"));
    let (code, reason) = closed_after(&[silent.clone(), silent.clone()]).await;
    assert_eq!(
        (code, &*reason),
        (4409, "Subscriber for \"a\" already exists")
    );
    let init = text(json!({"type": "connection_init"}));
    assert_eq!(closed_after(&[silent, init]).await.0, 4429);
    let large = "x".repeat(Bounds::DEFAULT.message_bytes);
    let large = text(json!({"type": "ping", "payload": {"large": large}}));
    let (code, reason) = closed_after(&[large]).await;
    assert_eq!(code, 1009);
    assert!(reason.contains("262144 bytes"), "{reason}");
}

#[tokio::test]
async fn operations_before_the_acknowledgement_are_unauthorized() {
    let mut client = connect(Access::default(), Bounds::DEFAULT).await;
    client.send(&subscribe("a", "one")).await;
    assert_eq!(client.closed().await.0, 4401);
}

#[tokio::test]
async fn initialisation_has_a_time_limit() {
    let bounds = Bounds {
        init_time: SHORT,
        ..Bounds::DEFAULT
    };
    let client = connect(Access::default(), bounds).await;
    let (code, reason) = client.closed().await;
    assert_eq!(code, 4408);
    assert!(reason.contains("200ms"), "{reason}");
}

#[tokio::test]
async fn tokens_are_checked_at_the_start_and_for_each_operation() {
    const OLD: &str = "reader read-only aaaaaaaaaaaaaaaaaaaaaaaa";
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "{OLD}").expect("it is written");
    let access = Access::new(AccessOptions {
        token_file: Some(file.path().into()),
        ..AccessOptions::default()
    })
    .expect("a token file");
    let init = |token: Value| json!({"type": "connection_init", "payload": {"token": token}});
    for wrong in [json!("b"), json!(null)] {
        let mut client = connect(access.clone(), Bounds::DEFAULT).await;
        client.send(&init(wrong)).await;
        let (code, reason) = client.closed().await;
        assert_eq!(code, 4403);
        assert!(reason.contains("token"), "{reason}");
    }
    let token = init(json!("aaaaaaaaaaaaaaaaaaaaaaaa"));
    let mut client = connect(access.clone(), Bounds::DEFAULT).await;
    client.send(&token).await;
    assert_eq!(client.receive().await["type"], json!("connection_ack"));
    client.send(&subscribe("a", "one")).await;
    assert_eq!(client.receive().await["type"], json!("next"));
    let methods = *client.source.methods.lock().expect("no panic");
    assert_eq!(methods, Some(Methods::ReadOnly("the token is read-only")));
    assert_eq!(client.receive().await, complete("a"));
    let new = OLD.replace("aaaa", "cccc");
    std::fs::write(file.path(), new).expect("it is written");
    access.reload().await;
    client.send(&subscribe("a", "one")).await;
    assert_eq!(client.closed().await.0, 4403);
    // An open operation ends, too, when the connection is looked at next.
    let bounds = Bounds {
        ping_time: SHORT,
        ..Bounds::DEFAULT
    };
    std::fs::write(file.path(), OLD).expect("it is written");
    access.reload().await;
    let mut client = connect(access.clone(), bounds).await;
    client.send(&token).await;
    assert_eq!(client.receive().await["type"], json!("connection_ack"));
    client.send(&subscribe("a", "silent")).await;
    client.until_open(1).await;
    std::fs::write(file.path(), OLD.replace("aaaa", "dddd")).expect("it is written");
    access.reload().await;
    assert_eq!(client.closed().await.0, 4403);
}

#[tokio::test]
async fn silent_clients_are_pinged_and_then_disconnected() {
    let bounds = Bounds {
        ping_time: SHORT,
        ..Bounds::DEFAULT
    };
    let mut client = acknowledged(bounds).await;
    client.send(&subscribe("a", "silent")).await;
    // Reading answers the pings.
    for _ in 0..5 {
        assert_eq!(client.message().await, Message::Ping("".into()));
    }
    assert_eq!(client.source.open.load(SeqCst), 1);
    let source = client.source.clone();
    let ended = timeout(PATIENCE, client.served).await.expect("in time");
    assert_eq!(ended.expect("it ends"), Closing::gone());
    assert_eq!(source.open.load(SeqCst), 0);
}

#[tokio::test]
async fn connections_without_an_operation_are_closed_after_the_idle_time() {
    let bounds = Bounds {
        idle_time: SHORT,
        ..Bounds::DEFAULT
    };
    let mut client = acknowledged(bounds).await;
    client.send(&subscribe("a", "silent")).await;
    for _ in 0..4 {
        assert_eq!(client.message().await, Message::Ping("".into()));
    }
    client.send(&complete("a")).await;
    assert_eq!(client.closed().await.0, 1000);
}

#[tokio::test]
async fn operations_over_the_limit_are_refused_and_the_connection_stays() {
    let bounds = Bounds {
        connection_operations: 2,
        ..Bounds::DEFAULT
    };
    let mut client = acknowledged(bounds).await;
    for id in ["a", "b"] {
        client.send(&subscribe(id, "silent")).await;
    }
    client.send(&subscribe("c", "one")).await;
    let error = client.receive().await;
    assert_eq!(
        (&error["id"], &error["type"]),
        (&json!("c"), &json!("error"))
    );
    let extensions =
        json!({"code": "TOO_COMPLEX", "limit": 2, "limitName": "connectionOperations"});
    assert_eq!(error["payload"][0]["extensions"], extensions);
    client.send(&complete("a")).await;
    client.until_open(1).await;
    client.send(&subscribe("c", "one")).await;
    assert_eq!(client.receive().await["type"], json!("next"));
}

#[tokio::test]
async fn messages_over_the_rate_wait() {
    let bounds = Bounds {
        message_rate: 20,
        ..Bounds::DEFAULT
    };
    let mut client = acknowledged(bounds).await;
    let begin = std::time::Instant::now();
    for _ in 0..30 {
        client.send(&json!({"type": "ping"})).await;
        assert_eq!(client.receive().await, json!({"type": "pong"}));
    }
    let took = begin.elapsed();
    assert!(took > Duration::from_millis(450), "{took:?}");
}

#[tokio::test]
async fn clients_that_do_not_read_hold_back_their_operations() {
    let mut client = acknowledged(Bounds::DEFAULT).await;
    client.send(&subscribe("a", "silent")).await;
    client.send(&subscribe("b", "endless")).await;
    client.until_open(2).await;
    sleep(SHORT).await;
    assert_eq!(client.source.taken.load(SeqCst), 1, "a response has 1 MiB");
    // The server stops although a message is under way.
    client.streams.stop();
    let source = client.source.clone();
    let closing = timeout(PATIENCE, client.served).await.expect("in time");
    assert_eq!(closing.expect("it ends").code(), 1001);
    assert_eq!(source.open.load(SeqCst), 0);
}

#[tokio::test]
async fn large_responses_arrive_whole() {
    let mut client = acknowledged(Bounds::DEFAULT).await;
    client.send(&subscribe("a", "endless")).await;
    for _ in 0..3 {
        let message = client.message().await.into_text().expect("a text");
        let x = "x".repeat(1 << 20);
        assert_eq!(
            message,
            format!(r#"{{"id":"a","type":"next","payload":{x}}}"#)
        );
    }
}

#[tokio::test]
async fn stopping_closes_connections_with_1001() {
    let mut client = acknowledged(Bounds::DEFAULT).await;
    client.send(&subscribe("a", "silent")).await;
    client.until_open(1).await;
    client.streams.stop();
    assert_eq!(
        client.closed().await,
        (1001, "the server is shutting down".to_owned())
    );
}

#[tokio::test]
async fn abrupt_disconnects_leave_nothing_open() {
    let mut sources = Vec::new();
    for round in 0..300 {
        let mut client = acknowledged(Bounds::DEFAULT).await;
        for id in 0..round % 5 {
            let query = ["silent", "endless"][id % 2];
            client.send(&subscribe(&id.to_string(), query)).await;
        }
        // Once a response is under way, further messages are not read.
        if round % 5 <= 2 {
            client.until_open(round % 5).await;
        }
        let TestClient {
            socket,
            source,
            streams,
            served,
        } = client;
        drop(socket);
        sources.push((source, streams, served));
    }
    for (source, streams, served) in sources {
        let ended = timeout(PATIENCE, served).await.expect("in time");
        assert_eq!(ended.expect("it ends"), Closing::gone());
        assert_eq!(source.open.load(SeqCst), 0);
        timeout(PATIENCE, streams.ended()).await.expect("in time");
    }
}
