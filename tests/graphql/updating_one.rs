//! `updateDocument`, and the operators that it shares with `updateDocuments`.

use serde_json::{Value, json};

use super::replica::Replica;
use super::support::{Client, NONE, client};

cases!(
    async [
        a_document_is_updated_and_returned,
        a_document_that_does_not_exist_is_not_updated,
        the_version_must_be_the_expected_one,
        an_update_that_changes_nothing_keeps_the_version,
        elements_are_added_once,
        members_are_renamed,
        bounds_move_in_one_direction,
        long_strings_are_compared,
        the_time_is_that_of_the_operation,
        values_are_taken_from_the_changed_document,
        values_are_taken_from_each_changed_document,
        types_indexes_and_the_change_log_follow,
    ]
);

async fn version(client: &Client) -> Value {
    let data = client.data("{ document(id: 1) { version } }", NONE).await;
    data["document"]["version"].clone()
}

async fn updated(client: &Client, operators: &str) -> Value {
    let query = format!("mutation {{ updateDocument(id: 1, {operators}) {{ value }} }}");
    let mut data = client.data(&query, NONE).await;
    data["updateDocument"]["value"].take()
}

async fn rejected(client: &Client, operators: &str) -> String {
    let query = format!("mutation {{ updateDocument(id: 1, {operators}) {{ value }} }}");
    client.error(&query, NONE).await.0
}

/// Checks what an update makes of a document. The version changes only if the value does.
async fn check(stored: &str, operators: &str, after: Value) {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    client.insert("1", stored).await;
    let before = version(&client).await;
    assert_eq!(updated(&client, operators).await, after, "{operators}");
    let stored: Value = serde_json::from_str(stored).expect("JSON");
    let is_same = version(&client).await == before;
    assert_eq!(is_same, stored == after, "{operators}");
    replica.reach(&[("1".to_owned(), after)].into()).await;
    replica.finish(0..1).await;
    assert_eq!(client.check().await, vec![], "{operators}");
}

async fn a_document_is_updated_and_returned() {
    check(
        r#"{"n":1,"l":[1,2],"o":{"x":1},"gone":0}"#,
        r#"set: {at: "$.s", value: 1}, unset: "$.gone", increment: {at: "$.n", by: 2},
           remove: {at: "$.l", values: [1]}, append: {at: "$.l", value: 2}, merge: {at: "$.o", patch: {y: 2}}"#,
        json!({"n": 3, "l": [2, 2], "o": {"x": 1, "y": 2}, "s": 1}),
    )
    .await;
}

async fn a_document_that_does_not_exist_is_not_updated() {
    let client = client().await;
    assert_eq!(
        rejected(&client, r#"set: {at: "$", value: 1}"#).await,
        "NOT_FOUND"
    );
    client.insert("1", "{}").await;
    assert_eq!(rejected(&client, "").await, "BAD_USER_INPUT");
}

async fn the_version_must_be_the_expected_one() {
    let client = client().await;
    client.insert("1", r#"{"n":1}"#).await;
    let query = "mutation($v: DocumentVersion) {
        updateDocument(id: 1, ifVersion: $v, increment: {at: \"$.n\"}) { value }
    }";
    let v = version(&client).await;
    let data = client.data(query, json!({"v": v})).await;
    assert_eq!(data["updateDocument"]["value"], json!({"n": 2}));
    let error = client.error(query, json!({"v": v})).await;
    assert_eq!(error.0, "VERSION_MISMATCH");
}

async fn an_update_that_changes_nothing_keeps_the_version() {
    let stored = r#"{"a":1,"l":[1,"x"],"t":"m"}"#;
    let after = json!({"a": 1, "l": [1, "x"], "t": "m"});
    for operators in [
        r#"set: {at: "$.a", value: 1}"#,
        r#"add: {at: "$.l", values: ["x", 1.0]}"#,
        r#"min: {at: "$.a", value: 1.0}"#,
        r#"max: {at: "$.t", value: "Z"}"#,
        r#"rename: {at: "$", member: "none", to: "some"}"#,
        r#"rename: {at: "$", member: "a", to: "a"}"#,
        r#"unset: "$.none.at.all""#,
    ] {
        check(stored, operators, after.clone()).await;
    }
}

async fn elements_are_added_once() {
    for (stored, operators, after) in [
        (
            r#"{"l":[1]}"#,
            r#"add: {at: "$.l", value: 2}"#,
            json!({"l": [1, 2]}),
        ),
        (
            r#"{"l":[1]}"#,
            r#"add: {at: "$.l", values: [2, 1.0, 2, 3]}"#,
            json!({"l": [1, 2, 3]}),
        ),
        (
            r#"{"l":[]}"#,
            r#"add: {at: "$.l", values: [{a: [1]}, {a: [1.0]}]}"#,
            json!({"l": [{"a": [1]}]}),
        ),
        (
            "{}",
            r#"add: {at: "$.l", values: ["x", "x"]}"#,
            json!({"l": ["x"]}),
        ),
        (
            r#"{"l":[[1],[2]]}"#,
            r#"add: {at: "$.l[*]", value: 1}"#,
            json!({"l": [[1], [2, 1]]}),
        ),
        (
            r#"{"l":["a","b"]}"#,
            r#"add: {at: "$.l", from: {path: "/m"}}, set: {at: "$.m", value: ["c", "a"]}"#,
            Value::Null,
        ),
    ] {
        if after.is_null() {
            let client = client().await;
            client.insert("1", stored).await;
            // The value is read before the document changes.
            assert_eq!(rejected(&client, operators).await, "NOT_FOUND");
            continue;
        }
        check(stored, operators, after).await;
    }
    let client = client().await;
    client.insert("1", r#"{"n":1}"#).await;
    for operators in [
        r#"add: {at: "$.n", value: 1}"#,
        r#"add: {at: "$.n", values: 1}"#,
        r#"add: {at: "$.n", value: 1, values: [1]}"#,
    ] {
        assert_eq!(
            rejected(&client, operators).await,
            "BAD_USER_INPUT",
            "{operators}"
        );
    }
}

async fn members_are_renamed() {
    for (stored, operators, after) in [
        (
            r#"{"a":{"x":[1]}}"#,
            r#"rename: {at: "$", member: "a", to: "b"}"#,
            json!({"b": {"x": [1]}}),
        ),
        (
            r#"{"a":1,"b":2}"#,
            r#"rename: {at: "$", member: "a", to: "b"}"#,
            json!({"b": 1}),
        ),
        (
            r#"{"a":1,"b":[2]}"#,
            r#"rename: {at: "$", member: "b", to: "a"}"#,
            json!({"a": [2]}),
        ),
        (
            r#"{"l":[{"a":1},{"b":2},{"a":{}}]}"#,
            r#"rename: {at: "$.l[*]", member: "a", to: "c"}"#,
            json!({"l": [{"c": 1}, {"b": 2}, {"c": {}}]}),
        ),
        (
            r#"{"a":1}"#,
            r#"rename: {at: "$.missing", member: "a", to: "b"}"#,
            json!({"a": 1}),
        ),
    ] {
        check(stored, operators, after).await;
    }
    let client = client().await;
    client.insert("1", r#"{"l":[1]}"#).await;
    for at in ["$.l", "$.l[0]"] {
        let operators = format!(r#"rename: {{at: "{at}", member: "a", to: "b"}}"#);
        assert_eq!(
            rejected(&client, &operators).await,
            "BAD_USER_INPUT",
            "{at}"
        );
    }
}

async fn bounds_move_in_one_direction() {
    for (operators, after) in [
        (r#"min: {at: "$.n", value: 4}"#, json!({"n": 4, "t": "m"})),
        (r#"min: {at: "$.n", value: 6}"#, json!({"n": 5, "t": "m"})),
        (
            r#"max: {at: "$.n", value: 5.5}"#,
            json!({"n": 5.5, "t": "m"}),
        ),
        (r#"max: {at: "$.t", value: "n"}"#, json!({"n": 5, "t": "n"})),
        (r#"min: {at: "$.t", value: "é"}"#, json!({"n": 5, "t": "m"})),
        (
            r#"min: {at: "$.new", value: 1}, max: {at: "$.other", value: "x"}"#,
            json!({"n": 5, "t": "m", "new": 1, "other": "x"}),
        ),
        (
            r#"min: {at: "$.n", value: 1}, max: {at: "$.n", value: 3}"#,
            json!({"n": 3, "t": "m"}),
        ),
    ] {
        check(r#"{"n":5,"t":"m"}"#, operators, after).await;
    }
    let client = client().await;
    client.insert("1", r#"{"n":5,"o":{},"z":null}"#).await;
    for (at, value) in [
        ("n", "\"5\""),
        ("n", "null"),
        ("n", "{}"),
        ("o", "1"),
        ("z", "1"),
        ("n", "true"),
    ] {
        let operators = format!(r#"max: {{at: "$.{at}", value: {value}}}"#);
        assert_eq!(
            rejected(&client, &operators).await,
            "BAD_USER_INPUT",
            "{at} {value}"
        );
    }
}

async fn long_strings_are_compared() {
    let client = client().await;
    let long = "m".repeat(250_000);
    client.insert("1", json!({"t": long})).await;
    let query = "mutation($v: JSON!) {
        updateDocument(id: 1, max: {at: \"$.t\", value: $v}) { length: value(path: \"/t\") }
    }";
    for (value, after) in [("l", long.as_str()), ("mm", long.as_str()), ("n", "n")] {
        let data = client.data(query, json!({"v": value})).await;
        assert_eq!(data["updateDocument"]["length"], json!(after), "{value}");
    }
    assert_eq!(client.check().await, vec![]);
}

async fn the_time_is_that_of_the_operation() {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    client.insert("1", r#"{"l":[{"at":0},{"at":1}]}"#).await;
    client.insert("2", "{}").await;
    let query = r#"mutation {
        a: updateDocument(id: 1, now: ["$.at", "$.l[*].at"]) { value }
        b: updateDocuments(where: {}, everything: true, now: "$.last") { matched }
        c: updateDocument(id: 2, unset: "$.none") { value }
    }"#;
    let data = client.data(query, NONE).await;
    let at = data["a"]["value"]["at"].as_str().expect("a time");
    assert_eq!(at.len(), "2026-11-27T07:04:47.123Z".len(), "{at}");
    assert!(at.starts_with("20") && at.ends_with('Z'), "{at}");
    let first = json!({"at": at, "l": [{"at": at}, {"at": at}]});
    assert_eq!(data["a"]["value"], first);
    assert_eq!(data["c"]["value"], json!({"last": at}));
    let first = json!({"at": at, "l": [{"at": at}, {"at": at}], "last": at});
    let documents = [
        ("1".to_owned(), first),
        ("2".to_owned(), json!({"last": at})),
    ];
    replica.reach(&documents.into()).await;
    let schema = r#"mutation { setCollectionType(collection: "D",
        schema: {properties: {at: {type: "string", format: "date-time"}}}) { state } }"#;
    client.data(schema, NONE).await;
    updated(&client, r#"now: "$.at""#).await;
}

async fn values_are_taken_from_the_changed_document() {
    for (operators, after) in [
        (
            r#"set: {at: "$.b", from: {path: "/a"}}"#,
            json!({"a": [1], "b": [1], "k": "2"}),
        ),
        (
            r#"set: [{at: "$.a", value: 9}, {at: "$.b", from: {path: "/a"}}]"#,
            json!({"a": 9, "b": [1], "k": "2"}),
        ),
        (
            r#"append: {at: "$.a", from: {path: ["a"]}}"#,
            json!({"a": [1, 1], "k": "2"}),
        ),
        (
            r#"remove: {at: "$.a", from: {path: "/a"}}"#,
            json!({"a": [], "k": "2"}),
        ),
        (
            r#"set: {at: "$.b", from: {idFrom: {path: "/k"}, path: "/x"}}"#,
            json!({"a": [1], "b": "two", "k": "2"}),
        ),
    ] {
        let client = client().await;
        client.insert("1", r#"{"a":[1],"k":"2"}"#).await;
        client.insert("2", r#"{"x":"two"}"#).await;
        assert_eq!(updated(&client, operators).await, after, "{operators}");
    }
    let client = client().await;
    client.insert("1", r#"{"a":[1]}"#).await;
    let query = r#"mutation { copyDocument(id: 1, path: "/b", from: {path: "/a"}) { value } }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["copyDocument"]["value"], json!({"a": [1], "b": [1]}));
}

async fn values_are_taken_from_each_changed_document() {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    client.insert("1", r#"{"a":1,"k":2}"#).await;
    client.insert("2", r#"{"a":2,"k":1}"#).await;
    let query = r#"mutation { updateDocuments(where: {at: "$.a", exists: true}, set: [
        {at: "$.b", from: {path: "/a"}}, {at: "$.c", from: {idFrom: {path: "/k"}, path: "/k"}}
    ]) { changed updates { places } } }"#;
    let data = client.data(query, NONE).await;
    let places = json!([{"places": 2}, {"places": 2}]);
    assert_eq!(
        data["updateDocuments"],
        json!({"changed": 2, "updates": places})
    );
    let documents = [
        ("1".to_owned(), json!({"a": 1, "b": 1, "c": 1, "k": 2})),
        ("2".to_owned(), json!({"a": 2, "b": 2, "c": 2, "k": 1})),
    ];
    replica.reach(&documents.into()).await;
    client.insert("3", r#"{"a":3}"#).await;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "NOT_FOUND");
    assert!(message.contains("the document 3"), "{message}");
}

async fn types_indexes_and_the_change_log_follow() {
    let client = client().await;
    client
        .mutate(
            r#"t: setCollectionType(collection: "D", schema: {type: "object", additionalProperties: false,
                properties: {name: {type: "string"}, n: {type: "integer", maximum: 9},
                    tags: {type: "array", maxItems: 2, items: {type: "string"}}}}) { state }
               i: createIndex(name: "name", on: ["$.name"], unique: true) { state }
               l: createIndex(name: "tags", on: ["$.tags[*]"]) { state }"#,
        )
        .await;
    client
        .insert("1", r#"{"n":1,"name":"a","tags":["x"]}"#)
        .await;
    client.insert("2", r#"{"n":1,"name":"b","tags":[]}"#).await;
    for operators in [
        r#"max: {at: "$.n", value: 10}"#,
        r#"max: {at: "$.n", value: 2.5}"#,
        r#"add: {at: "$.tags", values: ["y", "z"]}"#,
        r#"rename: {at: "$", member: "name", to: "title"}"#,
        r#"now: "$.at""#,
    ] {
        assert_eq!(
            rejected(&client, operators).await,
            "TYPE_MISMATCH",
            "{operators}"
        );
    }
    let query = r#"mutation { updateDocument(id: 1, set: {at: "$.name", value: "b"}) { key } }"#;
    assert_eq!(client.error(query, NONE).await.0, "UNIQUE_VIOLATION");
    updated(&client, r#"add: {at: "$.tags", values: ["x", "y"]}"#).await;
    let query =
        r#"{ documents(where: {at: "$.tags[*]", eq: "y"}) { nodes { key } plan { index } } }"#;
    let data = client.data(query, NONE).await;
    let expected = json!({"nodes": [{"key": "1"}], "plan": {"index": "tags"}});
    assert_eq!(data["documents"], expected);
    // Names are swapped in one operation.
    let query = r#"mutation {
        a: updateDocument(id: 1, set: {at: "$.name", value: "b"}) { key }
        b: updateDocument(id: 2, set: {at: "$.name", value: "a"}) { key }
    }"#;
    client.data(query, NONE).await;
    assert_eq!(client.check().await, vec![]);
}
