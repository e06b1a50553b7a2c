//! Queries by content: filters, orders, pages and cursors, and rejected arguments.

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        documents_are_paged_by_id_in_both_directions,
        filters_in_literals_equal_filters_in_variables,
        omitted_variables_are_not_tested_and_null_is_compared,
        values_in_filters_are_exact,
        documents_are_ordered_by_value_and_then_by_id,
        documents_with_several_values_are_ordered_by_the_least_or_greatest,
        selections_of_found_documents_equal_those_of_document,
        queries_after_a_mutation_find_its_changes,
        invalid_arguments_are_rejected_with_the_reason,
        keys_are_integers_or_strings_in_every_bound,
        filters_in_variables_are_validated_member_by_member,
        cursors_are_valid_for_their_own_query_only,
        exceeded_limits_are_named,
    ]
);

/// Stores documents `1`, `2`, `3`, … given as JSON texts.
async fn filled(documents: &[&str]) -> Client {
    let client = client().await;
    for (id, document) in (1..).zip(documents) {
        client.insert(&format!("{id}"), document).await;
    }
    client
}

/// The ids of a page, joined.
fn ids(page: &Value) -> String {
    let nodes = page["nodes"].as_array().expect("nodes");
    let ids = nodes
        .iter()
        .map(|node| node["key"].as_str().expect("an id"));
    ids.collect::<Vec<_>>().join(" ")
}

/// The ids of the documents found with these arguments.
async fn found(client: &Client, arguments: &str) -> String {
    let query = format!("{{ documents({arguments}) {{ nodes {{ key }} }} }}");
    ids(&client.data(&query, NONE).await["documents"])
}

async fn documents_are_paged_by_id_in_both_directions() {
    let client = filled(&["1"; 7]).await;
    client.insert("b", "1").await;
    client.insert("a", "1").await;
    let query = "query($first: Int, $after: String, $last: Int, $before: String) {
        documents(first: $first, after: $after, last: $last, before: $before) {
            nodes { key } edges { cursor node { key } }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        }
    }";
    let page = async |variables: Value| {
        let mut data = client.data(query, variables).await;
        data["documents"].take()
    };
    let mut after = Value::Null;
    for (expected, next) in [("a b 1 2", true), ("3 4 5 6", true), ("7", false)] {
        let page = page(json!({"first": 4, "after": after})).await;
        assert_eq!(ids(&page), expected);
        let info = &page["pageInfo"];
        assert_eq!(info["hasNextPage"], json!(next));
        assert_eq!(info["hasPreviousPage"], json!(!after.is_null()));
        let edges = page["edges"].as_array().expect("edges");
        assert_eq!(info["startCursor"], edges[0]["cursor"]);
        assert_eq!(info["endCursor"], edges[edges.len() - 1]["cursor"]);
        after = info["endCursor"].clone();
    }
    let mut before = Value::Null;
    for (expected, previous) in [("4 5 6 7", true), ("b 1 2 3", true), ("a", false)] {
        let page = page(json!({"last": 4, "before": before})).await;
        assert_eq!(ids(&page), expected);
        let info = &page["pageInfo"];
        assert_eq!(info["hasPreviousPage"], json!(previous));
        assert_eq!(info["hasNextPage"], json!(!before.is_null()));
        before = info["startCursor"].clone();
    }
    let none = page(json!({"first": 0})).await;
    assert_eq!(ids(&none), "");
    let info = json!({"hasNextPage": true, "hasPreviousPage": false, "startCursor": null, "endCursor": null});
    assert_eq!(none["pageInfo"], info);
    assert_eq!(ids(&page(json!({})).await), "a b 1 2 3 4 5 6 7");
    assert_eq!(found(&client, r#"collection: "none""#).await, "");
}

/// Documents, and filters with the ids of the matching ones.
const DOCUMENTS: [&str; 8] = [
    r#"{"n": 1, "s": "ab", "tags": ["x", "y"]}"#,
    r#"{"n": 1.0, "s": "a", "tags": []}"#,
    r#"{"n": 2, "s": "b", "tags": ["y", 2]}"#,
    r#"{"n": null, "tags": {"k": "x"}}"#,
    r#"{"n": [1, {"a": null}], "s": "abc"}"#,
    r#"{"n": true, "s": ""}"#,
    r#"[1]"#,
    r#""text""#,
];

const FILTERS: [(&str, &str); 28] = [
    ("{}", "1 2 3 4 5 6 7 8"),
    (r#"{"at": "$.n", "eq": 1}"#, "1 2"),
    (r#"{"at": "$.n", "eq": null}"#, "4"),
    (r#"{"at": "$.n", "ne": 1}"#, "3 4 5 6"),
    (r#"{"at": "$.n", "ne": null}"#, "1 2 3 5 6"),
    (r#"{"at": "$.n", "eq": [1.0, {"a": null}]}"#, "5"),
    (r#"{"at": "$.n", "in": [null, 2, true]}"#, "3 4 6"),
    (r#"{"at": "$.n", "in": 2}"#, "3"),
    (r#"{"at": "$.n", "gte": 1, "lt": 2}"#, "1 2"),
    (r#"{"at": "$.n", "gt": 1}"#, "3"),
    (r#"{"at": "$.n", "lte": 2}"#, "1 2 3"),
    (r#"{"at": "$.s", "startsWith": "ab"}"#, "1 5"),
    (r#"{"at": "$.s", "contains": "b"}"#, "1 3 5"),
    (r#"{"at": "$.s", "contains": "", "ne": "b"}"#, "1 2 5 6"),
    (
        r#"{"at": "$.s", "contains": "b", "startsWith": "a"}"#,
        "1 5",
    ),
    (r#"{"contains": "x"}"#, "8"),
    (r#"{"at": "$.s", "exists": false}"#, "4 7 8"),
    (r#"{"at": "$.tags[*]", "exists": true}"#, "1 3 4"),
    (r#"{"at": "$.tags[*]", "eq": "x"}"#, "1 4"),
    (r#"{"not": {"at": "$.tags[*]", "eq": "x"}}"#, "2 3 5 6 7 8"),
    (r#"{"eq": [1]}"#, "7"),
    (r#"{"startsWith": "te"}"#, "8"),
    (r#"{"exists": true}"#, "1 2 3 4 5 6 7 8"),
    (r#"{"any": []}"#, ""),
    (r#"{"all": []}"#, "1 2 3 4 5 6 7 8"),
    (
        r#"{"any": [{"at": "$.n", "eq": 2}, {"at": "$.s", "eq": ""}, {"eq": "text"}]}"#,
        "3 6 8",
    ),
    (
        r#"{"all": [{"at": "$.tags[*]", "eq": "x"}, {"at": "$.tags[*]", "eq": "y"}]}"#,
        "1",
    ),
    (
        r#"{"at": "$.n", "eq": 1, "not": {"at": "$.s", "eq": "a"}, "any": [{"at": "$.tags[*]", "exists": true}]}"#,
        "1",
    ),
];

/// JSON text as a GraphQL literal: names without quotes.
fn literal(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, member)| format!("{name}: {}", literal(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(literal).collect();
            format!("[{}]", elements.join(", "))
        }
        other => other.to_string(),
    }
}

async fn filters_in_literals_equal_filters_in_variables() {
    let client = filled(&DOCUMENTS).await;
    let query = "query($where: DocumentFilter) { documents(where: $where) { nodes { key } } }";
    for round in ["no index", "indexes"] {
        for (filter, expected) in FILTERS {
            let told = format!("{filter} with {round}");
            let parsed: Value = serde_json::from_str(filter).expect(filter);
            let arguments = format!("where: {}", literal(&parsed));
            assert_eq!(found(&client, &arguments).await, expected, "{told}");
            let data = client
                .data(query, format!(r#"{{"where": {filter}}}"#))
                .await;
            assert_eq!(ids(&data["documents"]), expected, "{told}");
        }
        let indexes = r#"a: createIndex(name: "n", on: ["$.n"]) { state }
            b: createIndex(name: "s", on: ["$['s']"]) { state }
            c: createIndex(name: "tags", on: ["$.tags[*]"]) { state }
            d: createIndex(name: "all", on: ["$"]) { state }"#;
        client.mutate(indexes).await;
        client.build().await;
    }
}

async fn omitted_variables_are_not_tested_and_null_is_compared() {
    let client = filled(&DOCUMENTS).await;
    let query = "query($v: JSON, $w: JSON, $list: [JSON], $at: JSONPath, $one: JSON) {
        documents(where: {at: $at, eq: $v, ne: $w, in: $list, any: [{at: \"$.n\", in: [$one, 2]}]}) { nodes { key } }
    }";
    for (variables, expected) in [
        (r#"{"one": 1}"#, "1 2 3"),
        (r#"{"one": null}"#, "3 4"),
        (r#"{"one": 1, "at": "$.n", "v": 1e0}"#, "1 2"),
        (r#"{"one": null, "at": "$.n", "v": null}"#, "4"),
        (r#"{"one": null, "at": "$.n", "w": null}"#, "3"),
        (r#"{"one": 1, "at": "$.s", "list": ["a", "b"]}"#, "2 3"),
        (
            r#"{"one": 1, "at": "$.s", "list": ["a", "b"], "w": "a"}"#,
            "3",
        ),
    ] {
        let data = client.data(query, variables).await;
        assert_eq!(ids(&data["documents"]), expected, "{variables}");
    }
    // Nothing is left to test at the path. The filter does not become one that matches every
    // document.
    let (code, message) = client.error(query, r#"{"one": 1, "at": "$.n"}"#).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("has no test"), "{message}");
}

async fn values_in_filters_are_exact() {
    let client = filled(&[
        "9007199254740993",
        "9007199254740992.0",
        "123456789012345678901234567890",
        r#"{"$serde_json::private::Number": "1"}"#,
        "1",
    ])
    .await;
    for (value, expected) in [
        ("9007199254740993", "1"),
        ("9007199254740992", "2"),
        ("123456789012345678901234567890", "3"),
        ("10e-1", "5"),
    ] {
        assert_eq!(
            found(&client, &format!("where: {{eq: {value}}}")).await,
            expected
        );
    }
    let query = "query($where: DocumentFilter, $v: JSON) {
        a: documents(where: $where) { nodes { key } }
        b: documents(where: {any: [{eq: $v}]}) { nodes { key } }
    }";
    for (value, expected) in [
        ("9007199254740993", "1"),
        ("9007199254740992", "2"),
        ("123456789012345678901234567890", "3"),
        (r#"{"$serde_json::private::Number": "1"}"#, "4"),
        ("1.0", "5"),
    ] {
        let variables = format!(r#"{{"where": {{"eq": {value}}}, "v": {value}}}"#);
        let data = client.data(query, variables).await;
        assert_eq!(ids(&data["a"]), expected, "{value}");
        assert_eq!(ids(&data["b"]), expected, "{value}");
    }
}

async fn documents_are_ordered_by_value_and_then_by_id() {
    let client = filled(&[
        r#"{"v": "b"}"#,
        r#"{"v": 2}"#,
        r#"{"v": null}"#,
        r#"{"w": 1}"#,
        r#"{"v": "a"}"#,
        r#"{"v": true}"#,
        r#"{"v": 1.5}"#,
        r#"{"v": 2.0}"#,
        r#"{"v": false}"#,
        r#"{"v": -1}"#,
        r#"{"v": 2}"#,
        r#"{"v": []}"#,
    ])
    .await;
    let ascending = "3 9 6 10 7 2 8 11 5 1 12";
    let descending = "12 1 5 11 8 2 7 10 6 9 3";
    let mixed = "12 1 5 2 8 11 7 10 6 9 3";
    for round in ["no index", "an index"] {
        for (order, expected) in [
            (r#"{by: "$.v"}"#, ascending),
            (r#"{by: "$.v", descending: true}"#, descending),
            (r#"[{by: "$.v", descending: true}, {}]"#, mixed),
            ("[]", "1 2 3 4 5 6 7 8 9 10 11 12"),
            ("{descending: true}", "12 11 10 9 8 7 6 5 4 3 2 1"),
        ] {
            let all = found(&client, &format!("orderBy: {order}")).await;
            assert_eq!(all, expected, "{order} with {round}");
            for size in 1..5 {
                assert_eq!(
                    paged(&client, order, "first", "after", size).await,
                    expected
                );
                assert_eq!(
                    paged(&client, order, "last", "before", size).await,
                    expected
                );
            }
        }
        let filtered =
            r#"where: {at: "$.v", gte: 1.5, lt: 3}, orderBy: {by: "$['v']", descending: true}"#;
        assert_eq!(found(&client, filtered).await, "11 8 2 7", "{round}");
        client
            .mutate(r#"createIndex(name: "v", on: ["$.v"]) { state }"#)
            .await;
        client.build().await;
    }
}

/// The ids of all pages, in order.
async fn paged(client: &Client, order: &str, size: &str, from: &str, documents: usize) -> String {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let query = format!(
            "{{ documents(orderBy: {order}, {size}: {documents}{cursor}) {{
                nodes {{ key }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
            }} }}"
        );
        let data = client.data(&query, NONE).await;
        let page = &data["documents"];
        let info = &page["pageInfo"];
        let (more, next) = if size == "first" {
            pages.push(ids(page));
            (&info["hasNextPage"], &info["endCursor"])
        } else {
            pages.insert(0, ids(page));
            (&info["hasPreviousPage"], &info["startCursor"])
        };
        if *more == json!(false) {
            return pages.join(" ");
        }
        cursor = format!(", {from}: {next}");
    }
}

async fn documents_with_several_values_are_ordered_by_the_least_or_greatest() {
    let client = filled(&[
        r#"{"v": [5, 1]}"#,
        r#"{"v": [3, 3]}"#,
        r#"{"v": []}"#,
        r#"{"v": [2, 9, 4]}"#,
        r#"{"v": {"k": 0}}"#,
    ])
    .await;
    for round in ["no index", "an index"] {
        for (arguments, expected) in [
            (r#"orderBy: {by: "$.v[*]"}"#, "5 1 4 2"),
            (r#"orderBy: {by: "$.v[*]", descending: true}"#, "4 1 2 5"),
            (
                r#"orderBy: {by: "$.v[*]"}, where: {at: "$.v[*]", gt: 3}"#,
                "1 4",
            ),
            (r#"orderBy: {by: "$.v[0]"}"#, "4 2 1"),
            (r#"orderBy: {by: "$.v[?@ > 2]"}"#, "2 4 1"),
        ] {
            assert_eq!(
                found(&client, arguments).await,
                expected,
                "{arguments} with {round}"
            );
        }
        for size in 1..4 {
            let by = r#"{by: "$.v[*]"}"#;
            assert_eq!(paged(&client, by, "first", "after", size).await, "5 1 4 2");
            assert_eq!(paged(&client, by, "last", "before", size).await, "5 1 4 2");
        }
        client
            .mutate(r#"createIndex(name: "v", on: ["$.v[*]"]) { state }"#)
            .await;
        client.build().await;
    }
}

async fn selections_of_found_documents_equal_those_of_document() {
    let client = filled(&DOCUMENTS).await;
    let selection = "id collection version kind value n: value(path: \"/n\")
        subdocument(path: \"/tags\") { kind path value document { key } } children { nodes { path value } }";
    let query =
        format!("{{ documents {{ nodes {{ {selection} }} edges {{ node {{ {selection} }} }} }} }}");
    let data = client.data(&query, NONE).await;
    for (at, id) in (1..=DOCUMENTS.len()).enumerate() {
        let query = format!("{{ document(id: {id}) {{ document {{ {selection} }} }} }}");
        let expected = &client.data(&query, NONE).await["document"]["document"];
        assert_eq!(data["documents"]["nodes"][at], *expected);
        assert_eq!(data["documents"]["edges"][at]["node"], *expected);
    }
}

async fn queries_after_a_mutation_find_its_changes() {
    let client = filled(&DOCUMENTS).await;
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    client.build().await;
    let ones = r#"where: {at: "$.n", eq: 1}"#;
    client
        .mutate(r#"replaceDocument(id: 1, path: "/n", document: 7) { key }"#)
        .await;
    assert_eq!(found(&client, ones).await, "2");
    client
        .mutate(r#"mergeDocument(id: 9, patch: {n: 1}) { key }"#)
        .await;
    assert_eq!(found(&client, ones).await, "2 9");
    client.mutate(r#"deleteDocument(id: 2) { deleted }"#).await;
    assert_eq!(found(&client, ones).await, "9");
}

async fn invalid_arguments_are_rejected_with_the_reason() {
    let client = filled(&["1"]).await;
    for (arguments, told) in [
        (r#"collection: """#, "name is empty"),
        (
            "first: -1",
            "`first` is -1; a page has from 0 to 10000 documents",
        ),
        (
            "last: 10001",
            "`last` is 10001; a page has from 0 to 10000 documents",
        ),
        ("first: 1, last: 1", "one direction"),
        (r#"first: 1, before: "00""#, "one direction"),
        (r#"after: "", last: 1"#, "one direction"),
        (
            r#"after: """#,
            "given as `after` does not belong to this query's documents",
        ),
        (
            r#"before: "zz""#,
            "given as `before` does not belong to this query's documents",
        ),
        (
            "scanLimit: 0",
            "`scanLimit` is 0; it must be at least 1 document",
        ),
        ("scanLimit: -5", "`scanLimit` is -5"),
        (r#"where: {at: "n", eq: 1}"#, "JSONPath"),
        (r#"where: {at: "$[", eq: 1}"#, "JSONPath"),
        (r#"orderBy: {by: "$..["}"#, "the argument `orderBy`"),
        (r#"where: {at: "$.n"}"#, "has no test"),
        ("where: {exists: false}", "without `at`"),
        (
            r#"where: {at: "$.n", exists: false, ne: 1}"#,
            "excludes other tests",
        ),
        ("where: {any: [{not: {eq: x}}]}", ""),
        ("where: {eq: 1e999}", "binary64"),
        ("where: {nothing: 1}", "nothing"),
        ("where: {startsWith: 1}", "startsWith"),
        ("where: {contains: 1}", "contains"),
        (r#"orderBy: [{}, {by: "$.n"}]"#, "no other order can follow"),
        (
            r#"keys: {gt: "a", gte: "b"}"#,
            "the argument `keys`: `gt` and `gte`",
        ),
        (r#"keys: {lt: "a", lte: "b"}"#, "`lt` and `lte`"),
        (r#"keys: {gt: ""}"#, "`gt`: the id is empty"),
        (
            r#"keys: {prefix: "2024"}"#,
            "the argument `keys`: `prefix`: 2024 is the key of an integer",
        ),
        (
            r#"keys: {prefix: "@00000000000002f1000a0003"}"#,
            "is the key of a versionstamp",
        ),
        (r#"keys: {prefix: "\"a"}"#, "must be a JSON string"),
        (r#"keys: {in: ["a", "\"b"]}"#, "`in`: the id"),
    ] {
        let query = format!("{{ documents({arguments}) {{ nodes {{ key }} }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{arguments}: {message}");
        assert!(message.contains(told), "{arguments}: {message}");
    }
    client.assert_serves().await;
}

async fn keys_are_integers_or_strings_in_every_bound() {
    let client = client().await;
    for key in [
        "2023", "2024", "2025", "2023-12", "2024-05", "2024-06", "\"2024\"", "\"2\"", "@2",
    ] {
        client.insert(key, "1").await;
    }
    for (keys, expected) in [
        // Bounds of one kind.
        (r#"{"gte": "2024", "lt": "2025"}"#, "2024"),
        (r#"{"gte": "2024-", "lt": "2025-"}"#, "2024-05 2024-06"),
        (
            r#"{"gte": "\"2024\"", "lt": "\"2025\""}"#,
            r#""2024" 2024-05 2024-06"#,
        ),
        // Of two kinds: strings are before integers.
        (
            r#"{"gte": "2024-05", "lt": "2025"}"#,
            "2024-05 2024-06 @2 2023 2024",
        ),
        (r#"{"gte": "2024", "lt": "2024-06"}"#, ""),
        // Of one side.
        (r#"{"gt": "@"}"#, "@2 2023 2024 2025"),
        (
            r#"{"lte": "2023"}"#,
            r#""2" 2023-12 "2024" 2024-05 2024-06 @2 2023"#,
        ),
        // Prefixes are strings.
        (
            r#"{"prefix": ""}"#,
            r#""2" 2023-12 "2024" 2024-05 2024-06 @2"#,
        ),
        (r#"{"prefix": "2024-"}"#, "2024-05 2024-06"),
        (r#"{"prefix": "\"2024\""}"#, r#""2024" 2024-05 2024-06"#),
        (
            r#"{"prefix": "\"2\""}"#,
            r#""2" 2023-12 "2024" 2024-05 2024-06"#,
        ),
        (r#"{"prefix": "@"}"#, "@2"),
    ] {
        let query = "query($keys: DocumentKeyFilter) { documents(keys: $keys) { nodes { key } } }";
        let data = client.data(query, format!("{{\"keys\": {keys}}}")).await;
        let nodes = data["documents"]["nodes"].as_array().expect("a list");
        let found = nodes
            .iter()
            .map(|node| node["key"].as_str().expect("a key"));
        let found: Vec<&str> = found.collect();
        assert_eq!(found.join(" "), expected, "{keys}");
    }
    let taken = "mutation { takeDocuments(keys: {prefix: \"2024\"}, first: 1) { key } }";
    let (code, message) = client.error(taken, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT", "{message}");
    assert!(message.contains(r#"quotation marks: "2024""#), "{message}");
}

async fn filters_in_variables_are_validated_member_by_member() {
    let client = filled(&["1"]).await;
    let query = "query($where: DocumentFilter, $order: [DocumentOrder!]) { documents(where: $where, orderBy: $order) { nodes { key } } }";
    for (variables, told) in [
        (r#"{"where": 1}"#, "1 is not of the type DocumentFilter"),
        (r#"{"where": {"nothing": 1}}"#, "no member \"nothing\""),
        (
            r#"{"where": {"at": 1, "eq": 1}}"#,
            "`at`: 1 is not of the type JSONPath",
        ),
        (r#"{"where": {"exists": "true"}}"#, "`exists`"),
        (
            r#"{"where": {"all": [null]}}"#,
            "null is not of the type DocumentFilter!",
        ),
        (
            r#"{"where": {"any": [{"not": {"startsWith": 1}}]}}"#,
            "`not`: `startsWith`",
        ),
        (r#"{"where": {"eq": 1e999}}"#, "`eq`"),
        (
            r#"{"order": [null]}"#,
            "null is not of the type DocumentOrder!",
        ),
        (
            r#"{"order": {"by": "$", "descending": null}}"#,
            "null is not of the type Boolean!",
        ),
    ] {
        let (code, message) = client.error(query, variables).await;
        assert_eq!(code, "BAD_USER_INPUT", "{variables}: {message}");
        assert!(message.contains(told), "{variables}: {message}");
    }
    let data = client.data(
        query,
        r#"{"where": {"at": null, "eq": 1, "all": null}, "order": null}"#,
    );
    assert_eq!(ids(&data.await["documents"]), "1");
    let data = client.data(query, r#"{"order": {"descending": true}}"#);
    assert_eq!(ids(&data.await["documents"]), "1");
    let single = query.replace("[DocumentOrder!]", "DocumentOrder");
    let (_, message) = client.error(&single, NONE).await;
    assert!(message.contains("[DocumentOrder!]"), "{message}");
    let nested = |levels: usize| {
        let open = r#"{"not":"#.repeat(levels - 1);
        let close = "}".repeat(levels - 1);
        format!(r#"{{"where": {open}{{"eq": 2}}{close}}}"#)
    };
    client.data(query, nested(16)).await;
    for levels in [17, 10_000] {
        let (code, message) = client.error(query, nested(levels)).await;
        assert_eq!(code, "TOO_COMPLEX");
        assert!(message.contains("16 levels"), "{message}");
    }
    client.assert_serves().await;
}

async fn cursors_are_valid_for_their_own_query_only() {
    let client = filled(&[r#"{"n": 1}"#, r#"{"n": 1}"#, r#"{"n": 1}"#]).await;
    let asked = r#"where: {at: "$.n", eq: 1}, orderBy: {by: "$.n"}, first: 1"#;
    let query = format!("{{ documents({asked}) {{ pageInfo {{ endCursor }} }} }}");
    let data = client.data(&query, NONE).await;
    let cursor = &data["documents"]["pageInfo"]["endCursor"];
    assert_eq!(
        found(&client, &format!("{asked}, after: {cursor}")).await,
        "2"
    );
    for other in [
        "first: 1",
        r#"where: {at: "$.n", eq: 1}, first: 1"#,
        r#"orderBy: {by: "$.n"}, first: 1"#,
        r#"where: {at: "$.n", eq: 2}, orderBy: {by: "$.n"}, first: 1"#,
        r#"where: {at: "$.n", eq: 1}, orderBy: {by: "$.n", descending: true}, first: 1"#,
        r#"where: {at: "$.n", eq: 1}, orderBy: {by: "$.n"}, collection: "E", first: 1"#,
        r#"where: {at: "$.n", eq: 1}, orderBy: {by: "$.n"}, keys: {gt: 0}, first: 1"#,
        r#"where: {at: "$.n", eq: 1}, orderBy: [{by: "$.n"}, {descending: true}], first: 1"#,
    ] {
        let query = format!("{{ documents({other}, after: {cursor}) {{ nodes {{ key }} }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(
            message.contains("does not belong to this query's documents"),
            "{message}"
        );
    }
    let text = cursor.as_str().expect("a cursor");
    for damaged in [&text[..16], &text[..text.len() - 2], &format!("{text}ff")] {
        let query = format!("{{ documents({asked}, after: \"{damaged}\") {{ nodes {{ key }} }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(
            (&code[..], message.contains("damaged")),
            ("BAD_USER_INPUT", true),
            "{damaged}"
        );
    }
}

async fn exceeded_limits_are_named() {
    let client = filled(&["1"]).await;
    let query = "query($where: DocumentFilter) { documents(where: $where) { nodes { key } } }";
    let values = |count: usize| json!({"where": {"in": vec![1; count]}});
    let filters = |count: usize| json!({"where": {"any": vec![json!({"eq": 1}); count]}});
    for (within, past, told) in [
        (values(1_000), values(1_001), "1000 values in all the `in`"),
        (filters(999), filters(1_000), "1000 filters"),
    ] {
        assert_eq!(ids(&client.data(query, within).await["documents"]), "1");
        let (code, message) = client.error(query, past).await;
        assert_eq!(code, "TOO_COMPLEX");
        assert!(message.contains(told), "{message}");
    }
}
