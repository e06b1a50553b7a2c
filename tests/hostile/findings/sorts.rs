//! Sorts and groups without an index: of very many documents, and of long strings.

use std::fmt::Write;
use std::time::Duration;

use serde_json::json;

use super::super::client::{body, post};
use super::super::limits::Limits;
use super::super::server::alone;
use super::super::world::{index, wait_for_index};
use super::{BOUNDED, Case, Expected};

/// Documents with a number.
const DOCUMENTS: usize = 400_000;
/// Documents with a long string.
const LONG_DOCUMENTS: usize = 4_000;

/// Documents of which pages are read: more than a page has.
const PAGED_DOCUMENTS: usize = 12_000;
/// Documents with a long string of which pages are read.
const LONG_PAGED_DOCUMENTS: usize = 900;
/// The pages that one request finds at the same time.
const PAGES_AT_ONCE: usize = 32;

/// Limits that let a debug build examine all documents.
const WIDE: Limits = Limits {
    held_bytes: 64 << 20,
    request_time: Duration::from_secs(50),
    steps: 100_000_000,
    read_bytes: 1 << 30,
    ..Limits::LOW
};

/// Documents in JSON lines. The numbers of `n` are a permutation: 7,919 is a prime.
fn lines(documents: usize, text: &str) -> String {
    let mut lines = String::new();
    for id in 0..documents {
        let n = id * 7_919 % documents;
        writeln!(lines, "{{\"k\":{id},\"n\":{n},\"s\":\"{text}{n}\"}}")
            .expect("a string takes all");
    }
    lines
}

#[test]
fn eight_clients_sort_400_000_documents_within_the_memory() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(WIDE);
    case.server.import("many", &lines(DOCUMENTS, ""));
    let sort = |first: usize| {
        let query = format!(
            "{{ documents(collection: \"many\", orderBy: {{by: \"$.n\"}}, scanLimit: {DOCUMENTS}, \
             first: {first}) {{ nodes {{ value(path: \"/n\") }} }} }}"
        );
        post(&body(&query, "{}"))
    };
    let numbers = |first: usize| {
        let nodes: Vec<_> = (0..first).map(|n| json!({"value": n})).collect();
        json!({"documents": {"nodes": nodes}})
    };
    case.check("one sort", &[sort(10)], &Expected::Data(numbers(10)));
    let one_of = |first| Expected::RefusedOr(BOUNDED, numbers(first));
    case.check("8 sorts", &vec![sort(10); 8], &one_of(10));
    case.check(
        "8 sorts, large pages",
        &vec![sort(5_000); 8],
        &one_of(5_000),
    );
    let group = "{ aggregate(collection: \"many\", groupBy: [\"$.n\"], scanLimit: 1000000, first: 10) \
                 { groupCount } }";
    let groups = json!({"aggregate": {"groupCount": DOCUMENTS}});
    let request = post(&body(group, "{}"));
    case.check(
        "8 groupings",
        &vec![request; 8],
        &Expected::RefusedOr(BOUNDED, groups),
    );
    case.end();
}

#[test]
fn pages_count_while_they_are_found() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits {
        held_bytes: 64 << 20,
        ..Limits::LOW
    });
    case.server.import("many", &lines(PAGED_DOCUMENTS, ""));
    let long = lines(LONG_PAGED_DOCUMENTS, &"x".repeat(7_000));
    case.server.import("long", &long);
    for (collection, on) in [("many", "$.n"), ("long", "$.s"), ("long", "$.n")] {
        index(&mut case.server.client(), collection, on, on, false);
    }
    let mut client = case.server.client();
    let on_both = "mutation { createIndex(collection: \"long\", name: \"both\", on: [\"$.n\", \"$.s\"]) { name } }";
    client.data(on_both, &json!({}));
    wait_for_index(&mut client, "long", "both");
    // The pages of a request are found at the same time, and each is complete only when it has all its rows.
    let values: Vec<usize> = (0..LONG_PAGED_DOCUMENTS).collect();
    let variables = json!({ "values": values }).to_string();
    for (name, arguments) in [
        (
            "covered pages",
            "collection: \"many\", orderBy: {by: \"$.n\"}",
        ),
        ("pages by key", "collection: \"many\", keys: {gte: \"0\"}"),
        (
            "sorted pages",
            "collection: \"many\", orderBy: {by: \"$.k\"}, scanLimit: 100000",
        ),
        (
            "covered pages of long strings",
            "collection: \"long\", orderBy: {by: \"$.s\"}",
        ),
        (
            "merged streams of long strings",
            "collection: \"long\", where: {at: \"$.n\", in: $values}, orderBy: {by: \"$.s\"}",
        ),
    ] {
        let page = |at: usize| {
            let first = 10_000 - at;
            format!(
                "p{at}: documents({arguments}, first: {first}) {{ nodes {{ value(path: \"/n\") }} }}"
            )
        };
        let pages: Vec<String> = (0..PAGES_AT_ONCE).map(page).collect();
        let pages = pages.join(" ");
        let request = if arguments.contains("$values") {
            post(&body(
                &format!("query($values: [JSON]) {{ {pages} }}"),
                &variables,
            ))
        } else {
            post(&body(&format!("{{ {pages} }}"), "{}"))
        };
        case.check(name, &vec![request; 8], &Expected::Bounded);
    }
    case.end();
}

#[test]
fn sorts_and_groups_of_long_strings_stay_within_the_memory() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(WIDE);
    case.server
        .import("long", &lines(LONG_DOCUMENTS, &"x".repeat(30_000)));
    for query in [
        "documents(collection: \"long\", orderBy: {by: \"$.s\"}, first: 10) { nodes { key } }",
        "documents(collection: \"long\", orderBy: {by: \"$.s\"}, first: 10000) { edges { cursor } }",
        "documents(collection: \"long\", orderBy: [{by: \"$.s\"}, {by: \"$['s']\"}, {by: \"$.s\"}], \
         first: 10000) { nodes { key } pageInfo { endCursor } }",
        "aggregate(collection: \"long\", groupBy: [\"$.s\"], first: 10000) { groups { key } }",
        "aggregate(collection: \"long\", groupBy: [\"$.n\"], first: 10000) { \
         groups { min(of: \"$.s\") max(of: \"$.s\") } }",
        "aggregate(collection: \"long\") { groups { min(of: \"$.s\") max(of: \"$.s\") count } }",
    ] {
        let request = post(&body(&format!("{{ {query} }}"), "{}"));
        case.check(
            &format!("8 times {query}"),
            &vec![request; 8],
            &Expected::Bounded,
        );
    }
    case.end();
}
