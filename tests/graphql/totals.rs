//! `totalCount`: when it is given, why it is not, and what it costs. That it is right whatever is
//! asked, `random_queries` checks at random.

use std::fmt::Write;

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        totals_come_from_indexes_or_the_catalog,
        totals_that_require_reading_documents_are_null_with_a_reason,
        totals_count_documents_and_not_entries,
        entries_over_the_limit_are_not_counted,
        unselected_totals_are_not_counted,
        totals_cover_all_pages,
    ]
);

const DOCUMENTS: i64 = 60;

/// 60 documents, whose contents follow from their numbers. The odd ones have no `n`.
async fn numbered() -> Client {
    let client = client().await;
    client
        .mutate(
            r#"a: createIndex(name: "a", on: ["$.a"]) { state }
            n: createIndex(name: "n", on: ["$.n"]) { state }
            xy: createIndex(name: "xy", on: ["$.x", "$.y"]) { state }
            tags: createIndex(name: "tags", on: ["$.tags[*]"]) { state }
            u: createIndex(name: "u", on: ["$.u[*]", "$.a"]) { state }"#,
        )
        .await;
    let mut fields = String::new();
    for id in 0..DOCUMENTS {
        let n = if id % 2 == 0 {
            format!("n: {id},")
        } else {
            String::new()
        };
        write!(
            fields,
            "d{id}: insertDocument(id: {id}, document: {{{n} a: {}, x: {}, y: {}, z: {id}, \
             tags: [{}, \"all\", \"all\", 7], u: [1, {id}]}}) {{ key }} ",
            id % 3,
            id % 10,
            id / 10,
            id % 5,
        )
        .expect("a string takes all");
    }
    client.mutate(&fields).await;
    client
}

/// `totalCount` and its reason.
async fn total(client: &Client, arguments: &str) -> (Value, Value) {
    let query =
        format!("{{ documents({arguments}) {{ totalCount plan {{ totalCountReason }} }} }}");
    let data = client.data(&query, NONE).await;
    let found = &data["documents"];
    (
        found["totalCount"].clone(),
        found["plan"]["totalCountReason"].clone(),
    )
}

async fn check(client: &Client, cases: &[(&str, u64)]) {
    for (arguments, expected) in cases {
        let found = total(client, &format!("first: 2, {arguments}")).await;
        assert_eq!(found, (json!(expected), Value::Null), "{arguments}");
    }
}

async fn totals_come_from_indexes_or_the_catalog() {
    let client = numbered().await;
    check(
        &client,
        &[
            ("", 60),
            (r#"collection: "none""#, 0),
            ("where: {all: []}", 60),
            ("where: {any: []}", 0),
            (r#"where: {at: "$.a", eq: 1}"#, 20),
            (r#"where: {at: "$.a", in: [1, 2, 5]}"#, 40),
            (r#"where: {at: "$.n", gte: 10, lt: 20}"#, 5),
            (r#"where: {at: "$.n", exists: true}"#, 30),
            (r#"where: {at: "$.x", eq: 3}"#, 6),
            (r#"where: {at: "$.x", eq: 3, all: [{at: "$.y", gt: 3}]}"#, 2),
            (
                r#"where: {any: [{at: "$.a", eq: 1}, {at: "$.n", lt: 4}]}"#,
                22,
            ),
            (
                r#"where: {all: [{at: "$.a", eq: 1}, {at: "$.n", gte: 0}]}"#,
                10,
            ),
            // Documents without a value for the order are on no page.
            (r#"orderBy: {by: "$.n"}"#, 30),
            (r#"orderBy: {by: "$.n", descending: true}"#, 30),
            (r#"where: {at: "$.n", gt: 20}, orderBy: {by: "$.n"}"#, 19),
            (r#"where: {at: "$.x", eq: 3}, orderBy: {by: "$.y"}"#, 6),
            (r#"where: {at: "$.a", eq: 1}, orderBy: {by: "$.n"}"#, 10),
            (r#"orderBy: {by: "$.none"}"#, 0),
            ("keys: {gte: 10, lt: 25}", 15),
            (r#"keys: {gt: "a", lte: 25}"#, 26),
            (r#"keys: {prefix: "a"}"#, 0),
            ("keys: {in: [3, 1, 3, 99]}", 2),
            (r#"where: {at: "$.a", eq: 1}, keys: {gte: 30}"#, 10),
            (
                r#"where: {at: "$.a", eq: 1}, keys: {in: [31, 32, 33, 34]}"#,
                2,
            ),
        ],
    )
    .await;
    // A client that only counts selects no document.
    for (arguments, expected) in [
        ("first: 0", 60),
        (r#"first: 0, where: {at: "$.a", eq: 1}"#, 20),
        (r#"last: 0, where: {at: "$.a", eq: 1}"#, 20),
        (r#"first: 0, orderBy: {by: "$.n"}"#, 30),
        (r#"last: 0, where: {at: "$.a", eq: 9}"#, 0),
    ] {
        let found = total(&client, arguments).await;
        assert_eq!(found, (json!(expected), Value::Null), "{arguments}");
    }
    // All matching documents are on the first page, so they need not be counted again.
    let arguments = r#"first: 6, where: {at: "$.z", lt: 6}"#;
    assert_eq!(total(&client, arguments).await, (json!(6), Value::Null));
}

async fn totals_that_require_reading_documents_are_null_with_a_reason() {
    let client = numbered().await;
    for arguments in [
        r#"where: {at: "$.z", lt: 6}"#,
        r#"where: {at: "$.a", ne: 1}"#,
        r#"where: {not: {at: "$.a", eq: 1}}"#,
        r#"where: {at: "$.a", eq: 1, all: [{at: "$.z", gte: 0}]}"#,
        r#"where: {any: [{at: "$.a", eq: 1}, {at: "$.z", lt: 4}]}"#,
        r#"where: {at: "$.tags[*]", gte: "a", ne: 1}"#,
        r#"orderBy: {by: "$.z"}"#,
        r#"where: {at: "$.a", eq: 1}, orderBy: {by: "$.z"}"#,
    ] {
        let (total, reason) = total(&client, &format!("first: 2, {arguments}")).await;
        assert_eq!(total, Value::Null, "{arguments}");
        let reason = reason.as_str().unwrap_or_else(|| panic!("{arguments}"));
        assert!(reason.contains("examined"), "{arguments}: {reason}");
    }
}

async fn totals_count_documents_and_not_entries() {
    let client = numbered().await;
    check(
        &client,
        &[
            (r#"where: {at: "$.tags[*]", eq: "all"}"#, 60),
            (r#"where: {at: "$.tags[*]", in: ["all", 7, 1]}"#, 60),
            (r#"where: {at: "$.tags[*]", gte: 0}"#, 60),
            (r#"where: {at: "$.tags[*]", lte: 1}"#, 24),
            (r#"where: {at: "$.tags[*]", exists: true}"#, 60),
            (r#"orderBy: {by: "$.tags[*]"}"#, 60),
            (
                r#"where: {at: "$.tags[*]", eq: 1}, orderBy: {by: "$.tags[*]"}"#,
                12,
            ),
            (r#"where: {at: "$.u[*]", lte: 1}"#, 60),
            (r#"where: {at: "$.u[*]", lte: 1}, orderBy: {by: "$.a"}"#, 60),
        ],
    )
    .await;
}

async fn entries_over_the_limit_are_not_counted() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "a", on: ["$.a[*]"]) { state }"#)
        .await;
    for id in 0..24 {
        let elements: Vec<i64> = (0..1_000).collect();
        client.insert(&id.to_string(), json!({"a": elements})).await;
    }
    check(&client, &[(r#"where: {at: "$.a[*]", lt: 400}"#, 24)]).await;
    // Entries at many points, each ordered by id, and in one range.
    let points: Vec<i64> = (0..1_000).collect();
    let points = format!("where: {{at: \"$.a[*]\", in: {points:?}}}");
    for filter in [&points, r#"where: {at: "$.a[*]", gte: 0}"#] {
        let (count, reason) = total(&client, &format!("first: 2, {filter}")).await;
        assert_eq!(count, Value::Null);
        let reason = reason.as_str().expect("a reason");
        assert!(reason.contains("10000 keys or index entries"), "{reason}");
        let scanned = async |selected: &str| {
            let query =
                format!("{{ documents(first: 2, {filter}) {{ plan {{ scanned }} {selected} }} }}");
            let data = client.data(&query, NONE).await;
            data["documents"]["plan"]["scanned"]
                .as_u64()
                .expect("a number")
        };
        let counted = scanned("totalCount").await - scanned("").await;
        assert!((10_001..21_000).contains(&counted), "{counted}");
    }
}

async fn unselected_totals_are_not_counted() {
    let client = numbered().await;
    let ask = async |fields: &str| {
        let query = format!(
            "query($no: Boolean = false) {{ documents(first: 2, where: {{at: \"$.a\", eq: 1}}) {{ \
             nodes {{ key @skip(if: $no) }} {fields} }} }}"
        );
        client.renew_snapshot().await;
        let before = client.counts();
        let data = client.data(&query, NONE).await;
        (
            data["documents"].clone(),
            client.counts().pairs - before.pairs,
        )
    };
    let (found, without) = ask("plan { totalCountReason }").await;
    assert_eq!(found["plan"]["totalCountReason"], Value::Null);
    let (_, left_out) = ask("plan { totalCountReason } totalCount @include(if: $no)").await;
    assert_eq!(left_out, without);
    let (found, with) = ask("... on DocumentConnection { count: totalCount }").await;
    assert_eq!(found["count"], json!(20));
    assert!(with >= without + 20, "{with} and {without}");
}

async fn totals_cover_all_pages() {
    let client = numbered().await;
    let query = "query($first: Int, $after: String) {
        documents(where: {at: \"$.a\", eq: 1}, first: $first, after: $after) {
            totalCount pageInfo { hasNextPage endCursor }
        }
    }";
    let mut after = Value::Null;
    loop {
        let data = client
            .data(query, json!({"first": 7, "after": after}))
            .await;
        let page = &data["documents"];
        assert_eq!(page["totalCount"], json!(20));
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}
