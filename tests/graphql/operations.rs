//! The cache of parsed and validated operations.

use serde_json::json;

use super::support::{Client, NONE, client, parse};

cases!(
    async [
        cached_queries_use_the_variables_of_each_request,
        cached_queries_use_the_operation_name_of_each_request,
        operation_name_must_match_the_only_operation,
        invalid_queries_are_rejected_every_time,
        similar_queries_are_different_operations,
        conditions_use_the_default_of_their_variable,
        directives_on_typename_are_validated,
    ]
    threads [
        more_operations_than_the_cache_holds_are_executed,
    ]
);

async fn two() -> Client {
    let client = client().await;
    client.insert("1", r#"{"a": 1}"#).await;
    client.insert("2", r#"{"a": 2}"#).await;
    client
}

async fn cached_queries_use_the_variables_of_each_request() {
    let client = two().await;
    let query = "query($id: ID!, $p: Path, $more: Boolean = false) { document(id: $id, path: $p) { value kind @include(if: $more) } }";
    for _ in 0..2 {
        for (variables, expected) in [
            (r#"{"id": 1}"#, json!({"value": {"a": 1}})),
            (r#"{"id": 2, "p": "/a"}"#, json!({"value": 2})),
            (
                r#"{"id": 1, "p": ["a"], "more": true}"#,
                json!({"value": 1, "kind": "NUMBER"}),
            ),
            (r#"{"id": 3, "more": true}"#, json!(null)),
        ] {
            assert_eq!(client.data(query, variables).await["document"], expected);
        }
        assert!(client.error(query, NONE).await.1.contains("$id"));
    }
}

async fn cached_queries_use_the_operation_name_of_each_request() {
    let client = two().await;
    let query = r#"
        query A($p: Path) { document(id: 1, path: $p) { ...F } }
        query B($p: Path!) { document(id: 2) { subdocument(path: $p) { ...F } } }
        mutation C { insertDocument(id: 3, document: 3) { key } }
        fragment F on Subdocument { value }
    "#;
    for round in 0..2 {
        let a = client.named(query, Some("A"), NONE).await;
        assert_eq!(
            a,
            (
                true,
                r#"{"data":{"document":{"value":{"a":1}}}}"#.to_owned()
            )
        );
        let b = client.named(query, Some("B"), r#"{"p": "/a"}"#).await;
        assert_eq!(
            b,
            (
                true,
                r#"{"data":{"document":{"subdocument":{"value":2}}}}"#.to_owned()
            )
        );
        let (executed, c) = client.named(query, Some("C"), NONE).await;
        assert!(executed);
        assert_eq!(c.contains("ALREADY_EXISTS"), round == 1, "{c}");
        for name in [None, Some("D"), Some("a"), Some(""), Some("F")] {
            let (executed, refused) = client.named(query, name, NONE).await;
            assert!(
                !executed && refused.contains("BAD_USER_INPUT"),
                "{name:?}: {refused}"
            );
        }
        let (executed, refused) = client.named(query, Some("B"), NONE).await;
        assert!(!executed && refused.contains("$p"), "{refused}");
    }
}

async fn operation_name_must_match_the_only_operation() {
    let client = two().await;
    for (query, name, executed) in [
        ("{ __typename }", None, true),
        ("{ __typename }", Some("A"), false),
        ("query A { __typename }", None, true),
        ("query A { __typename }", Some("A"), true),
        ("query A { __typename }", Some("B"), false),
    ] {
        for _ in 0..2 {
            assert_eq!(
                client.named(query, name, NONE).await.0,
                executed,
                "{query} {name:?}"
            );
        }
    }
}

async fn invalid_queries_are_rejected_every_time() {
    let client = two().await;
    for query in [
        "{ document(id: 1) { nope } }",
        "{ document(id: 1",
        "query A { __typename } query B { nope }",
        "{ __typename } fragment F on Query { __typename }",
    ] {
        let first = client.named(query, None, NONE).await;
        assert!(!first.0, "{query}");
        assert_eq!(client.named(query, None, NONE).await, first);
        assert!(!client.named(query, Some("A"), NONE).await.0);
    }
}

async fn similar_queries_are_different_operations() {
    let client = two().await;
    for (query, value) in [
        ("{ document(id: 1) { value(path: \"/a\") } }", json!(1)),
        ("{ document(id: 2) { value(path: \"/a\") } }", json!(2)),
        ("{ document(id: 1) { value(path: \"/b\") } }", json!(null)),
        ("{ document(id: 1) { value: kind } }", json!("OBJECT")),
        ("{document(id: 1) { value(path: \"/a\") } }", json!(1)),
    ] {
        for _ in 0..2 {
            assert_eq!(
                client.data(query, NONE).await["document"]["value"],
                value,
                "{query}"
            );
        }
    }
}

async fn more_operations_than_the_cache_holds_are_executed() {
    let client = two().await;
    let tasks = [0, 1].map(|half| {
        let client = client.clone();
        tokio::spawn(async move {
            for at in 0..1_500 {
                let query = format!(
                    "{{ a{at}: document(id: {}) {{ value(path: \"/a\") }} }}",
                    1 + (at + half) % 2
                );
                let (_, text) = client.named(&query, None, NONE).await;
                let expected = json!({"value": 1 + (at + half) % 2});
                assert_eq!(parse(&text)["data"][format!("a{at}")], expected);
            }
        })
    });
    for task in tasks {
        task.await.expect("all are answered");
    }
}

async fn conditions_use_the_default_of_their_variable() {
    let client = two().await;
    let query = "query($yes: Boolean = true, $no: Boolean = false) { document(id: 1) { kind @include(if: $yes) path @skip(if: $no) value @skip(if: $yes) } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["document"], json!({"kind": "OBJECT", "path": []}));
    let data = client.data(query, r#"{"yes": false, "no": true}"#).await;
    assert_eq!(data["document"], json!({"value": {"a": 1}}));
}

async fn directives_on_typename_are_validated() {
    let client = two().await;
    let used = "query($a: Boolean!) { __typename @skip(if: $a) ...F } fragment F on Query { document(id: 1) { kind __typename @include(if: $a) } collections { name } }";
    for (flag, expected) in [
        (
            true,
            json!({"document": {"kind": "OBJECT", "__typename": "Subdocument"}, "collections": [{"name": "D"}]}),
        ),
        (
            false,
            json!({"__typename": "Query", "document": {"kind": "OBJECT"}, "collections": [{"name": "D"}]}),
        ),
    ] {
        let variables = json!({"a": flag});
        assert_eq!(client.data(used, &variables).await, expected);
        let planned = used.replace(" collections { name }", "");
        let mut expected = expected;
        expected
            .as_object_mut()
            .expect("data")
            .remove("collections");
        assert_eq!(client.data(&planned, &variables).await, expected);
    }
    for wrong in [
        "{ __typename @skip(if: $a) }",
        "{ document(id: 1) { __typename @include(if: 1) } }",
        "{ __typename @include }",
        "{ __typename @nothing }",
    ] {
        let response = client.ask(wrong, NONE).await;
        assert_eq!(response.get("data"), None, "{wrong}: {response}");
        let at = &response["errors"][0]["locations"][0];
        assert!(at["column"].as_u64() > Some(2), "{wrong}: {response}");
    }
}
