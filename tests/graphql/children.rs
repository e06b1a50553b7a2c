//! Pages of children.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, field_error, only_error};

cases!(
    async [
        large_arrays_are_paged_without_reading_all_elements,
        pages_return_every_child_once_in_storage_order,
        cursors_are_stable_under_concurrent_changes,
        cursors_of_another_path_are_rejected,
        empty_pages_report_whether_there_are_more_children,
        invalid_page_sizes_are_rejected_with_the_limit,
        large_children_are_skipped_and_split_strings_are_complete,
        nested_children_are_of_the_same_snapshot,
        bounds_select_members_by_name_and_elements_by_index,
        bounds_that_are_no_segments_are_rejected,
        cursors_of_other_bounds_are_rejected,
    ]
);

const PAGE: &str = "query($id: ID!, $p: Path, $first: Int, $after: String) {
    document(id: $id, path: $p) {
        children(first: $first, after: $after) {
            edges { cursor node { path } }
            nodes { value }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        }
    }
}";

async fn page(client: &Client, variables: Value) -> Value {
    client.data(PAGE, variables).await["document"]["children"].take()
}

/// The read limit of one transaction on engines that have one.
const ELEMENTS_BOUNDED: usize = 50_000;
const ELEMENTS: usize = 1_000_000;

async fn large_arrays_are_paged_without_reading_all_elements() {
    let client = client().await;
    let bounded = client.database.store().limits().transaction_bytes_max;
    let elements = bounded.map_or(ELEMENTS, |_| ELEMENTS_BOUNDED);
    let numbers: Vec<usize> = (0..elements).collect();
    client.insert("1", json!(numbers)).await;
    let query = "query($after: String) { document(id: 1) { children(first: 100, after: $after) { nodes { value } pageInfo { hasNextPage endCursor } } } }";
    let mut after = Value::Null;
    for page in 0..10 {
        let (data, cost) = client.cost(query, json!({"after": after})).await;
        let children = &data["document"]["children"];
        let values: Vec<usize> = (page * 100..(page + 1) * 100).collect();
        let nodes: Vec<Value> = values.iter().map(|value| json!({"value": value})).collect();
        assert_eq!(children["nodes"], json!(nodes));
        assert_eq!(children["pageInfo"]["hasNextPage"], json!(true));
        assert_eq!(
            (cost.transactions, cost.ranges),
            (1, 2),
            "the document's first pair, and the page"
        );
        assert_eq!(cost.pairs, 1 + 101);
        after = children["pageInfo"]["endCursor"].clone();
    }
}

async fn pages_return_every_child_once_in_storage_order() {
    let client = client().await;
    let members: Vec<String> = (0..57)
        .map(|at| format!("{:03}{}", at * 37 % 57, "é".repeat(at % 3)))
        .collect();
    let object: Value = members
        .iter()
        .map(|name| (name.clone(), json!({"name": name, "more": [1, 2, 3]})))
        .collect();
    client.insert("1", json!({"inside": object})).await;
    let mut sorted = members.clone();
    sorted.sort();
    for first in [1, 2, 7, 56, 57, 58] {
        let (mut names, mut after, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let children = page(
                &client,
                json!({"id": 1, "p": ["inside"], "first": first, "after": after}),
            )
            .await;
            let info = &children["pageInfo"];
            let edges = children["edges"].as_array().expect("edges");
            names.extend(
                children["nodes"]
                    .as_array()
                    .expect("nodes")
                    .iter()
                    .map(|node| node["value"]["name"].as_str().expect("a name").to_owned()),
            );
            assert_eq!(info["hasPreviousPage"], json!(pages > 0));
            assert_eq!(info["startCursor"], edges[0]["cursor"]);
            assert_eq!(info["endCursor"], edges[edges.len() - 1]["cursor"]);
            after = info["endCursor"].clone();
            pages += 1;
            if info["hasNextPage"] == json!(false) {
                break;
            }
        }
        assert_eq!(names, sorted, "{first} at a time");
        assert_eq!(pages, 57_usize.div_ceil(first));
    }
}

async fn cursors_are_stable_under_concurrent_changes() {
    let client = client().await;
    client.insert("1", r#"{"b": 1, "d": 2, "f": 3}"#).await;
    let one = page(&client, json!({"id": 1, "first": 1})).await;
    assert_eq!(one, page(&client, json!({"id": 1, "first": 1})).await);
    let after = one["pageInfo"]["endCursor"].clone();
    let rest = page(&client, json!({"id": 1, "after": after})).await;
    assert_eq!(rest["nodes"], json!([{"value": 2}, {"value": 3}]));
}

async fn cursors_of_another_path_are_rejected() {
    let client = client().await;
    client.insert("1", r#"{"a": [1, 2], "b": [1, 2]}"#).await;
    client.insert("2", r#"{"a": [1, 2]}"#).await;
    let of_a = page(&client, json!({"id": 1, "p": ["a"], "first": 1})).await;
    let cursor = of_a["pageInfo"]["endCursor"]
        .as_str()
        .expect("a cursor")
        .to_owned();
    for variables in [
        json!({"id": 1, "p": ["b"], "after": cursor}),
        json!({"id": 1, "p": [], "after": cursor}),
        json!({"id": 2, "p": ["a"], "after": cursor}),
        json!({"id": 1, "p": ["a"], "after": ""}),
        json!({"id": 1, "p": ["a"], "after": "x"}),
        json!({"id": 1, "p": ["a"], "after": "é"}),
        json!({"id": 1, "p": ["a"], "after": &cursor[..cursor.len() - 2]}),
        json!({"id": 1, "p": ["a"], "after": format!("{cursor}00")}),
        json!({"id": 1, "p": ["a"], "after": &cursor[..16]}),
    ] {
        let response = client.ask(PAGE, &variables).await;
        assert_eq!(field_error(&response), "BAD_USER_INPUT", "{variables}");
    }
    client.assert_serves().await;
}

async fn empty_pages_report_whether_there_are_more_children() {
    let client = client().await;
    client
        .insert("1", r#"{"a": [1], "b": [], "c": 3, "d": "text"}"#)
        .await;
    for (path, more) in [("/a", true), ("/b", false), ("/c", false), ("/d", false)] {
        let children = page(&client, json!({"id": 1, "p": path, "first": 0})).await;
        let info = json!({"hasNextPage": more, "hasPreviousPage": false, "startCursor": null, "endCursor": null});
        assert_eq!(
            children,
            json!({"edges": [], "nodes": [], "pageInfo": info}),
            "{path}"
        );
    }
}

async fn invalid_page_sizes_are_rejected_with_the_limit() {
    let client = client().await;
    client.insert("1", "[1]").await;
    for first in ["-1", "-2147483648", "10001", "2147483647"] {
        let response = client
            .ask(PAGE, format!(r#"{{"id": 1, "first": {first}}}"#))
            .await;
        let (code, message) = only_error(&response);
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(
            message.contains(first) && message.contains("10000"),
            "{message}"
        );
    }
    let response = client.ask(PAGE, r#"{"id": 1, "first": 2147483648}"#).await;
    assert!(
        only_error(&response).1.contains("$first"),
        "no Int is that large"
    );
    client.assert_serves().await;
}

async fn large_children_are_skipped_and_split_strings_are_complete() {
    let client = client().await;
    let numbers: Vec<u32> = (0..3_000).collect();
    let long = "é".repeat(120_000);
    client
        .insert("1", json!({"a": numbers, "b": long, "c": 1}))
        .await;
    let query = "{ document(id: 1) { children { nodes { kind path } } } }";
    let (data, cost) = client.cost(query, NONE).await;
    let expected = json!([
        {"kind": "ARRAY", "path": ["a"]}, {"kind": "STRING", "path": ["b"]}, {"kind": "NUMBER", "path": ["c"]},
    ]);
    assert_eq!(data["document"]["children"]["nodes"], expected);
    assert!(cost.pairs < 400, "{} pairs were read", cost.pairs);
    let data = client
        .data("{ document(id: 1) { children { nodes { value } } } }", NONE)
        .await;
    let nodes = json!([{"value": numbers}, {"value": long}, {"value": 1}]);
    assert_eq!(data["document"]["children"]["nodes"], nodes);
}

async fn nested_children_are_of_the_same_snapshot() {
    let client = client().await;
    client.insert("1", r#"[[1, 2], [3], [], 4]"#).await;
    let query = "{ document(id: 1) { children { nodes { children { nodes { value path document { key } } } } } } }";
    let (data, cost) = client.cost(query, NONE).await;
    assert_eq!(cost.transactions, 1);
    let node = |value: u32, path: [u32; 2]| json!({"value": value, "path": path, "document": {"key": "1"}});
    let expected = json!([
        {"children": {"nodes": [node(1, [0, 0]), node(2, [0, 1])]}},
        {"children": {"nodes": [node(3, [1, 0])]}},
        {"children": {"nodes": []}},
        {"children": {"nodes": []}},
    ]);
    assert_eq!(data["document"]["children"]["nodes"], expected);
}

const BOUNDED: &str = "query($p: Path, $first: Int, $after: String, $last: Int, $before: String, $prefix: String, $from: PathSegment, $to: PathSegment) {
    document(id: 1, path: $p) {
        children(first: $first, after: $after, last: $last, before: $before, prefix: $prefix, from: $from, to: $to) {
            nodes { path }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        }
    }
}";

/// The last segments of the children on all pages of two, forwards or backwards.
async fn bounded(client: &Client, path: &str, bounds: &Value, backward: bool) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let (size, at) = if backward {
            ("last", "before")
        } else {
            ("first", "after")
        };
        let mut variables = bounds.clone();
        variables["p"] = json!(path);
        variables[size] = json!(2);
        variables[at] = cursor;
        let data = client.data(BOUNDED, variables).await;
        let page = &data["document"]["children"];
        let nodes = page["nodes"].as_array().expect("a list");
        let names = nodes.iter().map(|node| {
            let path = node["path"].as_array().expect("a path");
            path.last().expect("a child").clone()
        });
        if backward {
            found.splice(0..0, names);
        } else {
            found.extend(names);
        }
        let (more, next) = if backward {
            ("hasPreviousPage", "startCursor")
        } else {
            ("hasNextPage", "endCursor")
        };
        if page["pageInfo"][more] == json!(false) {
            return found;
        }
        cursor = page["pageInfo"][next].clone();
    }
}

async fn bounds_select_members_by_name_and_elements_by_index() {
    let client = client().await;
    let names = [
        "",
        "a",
        "a\u{0}",
        "a\u{0}b",
        "ab",
        "abc",
        "b",
        "ba",
        "é",
        "éa",
        "\u{10FFFF}",
    ];
    let members: Vec<(String, Value)> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"x": [1, 2]})))
        .collect();
    let members: serde_json::Map<_, _> = members.into_iter().collect();
    let elements: Vec<Value> = (0..300).map(|index| json!([index])).collect();
    client
        .insert(
            "1",
            json!({"o": members, "a": elements, "leaf": 1, "empty": {}}),
        )
        .await;
    let prefixes = ["", "a", "a\u{0}", "ab", "é", "x", "\u{10FFFF}"].map(Some);
    for prefix in prefixes.into_iter().chain([None]) {
        for from in names.iter().copied().map(Some).chain([Some("zz"), None]) {
            for to in [None, Some(""), Some("a\u{0}b"), Some("b"), Some("zz")] {
                let expected = names.iter().filter(|name| {
                    prefix.is_none_or(|prefix| name.starts_with(prefix))
                        && from.is_none_or(|from| **name >= from)
                        && to.is_none_or(|to| **name < to)
                });
                let expected: Vec<_> = expected.map(|name| json!(name)).collect();
                let bounds = json!({"prefix": prefix, "from": from, "to": to});
                for backward in [false, true] {
                    let found = bounded(&client, "/o", &bounds, backward).await;
                    assert_eq!(found, expected, "{bounds}, backward: {backward}");
                }
            }
        }
    }
    for (path, bounds, expected) in [
        (
            "/a",
            json!({"from": 254, "to": 257}),
            json!([254, 255, 256]),
        ),
        ("/a", json!({"to": 2}), json!([0, 1])),
        ("/a", json!({"from": 298}), json!([298, 299])),
        ("/a", json!({"from": 300}), json!([])),
        ("/a", json!({"from": 5, "to": 5}), json!([])),
        ("/a", json!({"from": 7, "to": 5}), json!([])),
        ("/a", json!({"from": ""}), json!([])),
        ("/a", json!({"to": "z"}), json!([])),
        ("/a", json!({"prefix": ""}), json!([])),
        ("/a", json!({"prefix": "", "from": 0}), json!([])),
        ("/o", json!({"from": 0}), json!([])),
        ("/o", json!({"to": 10}), json!([])),
        ("/leaf", json!({"from": 0}), json!([])),
        ("/leaf", json!({"prefix": ""}), json!([])),
        ("/empty", json!({"prefix": ""}), json!([])),
        ("/empty", json!({"from": 0}), json!([])),
    ] {
        for backward in [false, true] {
            let found = bounded(&client, path, &bounds, backward).await;
            assert_eq!(
                json!(found),
                expected,
                "{path} {bounds}, backward: {backward}"
            );
        }
    }
    let (_, cost) = client
        .cost(BOUNDED, json!({"p": "/a", "first": 2, "from": 200}))
        .await;
    assert_eq!(cost.pairs, 1 + 16, "one batch after the first pair");
}

async fn bounds_that_are_no_segments_are_rejected() {
    let client = client().await;
    client.insert("1", "{}").await;
    for bound in [
        json!(-1),
        json!(1.5),
        json!(true),
        json!([]),
        json!({"a": 1}),
    ] {
        let (code, message) = client.error(BOUNDED, json!({"from": bound})).await;
        assert_eq!(code, "BAD_USER_INPUT", "{bound}: {message}");
        let literal =
            format!("{{ document(id: 1) {{ children(to: {bound}) {{ nodes {{ kind }} }} }} }}")
                .replace("\"a\"", "a");
        let (code, message) = client.error(&literal, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{bound}: {message}");
    }
}

async fn cursors_of_other_bounds_are_rejected() {
    let client = client().await;
    client.insert("1", json!({"a": 1, "b": 2, "c": 3})).await;
    let first = client.data(BOUNDED, json!({"first": 1, "from": "a"})).await;
    let cursor = &first["document"]["children"]["pageInfo"]["endCursor"];
    let same = json!({"first": 1, "after": cursor, "from": "a"});
    client.data(BOUNDED, same).await;
    for other in [
        json!({"after": cursor}),
        json!({"after": cursor, "to": "a"}),
        json!({"after": cursor, "prefix": "a"}),
        json!({"after": cursor, "from": "b"}),
        json!({"after": cursor, "from": "a", "to": "z"}),
    ] {
        let response = client.ask(BOUNDED, other).await;
        assert_eq!(only_error(&response).0, "BAD_USER_INPUT");
    }
}
