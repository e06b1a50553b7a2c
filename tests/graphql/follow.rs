//! `Document.follow`: from document to document by the keys that they have.

use phyllo::limits::FOLLOWED_DOCUMENTS_MAX;
use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::limited;

cases!(
    async [
        a_linked_list_is_read_in_its_order,
        follow_ends_at_what_is_no_key,
        documents_of_pages_are_followed_together,
        follow_crosses_collections,
        the_number_is_bounded,
        rules_end_a_walk_at_what_they_hide,
    ]
);

/// A linked list: `1`, `2` and `3`, each with the key of the next one.
async fn linked() -> Client {
    let client = client().await;
    client
        .insert("1", r#"{"n": "one", "next": 2, "at": [{"of": "3"}]}"#)
        .await;
    client.insert("2", r#"{"n": "two", "next": "3"}"#).await;
    client.insert("3", r#"{"n": "three"}"#).await;
    client
}

/// What a selection of the first document returns.
async fn first(client: &Client, selection: &str) -> Value {
    let query = format!("{{ document(id: 1) {{ document {{ {selection} }} }} }}");
    client.data(&query, NONE).await["document"]["document"].take()
}

async fn a_linked_list_is_read_in_its_order() {
    let client = linked().await;
    let found = first(
        &client,
        r#"follow(path: "/next") { key value(path: "/n") children(first: 1) { nodes { value } } follow(path: "/next") { key } }
        one: follow(path: "/next", first: 1) { key } none: follow(path: "/next", first: 0) { key }
        other: follow(path: "/at/0/of") { key } select(query: "$.at[0]") { document { follow(path: ["next"]) { key } } }"#,
    )
    .await;
    let expected = json!({
        "follow": [
            {"key": "2", "value": "two", "children": {"nodes": [{"value": "two"}]}, "follow": [{"key": "3"}]},
            {"key": "3", "value": "three", "children": {"nodes": [{"value": "three"}]}, "follow": []}
        ],
        "one": [{"key": "2"}],
        "none": [],
        "other": [{"key": "3"}],
        "select": [{"document": {"follow": [{"key": "2"}, {"key": "3"}]}}]
    });
    assert_eq!(found, expected);
    // Each step reads the beginning of a document and its key.
    client.renew_snapshot().await;
    let query = r#"{ document(id: 1) { document { follow(path: "/next") { key } } } }"#;
    let (_, cost) = client.cost(query, NONE).await;
    assert!(cost.ranges <= 2 + 2 * 2 + 2, "{cost:?}");
    assert_eq!(cost.transactions, 1);
}

async fn follow_ends_at_what_is_no_key() {
    let client = linked().await;
    for end in [
        "null",
        "true",
        "1.5",
        "{}",
        "[1]",
        "\"\"",
        "\"nothing\"",
        "99",
        "\"\\\"3\\\"\"",
        "3.5e300",
    ] {
        client
            .mutate(r#"replaceDocument(id: 2, document: {n: "two"}) { key }"#)
            .await;
        let query = "mutation($d: JSON) { mergeDocument(id: 2, patch: $d) { key } }";
        client
            .data(query, format!(r#"{{"d": {{"next": {end}}}}}"#))
            .await;
        let found = first(&client, r#"follow(path: "/next") { key }"#).await;
        assert_eq!(found, json!({"follow": [{"key": "2"}]}), "{end}");
    }
    // A ring.
    client
        .mutate(r#"replaceDocument(id: 2, document: {next: 1}) { key }"#)
        .await;
    let found = first(&client, r#"follow(path: "/next") { key }"#).await;
    assert_eq!(found, json!({"follow": [{"key": "2"}]}));
}

/// A step of all documents of a page reads each document once.
async fn documents_of_pages_are_followed_together() {
    let client = linked().await;
    for key in 10..30 {
        client.insert(&key.to_string(), r#"{"next": 2}"#).await;
    }
    client.renew_snapshot().await;
    let query = r#"{ documents(keys: {gte: 10}) { nodes { follow(path: "/next") { key } } } }"#;
    let (data, cost) = client.cost(query, NONE).await;
    let nodes = data["documents"]["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 20);
    for node in nodes {
        assert_eq!(*node, json!({"follow": [{"key": "2"}, {"key": "3"}]}));
    }
    client.renew_snapshot().await;
    let query = r#"{ documents(keys: {gte: 10}) { nodes { value(path: "/next") } } }"#;
    let (_, page) = client.cost(query, NONE).await;
    assert!(cost.ranges <= page.ranges + 4, "{cost:?} {page:?}");
}

async fn follow_crosses_collections() {
    let client = linked().await;
    client
        .mutate(
            r#"a: insertDocument(collection: "pages", id: 2, document: {title: "T", next: "x"}) { key }
            b: insertDocument(collection: "pages", id: "x", document: {title: "X"}) { key }"#,
        )
        .await;
    let found = first(
        &client,
        r#"follow(path: "/next", collection: "pages") { collection key value(path: "/title") }"#,
    )
    .await;
    let expected = json!({"follow": [
        {"collection": "pages", "key": "2", "value": "T"}, {"collection": "pages", "key": "x", "value": "X"}
    ]});
    assert_eq!(found, expected);
    let query =
        r#"{ document(id: 1) { document { follow(path: "/next", collection: "") { key } } } }"#;
    assert_eq!(client.error(query, NONE).await.0, "BAD_USER_INPUT");
}

async fn the_number_is_bounded() {
    let client = client().await;
    for at in 0..FOLLOWED_DOCUMENTS_MAX + 5 {
        client
            .insert(&at.to_string(), json!({"next": at + 1}))
            .await;
    }
    let query = r#"query($n: Int) { document(id: 0) { document { follow(path: "/next", first: $n) { key } } } }"#;
    for (given, expected) in [
        (json!(null), FOLLOWED_DOCUMENTS_MAX),
        (json!(3), 3),
        (json!(100), 100),
    ] {
        let data = client.data(query, json!({"n": given})).await;
        let found = data["document"]["document"]["follow"]
            .as_array()
            .map(Vec::len);
        assert_eq!(found, Some(expected), "{given}");
    }
    for first in [-1, 101] {
        let response = client.ask(query, json!({"n": first})).await;
        assert_eq!(only_error(&response).0, "BAD_USER_INPUT", "{response}");
    }
}

async fn rules_end_a_walk_at_what_they_hide() {
    let client = linked().await;
    let rules = r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "D"
        id = "1"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "D"
        id = "2"
        "#;
    let hidden = limited(&client, rules).await;
    let found = first(
        &hidden,
        r#"follow(path: "/next") { key value(path: "/n") }"#,
    )
    .await;
    assert_eq!(found, json!({"follow": [{"key": "2", "value": "two"}]}));
    let rules = r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "D"
        path = "/next"
        "#;
    let part = limited(&client, rules).await;
    let query =
        r#"{ document(id: 1, path: "/next") { document { follow(path: "/next") { key } } } }"#;
    assert_eq!(part.error(query, NONE).await.0, "FORBIDDEN");
}
