//! Error codes, with the path and the limit, and recovery after errors.

use serde_json::json;

use super::support::{Client, NONE, client, parse};

cases!(
    async [
        documents_that_cannot_be_stored_are_rejected_with_path_and_limit,
        invalid_paths_are_rejected_with_the_reason,
        invalid_ids_and_collections_are_rejected,
        invalid_queries_are_rejected,
        errors_of_nullable_fields_keep_the_rest_of_the_response,
        errors_have_locations_and_a_path,
        responses_are_well_formed_for_any_error_message,
        oversized_responses_are_rejected_before_they_are_built,
        failed_reads_do_not_affect_fields_read_together,
    ]
);

/// The code and the message of the first error, whether the request was executed or not.
async fn first_error(client: &Client, query: &str, variables: &str) -> (String, String) {
    let response = client.ask(query, variables).await;
    let error = &response["errors"][0];
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    (text(&error["extensions"]["code"]), text(&error["message"]))
}

/// A request, its error code, and text of its message.
type Case<'c> = (&'c str, &'c str, &'c str, &'c [&'c str]);

async fn check_refused(cases: &[Case<'_>]) {
    let client = client().await;
    client.insert("1", r#"{"a": [1]}"#).await;
    for (query, variables, code, told) in cases {
        let (found, message) = first_error(&client, query, variables).await;
        assert_eq!(found, *code, "{query:.200} {variables:.100}: {message}");
        for part in *told {
            assert!(
                message.contains(part),
                "{part:?} is not told in {message:?}"
            );
        }
        assert!(message.len() < 1_000, "{message}");
        client.assert_serves().await;
    }
    assert_eq!(client.stored("1").await, r#"{"a":[1]}"#);
    let data = client.data("{ collections { count } }", NONE).await;
    assert_eq!(
        data["collections"],
        json!([{"count": 1}]),
        "nothing was written"
    );
}

async fn documents_that_cannot_be_stored_are_rejected_with_path_and_limit() {
    let insert = "mutation($d: JSON) { insertDocument(id: 2, document: $d) { key } }";
    let deep = format!(r#"{{"d": {}1{}}}"#, "[".repeat(129), "]".repeat(129));
    let digits = format!(r#"{{"d": {}}}"#, "9".repeat(700));
    let long_name = format!(r#"{{"d": {{"a": {{"{}": 1}}}}}}"#, "k".repeat(10_000));
    check_refused(&[
        (insert, r#"{"d": {"a": 1,}}"#, "BAD_USER_INPUT", &["line 1"]),
        (
            insert,
            &deep,
            "TOO_LARGE",
            &["`document`", "128 levels", "line 1"],
        ),
        (insert, &long_name, "TOO_LARGE", &["10000 bytes"]),
        (
            insert,
            &digits,
            "TOO_LARGE",
            &["`document`", "700 digits", "255 bytes"],
        ),
        (
            insert,
            r#"{"d": {"a": 1e400}}"#,
            "BAD_USER_INPUT",
            &["`document`", "1e400", "binary64"],
        ),
        (insert, r#"{"d": NaN}"#, "BAD_USER_INPUT", &["line 1"]),
        (
            insert,
            r#"{"d": "\ud800"}"#,
            "BAD_USER_INPUT",
            &["surrogate", "line 1"],
        ),
    ])
    .await;
}

async fn invalid_paths_are_rejected_with_the_reason() {
    let by_path = "query($p: Path) { document(id: 1, path: $p) { kind } }";
    let long = format!(r#"{{"p": ["{}"]}}"#, "x".repeat(10_000));
    check_refused(&[
        (by_path, r#"{"p": ["a", 1.5]}"#, "INVALID_PATH", &["1.5"]),
        (by_path, r#"{"p": ["a", 1.5]}"#, "INVALID_PATH", &["1.5"]),
        (by_path, r#"{"p": ["a", 1.0]}"#, "INVALID_PATH", &["1.0"]),
        (by_path, r#"{"p": ["a", 1e0]}"#, "INVALID_PATH", &["1e"]),
        (by_path, r#"{"p": ["a", null]}"#, "INVALID_PATH", &["null"]),
        (by_path, r#"{"p": ["a", true]}"#, "INVALID_PATH", &["true"]),
        (by_path, r#"{"p": [["a"]]}"#, "INVALID_PATH", &["[\"a\"]"]),
        (by_path, r#"{"p": {"a": 1}}"#, "INVALID_PATH", &["a"]),
        (by_path, r#"{"p": 5}"#, "INVALID_PATH", &["5"]),
        (
            by_path,
            r#"{"p": "a"}"#,
            "INVALID_PATH",
            &["\"a\"", "RFC 6901"],
        ),
        (
            by_path,
            r#"{"p": "/a/~2"}"#,
            "INVALID_PATH",
            &["/a/~2", "RFC 6901"],
        ),
        (
            by_path,
            r#"{"p": "/a~"}"#,
            "INVALID_PATH",
            &["/a~", "RFC 6901"],
        ),
        (by_path, &long, "TOO_LARGE", &["10000 bytes"]),
    ])
    .await;
}

async fn invalid_ids_and_collections_are_rejected() {
    let by_id = "query($id: ID!) { document(id: $id) { kind } }";
    let insert = "mutation($id: ID) { insertDocument(id: $id, document: 1) { key } }";
    let in_collection = "query($id: String!) { document(id: 1, collection: $id) { kind } }";
    let insert_in =
        "mutation($id: String!) { insertDocument(document: 1, collection: $id) { key } }";
    let long = format!(r#"{{"id": "{}"}}"#, "x".repeat(10_000));
    for by in [by_id, insert] {
        check_refused(&[
            (by, r#"{"id": ""}"#, "BAD_USER_INPUT", &["id is empty"]),
            (by, r#"{"id": "\"x"}"#, "BAD_USER_INPUT", &["JSON string"]),
            (by, &long, "TOO_LARGE", &["10000 bytes"]),
        ])
        .await;
    }
    for by in [in_collection, insert_in] {
        check_refused(&[
            (
                by,
                r#"{"id": ""}"#,
                "BAD_USER_INPUT",
                &["collection", "empty"],
            ),
            (by, &long, "TOO_LARGE", &["10000 bytes"]),
        ])
        .await;
    }
}

async fn invalid_queries_are_rejected() {
    let (open, close) = ("[".repeat(5_000), "]".repeat(5_000));
    let brackets = format!("{{ document(id: {open}1{close}) {{ kind }} }}");
    check_refused(&[
        (
            &brackets,
            NONE,
            "TOO_COMPLEX",
            &["64 nested brackets", "at byte"],
        ),
        ("", NONE, "BAD_USER_INPUT", &[]),
        ("not GraphQL", NONE, "BAD_USER_INPUT", &["syntax error"]),
        ("{ document(id: 1) { kind }", NONE, "BAD_USER_INPUT", &[]),
        ("{ document(id: 1) }", NONE, "BAD_USER_INPUT", &["document"]),
        (
            "{ document(id: 1) { kind { x } } }",
            NONE,
            "BAD_USER_INPUT",
            &["kind"],
        ),
        ("{ document { kind } }", NONE, "BAD_USER_INPUT", &["id"]),
        (
            "{ document(id: 1, nope: 2) { kind } }",
            NONE,
            "BAD_USER_INPUT",
            &["nope"],
        ),
        (
            "{ documentary(id: 1) { kind } }",
            NONE,
            "BAD_USER_INPUT",
            &["documentary"],
        ),
        (
            "{ document(id: 1) { kind } ...Nope }",
            NONE,
            "BAD_USER_INPUT",
            &["Nope"],
        ),
        (
            "{ collections @nope { name } }",
            NONE,
            "BAD_USER_INPUT",
            &["nope"],
        ),
        ("subscription { x }", NONE, "BAD_USER_INPUT", &[]),
        ("type Query { a: Int }", NONE, "BAD_USER_INPUT", &[]),
        (
            "{ a: __typename a: collections { name } }",
            NONE,
            "BAD_USER_INPUT",
            &["a"],
        ),
    ])
    .await;
}

async fn errors_of_nullable_fields_keep_the_rest_of_the_response() {
    let client = client().await;
    client.insert("1", r#"{"a": [1]}"#).await;
    let query = r#"{
        good: document(id: 1) { kind subdocument(path: "/a") { kind } bad: subdocument(path: "x") { kind } worse: value(path: [1.5]) }
        bad: document(id: "") { kind }
    }"#;
    let response = client.ask(query, NONE).await;
    let expected = json!({"good": {"kind": "OBJECT", "subdocument": {"kind": "ARRAY"}, "bad": null, "worse": null}, "bad": null});
    assert_eq!(response["data"], expected);
    let errors = response["errors"].as_array().expect("errors");
    let mut told: Vec<_> = errors
        .iter()
        .map(|error| {
            (
                error["path"].to_string(),
                error["extensions"]["code"].to_string(),
            )
        })
        .collect();
    told.sort();
    let expected = [
        (r#"["bad"]"#, r#""BAD_USER_INPUT""#),
        (r#"["good","bad"]"#, r#""INVALID_PATH""#),
        (r#"["good","worse"]"#, r#""INVALID_PATH""#),
    ];
    assert_eq!(
        told,
        expected.map(|(path, code)| (path.to_owned(), code.to_owned()))
    );
    assert!(
        errors
            .iter()
            .all(|error| error["locations"][0]["line"].is_u64())
    );
}

async fn errors_have_locations_and_a_path() {
    let client = client().await;
    client.insert("1", "[{}, {}]").await;
    let query = "{\n  document(id: 1) {\n    children { nodes { subdocument(path: \"x\") { kind } } }\n  }\n}";
    let response = client.ask(query, NONE).await;
    let errors = response["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 2);
    for (at, error) in errors.iter().enumerate() {
        assert_eq!(error["locations"], json!([{"line": 3, "column": 24}]));
        assert_eq!(
            error["path"],
            json!(["document", "children", "nodes", at, "subdocument"])
        );
    }
}

async fn responses_are_well_formed_for_any_error_message() {
    let client = client().await;
    let path = json!({"p": "\u{0}\"\\\n🎷"});
    let text = client
        .text(
            "query($p: Path) { document(id: 1, path: $p) { kind } }",
            path,
        )
        .await;
    assert_eq!(
        parse(&text)["errors"][0]["extensions"],
        json!({"code": "INVALID_PATH"})
    );
}

async fn oversized_responses_are_rejected_before_they_are_built() {
    let client = client().await;
    client.insert("1", json!("x".repeat(1 << 20))).await;
    let aliases: String = (0..80).map(|at| format!("a{at}: value ")).collect();
    let response = client
        .ask(&format!("{{ document(id: 1) {{ {aliases} }} }}"), NONE)
        .await;
    let error = &response["errors"][0];
    assert_eq!(error["extensions"]["code"], json!("TOO_LARGE"));
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("67108864 bytes"), "{message}");
    client.assert_serves().await;
}

async fn failed_reads_do_not_affect_fields_read_together() {
    let client = client().await;
    client.insert("1", r#"{"a": [1]}"#).await;
    let query = "query($long: Path!) {
        good: document(id: 1) { version subdocument(path: \"/a\") { value } bad: subdocument(path: $long) { kind } worse: value(path: $long) }
        bad: document(id: 1, path: $long) { kind }
    }";
    let response = client
        .ask(query, json!({"long": ["x".repeat(10_000)]}))
        .await;
    assert!(
        response["data"]["good"]["version"].is_string(),
        "{response}"
    );
    assert_eq!(response["data"]["good"]["subdocument"]["value"], json!([1]));
    let errors = response["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 3);
    assert!(
        errors
            .iter()
            .all(|error| error["extensions"]["code"] == json!("TOO_LARGE"))
    );
}
