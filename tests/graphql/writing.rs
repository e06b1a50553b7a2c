//! Inserting documents.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};

cases!(
    async [
        ids_come_from_the_argument_doc_id_or_a_random_integer,
        invalid_doc_ids_are_rejected,
        inserts_do_not_replace_existing_documents,
        all_fields_of_an_operation_commit_together,
        errors_of_later_fields_undo_earlier_ones,
        errors_of_a_nullable_selection_undo_later_fields,
        fields_read_their_own_and_earlier_writes,
        returned_versions_equal_stored_ones_and_ascend,
        failed_operations_leave_no_version,
        fields_merged_under_one_name_write_once,
        skipped_fields_write_nothing,
        documents_are_required_but_may_be_null,
    ]
);

async fn collections(client: &Client) -> Value {
    client.data("{ collections { name count } }", NONE).await["collections"].take()
}

async fn ids_come_from_the_argument_doc_id_or_a_random_integer() {
    let client = client().await;
    let query =
        "mutation($id: ID, $d: JSON) { insertDocument(id: $id, document: $d) { key value } }";
    for (id, document, stored_under) in [
        (json!("a"), json!({"doc_id": "b"}), "a"),
        (json!(7), json!(1), "7"),
        (json!("\"7\""), json!(1), "\"7\""),
        (Value::Null, json!({"doc_id": "b"}), "b"),
        (Value::Null, json!({"doc_id": 8}), "8"),
        (Value::Null, json!({"doc_id": "8"}), "\"8\""),
        (Value::Null, json!({"doc_id": ""}), "\"\""),
        (
            Value::Null,
            json!({"doc_id": i64::MIN}),
            "-9223372036854775808",
        ),
    ] {
        let data = client.data(query, json!({"id": id, "d": document})).await;
        let expected = json!({"key": stored_under, "value": document});
        assert_eq!(
            data["insertDocument"], expected,
            "doc_id is neither added nor removed"
        );
    }
    for document in [
        json!({"a": {"doc_id": "b"}}),
        json!([{"doc_id": 1}]),
        json!("text"),
    ] {
        let data = client.data(query, json!({"d": document})).await;
        let id = data["insertDocument"]["key"].as_str().expect("an id");
        assert!(id.parse::<i64>().is_ok_and(|id| id > 0), "{id}");
        assert_eq!(client.stored(id).await, document.to_string());
    }
    assert_eq!(
        collections(&client).await,
        json!([{"name": "D", "count": 11}])
    );
}

async fn invalid_doc_ids_are_rejected() {
    let client = client().await;
    for doc_id in [
        "null",
        "1.0",
        "1.5",
        "true",
        "[]",
        "{}",
        "9223372036854775808",
        "[1]",
        "{\"a\": 1}",
    ] {
        let query = "mutation($d: JSON) { insertDocument(document: $d) { key } }";
        let error = client
            .error(query, format!(r#"{{"d": {{"doc_id": {doc_id}}}}}"#))
            .await;
        assert_eq!(error.0, "BAD_USER_INPUT", "{doc_id}");
        assert!(error.1.contains("doc_id"), "{}", error.1);
    }
    assert_eq!(collections(&client).await, json!([]));
}

async fn inserts_do_not_replace_existing_documents() {
    let client = client().await;
    client.insert("1", "1").await;
    for document in ["2", "null", r#"{"doc_id": 1}"#] {
        let query = format!(
            "mutation {{ insertDocument(id: 1, document: {}) {{ key }} }}",
            document.replace("\"doc_id\"", "doc_id")
        );
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "ALREADY_EXISTS");
        assert!(
            message.contains("id 1") && message.contains("\"D\""),
            "{message}"
        );
    }
    let query = "mutation { insertDocument(document: {doc_id: 1}) { key } }";
    assert_eq!(client.error(query, NONE).await.0, "ALREADY_EXISTS");
    assert_eq!(client.stored("1").await, "1");
    assert_eq!(
        collections(&client).await,
        json!([{"name": "D", "count": 1}])
    );
}

async fn all_fields_of_an_operation_commit_together() {
    let client = client().await;
    let query = r#"mutation {
        a: insertDocument(id: 1, document: {n: 1}) { key version }
        b: insertDocument(id: 2, document: [2], collection: "E") { key version collection value(path: [0]) }
    }"#;
    let (data, cost) = client.cost(query, NONE).await;
    assert_eq!((cost.transactions, cost.commits), (1, 1));
    assert_eq!(data["a"]["version"], data["b"]["version"]);
    assert!(data["a"]["version"].is_string());
    assert_eq!(data["b"]["value"], json!(2));
    let expected = json!([{"name": "D", "count": 1}, {"name": "E", "count": 1}]);
    assert_eq!(collections(&client).await, expected);
}

async fn errors_of_later_fields_undo_earlier_ones() {
    let client = client().await;
    client.insert("taken", "0").await;
    for second in [
        r#"insertDocument(id: "taken", document: 1) { key }"#,
        r#"insertDocument(id: "first", document: 1) { key }"#,
        r#"insertDocument(id: "", document: 1) { key }"#,
        r#"insertDocument(id: "big", document: 1e400) { key }"#,
        r#"insertDocument(id: "ok", document: 1) { subdocument(path: [1.5]) { kind } }"#,
        r#"insertDocument(id: "ok", document: 1) { value(path: "bad") }"#,
        r#"insertDocument(id: "ok", document: 1) { children(first: -1) { nodes { kind } } }"#,
        r#"insertDocument(id: "ok", document: [1]) { children { nodes { value(path: "bad") } } }"#,
    ] {
        let query = format!(
            r#"mutation {{ first: insertDocument(id: "first", document: 1) {{ key }} second: {second} }}"#
        );
        let response = client.ask(&query, NONE).await;
        assert_eq!(response["data"], Value::Null, "{second}");
        only_error(&response);
        assert_eq!(
            response["errors"][0]["path"][0],
            json!("second"),
            "{response}"
        );
        for id in ["first", "ok", "big"] {
            let data = client
                .data(
                    "query($id: ID!) { document(id: $id) { kind } }",
                    json!({"id": id}),
                )
                .await;
            assert_eq!(data["document"], Value::Null, "{second}");
        }
        assert_eq!(
            collections(&client).await,
            json!([{"name": "D", "count": 1}])
        );
    }
    client.assert_serves().await;
}

async fn errors_of_a_nullable_selection_undo_later_fields() {
    let client = client().await;
    let query = r#"mutation {
        first: insertDocument(id: 1, document: 1) { subdocument(path: "bad") { kind } }
        second: insertDocument(id: 2, document: 1) { key }
    }"#;
    let response = client.ask(query, NONE).await;
    assert_eq!(response["data"], Value::Null);
    assert_eq!(only_error(&response).0, "INVALID_PATH");
    assert_eq!(
        response["errors"][0]["path"],
        json!(["first", "subdocument"])
    );
    assert_eq!(collections(&client).await, json!([]));
}

async fn fields_read_their_own_and_earlier_writes() {
    let client = client().await;
    let query = r#"mutation {
        a: insertDocument(id: 1, document: {n: {m: [1, "x"]}}) {
            kind value subdocument(path: "/n/m") { value version document { key version } } children { nodes { path version } }
        }
        b: insertDocument(id: 1, document: 2, collection: "E") { value }
    }"#;
    let mut data = client.data(query, NONE).await;
    let version = data["a"]["subdocument"]["version"].take();
    assert!(version.is_string());
    let expected = json!({
        "a": {
            "kind": "OBJECT", "value": {"n": {"m": [1, "x"]}},
            "subdocument": {"value": [1, "x"], "version": null, "document": {"key": "1", "version": version}},
            "children": {"nodes": [{"path": ["n"], "version": version}]},
        },
        "b": {"value": 2},
    });
    assert_eq!(data, expected);
}

async fn returned_versions_equal_stored_ones_and_ascend() {
    let client = client().await;
    let mut last = String::new();
    for id in 0..20 {
        let query = "mutation($id: ID) { insertDocument(id: $id, document: null) { version } }";
        let data = client.data(query, json!({"id": id})).await;
        let version = data["insertDocument"]["version"]
            .as_str()
            .expect("a version")
            .to_owned();
        assert!(version > last, "{version} comes after {last}");
        let data = client
            .data(
                "query($id: ID!) { document(id: $id) { version } }",
                json!({"id": id}),
            )
            .await;
        assert_eq!(data["document"]["version"], json!(version));
        last = version;
    }
}

async fn failed_operations_leave_no_version() {
    let client = client().await;
    let query = "mutation { a: insertDocument(id: 1, document: 1) { key } b: insertDocument(id: 1, document: 1) { key } }";
    assert_eq!(client.error(query, NONE).await.0, "ALREADY_EXISTS");
    client.insert("1", "2").await;
    assert_eq!(client.stored("1").await, "2");
}

async fn fields_merged_under_one_name_write_once() {
    let client = client().await;
    for (query, variables) in [
        (
            "mutation { insertDocument(id: 1, document: 1) { key } insertDocument(id: 1, document: 1) { value } }",
            json!({}),
        ),
        (
            "mutation { ...A ...B } fragment A on Mutation { insertDocument(id: 2, document: 1) { key } } fragment B on Mutation { ... { insertDocument(id: 2, document: 1) { value } } }",
            json!({}),
        ),
        (
            "mutation($on: Boolean!) { insertDocument(id: 3, document: 1) { key } insertDocument(id: 3, document: 1) @include(if: $on) { value } insertDocument(id: 3, document: 1) @skip(if: $on) { version } }",
            json!({"on": true}),
        ),
    ] {
        let data = client.data(query, variables).await;
        let inserted = data["insertDocument"].as_object().expect("the document");
        assert_eq!(inserted.len(), 2, "{query}");
        assert_eq!(inserted["value"], json!(1));
    }
    assert_eq!(
        collections(&client).await,
        json!([{"name": "D", "count": 3}])
    );
}

async fn skipped_fields_write_nothing() {
    let client = client().await;
    let query = "mutation($skip: Boolean!) { a: insertDocument(id: 1, document: 1) @skip(if: $skip) { key } b: insertDocument(id: 2, document: 1) { key } }";
    let data = client.data(query, json!({"skip": true})).await;
    assert_eq!(data, json!({"b": {"key": "2"}}));
    assert_eq!(
        collections(&client).await,
        json!([{"name": "D", "count": 1}])
    );
}

async fn documents_are_required_but_may_be_null() {
    let client = client().await;
    client
        .data(
            "mutation { insertDocument(id: 1, document: null) { key } }",
            NONE,
        )
        .await;
    client
        .data(
            "mutation($d: JSON) { insertDocument(id: 2, document: $d) { key } }",
            r#"{"d": null}"#,
        )
        .await;
    client
        .data(
            "mutation($d: JSON = null) { insertDocument(id: 3, document: $d) { key } }",
            NONE,
        )
        .await;
    for id in ["1", "2", "3"] {
        assert_eq!(client.stored(id).await, "null");
    }
    for query in [
        "mutation { insertDocument(id: 4) { key } }",
        "mutation($d: JSON) { insertDocument(id: 4, document: $d) { key } }",
    ] {
        let (code, message) = client.error(query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(message.contains("`document`"), "{message}");
    }
}
