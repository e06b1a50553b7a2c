//! The header `Idempotency-Key`.

use serde_json::json;

use crate::support::{JSON, Response, Server};

fn increment(server: &Server, key: &str) -> Response {
    let query = json!({"query": "mutation { incrementDocument(id: 1) { value version } }"});
    let headers = [JSON, ("idempotency-key", key)];
    server.ask("POST", "/graphql", &headers, query.to_string())
}

#[test]
fn idempotency_keys_apply_an_operation_once() {
    let server = Server::start();
    let first = increment(&server, "8e03978e-40d5-43dd-bc93-6894a57f9324");
    assert_eq!(first.status, 200);
    assert_eq!(first.json()["data"]["incrementDocument"]["value"], json!(1));
    let again = increment(&server, "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"");
    assert_eq!(again.body, first.body);
    // The key still applies after a restart.
    server.signal("TERM");
    let server = Server::on(server.stopped(), &[]);
    let again = increment(&server, "8e03978e-40d5-43dd-bc93-6894a57f9324");
    assert_eq!(again.body, first.body);
    let other = increment(&server, "another");
    assert_eq!(other.json()["data"]["incrementDocument"]["value"], json!(2));
}

#[test]
fn invalid_idempotency_keys_are_rejected_without_effects() {
    let server = Server::start();
    for key in ["", "\"\"", &"x".repeat(256), "clé"] {
        let response = increment(&server, key);
        assert_eq!(response.code(), "BAD_USER_INPUT", "{key}");
        assert!(
            response.body.contains("Idempotency-Key"),
            "{}",
            response.body
        );
    }
    let query = json!({"query": "mutation { incrementDocument(id: 1) { value } }"}).to_string();
    let headers = [JSON, ("idempotency-key", "a"), ("idempotency-key", "b")];
    let response = server.ask("POST", "/graphql", &headers, &query);
    assert_eq!(response.code(), "BAD_USER_INPUT");
    let found = server.query("{ document(id: 1) { value } }");
    assert_eq!(found, json!({"data": {"document": null}}));
}
