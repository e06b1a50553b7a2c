//! Permissions of every kind of caller, for every configuration of the server.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use phyllo::database::Database;
use phyllo::graphql::{GraphQl, GraphQlResponse, Methods, Request};
use phyllo::key::hex;
use phyllo::limits::INDEX_POLL_TIME;
use phyllo::store::{Embedded, EmbeddedOptions};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::access::{MUTATION, QUERY, READER, WRITER, bearer, token_file};
use crate::support::{JSON, Response, Server};

/// A client that sends the headers of one caller.
struct Sender<'s> {
    server: &'s Server,
    authorization: Vec<(&'static str, String)>,
}

impl Sender<'_> {
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let own = self.authorization.iter();
        let own = own.map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain(own).collect();
        self.server.ask(method, path, &headers, body)
    }

    fn post(&self, body: &serde_json::Value) -> Response {
        self.ask("POST", "/graphql", &[JSON], &body.to_string())
    }

    fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &[], "")
    }
}

fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// The name of an outcome in the tables below.
fn outcome(response: &Response) -> String {
    match response.status {
        401 | 403 | 405 => format!("{} {}", response.status, response.code()),
        status => status.to_string(),
    }
}

/// Sends every kind of request in every way, and returns the outcomes.
fn outcomes(sender: &Sender<'_>) -> Vec<(&'static str, String)> {
    let persisted =
        |text: &str| json!({"persistedQuery": {"version": 1, "sha256Hash": sha256(text)}});
    let by_get = |query: &str| {
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        sender.get(&format!("/graphql?query={query}"))
    };
    let batch = sender.post(&json!([{"query": QUERY}, {"query": MUTATION}]));
    let mut asked = vec![
        ("query", sender.post(&json!({"query": QUERY}))),
        ("query by GET", by_get(QUERY)),
        ("mutation", sender.post(&json!({"query": MUTATION}))),
        ("mutation by GET", by_get(MUTATION)),
        (
            "mutation that is named among others",
            sender.post(&json!({
                "query": format!("query Q {QUERY} {MUTATION}"), "operationName": "M"
            })),
        ),
        (
            "mutation that is kept",
            sender.post(&json!({"query": MUTATION, "extensions": persisted(MUTATION)})),
        ),
        (
            "mutation by its hash",
            sender.post(&json!({"extensions": persisted(MUTATION)})),
        ),
        ("schema", sender.get("/schema.graphql")),
        ("page", sender.get("/")),
        ("healthz", sender.get("/healthz")),
        ("readyz", sender.get("/readyz")),
        ("OPTIONS", sender.ask("OPTIONS", "/graphql", &[], "")),
    ];
    asked.push(("batch", batch));
    let mut outcomes: Vec<(&'static str, String)> = asked
        .iter()
        .map(|(what, response)| (*what, outcome(response)))
        .collect();
    let (_, batch) = asked.last().expect("the batch");
    if batch.status == 200 {
        let second = &batch.json()[1];
        let code = second["errors"][0]["extensions"]["code"].as_str();
        outcomes.push(("mutation in the batch", code.unwrap_or("done").to_owned()));
    }
    outcomes
}

const ALL_MAY: &[(&str, &str)] = &[
    ("query", "200"),
    ("query by GET", "200"),
    ("mutation", "200"),
    ("mutation by GET", "405 BAD_USER_INPUT"),
    ("mutation that is named among others", "200"),
    ("mutation that is kept", "200"),
    ("mutation by its hash", "200"),
    ("schema", "200"),
    ("page", "200"),
    ("healthz", "200"),
    ("readyz", "200"),
    ("OPTIONS", "204"),
    ("batch", "200"),
    ("mutation in the batch", "done"),
];

const MAY_READ: &[(&str, &str)] = &[
    ("query", "200"),
    ("query by GET", "200"),
    ("mutation", "403 FORBIDDEN"),
    ("mutation by GET", "405 BAD_USER_INPUT"),
    ("mutation that is named among others", "403 FORBIDDEN"),
    ("mutation that is kept", "403 FORBIDDEN"),
    ("mutation by its hash", "403 FORBIDDEN"),
    ("schema", "200"),
    ("page", "200"),
    ("healthz", "200"),
    ("readyz", "200"),
    ("OPTIONS", "204"),
    ("batch", "200"),
    ("mutation in the batch", "FORBIDDEN"),
];

/// On a read-only server the schema has no mutations, so none is persisted.
const NOBODY_WRITES: &[(&str, &str)] = &[
    ("query", "200"),
    ("query by GET", "200"),
    ("mutation", "403 FORBIDDEN"),
    ("mutation by GET", "403 FORBIDDEN"),
    ("mutation that is named among others", "403 FORBIDDEN"),
    ("mutation that is kept", "403 FORBIDDEN"),
    ("mutation by its hash", "200"),
    ("schema", "200"),
    ("page", "200"),
    ("healthz", "200"),
    ("readyz", "200"),
    ("OPTIONS", "204"),
    ("batch", "200"),
    ("mutation in the batch", "FORBIDDEN"),
];

const MAY_NOT: &[(&str, &str)] = &[
    ("query", "401 UNAUTHENTICATED"),
    ("query by GET", "401 UNAUTHENTICATED"),
    ("mutation", "401 UNAUTHENTICATED"),
    ("mutation by GET", "401 UNAUTHENTICATED"),
    ("mutation that is named among others", "401 UNAUTHENTICATED"),
    ("mutation that is kept", "401 UNAUTHENTICATED"),
    ("mutation by its hash", "401 UNAUTHENTICATED"),
    ("schema", "401 UNAUTHENTICATED"),
    ("page", "200"),
    ("healthz", "200"),
    ("readyz", "200"),
    ("OPTIONS", "204"),
    ("batch", "401 UNAUTHENTICATED"),
];

/// Possible `Authorization` headers, by caller.
fn senders() -> Vec<(&'static str, Vec<String>)> {
    vec![
        ("writer", vec![bearer(WRITER)]),
        ("writer", vec![format!("bearer   {WRITER} ")]),
        ("reader", vec![bearer(READER)]),
        ("nobody", vec![]),
        ("nobody", vec![bearer("someone-else-0123456789")]),
        ("nobody", vec![bearer(&WRITER[..WRITER.len() - 1])]),
        ("nobody", vec![bearer("")]),
        ("nobody", vec!["Bearer".to_owned()]),
        ("nobody", vec![WRITER.to_owned()]),
        ("nobody", vec![format!("Basic {WRITER}")]),
        ("nobody", vec![bearer(WRITER), bearer(WRITER)]),
        (
            "nobody",
            vec![format!("{}, {}", bearer(WRITER), bearer(READER))],
        ),
        ("nobody", vec![bearer("writer")]),
    ]
}

#[test]
fn callers_have_exactly_their_permissions() {
    for (tokens, read_only) in [(false, false), (false, true), (true, false), (true, true)] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = token_file(directory.path());
        let mut arguments = vec!["--batch-max", "2"];
        if tokens {
            arguments.extend(["--token-file", &file]);
        }
        if read_only {
            arguments.push("--read-only");
        }
        let server = Server::with(&arguments);
        // The query is persisted under its hash if the caller is admitted.
        for (who, authorization) in senders() {
            let sent = authorization.clone();
            let values = authorization.into_iter();
            let sender = Sender {
                server: &server,
                authorization: values.map(|value| ("authorization", value)).collect(),
            };
            let expected = match (tokens, read_only, who) {
                (true, _, "nobody") => MAY_NOT,
                (_, true, _) => NOBODY_WRITES,
                (true, _, "reader") => MAY_READ,
                _ => ALL_MAY,
            };
            let outcomes = outcomes(&sender);
            let outcomes: Vec<(&str, &str)> = outcomes
                .iter()
                .map(|(what, outcome)| (*what, outcome.as_str()))
                .collect();
            assert_eq!(outcomes, expected, "{tokens} {read_only} {who} {sent:?}");
        }
    }
}

#[test]
fn read_only_callers_cannot_execute_any_mutation() {
    let calls = [
        "insertDocument(document: 1) { key }",
        "replaceDocument(id: 1, document: 2) { key }",
        "copyDocument(id: 2, from: {id: 1}) { key }",
        "testDocument(id: 1, matches: {}) { key }",
        "mergeDocument(id: 1, patch: 2) { key }",
        "patchDocument(id: 1, patch: []) { key }",
        "incrementDocument(id: 1) { key }",
        "deleteDocument(id: 1) { deleted }",
        "appendDocument(document: 1) { key }",
        "updateDocument(id: 1, set: [{at: \"$\", value: 1}]) { key }",
        "updateDocuments(where: {}, everything: true, set: [{at: \"$\", value: 1}]) { matched }",
        "writeDocuments(operations: [{insert: {document: 1}}]) { key }",
        "deleteDocuments(where: {}, everything: true) { matched }",
        "takeDocuments(first: 1) { key }",
        "createIndex(collection: \"D\", name: \"n\", on: [\"$.a\"]) { name }",
        "dropIndex(collection: \"D\", name: \"n\")",
        "setCollectionType(collection: \"D\", schema: {}) { state }",
        "dropCollectionType(collection: \"D\")",
        "dropCollection(collection: \"D\", everything: true) { documents }",
    ];
    let schema = include_str!("../../schema.graphql");
    let mutations = schema.split("type Mutation {\n").nth(1).expect("the type");
    let mutations = mutations.split("\n}").next().expect("its end");
    let fields = mutations.lines().filter_map(|line| {
        let field = line.strip_prefix("  ")?.split('(').next()?;
        field
            .starts_with(|first: char| first.is_ascii_lowercase())
            .then_some(field)
    });
    let called: Vec<&str> = calls
        .iter()
        .filter_map(|call| call.split('(').next())
        .collect();
    assert_eq!(fields.collect::<Vec<_>>(), called, "all that there are");

    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let tokens = Server::with(&["--token-file", &file]);
    let read_only = Server::with(&["--read-only"]);
    for call in calls {
        let body = json!({"query": format!("mutation {{ {call} }}")});
        for (server, authorization) in [(&tokens, vec![bearer(READER)]), (&read_only, vec![])] {
            let values = authorization.into_iter();
            let sender = Sender {
                server,
                authorization: values.map(|value| ("authorization", value)).collect(),
            };
            let response = sender.post(&body);
            assert_eq!(
                outcome(&response),
                "403 FORBIDDEN",
                "{call}: {}",
                response.body
            );
        }
        // The mutation would not be rejected for another reason.
        let writer = ("authorization", &*bearer(WRITER));
        let response = tokens.ask("POST", "/graphql", &[JSON, writer], body.to_string());
        assert_eq!(response.status, 200, "{call}: {}", response.body);
    }
}

#[test]
fn read_only_servers_build_no_indexes() {
    let server = Server::with(&["--read-only"]);
    let directory = server.store().to_owned();
    let state = |server: &Server| {
        let found = server.query("{ collections { indexes { state } } }");
        found["data"]["collections"][0]["indexes"][0]["state"].clone()
    };
    server.signal("TERM");
    let kept = server.stopped();
    assert_eq!(kept.path(), directory);
    // Defines an index and stops the process that would build it.
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let store = Embedded::open(kept.path(), EmbeddedOptions::default(), |_| {});
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        let store = Arc::new(store.expect("a store"));
        let database = Database::open(store, deadline).await.expect("a database");
        let graphql = GraphQl::new(database);
        for query in [
            "mutation { insertDocument(id: 1, document: {a: 1}) { key } }",
            "mutation { createIndex(collection: \"D\", name: \"n\", on: [\"$.a\"]) { state } }",
        ] {
            let request = Request {
                query: query.to_owned(),
                ..Request::default()
            };
            let GraphQlResponse::Executed(json) = graphql.answer(request, Methods::All).await
            else {
                panic!("it is executed");
            };
            assert!(
                !String::from_utf8_lossy(&json).contains("errors"),
                "{query}"
            );
        }
    });
    let server = Server::on(kept, &["--read-only"]);
    // Servers look for indexes to build several times per second.
    for _ in 0..10 {
        assert_eq!(state(&server), "BUILDING");
        sleep(INDEX_POLL_TIME / 4);
    }
    server.signal("TERM");
    let server = Server::on(server.stopped(), &[]);
    while state(&server) != "READY" {
        sleep(Duration::from_millis(20));
    }
}
