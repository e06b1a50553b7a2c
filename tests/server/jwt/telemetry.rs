//! Traces and metrics of requests of users.

use serde_json::json;

use super::keys::{SignerKey, claims, key_set};
use super::{Files, start};
use crate::access::{WRITER, bearer, token_file};
use crate::support::{JSON, Server, head};
use crate::tracing::Collector;
use crate::websockets::{PROTOCOL, open};

/// Rules that use the claims of the tokens in each place where a rule can.
const RULES: &str = r#"
[[allow]]
who = { claim = "role", eq = "SECRET-role" }
actions = ["read", "write", "create"]
collection = "of-{team}"
id = "{sub}"

[[allow]]
who = "user"
actions = ["read", "list"]
collection = "notes"
path = "/{sub}"
where = { at = "$.owner", eq = "{sub}" }
"#;

#[test]
fn traces_and_metrics_contain_no_token_and_no_claim() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let collector = Collector::start();
    let tokens = token_file(files.path("").as_path());
    let keys = files.write("keys.json", &key_set([&key]));
    let more = [
        "--otlp-endpoint",
        &collector.endpoint,
        "--token-file",
        &tokens,
        "--change-retention",
        "1h",
    ];
    let flags = files.flags(&keys, &more);
    files.write("rules.toml", RULES);
    let server = start(&flags);

    let token = |others: serde_json::Value| {
        let mut of_user = claims(&json!({"team": "SECRET-team", "role": "SECRET-role"}));
        for (name, value) in others.as_object().expect("an object") {
            of_user[name] = value.clone();
        }
        key.token(&of_user)
    };
    let good = token(json!({}));
    let stranger = SignerKey::new("SECRET-kid", "ES256");
    let refused = [
        token(json!({"exp": 1})),
        token(json!({"aud": "SECRET-audience"})),
        token(json!({"iss": "SECRET-issuer"})),
        token(json!({"long": "SECRET".repeat(1_300)})) + "A",
        stranger.token(&claims(&json!({}))),
        "SECRET-unknown-token".to_owned(),
    ];
    let own = r#"collection: "of-SECRET-team", id: "SECRET-subject""#;
    let insert = format!("mutation {{ insertDocument({own}, document: {{n: 1}}) {{ key }} }}");
    let read = format!("{{ document({own}) {{ value }} }}");
    let page =
        r#"{ documents(collection: "notes") { nodes { value(path: ["SECRET-subject"]) } } }"#;
    let forbidden = r#"{ document(collection: "notes", id: "SECRET-subject") { value } }"#;
    let ask = |token: &str, query: &str| {
        let token = bearer(token);
        let headers = [JSON, ("authorization", token.as_str())];
        let body = json!({ "query": query }).to_string();
        server.ask("POST", "/graphql", &headers, body)
    };
    for query in [&*insert, &*read, page] {
        let response = ask(&good, query);
        assert!(
            response.status == 200 && !response.body.contains("errors"),
            "{query}: {response:?}"
        );
    }
    assert_eq!(ask(&good, forbidden).code(), "FORBIDDEN");
    assert_eq!(ask(WRITER, &read).code(), "FORBIDDEN");
    for token in &refused {
        assert_eq!(ask(token, &read).status, 401);
    }
    // Subscriptions, with the token in each place.
    let watch = format!("subscription {read}");
    for token in [&good, &refused[0]] {
        let mut client = open(&server, &[PROTOCOL]).expect("the token is sent later");
        let payload = json!({ "token": token });
        client.send(&json!({"type": "connection_init", "payload": payload}));
        if token == &good {
            assert_eq!(client.receive()["type"], "connection_ack");
            client.subscribe("1", &watch);
            assert_eq!(client.receive()["type"], "next");
        } else {
            assert_eq!(client.closed().0, 4403);
        }
    }
    let authorization = bearer(&good);
    let token = [("authorization", &*authorization)];
    let streamed = events(&server, token[0], &format!("subscription {forbidden}"));
    assert!(streamed.contains("FORBIDDEN"), "{streamed}");

    let metrics = server.ask("GET", "/metrics", &token, "");
    assert_eq!(metrics.status, 200);
    assert!(
        metrics.body.contains(r#"outcome="FORBIDDEN""#),
        "{}",
        metrics.body
    );
    let log = server.log();
    let (spans, traces) = collector.all_of(server);
    assert!(
        spans.len() > 20 && has(&traces, "graphql"),
        "{}",
        spans.len()
    );
    let told = [
        ("metrics", metrics.body.into_bytes()),
        ("traces", traces),
        ("log", log.into_bytes()),
    ];
    let secrets = refused.iter().flat_map(|token| token.split('.'));
    let secrets = secrets.chain(good.split('.')).chain(["SECRET", WRITER]);
    for secret in secrets.filter(|secret| !secret.is_empty()) {
        for (what, bytes) in &told {
            assert!(!has(bytes, secret), "{secret} in the {what}");
        }
    }
}

/// The server-sent events of a subscription that ends.
fn events(server: &Server, token: (&str, &str), query: &str) -> String {
    let body = json!({ "query": query }).to_string();
    let headers = [JSON, token, ("accept", "text/event-stream")];
    let mut connection = server.connect();
    connection.send(head("POST", "/graphql", &headers, body.len()) + &body);
    connection.response(true).body
}

fn has(bytes: &[u8], text: &str) -> bool {
    let mut windows = bytes.windows(text.len());
    windows.any(|window| window == text.as_bytes())
}
