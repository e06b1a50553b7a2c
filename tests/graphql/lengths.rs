//! `length`: of arrays, objects and strings.

use serde_json::{Value, json};

use super::support::{NONE, client};

cases!(
    async [
        arrays_objects_and_strings_have_a_length,
        the_length_of_an_array_is_read_from_its_last_element,
        members_are_counted_without_their_values,
        lengths_are_those_after_the_change,
    ]
);

async fn arrays_objects_and_strings_have_a_length() {
    let client = client().await;
    let long = "é\u{10FFFF}".repeat(30_000);
    for (document, length) in [
        (json!([]), json!(0)),
        (json!([null]), json!(1)),
        (json!([[], {}, "x", [1, 2, 3]]), json!(4)),
        (json!({}), json!(0)),
        (
            json!({"": {}, "a": [], "a\u{0}": [1, 2], "b": {"c": 1, "d": 2}}),
            json!(4),
        ),
        (json!(""), json!(0)),
        (json!("e\u{301}\u{1F600}"), json!(3)),
        (json!(long), json!(60_000)),
        (json!(1.5), json!(null)),
        (json!(true), json!(null)),
        (json!(null), json!(null)),
    ] {
        let client = client.clone();
        let query = "mutation($d: JSON) { replaceDocument(id: 1, document: {x: $d}) { length } }";
        let replaced = client
            .data(
                "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { length } }",
                json!({"d": {"x": document, "y": document}}),
            )
            .await;
        assert_eq!(replaced["replaceDocument"]["length"], json!(2), "{query}");
        let query = "{ document(id: 1) { length select(query: \"$['x','y']\") { length } \
                     subdocument(path: \"/x\") { length document { length } } children { nodes { length } } } }";
        let data = client.data(query, NONE).await;
        let both = json!([{"length": length}, {"length": length}]);
        assert_eq!(
            data["document"],
            json!({
                "length": 2,
                "select": both,
                "subdocument": {"length": length, "document": {"length": 2}},
                "children": {"nodes": both},
            }),
            "{document:.80}"
        );
    }
}

async fn the_length_of_an_array_is_read_from_its_last_element() {
    let client = client().await;
    let many: Vec<Value> = (0..5_000).map(|n| json!({"n": n, "m": n})).collect();
    client.insert("1", json!({"a": many})).await;
    let query = "{ document(id: 1, path: \"/a\") { length } }";
    let (data, cost) = client.cost(query, NONE).await;
    assert_eq!(data["document"]["length"], json!(5_000));
    assert_eq!((cost.transactions, cost.pairs), (1, 2));
}

async fn members_are_counted_without_their_values() {
    let client = client().await;
    let large: Vec<u32> = (0..3_000).collect();
    let members = (0..50).map(|n| (format!("large{n:02}"), json!(large)));
    let small = (0..1_000).map(|n| (format!("small{n:04}"), json!(n)));
    let members: serde_json::Map<_, _> = members.chain(small).collect();
    client.insert("1", Value::Object(members)).await;
    let (data, cost) = client.cost("{ document(id: 1) { length } }", NONE).await;
    assert_eq!(data["document"]["length"], json!(1_050));
    assert!(cost.pairs < 5_000, "{} pairs were read", cost.pairs);
}

async fn lengths_are_those_after_the_change() {
    let client = client().await;
    client.insert("1", json!({"a": [1]})).await;
    let query = "mutation { \
                 a: replaceDocument(id: 1, path: \"/a/-\", document: 2) { subdocument(path: \"/a\") { length } } \
                 b: mergeDocument(id: 1, patch: {b: 1, c: 2}) { length } \
                 c: deleteDocument(id: 1, path: [\"a\", -2]) { document { length subdocument(path: \"/a\") { length value } } } }";
    let data = client.data(query, NONE).await;
    assert_eq!(
        data,
        json!({
            "a": {"subdocument": {"length": 2}},
            "b": {"length": 3},
            "c": {"document": {"length": 3, "subdocument": {"length": 1, "value": [2]}}},
        })
    );
}
