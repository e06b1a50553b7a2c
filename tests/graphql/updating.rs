//! The operators of `updateDocuments`.

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        operators_are_applied_in_the_documented_order,
        missing_places_of_singular_paths_are_created,
        places_that_no_value_can_have_are_counted_as_none,
        several_elements_of_an_array_are_removed_together,
        values_that_do_not_fit_undo_everything_and_are_named,
        an_update_needs_an_operator,
        whole_documents_are_not_unset,
        counts_say_what_changed,
        removed_elements_that_are_appended_again_at_the_same_place_change_nothing,
        a_leaf_is_set_without_reading_its_siblings,
    ]
);

async fn removed_elements_that_are_appended_again_at_the_same_place_change_nothing() {
    for (stored, operators, after) in [
        (
            r#"["Art"]"#,
            r#"remove: {at: "$.l", values: ["Art"]}, append: {at: "$.l", value: "Art"}"#,
            None,
        ),
        (
            r#"["a","b","c"]"#,
            r#"remove: {at: "$.l", values: ["c", "b"]}, append: {at: "$.l", values: ["b", "c"]}"#,
            None,
        ),
        (
            r#"[1,{"x":[2]}]"#,
            r#"remove: {at: "$.l", values: [{x: [2]}]}, append: {at: "$.l", value: {x: [2]}}"#,
            None,
        ),
        (
            r#"["a","b","c"]"#,
            r#"remove: {at: "$.l", values: ["c", "b"]}, append: {at: "$.l", values: ["c", "b"]}"#,
            Some(r#"["a","c","b"]"#),
        ),
        (
            r#"["a","b"]"#,
            r#"remove: {at: "$.l", values: ["a"]}, append: {at: "$.l", value: "a"}"#,
            Some(r#"["b","a"]"#),
        ),
        (
            r#"["a","a"]"#,
            r#"remove: {at: "$.l", values: ["a"]}, append: {at: "$.l", value: "a"}"#,
            Some(r#"["a"]"#),
        ),
        (
            r#"["a"]"#,
            r#"remove: {at: "$.l", values: ["a"]}, append: {at: "$.l", values: ["a", "b"]}"#,
            Some(r#"["a","b"]"#),
        ),
        (
            r#"["b"]"#,
            r#"remove: {at: "$.l", values: ["a"]}, append: {at: "$.l", value: "a"}"#,
            Some(r#"["b","a"]"#),
        ),
    ] {
        let client = client().await;
        client.insert("1", format!(r#"{{"l":{stored}}}"#)).await;
        let version = "{ document(id: 1) { version } }";
        let before = client.data(version, NONE).await;
        let result = update(&client, operators).await;
        let expected = after.unwrap_or(stored);
        assert_eq!(
            client.stored("1").await,
            format!(r#"{{"l":{expected}}}"#),
            "{operators}"
        );
        assert_eq!(result["changed"], u64::from(after.is_some()), "{operators}");
        assert_eq!(result["updates"][0]["places"], 1);
        assert_eq!(result["updates"][1]["places"], 1);
        let is_same = client.data(version, NONE).await == before;
        assert_eq!(is_same, after.is_none(), "{operators}");
    }
}

/// Updates all documents. Returns the result.
async fn update(client: &Client, operators: &str) -> Value {
    let field = format!(
        "updateDocuments(where: {{}}, everything: true, {operators}) {{ matched changed unchanged updates {{ operator at places }} }}"
    );
    client.mutate(&field).await["updateDocuments"].take()
}

async fn places(client: &Client, operators: &str) -> Vec<u64> {
    let result = update(client, operators).await;
    let updates = result["updates"].as_array().expect("a list");
    let places = updates.iter().map(|it| it["places"].as_u64());
    places.collect::<Option<_>>().expect("numbers")
}

async fn operators_are_applied_in_the_documented_order() {
    let client = client().await;
    client.insert("1", r#"{"n":1,"gone":true}"#).await;
    // The order in the text does not matter.
    let result = update(
        &client,
        r#"merge: [{at: "$", patch: {gone: null, l: {x: 1}}}],
           append: [{at: "$.l", value: 8}, {at: "$.l", values: [9, 8]}],
           remove: [{at: "$.l", values: [8]}],
           increment: [{at: "$.n", by: 10}, {at: "$.m"}],
           unset: ["$.gone", "$.tmp"],
           set: [{at: "$.n", value: 5}, {at: "$.l", value: [8, 7]}, {at: "$.tmp", value: {a: []}}, {at: "$.tmp.a[0]", value: 1}]"#,
    )
    .await;
    let element = |operator: &str, at: &str, places: u64| json!({"operator": operator, "at": at, "places": places});
    let expected = [
        element("SET", "$.n", 1),
        element("SET", "$.l", 1),
        element("SET", "$.tmp", 1),
        element("SET", "$.tmp.a[0]", 1),
        element("UNSET", "$.gone", 1),
        element("UNSET", "$.tmp", 1),
        element("INCREMENT", "$.n", 1),
        element("INCREMENT", "$.m", 1),
        element("REMOVE", "$.l", 1),
        element("APPEND", "$.l", 1),
        element("APPEND", "$.l", 1),
        element("MERGE", "$", 1),
    ];
    assert_eq!(result["updates"], json!(expected));
    assert_eq!(client.stored("1").await, r#"{"l":{"x":1},"m":1,"n":15}"#);
    assert_eq!(client.check().await, []);
}

async fn missing_places_of_singular_paths_are_created() {
    let client = client().await;
    for (before, operators, after) in [
        (
            "{}",
            r#"set: [{at: "$.a", value: {b: 1}}]"#,
            r#"{"a":{"b":1}}"#,
        ),
        ("[]", r#"set: [{at: "$[0]", value: 1}]"#, "[1]"),
        (
            r#"{"a":[1]}"#,
            r#"set: [{at: "$.a[1]", value: 2}]"#,
            r#"{"a":[1,2]}"#,
        ),
        (
            r#"{"a":[{}]}"#,
            r#"set: [{at: "$.a[-1].b", value: 2}]"#,
            r#"{"a":[{"b":2}]}"#,
        ),
        (
            r#"{"a":{}}"#,
            r#"increment: [{at: "$.a.n", by: -2.5}]"#,
            r#"{"a":{"n":-2.5}}"#,
        ),
        (
            r#"{"a":{}}"#,
            r#"append: [{at: "$.a.l", value: {x: []}}]"#,
            r#"{"a":{"l":[{"x":[]}]}}"#,
        ),
        (
            "{}",
            r#"merge: [{at: "$.a", patch: {b: 1, c: null}}]"#,
            r#"{"a":{"b":1}}"#,
        ),
        (
            "{}",
            r#"merge: [{at: "$.a", patch: null}]"#,
            r#"{"a":null}"#,
        ),
    ] {
        let replace = "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { key } }";
        client.data(replace, format!(r#"{{"d":{before}}}"#)).await;
        assert_eq!(
            places(&client, operators).await,
            [1],
            "{before} {operators}"
        );
        assert_eq!(client.stored("1").await, after, "{before} {operators}");
    }
    assert_eq!(client.check().await, []);
}

async fn places_that_no_value_can_have_are_counted_as_none() {
    let client = client().await;
    let document = r#"{"a":[1],"b":{},"n":1,"s":"text"}"#;
    client.insert("1", document).await;
    for operators in [
        r#"set: [{at: "$.a[2]", value: 0}]"#,
        r#"set: [{at: "$.a[-2]", value: 0}]"#,
        r#"set: [{at: "$.a.x", value: 0}]"#,
        r#"set: [{at: "$.b[0]", value: 0}]"#,
        r#"set: [{at: "$.n.x", value: 0}]"#,
        r#"set: [{at: "$.s[0]", value: 0}]"#,
        r#"set: [{at: "$.none.x", value: 0}]"#,
        // Only singular paths create.
        r#"set: [{at: "$..none", value: 0}]"#,
        r#"set: [{at: "$['none','nothing']", value: 0}]"#,
        r#"set: [{at: "$.b[?@.x].y", value: 0}]"#,
        r#"increment: [{at: "$.none.x"}]"#,
        r#"append: [{at: "$.b[*]", value: 1}]"#,
        r#"merge: [{at: "$.none.x", patch: {y: 1}}]"#,
        r#"unset: ["$.none"]"#,
        r#"unset: ["$.none.x"]"#,
        r#"unset: ["$.a[1]"]"#,
        r#"unset: ["$..none"]"#,
    ] {
        let result = update(&client, operators).await;
        assert_eq!(result["updates"][0]["places"], 0, "{operators}");
        assert_eq!(result["unchanged"], 1, "{operators}");
        assert_eq!(client.stored("1").await, document, "{operators}");
    }
}

async fn several_elements_of_an_array_are_removed_together() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "l", on: ["$.l[*]"]) { state }"#)
        .await;
    let rows: Vec<Vec<u64>> = (0..4)
        .map(|row| (0..4).map(|at| 10 * row + at).collect())
        .collect();
    for (unset, removed, expected) in [
        (r#""$.l[0,2,5]""#, 3, json!([1, 3, 4])),
        (r#""$.l[?@ < 3]""#, 3, json!([3, 4, 5])),
        (r#""$.l[3:]""#, 3, json!([0, 1, 2])),
        (r#""$.l[*]""#, 6, json!([])),
        (r#""$.l[-1]""#, 1, json!([0, 1, 2, 3, 4])),
    ] {
        let replace = "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { key } }";
        client
            .data(replace, json!({"d": {"l": [0, 1, 2, 3, 4, 5]}}))
            .await;
        assert_eq!(
            places(&client, &format!("unset: [{unset}]")).await,
            [removed],
            "{unset}"
        );
        let stored: Value = serde_json::from_str(&client.stored("1").await).expect("JSON");
        assert_eq!(stored["l"], expected, "{unset}");
    }
    // Elements at two levels: those inside a removed element are removed with it.
    let replace = "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { key } }";
    client.data(replace, json!({"d": rows})).await;
    assert_eq!(places(&client, r#"unset: ["$..[0,2]"]"#).await, [6]);
    assert_eq!(client.stored("1").await, "[[11,13],[31,33]]");
    assert_eq!(places(&client, r#"unset: ["$[0]", "$[0]"]"#).await, [1, 1]);
    assert_eq!(client.stored("1").await, "[]");
    assert_eq!(client.check().await, []);
}

async fn values_that_do_not_fit_undo_everything_and_are_named() {
    let client = client().await;
    client.insert("1", r#"{"n":1,"l":[1]}"#).await;
    client.insert("2", r#"{"n":"1","l":{"x":1}}"#).await;
    for (operators, parts) in [
        (
            r#"set: [{at: "$.m", value: 1}], increment: [{at: "$.n"}]"#,
            [
                "the document 2",
                "`increment` at $.n",
                r#"the value at "/n" is not a number"#,
            ],
        ),
        (
            r#"append: [{at: "$.l", value: 1}]"#,
            [
                "the document 2",
                "`append` at $.l",
                r#"the value at "/l" is not an array"#,
            ],
        ),
        (
            r#"increment: [{at: "$.n", by: 1}, {at: "$.l[*]"}, {at: "$"}]"#,
            [
                "the document 1",
                "`increment` at $",
                r#"the value at "" is not a number"#,
            ],
        ),
    ] {
        let query = format!(
            "mutation {{ updateDocuments(where: {{}}, everything: true, {operators}) {{ changed }} }}"
        );
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{operators}");
        for part in parts {
            assert!(message.contains(part), "{part:?} in {message:?}");
        }
        assert_eq!(client.stored("1").await, r#"{"l":[1],"n":1}"#);
    }
}

async fn an_update_needs_an_operator() {
    let client = client().await;
    for operators in ["", "set: []", "set: null, unset: [], merge: []"] {
        let query = format!(
            "mutation {{ updateDocuments(where: {{}}, everything: true, {operators}) {{ changed }} }}"
        );
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{operators}");
        assert!(message.contains("nothing to update"), "{message}");
    }
    for (operators, part) in [
        (r#"set: [{at: "$.a"}]"#, "`set`: exactly one of"),
        (r#"append: [{at: "$.a"}]"#, "`append`: exactly one of"),
        (r#"merge: [{at: "$.a"}]"#, "`merge`: the argument `patch`"),
        (r#"increment: [{at: "$.a", by: "1"}]"#, "is not a number"),
        (r#"unset: ["a"]"#, "`unset`"),
    ] {
        let query = format!(
            "mutation {{ updateDocuments(where: {{}}, everything: true, {operators}) {{ changed }} }}"
        );
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{operators}");
        assert!(message.contains(part), "{message}");
    }
}

async fn whole_documents_are_not_unset() {
    let client = client().await;
    client.insert("1", "[1]").await;
    let query =
        r#"mutation { updateDocuments(where: {}, everything: true, unset: ["$"]) { changed } }"#;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("whole document"), "{message}");
    assert_eq!(client.stored("1").await, "[1]");
}

async fn counts_say_what_changed() {
    let client = client().await;
    for (id, document) in [
        ("1", r#"{"n":1}"#),
        ("2", r#"{"n":2}"#),
        ("3", r#"{"m":3}"#),
    ] {
        client.insert(id, document).await;
    }
    let result = update(
        &client,
        r#"set: [{at: "$..n", value: 2}, {at: "$.x.y", value: 1}]"#,
    )
    .await;
    let expected = json!({
        "matched": 3,
        "changed": 1,
        "unchanged": 2,
        "updates": [
            {"operator": "SET", "at": "$..n", "places": 2},
            {"operator": "SET", "at": "$.x.y", "places": 0},
        ],
    });
    assert_eq!(result, expected);
    let deleted = client
        .mutate(r#"deleteDocuments(where: {at: "$.n", eq: 2}) { matched changed unchanged updates { at } }"#)
        .await;
    let expected = json!({"matched": 2, "changed": 2, "unchanged": 0, "updates": []});
    assert_eq!(deleted["deleteDocuments"], expected);
}

async fn a_leaf_is_set_without_reading_its_siblings() {
    let client = client().await;
    let many = "1,".repeat(2_000);
    client
        .insert("1", format!(r#"{{"a":{{"x":1}},"b":[{many}1]}}"#))
        .await;
    for operators in [
        r#"set: [{at: "$.a.x", value: 7}]"#,
        r#"set: [{at: "$.a.y", value: 7}]"#,
        r#"increment: [{at: "$.a.x"}]"#,
        r#"append: [{at: "$.b", value: 7}]"#,
        r#"merge: [{at: "$.a", patch: {z: 7}}]"#,
        r#"unset: ["$.a.z"]"#,
    ] {
        let query = format!(
            "mutation {{ updateDocuments(where: {{at: \"$.a\", exists: true}}, {operators}) {{ changed }} }}"
        );
        let (data, cost) = client.cost(&query, NONE).await;
        assert_eq!(data["updateDocuments"]["changed"], 1, "{operators}");
        assert!(cost.pairs < 40, "{operators}: {cost:?}");
    }
    assert_eq!(client.check().await, []);
}
