//! Tokens and access rules are those of GraphQL.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{MERGE_PATCH, NDJSON, assert_problem, code, lines};
use crate::access::{READER, WRITER, bearer, token_file};
use crate::support::{JSON, Response, Server, head};

const RULES: &str = r#"
[[allow]]
who = "anyone"
actions = ["read", "list"]
collection = "articles"
where = { at = "$.status", eq = "published" }

[[allow]]
who = { token = "writer" }
actions = ["read", "list", "write", "create", "delete", "index"]
collection = "*"

[[allow]]
who = { token = "reader" }
actions = ["write", "create"]
collection = "inbox"

[[allow]]
who = { token = "reader" }
actions = ["write", "create"]
collection = "articles"
where = { at = "$.status", eq = "draft" }

[[allow]]
who = { token = "reader" }
actions = ["write", "create"]
collection = "own"
id = "r"

[[allow]]
who = { token = "reader" }
actions = ["write"]
collection = "tagged"
path = "/tags"
"#;

struct World {
    server: Server,
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let tokens = directory.path().join("tokens");
        let lines = format!("reader read-write {READER}\nwriter read-write {WRITER}\n");
        fs::write(&tokens, lines).expect("a file");
        fs::set_permissions(&tokens, Permissions::from_mode(0o600)).expect("its owner");
        let rules = directory.path().join("rules.toml");
        fs::write(&rules, RULES).expect("a file");
        let [tokens, rules] = [tokens, rules].map(|path| path.to_str().expect("plain").to_owned());
        let server = Server::with(&["--token-file", &tokens, "--rules", &rules]);
        let world = Self { server, directory };
        for (key, body) in [
            ("1", r#"{"status": "published", "text": "t"}"#),
            ("2", r#"{"status": "draft", "text": "t"}"#),
        ] {
            let path = format!("/documents/articles/{key}");
            let stored = world.ask(Some(WRITER), "PUT", &path, &[JSON], body);
            assert_eq!(stored.status, 201, "{stored:?}");
        }
        let path = "/documents/tagged/1";
        let stored = world.ask(Some(WRITER), "PUT", path, &[JSON], r#"{"tags": {}}"#);
        assert_eq!(stored.status, 201, "{stored:?}");
        world
    }

    fn ask(
        &self,
        token: Option<&str>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let token = token.map(bearer);
        let mut all = headers.to_vec();
        all.extend(
            token
                .as_ref()
                .map(|token| ("authorization", token.as_str())),
        );
        self.server.ask(method, path, &all, body)
    }
}

#[test]
fn a_hidden_document_is_absent() {
    let world = World::new();
    let shown = world.ask(None, "GET", "/documents/articles/1/text", &[], "");
    assert_eq!((shown.status, &*shown.body), (200, "\"t\""));
    let hidden = world.ask(None, "GET", "/documents/articles/2/text", &[], "");
    let absent = world.ask(None, "GET", "/documents/articles/3/text", &[], "");
    assert_problem(&hidden, 404, "NOT_FOUND");
    assert_eq!(hidden.body, absent.body);
    for (name, value) in [("if-none-match", "*"), ("if-match", "*")] {
        let [hidden, absent] = ["2", "3"].map(|key| {
            let path = format!("/documents/articles/{key}");
            world.ask(None, "GET", &path, &[(name, value)], "")
        });
        assert_eq!((hidden.status, hidden.body), (absent.status, absent.body));
    }
    let other = world.ask(None, "GET", "/documents/other/1", &[], "");
    assert_problem(&other, 403, "FORBIDDEN");
}

#[test]
fn writes_need_their_rights() {
    let world = World::new();
    for (method, headers, body) in [
        ("PUT", JSON, "1"),
        ("PATCH", MERGE_PATCH, "{}"),
        ("DELETE", JSON, ""),
    ] {
        for key in ["1", "2", "3"] {
            let path = format!("/documents/articles/{key}");
            let refused = world.ask(None, method, &path, &[headers], body);
            assert_problem(&refused, 403, "FORBIDDEN");
        }
    }
}

#[test]
fn who_may_only_write_is_not_told_what_was_there() {
    let world = World::new();
    let path = "/documents/inbox/1";
    let stored = world.ask(Some(READER), "PUT", path, &[JSON], "1");
    // Whether the place was empty is not told, and the version is, as in GraphQL.
    assert_eq!(stored.status, 204, "{stored:?}");
    assert!(stored.header("etag").is_some());
    let conditional = [JSON, ("if-none-match", "*")];
    let refused = world.ask(Some(READER), "PUT", path, &conditional, "2");
    assert_problem(&refused, 403, "FORBIDDEN");
    let patched = world.ask(Some(READER), "PATCH", path, &[MERGE_PATCH], "2");
    assert_problem(&patched, 403, "FORBIDDEN");
    let read = world.ask(Some(WRITER), "GET", path, &[], "");
    assert_eq!(read.body, "1");
}

#[test]
fn an_export_has_the_documents_that_the_rules_show() {
    let world = World::new();
    let export = world.ask(None, "GET", "/documents/articles", &[], "");
    let published = "{\"id\":\"1\",\"document\":{\"status\":\"published\",\"text\":\"t\"}}\n";
    assert_eq!((export.status, &*export.body), (200, published));
    let after = world.ask(None, "GET", "/documents/articles?after=1", &[], "");
    assert_eq!((after.status, &*after.body), (200, ""));
    let export = world.ask(Some(WRITER), "GET", "/documents/articles", &[], "");
    assert_eq!(export.body.lines().count(), 2);
    // To read is not to find.
    let export = world.ask(Some(READER), "GET", "/documents/inbox", &[], "");
    assert_problem(&export, 403, "FORBIDDEN");
    let unknown = world.ask(None, "GET", "/documents/other", &[], "");
    assert_problem(&unknown, 403, "FORBIDDEN");
}

/// What became of each line, by its key.
fn outcomes(response: &Response) -> Vec<(String, String)> {
    assert_eq!(response.status, 200, "{response:?}");
    let rejected = lines(response)
        .into_iter()
        .filter(|line| line["line"].is_u64());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rejected
        .map(|line| (text(&line["key"]), text(&line["code"])))
        .collect()
}

#[test]
fn each_line_needs_the_rights_that_it_uses() {
    let world = World::new();
    let post = |token, path: &str, keys: &[&str], document: &str| {
        let line = |key: &&str| format!("{{\"id\":\"{key}\",\"document\":{document}}}\n");
        let body: String = keys.iter().map(line).collect();
        let path = format!("/documents/{path}onError=continue");
        world.ask(token, "POST", &path, &[NDJSON], &body)
    };
    let forbidden = |keys: &[&str]| -> Vec<(String, String)> {
        let forbidden = |key: &&str| ((*key).to_owned(), "FORBIDDEN".to_owned());
        keys.iter().map(forbidden).collect()
    };
    let refused = post(None, "articles?", &["9"], "1");
    assert_problem(&refused, 403, "FORBIDDEN");
    // The rule covers documents with this status, before and after the change.
    let draft = r#"{"status": "draft", "n": 1}"#;
    let done = post(
        Some(READER),
        "articles?mode=replace&",
        &["1", "2", "3"],
        draft,
    );
    assert_eq!(outcomes(&done), forbidden(&["1"]));
    let published = r#"{"status": "published"}"#;
    let done = post(
        Some(READER),
        "articles?mode=replace&",
        &["2", "4"],
        published,
    );
    assert_eq!(outcomes(&done), forbidden(&["2", "4"]));
    let done = post(
        Some(READER),
        "articles?mode=merge&",
        &["1", "2"],
        r#"{"n": 2}"#,
    );
    assert_eq!(outcomes(&done), forbidden(&["1"]));
    let done = post(Some(READER), "articles?", &["2", "5"], published);
    let exists = ("2".to_owned(), "ALREADY_EXISTS".to_owned());
    assert_eq!(outcomes(&done), [vec![exists], forbidden(&["5"])].concat());
    // A rule for one document, and one for a place in every document.
    let done = post(Some(READER), "own?mode=replace&", &["r", "s"], "1");
    assert_eq!(outcomes(&done), forbidden(&["s"]));
    let done = post(
        Some(READER),
        "tagged?mode=merge&path=/tags&",
        &["1", "2"],
        "{\"a\":1}",
    );
    assert_eq!(outcomes(&done), forbidden(&["2"]));
    let done = post(Some(READER), "tagged?mode=merge&", &["1"], "{\"a\":1}");
    assert_eq!(outcomes(&done), forbidden(&["1"]));
    let found = |path: &str| world.ask(Some(WRITER), "GET", path, &[], "").body;
    assert_eq!(
        found("/documents/articles/2"),
        r#"{"n":2,"status":"draft"}"#
    );
    assert_eq!(
        found("/documents/articles/3"),
        r#"{"n":1,"status":"draft"}"#
    );
    assert_eq!(
        found("/documents/tagged"),
        "{\"id\":\"1\",\"document\":{\"tags\":{\"a\":1}}}\n"
    );
    assert_eq!(found("/documents/own"), "{\"id\":\"r\",\"document\":1}\n");
}

#[test]
fn a_taken_value_does_not_name_the_other_document() {
    let world = World::new();
    let index = r#"{"query": "mutation { createIndex(collection: \"inbox\", name: \"n\", on: [\"$.n\"], unique: true) { state } }"}"#;
    let made = world.ask(Some(WRITER), "POST", "/graphql", &[JSON], index);
    assert_eq!(made.json()["errors"], Value::Null, "{made:?}");
    let body =
        "{\"id\":\"secret\",\"document\":{\"n\":1}}\n{\"id\":\"mine\",\"document\":{\"n\":1}}\n";
    let path = "/documents/inbox?onError=continue";
    let done = world.ask(Some(READER), "POST", path, &[NDJSON], body);
    let report = lines(&done);
    assert_eq!(
        (&report[0]["key"], &report[0]["code"]),
        (&json!("mine"), &json!("UNIQUE_VIOLATION"))
    );
    assert!(!done.body.contains("secret"), "{}", done.body);
}

#[test]
fn a_line_that_refers_to_a_hidden_document_is_as_one_that_refers_to_none() {
    let world = World::new();
    let reference = json!({"collection": "articles", "as": "inArticle", "exists": true});
    let schema = json!({"type": "object", "title": "Note", "properties": {
        "article": {"type": "string", "x-reference": reference}
    }});
    let set =
        "mutation($s: JSON!) { setCollectionType(collection: \"inbox\", schema: $s) { state } }";
    let body = json!({"query": set, "variables": {"s": schema}}).to_string();
    let made = world.ask(Some(WRITER), "POST", "/graphql", &[JSON], &body);
    assert_eq!(made.json()["errors"], Value::Null, "{made:?}");
    let line = |key: &str, article: &str| {
        format!("{{\"id\":\"{key}\",\"document\":{{\"article\":\"{article}\"}}}}\n")
    };
    // A published one, a draft, and one that does not exist.
    let body = [line("shown", "1"), line("hidden", "2"), line("absent", "x")].concat();
    let path = "/documents/inbox?onError=continue";
    let done = world.ask(Some(READER), "POST", path, &[NDJSON], &body);
    let report = lines(&done);
    for (report, key) in report.iter().zip(["hidden", "absent"]) {
        assert_eq!(
            (&report["key"], &report["code"]),
            (&json!(key), &json!("TYPE_MISMATCH")),
            "{done:?}"
        );
    }
    let reason = |at: usize| report[at]["reason"].as_str().expect("a text");
    assert_eq!(
        reason(0)
            .replace("\"2\"", "\"x\"")
            .replace("hidden", "absent"),
        reason(1)
    );
    assert_eq!(report.last().expect("the end")["written"], json!(1));
    // Who may read all articles can refer to each that exists.
    let done = world.ask(Some(WRITER), "POST", path, &[NDJSON], &body);
    let report = lines(&done);
    let rejected: Vec<_> = report
        .iter()
        .filter_map(|line| line["key"].as_str())
        .collect();
    assert_eq!(rejected, ["shown", "absent"], "{done:?}");
}

#[test]
fn streams_notice_new_rules() {
    let world = World::new();
    let token = bearer(READER);
    let headers = [
        NDJSON,
        ("transfer-encoding", "chunked"),
        ("authorization", &*token),
    ];
    let mut upload = world.server.connect();
    upload.send(head(
        "POST",
        "/documents/inbox?onError=continue",
        &headers,
        0,
    ));
    let line = |n: usize| format!("{{\"id\":\"{n}\",\"document\":1}}\n");
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let batch: String = (0..1_000).map(line).collect();
    upload.send(chunk(&batch));
    while world
        .ask(Some(WRITER), "GET", "/documents/inbox/999", &[], "")
        .status
        != 200
    {}
    let rules = RULES.replace("\"inbox\"", "\"elsewhere\"");
    fs::write(world.directory.path().join("rules.toml"), rules).expect("a file");
    while world
        .ask(Some(READER), "PUT", "/documents/inbox/x", &[JSON], "1")
        .status
        != 403
    {}
    upload.send(chunk(&line(1_000)));
    upload.send("0\r\n\r\n");
    let done = upload.response(true);
    assert_eq!(
        outcomes(&done),
        [("1000".to_owned(), "FORBIDDEN".to_owned())]
    );
}

#[test]
fn tokens_are_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::with(&["--token-file", &token_file(directory.path())]);
    let anonymous = server.ask("GET", "/documents/D/a", &[], "");
    assert_problem(&anonymous, 401, "UNAUTHENTICATED");
    assert_eq!(
        anonymous.header("www-authenticate"),
        Some("Bearer realm=\"phyllo\"")
    );
    let reader = bearer(READER);
    let token = ("authorization", &*reader);
    let refused = server.ask("PUT", "/documents/D/a", &[JSON, token], "1");
    assert_problem(&refused, 403, "FORBIDDEN");
    let lines = server.ask("POST", "/documents/D", &[NDJSON, token], "");
    assert_problem(&lines, 403, "FORBIDDEN");
    let absent = server.ask("GET", "/documents/D/a", &[token], "");
    assert_eq!((absent.status, &*code(&absent)), (404, "NOT_FOUND"));
}
