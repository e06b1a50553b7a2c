//! The cost of queries in the store: one snapshot, and no overlapping ranges.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::json;

use super::support::{Counts, NONE, client};

cases!(
    async [
        paths_of_one_document_share_a_snapshot_and_overlapping_ranges_are_merged,
        all_fields_of_a_document_are_read_in_one_round,
        variables_are_planned_like_literals,
        several_documents_of_one_request_share_a_snapshot,
        constant_queries_open_no_transaction,
        rejected_requests_do_not_access_the_store,
        kind_and_path_cost_one_pair_for_any_size,
        an_insert_and_its_selection_are_one_transaction,
    ]
);

const READ_ONCE: Counts = Counts {
    transactions: 1,
    gets: 0,
    ranges: 1,
    pairs: 1,
    writes: 0,
    commits: 0,
};

async fn paths_of_one_document_share_a_snapshot_and_overlapping_ranges_are_merged() {
    let client = client().await;
    let row = |a: usize| {
        let cells: Vec<_> = (0..10)
            .map(|b| json!({"n": a * 10 + b, "s": ["x", "y"]}))
            .collect();
        json!({"name": format!("row {a}"), "cells": cells})
    };
    let rows: Vec<_> = (0..10).map(row).collect();
    client.insert("1", json!({"rows": rows})).await;

    let mut paths: Vec<Vec<String>> = Vec::new();
    for at in 0..100_usize {
        let (row, cell) = (at * 7 % 10, at * 3 % 10);
        let mut path = vec!["rows".to_owned(), row.to_string()];
        if row % 3 > 0 || at % 5 > 0 {
            path.extend(["cells".to_owned(), cell.to_string()]);
        }
        match at % 4 {
            1 if path.len() == 4 => path.push("n".to_owned()),
            2 if path.len() == 4 => path.extend(["s".to_owned(), "1".to_owned()]),
            _ => {}
        }
        paths.push(path);
    }
    let mut query = String::from("{");
    for (at, path) in paths.iter().enumerate() {
        // In list form, because a digit token of a JSON Pointer needs two ranges.
        let segment = |segment: &String| {
            segment
                .parse::<u64>()
                .map_or(json!(segment), |index| json!(index))
        };
        let list = json!(path.iter().map(segment).collect::<Vec<_>>());
        write!(query, "a{at}: document(id: 1, path: {list}) {{ value }} ")
            .expect("a string takes all");
    }
    query.push('}');

    let distinct: BTreeSet<&Vec<String>> = paths.iter().collect();
    let inside = |path: &&&Vec<String>| {
        distinct
            .iter()
            .any(|other| other.len() < path.len() && path.starts_with(other))
    };
    let disjoint = distinct.iter().filter(|path| !inside(path)).count();
    assert!(
        distinct.len() < 100 && disjoint < distinct.len(),
        "some are the same, some inside others"
    );

    let (data, cost) = client.cost(&query, NONE).await;
    assert_eq!((cost.transactions, cost.gets), (1, 0));
    assert_eq!(cost.ranges, disjoint as u64);
    let document = json!({"rows": rows});
    for (at, path) in paths.iter().enumerate() {
        let pointer = format!("/{}", path.join("/"));
        assert_eq!(
            Some(&data[format!("a{at}")]["value"]),
            document.pointer(&pointer),
            "{pointer}"
        );
    }
}

async fn all_fields_of_a_document_are_read_in_one_round() {
    let client = client().await;
    client.insert("1", r#"{"a": {"b": [1, 2]}, "c": 3}"#).await;
    for (query, ranges, gets) in [
        ("{ document(id: 1) { kind } }", 1, 0),
        ("{ document(id: 1) { value } }", 1, 0),
        ("{ document(id: 1) { value kind version } }", 1, 1),
        (
            "{ document(id: 1) { value kind version subdocument(path: \"/a\") { value kind subdocument(path: \"/b\") { value } } } }",
            1,
            1,
        ),
        // The whole document is read once, even if several fields read parts of it.
        (
            "{ document(id: 1, path: \"/a\") { kind document { value version } } }",
            1,
            1,
        ),
        (
            "{ a: document(id: 1) { version } b: document(id: 1) { version value } }",
            1,
            1,
        ),
        (
            "{ document(id: 1) { ...F } } fragment F on Subdocument { value ...G } fragment G on Subdocument { version subdocument(path: [\"a\"]) { kind } }",
            1,
            1,
        ),
    ] {
        let (_, cost) = client.cost(query, NONE).await;
        assert_eq!(
            (cost.transactions, cost.ranges, cost.gets),
            (1, ranges, gets),
            "{query}"
        );
    }
}

async fn variables_are_planned_like_literals() {
    let client = client().await;
    client.insert("1", r#"{"a": {"b": [1, 2]}, "c": 3}"#).await;
    let query = "query($p: Path!, $q: Path = [\"b\"]) { document(id: 1, path: $p) { value subdocument(path: $q) { value kind } } }";
    let (data, cost) = client.cost(query, json!({"p": ["a"]})).await;
    assert_eq!(data["document"]["subdocument"]["value"], json!([1, 2]));
    assert_eq!((cost.transactions, cost.ranges), (1, 1));
}

async fn several_documents_of_one_request_share_a_snapshot() {
    let client = client().await.without_hints();
    for id in ["1", "2", "3"] {
        client.insert(id, r#"{"a": 1}"#).await;
    }
    let query = "{ a: document(id: 1) { value } b: document(id: 2) { value } c: document(id: 3) { value } d: document(id: 4) { value } collections { count } }";
    let (_, cost) = client.cost(query, NONE).await;
    assert_eq!((cost.transactions, cost.ranges), (1, 5));
}

async fn constant_queries_open_no_transaction() {
    let client = client().await;
    for query in [
        "{ __typename }",
        "{ __schema { queryType { name } types { name fields { name } } } }",
        "{ __type(name: \"Document\") { name } }",
        "{ _service { sdl } }",
        "{ document(id: 1) @skip(if: true) { value } }",
    ] {
        let (_, cost) = client.cost(query, NONE).await;
        assert_eq!(cost, Counts::default(), "{query}");
    }
}

async fn rejected_requests_do_not_access_the_store() {
    let client = client().await;
    let before = client.counts();
    for (query, variables) in [
        ("{ nothing }", "{}"),
        ("not GraphQL", "{}"),
        ("query($id: ID!) { document(id: $id) { kind } }", "{}"),
        (
            "mutation($d: JSON!) { insertDocument(document: $d) { key } }",
            "{\"d\": null}",
        ),
        ("{ document(id: \"\") { kind } }", "{}"),
        ("{ document(id: 1, path: [1.5]) { kind } }", "{}"),
        ("{ document(id: 1, collection: \"\") { kind } }", "{}"),
    ] {
        client.ask(query, variables).await;
        assert_eq!(client.counts(), before, "{query}");
    }
}

async fn kind_and_path_cost_one_pair_for_any_size() {
    let client = client().await;
    let numbers: Vec<u32> = (0..5_000).collect();
    client.insert("1", json!({"numbers": numbers})).await;
    for query in [
        "{ document(id: 1) { kind } }",
        "{ document(id: 1, path: [\"numbers\"]) { path kind document { key } } }",
    ] {
        let (_, cost) = client.cost(query, NONE).await;
        assert_eq!(cost, READ_ONCE, "{query}");
    }
    let (data, cost) = client
        .cost(
            "{ document(id: 1) { subdocument(path: [\"numbers\", 4999]) { value } } }",
            NONE,
        )
        .await;
    assert_eq!(data["document"]["subdocument"]["value"], json!(4_999));
    assert_eq!((cost.ranges, cost.pairs), (2, 2));
}

async fn an_insert_and_its_selection_are_one_transaction() {
    let client = client().await;
    let query = "mutation { insertDocument(id: 1, document: {a: [1, 2]}) { key version kind value subdocument(path: \"/a\") { value } } }";
    let (_, cost) = client.cost(query, NONE).await;
    assert_eq!((cost.transactions, cost.commits), (1, 1));
}

/// The cost of a change in a document of 1,000 members and an array of 1,000 elements, each with
/// several leaves.
#[tokio::test]
async fn cost_of_a_change_does_not_depend_on_the_document_size() {
    crate::checked::begin();
    let client = client().await;
    let row = |n: usize| json!({"a": n, "b": [n, {"c": "x"}]});
    let members: serde_json::Map<_, _> = (0..1000).map(|n| (format!("m{n:04}"), row(n))).collect();
    let elements: Vec<_> = (0..1000).map(row).collect();
    let document =
        json!({"members": members, "list": elements, "flat": (0..1000).collect::<Vec<_>>()});
    client.insert("1", &document).await;
    // One range reads the indexes of the collection, which has none.
    let indexes = 1;
    // The existence and the format of the store are one get each, and the version is one write. The
    // other writes are the leaves, and replacements of markers.
    for (what, ranges_max, pairs_max, writes_max) in [
        // Its own range.
        (
            r#"replaceDocument(id: 1, path: ["members", "m0500", "a"], document: 7) { key }"#,
            1,
            1,
            2,
        ),
        (
            r#"replaceDocument(id: 1, path: ["members", "m0500"], document: {a: 8, b: [500, {c: "x"}]}) { key }"#,
            2,
            5,
            2,
        ),
        (
            r#"incrementDocument(id: 1, path: ["list", 500, "a"]) { key }"#,
            1,
            1,
            2,
        ),
        // A new member: its own path and one key next to it.
        (
            r#"replaceDocument(id: 1, path: ["members", "new"], document: 7) { key }"#,
            2,
            1,
            2,
        ),
        // A removed member: its own path and one key next to it.
        (
            r#"deleteDocument(id: 1, path: ["members", "m0400"]) { deleted }"#,
            2,
            3,
            2,
        ),
        (
            r#"deleteDocument(id: 1, path: ["members", "m0401", "b", 1, "c"]) { deleted }"#,
            2,
            2,
            3,
        ),
        // An append: its own path, both as an index and as a key, and the last key of the array.
        (
            r#"replaceDocument(id: 1, path: "/list/-", document: 1) { key }"#,
            2,
            1,
            2,
        ),
        (
            r#"patchDocument(id: 1, patch: [{op: "add", path: "/flat/-", value: 1}]) { key }"#,
            4,
            4,
            2,
        ),
        // A removal: the renumbered elements.
        (
            r#"deleteDocument(id: 1, path: ["flat", 990]) { deleted }"#,
            4,
            24,
            14,
        ),
        // A merge: only the changed leaves.
        (
            r#"mergeDocument(id: 1, path: ["members", "m0700"], patch: {a: 700, b: [701, {c: "x"}]}) { key }"#,
            4,
            8,
            2,
        ),
        (
            r#"mergeDocument(id: 1, patch: {members: {m0701: {a: 1}, m0702: {b: null}}}) { key }"#,
            8,
            16,
            3,
        ),
    ] {
        let (_, cost) = client.cost(&format!("mutation {{ {what} }}"), NONE).await;
        assert_eq!(
            (cost.transactions, cost.commits, cost.gets),
            (1, 1, 2),
            "{what}"
        );
        assert!(cost.ranges <= ranges_max + indexes, "{what}: {cost:?}");
        assert!(cost.pairs <= pairs_max, "{what}: {cost:?}");
        assert!(cost.writes <= writes_max, "{what}: {cost:?}");
    }
    crate::checked::assert_sound().await;
}
