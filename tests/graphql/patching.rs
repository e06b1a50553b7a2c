//! JSON Patch: what stands there afterwards, and what is refused.

use super::changing::{PATCH, changed, refused};
use super::support::client;

cases!(
    async [
        a_patch_is_applied_at_its_path,
        a_patch_is_applied_as_a_whole_or_not_at_all,
    ]
);

async fn a_patch_is_applied_at_its_path() {
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

/// What is stored, a patch, the code it is refused with, and what the message tells.
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

async fn a_patch_is_applied_as_a_whole_or_not_at_all() {
    for (before, change, code, told) in PATCHES_REFUSED {
        let message = refused(PATCH, before, change, "[]", code).await;
        assert!(message.contains(told), "{message}");
    }
    let message = refused(PATCH, "{}", "[]", r#"["a"]"#, "NOT_FOUND").await;
    assert!(message.contains("\"/a\""), "{message}");
    assert_eq!(
        client().await.error(PATCH, r#"{"d":[]}"#).await.0,
        "NOT_FOUND"
    );
}
