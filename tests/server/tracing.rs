//! Traces, as received by a collector.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use phyllo::key::hex;
use prost::Message as _;
use serde_json::json;

use crate::support::{JSON, Server};

/// A collector on a free port.
pub(crate) struct Collector {
    pub(crate) endpoint: String,
    received: Receiver<Vec<u8>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (send, received) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.expect("a connection"));
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    assert_ne!(stream.read_line(&mut head).expect("a line"), 0, "{head}");
                }
                assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
                let head = head.to_ascii_lowercase();
                assert!(
                    head.contains("content-type: application/x-protobuf"),
                    "{head}"
                );
                assert!(head.contains(&format!("host: {address}\r\n")), "{head}");
                let length = head.split("content-length: ").nth(1).expect("a length");
                let length = length.lines().next().expect("a line").parse();
                let mut body = vec![0; length.expect("a number")];
                stream.read_exact(&mut body).expect("a body");
                let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                stream.get_mut().write_all(answer.as_bytes()).expect("sent");
                if send.send(body).is_err() {
                    return;
                }
            }
        });
        let endpoint = format!("http://{address}");
        Self { endpoint, received }
    }

    /// Stops the server and returns all spans that it has sent, and their bytes.
    pub(crate) fn all_of(self, server: Server) -> (Vec<Span>, Vec<u8>) {
        server.signal("TERM");
        server.stopped();
        let (mut spans, mut bytes) = (Vec::new(), Vec::new());
        while let Ok(body) = self.received.try_recv() {
            bytes.extend_from_slice(&body);
            let request = ExportTraceServiceRequest::decode(&body[..]).expect("OTLP");
            for resource in request.resource_spans {
                let of = resource.resource.expect("a resource");
                assert_eq!(attributes(&of.attributes)["service.name"], "phyllo");
                let scopes = resource.scope_spans.into_iter();
                spans.extend(scopes.flat_map(|scope| scope.spans));
            }
        }
        (spans, bytes)
    }
}

fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|any| any.value.clone()) {
        Some(any_value::Value::StringValue(text)) => text,
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::BoolValue(truth)) => truth.to_string(),
        other => panic!("{other:?}"),
    };
    let pairs = attributes.iter();
    pairs
        .map(|pair| (pair.key.clone(), text(&pair.value)))
        .collect()
}

/// The child spans of a span, in the order in which they began.
fn below<'s>(spans: &'s [Span], parent: &Span) -> Vec<&'s Span> {
    let mut below: Vec<_> = spans
        .iter()
        .filter(|span| span.parent_span_id == parent.span_id)
        .collect();
    below.sort_by_key(|span| span.start_time_unix_nano);
    below
}

fn names(spans: &[&Span]) -> Vec<String> {
    spans.iter().map(|span| span.name.clone()).collect()
}

#[test]
fn traces_have_spans_for_operations_and_store_accesses() {
    let collector = Collector::start();
    let server = Server::with(&["--otlp-endpoint", &collector.endpoint, "--batch-max", "2"]);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let headers = [
        JSON,
        ("traceparent", parent.as_str()),
        ("x-request-id", "id-4"),
    ];
    let insert = "mutation Put { insertDocument(id: 1, document: {a: 1, b: [2, 3]}) { key } }";
    let read = "query Part { document(id: 1) { value(path: \"/b\") } }";
    let batch = json!([{"query": insert}, {"query": read}]).to_string();
    assert_eq!(server.ask("POST", "/graphql", &headers, batch).status, 200);
    server.ask("GET", "/healthz", &[], "");
    let (spans, _) = collector.all_of(server);

    let named = |name: &str| spans.iter().find(|span| span.name == name);
    let http = named("POST /graphql").expect("the request");
    assert_eq!(
        hex(&http.trace_id),
        trace,
        "the trace that the client began continues"
    );
    assert_eq!(
        http.parent_span_id,
        [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]
    );
    let told = attributes(&http.attributes);
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/graphql"),
        ("http.response.status_code", "200"),
        ("request.id", "id-4"),
    ] {
        assert_eq!(told.get(name).map(String::as_str), Some(value), "{told:?}");
    }
    let operations = below(&spans, http);
    assert_eq!(names(&operations), ["mutation Put", "query Part"]);
    for (operation, ty, name) in [
        (operations[0], "mutation", "Put"),
        (operations[1], "query", "Part"),
    ] {
        let told = attributes(&operation.attributes);
        assert_eq!(told["graphql.operation.type"], ty);
        assert_eq!(told["graphql.operation.name"], name);
        assert_eq!(told["outcome"], "ok");
        assert!(operation.start_time_unix_nano >= http.start_time_unix_nano);
        assert!(operation.end_time_unix_nano <= http.end_time_unix_nano);
    }
    let of_mutation = below(&spans, operations[0]);
    let steps = names(&of_mutation);
    assert_eq!(
        steps.first().map(String::as_str),
        Some("begin"),
        "{steps:?}"
    );
    assert_eq!(
        steps.last().map(String::as_str),
        Some("commit"),
        "{steps:?}"
    );
    let commit = attributes(&of_mutation.last().expect("the commit").attributes);
    assert_eq!(commit["committed"], "true");
    let of_query = below(&spans, operations[1]);
    assert!(!of_query.is_empty() && of_query.iter().all(|span| span.name == "ranges"));
    let pairs = of_query
        .iter()
        .map(|span| attributes(&span.attributes)["pairs"].clone());
    assert!(
        pairs.into_iter().any(|pairs| pairs == "3"),
        "the first pair of the document and the two elements of the array"
    );
    // Another request has its own trace.
    let health = named("GET /healthz").expect("the request");
    assert_ne!(health.trace_id, http.trace_id);
    assert_eq!(health.parent_span_id, [0; 0]);
}

#[test]
fn traces_contain_no_secrets_and_no_document_data() {
    let directory = tempfile::tempdir().expect("a directory");
    let tokens = directory.path().join("tokens");
    std::fs::write(&tokens, "someone read-write SECRET-known-token-1\n").expect("a file");
    let tokens = tokens.to_str().expect("a plain path");
    let collector = Collector::start();
    let arguments = [
        "--token-file",
        tokens,
        "--otlp-endpoint",
        &collector.endpoint,
    ];
    let server = Server::with(&arguments);
    let known = ("authorization", "Bearer SECRET-known-token-1");
    let idempotent = ("idempotency-key", "SECRET-idempotency");
    for (status, query) in [
        (
            200,
            r#"mutation($d: JSON) { insertDocument(id: "SECRET-id", document: $d) { key } }"#,
        ),
        (200, r#"{ document(id: "SECRET-id") { value } }"#),
        (
            200,
            r#"{ document(id: "SECRET-id") { value(path: "SECRET path") } }"#,
        ),
        (
            200,
            r#"mutation { incrementDocument(id: "SECRET-id", path: "/SECRET-key") { key } }"#,
        ),
        (200, "{ SECRET_field }"),
    ] {
        let variables = json!({"d": {"SECRET-key": "SECRET-value", "n": [1]}});
        let variables = if query.contains("$d") {
            variables
        } else {
            json!({})
        };
        let body = json!({"query": query, "variables": variables}).to_string();
        let response = server.ask("POST", "/graphql", &[JSON, known, idempotent], body);
        assert_eq!(response.status, status, "{}", response.body);
    }
    for path in [
        "/graphql?query={SECRET}",
        "/SECRET",
        "/assets/SECRET?SECRET",
    ] {
        server.ask("GET", path, &[("x-request-id", "SECRET id")], "");
    }
    server.ask("SECRET", "/graphql", &[], "");
    let (spans, bytes) = collector.all_of(server);
    assert!(spans.len() > 15, "{}", spans.len());
    let secret = bytes.windows(6).position(|window| window == b"SECRET");
    assert_eq!(secret, None, "{spans:#?}");
}

#[test]
fn an_unreachable_collector_does_not_block_requests() {
    // A port on which nothing listens.
    let away = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("http://{}", away.local_addr().expect("an address"));
    drop(away);
    let server = Server::logged(&["--otlp-endpoint", &endpoint]);
    server.assert_serves();
    server.signal("TERM");
    let log = server.log_at_end();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("traces")).collect();
    assert!(
        lines.iter().any(|line| line.contains("traces are dropped")),
        "{log}"
    );
}

#[test]
fn invalid_trace_endpoints_prevent_the_start() {
    for endpoint in [
        "https://127.0.0.1:4318",
        "127.0.0.1:4318",
        "nowhere",
        "http://",
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let arguments = ["--otlp-endpoint", endpoint];
        let mut command = crate::support::command(&directory, &arguments);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains("plain HTTP"),
            "{said}"
        );
    }
}
