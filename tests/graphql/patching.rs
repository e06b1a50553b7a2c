//! JSON Patch: the stored result, and rejected patches.

use phyllo::document::id::DocumentId;
use phyllo::document::path::{Place, Segment};
use phyllo::key::Family;
use phyllo::limits::{JSON_BYTES_AT_ONCE, KEY_BYTES_MAX};
use serde_json::{Value, json};

use super::changing::{MERGE, PATCH, changed, refused};
use super::support::client;

cases!(
    async [
        patches_are_applied_at_their_path,
        patches_are_atomic,
        large_patches_are_applied_like_small_ones,
        large_patches_are_rejected_like_small_ones,
        merge_patches_of_many_members_are_applied_like_small_ones,
        patches_of_many_operations_are_applied_in_order,
        an_element_is_not_moved_to_an_index_that_makes_its_key_too_long,
    ]
);

/// More members than one read covers. Elsewhere the size does not matter.
fn large() -> Value {
    let member = |at: usize| (format!("m{at}"), json!([at, "x".repeat(1_000)]));
    let members = (10_000..10_300).map(member);
    let members = Value::Object(members.collect());
    assert!(members.to_string().len() > JSON_BYTES_AT_ONCE);
    members
}

async fn large_patches_are_applied_like_small_ones() {
    let large = large();
    let add = json!([
        {"op": "add", "path": "/b", "value": large},
        {"op": "test", "path": "/b", "value": large},
        {"op": "remove", "path": "/b/m10000"},
    ]);
    let mut left = large.clone();
    left.as_object_mut().expect("an object").remove("m10000");
    let after = json!({"a": 1, "b": left}).to_string();
    changed(PATCH, r#"{"a":1}"#, &add.to_string(), "[]", &after).await;

    let merged = json!({"a": null, "b": large}).to_string();
    let after = json!({"b": large}).to_string();
    changed(MERGE, r#"{"a":1}"#, &merged, "[]", &after).await;
    // Each of its members replaces an existing one.
    let replaced: Value = large
        .as_object()
        .expect("an object")
        .iter()
        .map(|(name, _)| (name.clone(), json!("other")))
        .collect();
    changed(
        MERGE,
        &large.to_string(),
        &replaced.to_string(),
        "[]",
        &replaced.to_string(),
    )
    .await;
}

async fn large_patches_are_rejected_like_small_ones() {
    let large = large();
    let add = json!([
        {"op": "add", "path": "/b", "value": large},
        {"op": "test", "path": "/b/m10000", "value": [1]},
    ]);
    let before = r#"{"a":1}"#;
    let message = refused(PATCH, before, &add.to_string(), "[]", "TEST_FAILED").await;
    assert!(message.contains("operation 1 of the patch"), "{message}");
    let no_patch = json!([{"op": "add", "path": "/b", "values": large}]);
    let message = refused(PATCH, before, &no_patch.to_string(), "[]", "BAD_USER_INPUT").await;
    assert!(message.contains("operation 0 of the patch"), "{message}");
    let deep = format!(
        "{{\"b\":{large},\"c\":{}{}}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    let message = refused(MERGE, before, &deep, "[]", "TOO_LARGE").await;
    assert!(message.contains("the argument `patch`"), "{message}");
}

async fn patches_are_applied_at_their_path() {
    for (before, change, path, after) in [
        (
            r#"{"a":[1,2,3]}"#,
            r#"[{"op":"add","path":"/1","value":9}]"#,
            r#"["a"]"#,
            r#"{"a":[1,9,2,3]}"#,
        ),
        (
            r#"{"a":[1,2,3]}"#,
            r#"[{"op":"remove","path":"/0"}]"#,
            r#"["a"]"#,
            r#"{"a":[2,3]}"#,
        ),
        (
            r#"{"a":[[1,[2]],{}]}"#,
            r#"[{"op":"remove","path":"/0"},{"op":"remove","path":"/0"}]"#,
            r#"["a"]"#,
            r#"{"a":[]}"#,
        ),
        (
            r#"{"a":[1,2]}"#,
            r#"[{"op":"add","path":"","value":{"b":1}}]"#,
            r#"["a",0]"#,
            r#"{"a":[{"b":1},2]}"#,
        ),
        (
            r#"{"a":{"b":1}}"#,
            r#"[{"op":"copy","from":"","path":"/c"}]"#,
            r#"["a"]"#,
            r#"{"a":{"b":1,"c":{"b":1}}}"#,
        ),
        (
            r#"[1,{"a":2},3]"#,
            r#"[{"op":"move","from":"/1/a","path":"/0"}]"#,
            "[]",
            "[2,1,{},3]",
        ),
        (
            r#"[1,2,3]"#,
            r#"[{"op":"move","from":"/0","path":"/-"}]"#,
            "[]",
            "[2,3,1]",
        ),
        (
            r#"[1,2,3]"#,
            r#"[{"op":"move","from":"/1","path":"/1"}]"#,
            "[]",
            "[1,2,3]",
        ),
        (
            r#"{"a":1}"#,
            r#"[{"op":"test","path":"/a","value":1.0}]"#,
            "[]",
            r#"{"a":1}"#,
        ),
        (
            r#"{"a":1}"#,
            r#"[{"op":"test","path":"","value":{"a":1e0}},{"op":"remove","path":"/a"},{"op":"add","path":"/b","value":[]}]"#,
            "[]",
            r#"{"b":[]}"#,
        ),
    ] {
        changed(PATCH, before, change, path, after).await;
    }
}

/// A document, a patch, its error code, and text of the message.
const PATCHES_REFUSED: &[(&str, &str, &str, &str)] = &[
    (
        r#"{"a":1}"#,
        r#"[{"op":"add","path":"/b","value":1},{"op":"remove","path":"/c"}]"#,
        "NOT_FOUND",
        "operation 1 of the patch: remove \"/c\"",
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"replace","path":"/b","value":1}]"#,
        "NOT_FOUND",
        "operation 0",
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"test","path":"/a","value":2}]"#,
        "TEST_FAILED",
        "operation 0",
    ),
    (
        r#"{"a":[1]}"#,
        r#"[{"op":"test","path":"/a","value":[1,2]}]"#,
        "TEST_FAILED",
        "not equal",
    ),
    (
        r#"{"a":[1,2]}"#,
        r#"[{"op":"test","path":"/a","value":[1]}]"#,
        "TEST_FAILED",
        "not equal",
    ),
    (
        r#"{"a":{}}"#,
        r#"[{"op":"test","path":"/a","value":[]}]"#,
        "TEST_FAILED",
        "not equal",
    ),
    (
        r#"{"a":"1"}"#,
        r#"[{"op":"test","path":"/a","value":1}]"#,
        "TEST_FAILED",
        "not equal",
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"test","path":"/b","value":null}]"#,
        "TEST_FAILED",
        "nothing",
    ),
    (
        r#"{"a":{"b":1}}"#,
        r#"[{"op":"move","from":"/a","path":"/a/b"}]"#,
        "BAD_USER_INPUT",
        "into itself",
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"remove","path":""}]"#,
        "BAD_USER_INPUT",
        "deleteDocument",
    ),
    (
        "[1]",
        r#"[{"op":"add","path":"/2","value":1}]"#,
        "INVALID_PATH",
        "past the end",
    ),
    (
        "[1]",
        r#"[{"op":"add","path":"/a","value":1}]"#,
        "INVALID_PATH",
        "no member",
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"add","path":"/a/b","value":1}]"#,
        "INVALID_PATH",
        "neither",
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"add","path":"/b/c","value":1}]"#,
        "NOT_FOUND",
        "\"/b\"",
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"add","path":"/b","value":1e999}]"#,
        "BAD_USER_INPUT",
        "binary64",
    ),
    (
        r#"{"a":1}"#,
        r#"{"op":"add"}"#,
        "BAD_USER_INPUT",
        "array of operations",
    ),
    (
        r#"{"a":1}"#,
        "null",
        "BAD_USER_INPUT",
        "array of operations",
    ),
];

async fn patches_are_atomic() {
    for (before, change, code, told) in PATCHES_REFUSED {
        let message = refused(PATCH, before, change, "[]", code).await;
        assert!(message.contains(told), "{message}");
    }
    let message = refused(PATCH, "{}", "[]", r#"["a"]"#, "NOT_FOUND").await;
    assert!(message.contains("\"/a\""), "{message}");
    assert_eq!(
        client().await.error(PATCH, r#"{"d":[],"p":""}"#).await.0,
        "NOT_FOUND"
    );
}

/// Handling each member separately would take longer than a transaction of a cluster may.
async fn merge_patches_of_many_members_are_applied_like_small_ones() {
    let members = |value: fn(usize) -> Value| -> Value {
        let member = |at: usize| (format!("m{at}"), value(at));
        Value::Object((10_000..30_000).map(member).collect())
    };
    let (added, replaced) = (members(|at| json!(at)), members(|at| json!([at])));
    let mut both = added.clone();
    both["a"] = json!(1);
    let (added, both) = (added.to_string(), both.to_string());
    changed(MERGE, r#"{"a":1}"#, &added, "[]", &both).await;
    let replaced = replaced.to_string();
    changed(MERGE, &added, &replaced, "[]", &replaced).await;
    let removed = members(|_| Value::Null).to_string();
    changed(MERGE, &both, &removed, "[]", r#"{"a":1}"#).await;
}

async fn patches_of_many_operations_are_applied_in_order() {
    let push = |at: usize| json!({"op": "add", "path": "/l/-", "value": at});
    let mut operations: Vec<Value> = (0..200).map(push).collect();
    operations.extend((1..200).map(|_| json!({"op": "remove", "path": "/l/0"})));
    let patch = json!(operations).to_string();
    changed(PATCH, r#"{"l":[]}"#, &patch, "[]", r#"{"l":[199]}"#).await;
    operations.push(json!({"op": "test", "path": "/l", "value": []}));
    let patch = json!(operations).to_string();
    let message = refused(PATCH, r#"{"l":[]}"#, &patch, "[]", "TEST_FAILED").await;
    assert!(message.contains("operation 399 of the patch"), "{message}");
}

async fn an_element_is_not_moved_to_an_index_that_makes_its_key_too_long() {
    let insert = r#"[{"op":"add","path":"/0","value":0}]"#;
    // In a key the index 0 takes one byte, 1 to 255 take two, 256 takes three.
    for (index, stored) in [(0, false), (1, true), (254, true), (255, false)] {
        let place = Place(vec![Segment::Index(index), Segment::Key(String::new())]);
        let key = Family::Document("D", &DocumentId::Integer(1), &place).key();
        let name = "k".repeat(KEY_BYTES_MAX - key.expect("short").len());
        let mut array = vec![json!(0); usize::try_from(index).expect("small")];
        array.push(json!({name: 1}));
        let before = json!(array).to_string();
        if stored {
            array.insert(0, json!(0));
            changed(PATCH, &before, insert, "[]", &json!(array).to_string()).await;
        } else {
            let message = refused(PATCH, &before, insert, "[]", "TOO_LARGE").await;
            assert!(message.contains("10000 bytes"), "{message}");
        }
    }
}
