//! Documents and their parts over HTTP, without GraphQL.

mod description;
mod exports;
mod keys;
mod kills;
mod reading;
mod resumed;
mod rights;
mod uploads;
mod writing;

use serde_json::Value;

use crate::support::{JSON, Response, Server};

const MERGE_PATCH: (&str, &str) = ("content-type", "application/merge-patch+json");
const JSON_PATCH: (&str, &str) = ("content-type", "application/json-patch+json");
const NDJSON: (&str, &str) = ("content-type", "application/x-ndjson");

fn get(server: &Server, path: &str) -> Response {
    server.ask("GET", path, &[], "")
}

fn put(server: &Server, path: &str, body: &str) -> Response {
    let response = server.ask("PUT", path, &[JSON], body);
    assert!(matches!(response.status, 201 | 204), "{response:?}");
    response
}

fn tag(response: &Response) -> String {
    response.header("etag").expect("an entity tag").to_owned()
}

/// The code of a problem, after checks of what all problems have.
fn code(response: &Response) -> String {
    let problem = response.json();
    assert_eq!(
        response.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(problem["status"], response.status, "{problem}");
    assert_eq!(problem["type"], "about:blank");
    assert!(
        problem["title"].is_string() && problem["detail"].is_string(),
        "{problem}"
    );
    problem["code"].as_str().expect("a code").to_owned()
}

/// Asserts the status and the code of a problem.
fn assert_problem(response: &Response, status: u16, expected: &str) {
    assert_eq!(
        (response.status, &*code(response)),
        (status, expected),
        "{response:?}"
    );
}

/// The values of a body of lines.
fn lines(response: &Response) -> Vec<Value> {
    let lines = response.body.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}
