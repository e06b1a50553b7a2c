//! Automatic persisted queries, in the protocol of Apollo's clients.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{JSON, Response, Server, insertion};

pub(crate) fn hash(query: &str) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(query) {
        write!(text, "{byte:02x}").expect("a string takes all");
    }
    text
}

fn extensions(hash: &str) -> Value {
    json!({"persistedQuery": {"version": 1, "sha256Hash": hash}})
}

fn post(server: &Server, body: &Value) -> Response {
    server.ask("POST", "/graphql", &[JSON], body.to_string())
}

fn get(server: &Server, parameters: &[(&str, &str)]) -> Response {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.extend_pairs(parameters).finish();
    server.ask("GET", &format!("/graphql?{query}"), &[], "")
}

fn assert_unknown(response: &Response) {
    assert_eq!(response.status, 200);
    assert_eq!(response.code(), "PERSISTED_QUERY_NOT_FOUND");
    let message = &response.json()["errors"][0]["message"];
    assert_eq!(message, "PersistedQueryNotFound");
    assert_eq!(response.header("cache-control"), Some("no-store"));
}

#[test]
fn hashes_are_unknown_until_sent_with_their_query() {
    let server = Server::start();
    let query = "{ __typename }";
    let typename = json!({"data": {"__typename": "Query"}});
    let by_hash = json!({"extensions": extensions(&hash(query))});
    let parameter = extensions(&hash(query)).to_string();
    assert_unknown(&post(&server, &by_hash));
    assert_unknown(&get(&server, &[("extensions", &parameter)]));
    // A query without a hash is not stored.
    post(&server, &json!({ "query": query }));
    assert_unknown(&post(&server, &by_hash));
    let both = json!({"query": query, "extensions": extensions(&hash(query))});
    assert_eq!(post(&server, &both).json(), typename);
    assert_eq!(post(&server, &by_hash).json(), typename);
    let response = get(&server, &[("extensions", &parameter)]);
    assert_eq!(response.json(), typename);
    // The same by GET, and with a media type for which the status differs.
    let query = "{ a: __typename }";
    let parameter = extensions(&hash(query)).to_string();
    let unknown = server.ask(
        "POST",
        "/graphql",
        &[JSON, ("accept", "application/graphql-response+json")],
        json!({"extensions": extensions(&hash(query))}).to_string(),
    );
    assert_eq!(unknown.status, 400);
    assert_eq!(unknown.code(), "PERSISTED_QUERY_NOT_FOUND");
    get(&server, &[("query", query), ("extensions", &parameter)]);
    let response = get(&server, &[("extensions", &parameter)]);
    assert_eq!(response.json(), json!({"data": {"a": "Query"}}));
}

#[test]
fn queries_with_a_wrong_hash_are_rejected_and_not_stored() {
    let server = Server::start();
    let (query, other) = ("{ __typename }", "{ other: __typename }");
    let mismatch = json!({"query": other, "extensions": extensions(&hash(query))});
    assert_eq!(post(&server, &mismatch).code(), "BAD_USER_INPUT");
    let by_hash = json!({"extensions": extensions(&hash(query))});
    assert_unknown(&post(&server, &by_hash));
    let both = json!({"query": query, "extensions": extensions(&hash(query))});
    post(&server, &both);
    assert_eq!(post(&server, &mismatch).code(), "BAD_USER_INPUT");
    let expected = json!({"data": {"__typename": "Query"}});
    assert_eq!(post(&server, &by_hash).json(), expected);
}

#[test]
fn operation_name_and_variables_are_taken_from_each_request() {
    let server = Server::start();
    for id in ["1", "2"] {
        server.ask("POST", "/graphql", &[JSON], insertion(id, id));
    }
    let query = "query A($id: ID!) { document(id: $id) { value } } query B { b: __typename }";
    let ask = |text: Option<&str>, name: &str, id: Option<&str>| {
        let body = json!({
            "query": text,
            "operationName": name,
            "variables": id.map(|id| json!({"id": id})),
            "extensions": extensions(&hash(query)),
        });
        post(&server, &body).json()
    };
    let value = |value: u8| json!({"data": {"document": {"value": value}}});
    assert_eq!(ask(Some(query), "A", Some("1")), value(1));
    for _ in 0..2 {
        assert_eq!(ask(None, "A", Some("2")), value(2));
        assert_eq!(ask(None, "B", None), json!({"data": {"b": "Query"}}));
        assert_eq!(ask(None, "A", Some("1")), value(1));
        let missing = ask(None, "A", None);
        assert_eq!(
            missing["errors"][0]["extensions"]["code"], "BAD_USER_INPUT",
            "{missing}"
        );
        assert_eq!(missing.get("data"), None);
        assert_eq!(ask(None, "C", None).get("data"), None);
    }
}

#[test]
fn invalid_queries_are_not_persisted() {
    let server = Server::start();
    for query in ["{", "{ nothing }"] {
        let both = json!({"query": query, "extensions": extensions(&hash(query))});
        assert_eq!(post(&server, &both).json().get("data"), None);
        let by_hash = json!({"extensions": extensions(&hash(query))});
        assert_unknown(&post(&server, &by_hash));
    }
}

#[test]
fn persisted_mutations_require_post_and_honor_idempotency_keys() {
    let server = Server::start();
    let query = "mutation { incrementDocument(id: 1) { value } }";
    let both = json!({"query": query, "extensions": extensions(&hash(query))}).to_string();
    let by_hash = json!({"extensions": extensions(&hash(query))}).to_string();
    let keyed = [JSON, ("idempotency-key", "k")];
    let first = server.ask("POST", "/graphql", &keyed, &both);
    let again = server.ask("POST", "/graphql", &keyed, &by_hash);
    assert_eq!(again.body, first.body);
    let parameter = extensions(&hash(query)).to_string();
    assert_eq!(get(&server, &[("extensions", &parameter)]).status, 405);
    let found = server.query("{ document(id: 1) { value } }");
    assert_eq!(found, json!({"data": {"document": {"value": 1}}}));
}

#[test]
fn malformed_persisted_query_extensions_are_rejected() {
    let server = Server::start();
    let right = hash("{ __typename }");
    for persisted in [
        json!({}),
        json!([]),
        json!("x"),
        json!({"version": 2, "sha256Hash": right}),
        json!({"version": "1", "sha256Hash": right}),
        json!({"sha256Hash": right}),
        json!({"version": 1}),
        json!({"version": 1, "sha256Hash": 1}),
        json!({"version": 1, "sha256Hash": ""}),
        json!({"version": 1, "sha256Hash": &right[1..]}),
        json!({"version": 1, "sha256Hash": format!("+{}", &right[1..])}),
        json!({"version": 1, "sha256Hash": "ä".repeat(32)}),
    ] {
        let extensions = json!({ "persistedQuery": persisted });
        let body = json!({"query": "{ __typename }", "extensions": extensions});
        let response = post(&server, &body);
        assert_eq!(
            (response.status, response.code().as_str()),
            (400, "BAD_USER_INPUT"),
            "{persisted}"
        );
        let response = get(&server, &[("extensions", &extensions.to_string())]);
        assert_eq!(response.status, 400, "{persisted}");
    }
    for extensions in [json!({}), json!({"persistedQuery": null, "other": [1]})] {
        let body = json!({"query": "{ __typename }", "extensions": extensions});
        assert_eq!(post(&server, &body).status, 200);
        assert_eq!(
            post(&server, &json!({"extensions": extensions})).status,
            400
        );
    }
}
