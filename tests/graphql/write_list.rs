//! `writeDocuments`: a list of writes in one operation.

use serde_json::{Value, json};

use super::replica::Replica;
use super::support::{Client, NONE, client};

cases!(
    async [
        writes_are_made_in_their_order,
        every_kind_of_write_has_its_result,
        the_first_error_undoes_the_operation,
        a_write_has_exactly_one_member,
        variables_in_writes_must_have_a_value,
        versions_are_those_before_the_operation,
        unique_values_are_compared_at_the_end,
        many_documents_are_written_at_once,
    ]
);

const WRITE: &str = "mutation($w: [DocumentWrite!]!) {
    writeDocuments(operations: $w) { key collection created deleted document { key value version } }
}";

async fn written(client: &Client, writes: Value) -> Value {
    let mut data = client.data(WRITE, json!({"w": writes})).await;
    data["writeDocuments"].take()
}

async fn rejected(client: &Client, writes: Value) -> (String, String) {
    client.error(WRITE, json!({"w": writes})).await
}

async fn writes_are_made_in_their_order() {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    let query = r#"mutation { writeDocuments(operations: [
        {insert: {id: "a", document: {n: 1}}}
        {increment: {id: "a", path: "/n", by: 4}}
        {copy: {id: "b", from: {id: "a", path: "/n"}}}
        {increment: {id: "a", path: "/n"}}
        {delete: {id: "gone"}}
    ]) { key document { value } } }"#;
    let data = client.data(query, NONE).await;
    let a = json!({"key": "a", "document": {"value": {"n": 6}}});
    let expected = json!([
        a, a, {"key": "b", "document": {"value": 5}}, a, {"key": "gone", "document": null}
    ]);
    assert_eq!(data["writeDocuments"], expected);
    let documents = [
        ("a".to_owned(), json!({"n": 6})),
        ("b".to_owned(), json!(5)),
    ];
    replica.reach(&documents.into()).await;
    assert_eq!(client.check().await, vec![]);
}

async fn every_kind_of_write_has_its_result() {
    let client = client().await;
    client.insert("1", r#"{"n":1,"l":[1]}"#).await;
    client.insert("2", "2").await;
    let results = written(
        &client,
        json!([
            {"insert": {"id": "3", "document": null}},
            {"insert": {"id": "2", "document": 9, "ifAbsent": true}},
            {"replace": {"id": "1", "path": "/x/y", "document": true, "createParents": true, "ifAbsent": true}},
            {"merge": {"id": "1", "patch": {"n": 2}}},
            {"patch": {"id": "1", "patch": [{"op": "add", "path": "/l/-", "value": 2}]}},
            {"update": {"id": "1", "add": [{"at": "$.l", "value": 2}], "max": [{"at": "$.n", "value": 7}]}},
            {"test": {"id": "1", "matches": {"at": "$.n", "eq": 7}}},
            {"delete": {"id": "1", "path": "/x"}},
            {"delete": {"idFrom": {"id": "1", "path": "/n"}}},
            {"append": {"document": {"log": 1}, "collection": "log"}},
        ]),
    )
    .await;
    let one = json!({"n": 7, "l": [1, 2]});
    let expected = [
        ("3", json!(null), json!(null), json!(null)),
        ("2", json!(false), json!(null), json!(2)),
        ("1", json!(true), json!(null), one.clone()),
        ("1", json!(null), json!(null), one.clone()),
        ("1", json!(null), json!(null), one.clone()),
        ("1", json!(null), json!(null), one.clone()),
        ("1", json!(null), json!(null), one.clone()),
        ("1", json!(null), json!(true), one),
        ("7", json!(null), json!(false), json!(null)),
    ];
    for (number, (key, created, deleted, value)) in expected.iter().enumerate() {
        let result = &results[number];
        assert_eq!(result["key"], json!(key), "{number}");
        assert_eq!(result["created"], *created, "{number}");
        assert_eq!(result["deleted"], *deleted, "{number}");
        assert_eq!(result["document"]["value"], *value, "{number}");
    }
    let appended = &results[expected.len()];
    let key = appended["key"].as_str().expect("a key");
    assert_eq!(appended["collection"], json!("log"));
    assert_eq!(appended["document"], Value::Null);
    let query = "query($id: ID!) { document(collection: \"log\", id: $id) { value } }";
    let data = client.data(query, json!({"id": key})).await;
    assert_eq!(data["document"]["value"], json!({"log": 1}));
    // The document that was not changed has its old version.
    let changed = &results[0]["document"]["version"];
    assert_eq!(results[2]["document"]["version"], *changed);
    assert_ne!(results[1]["document"]["version"], *changed);
    assert_eq!(written(&client, json!([])).await, json!([]));
}

async fn the_first_error_undoes_the_operation() {
    let client = client().await;
    client.insert("1", "1").await;
    let (code, message) = rejected(
        &client,
        json!([
            {"replace": {"id": "1", "document": 2}},
            {"insert": {"id": "2", "document": 2}},
            {"insert": {"id": "1", "document": 3}},
            {"test": {"id": "9", "matches": {}}},
        ]),
    )
    .await;
    assert_eq!(code, "ALREADY_EXISTS");
    assert!(message.starts_with("the write 2: "), "{message}");
    assert_eq!(client.stored("1").await, "1");
    let data = client.data("{ collections { count } }", NONE).await;
    assert_eq!(data["collections"], json!([{"count": 1}]));
}

async fn a_write_has_exactly_one_member() {
    let client = client().await;
    for writes in [
        json!([{}]),
        json!([{"insert": {"document": 1}, "delete": {"id": 1}}]),
        json!([{"insert": null}]),
        json!([{"insert": {"document": 1}, "delete": null}]),
    ] {
        let (code, message) = rejected(&client, writes.clone()).await;
        assert_eq!(code, "BAD_USER_INPUT", "{writes}: {message}");
    }
    for fields in [
        "{insert: {document: 1}, delete: {id: 1}}",
        "{}",
        "{unknown: {}}",
        "{insert: {unknown: 1}}",
    ] {
        let query = format!("mutation {{ writeDocuments(operations: [{fields}]) {{ key }} }}");
        let response = client.ask(&query, NONE).await;
        assert!(response["errors"].is_array(), "{fields}: {response}");
    }
    let (code, message) = rejected(&client, json!([{"insert": {}}])).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("`document`"), "{message}");
    let data = client.data("{ collections { name } }", NONE).await;
    assert_eq!(data["collections"], json!([]));
}

async fn variables_in_writes_must_have_a_value() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    let query = "mutation($path: Path) {
        writeDocuments(operations: [{delete: {id: 1, path: $path}}]) { deleted }
    }";
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("$path"), "{message}");
    let (code, _) = rejected(&client, json!([{"delete": {"id": 1, "path": null}}])).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert_eq!(client.stored("1").await, r#"{"a":1}"#);
}

async fn versions_are_those_before_the_operation() {
    let client = client().await;
    client.insert("1", r#"{"n":1}"#).await;
    let data = client.data("{ document(id: 1) { version } }", NONE).await;
    let version = &data["document"]["version"];
    let writes = json!([
        {"increment": {"id": "1", "path": "/n"}},
        {"increment": {"id": "1", "path": "/n", "ifVersion": version}},
    ]);
    written(&client, writes.clone()).await;
    assert_eq!(client.stored("1").await, r#"{"n":3}"#);
    assert_eq!(rejected(&client, writes).await.0, "VERSION_MISMATCH");
}

async fn unique_values_are_compared_at_the_end() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "u", on: ["$.u"], unique: true) { state }"#)
        .await;
    for id in 1..=3 {
        client
            .insert(&id.to_string(), format!(r#"{{"u":{id}}}"#))
            .await;
    }
    let shift = |id: u8, value: u8| json!({"replace": {"id": id, "path": "/u", "document": value}});
    written(
        &client,
        json!([shift(1, 2), shift(2, 3), shift(3, 4), shift(3, 1)]),
    )
    .await;
    let error = rejected(&client, json!([shift(1, 1)])).await;
    assert_eq!(error.0, "UNIQUE_VIOLATION");
    assert_eq!(client.check().await, vec![]);
}

async fn many_documents_are_written_at_once() {
    let client = client().await;
    let insert = |id: usize| json!({"insert": {"id": id, "document": {"n": id}}});
    let writes: Vec<_> = (0..2_000).map(insert).collect();
    let query = "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { key } }";
    let data = client.data(query, json!({"w": writes})).await;
    let results = data["writeDocuments"].as_array().expect("a list");
    assert_eq!(results.len(), 2_000);
    assert_eq!(results[1_999], json!({"key": "1999"}));
    let data = client.data("{ collections { count } }", NONE).await;
    assert_eq!(data["collections"], json!([{"count": 2_000}]));
    let writes: Vec<_> = (0..10_001).map(|_| json!({"delete": {"id": 1}})).collect();
    let (code, message) = client.error(query, json!({"w": writes})).await;
    assert_eq!(code, "TOO_LARGE", "{message}");
}
