//! Documents that are named by the place of their key.

use serde_json::{Value, json};

use super::support::{NONE, client};

cases!(
    async [
        every_change_follows_a_key,
        a_key_is_a_string_or_an_integer,
        other_values_are_no_keys,
        a_key_has_the_changes_of_earlier_fields,
        keys_are_followed_from_document_to_document,
        exactly_one_name_is_given,
    ]
);

async fn every_change_follows_a_key() {
    for (change, after) in [
        (
            "replaceDocument(FROM, path: \"/n\", document: 7) { key }",
            json!({"n": 7}),
        ),
        (
            "copyDocument(FROM, path: \"/n\", from: {id: \"a\", path: \"/next\"}) { key }",
            json!({"n": "b"}),
        ),
        (
            "testDocument(FROM, matches: {at: \"$.n\", eq: 1}) { key }",
            json!({"n": 1}),
        ),
        (
            "mergeDocument(FROM, patch: {m: 1}) { key }",
            json!({"m": 1, "n": 1}),
        ),
        (
            "patchDocument(FROM, patch: [{op: \"remove\", path: \"/n\"}]) { key }",
            json!({}),
        ),
        (
            "incrementDocument(FROM, path: \"/n\") { key }",
            json!({"n": 2}),
        ),
        (
            "updateDocument(FROM, set: {at: \"$.n\", value: 3}) { key }",
            json!({"n": 3}),
        ),
        ("deleteDocument(FROM) { key }", Value::Null),
    ] {
        let client = client().await;
        client.insert("a", r#"{"next":"b"}"#).await;
        client.insert("b", r#"{"n":1}"#).await;
        let change = change.replace("FROM", "idFrom: {id: \"a\", path: \"/next\"}");
        let data = client
            .data(&format!("mutation {{ it: {change} }}"), NONE)
            .await;
        assert_eq!(data["it"]["key"], json!("b"), "{change}");
        let data = client.data("{ document(id: \"b\") { value } }", NONE).await;
        let stored = data["document"].get("value").cloned().unwrap_or_default();
        assert_eq!(stored, after, "{change}");
        assert_eq!(client.check().await, vec![]);
    }
}

async fn a_key_is_a_string_or_an_integer() {
    let client = client().await;
    client.insert("5", "\"integer\"").await;
    client.insert("\"5\"", "\"text\"").await;
    for (key, value) in [
        ("5", "integer"),
        ("\"5\"", "integer"),
        (r#""\"5\"""#, "text"),
    ] {
        client
            .mutate(&format!(
                "replaceDocument(collection: \"k\", id: 1, document: {key}) {{ key }}"
            ))
            .await;
        let query =
            "mutation { testDocument(idFrom: {collection: \"k\", id: 1}, matches: {}) { value } }";
        let data = client.data(query, NONE).await;
        assert_eq!(data["testDocument"]["value"], json!(value), "{key}");
    }
}

async fn other_values_are_no_keys() {
    let client = client().await;
    client
        .insert(
            "1",
            r#"{"n":null,"d":1.5,"o":{},"b":9223372036854775808,"t":true,"e":""}"#,
        )
        .await;
    for (path, code) in [
        ("/n", "BAD_USER_INPUT"),
        ("/d", "BAD_USER_INPUT"),
        ("/o", "BAD_USER_INPUT"),
        ("/b", "BAD_USER_INPUT"),
        ("/t", "BAD_USER_INPUT"),
        ("/e", "BAD_USER_INPUT"),
        ("/none", "NOT_FOUND"),
    ] {
        let query = format!(
            "mutation {{ deleteDocument(idFrom: {{id: 1, path: \"{path}\"}}) {{ deleted }} }}"
        );
        let (found, message) = client.error(&query, NONE).await;
        assert_eq!(found, code, "{path}");
        assert!(message.contains("`idFrom`"), "{message}");
    }
}

async fn a_key_has_the_changes_of_earlier_fields() {
    let client = client().await;
    client.insert("1", r#"{"next":2}"#).await;
    client.insert("2", "\"two\"").await;
    client.insert("3", "\"three\"").await;
    let query = r#"mutation {
        a: replaceDocument(id: 1, path: "/next", document: 3) { key }
        b: deleteDocument(idFrom: {id: 1, path: "/next"}) { value }
    }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["b"]["value"], json!("three"));
}

async fn keys_are_followed_from_document_to_document() {
    let client = client().await;
    for (id, next) in [
        ("a", "\"b\""),
        ("b", "\"c\""),
        ("c", "\"d\""),
        ("d", "null"),
    ] {
        client.insert(id, format!(r#"{{"next":{next}}}"#)).await;
    }
    let query = r#"mutation {
        deleteDocument(idFrom: {idFrom: {idFrom: {id: "a", path: "/next"}, path: "/next"}, path: "/next"}) { key }
    }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["deleteDocument"]["key"], json!("d"));
    // The node after `a` is removed, whichever it is.
    let query = r#"mutation {
        link: updateDocument(id: "a", set: [
            {at: "$.gone", from: {path: "/next"}}
            {at: "$.next", from: {idFrom: {path: "/next"}, path: "/next"}}
        ]) { value }
        gone: deleteDocument(idFrom: {id: "a", path: "/gone"}) { key }
    }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["link"]["value"], json!({"gone": "b", "next": "c"}));
    assert_eq!(data["gone"]["key"], json!("b"));
    assert_eq!(client.stored("c").await, r#"{"next":"d"}"#);
}

async fn exactly_one_name_is_given() {
    let client = client().await;
    client.insert("1", r#"{"k":1}"#).await;
    for arguments in [
        "document: 2",
        "id: 1, idFrom: {id: 1, path: \"/k\"}, document: 2",
        "idFrom: {path: \"/k\"}, document: 2",
        "idFrom: {id: 1, idFrom: {id: 1}, path: \"/k\"}, document: 2",
        "idFrom: {id: 1, path: null}, document: 2",
    ] {
        let query = format!("mutation {{ replaceDocument({arguments}) {{ key }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{arguments}: {message}");
    }
    let query = "mutation($path: Path) {
        deleteDocument(idFrom: {id: 1, path: $path}) { deleted }
    }";
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("$path"), "{message}");
    // Without its document, the place would be in the one that is changed.
    let query = "mutation($id: ID) {
        copyDocument(id: 1, path: \"/x\", from: {id: $id, path: \"/k\"}) { key }
    }";
    for variables in [json!({}), json!({"id": null})] {
        let (code, message) = client.error(query, variables).await;
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(message.contains("$id"), "{message}");
    }
    assert_eq!(client.stored("1").await, r#"{"k":1}"#);
}
