//! Values taken from another place: `copyDocument`, and `from` in `updateDocuments`. Tests of
//! documents: `testDocument`.

use phyllo::limits::Bounds;
use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        values_are_copied_as_replace_document_stores_them,
        a_copy_can_be_stored_above_or_below_its_original,
        a_missing_source_is_named,
        malformed_values_of_other_programs_are_not_copied,
        copies_see_the_writes_of_earlier_fields,
        operands_are_taken_from_a_place,
        operands_are_read_before_anything_changes,
        exactly_one_operand_is_required,
        lists_of_operands_are_arrays,
        equal_elements_are_removed,
        documents_are_tested,
        failed_tests_undo_the_operation,
        large_copies_are_counted,
    ]
);

async fn store(client: &Client, id: &str, document: &Value) {
    let replace = "mutation($id: ID!, $d: JSON) { replaceDocument(id: $id, document: $d) { key } }";
    client.data(replace, json!({"id": id, "d": document})).await;
}

async fn stored(client: &Client, id: &str) -> Value {
    serde_json::from_str(&client.stored(id).await).expect("JSON")
}

/// Runs a mutation without variables.
async fn mutate(client: &Client, fields: &str) -> Value {
    client.data(&format!("mutation {{ {fields} }}"), NONE).await
}

async fn error(client: &Client, fields: &str) -> (String, String) {
    client
        .error(&format!("mutation {{ {fields} }}"), NONE)
        .await
}

/// A document with a value of each kind.
fn original() -> Value {
    json!({
        "a": {"b": [1, 2.5, {"c": null}], "e": {}, "f": []},
        "long": "x".repeat(250_000),
        "list": [10, 20, 30],
        "7": true,
    })
}

async fn malformed_values_of_other_programs_are_not_copied() {
    let client = client().await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    let retention = std::time::Duration::from_secs(60);
    let set = client.database.set_change_retention(deadline, retention);
    set.await.expect("it is set");
    // An array with a hole.
    client
        .plant(
            1,
            &[
                (json!(["list", 0]), "1"),
                (json!(["list", 2]), "3"),
                (json!(["sound"]), "4"),
            ],
        )
        .await;
    client.insert("2", "{}").await;
    for field in [
        r#"copyDocument(id: 2, from: {id: 1, path: "/list"}, path: "/copy")"#,
        r#"copyDocument(id: 2, from: {id: 1})"#,
        r#"patchDocument(id: 1, patch: [{op: "copy", from: "/list", path: "/copy"}])"#,
        r#"patchDocument(id: 1, patch: [{op: "move", from: "/list", path: "/moved"}])"#,
    ] {
        let (code, message) = error(&client, &format!("{field} {{ key }}")).await;
        assert_eq!(code, "INTERNAL", "{field}: {message}");
    }
    let copy = r#"copyDocument(id: 2, from: {id: 1, path: "/sound"}, path: "/copy") { value }"#;
    let copied = mutate(&client, copy).await;
    assert_eq!(copied["copyDocument"]["value"], json!({"copy": 4}));
    let remove = r#"patchDocument(id: 1, patch: [{op: "remove", path: "/list"}]) { value }"#;
    let removed = mutate(&client, remove).await;
    assert_eq!(removed["patchDocument"]["value"], json!({"sound": 4}));
}

async fn values_are_copied_as_replace_document_stores_them() {
    let client = client().await;
    store(&client, "from", &original()).await;
    let original = original();
    for (path, value) in [
        ("\"\"", &original),
        ("\"/a\"", &original["a"]),
        ("\"/a/b/2\"", &original["a"]["b"][2]),
        ("\"/a/e\"", &original["a"]["e"]),
        ("\"/a/f\"", &original["a"]["f"]),
        ("\"/long\"", &original["long"]),
        ("\"/list/1\"", &original["list"][1]),
        ("[\"list\", -1]", &original["list"][2]),
        ("\"/7\"", &original["7"]),
    ] {
        for (at, expected) in [
            ("", value.clone()),
            ("/new", json!({"old": [0, {"x": 1}], "new": value})),
            ("/old", json!({"old": value})),
            ("/old/0", json!({"old": [value, {"x": 1}]})),
            ("/old/-", json!({"old": [0, {"x": 1}, value]})),
            ("/old/1/x", json!({"old": [0, {"x": value}]})),
        ] {
            store(&client, "to", &json!({"old": [0, {"x": 1}]})).await;
            let copy = format!(
                "copyDocument(id: \"to\", path: \"{at}\", from: {{id: \"from\", path: {path}}}) {{ key value }}"
            );
            let copied = mutate(&client, &copy).await;
            assert_eq!(copied["copyDocument"]["key"], "to");
            assert_eq!(copied["copyDocument"]["value"], expected, "{path} to {at}");
            assert_eq!(stored(&client, "to").await, expected, "{path} to {at}");
        }
    }
    // Another collection, a new document, and a place from the end.
    let copied = mutate(
        &client,
        r#"copyDocument(collection: "other", id: "new", from: {id: "from", path: "/list"}) { collection value }
           last: copyDocument(collection: "other", id: "new", path: [-1], from: {collection: "other", id: "new", path: [0]}) { value }"#,
    )
    .await;
    let expected = json!({"collection": "other", "value": [10, 20, 30]});
    assert_eq!(copied["copyDocument"], expected);
    assert_eq!(copied["last"]["value"], json!([10, 20, 10]));
    for (path, code) in [
        ("/none/x", "NOT_FOUND"),
        ("/old/9", "INVALID_PATH"),
        ("/old/0/x", "INVALID_PATH"),
    ] {
        store(&client, "to", &json!({"old": [0, {"x": 1}]})).await;
        let copy =
            format!("copyDocument(id: \"to\", path: \"{path}\", from: {{id: \"from\"}}) {{ key }}");
        assert_eq!(error(&client, &copy).await.0, code, "{path}");
    }
    assert_eq!(client.check().await, []);
}

async fn a_copy_can_be_stored_above_or_below_its_original() {
    let client = client().await;
    for (before, from, to, after) in [
        (
            json!({"a": {"b": 1}}),
            "/a",
            "/a/c",
            json!({"a": {"b": 1, "c": {"b": 1}}}),
        ),
        (
            json!({"a": {"b": 1}}),
            "/a",
            "/a/b",
            json!({"a": {"b": {"b": 1}}}),
        ),
        (json!({"a": {"b": 1}}), "/a/b", "/a", json!({"a": 1})),
        (json!({"a": {"b": 1}}), "/a/b", "", json!(1)),
        (json!([1, [2]]), "", "/1/-", json!([1, [2, [1, [2]]]])),
        (json!([1, [2]]), "", "/-", json!([1, [2], [1, [2]]])),
        (json!({"a": [1]}), "/a", "/a", json!({"a": [1]})),
    ] {
        store(&client, "1", &before).await;
        let copy = format!(
            "copyDocument(id: 1, path: \"{to}\", from: {{id: 1, path: \"{from}\"}}) {{ version }}"
        );
        mutate(&client, &copy).await;
        assert_eq!(stored(&client, "1").await, after, "{from} to {to}");
    }
    assert_eq!(client.check().await, []);
}

async fn a_missing_source_is_named() {
    let client = client().await;
    store(&client, "1", &json!({"a": [1]})).await;
    for (fields, code, parts) in [
        (
            r#"copyDocument(id: 1, from: {id: "x", collection: "c"}) { key }"#,
            "NOT_FOUND",
            &["the argument `from`", "under the id x", "\"c\""][..],
        ),
        (
            r#"copyDocument(id: 1, path: "/b", from: {id: 1, path: "/a/1"}) { key }"#,
            "NOT_FOUND",
            &["the argument `from`", "\"/a/1\""],
        ),
        (
            r#"copyDocument(id: 1, path: "/b", from: {id: 1, path: ["a", -2]}) { key }"#,
            "NOT_FOUND",
            &["the argument `from`"],
        ),
        (
            r#"copyDocument(id: 1, path: "/b", from: {id: 1, path: "a"}) { key }"#,
            "INVALID_PATH",
            &["the argument `from`"],
        ),
        (
            r#"copyDocument(id: 1, path: "/b", from: {id: 1, collection: ""}) { key }"#,
            "BAD_USER_INPUT",
            &["the argument `from`"],
        ),
        (
            r#"updateDocuments(where: {}, everything: true, append: [{at: "$.a", from: {id: 1, path: "/b"}}]) { changed }"#,
            "NOT_FOUND",
            &["the argument `append`", "the argument `from`", "\"/b\""],
        ),
        (
            r#"updateDocuments(where: {}, everything: true, remove: [{at: "$.a", from: {id: 1}}]) { changed }"#,
            "BAD_USER_INPUT",
            &[
                "the argument `remove`",
                "the argument `from`",
                "not an array",
            ],
        ),
    ] {
        let (found, message) = error(&client, fields).await;
        assert_eq!(found, code, "{fields}");
        for part in parts {
            assert!(message.contains(part), "{part} in {message}");
        }
    }
    // The value is read even if no document matches.
    let none = r#"updateDocuments(where: {at: "$.none", exists: true}, set: [{at: "$.a", from: {id: 9}}]) { changed }"#;
    assert_eq!(error(&client, none).await.0, "NOT_FOUND");
}

async fn copies_see_the_writes_of_earlier_fields() {
    let client = client().await;
    let copied = mutate(
        &client,
        r#"a: insertDocument(id: "a", document: {list: [1]}) { key }
           b: copyDocument(id: "b", from: {id: "a"}) { value }
           c: replaceDocument(id: "b", path: "/list/-", document: 2) { key }
           d: copyDocument(id: "c", from: {id: "b", path: "/list"}) { value }
           e: deleteDocument(id: "b") { deleted }
           f: updateDocuments(where: {at: "$.list", exists: true}, append: [{at: "$.list", from: {id: "c"}}]) { changed }"#,
    )
    .await;
    assert_eq!(copied["b"]["value"], json!({"list": [1]}));
    assert_eq!(copied["d"]["value"], json!([1, 2]));
    assert_eq!(stored(&client, "a").await, json!({"list": [1, 1, 2]}));
    let gone =
        r#"deleteDocument(id: "a") { deleted } copyDocument(id: "d", from: {id: "a"}) { key }"#;
    assert_eq!(error(&client, gone).await.0, "NOT_FOUND");
    assert_eq!(stored(&client, "a").await, json!({"list": [1, 1, 2]}));
    // A version before the operation is expected, as for other changes.
    let version = client
        .data("{ document(id: \"c\") { version } }", NONE)
        .await;
    let version = version["document"]["version"]
        .as_str()
        .expect("a version")
        .to_owned();
    let copy = |version: &str| {
        format!(
            "copyDocument(id: \"c\", path: \"/0\", from: {{id: \"a\"}}, ifVersion: \"{version}\") {{ key }}"
        )
    };
    mutate(&client, &copy(&version)).await;
    assert_eq!(error(&client, &copy(&version)).await.0, "VERSION_MISMATCH");
}

async fn operands_are_taken_from_a_place() {
    let client = client().await;
    store(
        &client,
        "source",
        &json!({"s": {"x": [1, {}]}, "more": [8, [9]], "old": [1, "b"]}),
    )
    .await;
    for id in ["1", "2"] {
        store(&client, id, &json!({"tags": ["a", "b", 1.0], "is": id})).await;
    }
    let result = mutate(
        &client,
        r#"updateDocuments(
               where: {at: "$.is", exists: true}
               set: [{at: "$.copy", from: {id: "source", path: "/s"}}, {at: "$.one", value: null}]
               remove: [{at: "$.tags", from: {id: "source", path: "/old"}}]
               append: [
                   {at: "$.tags", from: {id: "source", path: "/more"}}
                   {at: "$.tags", values: ["c", null]}
                   {at: "$.tags", value: ["d"]}
                   {at: "$.new", values: [[], {}]}
                   {at: "$.none", values: []}
               ]
           ) { matched changed updates { operator at places } }"#,
    )
    .await;
    assert_eq!(result["updateDocuments"]["changed"], 2);
    let operators = result["updateDocuments"]["updates"]
        .as_array()
        .expect("a list");
    let operators: Vec<_> = operators.iter().map(|it| it["operator"].as_str()).collect();
    let expected = [
        "SET", "SET", "REMOVE", "APPEND", "APPEND", "APPEND", "APPEND", "APPEND",
    ];
    assert_eq!(operators, expected.map(Some));
    for id in ["1", "2"] {
        let expected = json!({
            "copy": {"x": [1, {}]},
            "is": id,
            "new": [[], {}],
            "none": [],
            "one": null,
            "tags": ["a", 8, [9], "c", null, ["d"]],
        });
        assert_eq!(stored(&client, id).await, expected);
    }
    assert_eq!(client.check().await, []);
}

async fn operands_are_read_before_anything_changes() {
    let client = client().await;
    store(&client, "1", &json!({"l": [1]})).await;
    store(&client, "2", &json!({"l": [2, 3]})).await;
    let result = mutate(
        &client,
        r#"updateDocuments(
               where: {}, everything: true
               set: [{at: "$.n", value: 0}, {at: "$.m", from: {id: "1"}}]
               append: [{at: "$.l", from: {id: "1", path: "/l"}}, {at: "$.l", from: {id: "2", path: "/l"}}]
           ) { changed }"#,
    )
    .await;
    assert_eq!(result["updateDocuments"]["changed"], 2);
    let first = json!({"l": [1, 1, 2, 3], "m": {"l": [1]}, "n": 0});
    assert_eq!(stored(&client, "1").await, first);
    let second = json!({"l": [2, 3, 1, 2, 3], "m": {"l": [1]}, "n": 0});
    assert_eq!(stored(&client, "2").await, second);
}

async fn exactly_one_operand_is_required() {
    let client = client().await;
    for (operators, part) in [
        ("set: [{at: \"$.a\"}]", "`value` and `from`"),
        (
            "set: [{at: \"$.a\", value: 1, from: {id: 1}}]",
            "`value` and `from`",
        ),
        (
            "set: [{at: \"$.a\", value: null, from: {id: 1}}]",
            "`value` and `from`",
        ),
        ("append: [{at: \"$.a\"}]", "`value`, `values` and `from`"),
        (
            "append: [{at: \"$.a\", value: 1, values: [1]}]",
            "`value`, `values` and `from`",
        ),
        (
            "append: [{at: \"$.a\", values: [1], from: {id: 1}}]",
            "`value`, `values` and `from`",
        ),
        ("remove: [{at: \"$.a\"}]", "`values` and `from`"),
        (
            "remove: [{at: \"$.a\", values: [], from: {id: 1}}]",
            "`values` and `from`",
        ),
        (
            "remove: [{at: \"$.a\", values: null, from: null}]",
            "`values` and `from`",
        ),
    ] {
        let fields =
            format!("updateDocuments(where: {{}}, everything: true, {operators}) {{ changed }}");
        let (code, message) = error(&client, &fields).await;
        assert_eq!(code, "BAD_USER_INPUT", "{operators}");
        let operator = operators.split(':').next().expect("a name");
        assert!(message.contains(&format!("`{operator}`")), "{message}");
        assert!(
            message.contains(&format!("exactly one of {part}")),
            "{message}"
        );
    }
}

async fn lists_of_operands_are_arrays() {
    let client = client().await;
    store(&client, "1", &json!({"a": [1], "o": {}})).await;
    let query = "mutation($v: JSON) { updateDocuments(where: {}, everything: true, %: [{at: \"$.a\", values: $v}]) { changed } }";
    for operator in ["append", "remove"] {
        let query = query.replace('%', operator);
        for values in [json!(1), json!({"0": 1}), json!("[]")] {
            let (code, message) = client.error(&query, json!({"v": values})).await;
            assert_eq!(code, "BAD_USER_INPUT", "{operator} {values}");
            assert!(
                message.contains("`values`: the value is not an array"),
                "{message}"
            );
        }
        let data = client.data(&query, json!({"v": []})).await;
        assert_eq!(data["updateDocuments"]["changed"], 0);
        let fields = format!(
            "updateDocuments(where: {{}}, everything: true, {operator}: [{{at: \"$.o\", values: [1]}}]) {{ changed }}"
        );
        let (code, message) = error(&client, &fields).await;
        assert_eq!(code, "BAD_USER_INPUT", "{operator}");
        assert!(
            message.contains("the value at \"/o\" is not an array"),
            "{message}"
        );
    }
    let many: Vec<u64> = (0..3_000).collect();
    let query = query.replace('%', "append");
    client.data(&query, json!({"v": many})).await;
    let appended = stored(&client, "1").await;
    assert_eq!(appended["a"].as_array().map(Vec::len), Some(3_001));
    assert_eq!(appended["a"][3_000], 2_999);
}

async fn equal_elements_are_removed() {
    let client = client().await;
    mutate(
        &client,
        r#"createIndex(name: "l", on: ["$.l[*]"]) { state }"#,
    )
    .await;
    for (before, values, after) in [
        (json!([1, 2, 1.0, "1", 1]), json!([1]), json!([2, "1"])),
        (json!([1, 2]), json!([3]), json!([1, 2])),
        (json!([1, 1]), json!([1, 1]), json!([])),
        (json!([]), json!([1]), json!([])),
        (
            json!([null, false, 0, "", [], {}]),
            json!([[], null]),
            json!([false, 0, "", {}]),
        ),
        (
            json!([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, {"a": 1}, 5, {"a": 1, "b": [2, 3]}]),
            json!([{"a": 1.0, "b": [2]}]),
            json!([{"a": 1}, 5, {"a": 1, "b": [2, 3]}]),
        ),
        (json!([[1], 1, [[1]]]), json!([[1]]), json!([1, [[1]]])),
    ] {
        store(&client, "1", &json!({"l": before, "other": before})).await;
        let query = "mutation($v: JSON) { updateDocuments(where: {}, everything: true, remove: [{at: \"$.l\", values: $v}]) { updates { places } } }";
        let data = client.data(query, json!({"v": values})).await;
        assert_eq!(data["updateDocuments"]["updates"][0]["places"], 1);
        let expected = json!({"l": after, "other": before});
        assert_eq!(stored(&client, "1").await, expected, "{values}");
    }
    // A string that is stored in several pieces.
    let (long, other) = ("x".repeat(200_000), "x".repeat(200_001));
    store(&client, "1", &json!({"m": [long, other, 1, long]})).await;
    let query = "mutation($v: JSON) { updateDocuments(where: {}, everything: true, remove: [{at: \"$.m\", values: $v}]) { changed } }";
    client.data(query, json!({"v": [long]})).await;
    assert_eq!(stored(&client, "1").await, json!({"m": [other, 1]}));
    // Several arrays, one of them in the other.
    store(&client, "1", &json!({"l": [[1, 2], 1, [1]], "m": [1, 3]})).await;
    mutate(
        &client,
        r#"updateDocuments(where: {}, everything: true, remove: [{at: "$['l','m']", values: [1]}, {at: "$.l[*]", values: [1]}]) { changed }"#,
    )
    .await;
    let expected = json!({"l": [[2], []], "m": [3]});
    assert_eq!(stored(&client, "1").await, expected);
    let none = mutate(
        &client,
        r#"updateDocuments(where: {}, everything: true, remove: [{at: "$.none", values: [1]}, {at: "$.none.x", values: [1]}]) { changed updates { places } }"#,
    )
    .await;
    let expected = json!({"changed": 0, "updates": [{"places": 0}, {"places": 0}]});
    assert_eq!(none["updateDocuments"], expected);
    assert_eq!(client.check().await, []);
}

async fn documents_are_tested() {
    let client = client().await;
    store(&client, "1", &json!({"n": 5, "l": [{"k": "a"}]})).await;
    for filter in [
        "{}",
        "{at: \"$.n\", eq: 5.0}",
        "{at: \"$.n\", gt: 4, lt: 6}",
        "{not: {at: \"$.l[*].k\", eq: \"b\"}}",
        "{any: [{at: \"$.none\", exists: true}, {at: \"$.l\", exists: true}]}",
    ] {
        let fields =
            format!("testDocument(id: 1, matches: {filter}) {{ key value(path: \"/n\") version }}");
        let data = mutate(&client, &fields).await;
        assert_eq!(data["testDocument"]["key"], "1", "{filter}");
        assert_eq!(data["testDocument"]["value"], 5, "{filter}");
        assert!(data["testDocument"]["version"].is_string(), "{filter}");
    }
    for (id, filter, part) in [
        ("1", "{at: \"$.n\", eq: 6}", "does not match"),
        ("1", "{at: \"$.none\", exists: true}", "does not match"),
        ("1", "{not: {}}", "does not match"),
        ("2", "{}", "does not exist"),
        ("2", "{not: {at: \"$.n\", eq: 5}}", "does not exist"),
    ] {
        let fields = format!("testDocument(id: {id}, matches: {filter}) {{ key }}");
        let (code, message) = error(&client, &fields).await;
        assert_eq!(code, "TEST_FAILED", "{filter}");
        let document = format!("the document {id} in the collection \"D\" {part}");
        assert!(message.contains(&document), "{message}");
    }
    let invalid = "testDocument(id: 1, matches: {at: \"n\", eq: 1}) { key }";
    let (code, message) = error(&client, invalid).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("`matches`"), "{message}");
}

async fn failed_tests_undo_the_operation() {
    let client = client().await;
    store(&client, "1", &json!({"n": 1})).await;
    // Tests see the writes of the fields before them.
    let fields = |expected: u8| {
        format!(
            "incrementDocument(id: 1, path: \"/n\") {{ key }} \
             testDocument(id: 1, matches: {{at: \"$.n\", eq: {expected}}}) {{ key }}"
        )
    };
    mutate(&client, &fields(2)).await;
    assert_eq!(error(&client, &fields(2)).await.0, "TEST_FAILED");
    assert_eq!(stored(&client, "1").await, json!({"n": 2}));
    let inserted =
        "insertDocument(id: 2, document: {}) { key } testDocument(id: 2, matches: {}) { key }";
    mutate(&client, inserted).await;
    let deleted = "deleteDocument(id: 2) { key } testDocument(id: 2, matches: {}) { key }";
    assert_eq!(error(&client, deleted).await.0, "TEST_FAILED");
    assert_eq!(stored(&client, "2").await, json!({}));
}

async fn large_copies_are_counted() {
    let client = client().await;
    store(
        &client,
        "1",
        &json!({"t": "x".repeat(900_000), "l": vec![1; 2_000]}),
    )
    .await;
    let few = client.within(Bounds {
        write_bytes: 4 << 20,
        ..Bounds::DEFAULT
    });
    let copies = |count: usize| {
        let copy = |at| {
            format!(
                "c{at}: copyDocument(id: 2, path: [\"c{at}\"], from: {{id: 1, path: \"/t\"}}) {{ key }}"
            )
        };
        let copies: String = (0..count).map(copy).collect();
        format!("mutation {{ n: replaceDocument(id: 2, document: {{}}) {{ key }} {copies} }}")
    };
    few.data(&copies(3), NONE).await;
    let (code, message) = few.error(&copies(8), NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("writes more than"), "{message}");
    // What a transaction writes is held until it ends.
    let little = client.within(Bounds {
        held_bytes: 5 << 20,
        ..Bounds::DEFAULT
    });
    little.data(&copies(3), NONE).await;
    let (code, message) = little.error(&copies(8), NONE).await;
    assert_eq!(code, "UNAVAILABLE");
    assert!(message.contains("would hold more than"), "{message}");
    little.data(&copies(3), NONE).await;
    let small = client.within(Bounds {
        response_bytes: 100_000,
        ..Bounds::DEFAULT
    });
    let (code, message) = small.error(&copies(1), NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("at a time"), "{message}");
    let copy = "mutation { copyDocument(id: 3, from: {id: 1, path: \"/l/0\"}) { key } }";
    let none = client.within(Bounds {
        places: 0,
        ..Bounds::DEFAULT
    });
    assert_eq!(none.error(copy, NONE).await.0, "TOO_COMPLEX");
    // Only the source is read.
    let (_, cost) = client.cost(copy, NONE).await;
    assert!(cost.pairs < 20, "{cost:?}");
    assert_eq!(client.check().await, []);
}
