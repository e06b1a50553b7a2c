//! Bytes on a connection to the server with an empty database: arbitrary bytes, or a well-formed
//! request with an arbitrary body, query, variables or compressed body.

#[path = "../../sound/mod.rs"]
mod sound;

use std::cell::Cell;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use phyllo::server::{ServeOptions, router, serve_connections};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::world::World;

/// After so many inputs the store is checked, and after the first one.
const INPUTS_PER_CHECK: u32 = 100;

/// The first byte selects the meaning of the others.
pub(super) const SEEDS: &[&[u8]] = &[
    b"rGET /graphql?query={__typename} HTTP/1.1\r\nhost: localhost\r\n\r\n",
    b"rPOST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 25\r\n\r\n{\"query\":\"{__typename }\"}",
    b"rPOST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n19\r\n{\"query\":\"{__typename }\"}\r\n0\r\n\r\n",
    b"rOPTIONS /graphql HTTP/1.1\r\nhost: localhost\r\norigin: http://a.example\r\nexpect: 100-continue\r\n\r\nHEAD /schema.graphql HTTP/1.0\r\n\r\n",
    br#"b{"query":"query Q($v: JSON) { document(id: 1) { value } }","operationName":"Q","variables":{"v":[1,{"$serde_json::private::RawValue":"x"}]},"extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#,
    br#"b[{"query":"{ a }"},{"query":"mutation { deleteDocument(id: 1) { deleted } }"}]"#,
    br#"qmutation { insertDocument(id: "x", document: {a: [1, {b: "c"}]}) { key version value subdocument(path: "/a/0") { kind } } }"#,
    br#"q{ documents(where: {all: [{at: "$.a[*]", gt: 1}]}, orderBy: {at: "$.a[0]"}, first: 2) { nodes { select(query: "$..b") { value } } plan { index } } }"#,
    b"q{ ...A } fragment A on Query { ...B ...B } fragment B on Query { __schema { types { name } } }",
    br#"v{"p":["a",0,{"b":[[[]]]}],"d":{"$serde_json::private::Number":"1"},"i":42}"#,
    br#"z{"query":"{ __typename }"}"#,
];

struct Served {
    world: World,
    address: SocketAddr,
    inputs: Cell<u32>,
}

impl Served {
    fn new() -> Self {
        let world = World::new();
        let any = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let router = router(world.database.clone(), &ServeOptions::on(any));
        let address = world.runtime.block_on(async {
            let listener = TcpListener::bind(any).await.expect("a port");
            let address = listener.local_addr().expect("an address");
            tokio::spawn(serve_connections(listener, router, std::future::pending()));
            address
        });
        Self {
            world,
            address,
            inputs: Cell::new(0),
        }
    }

    /// Counts an input that was answered.
    fn answered(&self) {
        let inputs = self.inputs.get();
        if inputs.is_multiple_of(INPUTS_PER_CHECK) {
            let faults = sound::faults(self.world.database.store());
            let faults = self.world.runtime.block_on(faults);
            assert!(faults.is_empty(), "the store is not sound: {faults:#?}");
        }
        self.inputs.set(inputs + 1);
    }

    /// Sends bytes and reads until the server closes the connection.
    fn sent(&self, bytes: &[u8], half_close: bool) -> Vec<u8> {
        let exchange = async {
            let mut stream = TcpStream::connect(self.address).await.expect("it listens");
            // The server may respond and close before it has read everything.
            let _taken = stream.write_all(bytes).await;
            if half_close {
                let _closed = stream.shutdown().await;
            }
            let mut answer = Vec::new();
            // A reset also ends the connection.
            let _ended = stream.read_to_end(&mut answer).await;
            answer
        };
        let limited = async { timeout(Duration::from_secs(60), exchange).await };
        let answer = self.world.runtime.block_on(limited);
        answer.expect("the server ends every connection")
    }
}

pub(super) fn check(bytes: &[u8]) {
    thread_local!(static SERVED: Served = Served::new());
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    let post = |coding: &str, body: &[u8]| {
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\n{coding}content-length: {}\r\n\r\n",
            body.len()
        );
        SERVED.with(|served| check_answer(&served.sent(&[head.as_bytes(), body].concat(), false)));
    };
    match kind {
        b'r' => SERVED.with(|served| check_any(&served.sent(bytes, true))),
        b'q' => {
            let query = String::from_utf8_lossy(bytes);
            post("", json!({"query": query}).to_string().as_bytes());
        }
        b'v' => {
            let query = "query($p: Path, $d: JSON, $i: ID = 1) { \
                         document(id: $i, path: $p) { value subdocument(path: [\\\"a\\\", $d]) { kind } } }";
            let body = [
                br#"{"query":""#,
                query.as_bytes(),
                br#"","variables":"#,
                bytes,
                b"}",
            ];
            post("", &body.concat());
        }
        b'z' => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).expect("a vector takes all");
            let whole = encoder.finish().expect("a vector takes all");
            post("content-encoding: gzip\r\n", &whole);
            post("content-encoding: gzip\r\n", bytes);
        }
        _ => post("", bytes),
    }
    SERVED.with(Served::answered);
}

/// Any response is HTTP without an internal error.
fn check_any(answer: &[u8]) {
    let text = String::from_utf8_lossy(answer);
    if !text.is_empty() {
        let status = text.strip_prefix("HTTP/1.").expect("HTTP");
        let status = status.get(2..5).expect("a status");
        assert!(!status.starts_with('5') || status == "501", "{text}");
    }
}

/// The response is GraphQL without an internal error.
fn check_answer(answer: &[u8]) {
    check_any(answer);
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").expect("a response");
    let response: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{head} {body}"));
    let told = response.get("data").or(response.get("errors"));
    assert!(told.is_some() || response.is_array(), "{response}");
    for error in response["errors"].as_array().into_iter().flatten() {
        assert_ne!(error["extensions"]["code"], "INTERNAL", "{error}");
    }
}
