//! Values whose missing parents are created.

use serde_json::{Value, json};

use super::replica::Replica;
use super::support::{Client, NONE, client};

cases!(
    async [
        missing_objects_are_created,
        arrays_are_created_for_a_dash_and_the_index_0,
        an_element_with_parents_is_appended,
        other_indexes_and_values_on_the_path_are_rejected,
        the_document_is_created,
        every_change_that_adds_creates_parents,
        a_patch_creates_parents_where_it_adds,
        created_parents_are_validated_against_the_type,
        created_parents_have_index_entries,
        without_the_argument_a_parent_must_exist,
    ]
);

async fn replaced(client: &Client, path: &Value) -> Value {
    let query = "mutation($p: Path!) {
        replaceDocument(id: 1, path: $p, document: 7, createParents: true) { value }
    }";
    let mut data = client.data(query, json!({"p": path})).await;
    data["replaceDocument"]["value"].take()
}

/// Checks what is stored after a value is stored at a path.
async fn check(stored: &str, path: Value, after: Value) {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    client.insert("1", stored).await;
    assert_eq!(replaced(&client, &path).await, after, "{stored} {path}");
    let stored: Value = serde_json::from_str(&client.stored("1").await).expect("JSON");
    assert_eq!(stored, after, "{path}");
    assert_eq!(client.check().await, vec![], "{path}");
    replica.reach(&[("1".to_owned(), after)].into()).await;
}

async fn missing_objects_are_created() {
    check("{}", json!("/a"), json!({"a": 7})).await;
    check("{}", json!("/a/b/c"), json!({"a": {"b": {"c": 7}}})).await;
    check(
        r#"{"a":{"x":1}}"#,
        json!("/a/b/c"),
        json!({"a": {"b": {"c": 7}, "x": 1}}),
    )
    .await;
    check("[{}]", json!("/0/a/b"), json!([{"a": {"b": 7}}])).await;
    check("{}", json!(["1", "2"]), json!({"1": {"2": 7}})).await;
}

async fn arrays_are_created_for_a_dash_and_the_index_0() {
    for path in [json!("/a/-"), json!("/a/0"), json!(["a", 0])] {
        check("{}", path, json!({"a": [7]})).await;
    }
    check("{}", json!("/a/-/0/b/-"), json!({"a": [[{"b": [7]}]]})).await;
    // A member of an existing object.
    check(
        r#"{"a":{}}"#,
        json!("/a/0/b"),
        json!({"a": {"0": {"b": 7}}}),
    )
    .await;
}

async fn an_element_with_parents_is_appended() {
    for path in [json!("/a/-/b"), json!("/a/2/b"), json!(["a", 2, "b"])] {
        check(r#"{"a":[1,2]}"#, path, json!({"a": [1, 2, {"b": 7}]})).await;
    }
    check(r#"{"a":[]}"#, json!("/a/0/0"), json!({"a": [[7]]})).await;
}

async fn other_indexes_and_values_on_the_path_are_rejected() {
    let client = client().await;
    client.insert("1", r#"{"n":1,"l":[1],"t":"x"}"#).await;
    for path in [
        json!("/a/1"),
        json!(["a", 1]),
        json!(["a", -1]),
        json!("/a/-/5/b"),
        json!("/n/a/b"),
        json!("/t/a/b"),
        json!("/l/2/a"),
        json!("/l/a/b"),
        json!(["n", 0, 0]),
    ] {
        let query = "mutation($p: Path!) {
            replaceDocument(id: 1, path: $p, document: 7, createParents: true) { key }
        }";
        let (code, message) = client.error(query, json!({"p": path})).await;
        assert_eq!(code, "INVALID_PATH", "{path}: {message}");
    }
    assert_eq!(client.stored("1").await, r#"{"l":[1],"n":1,"t":"x"}"#);
}

async fn the_document_is_created() {
    for (path, after) in [("/a/b", r#"{"a":{"b":7}}"#), ("/-", "[7]"), ("", "7")] {
        let client = client().await;
        let mut replica = Replica::new(&client).await;
        replaced(&client, &json!(path)).await;
        assert_eq!(client.stored("1").await, after);
        let data = client.data("{ collections { count } }", NONE).await;
        assert_eq!(data["collections"], json!([{"count": 1}]));
        let document = serde_json::from_str(after).expect("JSON");
        replica.reach(&[("1".to_owned(), document)].into()).await;
    }
}

async fn every_change_that_adds_creates_parents() {
    let client = client().await;
    client.insert("2", r#"{"x":[1]}"#).await;
    for (change, path, expected) in [
        (
            "incrementDocument(id: 1, path: \"/n/m\", by: 3, createParents: true)",
            "/n",
            json!({"m": 3}),
        ),
        (
            "incrementDocument(id: 1, path: \"/n/m\", by: 3, createParents: true)",
            "/n",
            json!({"m": 6}),
        ),
        (
            "copyDocument(id: 1, path: \"/c/d\", from: {id: 2, path: \"/x\"}, createParents: true)",
            "/c",
            json!({"d": [1]}),
        ),
    ] {
        let query = format!("mutation {{ it: {change} {{ value(path: \"{path}\") }} }}");
        let data = client.data(&query, NONE).await;
        assert_eq!(data["it"]["value"], expected, "{change}");
    }
}

async fn a_patch_creates_parents_where_it_adds() {
    let client = client().await;
    let mut replica = Replica::new(&client).await;
    client.insert("1", r#"{"a":{"b":1},"p":{}}"#).await;
    let query = "mutation($patch: JSON) {
        patchDocument(id: 1, path: \"/p\", patch: $patch, createParents: true) { value }
    }";
    let patch = json!([
        {"op": "add", "path": "/x/-/y", "value": 1},
        {"op": "add", "path": "/x/0/z/-", "value": 2},
        {"op": "copy", "from": "/x/0", "path": "/c/d"},
        {"op": "move", "from": "/x", "path": "/m/n"},
    ]);
    let data = client.data(query, json!({"patch": patch})).await;
    let moved = json!({"y": 1, "z": [2]});
    let after = json!({"a": {"b": 1}, "p": {"c": {"d": moved}, "m": {"n": [moved]}}});
    assert_eq!(data["patchDocument"]["value"], after);
    replica
        .reach(&[("1".to_owned(), after.clone())].into())
        .await;
    for op in ["replace", "remove", "test"] {
        let patch = json!([{"op": op, "path": "/q/r", "value": 1}]);
        let (code, _) = client.error(query, json!({"patch": patch})).await;
        let expected = if op == "test" {
            "TEST_FAILED"
        } else {
            "NOT_FOUND"
        };
        assert_eq!(code, expected, "{op}");
    }
    let query = "mutation { patchDocument(id: 9, createParents: true,
        patch: [{op: \"add\", path: \"/a\", value: 1}]) { key } }";
    assert_eq!(client.error(query, NONE).await.0, "NOT_FOUND");
    assert_eq!(client.check().await, vec![]);
}

async fn created_parents_are_validated_against_the_type() {
    let client = client().await;
    client
        .mutate(
            r#"setCollectionType(collection: "D", schema: {type: "object", properties: {
                a: {type: "object", required: ["b"], additionalProperties: {type: "integer"}},
                l: {type: "array", maxItems: 1, items: {type: "object", required: ["b"]}}
            }}) { state }"#,
        )
        .await;
    client.insert("1", "{}").await;
    for path in ["/a/c", "/l/-/c", "/l/-/-"] {
        let query = format!(
            "mutation {{ replaceDocument(id: 1, path: \"{path}\", document: 7, createParents: true) {{ key }} }}"
        );
        assert_eq!(
            client.error(&query, NONE).await.0,
            "TYPE_MISMATCH",
            "{path}"
        );
    }
    for path in ["/a/b", "/l/-/b"] {
        replaced(&client, &json!(path)).await;
    }
    let query = "mutation { replaceDocument(id: 1, path: \"/l/-/b\", document: 7, createParents: true) { key } }";
    assert_eq!(client.error(query, NONE).await.0, "TYPE_MISMATCH");
    assert_eq!(client.stored("1").await, r#"{"a":{"b":7},"l":[{"b":7}]}"#);
}

async fn created_parents_have_index_entries() {
    let client = client().await;
    client
        .mutate(
            r#"a: createIndex(name: "a", on: ["$.a.b.c"]) { state }
               l: createIndex(name: "l", on: ["$.l[*].b"]) { state }
               n: createIndex(name: "n", on: ["$.a.*~"]) { state }"#,
        )
        .await;
    client.insert("1", "{}").await;
    for path in ["/a/b/c", "/l/-/b"] {
        replaced(&client, &json!(path)).await;
    }
    for (filter, index) in [
        ("{at: \"$.a.b.c\", eq: 7}", "a"),
        ("{at: \"$.l[*].b\", eq: 7}", "l"),
        ("{at: \"$.a.b\", exists: true}", "n"),
    ] {
        let query =
            format!("{{ documents(where: {filter}) {{ nodes {{ key }} plan {{ index }} }} }}");
        let data = client.data(&query, NONE).await;
        let expected = json!({"nodes": [{"key": "1"}], "plan": {"index": index}});
        assert_eq!(data["documents"], expected);
    }
    assert_eq!(client.check().await, vec![]);
}

async fn without_the_argument_a_parent_must_exist() {
    let client = client().await;
    client.insert("1", "{}").await;
    for change in [
        "replaceDocument(id: 1, path: \"/a/b\", document: 1)",
        "replaceDocument(id: 1, path: \"/a/b\", document: 1, createParents: false)",
        "incrementDocument(id: 1, path: \"/a/b\")",
        "patchDocument(id: 1, patch: [{op: \"add\", path: \"/a/b\", value: 1}])",
    ] {
        let query = format!("mutation {{ {change} {{ key }} }}");
        assert_eq!(client.error(&query, NONE).await.0, "NOT_FOUND", "{change}");
    }
}
