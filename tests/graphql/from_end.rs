//! Paths with negative indexes, which count from the end of an array.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};

cases!(
    async [
        elements_are_counted_from_the_end,
        paths_of_one_request_are_resolved_together,
        mutations_change_the_element_that_is_there,
        places_that_an_array_lacks_are_reported,
        the_dash_of_a_deletion_proposes_a_negative_index,
    ]
    threads [concurrent_removals_of_the_last_element_remove_different_ones]
);

async fn queue() -> Client {
    let client = client().await;
    let document = json!({
        "queue": [{"n": [1, 2]}, {"n": []}, {"n": [3, [4, 5]]}],
        "7": ["x", "y"],
        "empty": [],
        "object": {"-1": "name"},
    });
    client.insert("1", document).await;
    client
}

async fn elements_are_counted_from_the_end() {
    let client = queue().await;
    let query = "query($p: Path!) { document(id: 1) { value(path: $p) subdocument(path: $p) { path id value } } }";
    for (path, place, value) in [
        (
            json!(["queue", -1, "n", 0]),
            json!(["queue", 2, "n", 0]),
            json!(3),
        ),
        (
            json!(["queue", -1, "n", -1, -2]),
            json!(["queue", 2, "n", 1, 0]),
            json!(4),
        ),
        (
            json!(["queue", -3]),
            json!(["queue", 0]),
            json!({"n": [1, 2]}),
        ),
        (
            json!(["queue", 0, "n", -1]),
            json!(["queue", 0, "n", 1]),
            json!(2),
        ),
        (json!(["7", -1]), json!(["7", 1]), json!("y")),
        (
            json!(["object", "-1"]),
            json!(["object", "-1"]),
            json!("name"),
        ),
    ] {
        let data = client.data(query, json!({"p": path})).await;
        let part = &data["document"]["subdocument"];
        assert_eq!((&part["path"], &part["value"]), (&place, &value), "{path}");
        assert_eq!(data["document"]["value"], value, "{path}");
        let root = "query($p: Path) { document(id: 1, path: $p) { path kind value select(query: \"$\") { path } } }";
        let data = client.data(root, json!({"p": path})).await;
        assert_eq!(data["document"]["path"], place, "{path}");
        assert_eq!(data["document"]["value"], value, "{path}");
        assert_eq!(
            data["document"]["select"],
            json!([{"path": place}]),
            "{path}"
        );
    }
    for nothing in [
        json!(["queue", -4]),
        json!(["queue", 1, "n", -1]),
        json!(["empty", -1]),
        json!(["object", -1]),
        json!(["object", "-1", -1]),
        json!(["missing", -1, "n"]),
        json!([-1]),
        json!(["queue", i64::MIN]),
    ] {
        let data = client.data(query, json!({"p": nothing})).await;
        let expected = json!({"value": null, "subdocument": null});
        assert_eq!(data["document"], expected, "{nothing}");
    }
    for invalid in [json!(["queue", -1.5]), json!(["queue", 1.0])] {
        let response = client.ask(query, json!({"p": invalid})).await;
        assert!(response.to_string().contains("INVALID_PATH"), "{invalid}");
    }
}

async fn paths_of_one_request_are_resolved_together() {
    let client = queue().await;
    // A plan executes the first query, and the general executor the second one.
    for more in ["", "select(query: \"$.object\") { kind }"] {
        let query = format!(
            "{{ document(id: 1) {{ a: value(path: [\"queue\", -1, \"n\", -2]) b: value(path: [\"queue\", -1, \"n\", 0]) \
             last: subdocument(path: [\"queue\", -1]) {{ value(path: \"/n/0\") other: value(path: [\"n\", -1, -1]) }} {more} }} }}"
        );
        let data = client.data(&query, NONE).await;
        let document = &data["document"];
        assert_eq!((&document["a"], &document["b"]), (&json!(3), &json!(3)));
        assert_eq!(document["last"], json!({"value": 3, "other": 5}));
    }
    let (_, cost) = client
        .cost(
            "{ document(id: 1, path: [\"queue\", -1, \"n\", 0]) { value } }",
            NONE,
        )
        .await;
    assert_eq!(
        (cost.transactions, cost.pairs),
        (1, 2),
        "a length and a value"
    );
}

async fn mutations_change_the_element_that_is_there() {
    for (mutation, after) in [
        (
            r#"deleteDocument(id: 1, path: ["queue", -1]) { deletedId value }"#,
            "[1,2]",
        ),
        (
            r#"deleteDocument(id: 1, path: ["queue", -3]) { deletedId }"#,
            "[2,[3,4]]",
        ),
        (
            r#"deleteDocument(id: 1, path: ["queue", -1, -1]) { deletedId }"#,
            "[1,2,[3]]",
        ),
        (
            r#"deleteDocument(id: 1, path: ["queue", -4]) { deletedId }"#,
            "[1,2,[3,4]]",
        ),
        (
            r#"replaceDocument(id: 1, path: ["queue", -2], document: 9) { key }"#,
            "[1,9,[3,4]]",
        ),
        (
            r#"incrementDocument(id: 1, path: ["queue", -1, -2]) { key }"#,
            "[1,2,[4,4]]",
        ),
        (
            r#"mergeDocument(id: 1, path: ["queue", -1], patch: {a: 1}) { key }"#,
            r#"[1,2,{"a":1}]"#,
        ),
        (
            r#"patchDocument(id: 1, path: ["queue", -1], patch: [{op: "add", path: "/-", value: 5}]) { key }"#,
            "[1,2,[3,4,5]]",
        ),
    ] {
        let client = client().await;
        client.insert("1", r#"{"queue":[1,2,[3,4]]}"#).await;
        client.mutate(mutation).await;
        assert_eq!(
            client.stored("1").await,
            format!(r#"{{"queue":{after}}}"#),
            "{mutation}"
        );
    }
    let client = queue().await;
    let both = "a: deleteDocument(id: 1, path: [\"queue\", -1]) { deletedId value } \
                b: deleteDocument(id: 1, path: [\"queue\", -1]) { deletedId value }";
    let data = client.mutate(both).await;
    assert_eq!(
        data,
        json!({
            "a": {"deletedId": "D/1#/queue/2", "value": {"n": [3, [4, 5]]}},
            "b": {"deletedId": "D/1#/queue/1", "value": {"n": []}},
        })
    );
}

async fn places_that_an_array_lacks_are_reported() {
    let client = queue().await;
    for (path, code, words) in [
        (
            "[\"queue\", -4]",
            "INVALID_PATH",
            "the index -4 is before the first element",
        ),
        (
            "[\"object\", -1]",
            "INVALID_PATH",
            "is an object, which has no element -1",
        ),
        (
            "[\"object\", \"-1\", -1]",
            "INVALID_PATH",
            "is neither an object nor an array",
        ),
        ("[\"missing\", -1]", "NOT_FOUND", "/missing"),
    ] {
        let mutation =
            format!("mutation {{ replaceDocument(id: 1, path: {path}, document: 1) {{ key }} }}");
        let (found, message) = client.error(&mutation, NONE).await;
        assert_eq!(found, code, "{path}: {message}");
        assert!(message.contains(words), "{path}: {message}");
    }
}

async fn the_dash_of_a_deletion_proposes_a_negative_index() {
    let client = queue().await;
    let response = client
        .ask(
            "mutation { deleteDocument(id: 1, path: \"/queue/-\") { deleted } }",
            NONE,
        )
        .await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "INVALID_PATH");
    assert!(message.contains("-1 in the list form"), "{message}");
    let data = client
        .mutate("deleteDocument(id: 1, path: \"/nothing/-\") { deleted }")
        .await;
    assert_eq!(data, json!({"deleteDocument": {"deleted": false}}));
}

async fn concurrent_removals_of_the_last_element_remove_different_ones() {
    const EACH: usize = 10;
    let client = client().await;
    let elements: Vec<usize> = (0..4 * EACH).collect();
    client.insert("1", json!({"queue": elements})).await;
    let remove = || async {
        let mut removed = Vec::new();
        for _ in 0..EACH {
            let data = client
                .mutate("deleteDocument(id: 1, path: [\"queue\", -1]) { value }")
                .await;
            removed.push(data["deleteDocument"]["value"].clone());
        }
        removed
    };
    let append = async {
        for at in 0..EACH {
            let field = format!(
                "replaceDocument(id: 1, path: \"/queue/-\", document: {}) {{ key }}",
                1_000 + at
            );
            client.mutate(&field).await;
        }
    };
    let (a, b, ()) = futures::join!(remove(), remove(), append);
    let left: Value = serde_json::from_str(&client.stored("1").await).expect("JSON");
    let left = left["queue"].as_array().expect("a list").iter().cloned();
    let all = a.into_iter().chain(b).chain(left);
    let mut all: Vec<u64> = all
        .map(|value| value.as_u64().expect("an integer"))
        .collect();
    all.sort_unstable();
    let expected = (0..4 * EACH as u64).chain(1_000..1_000 + EACH as u64);
    assert_eq!(
        all,
        expected.collect::<Vec<_>>(),
        "each is removed once or left"
    );
}
