//! `POST` of lines: modes, rejected lines, hostile bodies.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};

use super::{NDJSON, assert_problem, get, lines, put};
use crate::skip::runs_long_tests;
use crate::support::{Connection, Response, Server, head};

const CHUNKED: (&str, &str) = ("transfer-encoding", "chunked");

fn post(server: &Server, path: &str, body: &str) -> Response {
    let response = server.ask("POST", path, &[NDJSON], body);
    assert_eq!(response.status, 200, "{response:?}");
    response
}

fn last(response: &Response) -> Value {
    lines(response).pop().expect("a last line")
}

fn chunk(connection: &mut Connection, bytes: &[u8]) -> bool {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    connection.offer(chunk)
}

#[test]
fn lines_are_inserted_replaced_or_merged() {
    let server = Server::start();
    let body = "{\"id\":\"a\",\"document\":{\"n\":1}}\n\n{\"id\":\"2\",\"document\":[]}";
    let inserted = post(&server, "/documents/D", body);
    assert_eq!(
        inserted.header("content-type"),
        Some("application/x-ndjson")
    );
    assert_eq!(
        last(&inserted),
        json!({"lines": 3, "written": 2, "rejected": 0, "done": true})
    );
    let again = post(&server, "/documents/D", body);
    let report = lines(&again);
    assert_eq!(
        (&report[0]["line"], &report[0]["key"]),
        (&json!(1), &json!("a"))
    );
    assert_eq!(report[0]["code"], "ALREADY_EXISTS");
    assert!(report[0]["reason"].is_string());
    assert_eq!(
        report[1],
        json!({"lines": 1, "written": 0, "rejected": 1, "done": false})
    );
    post(
        &server,
        "/documents/D?mode=replace",
        "{\"document\":{\"m\":1},\"id\":\"a\"}",
    );
    assert_eq!(get(&server, "/documents/D/a").body, "{\"m\":1}");
    let patches = "{\"id\":\"a\",\"document\":{\"m\":null,\"x\":{\"y\":1}}}\n\
                   {\"id\":\"a\",\"document\":{\"x\":{\"z\":2}}}\n{\"id\":\"b\",\"document\":{\"n\":3}}\n";
    let merged = post(&server, "/documents/D?mode=merge", patches);
    assert_eq!(last(&merged)["written"], 3);
    assert_eq!(
        get(&server, "/documents/D/a").body,
        "{\"x\":{\"y\":1,\"z\":2}}"
    );
    assert_eq!(get(&server, "/documents/D/b").body, "{\"n\":3}");
}

#[test]
fn many_partial_documents_are_merged_into_one_place() {
    let server = Server::start();
    let mut body = String::new();
    for n in 0..2_500 {
        writeln!(body, "{{\"{}\":{{\"{n}\":{n}}}}}", n % 10).expect("a string takes all");
    }
    let merged = post(&server, "/documents/D?mode=merge&id=k&path=/a", &body);
    assert_eq!(
        last(&merged),
        json!({"lines": 2500, "written": 2500, "rejected": 0, "done": true})
    );
    let stored = get(&server, "/documents/D/k/a").json();
    for n in 0..2_500 {
        assert_eq!(stored[(n % 10).to_string()][n.to_string()], n);
    }
}

#[test]
fn rejected_lines_are_reported_and_the_rest_is_written() {
    let server = Server::start();
    put(&server, "/documents/D/500", "null");
    let mut body = String::new();
    for n in 1..=2_500 {
        match n {
            7 => body.push_str("{\"id\":\"7\",\"document\":{]}\n"),
            8 => body.push_str("[]\n"),
            9 => body.push_str("{\"id\":\"\",\"document\":1}\n"),
            1_200 => body.push_str("{\"id\":\"3\",\"document\":1}\n"),
            _ => writeln!(body, "{{\"id\":\"{n}\",\"document\":{n}}}").expect("a string"),
        }
    }
    let done = post(&server, "/documents/D?onError=continue", &body);
    let report = lines(&done);
    let rejected: Vec<&Value> = report.iter().filter(|line| line["line"].is_u64()).collect();
    let found: Vec<(u64, &Value, &str)> = rejected
        .iter()
        .map(|line| {
            let code = line["code"].as_str().expect("a code");
            (line["line"].as_u64().expect("a number"), &line["key"], code)
        })
        .collect();
    let key = |key: &str| json!(key);
    assert_eq!(
        found,
        [
            (7, &Value::Null, "BAD_USER_INPUT"),
            (8, &Value::Null, "BAD_USER_INPUT"),
            (9, &key(""), "BAD_USER_INPUT"),
            (500, &key("500"), "ALREADY_EXISTS"),
            (1_200, &key("3"), "ALREADY_EXISTS"),
        ]
    );
    assert_eq!(
        last(&done),
        json!({"lines": 2500, "written": 2495, "rejected": 5, "done": true})
    );
    // One batch and its progress after another.
    let progress = report.iter().filter_map(|line| line["lines"].as_u64());
    assert_eq!(progress.collect::<Vec<_>>(), [1_000, 2_000, 2_500]);
    let stopped = post(&server, "/documents/E?onError=stop", &body);
    assert_eq!(
        last(&stopped),
        json!({"lines": 7, "written": 6, "rejected": 1, "done": false})
    );
    let count = server.query("{ collections { name count } }");
    let expected = json!([{"name": "D", "count": 2_496}, {"name": "E", "count": 6}]);
    assert_eq!(count["data"]["collections"], expected);
}

#[test]
fn types_and_unique_indexes_reject_single_lines() {
    let server = Server::start();
    let made = server.query(
        r#"mutation { setCollectionType(collection: "D", schema: {type: "object", properties: {n: {type: "integer"}}}) { __typename }
            createIndex(name: "n", on: ["$.n"], unique: true) { name } }"#,
    );
    assert_eq!(made["errors"], Value::Null, "{made}");
    let body = "{\"id\":\"1\",\"document\":{\"n\":1}}\n{\"id\":\"2\",\"document\":{\"n\":\"x\"}}\n\
                {\"id\":\"3\",\"document\":{\"n\":1}}\n{\"id\":\"4\",\"document\":{\"n\":4}}\n";
    let done = post(&server, "/documents/D?onError=continue", body);
    let report = lines(&done);
    let codes: Vec<&Value> = report.iter().map(|line| &line["code"]).collect();
    assert_eq!(
        codes[..2],
        [&json!("TYPE_MISMATCH"), &json!("UNIQUE_VIOLATION")],
        "{report:?}"
    );
    assert_eq!(report[0]["violations"][0]["place"], "/n");
    assert_eq!(last(&done)["written"], 2);
}

#[test]
fn parameters_and_types_are_checked_before_anything_is_read() {
    let server = Server::start();
    let line = "{\"id\":\"1\",\"document\":1}\n";
    for query in [
        "mode=other",
        "onError=x",
        "id=1",
        "mode=merge&path=x",
        "x=1",
    ] {
        let refused = server.ask("POST", &format!("/documents/D?{query}"), &[NDJSON], line);
        assert_eq!(refused.status, 400, "{query}");
    }
    let json = server.ask("POST", "/documents/D", &[crate::support::JSON], line);
    assert_problem(&json, 415, "BAD_USER_INPUT");
    assert_problem(
        &server.ask("POST", "/documents/", &[NDJSON], line),
        400,
        "BAD_USER_INPUT",
    );
    assert_problem(&get(&server, "/documents/D/1"), 404, "NOT_FOUND");
}

#[test]
fn a_line_over_the_limit_is_rejected_alone() {
    let server = Server::with(&["--body-bytes-max", "64KiB"]);
    let before = server.memory_peak();
    let mut connection = server.connect();
    let path = "/documents/D?onError=continue";
    connection.send(head("POST", path, &[NDJSON, CHUNKED], 0));
    chunk(
        &mut connection,
        b"{\"id\":\"1\",\"document\":1}\n{\"id\":\"2\",\"document\":\"",
    );
    for _ in 0..400 {
        assert!(
            chunk(&mut connection, &vec![b'x'; 256 << 10]),
            "100 MB are read"
        );
    }
    chunk(&mut connection, b"\"}\n{\"id\":\"3\",\"document\":3}\n");
    connection.send("0\r\n\r\n");
    let done = connection.response(true);
    let report = lines(&done);
    assert_eq!(
        (&report[0]["line"], &report[0]["code"]),
        (&json!(2), &json!("TOO_LARGE"))
    );
    assert_eq!(
        last(&done),
        json!({"lines": 3, "written": 2, "rejected": 1, "done": true})
    );
    let grown = server.memory_peak() - before;
    assert!(grown < 64 << 20, "{grown} bytes for a line of 100 MB");
}

/// If lines of a batch exceed the budget of a mutation together, fewer are written at a time.
#[test]
fn a_transaction_of_lines_has_the_budget_of_a_mutation() {
    let server = Server::with(&["--write-bytes-max", "64KiB", "--steps-max", "20000"]);
    let line = |id: &str, bytes: usize| {
        format!(
            "{{\"id\":\"{id}\",\"document\":\"{}\"}}\n",
            "x".repeat(bytes)
        )
    };
    let mut body = String::new();
    for n in 0..500 {
        body.push_str(&line(&n.to_string(), 1_000));
        if n == 250 {
            body.push_str(&line("large", 100_000));
            // Each element is a key, which takes ten steps.
            let elements = vec!["1"; 3_000].join(",");
            writeln!(body, "{{\"id\":\"wide\",\"document\":[{elements}]}}").expect("a string");
        }
    }
    let done = post(&server, "/documents/D?onError=continue", &body);
    let report = lines(&done);
    for (line, key, code, limit) in [
        (&report[0], "large", "TOO_LARGE", "writeBytes"),
        (&report[1], "wide", "TOO_COMPLEX", "steps"),
    ] {
        let found = (&line["key"], &line["code"], &line["limitName"]);
        assert_eq!(found, (&json!(key), &json!(code), &json!(limit)), "{line}");
    }
    assert_eq!(
        last(&done),
        json!({"lines": 502, "written": 500, "rejected": 2, "done": true})
    );
}

#[test]
fn an_endless_body_takes_bounded_memory_and_reports_progress() {
    let server = Server::start();
    let before = server.memory_peak();
    let mut connection = server.connect();
    let mut sender = connection.other();
    connection.send(head(
        "POST",
        "/documents/D?mode=replace",
        &[NDJSON, CHUNKED],
        0,
    ));
    let sending = std::thread::spawn(move || {
        let line = format!("{{\"id\":\"1\",\"document\":\"{}\"}}\n", "x".repeat(10_000));
        let lines = line.repeat(20);
        while chunk(&mut sender, lines.as_bytes()) {}
    });
    // The report begins while the body continues.
    let begin = Instant::now();
    let mut received = String::new();
    while received.matches("\"lines\"").count() < 20 {
        received.push_str(&connection.text());
        assert!(begin.elapsed() < Duration::from_secs(120), "{received}");
    }
    connection.shutdown(std::net::Shutdown::Both);
    sending.join().expect("it ends");
    let grown = server.memory_peak() - before;
    assert!(grown < 200 << 20, "{grown} bytes");
    server.assert_serves();
}

#[test]
fn a_gzip_bomb_is_decoded_in_portions() {
    let server = Server::with(&["--body-bytes-max", "64KiB"]);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        encoder.write_all(&zeros).expect("it is in memory");
    }
    encoder
        .write_all(b"\n{\"id\":\"1\",\"document\":1}\n")
        .expect("it is in memory");
    let bomb = encoder.finish().expect("it is in memory");
    assert!(bomb.len() < 1 << 20);
    let before = server.memory_peak();
    let headers = [NDJSON, ("content-encoding", "gzip")];
    let done = server.ask("POST", "/documents/D?onError=continue", &headers, &bomb);
    assert_eq!(
        last(&done),
        json!({"lines": 2, "written": 1, "rejected": 1, "done": true})
    );
    let grown = server.memory_peak() - before;
    assert!(grown < 64 << 20, "{grown} bytes for a bomb of 200 MB");
}

#[test]
fn slow_lines_end_the_upload() {
    let server = Server::with(&["--body-time-max", "1s"]);
    let mut connection = server.connect();
    connection.send(head("POST", "/documents/D", &[NDJSON, CHUNKED], 0));
    // More lines than one second has, each of them in time.
    for n in 0..5 {
        chunk(
            &mut connection,
            format!("{{\"id\":\"{n}\",\"document\":1}}\n").as_bytes(),
        );
        std::thread::sleep(Duration::from_millis(400));
    }
    chunk(&mut connection, b"{\"id\":");
    let response = connection.response(true);
    let end = last(&response);
    assert_eq!(
        (&end["done"], &end["error"]["code"]),
        (&json!(false), &json!("TIMEOUT"))
    );
}

/// Slow uploads that are open at the same time.
const SLOW_UPLOADS: usize = 300;
/// So many in the long tests, if the test may open so many files.
const SLOW_UPLOADS_OF_LONG_TESTS: usize = 10_000;

fn slow_uploads() -> usize {
    if !runs_long_tests() {
        return SLOW_UPLOADS;
    }
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without more files, there are fewer uploads.
    let _refused = setrlimit(Resource::Nofile, limit);
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    files.saturating_sub(512).min(SLOW_UPLOADS_OF_LONG_TESTS)
}

#[test]
fn many_slow_uploads_leave_others_alone() {
    // Each waits for its line longer than the test takes.
    let server = Server::with(&["--connections-max", "12000", "--body-time-max", "600s"]);
    let before = server.memory_peak();
    let count = slow_uploads();
    let mut slow: Vec<Connection> = (0..count)
        .map(|_| {
            let mut connection = server.connect();
            connection.send(head("POST", "/documents/D", &[NDJSON, CHUNKED], 0));
            chunk(&mut connection, b"{\"id\":\"1\",");
            connection
        })
        .collect();
    let mut times = Vec::new();
    for connection in &mut slow[..200] {
        chunk(connection, b" ");
        let begin = Instant::now();
        put(&server, "/documents/D/x", "1");
        times.push(begin.elapsed());
    }
    times.sort();
    let limit = if cfg!(debug_assertions) {
        Duration::from_secs(1)
    } else {
        Duration::from_millis(50)
    };
    assert!(times[197] <= limit, "{count} uploads: {:?}", times[197]);
    let grown = server.memory_peak() - before;
    let limit = (64 << 20) + count * (64 << 10);
    assert!(grown < limit, "{grown} bytes for {count} uploads");
    drop(slow);
    server.assert_serves();
}

#[test]
fn a_server_that_stops_ends_uploads() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.send(head("POST", "/documents/D", &[NDJSON, CHUNKED], 0));
    chunk(&mut connection, b"{\"id\":\"1\",");
    std::thread::sleep(Duration::from_millis(300));
    server.signal("TERM");
    let response = connection.response(true);
    assert_eq!(last(&response)["error"]["code"], "UNAVAILABLE");
    server.stopped();
}
