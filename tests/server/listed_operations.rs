//! Listed operations (`--operations`): manifests as build tools write them, and requests by id.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use phyllo::limits::{OPERATION_CACHED_BYTES_MAX, OPERATIONS_CACHED_MAX};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::persisted::hash;
use crate::support::{JSON, Response, Server, command, insertion};
use crate::websockets::acknowledged;

const TITLE: &str =
    "query Title($id: ID!) {\n  document(id: $id) {\n    value(path: \"/title\")\n  }\n}";
const COUNT: &str =
    "mutation Count($id: ID!) { incrementDocument(id: $id, path: \"/n\") { value } }";
const INVALID: &str = "query Invalid {\n  nothing\n}";

/// The ids of [`TITLE`] and [`COUNT`] in the manifest of a tool.
struct Manifest {
    text: String,
    title: String,
    count: String,
}

/// As Apollo's `generate-persisted-query-manifest` writes it: ids are the SHA-256 of the text.
fn apollo() -> Manifest {
    let operation = |name: &str, ty: &str, body: &str| json!({"id": hash(body), "name": name, "type": ty, "body": body});
    let text = json!({
        "format": "apollo-persisted-query-manifest",
        "version": 1,
        "operations": [
            operation("Count", "mutation", COUNT),
            operation("Title", "query", TITLE),
        ],
    });
    Manifest {
        text: format!("{text:#}"),
        title: hash(TITLE),
        count: hash(COUNT),
    }
}

/// As Relay's compiler (MD5) and GraphQL Code Generator (SHA-1) write it.
fn map(title: &str, count: &str) -> Manifest {
    Manifest {
        text: format!("{:#}", json!({title: TITLE, count: COUNT})),
        title: title.to_owned(),
        count: count.to_owned(),
    }
}

fn manifests() -> [Manifest; 3] {
    [
        apollo(),
        map(
            "5d41402abc4b2a76b9719d911017c592",
            "7d793037a0760186574b0282f2f435e7",
        ),
        map(
            "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
            "7c211433f02071597741e6ff5a8ea34789abbf43",
        ),
    ]
}

fn write(directory: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = directory.path().join(name);
    fs::write(&path, text).expect("a file");
    path
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn post(server: &Server, body: &Value) -> Response {
    server.ask("POST", "/graphql", &[JSON], body.to_string())
}

fn get(server: &Server, parameters: &[(&str, &str)]) -> Response {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.extend_pairs(parameters).finish();
    server.ask("GET", &format!("/graphql?{query}"), &[], "")
}

fn persisted(hash: &str) -> Value {
    json!({"persistedQuery": {"version": 1, "sha256Hash": hash}})
}

/// A server with a document and with these flags after `--operations FILE`.
fn start(file: &Path, flags: &[&str]) -> Server {
    let arguments = [&["--operations", plain(file)], flags].concat();
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::on(directory, &[]);
    post(
        &server,
        &serde_json::from_str(&insertion("1", r#"{"title": "a", "n": 0}"#)).expect("JSON"),
    );
    server.signal("TERM");
    Server::logged_on(server.stopped(), "info", &arguments)
}

#[test]
fn listed_operations_are_executed_by_id_over_every_transport() {
    let directory = tempfile::tempdir().expect("a directory");
    let variables = json!({"id": "1"});
    let title = json!({"data": {"document": {"value": "a"}}});
    for Manifest {
        text,
        title: title_id,
        count,
    } in manifests()
    {
        let file = write(&directory, "operations.json", &text);
        for flags in [&[][..], &["--operations-only"]] {
            let server = start(&file, flags);
            server.wait_for_log("2 operations are listed");
            let by_id = json!({"documentId": title_id, "variables": variables});
            assert_eq!(post(&server, &by_id).json(), title);
            let text = variables.to_string();
            let response = get(&server, &[("documentId", &title_id), ("variables", &text)]);
            assert_eq!(response.json(), title);
            assert!(response.header("etag").is_some());
            let mut socket = acknowledged(&server);
            assert_eq!(socket.request(&by_id), title);
            let events = server.ask(
                "POST",
                "/graphql",
                &[JSON, ("accept", "text/event-stream")],
                by_id.to_string(),
            );
            assert!(events.body.contains(&title.to_string()), "{events:?}");
            // By the hash of the text, whatever the ids of the manifest are.
            let by_hash = json!({"extensions": persisted(&hash(TITLE)), "variables": variables});
            assert_eq!(post(&server, &by_hash).json(), title);
            assert_eq!(socket.request(&by_hash), title);
            let prefixed = format!("sha256:{}", hash(TITLE));
            let prefixed = json!({"documentId": prefixed, "variables": variables});
            assert_eq!(post(&server, &prefixed).json(), title);
            // Clients of automatic persisted queries send the text, too.
            for id in [&json!({"documentId": title_id}), &by_hash] {
                let mut both = id.clone();
                both["query"] = json!(TITLE);
                both["variables"] = variables.clone();
                assert_eq!(post(&server, &both).json(), title);
                both["query"] = json!("{ __typename }");
                assert_eq!(post(&server, &both).code(), "BAD_USER_INPUT");
            }
            // A mutation needs POST.
            let by_id = json!({"documentId": count, "variables": variables});
            let counted = post(&server, &by_id).json();
            assert_eq!(counted["data"]["incrementDocument"]["value"]["n"], json!(1));
            let variables = variables.to_string();
            let response = get(
                &server,
                &[("documentId", &count), ("variables", &variables)],
            );
            assert_eq!(response.status, 405);
            let metrics = server.ask("GET", "/metrics", &[], "").body;
            for counted in [
                r#"phyllo_persisted_queries_total{result="miss"} 0"#,
                r#"phyllo_operation_cache_total{result="miss"} 0"#,
            ] {
                assert!(metrics.contains(counted), "{metrics}");
            }
        }
    }
}

#[test]
fn unknown_ids_are_not_found() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = write(&directory, "operations.json", &apollo().text);
    for flags in [&[][..], &["--operations-only"]] {
        let server = start(&file, flags);
        let unknown = hash("{ other }");
        for body in [
            json!({"documentId": unknown}),
            json!({"documentId": "sha256:"}),
            json!({"documentId": ""}),
            json!({"documentId": format!("{}x", hash(TITLE))}),
            json!({"extensions": persisted(&unknown)}),
        ] {
            let response = post(&server, &body);
            assert_eq!(response.status, 200, "{body}");
            assert_eq!(response.code(), "PERSISTED_QUERY_NOT_FOUND", "{body}");
            let message = &response.json()["errors"][0]["message"];
            assert_eq!(message, "PersistedQueryNotFound");
        }
        let mut socket = acknowledged(&server);
        let errors = socket.request(&json!({ "documentId": unknown }));
        let code = &errors[0]["extensions"]["code"];
        assert_eq!(code, "PERSISTED_QUERY_NOT_FOUND");
        let response = get(&server, &[("documentId", &unknown)]);
        assert_eq!(response.code(), "PERSISTED_QUERY_NOT_FOUND");
        for invalid in [
            json!({"documentId": 5}),
            json!({"documentId": unknown, "extensions": persisted(&hash(TITLE))}),
            json!({"query": "{ __typename }", "documentId": hash(TITLE)}),
            json!({}),
        ] {
            assert_eq!(
                post(&server, &invalid).code(),
                "BAD_USER_INPUT",
                "{invalid}"
            );
        }
        let long = json!({"documentId": "x".repeat(257)});
        let error = &post(&server, &long).json()["errors"][0]["extensions"];
        assert_eq!(error["code"], "TOO_LARGE");
        assert_eq!(error["limitName"], "queryIdBytes");
    }
}

#[test]
fn operations_that_are_not_listed_are_rejected_if_only_listed_ones_are_allowed() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = write(&directory, "operations.json", &apollo().text);
    let server = start(&file, &["--operations-only", "--batch-max", "2"]);
    let other = "{ __typename }";
    let refused = [
        json!({"query": other}),
        json!({"query": "{ __schema { queryType { name } } }"}),
        json!({"query": "{ _service { sdl } }"}),
        json!({"query": "mutation { deleteDocument(id: 1) { deletedId } }"}),
        // A listed text needs its id.
        json!({"query": TITLE, "variables": {"id": "1"}}),
        // Nothing can be added to the list by its hash.
        json!({"query": other, "extensions": persisted(&hash(other))}),
        json!({"query": other, "documentId": "unknown"}),
    ];
    let mut socket = acknowledged(&server);
    for body in &refused {
        let response = post(&server, body);
        assert_eq!(response.status, 403, "{body}");
        assert_eq!(response.code(), "FORBIDDEN", "{body}");
        let message = response.json()["errors"][0]["message"].to_string();
        assert!(message.contains("documentId"), "{message}");
        assert_eq!(socket.request(body)[0]["extensions"]["code"], "FORBIDDEN");
    }
    let by_hash = json!({"extensions": persisted(&hash(other))});
    assert_eq!(post(&server, &by_hash).code(), "PERSISTED_QUERY_NOT_FOUND");
    assert_eq!(get(&server, &[("query", other)]).status, 403);
    let subscription = json!({"query": "subscription { document(id: 1) { value } }"});
    let events = [JSON, ("accept", "text/event-stream")];
    let response = server.ask("POST", "/graphql", &events, subscription.to_string());
    assert!(response.body.contains("FORBIDDEN"), "{response:?}");
    let listed = json!({"documentId": hash(TITLE), "variables": {"id": "1"}});
    let batch = post(&server, &json!([refused[0], listed])).json();
    assert_eq!(batch[0]["errors"][0]["extensions"]["code"], "FORBIDDEN");
    assert_eq!(batch[1], json!({"data": {"document": {"value": "a"}}}));
    // The schema is no operation.
    assert_eq!(server.ask("GET", "/schema.graphql", &[], "").status, 200);
}

#[test]
fn invalid_operations_are_logged_with_their_id_and_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let levels = format!("{}a{}", "{ a ".repeat(40), " }".repeat(40));
    let text = json!({"good": TITLE, "bad": INVALID, "deep": levels, "cut": "{", "write": COUNT});
    let file = write(&directory, "operations.json", &text.to_string());
    let server = start(&file, &["--read-only"]);
    for (id, reason) in [
        ("bad", "line 2, column 3: "),
        ("deep", "32"),
        ("cut", "line 1, column "),
        ("write", "read-only"),
    ] {
        let line = server.wait_for_log(&format!("the operation {id:?}"));
        let expected =
            line.contains("ERROR") && line.contains(reason) && line.contains(plain(&file));
        assert!(expected, "{line}");
        let errors = &post(&server, &json!({ "documentId": id })).json()["errors"];
        assert!(errors.is_array(), "{errors}");
    }
    server.wait_for_log("4 of the 5 listed operations");
    let listed = json!({"documentId": "good", "variables": {"id": "1"}});
    assert!(post(&server, &listed).json()["data"].is_object());
}

/// Repeats the request until its response has this code, or none.
fn wait_for(server: &Server, id: &str, code: Option<&str>) {
    let begin = Instant::now();
    loop {
        let response = post(server, &json!({"documentId": id, "variables": {"id": "1"}})).json();
        if response["errors"][0]["extensions"]["code"].as_str() == code {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{response}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn changed_files_are_reloaded_and_invalid_ones_keep_the_previous_list() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = write(&directory, "first.json", &json!({"a": TITLE}).to_string());
    let second = write(&directory, "second.json", &json!({"b": COUNT}).to_string());
    let server = start(
        &first,
        &["--operations", plain(&second), "--operations-only"],
    );
    wait_for(&server, "a", None);
    wait_for(&server, "b", None);
    fs::write(&first, json!({"c": TITLE, "bad": INVALID}).to_string()).expect("a file");
    wait_for(&server, "c", None);
    wait_for(&server, "a", Some("PERSISTED_QUERY_NOT_FOUND"));
    wait_for(&server, "b", None);
    server.wait_for_log("the operation \"bad\"");
    for (broken, reason) in [
        ("{\n  \"a\": \"{ a }\",\n  oops\n}", "line 3, column 3"),
        (
            "{\n  \"a\": 5\n}",
            "manifest 1 of 2: line 2, column 8: the operation \"a\" is 5",
        ),
        (
            &json!({"b": TITLE}).to_string(),
            "the id \"b\" has two different operations",
        ),
    ] {
        fs::write(&first, broken).expect("a file");
        let line = server.wait_for_log(reason);
        assert!(
            line.contains("ERROR") && line.contains("stays in effect"),
            "{line}"
        );
        assert!(line.contains(plain(&first)), "{line}");
        wait_for(&server, "c", None);
    }
    fs::remove_file(&first).expect("it is there");
    server.wait_for_log("cannot be read");
    wait_for(&server, "c", None);
    fs::write(&first, "{}").expect("a file");
    server.signal("HUP");
    wait_for(&server, "c", Some("PERSISTED_QUERY_NOT_FOUND"));
    wait_for(&server, "b", None);
}

#[test]
fn invalid_files_prevent_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing");
    let invalid = write(&directory, "invalid.json", "{\n\"a\": 1}");
    for (arguments, reason) in [
        (&["--operations", plain(&missing)][..], "cannot be read"),
        (
            &["--operations", plain(&invalid)],
            "--operations: line 2, column 6",
        ),
        (&["--operations-only"], "--operations <FILE>"),
    ] {
        let store = tempfile::tempdir().expect("a directory");
        let output = command(&store, arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(reason), "{said}");
    }
}

/// Other queries evict one another from the cache, and a large one is not cached at all.
#[test]
fn listed_operations_stay_prepared() {
    const LONG_NAME: usize = 4_000;
    let directory = tempfile::tempdir().expect("a directory");
    // The plan has the path once for each use of the fragment.
    let uses = OPERATION_CACHED_BYTES_MAX / LONG_NAME;
    let uses: Vec<String> = (0..uses)
        .map(|n| format!("a{n}: document(id: $id) {{ ...F }}"))
        .collect();
    let uses = uses.join(" ");
    let path = "x".repeat(LONG_NAME);
    let large = format!(
        "query ($id: ID!) {{ {uses} }} fragment F on Subdocument {{ value(path: \"/{path}\") }}"
    );
    let text = json!({"short": TITLE, "large": large}).to_string();
    let file = write(&directory, "operations.json", &text);
    let server = start(&file, &[]);
    let mut connection = server.connect();
    for number in 0..=OPERATIONS_CACHED_MAX {
        let body = json!({"query": format!("{{ a{number}: __typename }}")});
        let response = connection.ask("POST", "/graphql", &[JSON], body.to_string());
        assert_eq!(response.status, 200);
    }
    let misses = format!(
        r#"phyllo_operation_cache_total{{result="miss"}} {}"#,
        OPERATIONS_CACHED_MAX + 1
    );
    for id in ["short", "large"] {
        wait_for(&server, id, None);
        let metrics = server.ask("GET", "/metrics", &[], "").body;
        assert!(metrics.contains(&misses), "{metrics}");
    }
}

#[test]
fn limits_on_cost_hold_for_listed_operations() {
    let directory = tempfile::tempdir().expect("a directory");
    let fields: Vec<String> = (0..20).map(|n| format!("a{n}: __typename")).collect();
    let many = format!("{{ {} }}", fields.join(" "));
    let text = json!({"many": many, "title": TITLE}).to_string();
    let file = write(&directory, "operations.json", &text);
    let server = start(
        &file,
        &["--query-fields-max", "10", "--response-fields-max", "1"],
    );
    server.wait_for_log("the operation \"many\"");
    let response = post(&server, &json!({"documentId": "many"})).json();
    let extensions = &response["errors"][0]["extensions"];
    assert_eq!(extensions["limitName"], "queryFields");
    let listed = json!({"documentId": "title", "variables": {"id": "1"}});
    let response = post(&server, &listed).json();
    let extensions = &response["errors"][0]["extensions"];
    assert_eq!(extensions["limitName"], "responseFields", "{response}");
}
