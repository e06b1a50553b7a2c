//! Changes of documents at a path: the stored result, and rejected changes.

use num_bigint::BigInt;
use phyllo::database::DocumentKey;
use phyllo::document::id::DocumentId;
use phyllo::document::path::Place;
use phyllo::key::{Leaves, tuple_text};
use phyllo::limits::INTEGER_BYTES_MAX;
use serde_json::{Value, json};

use super::support::{Client, NONE, all_pairs, client};

cases!(
    async [
        replace_overwrites_any_value,
        replace_rejects_impossible_paths,
        replace_of_the_whole_document_creates_it,
        split_strings_are_written_and_removed_completely,
        merge_creates_missing_parents,
        merge_never_guesses_whether_a_missing_parent_is_an_array,
        increment_is_exact,
        a_sum_takes_at_most_255_bytes,
        delete_writes_markers_and_closes_holes,
        deleted_documents_leave_no_pairs,
        each_field_sees_the_writes_of_earlier_fields,
        errors_undo_the_changes_in_every_collection,
        malformed_foreign_data_can_be_replaced_or_deleted,
        changes_add_foreign_documents_to_the_catalog,
    ]
);

/// The mutations that take a document and a path.
const REPLACE: &str =
    "mutation($d: JSON, $p: Path) { replaceDocument(id: 1, document: $d, path: $p) { value } }";
pub(crate) const MERGE: &str =
    "mutation($d: JSON, $p: Path) { mergeDocument(id: 1, patch: $d, path: $p) { value } }";
pub(crate) const PATCH: &str =
    "mutation($d: JSON, $p: Path) { patchDocument(id: 1, patch: $d, path: $p) { value } }";
const INCREMENT: &str =
    "mutation($d: JSON!, $p: Path) { incrementDocument(id: 1, by: $d, path: $p) { value } }";
const DELETE: &str = "mutation($p: Path) { deleteDocument(id: 1, path: $p) { deleted } }";

/// Asserts that exactly the pairs of `document` are stored.
pub(crate) async fn assert_stored(client: &Client, id: i64, document: &str) {
    let key = DocumentKey::new("D", DocumentId::Integer(id)).expect("a key");
    let prefix = key.place(&Place::default()).expect("short");
    let end = [&prefix[..], &[0xFF]].concat();
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let pairs = all_pairs(&*snapshot, &prefix, &end).await;
    let stored = pairs.iter();
    let stored: Vec<_> = stored
        .map(|(key, value)| (tuple_text(&key[prefix.len()..]), tuple_text(value)))
        .collect();
    let expected = Leaves::from_json(document).expect("JSON");
    let expected = expected.iter();
    let expected: Vec<_> = expected
        .map(|(key, value)| (tuple_text(key), tuple_text(value)))
        .collect();
    assert_eq!(stored, expected, "{document}");
    assert_eq!(client.stored(&id.to_string()).await, document);
}

/// Asserts the result of a change of `before` at `path`.
pub(crate) async fn changed(query: &str, before: &str, change: &str, path: &str, after: &str) {
    let client = client().await;
    client.insert("1", before).await;
    let variables = format!(r#"{{"d":{change},"p":{path}}}"#);
    client.data(query, &variables).await;
    assert_stored(&client, 1, after).await;
}

/// Asserts that a change is rejected with `code` and changes nothing. Returns the message.
pub(crate) async fn refused(
    query: &str,
    before: &str,
    change: &str,
    path: &str,
    code: &str,
) -> String {
    let client = client().await;
    client.insert("1", before).await;
    let variables = format!(r#"{{"d":{change},"p":{path}}}"#);
    let (found, message) = client.error(query, &variables).await;
    assert_eq!(found, code, "{before} with {change} at {path}: {message}");
    assert_stored(&client, 1, before).await;
    message
}

async fn replace_overwrites_any_value() {
    for (before, change, path, after) in [
        ("1", "2", r#""""#, "2"),
        ("1", "[]", "[]", "[]"),
        (r#"{"a":{"b":[1,2]}}"#, "5", r#"["a"]"#, r#"{"a":5}"#),
        (
            r#"{"a":5}"#,
            r#"{"b":{"c":[]}}"#,
            r#"["a"]"#,
            r#"{"a":{"b":{"c":[]}}}"#,
        ),
        (
            r#"{"a":{"b":1,"c":2,"e":{}}}"#,
            r#"{"c":2,"d":[1],"e":[]}"#,
            r#"["a"]"#,
            r#"{"a":{"c":2,"d":[1],"e":[]}}"#,
        ),
        (r#"{"a":[1,2,3]}"#, "[1]", r#"["a"]"#, r#"{"a":[1]}"#),
        (r#"{"a":[1]}"#, "[]", r#"["a"]"#, r#"{"a":[]}"#),
        (r#"{"a":[]}"#, "{}", r#"["a"]"#, r#"{"a":{}}"#),
        // The first member replaces the marker of an empty object, the first element that of an
        // empty array.
        ("{}", "1", r#"["a"]"#, r#"{"a":1}"#),
        ("[]", "1", "[0]", "[1]"),
        ("[]", "[]", r#""/0""#, "[[]]"),
        (r#"{"a":{}}"#, "{}", r#"["a","b"]"#, r#"{"a":{"b":{}}}"#),
        ("[1]", "2", "[1]", "[1,2]"),
        ("[1]", "2", r#""/-""#, "[1,2]"),
        ("[[1],[2,3]]", "4", r#""/1/-""#, "[[1],[2,3,4]]"),
        (r#"{"a":1}"#, "2", r#""/-""#, r#"{"-":2,"a":1}"#),
        (r#"{"0":1}"#, "2", r#""/1""#, r#"{"0":1,"1":2}"#),
        (r#"{"0":1}"#, "2", r#""/0""#, r#"{"0":2}"#),
        (r#"{"a":1}"#, "2", r#"["b"]"#, r#"{"a":1,"b":2}"#),
        (r#"{"b":1}"#, "null", r#"["a"]"#, r#"{"a":null,"b":1}"#),
        (
            r#"{"a":{"b":1},"a\u0000":2,"ab":3}"#,
            "[]",
            r#"["a"]"#,
            r#"{"a":[],"a\u0000":2,"ab":3}"#,
        ),
    ] {
        changed(REPLACE, before, change, path, after).await;
    }
}

async fn replace_rejects_impossible_paths() {
    for (before, path, code, told) in [
        (
            "1",
            r#"["a"]"#,
            "INVALID_PATH",
            "the document is neither an object nor an array",
        ),
        ("\"text\"", "[0]", "INVALID_PATH", "neither"),
        ("[]", r#"["a"]"#, "INVALID_PATH", "no member \"a\""),
        ("[1]", "[2]", "INVALID_PATH", "has 1 elements"),
        ("[1]", r#""/01""#, "INVALID_PATH", "no member \"01\""),
        (
            "{}",
            "[0]",
            "INVALID_PATH",
            "an object, which has no element 0",
        ),
        (r#"{"a":1}"#, r#"["a","b"]"#, "INVALID_PATH", "\"/a\""),
        ("{}", r#"["a","b"]"#, "NOT_FOUND", "\"/a\""),
        ("[]", "[0, 0]", "NOT_FOUND", "\"/0\""),
        ("{}", "[-1]", "INVALID_PATH", "-1"),
    ] {
        let message = refused(REPLACE, before, "0", path, code).await;
        assert!(message.contains(told), "{message}");
        refused(INCREMENT, before, "1", path, code).await;
    }
    let client = client().await;
    let (code, message) = client.error(REPLACE, r#"{"d":1,"p":["a"]}"#).await;
    assert_eq!(code, "NOT_FOUND");
    assert!(
        message.contains("id 1") && message.contains("\"D\""),
        "{message}"
    );
}

async fn replace_of_the_whole_document_creates_it() {
    let client = client().await;
    let data = client.data(REPLACE, r#"{"d":{"a":[1]},"p":""}"#).await;
    assert_eq!(data["replaceDocument"]["value"], json!({"a": [1]}));
    assert_stored(&client, 1, r#"{"a":[1]}"#).await;
    let collections = client.data("{ collections { count } }", NONE).await;
    assert_eq!(collections["collections"], json!([{"count": 1}]));
    client.data(REPLACE, r#"{"d":null,"p":[]}"#).await;
    assert_stored(&client, 1, "null").await;
    let collections = client.data("{ collections { count } }", NONE).await;
    assert_eq!(collections["collections"], json!([{"count": 1}]));
}

async fn split_strings_are_written_and_removed_completely() {
    let long = json!("é".repeat(100_000)).to_string();
    let longer = json!("é".repeat(130_000)).to_string();
    let object = |text: &str| format!(r#"{{"a":{text},"b":1}}"#);
    changed(REPLACE, &object("1"), &long, r#"["a"]"#, &object(&long)).await;
    changed(REPLACE, &object(&long), "1", r#"["a"]"#, &object("1")).await;
    changed(
        REPLACE,
        &object(&long),
        &longer,
        r#"["a"]"#,
        &object(&longer),
    )
    .await;
    changed(REPLACE, &object(&longer), &long, r#"["a"]"#, &object(&long)).await;
    changed(DELETE, &object(&long), "0", r#"["a"]"#, r#"{"b":1}"#).await;
    changed(MERGE, &object(&long), r#"{"a":null}"#, "[]", r#"{"b":1}"#).await;
    let copy = r#"[{"op":"copy","from":"/a","path":"/c"},{"op":"remove","path":"/a"}]"#;
    let copied = format!(r#"{{"b":1,"c":{long}}}"#);
    changed(PATCH, &object(&long), copy, "[]", &copied).await;
    refused(REPLACE, &object(&long), "1", r#"["a","b"]"#, "INVALID_PATH").await;
}

async fn merge_never_guesses_whether_a_missing_parent_is_an_array() {
    let client = client().await;
    let ask = async |id: i64, path: &str| {
        let query = format!(
            "mutation {{ mergeDocument(id: {id}, patch: {{a: 1}}, path: {path}) {{ value }} }}"
        );
        client.error(&query, NONE).await
    };
    client.insert("1", r#"{"object":{}}"#).await;
    for path in [
        r#""/list/-""#,
        r#""/list/0""#,
        r#""/list/7/name""#,
        r#""/object/list/-""#,
        r#"["list",0]"#,
    ] {
        assert_eq!(ask(1, path).await.0, "INVALID_PATH", "{path}");
    }
    let (code, message) = ask(2, r#""/0""#).await;
    assert_eq!(code, "INVALID_PATH");
    assert_eq!(
        message,
        "nothing is stored at \"\", so 0 in the path can mean an element or a member: store the \
         parent first, or write the name of a member as a string in the list form of a path, such \
         as [\"list\", \"0\"]"
    );
    assert_stored(&client, 1, r#"{"object":{}}"#).await;
}

async fn merge_creates_missing_parents() {
    for (before, change, path, after) in [
        (
            r#"{"a":1}"#,
            r#"{"x":{"y":null,"z":1}}"#,
            r#"["b","c"]"#,
            r#"{"a":1,"b":{"c":{"x":{"z":1}}}}"#,
        ),
        (
            "{}",
            "null",
            r#"["a","0","-"]"#,
            r#"{"a":{"0":{"-":null}}}"#,
        ),
        (r#"{"a":{}}"#, "1", r#""/a/0""#, r#"{"a":{"0":1}}"#),
        (
            r#"{"a":[{"b":1}]}"#,
            r#"{"b":null}"#,
            r#""/a/0""#,
            r#"{"a":[{}]}"#,
        ),
        (r#"{"a":[]}"#, r#"{"b":null}"#, r#""/a/0""#, r#"{"a":[{}]}"#),
        (
            r#"{"a":{"b":1,"c":{"d":1,"e":2}}}"#,
            r#"{"b":null,"c":{"d":null}}"#,
            r#"["a"]"#,
            r#"{"a":{"c":{"e":2}}}"#,
        ),
        (
            r#"{"a":{"b":1,"c":2}}"#,
            r#"{"b":null,"c":null}"#,
            r#"["a"]"#,
            r#"{"a":{}}"#,
        ),
        (
            r#"{"a":{"b":1}}"#,
            r#"{"b":null,"c":{"d":null}}"#,
            r#"["a"]"#,
            r#"{"a":{"c":{}}}"#,
        ),
        (
            r#"{"a":{"b":1}}"#,
            r#"{"a":{"b":{"c":{}}}}"#,
            "[]",
            r#"{"a":{"b":{"c":{}}}}"#,
        ),
        (
            r#"{"a":[1]}"#,
            r#"{"a":{"0":null,"b":1}}"#,
            "[]",
            r#"{"a":{"b":1}}"#,
        ),
        (r#"{"a":1}"#, "{}", "[]", r#"{"a":1}"#),
        ("5", "{}", "[]", "{}"),
    ] {
        changed(MERGE, before, change, path, after).await;
    }
    for (before, path, code) in [
        ("{}", r#"["a",0]"#, "INVALID_PATH"),
        ("[]", "[0, \"a\"]", "INVALID_PATH"),
        ("[]", r#"["a"]"#, "INVALID_PATH"),
        (r#"{"a":1}"#, r#"["a","b"]"#, "INVALID_PATH"),
        (r#"{"a":"x"}"#, r#"["a","b","c"]"#, "INVALID_PATH"),
    ] {
        refused(MERGE, before, r#"{"x":1}"#, path, code).await;
    }
    let client = client().await;
    client
        .data(MERGE, r#"{"d":{"x":1,"y":null},"p":"/a/b"}"#)
        .await;
    assert_stored(&client, 1, r#"{"a":{"b":{"x":1}}}"#).await;
}

async fn increment_is_exact() {
    for (before, change, path, after) in [
        (r#"{"a":1}"#, "2", r#"["a"]"#, r#"{"a":3}"#),
        (
            r#"{"a":9223372036854775807}"#,
            "1",
            r#"["a"]"#,
            r#"{"a":9223372036854775808}"#,
        ),
        (
            r#"{"a":9223372036854775808}"#,
            "-1",
            r#"["a"]"#,
            r#"{"a":9223372036854775807}"#,
        ),
        (
            r#"{"a":9007199254740993}"#,
            "2",
            r#"["a"]"#,
            r#"{"a":9007199254740995}"#,
        ),
        (r#"{"a":1}"#, "0.5", r#"["a"]"#, r#"{"a":1.5}"#),
        (r#"{"a":1}"#, "7", r#"["b"]"#, r#"{"a":1,"b":7}"#),
        ("{}", "7", r#"["b"]"#, r#"{"b":7}"#),
        ("[1]", "7", r#""/-""#, "[1,7]"),
        ("5", "-5", "[]", "0"),
    ] {
        changed(INCREMENT, before, change, path, after).await;
    }
    for (before, change, code, told) in [
        (r#""5""#, "1", "BAD_USER_INPUT", "not a number"),
        ("null", "1", "BAD_USER_INPUT", "not a number"),
        ("{}", "1", "BAD_USER_INPUT", "not a number"),
        ("[1]", "1", "BAD_USER_INPUT", "not a number"),
        ("1", "\"1\"", "BAD_USER_INPUT", "`by`"),
        ("1", "[1]", "BAD_USER_INPUT", "`by`"),
        ("1.5e308", "1.5e308", "BAD_USER_INPUT", "binary64"),
    ] {
        let message = refused(INCREMENT, before, change, "[]", code).await;
        assert!(message.contains(told), "{message}");
    }
    let client = client().await;
    let query = r#"mutation { incrementDocument(id: 1) { value } }"#;
    assert_eq!(
        client.data(query, NONE).await["incrementDocument"]["value"],
        json!(1)
    );
    assert_eq!(
        client.data(query, NONE).await["incrementDocument"]["value"],
        json!(2)
    );
}

async fn a_sum_takes_at_most_255_bytes() {
    assert_eq!(INTEGER_BYTES_MAX, 255);
    let largest: BigInt = (BigInt::from(1) << (8 * INTEGER_BYTES_MAX)) - 1;
    for (largest, by) in [(largest.clone(), 1_i64), (-largest, -1)] {
        let before = (&largest - by).to_string();
        let (largest, by) = (largest.to_string(), by.to_string());
        changed(INCREMENT, &before, &by, "[]", &largest).await;
        let message = refused(INCREMENT, &largest, &by, "[]", "TOO_LARGE").await;
        assert!(message.contains("255 bytes"), "{message}");
    }
}

async fn delete_writes_markers_and_closes_holes() {
    for (before, path, after) in [
        (r#"{"a":1}"#, r#"["a"]"#, "{}"),
        (r#"{"a":{"b":1}}"#, r#"["a","b"]"#, r#"{"a":{}}"#),
        (r#"{"a":{"b":1},"c":2}"#, r#"["a"]"#, r#"{"c":2}"#),
        (r#"{"a":1,"b":2}"#, r#"["b"]"#, r#"{"a":1}"#),
        ("[1]", "[0]", "[]"),
        ("[1,2,3]", "[2]", "[1,2]"),
        ("[1,[2,{}],{\"a\":[3]},4]", "[1]", "[1,{\"a\":[3]},4]"),
        (r#"{"a":[[],[[]],{}]}"#, r#""/a/0""#, r#"{"a":[[[]],{}]}"#),
        (r#"{"a":1}"#, r#"["b"]"#, r#"{"a":1}"#),
        (r#"{"a":1}"#, r#"["a","b"]"#, r#"{"a":1}"#),
        ("[1]", "[1]", "[1]"),
        (r#"{"-":1}"#, r#""/-""#, "{}"),
        ("[1]", r#"["0"]"#, "[1]"),
    ] {
        let client = client().await;
        client.insert("1", before).await;
        let data = client.data(DELETE, format!(r#"{{"p":{path}}}"#)).await;
        assert_eq!(
            data["deleteDocument"]["deleted"],
            json!(before != after),
            "{before} without {path}"
        );
        assert_stored(&client, 1, after).await;
    }
    let long: Vec<u32> = (0..300).collect();
    let mut shorter = long.clone();
    shorter.remove(254);
    changed(
        DELETE,
        &json!(long).to_string(),
        "0",
        "[254]",
        &json!(shorter).to_string(),
    )
    .await;
    let add = r#"[{"op":"add","path":"/254","value":254}]"#;
    changed(
        PATCH,
        &json!(shorter).to_string(),
        add,
        "[]",
        &json!(long).to_string(),
    )
    .await;
}

async fn deleted_documents_leave_no_pairs() {
    let client = client().await;
    client.insert("1", r#"{"a":[1,{"b":2}]}"#).await;
    assert_eq!(
        client.data(DELETE, r#"{"p":[]}"#).await["deleteDocument"]["deleted"],
        json!(true)
    );
    assert_eq!(
        client.data(DELETE, r#"{"p":[]}"#).await["deleteDocument"]["deleted"],
        json!(false)
    );
    let data = client
        .data("{ document(id: 1) { kind } collections { name } }", NONE)
        .await;
    assert_eq!(data, json!({"document": null, "collections": []}));
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let all = all_pairs(&*snapshot, &[0], &[0xFF]).await;
    let left: Vec<String> = all.iter().map(|(key, _)| tuple_text(key)).collect();
    let stays = ["(null, 0)", "(null, 2, ", "(null, 8, "];
    assert!(
        left.iter()
            .all(|key| stays.iter().any(|stays| key.starts_with(stays))),
        "only the format, the counts and the markers of commits are left: {left:?}"
    );
    client.insert("1", "2").await;
    assert_stored(&client, 1, "2").await;
}

async fn each_field_sees_the_writes_of_earlier_fields() {
    let client = client().await;
    let query = r#"mutation {
        a: replaceDocument(id: 1, document: {list: [], n: 1}) { value }
        b: replaceDocument(id: 1, path: "/list/-", document: "x") { value(path: "/list") }
        c: replaceDocument(id: 1, path: "/list/-", document: "y") { value(path: "/list") }
        d: incrementDocument(id: 1, path: "/n", by: 41) { value(path: "/n") kind }
        e: deleteDocument(id: 1, path: "/list/0") { deleted }
        f: mergeDocument(id: 1, patch: {n: null}) { value children { nodes { path } } }
        g: deleteDocument(id: 1) { deleted }
        h: insertDocument(id: 1, document: [true]) { value version }
    }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["a"]["value"], json!({"list": [], "n": 1}));
    assert_eq!(data["b"]["value"], json!(["x"]));
    assert_eq!(data["c"]["value"], json!(["x", "y"]));
    assert_eq!(data["d"], json!({"value": 42, "kind": "OBJECT"}));
    assert_eq!(data["e"], json!({"deleted": true}));
    assert_eq!(data["f"]["value"], json!({"list": ["y"]}));
    assert_eq!(data["f"]["children"]["nodes"], json!([{"path": ["list"]}]));
    assert_eq!(data["g"], json!({"deleted": true}));
    assert_stored(&client, 1, "[true]").await;
    let version = client.data("{ document(id: 1) { version } }", NONE).await;
    assert_eq!(version["document"]["version"], data["h"]["version"]);
    let collections = client.data("{ collections { count } }", NONE).await;
    assert_eq!(collections["collections"], json!([{"count": 1}]));
}

async fn errors_undo_the_changes_in_every_collection() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    let query = r#"mutation {
        a: incrementDocument(id: 1, path: "/a") { key }
        b: replaceDocument(id: 2, collection: "E", document: 1) { key }
        c: deleteDocument(id: 1) { deleted }
        d: patchDocument(id: 3, patch: []) { key }
    }"#;
    assert_eq!(client.error(query, NONE).await.0, "NOT_FOUND");
    assert_stored(&client, 1, r#"{"a":1}"#).await;
    let collections = client.data("{ collections { name count } }", NONE).await;
    assert_eq!(
        collections["collections"],
        json!([{"name": "D", "count": 1}])
    );
}

async fn malformed_foreign_data_can_be_replaced_or_deleted() {
    for (pairs, mutation, after) in [
        // A leaf with a member below it.
        (
            vec![(json!(["a"]), "1"), (json!(["a", "b"]), "2")],
            r#"replaceDocument(id: 1, path: "/a", document: 3) { key }"#,
            Some(r#"{"a":3}"#),
        ),
        // A hole in an array.
        (
            vec![(json!([0]), "1"), (json!([2]), "2")],
            r#"replaceDocument(id: 1, document: [1]) { key }"#,
            Some("[1]"),
        ),
        (
            vec![(json!([0]), "1"), (json!(["x"]), "2")],
            "deleteDocument(id: 1) { deleted }",
            None,
        ),
    ] {
        let client = client().await;
        client.plant(1, &pairs).await;
        client
            .data(&format!("mutation {{ {mutation} }}"), NONE)
            .await;
        if let Some(after) = after {
            assert_stored(&client, 1, after).await;
        } else {
            let data = client.data("{ document(id: 1) { kind } }", NONE).await;
            assert_eq!(data["document"], Value::Null);
        }
    }
}

async fn changes_add_foreign_documents_to_the_catalog() {
    let client = client().await;
    client
        .plant(1, &[(json!(["a"]), "1"), (json!(["b"]), "2")])
        .await;
    let data = client
        .data("{ document(id: 1) { version } collections { name } }", NONE)
        .await;
    assert_eq!(
        data,
        json!({"document": {"version": null}, "collections": []})
    );
    let query = r#"mutation { replaceDocument(id: 1, path: "/a", document: 5) { version value } }"#;
    let data = client.data(query, NONE).await;
    assert!(data["replaceDocument"]["version"].is_string());
    assert_eq!(data["replaceDocument"]["value"], json!({"a": 5, "b": 2}));
    let data = client.data("{ collections { name count } }", NONE).await;
    assert_eq!(data["collections"], json!([{"name": "D", "count": 1}]));
}
