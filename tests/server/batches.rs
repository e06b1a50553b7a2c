//! JSON arrays of requests.

use serde_json::{Value, json};

use crate::support::{JSON, Response, Server, insertion};

fn batch(server: &Server, requests: &[Value]) -> Response {
    let body = json!(requests).to_string();
    server.ask("POST", "/graphql", &[JSON], body)
}

fn typename() -> Value {
    json!({"query": "{ __typename }"})
}

#[test]
fn batches_are_rejected_by_default() {
    let server = Server::start();
    for requests in [&[][..], &[typename()]] {
        let response = batch(&server, requests);
        assert_eq!(
            (response.status, response.code().as_str()),
            (400, "BAD_USER_INPUT")
        );
        assert!(response.body.contains("batches"), "{}", response.body);
    }
}

#[test]
fn batch_requests_are_executed_in_order_and_independently() {
    let server = Server::with(&["--batch-max", "10"]);
    let count = "mutation($n: JSON) { incrementDocument(id: 1, by: $n) { value } }";
    let response = batch(
        &server,
        &[
            json!({"query": "{ document(id: 1) { value } }"}),
            json!({"query": count, "variables": {"n": 2}}),
            json!({"query": "{ nothing }"}),
            json!({"query": "mutation { insertDocument(id: 1, document: 1) { key } }"}),
            json!({"query": count, "variables": {"n": 3}}),
            json!({"query": "query A { a: __typename } query B { b: __typename }", "operationName": "B"}),
            json!({"query": "{ document(id: 1) { value } }"}),
        ],
    );
    assert_eq!(response.status, 200);
    let answers = response.json();
    assert_eq!(answers[0], json!({"data": {"document": null}}));
    let counted = |value: u8| json!({"data": {"incrementDocument": {"value": value}}});
    assert_eq!(answers[1], counted(2));
    assert_eq!(answers[2].get("data"), None);
    assert_eq!(
        answers[3]["errors"][0]["extensions"]["code"],
        "ALREADY_EXISTS"
    );
    assert_eq!(answers[4], counted(5));
    assert_eq!(answers[5], json!({"data": {"b": "Query"}}));
    assert_eq!(answers[6], json!({"data": {"document": {"value": 5}}}));
    assert_eq!(answers.as_array().map(Vec::len), Some(7));
    // A single request still works.
    assert_eq!(
        server
            .ask("POST", "/graphql", &[JSON], typename().to_string())
            .json(),
        json!({"data": {"__typename": "Query"}})
    );
}

#[test]
fn oversized_or_malformed_batches_are_rejected_without_effects() {
    let server = Server::with(&["--batch-max", "3"]);
    assert_eq!(batch(&server, &vec![typename(); 3]).status, 200);
    let insertion = insertion("1", "1");
    for (rest, code) in [
        (
            r#"{"query":"{a}"},{"query":"{a}"},{"query":"{a}"}]"#,
            "TOO_COMPLEX",
        ),
        (r#"{"query": 1}]"#, "BAD_USER_INPUT"),
        ("{}]", "BAD_USER_INPUT"),
        ("[]]", "BAD_USER_INPUT"),
        ("1]", "BAD_USER_INPUT"),
        ("]", "BAD_USER_INPUT"),
        ("null", "BAD_USER_INPUT"),
        ("null] 1", "BAD_USER_INPUT"),
    ] {
        let body = format!("[{insertion},{rest}");
        let response = server.ask("POST", "/graphql", &[JSON], &body);
        assert_eq!(response.status, 400, "{rest}");
        assert_eq!(response.code(), code, "{rest}");
    }
    assert_eq!(batch(&server, &[]).code(), "BAD_USER_INPUT");
    let keyed = [JSON, ("idempotency-key", "k")];
    let response = server.ask("POST", "/graphql", &keyed, format!("[{insertion}]"));
    assert_eq!(response.code(), "BAD_USER_INPUT");
    assert!(response.body.contains("Idempotency-Key"));
    let found = server.query("{ document(id: 1) { kind } }");
    assert_eq!(found, json!({"data": {"document": null}}));
}

#[test]
fn response_limit_applies_to_the_whole_batch() {
    let server = Server::with(&["--batch-max", "100"]);
    let text = "x".repeat(8 << 20);
    server.ask(
        "POST",
        "/graphql",
        &[JSON],
        insertion("1", &json!(text).to_string()),
    );
    let mut requests = vec![json!({"query": "{ document(id: 1) { value } }"}); 20];
    requests.push(json!({"query": "mutation { insertDocument(id: 2, document: 1) { key } }"}));
    let response = batch(&server, &requests);
    assert!(response.bytes.len() <= 64 << 20, "{}", response.bytes.len());
    let answers = response.json();
    assert_eq!(answers[6]["data"]["document"]["value"], json!(text));
    for refused in 7..20 {
        let code = &answers[refused]["errors"][0]["extensions"]["code"];
        assert_eq!(code, "TOO_LARGE", "{refused}");
    }
    // Small responses still fit.
    assert_eq!(answers[20]["data"]["insertDocument"]["key"], json!("2"));
}
