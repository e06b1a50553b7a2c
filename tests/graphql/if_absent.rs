//! Values that are stored only if there is none.

use serde_json::{Value, json};

use super::replica::Replica;
use super::support::{Client, NONE, client};

cases!(
    async [
        a_document_is_inserted_once,
        documents_with_an_own_id_or_none_are_inserted,
        a_value_is_stored_at_a_place_once,
        created_is_null_elsewhere,
        later_fields_see_what_was_stored,
        a_value_that_is_there_is_not_validated,
        only_what_is_stored_must_be_unique,
    ]
);

async fn version(client: &Client) -> Value {
    let data = client.data("{ document(id: 1) { version } }", NONE).await;
    data["document"]["version"].clone()
}

async fn a_document_is_inserted_once() {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    let insert = |document: u8| {
        format!(
            "mutation {{ it: insertDocument(id: 1, document: {document}, ifAbsent: true) {{ created value version }} }}"
        )
    };
    let first = client.data(&insert(5), NONE).await;
    assert_eq!(first["it"]["created"], json!(true));
    assert_eq!(first["it"]["value"], json!(5));
    let second = client.data(&insert(6), NONE).await;
    assert_eq!(second["it"]["created"], json!(false));
    assert_eq!(second["it"]["value"], json!(5));
    assert_eq!(second["it"]["version"], first["it"]["version"]);
    assert_eq!(version(&client).await, first["it"]["version"]);
    replica.reach(&[("1".to_owned(), json!(5))].into()).await;
    replica.finish(0..1).await;
}

async fn documents_with_an_own_id_or_none_are_inserted() {
    let client = client().await;
    let own = "mutation { insertDocument(document: {doc_id: 7}, ifAbsent: true) { key created } }";
    for created in [true, false] {
        let data = client.data(own, NONE).await;
        assert_eq!(
            data["insertDocument"],
            json!({"key": "7", "created": created})
        );
    }
    let random = "mutation { insertDocument(document: {a: 1}, ifAbsent: true) { key created } }";
    let first = client.data(random, NONE).await;
    let second = client.data(random, NONE).await;
    assert_eq!(second["insertDocument"]["created"], json!(true));
    assert_ne!(
        first["insertDocument"]["key"],
        second["insertDocument"]["key"]
    );
}

async fn a_value_is_stored_at_a_place_once() {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    client.insert("1", r#"{"a":null,"l":[1]}"#).await;
    let before = version(&client).await;
    for (arguments, created, after) in [
        ("path: \"/a\"", false, r#"{"a":null,"l":[1]}"#),
        ("path: \"/l/0\"", false, r#"{"a":null,"l":[1]}"#),
        ("path: \"\"", false, r#"{"a":null,"l":[1]}"#),
        ("path: \"/b\"", true, r#"{"a":null,"b":7,"l":[1]}"#),
        ("path: \"/l/-\"", true, r#"{"a":null,"b":7,"l":[1,7]}"#),
        (
            "path: \"/c/d\", createParents: true",
            true,
            r#"{"a":null,"b":7,"c":{"d":7},"l":[1,7]}"#,
        ),
        (
            "path: \"/c/d\", createParents: true",
            false,
            r#"{"a":null,"b":7,"c":{"d":7},"l":[1,7]}"#,
        ),
    ] {
        let query = format!(
            "mutation {{ replaceDocument(id: 1, document: 7, ifAbsent: true, {arguments}) {{ created value }} }}"
        );
        let data = client.data(&query, NONE).await;
        let after: Value = serde_json::from_str(after).expect("JSON");
        let expected = json!({"created": created, "value": after});
        assert_eq!(data["replaceDocument"], expected, "{arguments}");
        let is_same = version(&client).await == before;
        assert!(is_same || after.get("b").is_some(), "{arguments}");
        replica.reach(&[("1".to_owned(), after)].into()).await;
    }
    let query =
        "mutation { replaceDocument(id: 1, path: \"/x/y\", document: 7, ifAbsent: true) { key } }";
    assert_eq!(client.error(query, NONE).await.0, "NOT_FOUND");
    let query =
        "mutation { replaceDocument(id: 1, path: \"/a/y\", document: 7, ifAbsent: true) { key } }";
    assert_eq!(client.error(query, NONE).await.0, "INVALID_PATH");
    let query = "mutation { replaceDocument(id: 9, document: 7, ifAbsent: true) { created } }";
    for created in [true, false] {
        let data = client.data(query, NONE).await;
        assert_eq!(data["replaceDocument"]["created"], json!(created));
    }
    assert_eq!(client.check().await, vec![]);
}

async fn created_is_null_elsewhere() {
    let client = client().await;
    client.insert("1", "5").await;
    let data = client
        .data(
            "mutation {
                a: replaceDocument(id: 1, document: 7) { created }
                b: insertDocument(id: 2, document: 7) { created }
                c: insertDocument(id: 3, document: 7, ifAbsent: false) { created }
            }",
            NONE,
        )
        .await;
    let none = json!({"created": null});
    assert_eq!(data, json!({"a": none, "b": none, "c": none}));
    let data = client
        .data("{ documents { nodes { created } } }", NONE)
        .await;
    assert_eq!(data["documents"]["nodes"], json!([none, none, none]));
}

async fn later_fields_see_what_was_stored() {
    let client = client().await;
    let query = "mutation($v: DocumentVersion) {
        a: insertDocument(id: 1, document: {n: 1}, ifAbsent: true) { created }
        b: incrementDocument(id: 1, path: \"/n\", ifVersion: $v) { value(path: \"/n\") }
    }";
    let data = client.data(query, NONE).await;
    assert_eq!(data, json!({"a": {"created": true}, "b": {"value": 2}}));
    let v = version(&client).await;
    let data = client.data(query, json!({"v": v})).await;
    assert_eq!(data, json!({"a": {"created": false}, "b": {"value": 3}}));
    let (code, _) = client.error(query, json!({"v": v})).await;
    assert_eq!(code, "VERSION_MISMATCH");
}

async fn a_value_that_is_there_is_not_validated() {
    let client = client().await;
    client.insert("1", "5").await;
    client
        .mutate(r#"setCollectionType(collection: "D", schema: {type: "integer"}) { state }"#)
        .await;
    let query = "mutation($id: ID!) { replaceDocument(id: $id, document: \"x\", ifAbsent: true) { created } }";
    let data = client.data(query, json!({"id": 1})).await;
    assert_eq!(data["replaceDocument"]["created"], json!(false));
    assert_eq!(
        client.error(query, json!({"id": 2})).await.0,
        "TYPE_MISMATCH"
    );
}

async fn only_what_is_stored_must_be_unique() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "u", on: ["$.u"], unique: true) { state }"#)
        .await;
    client.insert("1", r#"{"u":1}"#).await;
    client.insert("2", r#"{"u":2}"#).await;
    let query = "mutation($id: ID) { insertDocument(id: $id, document: {u: 1}, ifAbsent: true) { created } }";
    let data = client.data(query, json!({"id": 2})).await;
    assert_eq!(data["insertDocument"]["created"], json!(false));
    assert_eq!(
        client.error(query, json!({"id": 3})).await.0,
        "UNIQUE_VIOLATION"
    );
}
