//! Uploads that are sent again after the connection was cut: nothing is lost, and nothing is written twice.

use std::fmt::Write as _;
use std::net::Shutdown;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::{NDJSON, get, lines, put};
use crate::support::{Server, head};

const LINES: usize = 5_000;

/// Lines of which each adds a document that does not exist yet, so that a repetition would be rejected.
fn body() -> String {
    let mut body = String::new();
    for n in 0..LINES {
        writeln!(body, "{{\"id\":\"{n}\",\"document\":{{\"n\":{n}}}}}")
            .expect("a string takes all");
    }
    body
}

fn last(body: &str) -> Value {
    let line = body.lines().next_back().expect("a line");
    serde_json::from_str(line).expect("JSON")
}

#[test]
fn an_upload_is_completed_after_any_number_of_cuts() {
    let server = Server::start();
    let mut random = StdRng::seed_from_u64(3_838);
    let body = body();
    let headers = [NDJSON, ("idempotency-key", "upload-1")];
    for _ in 0..10 {
        let sent = random.random_range(0..body.len());
        let mut connection = server.connect();
        connection.send(head("POST", "/documents/D", &headers, body.len()));
        connection.offer(&body[..sent]);
        // Some are cut while a batch is written.
        std::thread::sleep(std::time::Duration::from_millis(random.random_range(0..60)));
        connection.shutdown(Shutdown::Both);
    }
    for _ in 0..2 {
        let done = server.ask("POST", "/documents/D", &headers, &body);
        let expected = json!({"lines": LINES, "written": LINES, "rejected": 0, "done": true});
        assert_eq!(last(&done.body), expected);
    }
    let count = server.query("{ collections { count } }");
    assert_eq!(count["data"]["collections"][0]["count"], LINES);
    let export = get(&server, "/documents/D");
    assert_eq!(lines(&export).len(), LINES);
}

#[test]
fn what_was_written_is_not_written_again_over_later_changes() {
    let server = Server::start();
    let headers = [NDJSON, ("idempotency-key", "upload-2")];
    let path = "/documents/D?mode=merge&onError=continue";
    let body = "{\"id\":\"a\",\"document\":{\"n\":1}}\nno\n{\"id\":\"a\",\"document\":{\"m\":1}}\n";
    let first = server.ask("POST", path, &headers, body);
    put(&server, "/documents/D/a/n", "2");
    let second = server.ask("POST", path, &headers, body);
    assert_eq!(first.body, second.body);
    assert_eq!(get(&server, "/documents/D/a").body, "{\"m\":1,\"n\":2}");
}

#[test]
fn lines_without_an_effect_count_as_written() {
    let server = Server::start();
    let headers = [NDJSON, ("idempotency-key", "upload-3")];
    let path = "/documents/D?mode=merge";
    let body = "{\"id\":\"a\",\"document\":{\"n\":1}}\n";
    put(&server, "/documents/D/a", "{\"n\":1}");
    server.ask("POST", path, &headers, body);
    put(&server, "/documents/D/a/n", "2");
    let again = server.ask("POST", path, &headers, body);
    assert_eq!(last(&again.body)["written"], 1);
    assert_eq!(get(&server, "/documents/D/a/n").body, "2");
}

#[test]
fn another_body_with_the_same_key_is_refused() {
    let server = Server::start();
    let headers = [NDJSON, ("idempotency-key", "upload-4")];
    let one = server.ask(
        "POST",
        "/documents/D",
        &headers,
        "{\"id\":\"1\",\"document\":1}\n",
    );
    assert_eq!(last(&one.body)["done"], true);
    let other = server.ask(
        "POST",
        "/documents/D",
        &headers,
        "{\"id\":\"2\",\"document\":1}\n",
    );
    let end = last(&other.body);
    assert_eq!(
        (&end["done"], &end["error"]["code"]),
        (&json!(false), &json!("BAD_USER_INPUT"))
    );
    assert_eq!(get(&server, "/documents/D/2").status, 404);
}
