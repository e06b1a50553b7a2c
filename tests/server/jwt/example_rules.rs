//! The rule files of docs/rules on a server: what users and tokens get, and what they are refused.

use serde_json::{Value, json};

use super::Files;
use super::keys::{SignerKey, claims, key_set};
use crate::access::bearer;
use crate::support::{JSON, Server};

const BACKEND: &str = "backend-0123456789abcdef";
const DASHBOARD: &str = "dashboard-0123456789abcdef";
/// The code of what no rule allows.
const NO: &str = "FORBIDDEN";

/// A server with the rules of a file, and documents that were stored before.
struct Example {
    server: Server,
    key: SignerKey,
    _files: Files,
}

impl Example {
    /// `documents` are fields of a mutation.
    fn start(name: &str, documents: &[&str], more: &[(&str, &str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let stored = Server::on(directory, &[]);
        for fields in documents {
            let response = stored.query(&format!("mutation {{ {fields} }}"));
            assert!(response["errors"].is_null(), "{fields}: {response}");
        }
        stored.signal("TERM");
        let directory = stored.stopped();

        let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
        let keys = files.write("keys.json", &key_set([&key]));
        let tokens = format!("backend read-write {BACKEND}\ndashboard read-only {DASHBOARD}\n");
        let tokens = files.write("tokens", &tokens);
        let mut flags = files.flags(&keys, &["--token-file", &tokens]);
        let at = flags.iter().position(|flag| flag == "--rules");
        flags[at.expect("a file of rules") + 1] = format!("docs/rules/{name}.toml");
        for (flag, name, text) in more {
            flags.extend([(*flag).to_owned(), files.write(name, text)]);
        }
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Self {
            server: Server::on(directory, &flags),
            key,
            _files: files,
        }
    }

    fn user(&self, of_user: &Value) -> String {
        self.key.token(&claims(of_user))
    }

    fn send(&self, token: &str, body: &Value) -> Value {
        let token = bearer(token);
        let mut headers = vec![JSON];
        if token != bearer("") {
            headers.push(("authorization", &token));
        }
        let body = body.to_string();
        let response = self.server.ask("POST", "/graphql", &headers, body);
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }

    /// Asserts the value of the only field of each operation, or the code of its error. The token of nobody is
    /// empty.
    fn check(&self, cases: &[(&str, &str, Value)]) {
        for (token, query, expected) in cases {
            let response = self.send(token, &json!({ "query": query }));
            let code = &response["errors"][0]["extensions"]["code"];
            let fields = response["data"].as_object();
            let found = match fields.and_then(|fields| fields.values().next()) {
                Some(field) if code.is_null() => field,
                _ => code,
            };
            assert_eq!(found, expected, "{query}: {response}");
        }
    }
}

#[test]
fn users_have_their_own_profiles() {
    let of = |id: &str| {
        format!(
            "insertDocument(collection: \"users\", id: {id:?}, document: {{plan: \"free\", \
             public: {{name: {id:?}}}, settings: {{theme: \"light\"}}}}) {{ key }}"
        )
    };
    let example = Example::start("profiles", &[&of("alice"), &of("bob")], &[]);
    let alice = example.user(&json!({"sub": "alice"}));
    let bobs_settings =
        "{ document(collection: \"users\", id: \"bob\", path: \"/settings\") { value } }";
    example.check(&[
        (
            "",
            "{ documents(collection: \"users\") { nodes { name: value(path: \"/public/name\") } } }",
            json!({"nodes": [{"name": "alice"}, {"name": "bob"}]}),
        ),
        ("", bobs_settings, json!(NO)),
        (&alice, bobs_settings, json!(NO)),
        (
            &alice,
            "mutation { replaceDocument(collection: \"users\", id: \"alice\", path: \"/settings/theme\", document: \"dark\") { key } }",
            json!({"key": "alice"}),
        ),
        (
            &alice,
            "mutation { replaceDocument(collection: \"users\", id: \"alice\", path: \"/plan\", document: \"paid\") { key } }",
            json!(NO),
        ),
        (
            &alice,
            "mutation { replaceDocument(collection: \"users\", id: \"bob\", path: \"/public/name\", document: \"x\") { key } }",
            json!(NO),
        ),
        (
            &alice,
            "{ document(collection: \"users\", id: \"alice\") { value } }",
            json!({"value": {"plan": "free", "public": {"name": "alice"}, "settings": {"theme": "dark"}}}),
        ),
        (
            &alice,
            "mutation { insertDocument(collection: \"users\", id: \"carol\", document: {}) { key } }",
            json!(NO),
        ),
        (
            BACKEND,
            "mutation { insertDocument(collection: \"users\", id: \"carol\", document: {}) { key } }",
            json!({"key": "carol"}),
        ),
        (
            DASHBOARD,
            "{ document(collection: \"users\", id: \"carol\") { value } }",
            json!(NO),
        ),
    ]);
}

#[test]
fn articles_are_public_and_drafts_are_their_authors() {
    let of = |id: &str, author: &str, status: &str| {
        format!(
            "insertDocument(collection: \"articles\", id: {id:?}, \
             document: {{author: {author:?}, status: {status:?}}}) {{ key }}"
        )
    };
    let example = Example::start(
        "articles",
        &[
            &of("1", "alice", "published"),
            &of("2", "alice", "draft"),
            &of("3", "bob", "draft"),
        ],
        &[],
    );
    let alice = example.user(&json!({"sub": "alice", "roles": ["author"]}));
    let reader = example.user(&json!({"sub": "alice"}));
    let list = "{ documents(collection: \"articles\") { nodes { key } } }";
    let draft =
        "{ document(collection: \"articles\", id: \"2\") { status: value(path: \"/status\") } }";
    let publish = |id: &str| {
        format!(
            "mutation {{ replaceDocument(collection: \"articles\", id: {id:?}, path: \"/status\", \
             document: \"published\") {{ key }} }}"
        )
    };
    let published = json!({"nodes": [{"key": "1"}]});
    example.check(&[
        ("", list, published.clone()),
        (&reader, list, published),
        (&alice, list, json!({"nodes": [{"key": "1"}, {"key": "2"}]})),
        ("", draft, Value::Null),
        (&alice, draft, json!({"status": "draft"})),
        (&reader, &publish("2"), json!(NO)),
        (&alice, &publish("3"), json!(NO)),
        (
            &alice,
            "mutation { replaceDocument(collection: \"articles\", id: \"2\", path: \"/author\", document: \"bob\") { key } }",
            json!(NO),
        ),
        (
            &alice,
            "mutation { insertDocument(collection: \"articles\", id: \"4\", document: {author: \"bob\"}) { key } }",
            json!(NO),
        ),
        (&alice, &publish("2"), json!({"key": "2"})),
        ("", draft, json!({"status": "published"})),
        ("", "{ documents(collection: \"articles\") { totalCount } }", json!(NO)),
    ]);
}

#[test]
fn teams_are_a_claim_with_a_list() {
    let of = |id: &str, team: &str, guest: &str| {
        format!(
            "insertDocument(collection: \"boards\", id: {id:?}, \
             document: {{team: {team:?}, guests: [{guest:?}]}}) {{ key }}"
        )
    };
    let example = Example::start(
        "teams",
        &[
            &of("1", "red", "bob"),
            &of("2", "green", "alice"),
            &of("3", "green", "bob"),
        ],
        &[],
    );
    let alice = example.user(&json!({"sub": "alice", "teams": ["red", "blue"]}));
    let list = "{ documents(collection: \"boards\") { nodes { key } } }";
    let title = |id: &str| {
        format!(
            "mutation {{ replaceDocument(collection: \"boards\", id: {id:?}, path: \"/title\", \
             document: \"Plan\") {{ key }} }}"
        )
    };
    example.check(&[
        (&alice, list, json!({"nodes": [{"key": "1"}, {"key": "2"}]})),
        (
            &example.user(&json!({"sub": "alice"})),
            list,
            json!({"nodes": [{"key": "2"}]}),
        ),
        ("", list, json!(NO)),
        (&alice, &title("1"), json!({"key": "1"})),
        (&alice, &title("2"), json!(NO)),
        (&alice, &title("3"), json!(NO)),
    ]);
}

#[test]
fn users_edit_only_their_own_review() {
    let product =
        "insertDocument(collection: \"products\", id: \"tea\", document: {reviews: {}}) { key }";
    let example = Example::start("reviews", &[product], &[]);
    let alice = example.user(&json!({"sub": "alice"}));
    let write = |path: &str| {
        format!(
            "mutation {{ replaceDocument(collection: \"products\", id: \"tea\", path: {path:?}, \
             document: {{stars: 5}}) {{ key }} }}"
        )
    };
    example.check(&[
        ("", &write("/reviews/alice"), json!(NO)),
        (&alice, &write("/reviews/alice"), json!({"key": "tea"})),
        (&alice, &write("/reviews/bob"), json!(NO)),
        (&alice, &write("/reviews"), json!(NO)),
        (&alice, &write(""), json!(NO)),
        (
            &alice,
            "mutation { patchDocument(collection: \"products\", id: \"tea\", patch: [{op: \"move\", from: \"/reviews/alice\", path: \"/reviews/bob\"}]) { key } }",
            json!(NO),
        ),
        (
            "",
            "{ document(collection: \"products\", id: \"tea\") { value } }",
            json!({"value": {"reviews": {"alice": {"stars": 5}}}}),
        ),
    ]);
}

#[test]
fn a_dashboard_reads_only_by_listed_operations() {
    let order = "insertDocument(collection: \"orders\", id: \"1\", \
                 document: {totals: {sum: 7}, address: \"canary\"}) { key }";
    let sums =
        "{ documents(collection: \"orders\") { nodes { sum: value(path: \"/totals/sum\") } } }";
    let addresses = "{ documents(collection: \"orders\") { nodes { value(path: \"/address\") } } }";
    let operations = json!({"sums": sums, "addresses": addresses}).to_string();
    let files = [("--operations", "operations.json", &*operations)];
    let example = Example::start("dashboard", &[order], &files);
    let expected = json!({"data": {"documents": {"nodes": [{"sum": 7}]}}});
    let code = |response: &Value| response["errors"][0]["extensions"]["code"].clone();
    let listed = |token: &str, id: &str| example.send(token, &json!({ "documentId": id }));
    assert_eq!(listed(DASHBOARD, "sums"), expected);
    // What is listed may be more than what is allowed, and for others.
    assert_eq!(code(&listed(DASHBOARD, "addresses")), NO);
    assert_eq!(code(&listed(BACKEND, "sums")), NO);
    assert_eq!(code(&listed("", "sums")), NO);
    // The same text, which is not sent by its id.
    example.check(&[
        (DASHBOARD, sums, json!(NO)),
        (
            DASHBOARD,
            "{ documents(collection: \"orders\") { nodes { key } } }",
            json!(NO),
        ),
    ]);
}

#[test]
fn moderators_hide_comments() {
    let of = |id: &str, hidden: bool| {
        format!(
            "insertDocument(collection: \"comments\", id: {id:?}, \
             document: {{text: \"x\", hidden: {hidden}}}) {{ key }}"
        )
    };
    let example = Example::start("moderators", &[&of("1", false), &of("2", true)], &[]);
    let roles = |role: &str| example.user(&json!({"realm_access": {"roles": [role]}}));
    let (moderator, author) = (roles("moderator"), roles("author"));
    let list = "{ documents(collection: \"comments\") { nodes { key } } }";
    let replace = |path: &str| {
        format!(
            "mutation {{ replaceDocument(collection: \"comments\", id: \"1\", path: {path:?}, \
             document: true) {{ key }} }}"
        )
    };
    let both = json!({"nodes": [{"key": "1"}, {"key": "2"}]});
    example.check(&[
        ("", list, json!({"nodes": [{"key": "1"}]})),
        (&author, list, json!({"nodes": [{"key": "1"}]})),
        (&moderator, list, both),
        (&author, &replace("/hidden"), json!(NO)),
        (&moderator, &replace("/text"), json!(NO)),
        (&moderator, &replace("/hidden"), json!({"key": "1"})),
        ("", list, json!({"nodes": []})),
    ]);
}

#[test]
fn tenants_have_collections_of_their_own() {
    let order = "insertDocument(collection: \"orders-other\", id: \"1\", document: {n: 1}) { key }";
    let example = Example::start("tenants", &[order], &[]);
    let member = example.user(&json!({"sub": "a", "tenant": "acme"}));
    let admin = example.user(&json!({"sub": "b", "tenant": "acme", "role": "admin"}));
    let insert = "mutation { insertDocument(collection: \"orders-acme\", id: \"1\", document: {n: 2}) { key } }";
    let delete = "mutation { deleteDocument(collection: \"orders-acme\", id: \"1\") { deleted } }";
    let index = |collection: &str| {
        format!(
            "mutation {{ createIndex(collection: {collection:?}, name: \"n\", on: [\"$.n\"]) {{ name }} }}"
        )
    };
    example.check(&[
        (&member, insert, json!({"key": "1"})),
        (
            &member,
            "{ document(collection: \"orders-other\", id: \"1\") { value } }",
            json!(NO),
        ),
        (
            &example.user(&json!({"sub": "c"})),
            "{ document(collection: \"orders-acme\", id: \"1\") { value } }",
            json!(NO),
        ),
        (&member, delete, json!(NO)),
        (&member, &index("orders-acme"), json!(NO)),
        (&admin, &index("orders-other"), json!(NO)),
        (&admin, &index("orders-acme"), json!({"name": "n"})),
        (&admin, delete, json!({"deleted": true})),
    ]);
}
