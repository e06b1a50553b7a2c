//! Metrics, request ids and log lines.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use phyllo::key::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use tempfile::{NamedTempFile, TempDir};

use crate::support::{JSON, Response, Server, command};

/// The samples of `/metrics`, by name and labels.
fn scrape(server: &Server) -> BTreeMap<String, f64> {
    let response = server.ask("GET", "/metrics", &[], "");
    assert_eq!(response.status, 200);
    let content_type = response.header("content-type").expect("a type");
    assert!(content_type.starts_with("application/openmetrics-text; version=1.0.0"));
    parse(&response.body)
}

/// Parses the OpenMetrics text format. Checks that every sample belongs to a declared family and is
/// not repeated.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut families: BTreeMap<&str, &str> = BTreeMap::new();
    let (lines, end) = text.trim_end().rsplit_once('\n').expect("lines");
    assert_eq!(end, "# EOF");
    for line in lines.lines() {
        if let Some(described) = line.strip_prefix("# ") {
            let words: Vec<&str> = described.splitn(3, ' ').collect();
            match words[..] {
                ["TYPE", name, ty] => assert!(families.insert(name, ty).is_none(), "{line}"),
                ["HELP", _, help] => assert!(!help.is_empty(), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').expect("a value");
        let name = sample.split('{').next().expect("a name");
        let family = families.iter().find(|(family, ty)| {
            let endings: &[&str] = match **ty {
                "counter" => &["_total"],
                "gauge" => &[""],
                "info" => &["_info"],
                "histogram" => &["_bucket", "_sum", "_count"],
                _ => panic!("{ty}"),
            };
            let ending = name.strip_prefix(**family);
            ending.is_some_and(|ending| endings.contains(&ending))
        });
        assert!(family.is_some(), "{line}");
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(samples.insert(sample.to_owned(), value).is_none(), "{line}");
    }
    samples
}

fn post(server: &Server, body: &Value) -> Response {
    server.ask("POST", "/graphql", &[JSON], body.to_string())
}

#[track_caller]
fn assert_samples(samples: &BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    for (sample, value) in expected {
        assert_eq!(
            samples.get(*sample),
            Some(value),
            "{sample} in {samples:#?}"
        );
    }
}

#[test]
fn requests_are_counted_by_type_name_and_outcome() {
    let server = Server::with(&["--batch-max", "3"]);
    let insert = "mutation Insert { insertDocument(id: 1, document: {a: 1, b: [2, 3]}) { key } }";
    let read = "query Read { document(id: 1) { value(path: \"/b\") } }";
    post(&server, &json!({"query": insert}));
    post(&server, &json!({"query": insert}));
    for _ in 0..3 {
        post(&server, &json!({"query": read}));
    }
    post(
        &server,
        &json!([{"query": read}, {"query": "{ __typename }"}, {"query": "{ nothing }"}]),
    );
    post(&server, &json!({"query": "{"}));
    let samples = scrape(&server);
    let counted = |ty: &str, operation: &str, outcome: &str| {
        let labels = format!(r#"type="{ty}",operation="{operation}",outcome="{outcome}""#);
        samples
            .get(&format!("phyllo_requests_total{{{labels}}}"))
            .copied()
    };
    assert_eq!(counted("mutation", "Insert", "ok"), Some(1.0));
    assert_eq!(counted("mutation", "Insert", "ALREADY_EXISTS"), Some(1.0));
    assert_eq!(counted("query", "Read", "ok"), Some(4.0));
    assert_eq!(counted("query", "", "ok"), Some(1.0));
    assert_eq!(counted("none", "", "BAD_USER_INPUT"), Some(2.0));
    assert_samples(
        &samples,
        &[
            (r#"phyllo_request_seconds_count{type="query"}"#, 5.0),
            (
                r#"phyllo_request_seconds_bucket{le="+Inf",type="query"}"#,
                5.0,
            ),
            // Every query except the constant one read two ranges: the existence of the document,
            // and the part of it.
            (r#"phyllo_request_store_ranges_sum{type="query"}"#, 8.0),
            (r#"phyllo_request_store_ranges_count{type="query"}"#, 4.0),
            (r#"phyllo_store_operations_total{operation="commit"}"#, 1.0),
            ("phyllo_transaction_conflicts_total", 0.0),
            ("phyllo_transaction_retries_total", 0.0),
            // The read and the mutation were repeated.
            (r#"phyllo_operation_cache_total{result="hit"}"#, 4.0),
            (r#"phyllo_operation_cache_total{result="miss"}"#, 5.0),
            (
                r#"phyllo_http_responses_total{route="/graphql",status="200"}"#,
                7.0,
            ),
            (r#"phyllo_build_info{version="0.1.0"}"#, 1.0),
        ],
    );
    let read = samples[r#"phyllo_request_store_bytes_sum{type="query"}"#];
    assert!(read > 0.0 && samples["phyllo_store_read_bytes_total"] >= read);
    assert!(samples[r#"phyllo_store_operations_total{operation="write"}"#] >= 3.0);
    // The server detects that a connection was closed shortly after the client.
    let alone = |samples: BTreeMap<String, f64>| {
        samples["phyllo_http_requests_in_flight"] <= 1.0 && samples["phyllo_connections"] <= 1.0
    };
    let noticed = (0..3_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        alone(scrape(&server))
    });
    assert!(noticed);
}

#[test]
fn the_stored_change_log_is_measured() {
    // The metric is absent until the log was read.
    let measured = |server: &Server| {
        let begin = Instant::now();
        loop {
            match scrape(server).get("phyllo_changes_stored_bytes") {
                Some(bytes) => return *bytes,
                None => assert!(begin.elapsed() < Duration::from_secs(60)),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let server = Server::with(&["--change-retention", "1h"]);
    assert_eq!(measured(&server).to_bits(), 0.0_f64.to_bits());
    let text = "x".repeat(1_000);
    let insert = json!({"query": format!(
        "mutation {{ insertDocument(document: \"{text}\") {{ key }} }}"
    )});
    assert_eq!(post(&server, &insert).status, 200);
    server.signal("TERM");
    let server = Server::on(server.stopped(), &[]);
    let bytes = measured(&server);
    assert!((1_000.0..1_300.0).contains(&bytes), "{bytes}");
}

#[test]
fn the_longest_poll_is_reported() {
    let server = Server::start();
    let longest = || scrape(&server)["phyllo_longest_poll_seconds"];
    // A poll counts once it is over, so the first scrape may not report its own.
    let reported = (0..1_000).map(|_| longest()).find(|&seconds| seconds > 0.0);
    let reported = reported.expect("a poll is reported");
    assert!(longest() >= reported, "{reported}");
}

#[test]
fn persisted_query_lookups_are_counted() {
    let server = Server::start();
    let text = "query Kept { __typename }";
    let digest = hex(&Sha256::digest(text));
    let extensions = json!({"persistedQuery": {"version": 1, "sha256Hash": digest}});
    post(&server, &json!({"extensions": extensions}));
    post(&server, &json!({"extensions": extensions, "query": text}));
    post(&server, &json!({"extensions": extensions}));
    assert_samples(
        &scrape(&server),
        &[
            (r#"phyllo_persisted_queries_total{result="miss"}"#, 1.0),
            (r#"phyllo_persisted_queries_total{result="hit"}"#, 1.0),
            (
                r#"phyllo_requests_total{type="query",operation="Kept",outcome="ok"}"#,
                2.0,
            ),
        ],
    );
}

#[test]
fn metric_labels_are_bounded() {
    let server = Server::start();
    let mut connection = server.connect();
    for number in 0..150 {
        let name = format!("Name{number}{}", "x".repeat(number));
        let body = json!({"query": format!("query {name} {{ __typename }}")}).to_string();
        assert_eq!(
            connection.ask("POST", "/graphql", &[JSON], body).status,
            200
        );
    }
    for path in ["/a", "/b", "/c?d", "/assets/x", "/assets/y"] {
        connection.ask("GET", path, &[], "");
    }
    let samples = scrape(&server);
    let requests = || {
        samples
            .iter()
            .filter(|(name, _)| name.starts_with("phyllo_requests_total"))
    };
    assert_eq!(requests().count(), 101);
    assert!(requests().all(|(name, _)| name.len() < 150), "{samples:#?}");
    let other = r#"phyllo_requests_total{type="query",operation="other",outcome="ok"}"#;
    assert_samples(
        &samples,
        &[
            (other, 50.0),
            (
                r#"phyllo_http_responses_total{route="other",status="404"}"#,
                3.0,
            ),
            (
                r#"phyllo_http_responses_total{route="/assets",status="404"}"#,
                2.0,
            ),
        ],
    );
}

/// A server that has committed six transactions without a longer pause.
fn six_transactions() -> Option<Server> {
    let server = Server::start();
    let mut last = Instant::now();
    for id in 0..6 {
        let query = format!("mutation {{ insertDocument(id: {id}, document: 1) {{ key }} }}");
        assert_eq!(post(&server, &json!({"query": query})).status, 200);
        if last.elapsed() > Duration::from_millis(500) {
            return None;
        }
        last = Instant::now();
    }
    Some(server)
}

/// The first two groups of transactions are synced by checkpoints that are not counted, the others by
/// the log. A second without transactions also ends with a checkpoint.
#[test]
fn syncs_of_the_log_and_checkpoints_are_measured() {
    // On a busy machine the transactions can be more than a second apart.
    let attempts = (0..10).map(|_| six_transactions());
    let server = attempts
        .flatten()
        .next()
        .expect("a server that is fast enough");
    let samples = scrape(&server);
    assert_samples(&samples, &[("phyllo_log_sync_seconds_count", 4.0)]);
    assert!(samples["phyllo_log_written_bytes_total"] > 100.0);
    assert!(samples["phyllo_log_bytes"] >= 8192.0);
    let begun = Instant::now();
    while scrape(&server)["phyllo_checkpoint_seconds_count"] < 1.0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "no checkpoint");
        std::thread::sleep(Duration::from_millis(50));
    }
    let samples = scrape(&server);
    assert!(samples["phyllo_checkpoint_seconds_sum"] > 0.0);
    let waits = r#"phyllo_write_wait_seconds_count{place="sync"}"#;
    assert!(samples[waits] >= 4.0, "{}", samples[waits]);
}

#[test]
fn metrics_require_a_token_if_tokens_are_configured() {
    let directory = tempfile::tempdir().expect("a directory");
    let tokens = directory.path().join("tokens");
    fs::write(&tokens, "prometheus read-only some-secret-token\n").expect("a file");
    let server = Server::with(&["--token-file", tokens.to_str().expect("a plain path")]);
    assert_eq!(
        server.ask("GET", "/metrics", &[], "").code(),
        "UNAUTHENTICATED"
    );
    let token = ("authorization", "Bearer some-secret-token");
    let response = server.ask("GET", "/metrics", &[token], "");
    assert_eq!(response.status, 200);
    let samples = parse(&response.body);
    assert_samples(
        &samples,
        &[(
            r#"phyllo_http_responses_total{route="/metrics",status="401"}"#,
            1.0,
        )],
    );
}

#[test]
fn every_response_has_its_request_id() {
    let server = Server::start();
    let given = ("x-request-id", "from-the-client.1");
    let odd = ("x-request-id", "no id at all");
    for (method, path) in [
        ("GET", "/healthz"),
        ("GET", "/"),
        ("POST", "/graphql"),
        ("GET", "/none"),
    ] {
        let response = server.ask(method, path, &[given], "");
        assert_eq!(response.header(given.0), Some(given.1));
        for headers in [&[odd][..], &[]] {
            let response = server.ask(method, path, headers, "");
            let id = response.header(given.0).expect("an id");
            assert_eq!(id.len(), 32, "{id}");
        }
    }
}

#[test]
fn log_lines_of_requests_have_the_caller_and_the_request_id() {
    let directory = tempfile::tempdir().expect("a directory");
    let tokens = directory.path().join("tokens");
    fs::write(&tokens, "someone read-write some-secret-token\n").expect("a file");
    let tokens = tokens.to_str().expect("a plain path");
    let arguments = ["--token-file", tokens, "--log-format", "json"];
    let headers = [
        JSON,
        ("authorization", "Bearer some-secret-token"),
        ("x-request-id", "id-17"),
    ];
    let body = json!({"query": "mutation Count { incrementDocument(id: 1) { key } }"}).to_string();
    let server = Server::logged_at("info,phyllo::request=debug", &arguments);
    server.ask("POST", "/graphql", &headers, &body);
    let line = server.wait_for_log("id-17");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    for (pointer, expected) in [
        ("/level", json!("DEBUG")),
        ("/target", json!("phyllo::request")),
        ("/span/id", json!("id-17")),
        ("/span/caller", json!("someone")),
        ("/operation", json!("Count")),
        ("/type", json!("mutation")),
        ("/outcome", json!("ok")),
    ] {
        assert_eq!(line.pointer(pointer), Some(&expected), "{line}");
    }
    assert!(
        line["micros"].is_u64() && line["writes"].as_u64() > Some(0),
        "{line}"
    );
    for line in server.log().lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    // At the default level, successful requests are not logged.
    let server = Server::logged(&["--token-file", tokens]);
    server.ask("POST", "/graphql", &headers, &body);
    assert!(!server.log().contains("id-17"), "{}", server.log());
}

#[test]
fn logs_contain_no_secrets_and_no_document_data() {
    let directory = tempfile::tempdir().expect("a directory");
    let tokens = directory.path().join("tokens");
    fs::write(&tokens, "someone read-write SECRET-known-token-1\n").expect("a file");
    let tokens = tokens.to_str().expect("a plain path");
    for format in ["text", "json"] {
        let arguments = [
            "--token-file",
            tokens,
            "--batch-max",
            "2",
            "--log-format",
            format,
        ];
        let server = Server::logged_at("trace", &arguments);
        let known = ("authorization", "Bearer SECRET-known-token-1");
        let send = |headers: &[(&str, &str)], body: &str| {
            let headers = [&[JSON, known], headers].concat();
            server.ask("POST", "/graphql", &headers, body).status
        };
        let store = json!({
            "query": "mutation($d: JSON) { insertDocument(id: \"SECRET-id\", document: $d) { key } }",
            "variables": {"d": {"SECRET-key": "SECRET-value", "n": [1]}}
        });
        assert_eq!(
            send(
                &[("idempotency-key", "SECRET-idempotency")],
                &store.to_string()
            ),
            200
        );
        for body in [
            r#"{"query": "{ document(id: \"SECRET-id\") { value } }"}"#,
            r#"{"query": "mutation { replaceDocument(id: \"SECRET-id\", path: \"/n/7\", document: {SECRET_literal: \"SECRET\"}) { key } }"}"#,
            r#"{"query": "mutation { patchDocument(id: \"SECRET-id\", patch: [{op: \"test\", path: \"/SECRET-key\", value: \"SECRET-other\"}]) { key } }"}"#,
            r#"{"query": "mutation { incrementDocument(id: \"SECRET-id\", path: \"/SECRET-key\") { key } }"}"#,
            r#"{"query": "{ SECRET_field }"}"#,
            r#"{"query": "SECRET { not graphql"}"#,
            r#"{"query": "query($v: Int!) { __typename }", "variables": {"v": "SECRET"}}"#,
            r#"{"query": "{ __typename }", "operationName": "SECRET"}"#,
            r#"[{"query": "{ SECRET }"}, {"query": "{ __typename }", "variables": "SECRET"}]"#,
            r#"{"query": "SECRET"#,
        ] {
            send(&[("cookie", "SECRET"), ("x-request-id", "SECRET id")], body);
        }
        // Two documents violate the unique index.
        for query in [
            r#"mutation { a: insertDocument(id: 1, document: {u: \"SECRET-same\"}) { key } b: insertDocument(id: 2, document: {u: \"SECRET-same\"}) { key } }"#,
            r#"mutation { createIndex(name: \"i\", on: [\"$.u\"], unique: true) { state } }"#,
        ] {
            assert_eq!(send(&[], &format!(r#"{{"query": "{query}"}}"#)), 200);
        }
        server.wait_for_log("the index cannot be built");
        for unknown in ["Bearer SECRET-unknown-token", "Basic SECRET"] {
            let headers = [("authorization", unknown)];
            let path = "/graphql?query={SECRET}&variables={%22SECRET%22:1}";
            assert_eq!(server.ask("GET", path, &headers, "").status, 401);
        }
        server.signal("TERM");
        let log = server.log_at_end();
        assert!(log.lines().count() > 10, "requests are told: {log}");
        assert!(!log.contains("SECRET"), "{log}");
    }
}

/// Runs `phyllo serve` until it has logged `until`, and returns its output and its log.
fn served(directory: &TempDir, arguments: &[&str], until: &str) -> (String, String) {
    let (out, log) = (NamedTempFile::new(), NamedTempFile::new());
    let (out, log) = (out.expect("a file"), log.expect("a file"));
    let mut process = command(directory, arguments)
        .stdout(out.reopen().expect("the file"))
        .stderr(log.reopen().expect("the file"))
        .spawn()
        .expect("it starts");
    let read = |file: &NamedTempFile| std::fs::read_to_string(file).expect("UTF-8");
    let begun = Instant::now();
    while !(read(&out) + &read(&log)).contains(until) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", read(&log));
        std::thread::sleep(Duration::from_millis(10));
    }
    process.kill().expect("it runs");
    process.wait().expect("it ends");
    (read(&out), read(&log))
}

#[test]
fn a_server_reports_its_store_and_its_first_collections() {
    let directory = tempfile::tempdir().expect("a directory");
    let (out, _) = served(&directory, &[], "Ctrl-C");
    let place = directory.path().display().to_string();
    let line = |name: &str, text: &str| format!("\n  {name:<26}{text}\n");
    assert!(
        out.contains(&line("the store", &format!("{place} (new)"))),
        "{out}"
    );
    assert!(out.contains(&line("its collections", "none")), "{out}");
    let server = Server::on(directory, &[]);
    for number in 0..12 {
        let insert = format!(
            "mutation {{ a: insertDocument(collection: \"c{number:02}\", id: 1, document: 0) \
             {{ key }} b: insertDocument(collection: \"c{number:02}\", id: 2, document: 0) \
             {{ key }} }}"
        );
        assert_eq!(server.query(&insert).get("errors"), None);
    }
    server.signal("TERM");
    let directory = server.stopped();
    let (out, log) = served(&directory, &[], "Ctrl-C");
    assert!(out.contains(&line("the store", &place)), "{out}");
    let first: Vec<String> = (0..10).map(|number| format!("c{number:02} (2)")).collect();
    let first = format!("{}, …", first.join(", "));
    assert!(out.contains(&line("its collections", &first)), "{out}");
    assert_eq!(log, "");
}

#[test]
fn a_log_in_json_is_all_that_a_server_writes() {
    let entries = |log: &str| -> Vec<Value> {
        let entry = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"));
        log.lines().map(entry).collect()
    };
    let directory = tempfile::tempdir().expect("a directory");
    let (out, log) = served(&directory, &["--log-format", "json"], "serving");
    assert_eq!(out, "");
    let log = entries(&log);
    let begun = log.iter().find(|entry| entry["message"] == "serving");
    let begun = begun.unwrap_or_else(|| panic!("{log:?}"));
    let url = begun["url"].as_str().expect("a URL");
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let place = directory.path().display().to_string();
    assert_eq!(
        (&begun["store"], &begun["is_new"], &begun["collections"]),
        (&json!(place), &json!(true), &json!("none"))
    );
    // It was killed, so the next start recovers it.
    let (out, log) = served(&directory, &["--log-format", "json"], "serving");
    assert_eq!(out, "");
    entries(&log);
    // An error at the start is an entry, too.
    let failed = [
        "--log-format",
        "json",
        "--listen",
        "192.0.2.1:1",
        "--insecure",
    ];
    let ran = command(&directory, &failed).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "");
    let log = entries(&String::from_utf8_lossy(&ran.stderr));
    assert_eq!(log.last().expect("an entry")["level"], "ERROR", "{log:?}");
}
