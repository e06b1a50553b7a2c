//! The limit on the levels of objects and arrays in a document.

use super::support::{NONE, client, only_error};

cases!(
    async [
        every_change_keeps_a_document_within_its_levels,
    ]
);

/// No mutation makes a document that an export could not bring back.
async fn every_change_keeps_a_document_within_its_levels() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let client = client().await;
    client
        .insert(
            "1",
            format!(r#"{{"a":{{}},"l":[{}],"deep":{}}}"#, nested(1), nested(127)),
        )
        .await;
    let before = client.stored("1").await;
    // Each field, and its argument `$d`. `DEEP` has one level too many for its place.
    let fields = [
        (
            r#"replaceDocument(id: 1, path: "/a/b", document: $d) { key }"#,
            "DEEP",
        ),
        (
            r#"replaceDocument(id: 1, path: "/l/0", document: $d) { key }"#,
            "DEEP",
        ),
        (
            r#"replaceDocument(id: 1, path: "/l/-", document: $d) { key }"#,
            "DEEP",
        ),
        (
            r#"mergeDocument(id: 1, path: "/a", patch: $d) { key }"#,
            r#"{"b":DEEP}"#,
        ),
        (
            r#"mergeDocument(id: 1, path: "/a/b", patch: $d) { key }"#,
            "DEEP",
        ),
        (
            r#"patchDocument(id: 1, patch: $d) { key }"#,
            r#"[{"op":"add","path":"/a/b","value":DEEP}]"#,
        ),
        (
            r#"patchDocument(id: 1, patch: $d) { key }"#,
            r#"[{"op":"add","path":"/l/0","value":DEEP}]"#,
        ),
        (
            r#"patchDocument(id: 1, path: "/l", patch: $d) { key }"#,
            r#"[{"op":"replace","path":"/0","value":DEEP}]"#,
        ),
        (
            r#"updateDocuments(where: {}, everything: true, set: {at: "$.a.b", value: $d}) { changed }"#,
            "DEEP",
        ),
        (
            r#"updateDocuments(where: {}, everything: true, append: {at: "$.l", value: $d}) { changed }"#,
            "DEEP",
        ),
        (
            r#"updateDocuments(where: {}, everything: true, merge: {at: "$.a", patch: $d}) { changed }"#,
            r#"{"b":DEEP}"#,
        ),
    ];
    let ask = async |field: &str, argument: &str, levels: usize| {
        let query = format!("mutation($d: JSON) {{ {field} }}");
        let argument = argument.replace("DEEP", &nested(levels));
        client.ask(&query, format!(r#"{{"d":{argument}}}"#)).await
    };
    for (field, argument) in fields {
        let response = ask(field, argument, 127).await;
        let (code, message) = only_error(&response);
        assert_eq!(code, "TOO_LARGE", "{field}: {message}");
        assert!(message.contains("the limit is 128"), "{field}: {message}");
    }
    for field in [
        r#"patchDocument(id: 1, patch: [{op: "copy", from: "/deep", path: "/a/b"}])"#,
        r#"patchDocument(id: 1, patch: [{op: "move", from: "/deep", path: "/l/1"}])"#,
        r#"copyDocument(id: 1, from: {id: 1, path: "/deep"}, path: "/a/b")"#,
        r#"copyDocument(id: 1, from: {id: 1}, path: "/a/b")"#,
    ] {
        let query = format!("mutation {{ {field} {{ key }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "TOO_LARGE", "{field}: {message}");
        assert!(message.contains("the limit is 128"), "{field}: {message}");
    }
    assert_eq!(client.stored("1").await, before);
    // At the limit each of them is stored, and an import accepts the document.
    for (field, argument) in fields {
        let response = ask(field, argument, 126).await;
        assert_eq!(response.get("errors"), None, "{field}");
    }
    let whole = client.stored("1").await;
    client.insert("2", whole).await;
}
