//! One request has one budget, and no work is done twice.

use serde_json::{Value, json};

use super::bindings::answer;
use super::support::{Client, NONE, client, parse};

cases!(
    async [
        picks_on_a_covered_page_are_planned_and_read_no_document,
        failing_fields_are_not_executed_twice,
        invalid_arguments_are_found_before_a_search_begins,
        equal_fields_read_once,
        what_was_read_as_a_whole_is_not_read_again,
        parts_that_a_mutation_selects_are_read_once,
    ]
);

/// Documents with an index on `$.a`.
async fn filled(documents: u64) -> Client {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "a", on: ["$.a"]) { state }"#)
        .await;
    for id in 0..documents {
        let document = json!({"a": id, "b": [id]});
        client.insert(&id.to_string(), document).await;
    }
    client
}

/// The pairs that a query reads.
async fn pairs_of(client: &Client, query: &str, variables: &str) -> (u64, Value) {
    client.renew_snapshot().await;
    let before = client.counts().pairs;
    let text = answer(client, query, variables).await;
    (client.counts().pairs - before, parse(&text))
}

async fn picks_on_a_covered_page_are_planned_and_read_no_document() {
    let client = filled(200).await;
    client.insert("without", json!({"c": 1})).await;
    let page = |fields: &str| {
        format!(
            "documents(first: 300, where: {{at: \"$.a\", gte: 0}}, orderBy: {{by: \"$.a\"}}) {{ \
             nodes {{ key {fields} }} plan {{ covered scanned }} }}"
        )
    };
    let pick = r#"pick(paths: ["/a"])"#;
    let (values, _) = pairs_of(
        &client,
        &format!("{{ {} }}", page(r#"value(path: "/a")"#)),
        NONE,
    )
    .await;
    let query = format!("{{ {} }}", page(pick));
    let (picked, found) = pairs_of(&client, &query, NONE).await;
    assert_eq!(picked, values, "a pick reads what a value reads");
    let page_of = &found["data"]["documents"];
    assert_eq!(page_of["plan"]["covered"], json!(true));
    assert_eq!(page_of["nodes"][7], json!({"key": "7", "pick": {"a": 7}}));
    // A missing value and a value that an entry does not have.
    client.insert("object", json!({"a": {"x": 1}})).await;
    let last = "documents(orderBy: {by: \"$.a\"}, last: 3)";
    for (fields, node) in [
        (pick, json!({"pick": {"a": {"x": 1}}})),
        (
            r#"pick(paths: ["/a", "/none"]) value(path: "/a")"#,
            json!({"pick": {"a": {"x": 1}}, "value": {"x": 1}}),
        ),
    ] {
        let query = format!("{{ {last} {{ nodes {{ {fields} }} plan {{ covered }} }} }}");
        let (_, found) = pairs_of(&client, &query, NONE).await;
        let page_of = &found["data"]["documents"];
        assert_eq!(page_of["plan"]["covered"], json!(false));
        assert_eq!(page_of["nodes"][2], node, "{found}");
    }
}

async fn failing_fields_are_not_executed_twice() {
    let client = filled(400).await;
    let array: Vec<u64> = (0..10_001).collect();
    client.insert("long", json!(array)).await;
    let page = "documents(where: {at: \"$.b[0]\", eq: -1}, scanLimit: 100) { nodes { key } }";
    let select = "document(id: \"long\") { kind select(query: \"$[*]\") { value } }";
    // A search of 100 documents, and an array with its elements.
    let (searched, selected) = (1_000, 10_100);
    for (fields, most, is_null) in [
        (page.to_owned(), searched, true),
        (
            format!("a: document(id: 1) {{ value }} {page}"),
            searched,
            true,
        ),
        (
            format!("a: documents(first: 1) {{ nodes {{ key }} }} {page}"),
            searched,
            true,
        ),
        (
            format!("a: document(id: 1) {{ value }} {select}"),
            selected,
            false,
        ),
        (
            "document(id: \"long\") { kind below: subdocument(path: \"\") { \
             select(query: \"$[*]\") { value } } }"
                .to_owned(),
            selected,
            false,
        ),
    ] {
        let (read, found) = pairs_of(&client, &format!("{{ {fields} }}"), NONE).await;
        let code = &found["errors"][0]["extensions"]["code"];
        assert_eq!(code, "TOO_COMPLEX", "{found}");
        assert_eq!(found["data"].is_null(), is_null, "{found}");
        assert!(read <= most, "{fields}: {read}");
    }
}

async fn invalid_arguments_are_found_before_a_search_begins() {
    let client = filled(300).await;
    let search = "documents(where: {at: \"$.b[0]\", eq: -1}) { nodes { key } }";
    let invalid = "b: node(id: \"no id\") { id }";
    let (once, _) = pairs_of(&client, &format!("{{ {search} }}"), NONE).await;
    let query = format!("{{ {search} {invalid} }}");
    let (read, found) = pairs_of(&client, &query, NONE).await;
    assert_eq!(found["errors"][0]["path"], json!(["b"]), "{found}");
    assert_eq!(read, once);
    // A variable without a value leaves its argument out.
    let query = format!(
        "query($first: Int) {{ {search} b: documents(first: $first) {{ nodes {{ key }} }} }}"
    );
    let (read, found) = pairs_of(&client, &query, NONE).await;
    assert_eq!(found.get("errors"), None, "{found}");
    let (other, _) = pairs_of(&client, "{ documents { nodes { key } } }", NONE).await;
    assert!(read <= once + other, "{read}, of {once} and {other}");
}

async fn equal_fields_read_once() {
    let client = filled(50).await;
    let members: serde_json::Map<_, _> =
        (0..60).map(|at| (format!("m{at}"), json!([at]))).collect();
    client
        .insert("object", json!({"o": members, "list": [1, 2, 3]}))
        .await;
    for (field, times) in [
        ("children(first: 20) { nodes { path value } }", 10),
        ("length", 10),
        ("select(query: \"$.*[0]\") { value }", 10),
    ] {
        let document = |times: usize| {
            let fields: Vec<String> = (0..times).map(|at| format!("f{at}: {field}")).collect();
            let fields = fields.join(" ");
            format!("{{ document(id: \"object\", path: \"/o\") {{ {fields} }} }}")
        };
        let (one, _) = pairs_of(&client, &document(1), NONE).await;
        let (several, found) = pairs_of(&client, &document(times), NONE).await;
        let fields = &found["data"]["document"];
        assert_eq!(fields["f0"], fields["f9"], "{found}");
        assert_eq!(several, one, "{field}");
    }
    // Also in fields of their own.
    let text = "\u{e9}".repeat(100_000);
    client
        .insert("text", json!({"text": text, "o": [text]}))
        .await;
    for (path, length) in [("/text", 100_000), ("/o/0", 100_000), ("/o", 1), ("", 2)] {
        let document = |at| format!("f{at}: document(id: \"text\", path: {path:?}) {{ length }}");
        let documents = |times: usize| {
            let fields: Vec<String> = (0..times).map(document).collect();
            format!("{{ {} }}", fields.join(" "))
        };
        let (one, _) = pairs_of(&client, &documents(1), NONE).await;
        let (several, found) = pairs_of(&client, &documents(10), NONE).await;
        assert_eq!(found["data"]["f9"], json!({"length": length}), "{path}");
        assert_eq!(several, one, "{path}");
    }
    let aggregate = "aggregate { groupCount groups { count sum(of: \"$.a\") } }";
    let (one, _) = pairs_of(&client, &format!("{{ {aggregate} }}"), NONE).await;
    let query = format!("{{ a: {aggregate} b: {aggregate} c: {aggregate} }}");
    let (three, found) = pairs_of(&client, &query, NONE).await;
    assert_eq!(found["data"]["a"], found["data"]["c"]);
    assert_eq!(three, one);
}

async fn what_was_read_as_a_whole_is_not_read_again() {
    let client = client().await;
    let members: serde_json::Map<_, _> = (0..60)
        .map(|at| (format!("m{at}"), json!({"x": at, "list": [at, "text"]})))
        .collect();
    client
        .insert("1", json!({"o": members, "list": [1, [2], 3, []]}))
        .await;
    let document = |fields: &str| format!("{{ document(id: 1) {{ value {fields} }} }}");
    let (whole, _) = pairs_of(&client, &document(""), NONE).await;
    let page = "nodes { path kind value length } pageInfo { hasNextPage endCursor }";
    for fields in [
        format!("children {{ {page} }}"),
        format!("children(last: 1) {{ {page} }}"),
        "length".to_owned(),
        "subdocument(path: \"/list\") { length children(from: 1) { nodes { value } } }".to_owned(),
        format!("subdocument(path: \"/o\") {{ length children(first: 7) {{ {page} }} }}"),
        format!("subdocument(path: \"/o\") {{ children(last: 5, prefix: \"m1\") {{ {page} }} }}"),
        format!("select(query: \"$.o.*\") {{ length children {{ {page} }} }}"),
        "subdocument(path: \"/o/m7/list/1\") { length children { nodes { value } } }".to_owned(),
    ] {
        let (read, found) = pairs_of(&client, &document(&fields), NONE).await;
        assert_eq!(read, whole, "{fields}");
        let alone = format!("{{ document(id: 1) {{ {fields} }} }}");
        let (_, mut expected) = pairs_of(&client, &alone, NONE).await;
        expected["data"]["document"]["value"] = found["data"]["document"]["value"].clone();
        assert_eq!(found, expected, "{fields}");
    }
}

async fn parts_that_a_mutation_selects_are_read_once() {
    let client = client().await;
    let members: serde_json::Map<_, _> =
        (0..60).map(|at| (format!("m{at}"), json!([at]))).collect();
    client
        .insert("1", json!({"o": members, "list": [1, [2]]}))
        .await;
    let test = |fields: &str| {
        format!("mutation {{ testDocument(id: 1, matches: {{}}) {{ value {fields} }} }}")
    };
    let (_, one) = client.cost(&test(""), NONE).await;
    let parts = "a: value(path: \"/list\") b: subdocument(path: \"/o\") { kind length children(last: 2) { \
                 nodes { path value } } } select(query: \"$.list[*]\") { value } length";
    let (data, several) = client.cost(&test(parts), NONE).await;
    assert_eq!(several, one, "{data}");
    // A change in the same operation is seen, and its version is that of the commit.
    let query = "mutation { replaceDocument(id: 1, path: \"/list\", document: [3]) { version \
                 children { nodes { version value } } }
                 testDocument(id: 1, matches: {}) { version value(path: \"/list\") length } }";
    let data = client.data(query, NONE).await;
    let version = &data["replaceDocument"]["version"];
    assert!(version.is_string(), "{data}");
    let tested = json!({"version": version, "value": [3], "length": 2});
    assert_eq!(data["testDocument"], tested);
    let list = json!({"version": version, "value": [3]});
    assert_eq!(data["replaceDocument"]["children"]["nodes"][0], list);
}
