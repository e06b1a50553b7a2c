//! One request has one budget, whichever executors run it, and no work is done twice.

use serde_json::{Value, json};

use super::direct::answer;
use super::support::{Client, NONE, client, parse};

cases!(
    async [
        picks_on_a_covered_page_are_planned_and_read_no_document,
        failing_fields_are_not_executed_twice,
        invalid_arguments_are_found_before_a_search_begins,
    ]
);

/// A field that only the general executor runs.
const GENERAL: &str = "more: __type(name: \"Path\") { name }";

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
async fn pairs_of(client: &Client, query: &str, variables: &str) -> (u64, Value, bool) {
    client.renew_snapshot().await;
    let before = client.counts().pairs;
    let (text, planned) = answer(client, query, variables).await;
    (client.counts().pairs - before, parse(&text), planned)
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
    let (values, _, _) = pairs_of(
        &client,
        &format!("{{ {} }}", page(r#"value(path: "/a")"#)),
        NONE,
    )
    .await;
    let query = format!("{{ {} }}", page(pick));
    let (picked, found, planned) = pairs_of(&client, &query, NONE).await;
    assert!(planned, "{found}");
    assert_eq!(picked, values, "a pick reads what a value reads");
    let page_of = &found["data"]["documents"];
    assert_eq!(page_of["plan"]["covered"], json!(true));
    assert_eq!(page_of["nodes"][7], json!({"key": "7", "pick": {"a": 7}}));
    let general = format!("{{ {} {GENERAL} }}", page(pick));
    let (_, expected, planned) = pairs_of(&client, &general, NONE).await;
    assert!(!planned);
    assert_eq!(*page_of, expected["data"]["documents"]);
    // A missing value and a value that an entry does not have.
    client.insert("object", json!({"a": {"x": 1}})).await;
    for fields in [pick, r#"pick(paths: ["/a", "/none"]) value(path: "/a")"#] {
        let query = "documents(orderBy: {by: \"$.a\"}, last: 3)";
        let query = format!("{query} {{ nodes {{ {fields} }} plan {{ covered }} }}");
        let (_, found, planned) = pairs_of(&client, &format!("{{ {query} }}"), NONE).await;
        let (_, expected, _) = pairs_of(&client, &format!("{{ {query} {GENERAL} }}"), NONE).await;
        assert!(planned, "{found}");
        assert_eq!(found["data"]["documents"], expected["data"]["documents"]);
    }
}

async fn failing_fields_are_not_executed_twice() {
    let client = filled(400).await;
    let array: Vec<u64> = (0..10_001).collect();
    client.insert("long", json!(array)).await;
    let page = "documents(where: {at: \"$.b[0]\", eq: -1}, scanLimit: 100) { nodes { key } }";
    let select = "document(id: \"long\") { kind select(query: \"$[*]\") { value } }";
    for (fields, code, is_null) in [
        (page.to_owned(), "TOO_COMPLEX", true),
        (
            format!("a: document(id: 1) {{ value }} {page}"),
            "TOO_COMPLEX",
            true,
        ),
        (
            format!("a: documents(first: 1) {{ nodes {{ key }} }} {page}"),
            "TOO_COMPLEX",
            true,
        ),
        (
            format!("a: document(id: 1) {{ value }} {select}"),
            "TOO_COMPLEX",
            false,
        ),
        (
            "document(id: \"long\") { kind below: subdocument(path: \"\") { \
             select(query: \"$[*]\") { value } } }"
                .to_owned(),
            "TOO_COMPLEX",
            false,
        ),
    ] {
        let (read, found, planned) = pairs_of(&client, &format!("{{ {fields} }}"), NONE).await;
        assert!(planned, "{fields}: {found}");
        assert_eq!(found["errors"][0]["extensions"]["code"], code, "{found}");
        assert_eq!(found["data"].is_null(), is_null, "{found}");
        let general = format!("{{ {fields} {GENERAL} }}");
        let (read_generally, mut expected, _) = pairs_of(&client, &general, NONE).await;
        assert!(read <= read_generally, "{fields}: {read} {read_generally}");
        if let Some(data) = expected["data"].as_object_mut() {
            data.remove("more");
        }
        assert_eq!(found, expected, "{fields}");
    }
}

async fn invalid_arguments_are_found_before_a_search_begins() {
    let client = filled(300).await;
    let search = "documents(where: {at: \"$.b[0]\", eq: -1}) { nodes { key } }";
    let invalid = "b: node(id: \"no id\") { id }";
    let (once, _, _) = pairs_of(&client, &format!("{{ {search} }}"), NONE).await;
    let query = format!("{{ {search} {invalid} }}");
    let (read, found, planned) = pairs_of(&client, &query, NONE).await;
    assert!(planned, "{found}");
    assert_eq!(found["errors"][0]["path"], json!(["b"]), "{found}");
    assert_eq!(read, once);
    // A variable without a value leaves its argument out.
    let query = format!(
        "query($first: Int) {{ {search} b: documents(first: $first) {{ nodes {{ key }} }} }}"
    );
    let (read, found, planned) = pairs_of(&client, &query, NONE).await;
    assert!(planned, "{found}");
    assert_eq!(found.get("errors"), None, "{found}");
    let (other, _, _) = pairs_of(&client, "{ documents { nodes { key } } }", NONE).await;
    assert!(read <= once + other, "{read}, of {once} and {other}");
}
