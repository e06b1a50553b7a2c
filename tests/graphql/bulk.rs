//! `updateDocuments` and `deleteDocuments`.

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        matching_documents_get_the_value_at_every_selected_path,
        values_are_put_one_after_another,
        paths_without_a_place_and_equal_values_change_nothing,
        every_matching_document_is_deleted,
        documents_are_changed_by_their_keys,
        documents_are_changed_in_portions,
        filters_that_are_always_true_require_the_everything_flag,
        nothing_changes_if_one_document_cannot_be_changed,
        long_scans_are_rejected_with_an_index_suggestion,
        later_fields_see_the_changes_and_their_version,
    ]
    threads [
        concurrently_added_matching_documents_are_never_missed,
    ]
);

const TREE: [(&str, &str); 4] = [
    ("ragtime", r#"{"name":"Ragtime","ancestors":[]}"#),
    (
        "bop",
        r#"{"name":"Bop","ancestors":[{"_id":"ragtime","name":"Ragtime"}]}"#,
    ),
    (
        "modal",
        r#"{"name":"Modal","ancestors":[{"_id":"bop","name":"Bop"},{"_id":"ragtime","name":"Ragtime"}]}"#,
    ),
    (
        "free",
        r#"{"name":"Free","ancestors":[{"_id":"bop","name":"Bop"},{"_id":"ragtime","name":"Ragtime"}]}"#,
    ),
];

async fn tree() -> Client {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "ancestors", on: ["$.ancestors[*]._id"]) { state }"#)
        .await;
    for (id, document) in TREE {
        client.insert(id, document).await;
    }
    client
}

async fn update(client: &Client, filter: &str, set: &str) -> Value {
    let field = format!("updateDocuments(where: {filter}, set: {set}) {{ matched changed }}");
    client.mutate(&field).await["updateDocuments"].take()
}

async fn matching_documents_get_the_value_at_every_selected_path() {
    let client = tree().await;
    let done = update(
        &client,
        r#"{at: "$.ancestors[*]._id", eq: "bop"}"#,
        r#"[{at: "$.ancestors[?@._id == 'bop'].name", value: "BeBop"}]"#,
    )
    .await;
    assert_eq!(done, json!({"matched": 2, "changed": 2}));
    for id in ["modal", "free"] {
        let stored = client.stored(id).await;
        assert!(
            stored.contains(r#"[{"_id":"bop","name":"BeBop"},{"_id":"ragtime","name":"Ragtime"}]"#),
            "{stored}"
        );
    }
    assert!(client.stored("bop").await.contains(r#""name":"Bop""#));
    assert_eq!(client.check().await, []);
}

async fn values_are_put_one_after_another() {
    let client = client().await;
    client
        .insert("1", r#"{"a":{"b":1,"c":[1,{"b":2}]},"b":3}"#)
        .await;
    for (set, changed, expected) in [
        // A selected path inside another selected one is removed with it.
        (
            r#"[{at: "$..['a','b']", value: [0]}]"#,
            1,
            r#"{"a":[0],"b":[0]}"#,
        ),
        // A later value is put into the result of an earlier one.
        (
            r#"[{at: "$.a", value: {x: [1, 2]}}, {at: "$.a.x[-1]", value: {y: null}}]"#,
            1,
            r#"{"a":{"x":[1,{"y":null}]},"b":[0]}"#,
        ),
        (r#"[{at: "$.*", value: {}}]"#, 1, r#"{"a":{},"b":{}}"#),
        (r#"[{at: "$", value: 7}]"#, 1, "7"),
        (r#"[{at: "$", value: 7}]"#, 0, "7"),
        (r#"[{at: "$", value: null}]"#, 1, "null"),
    ] {
        let field = format!(
            "updateDocuments(where: {{}}, everything: true, set: {set}) {{ matched changed }}"
        );
        let done = client.mutate(&field).await["updateDocuments"].take();
        assert_eq!(done, json!({"matched": 1, "changed": changed}), "{set}");
        assert_eq!(client.stored("1").await, expected, "{set}");
    }
    assert_eq!(client.check().await, []);
}

async fn paths_without_a_place_and_equal_values_change_nothing() {
    let client = tree().await;
    let before = client
        .data("{ document(id: \"bop\") { version } }", NONE)
        .await;
    for set in [
        r#"[{at: "$..slug", value: "x"}]"#,
        r#"[{at: "$.ancestors[7].name", value: "x"}]"#,
        r#"[{at: "$.name", value: "Bop"}]"#,
    ] {
        let done = update(&client, r#"{at: "$.name", eq: "Bop"}"#, set).await;
        assert_eq!(done, json!({"matched": 1, "changed": 0}), "{set}");
    }
    let after = client
        .data("{ document(id: \"bop\") { version } }", NONE)
        .await;
    assert_eq!(after, before);
}

async fn every_matching_document_is_deleted() {
    let client = tree().await;
    let done = client
        .mutate(
            r#"a: deleteDocuments(where: {at: "$.ancestors[*]._id", eq: "bop"}) { matched changed }
               b: deleteDocuments(where: {at: "$.ancestors[*]._id", eq: "bop"}) { matched changed }
               c: deleteDocuments(collection: "E", where: {}, everything: true) { matched changed }"#,
        )
        .await;
    assert_eq!(done["a"], json!({"matched": 2, "changed": 2}));
    assert_eq!(done["b"], json!({"matched": 0, "changed": 0}));
    assert_eq!(done["c"], json!({"matched": 0, "changed": 0}));
    let collections = client.data("{ collections { count } }", NONE).await;
    assert_eq!(collections["collections"], json!([{"count": 2}]));
    let all = client
        .mutate("deleteDocuments(where: {}, everything: true) { matched changed }")
        .await;
    assert_eq!(all["deleteDocuments"], json!({"matched": 2, "changed": 2}));
    assert_eq!(client.check().await, []);
}

async fn documents_are_changed_by_their_keys() {
    let client = tree().await;
    let done = client
        .mutate(
            r#"a: updateDocuments(where: {}, keys: {prefix: "r"}, set: [{at: "$.n", value: 1}]) { changed }
               b: updateDocuments(where: {at: "$.ancestors[*]._id", eq: "bop"}, keys: {in: ["bop", "free"]},
                   set: [{at: "$.n", value: 2}]) { changed }
               c: deleteDocuments(where: {at: "$.n", exists: true}, keys: {lt: "g"}) { changed }
               d: deleteDocuments(where: {}, keys: {in: ["modal", "none"]}) { changed }"#,
        )
        .await;
    for field in ["a", "b", "c", "d"] {
        assert_eq!(done[field], json!({"changed": 1}), "{field}");
    }
    let left = client.data("{ documents { nodes { key } } }", NONE).await;
    let left = &left["documents"]["nodes"];
    assert_eq!(*left, json!([{"key": "bop"}, {"key": "ragtime"}]));
    // The empty set of tests is every key.
    let query = "mutation { deleteDocuments(where: {}, keys: {}) { changed } }";
    let (code, _) = client.error(query, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
}

async fn documents_are_changed_in_portions() {
    let client = tree().await;
    let portion = |after: &'static str| {
        let (client, filter) = (&client, r#"{not: {at: "$.name", eq: "Bop"}}"#);
        async move {
            let field = format!(
                "updateDocuments(where: {filter}, first: 3{after}, increment: [{{at: \"$.n\"}}]) \
                 {{ matched changed examined next }}"
            );
            client.mutate(&field).await["updateDocuments"].take()
        }
    };
    let expected = json!({"matched": 2, "changed": 2, "examined": 3, "next": "modal"});
    assert_eq!(portion("").await, expected);
    let expected = json!({"matched": 1, "changed": 1, "examined": 1, "next": null});
    assert_eq!(portion(", after: \"modal\"").await, expected);
    let whole = client
        .mutate("deleteDocuments(where: {}, everything: true, first: 1) { changed examined next }")
        .await["deleteDocuments"]
        .take();
    assert_eq!(whole, json!({"changed": 1, "examined": 1, "next": "bop"}));
    for arguments in [
        "first: 0",
        "first: 10001",
        "after: \"bop\"",
        "first: 1, keys: {prefix: \"b\"}",
    ] {
        let query = format!(
            "mutation {{ deleteDocuments(where: {{}}, everything: true, {arguments}) {{ changed }} }}"
        );
        let (code, _) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{arguments}");
    }
    assert_eq!(client.check().await, []);
}

async fn filters_that_are_always_true_require_the_everything_flag() {
    let client = tree().await;
    for (filter, told) in [
        ("{}", "the filter is empty"),
        ("{all: []}", "the filter is empty"),
        ("{all: [{}, {all: [{}]}]}", "the filter is empty"),
        ("{not: {any: []}}", "the filter is always true"),
        ("{not: {not: {}}}", "the filter is always true"),
        (r#"{not: {at: "$.a", in: []}}"#, "the filter is always true"),
        (
            r#"{any: [{at: "$.a", eq: 1}, {}]}"#,
            "the filter is always true",
        ),
        (r#"{at: "$", exists: true}"#, "the filter is always true"),
        (
            r#"{any: [{at: "$.a", exists: true}, {at: "$.a", exists: false}]}"#,
            "the filter is always true",
        ),
    ] {
        for keys in ["", ", keys: {}"] {
            for field in [
                format!("deleteDocuments(where: {filter}{keys})"),
                format!(
                    r#"updateDocuments(where: {filter}{keys}, set: [{{at: "$.name", value: 1}}])"#
                ),
            ] {
                let mutation = format!("mutation {{ {field} {{ changed }} }}");
                let (code, message) = client.error(&mutation, NONE).await;
                assert_eq!(code, "BAD_USER_INPUT", "{field}");
                assert!(
                    message.contains(told) && message.contains("everything: true"),
                    "{field}: {message}"
                );
            }
        }
    }
    let none = client
        .mutate(r#"deleteDocuments(where: {not: {}}) { changed }"#)
        .await;
    assert_eq!(none["deleteDocuments"]["changed"], 0);
    let none = client
        .mutate(r#"deleteDocuments(where: {not: {any: []}}, keys: {gt: "~"}) { changed }"#)
        .await;
    assert_eq!(none["deleteDocuments"]["changed"], 0);
    for (field, told) in [
        (
            r#"updateDocuments(where: {at: "$.a", eq: 1}, set: [{at: "$.", value: 1}]) { changed }"#,
            "JSONPath",
        ),
        (
            r#"updateDocuments(where: {at: "$.a", eq: 1}, set: [{at: "$.a"}]) { changed }"#,
            "`value`",
        ),
        (
            r#"updateDocuments(collection: "", where: {at: "$.a", eq: 1}, unset: ["$.b"]) { changed }"#,
            "empty",
        ),
    ] {
        let (code, message) = client.error(&format!("mutation {{ {field} }}"), NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{field}: {message}");
        assert!(message.contains(told), "{field}: {message}");
    }
    assert_eq!(
        client.stored("ragtime").await,
        r#"{"ancestors":[],"name":"Ragtime"}"#
    );
}

async fn nothing_changes_if_one_document_cannot_be_changed() {
    let client = tree().await;
    client
        .mutate(r#"createIndex(name: "name", on: ["$.name"]) { state }"#)
        .await;
    client.build().await;
    let long = "x".repeat(20_000);
    let query = format!(
        r#"mutation {{
            first: replaceDocument(id: "ragtime", path: "/name", document: "R") {{ key }}
            updateDocuments(
                where: {{at: "$.name", exists: true}},
                set: [{{at: "$.name", value: "{long}"}}]
            ) {{ changed }}
        }}"#
    );
    let (code, message) = client.error(&query, NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.starts_with("the document bop"), "{message:.200}");
    for (id, _) in TREE {
        assert!(!client.stored(id).await.contains("xx"), "{id}");
    }
    assert!(client.stored("ragtime").await.contains("Ragtime"));
    assert_eq!(client.check().await, []);
}

async fn long_scans_are_rejected_with_an_index_suggestion() {
    let client = client().await;
    for some in (0..10_100).collect::<Vec<_>>().chunks(500) {
        let fields = some
            .iter()
            .map(|id| format!("i{id}: insertDocument(id: {id}, document: {{n: {id}}}) {{ key }} "));
        client.mutate(&fields.collect::<String>()).await;
    }
    let query = r#"mutation { deleteDocuments(where: {at: "$.n", gte: 10099}) { changed } }"#;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "TOO_COMPLEX", "{message}");
    assert!(message.contains("createIndex"), "{message}");
    assert!(message.contains("$.n"), "{message}");
    assert!(message.contains("fewer documents"), "{message}");
    assert!(!message.contains("scanLimit"), "{message}");
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    client.build().await;
    let done = client
        .mutate(r#"deleteDocuments(where: {at: "$.n", gte: 10099}) { matched changed }"#)
        .await;
    assert_eq!(done["deleteDocuments"], json!({"matched": 1, "changed": 1}));
}

async fn later_fields_see_the_changes_and_their_version() {
    let client = tree().await;
    let before = client
        .data("{ document(id: \"bop\") { version } }", NONE)
        .await;
    let before = &before["document"]["version"];
    let query = format!(
        r#"mutation {{
            updateDocuments(where: {{at: "$.name", eq: "Bop"}}, set: [{{at: "$.name", value: "X"}}]) {{ changed }}
            mergeDocument(id: "bop", patch: {{y: 1}}, ifVersion: {before}) {{ version value }}
        }}"#
    );
    let data = client.data(&query, NONE).await;
    assert_eq!(data["mergeDocument"]["value"]["name"], "X");
    let version = &data["mergeDocument"]["version"];
    let after = client
        .data("{ document(id: \"bop\") { version } }", NONE)
        .await;
    assert_eq!(&after["document"]["version"], version);
    assert_ne!(version, before);
}

async fn concurrently_added_matching_documents_are_never_missed() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "of", on: ["$.of"]) { state }"#)
        .await;
    client.insert("owner", r#"{"name":0}"#).await;
    // Each writer copies the owner's name into a new document. The renamer renames the owner and
    // all copies. In any order, every copy has the owner's name at the end.
    let writers = (0..3).map(|writer| {
        let client = client.clone();
        tokio::spawn(async move {
            for round in 0..12 {
                loop {
                    let read = client
                        .data("{ document(id: \"owner\") { version value(path: \"/name\") } }", NONE)
                        .await;
                    let (name, version) = (&read["document"]["value"], &read["document"]["version"]);
                    let query = format!(
                        r#"mutation {{
                            replaceDocument(id: "owner", path: "/copies{writer}", document: {round}, ifVersion: {version}) {{ key }}
                            insertDocument(id: "{writer} {round}", document: {{of: "owner", name: {name}}}) {{ key }}
                        }}"#
                    );
                    let response = client.ask(&query, NONE).await;
                    if response.get("errors").is_none() {
                        break;
                    }
                    let code = &response["errors"][0]["extensions"]["code"];
                    assert!(code == "VERSION_MISMATCH" || code == "CONFLICT", "{response}");
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    for name in 1..15 {
        client
            .mutate(&format!(
                r#"a: replaceDocument(id: "owner", path: "/name", document: {name}) {{ key }}
                   b: updateDocuments(where: {{at: "$.of", eq: "owner"}}, set: [{{at: "$.name", value: {name}}}]) {{ changed }}"#
            ))
            .await;
    }
    for writer in writers {
        writer.await.expect("no writer fails");
    }
    let query = r#"{ documents(where: {at: "$.of", eq: "owner"}, first: 100) { nodes { value(path: "/name") } } }"#;
    let data = client.data(query, NONE).await;
    let nodes = data["documents"]["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 36);
    assert!(
        nodes.iter().all(|node| node["value"] == json!(14)),
        "{data}"
    );
    assert_eq!(client.check().await, []);
}
