//! Reading documents and their parts.

use phyllo::limits::BATCH_PAIRS_MAX;
use serde_json::{Value, json};

use super::support::{Client, NONE, client, parse};

cases!(
    async [
        every_field_of_documents_and_subdocuments_can_be_read,
        list_paths_and_pointers_are_equivalent,
        digits_in_list_paths_are_taken_literally,
        pointers_with_many_digit_tokens_are_resolved,
        missing_values_are_null_without_an_error,
        missing_values_in_large_documents_are_null,
        stored_nulls_are_subdocuments,
        every_kind_is_reported,
        aliases_and_fragments_can_be_nested,
        skipped_fields_are_not_read,
        ids_are_integers_or_strings_and_are_listed_separately,
    ]
);

const JONES: &str = r#"{
    "user": {"jones": {"friendOf": "smith", "group": ["sales", "service"], "age": 42, "": true}},
    "empty": {}, "none": [], "nothing": null,
    "odd": {"a/b": 1, "m~n": 2, "~1": 3, " ": 4, "0": "zero", "007": "bond"},
    "grid": [[1, 2], [3, {"0": "key"}]]
}"#;

async fn jones() -> Client {
    let client = client().await;
    client.insert("5", JONES).await;
    client
}

async fn every_field_of_documents_and_subdocuments_can_be_read() {
    let client = jones().await;
    let query = r#"{
        document(id: 5, path: ["user", "jones"]) {
            __typename path kind version value
            subdocument(path: ["group"]) { path kind value(path: [1]) }
            document { __typename id key collection version kind value(path: "/user/jones/age") subdocument(path: "/empty") { kind } }
            children(first: 1) { nodes { path kind value } }
        }
        collections { name count }
    }"#;
    let mut data = client.data(query, NONE).await;
    let version = data["document"]["version"].take();
    assert_eq!(version, data["document"]["document"]["version"].take());
    assert_eq!(version.as_str().map(str::len), Some(20));
    let jones = json!({"friendOf": "smith", "group": ["sales", "service"], "age": 42, "": true});
    let expected = json!({
        "document": {
            "__typename": "Subdocument", "path": ["user", "jones"], "kind": "OBJECT", "version": null, "value": jones,
            "subdocument": {"path": ["user", "jones", "group"], "kind": "ARRAY", "value": "service"},
            "document": {
                "__typename": "Document", "id": "D/5", "key": "5", "collection": "D", "version": null, "kind": "OBJECT",
                "value": 42, "subdocument": {"kind": "OBJECT"},
            },
            "children": {"nodes": [{"path": ["user", "jones", ""], "kind": "BOOLEAN", "value": true}]},
        },
        "collections": [{"name": "D", "count": 1}],
    });
    assert_eq!(data, expected);
}

async fn list_paths_and_pointers_are_equivalent() {
    let client = jones().await;
    for (list, pointer, value) in [
        (json!([]), "", parse(JONES)),
        (Value::Null, "", parse(JONES)),
        (
            json!(["user", "jones", "group", 0]),
            "/user/jones/group/0",
            json!("sales"),
        ),
        (json!(["user", "jones", ""]), "/user/jones/", json!(true)),
        (json!(["odd", "a/b"]), "/odd/a~1b", json!(1)),
        (json!(["odd", "m~n"]), "/odd/m~0n", json!(2)),
        (json!(["odd", "~1"]), "/odd/~01", json!(3)),
        (json!(["odd", " "]), "/odd/ ", json!(4)),
        (json!(["odd", "0"]), "/odd/0", json!("zero")),
        (json!(["odd", "007"]), "/odd/007", json!("bond")),
        (json!(["grid", 0, 1]), "/grid/0/1", json!(2)),
        (json!(["grid", 1, 1, "0"]), "/grid/1/1/0", json!("key")),
        (json!(["empty"]), "/empty", json!({})),
        (json!(["none"]), "/none", json!([])),
    ] {
        for path in [list, json!(pointer)] {
            let query = "query($p: Path, $q: Path!) {
                a: document(id: 5, path: $p) { value }
                b: document(id: 5) { value(path: $p) subdocument(path: $q) { value document { value(path: $p) } } }
            }";
            let not_null = if path.is_null() {
                json!("")
            } else {
                path.clone()
            };
            let data = client.data(query, json!({"p": path, "q": not_null})).await;
            let expected = json!({
                "a": {"value": value},
                "b": {"value": value, "subdocument": {"value": value, "document": {"value": value}}},
            });
            assert_eq!(data, expected, "{path}");
        }
    }
}

async fn digits_in_list_paths_are_taken_literally() {
    let client = jones().await;
    for (path, found) in [
        (json!(["odd", 0]), false),
        (json!(["grid", "0"]), false),
        (json!(["grid", 1, 1, 0]), false),
        (json!(["grid", 1, 1, "0"]), true),
    ] {
        let data = client.data(
            "query($p: Path) { document(id: 5, path: $p) { kind } }",
            json!({"p": path}),
        );
        assert_eq!(data.await["document"].is_object(), found, "{path}");
    }
}

async fn pointers_with_many_digit_tokens_are_resolved() {
    let client = client().await;
    client
        .insert("1", r#"[[{"2": [[{"5": {"6": [0, 7]}}]]}]]"#)
        .await;
    let query = r#"{ document(id: 1, path: "/0/0/2/0/0/5/6/1") { path value } gone: document(id: 1, path: "/0/0/2/0/1/5/6/1") { path } }"#;
    let data = client.data(query, NONE).await;
    let path = json!([0, 0, "2", 0, 0, "5", "6", 1]);
    assert_eq!(
        data,
        json!({"document": {"path": path, "value": 7}, "gone": null})
    );
}

async fn missing_values_are_null_without_an_error() {
    let client = jones().await;
    for query in [
        r#"{ document(id: 5, path: ["user", "jones", "age", "further"]) { kind } }"#,
        r#"{ document(id: 5, path: ["user", "jones", "age", 0]) { kind } }"#,
        r#"{ document(id: 5, path: "/user/jones/group/2") { kind } }"#,
        r#"{ document(id: 5, path: "/user/jones/group/-") { kind } }"#,
        r#"{ document(id: 5, path: "/nothing/x") { kind } }"#,
        r#"{ document(id: 5, path: "/empty/x") { kind } }"#,
        r#"{ document(id: 5, path: "/none/0") { kind } }"#,
        r#"{ document(id: 5, path: [99999999999999999999999]) { kind } }"#,
        r#"{ document(id: 5, path: ["D", "user\u0000"]) { kind } }"#,
        r#"{ document(id: 6) { kind } }"#,
        r#"{ document(id: "\"5\"") { kind } }"#,
        r#"{ document(id: "Jazz \u0000 🎷") { kind } }"#,
        r#"{ document(id: 5, collection: "E") { kind } }"#,
    ] {
        assert_eq!(
            client.data(query, NONE).await,
            json!({"document": null}),
            "{query}"
        );
    }
    let query = r#"{ document(id: 5) { value(path: "/user/smith") subdocument(path: "/user/smith") { kind } } }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(
        data,
        json!({"document": {"value": null, "subdocument": null}})
    );
}

async fn missing_values_in_large_documents_are_null() {
    let client = client().await;
    let large = json!(vec![7; BATCH_PAIRS_MAX + 10]);
    client.insert("1", &large).await;
    let query = r#"{
        large: document(id: 1) { value }
        none: document(id: 2) { value inside: value(path: "/a") }
    }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["large"]["value"], large);
    assert_eq!(data["none"], Value::Null);
    let general = r#"{
        large: document(id: 1) { value select(query: "$.none") { path } }
        none: document(id: 2) { value inside: value(path: "/a") }
    }"#;
    assert_eq!(client.data(general, NONE).await["none"], Value::Null);
    let entities = "query($r: [_Any!]!) { _entities(representations: $r) \
        { ... on Document { value inside: value(path: [\"a\"]) } } }";
    let of = |id| json!({"__typename": "Document", "collection": "D", "key": id});
    let data = client.data(entities, json!({"r": [of(1), of(2)]})).await;
    assert_eq!(data["_entities"][1], Value::Null);
}

async fn stored_nulls_are_subdocuments() {
    let client = jones().await;
    client.insert("null", "null").await;
    let query = r#"{
        inside: document(id: 5, path: "/nothing") { kind value path }
        whole: document(id: "null") { kind value path children { nodes { kind } } }
    }"#;
    let data = client.data(query, NONE).await;
    let expected = json!({
        "inside": {"kind": "NULL", "value": null, "path": ["nothing"]},
        "whole": {"kind": "NULL", "value": null, "path": [], "children": {"nodes": []}},
    });
    assert_eq!(data, expected);
}

async fn every_kind_is_reported() {
    let client = client().await;
    client
        .insert(
            "k",
            r#"[{}, {"a": 1}, [], [1], "", "s", 0, 0.5, true, null]"#,
        )
        .await;
    let data = client
        .data(
            "{ document(id: \"k\") { children { nodes { kind } } } }",
            NONE,
        )
        .await;
    let kinds = [
        "OBJECT", "OBJECT", "ARRAY", "ARRAY", "STRING", "STRING", "NUMBER", "NUMBER", "BOOLEAN",
        "NULL",
    ];
    let nodes: Vec<Value> = kinds.iter().map(|kind| json!({"kind": kind})).collect();
    assert_eq!(data["document"]["children"]["nodes"], json!(nodes));
}

async fn aliases_and_fragments_can_be_nested() {
    let client = jones().await;
    let query = r#"
        query($deep: Path!) {
            one: document(id: 5, path: "/user") { ...Part ... on Subdocument { again: subdocument(path: $deep) { ...Leaf } } }
            two: document(id: 5) { a: value(path: "/empty") b: value(path: "/none") inner: document { ...Whole } }
        }
        fragment Part on Subdocument { kind jones: subdocument(path: "/jones") { friend: subdocument(path: "/friendOf") { ...Leaf } } }
        fragment Leaf on Subdocument { path value }
        fragment Whole on Document { subdocument(path: $deep) { kind } user: subdocument(path: "/user") { ...Part } }
    "#;
    let data = client.data(query, json!({"deep": ["jones", "age"]})).await;
    let friend = json!({"friend": {"path": ["user", "jones", "friendOf"], "value": "smith"}});
    let expected = json!({
        "one": {
            "kind": "OBJECT",
            "jones": friend,
            "again": {"path": ["user", "jones", "age"], "value": 42},
        },
        "two": {"a": {}, "b": [], "inner": {"subdocument": null, "user": {"kind": "OBJECT", "jones": friend}}},
    });
    assert_eq!(data, expected);
}

async fn skipped_fields_are_not_read() {
    let client = jones().await;
    let query = "query($yes: Boolean!, $no: Boolean!) {
        document(id: 5, path: \"/grid\") {
            kind @include(if: $yes)
            value @skip(if: $yes)
            ...Version @include(if: $no)
            ... @skip(if: $no) { path }
        }
        gone: document(id: 5) @include(if: $no) { value }
    }
    fragment Version on Subdocument { version }";
    let (data, cost) = client.cost(query, json!({"yes": true, "no": false})).await;
    assert_eq!(
        data,
        json!({"document": {"kind": "ARRAY", "path": ["grid"]}})
    );
    assert_eq!((cost.ranges, cost.pairs, cost.gets), (1, 1, 0));
}

async fn ids_are_integers_or_strings_and_are_listed_separately() {
    let client = client().await;
    for (id, value) in [
        ("42", "1"),
        ("\"42\"", "2"),
        ("042", "3"),
        ("-5", "4"),
        ("\"\"", "5"),
        ("a\u{0}🎷", "6"),
    ] {
        client.insert(id, value).await;
    }
    for (id, value) in [
        ("42", "1"),
        ("\"42\"", "2"),
        ("042", "3"),
        ("-5", "4"),
        ("\"\"", "5"),
        ("a\u{0}🎷", "6"),
    ] {
        assert_eq!(client.stored(id).await, value, "{id}");
    }
    let data = client.data("{ document(id: 42) { value } }", NONE).await;
    assert_eq!(
        data["document"]["value"],
        json!(1),
        "an integer literal names the integer"
    );
    let query = "query($id: ID!) { document(id: $id) { value document { key } } }";
    let data = client.data(query, json!({"id": 42})).await;
    assert_eq!(
        data["document"],
        json!({"value": 1, "document": {"key": "42"}})
    );
}
