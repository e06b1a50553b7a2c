//! Tokens and access rules are those of GraphQL.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::{MERGE_PATCH, NDJSON, assert_problem, code};
use crate::access::{READER, WRITER, bearer, token_file};
use crate::support::{JSON, Response, Server};

const RULES: &str = r#"
[[allow]]
who = "anyone"
actions = ["read", "list"]
collection = "articles"
where = { at = "$.status", eq = "published" }

[[allow]]
who = { token = "writer" }
actions = ["read", "list", "write", "create", "delete"]
collection = "*"

[[allow]]
who = { token = "reader" }
actions = ["write", "create"]
collection = "inbox"
"#;

struct World {
    server: Server,
    _directory: tempfile::TempDir,
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
        let world = Self {
            server,
            _directory: directory,
        };
        for (key, body) in [
            ("1", r#"{"status": "published", "text": "t"}"#),
            ("2", r#"{"status": "draft", "text": "t"}"#),
        ] {
            let path = format!("/documents/articles/{key}");
            let stored = world.ask(Some(WRITER), "PUT", &path, &[JSON], body);
            assert_eq!(stored.status, 201, "{stored:?}");
        }
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
fn streams_of_lines_need_rights_in_the_whole_collection() {
    let world = World::new();
    let export = world.ask(None, "GET", "/documents/articles", &[], "");
    assert_problem(&export, 403, "FORBIDDEN");
    let line = "{\"id\":\"9\",\"document\":1}\n";
    let refused = world.ask(None, "POST", "/documents/articles", &[NDJSON], line);
    assert_problem(&refused, 403, "FORBIDDEN");
    let inserted = world.ask(Some(READER), "POST", "/documents/inbox", &[NDJSON], line);
    assert_eq!(inserted.status, 200);
    let export = world.ask(Some(READER), "GET", "/documents/inbox", &[], "");
    assert_problem(&export, 403, "FORBIDDEN");
    let export = world.ask(Some(WRITER), "GET", "/documents/inbox", &[], "");
    assert_eq!(
        (export.status, &*export.body),
        (200, "{\"id\":\"9\",\"document\":1}\n")
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
