//! Who may come in: tokens, rights, and where a server without tokens may listen.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use phyllo::database::Database;
use phyllo::graphql::{Answer, GraphQl, Methods, Request};
use phyllo::key::hex;
use phyllo::limits::INDEX_POLL_TIME;
use phyllo::store::{Embedded, EmbeddedOptions};

use crate::support::{JSON, Response, Server, command};

const READER: &str = "reader-0123456789abcdef";
const WRITER: &str = "writer+0123456789/abcdef==";
const QUERY: &str = "{ __typename }";
const MUTATION: &str = "mutation M { incrementDocument(id: 1) { value } }";

/// A file of the two tokens.
fn token_file(directory: &Path) -> String {
    let path = directory.join("tokens");
    let lines =
        format!("# who may come in\nreader read-only {READER}\nwriter read-write {WRITER}\n");
    fs::write(&path, lines).expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("its owner");
    path.to_str().expect("a plain path").to_owned()
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Sends requests with the headers of one sender.
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

/// What an outcome of a request is called in the tables below.
fn outcome(response: &Response) -> String {
    match response.status {
        401 | 403 | 405 => format!("{} {}", response.status, response.code()),
        status => status.to_string(),
    }
}

/// Asks for everything there is, in every way, and tells the outcomes.
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

/// What may be sent as the header `Authorization`, and whose it is.
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
fn every_sender_may_do_what_the_rules_of_the_server_say() {
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
        // Its text is kept under its hash, as far as the sender may come in.
        for (who, authorization) in senders() {
            let sent = authorization.clone();
            let values = authorization.into_iter();
            let sender = Sender {
                server: &server,
                authorization: values.map(|value| ("authorization", value)).collect(),
            };
            let expected = match (tokens, read_only, who) {
                (true, _, "nobody") => MAY_NOT,
                (_, true, _) | (true, _, "reader") => MAY_READ,
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
fn a_refusal_is_graphql_in_the_type_that_was_asked_for_and_says_how_to_come_in() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let server = Server::with(&[
        "--token-file",
        &file,
        "--cors-origin",
        "https://app.example",
    ]);
    let graphql = "application/graphql-response+json";
    let origin = ("origin", "https://app.example");
    let (reader, wrong) = (bearer(READER), bearer("wrong-0123456789abcdef"));
    for (authorization, query, status, challenge) in [
        (None, QUERY, 401, "Bearer realm=\"phyllo\""),
        (
            Some(&wrong),
            QUERY,
            401,
            "Bearer realm=\"phyllo\", error=\"invalid_token\"",
        ),
        (
            Some(&reader),
            MUTATION,
            403,
            "Bearer realm=\"phyllo\", error=\"insufficient_scope\"",
        ),
    ] {
        for (accept, media) in [
            (graphql, graphql),
            ("*/*", "application/json"),
            ("text/html", "application/json"),
        ] {
            if status == 403 && accept == "text/html" {
                continue; // 406 comes first.
            }
            let mut headers = vec![JSON, origin, ("accept", accept)];
            headers.extend(authorization.map(|value| ("authorization", value.as_str())));
            let body = json!({"query": query}).to_string();
            let response = server.ask("POST", "/graphql", &headers, body);
            assert_eq!(response.status, status);
            assert_eq!(response.header("www-authenticate"), Some(challenge));
            let content_type = response.header("content-type").expect("a type");
            assert!(content_type.starts_with(media), "{accept}: {content_type}");
            // A page of an origin that may send requests can read it.
            assert_eq!(
                response.header("access-control-allow-origin"),
                Some(origin.1)
            );
            let answer = response.json();
            assert_eq!(answer.get("data"), None);
            assert!(answer["errors"][0]["message"].is_string());
        }
    }
    // A preflight carries no token.
    let preflight = [
        origin,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ];
    let response = server.ask("OPTIONS", "/graphql", &preflight, "");
    assert_eq!(
        response.header("access-control-allow-headers"),
        Some("authorization")
    );
}

#[test]
fn nothing_of_a_body_is_read_before_its_sender_is_known() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    let server = Server::with(&["--token-file", &file]);
    let mut connection = server.connect();
    // None of the body that is announced is sent.
    connection.send(crate::support::head("POST", "/graphql", &[JSON], 1000));
    assert_eq!(connection.response(true).status, 401);
}

/// Asks until the answer is of this status: a changed file is looked at within a second or so.
fn wait_for(server: &Server, token: &str, status: u16) {
    for _ in 0..600 {
        let token = bearer(token);
        let headers = [JSON, ("authorization", token.as_str())];
        let body = json!({"query": MUTATION}).to_string();
        if server.ask("POST", "/graphql", &headers, body).status == status {
            return;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("the file was not read anew");
}

#[test]
fn a_changed_file_holds_without_a_restart_and_a_broken_one_leaves_the_old_one_in_force() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    let server = Server::logged(&["--token-file", &path]);
    wait_for(&server, WRITER, 200);
    // The writer's rights are taken back, and a new token is given.
    let new = "newcomer-0123456789abcdef";
    let lines = format!("writer read-only {WRITER}\nnew read-write {new}\n");
    fs::write(&path, &lines).expect("a file");
    wait_for(&server, new, 200);
    wait_for(&server, WRITER, 403);
    wait_for(&server, READER, 401);
    server.wait_for_log("changed and holds from now on");
    for (broken, why) in [
        (
            Some(format!("new read-write {new}\noops {READER}")),
            "line 2",
        ),
        (Some(String::new()), "no token"),
        (None, "cannot be read"),
    ] {
        match broken {
            Some(broken) => fs::write(&path, broken).expect("a file"),
            None => fs::remove_file(&path).expect("it is there"),
        }
        let line = server.wait_for_log(why);
        assert!(
            line.contains("stays in force") && line.contains("ERROR"),
            "{line}"
        );
        wait_for(&server, new, 200);
        wait_for(&server, WRITER, 403);
    }
    // Put in place as editors do.
    let beside = directory.path().join("tokens.new");
    fs::write(&beside, format!("writer read-write {WRITER}\n")).expect("a file");
    fs::rename(&beside, &path).expect("renamed");
    wait_for(&server, WRITER, 200);
    wait_for(&server, new, 401);
    let log = server.log();
    for secret in [READER, WRITER, new] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn a_file_that_others_can_read_is_warned_of() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = token_file(directory.path());
    for (mode, warned) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its owner");
        let server = Server::logged(&["--token-file", &path]);
        assert_eq!(server.log().contains("chmod 600"), warned, "{mode:o}");
    }
}

/// What a server says that does not start.
fn refused_start(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = command(&directory, arguments);
    let output = command.output().expect("it runs");
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn a_file_of_tokens_that_is_none_keeps_the_server_from_starting() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tokens");
    let file = path.to_str().expect("a plain path");
    assert!(refused_start(&["--token-file", file]).contains("cannot be read"));
    fs::write(&path, format!("{READER}\n")).expect("a file");
    let said = refused_start(&["--token-file", file]);
    assert!(said.contains("line 1") && !said.contains(READER), "{said}");
    fs::write(&path, "#".repeat((1 << 20) + 1)).expect("a file");
    assert!(refused_start(&["--token-file", file]).contains("more than"));
}

#[test]
fn an_address_that_others_can_reach_needs_tokens_or_a_plain_word() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = token_file(directory.path());
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let said = refused_start(&["--listen", listen]);
        for way in ["--token-file", "--insecure", "127.0.0.1"] {
            assert!(said.contains(way), "{said}");
        }
    }
    for (arguments, warned) in [
        (
            vec!["--listen", "0.0.0.0:0", "--insecure"],
            "everybody who can reach",
        ),
        (
            vec!["--listen", "0.0.0.0:0", "--token-file", &file],
            "in the clear",
        ),
    ] {
        let server = Server::logged(&arguments);
        assert!(server.log().contains(warned), "{}", server.log());
    }
    for loopback in ["127.0.0.1:0", "127.1.2.3:0", "[::ffff:127.0.0.1]:0"] {
        let mut process = command(&directory, &["--listen", loopback])
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line)
            .expect("a line");
        assert!(line.starts_with("Phyllo serves on"), "{loopback}: {line}");
        process.kill().expect("it runs");
        process.wait().expect("it ends");
    }
}

#[test]
fn no_mutation_of_the_schema_is_executed_for_who_may_only_read() {
    let calls = [
        "insertDocument(document: 1) { id }",
        "replaceDocument(id: 1, document: 2) { id }",
        "mergeDocument(id: 1, patch: 2) { id }",
        "patchDocument(id: 1, patch: []) { id }",
        "incrementDocument(id: 1) { id }",
        "deleteDocument(id: 1)",
        "updateDocuments(where: {}, everything: true, set: [{at: \"$\", value: 1}]) { matched }",
        "deleteDocuments(where: {}, everything: true) { matched }",
        "createIndex(collection: \"D\", name: \"n\", on: [\"$.a\"]) { name }",
        "dropIndex(collection: \"D\", name: \"n\")",
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
        // It is none that would be refused for another reason.
        let writer = ("authorization", &*bearer(WRITER));
        let response = tokens.ask("POST", "/graphql", &[JSON, writer], body.to_string());
        assert_eq!(response.status, 200, "{call}: {}", response.body);
    }
}

#[test]
fn a_server_that_is_read_only_builds_no_index() {
    let server = Server::with(&["--read-only"]);
    let directory = server.store().to_owned();
    let state = |server: &Server| {
        let found = server.query("{ collections { indexes { state } } }");
        found["data"]["collections"][0]["indexes"][0]["state"].clone()
    };
    server.signal("TERM");
    let kept = server.stopped();
    assert_eq!(kept.path(), directory);
    // An index is defined, and whoever would build it is gone.
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let store = Embedded::open(kept.path(), EmbeddedOptions::default(), |_| {});
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        let store = Arc::new(store.expect("a store"));
        let database = Database::open(store, deadline).await.expect("a database");
        let graphql = GraphQl::new(database);
        for query in [
            "mutation { insertDocument(id: 1, document: {a: 1}) { id } }",
            "mutation { createIndex(collection: \"D\", name: \"n\", on: [\"$.a\"]) { state } }",
        ] {
            let request = Request {
                query: query.to_owned(),
                ..Request::default()
            };
            let Answer::Executed(json) = graphql.answer(request, Methods::All).await else {
                panic!("it is executed");
            };
            assert!(
                !String::from_utf8_lossy(&json).contains("errors"),
                "{query}"
            );
        }
    });
    let server = Server::on(kept, &["--read-only"]);
    // Others look for an index to build several times a second.
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
