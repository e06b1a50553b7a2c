//! Sorting, grouping and bounds without an index: any number of documents in the memory of a page, and
//! strings that are longer than a key.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use phyllo::database::DocumentKey;
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::document::path::Path;
use phyllo::key::{Family, pack_leaf};
use phyllo::limits::{Bounds, SCAN_DOCUMENTS_DEFAULT};
use phyllo::store::{Decision, Transaction, TransactionResult};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::skip::{rounds, skips_long};
use super::support::{Client, NONE, client, only_error};

cases!(
    async [
        long_strings_are_sorted_exactly,
        cursors_of_long_strings_are_short,
        cursors_of_long_strings_outlive_their_documents,
        cursors_of_long_strings_are_positions_in_an_index,
        long_strings_are_grouped_and_compared,
        long_strings_count_as_held_memory,
        groups_of_long_strings_count_as_held_memory,
        more_documents_than_the_default_are_sorted_on_request,
        large_collections_are_sorted_in_the_memory_of_a_page,
    ]
    threads [
        concurrent_sorts_share_the_memory,
    ]
);

/// Strings around the length of a key, which differ late or only by their length.
fn texts() -> Vec<String> {
    let long = "x".repeat(10_000);
    let mut texts = vec![
        String::new(),
        "x".to_owned(),
        "y".to_owned(),
        "é".repeat(7_000),
    ];
    for length in [9_990, 9_995, 9_996, 9_997, 9_998, 10_000, 12_000, 120_000] {
        texts.push("x".repeat(length));
    }
    for end in ["a", "b", "\0", "\0a", "é", "y", "xy"] {
        texts.push(format!("{long}{end}"));
        texts.push(format!("{}{end}", "\0".repeat(5_000)));
    }
    // Two documents with equal strings.
    texts.push(format!("{long}b"));
    texts
}

/// A document for each of the strings, in another order than they sort in, and its number.
async fn with_texts() -> (Client, Vec<(String, usize)>) {
    let client = client().await;
    let texts = texts();
    let mut stored = Vec::new();
    for at in 0..texts.len() {
        let id = at * 7 % texts.len();
        let text = &texts[id];
        client
            .insert(&format!("k{id:02}"), json!({"s": text, "n": id % 2}))
            .await;
        stored.push((text.clone(), id));
    }
    client.insert("none", json!({"n": 1})).await;
    (client, stored)
}

fn key_of(id: usize) -> String {
    format!("k{id:02}")
}

/// Pages through the documents in an order, in one direction.
async fn pages(client: &Client, order: &Value, size: usize, backward: bool) -> Vec<String> {
    let (size_name, from_name) = if backward {
        ("last", "before")
    } else {
        ("first", "after")
    };
    let query = format!(
        "query($by: [DocumentOrder!], $size: Int, $from: String) {{
            documents(orderBy: $by, {size_name}: $size, {from_name}: $from) {{
                nodes {{ key }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
                plan {{ index examined }} }} }}"
    );
    let mut found = Vec::new();
    let mut from = Value::Null;
    loop {
        let variables = json!({"by": order, "size": size, "from": from});
        let page = &client.data(&query, variables).await["documents"];
        assert_eq!(page["plan"]["index"], Value::Null);
        let nodes = page["nodes"].as_array().expect("a list");
        let keys = nodes
            .iter()
            .map(|node| node["key"].as_str().expect("a key").to_owned());
        let mut keys: Vec<String> = keys.collect();
        let (more, cursor) = if backward {
            keys.reverse();
            ("hasPreviousPage", "startCursor")
        } else {
            ("hasNextPage", "endCursor")
        };
        assert!(keys.len() <= size);
        found.extend(keys);
        if page["pageInfo"][more] == json!(false) {
            return found;
        }
        from = page["pageInfo"][cursor].clone();
    }
}

async fn long_strings_are_sorted_exactly() {
    let (client, stored) = with_texts().await;
    let mut by_text = stored.clone();
    by_text.sort();
    let mut by_number = stored;
    by_number.sort_by(|(a_text, a), (b_text, b)| {
        let (a, b) = ((a % 2, b_text, a), (b % 2, a_text, b));
        a.cmp(&b)
    });
    for (order, expected) in [
        (json!([{"by": "$.s"}]), &by_text),
        (
            json!([{"by": "$.n"}, {"by": "$.s", "descending": true}, {}]),
            &by_number,
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(|(_, id)| key_of(*id)).collect();
        for size in rounds(&[1, 3, 100][..], &[1, 2, 3, 7, 100]) {
            assert_eq!(
                pages(&client, &order, *size, false).await,
                expected,
                "{order} {size}"
            );
            let mut reversed = pages(&client, &order, *size, true).await;
            reversed.reverse();
            assert_eq!(reversed, expected, "{order} {size}, backward");
        }
    }
    let descending = json!([{"by": "$.s", "descending": true}]);
    let expected = by_text.iter().rev().map(|(_, id)| key_of(*id));
    let expected: Vec<String> = expected.collect();
    assert_eq!(pages(&client, &descending, 2, false).await, expected);
}

/// The cursor after the first `count` documents by `$.s`.
async fn cursor_after(client: &Client, count: usize) -> (Vec<String>, String) {
    let query = format!(
        "{{ documents(orderBy: {{by: \"$.s\"}}, first: {count}) {{
            nodes {{ key }} pageInfo {{ endCursor }} }} }}"
    );
    let page = &client.data(&query, NONE).await["documents"];
    let nodes = page["nodes"].as_array().expect("a list").iter();
    let keys = nodes.map(|node| node["key"].as_str().expect("a key").to_owned());
    let cursor = page["pageInfo"]["endCursor"].as_str().expect("a cursor");
    (keys.collect(), cursor.to_owned())
}

const AFTER: &str = "query($after: String) {
    documents(orderBy: {by: \"$.s\"}, first: 100, after: $after) { nodes { key } plan { index } } }";

/// The keys of the documents after a cursor, and the index used.
async fn after(client: &Client, cursor: &str) -> (Value, Value) {
    let data = client.data(AFTER, json!({"after": cursor})).await;
    let nodes = data["documents"]["nodes"].as_array().expect("a list");
    let keys = nodes.iter().map(|node| node["key"].clone()).collect();
    (
        Value::Array(keys),
        data["documents"]["plan"]["index"].clone(),
    )
}

async fn cursors_of_long_strings_are_short() {
    let client = client().await;
    for (id, end) in [("1", "a"), ("2", "b")] {
        client
            .insert(id, json!({"s": "x".repeat(1_000_000) + end}))
            .await;
    }
    let (keys, cursor) = cursor_after(&client, 1).await;
    assert_eq!(keys, ["1"]);
    // Hexadecimal.
    assert!((20_000..20_200).contains(&cursor.len()), "{}", cursor.len());
    assert_eq!(after(&client, &cursor).await.0, json!(["2"]));
}

async fn cursors_of_long_strings_outlive_their_documents() {
    let long = "x".repeat(20_000);
    let client = client().await;
    for (id, text) in [
        ("a", "w".to_owned()),
        ("b", "x".to_owned()),
        ("c", format!("{long}1")),
        ("d", format!("{long}2")),
        ("e", "y".to_owned()),
    ] {
        client.insert(id, json!({"s": text, "n": 1})).await;
    }
    let (keys, cursor) = cursor_after(&client, 3).await;
    assert_eq!(keys, ["a", "b", "c"]);
    let rest = json!(["d", "e"]);
    assert_eq!(after(&client, &cursor).await.0, rest);
    client
        .mutate("replaceDocument(id: \"c\", path: \"/n\", document: 2) { key }")
        .await;
    assert_eq!(after(&client, &cursor).await.0, rest);
    client.mutate("deleteDocument(id: \"c\") { key }").await;
    // Nothing determines whether `d` is before or after it.
    let (code, message) = client.error(AFTER, json!({"after": cursor})).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(
        message.contains("first 10000 bytes of a string at $.s"),
        "{message}"
    );
    client.mutate("deleteDocument(id: \"d\") { key }").await;
    assert_eq!(after(&client, &cursor).await.0, json!(["e"]));
    client.insert("f", json!({"s": "x".repeat(9_000)})).await;
    client
        .insert("g", json!({"s": "x".repeat(9_000) + "z"}))
        .await;
    assert_eq!(after(&client, &cursor).await.0, json!(["g", "e"]));
}

async fn cursors_of_long_strings_are_positions_in_an_index() {
    let long = "x".repeat(20_000);
    let client = client().await;
    for (id, text) in [("a", "x"), ("b", &long), ("c", "xy"), ("d", "y")] {
        client.insert(id, json!({"s": text})).await;
    }
    let (keys, cursor) = cursor_after(&client, 2).await;
    assert_eq!(keys, ["a", "b"]);
    client.mutate("deleteDocument(id: \"b\") { key }").await;
    client
        .mutate(r#"createIndex(name: "s", on: ["$.s"]) { state }"#)
        .await;
    client.build().await;
    assert_eq!(
        after(&client, &cursor).await,
        (json!(["c", "d"]), json!("s"))
    );
}

async fn long_strings_are_grouped_and_compared() {
    let (client, stored) = with_texts().await;
    let query = "query($by: DocumentGroupOrder!, $d: Boolean!) {
        aggregate(groupBy: [\"$.s\"], orderBy: $by, descending: $d) {
            groups { key count min(of: \"$.s\") max(of: \"$.s\") } groupCount plan { index examined } } }";
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for (text, _) in &stored {
        *counts.entry(text).or_default() += 1;
    }
    let group = |(text, count): (&&str, &u64)| json!({"key": [text], "count": count, "min": text, "max": text});
    let by_key: Vec<Value> = counts.iter().map(group).collect();
    let mut by_count: Vec<_> = counts.iter().collect();
    by_count.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let by_count: Vec<Value> = by_count.into_iter().map(group).collect();
    assert_eq!(by_count[0]["count"], json!(2));
    for (by, descending, expected) in [("KEY", false, &by_key), ("COUNT", true, &by_count)] {
        let data = client.data(query, json!({"by": by, "d": descending})).await;
        let found = &data["aggregate"];
        assert!(found["groups"] == json!(expected), "by {by}");
        assert_eq!(found["groupCount"], json!(counts.len()));
        let plan = json!({"index": null, "examined": stored.len() + 1});
        assert_eq!(found["plan"], plan);
    }
    let query = "{ aggregate { groups { min(of: \"$.s\") max(of: \"$.s\") count } } }";
    let data = client.data(query, NONE).await;
    let bounds = (counts.first_key_value(), counts.last_key_value());
    let (Some((min, _)), Some((max, _))) = bounds else {
        panic!("there are groups");
    };
    let expected = json!([{"min": min, "max": max, "count": stored.len() + 1}]);
    assert_eq!(data["aggregate"]["groups"], expected);
}

/// Limits with little memory for all requests, and enough time on a busy machine.
fn with_memory(held_bytes: usize) -> Bounds {
    Bounds {
        held_bytes,
        request_time: Duration::from_secs(600),
        ..Bounds::DEFAULT
    }
}

const LONG_BYTES: usize = 200_000;

/// A hundred documents with long strings, in descending order.
async fn with_long_texts() -> Client {
    let client = client().await;
    for id in 0..100 {
        let text = format!("{}{:03}", "x".repeat(LONG_BYTES), 999 - id);
        client.insert(&id.to_string(), json!({"s": text})).await;
    }
    client.within(with_memory(8 << 20))
}

async fn long_strings_count_as_held_memory() {
    let client = with_long_texts().await;
    let first = |size: usize| {
        format!("{{ documents(orderBy: {{by: \"$.s\"}}, first: {size}) {{ nodes {{ key }} }} }}")
    };
    let data = client.data(&first(2), NONE).await;
    assert_eq!(
        data["documents"]["nodes"],
        json!([{"key": "99"}, {"key": "98"}])
    );
    let (code, message) = client.error(&first(100), NONE).await;
    assert_eq!(code, "UNAVAILABLE");
    assert!(message.contains("8388608 bytes"), "{message}");
    client.assert_serves().await;
    client.data(&first(2), NONE).await;
}

async fn groups_of_long_strings_count_as_held_memory() {
    let client = with_long_texts().await;
    let data = client
        .data("{ aggregate { groups { max(of: \"$.s\") } } }", NONE)
        .await;
    let max = data["aggregate"]["groups"][0]["max"].as_str();
    assert!(max.is_some_and(|max| max.ends_with("x999")));
    let query = "{ aggregate(groupBy: [\"$.s\"]) { groupCount } }";
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "UNAVAILABLE", "{message}");
    // A document is in the group of each combination.
    let numbers: Vec<usize> = (0..10_000).collect();
    client
        .insert("many", json!({"t": numbers, "u": "x".repeat(LONG_BYTES)}))
        .await;
    let query = "{ aggregate(groupBy: [\"$.u\", \"$.t[*]\"]) { groupCount } }";
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "UNAVAILABLE", "{message}");
    client.assert_serves().await;
}

/// Stores documents `{n: …}` with the keys from 0, whose numbers are a permutation of the keys.
async fn plant(client: &Client, count: i64) {
    let path = Path::parse("[\"n\"]").expect("a path");
    let place = path.places().remove(0);
    let ids: Vec<i64> = (0..count).collect();
    for ids in ids.chunks(20_000) {
        let pairs = ids.iter().flat_map(|id| {
            let number = number_of(*id, count);
            let id = DocumentId::Integer(*id);
            let existence = Family::Existence("D", &id).key().expect("short");
            let document = DocumentKey::new("D", id).expect("short");
            let leaf = pack_leaf(&Leaf::Integer(number));
            [
                (existence, Vec::new()),
                (document.place(&place).expect("short"), leaf),
            ]
        });
        let mut pairs: Vec<_> = pairs.collect();
        let counted = Family::Count("D", 0).key().expect("short");
        let sofar = ids.last().map_or(0, |last| last + 1);
        pairs.push((counted, sofar.to_le_bytes().to_vec()));
        let write = move |transaction: Arc<dyn Transaction>| {
            for (key, value) in &pairs {
                transaction.set(key, value);
            }
            Box::pin(std::future::ready(Ok(Decision::Commit(())))) as BoxFuture<'static, _>
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        let written = client.database.transact(deadline, write).await;
        assert!(matches!(written, Ok(TransactionResult::Committed((), _))));
    }
}

/// The number in a document of [`plant`]: 7,919 is a prime.
fn number_of(id: i64, count: i64) -> i64 {
    id * 7_919 % count
}

/// The keys of the documents by descending number, from the one at `begin`.
fn by_number(count: i64, begin: usize, size: usize) -> Value {
    let mut ids: Vec<i64> = (0..count).collect();
    ids.sort_unstable_by_key(|id| std::cmp::Reverse(number_of(*id, count)));
    let page = ids[begin..begin + size].iter();
    page.map(|id| json!({"key": id.to_string()})).collect()
}

const SORTED: &str = "query($scan: Int, $first: Int, $after: String) {
    documents(orderBy: {by: \"$.n\", descending: true}, scanLimit: $scan, first: $first, after: $after) {
        nodes { key } pageInfo { endCursor hasNextPage } plan { index scanned examined returned } } }";

async fn more_documents_than_the_default_are_sorted_on_request() {
    const COUNT: i64 = 12_000;
    let client = client().await;
    plant(&client, COUNT).await;
    let client = client.within(with_memory(16 << 20));
    let variables = json!({"scan": COUNT, "first": 50});
    let page = client.data(SORTED, &variables).await["documents"].take();
    assert_eq!(page["nodes"], by_number(COUNT, 0, 50));
    let plan = json!({"index": null, "scanned": 2 * COUNT, "examined": COUNT, "returned": 50});
    assert_eq!(page["plan"], plan);
    let next = json!({"scan": 1_000_000, "first": 50, "after": page["pageInfo"]["endCursor"]});
    let page = client.data(SORTED, &next).await["documents"].take();
    assert_eq!(page["nodes"], by_number(COUNT, 50, 50));
    // None is examined if they are known to be too many.
    for (scan, examined) in [
        (json!(null), SCAN_DOCUMENTS_DEFAULT),
        (json!(11_999), 11_999),
    ] {
        let before = client.counts();
        let (code, message) = client.error(SORTED, json!({"scan": scan})).await;
        assert_eq!(code, "TOO_COMPLEX");
        let told = format!("{examined} documents were examined, which is the limit here");
        assert!(message.starts_with(&told), "{message}");
        assert!(message.contains("createIndex("), "{message}");
        assert!(
            message.ends_with("request less, or raise `scanLimit`"),
            "{message}"
        );
        let pairs = client.counts().pairs - before.pairs;
        assert!(pairs < 20_000, "{pairs}");
    }
    // The steps of the request are a limit, too.
    let few_steps = client.within(Bounds {
        steps: 20_000,
        ..with_memory(16 << 20)
    });
    let response = few_steps.ask(SORTED, variables).await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "TOO_COMPLEX");
    assert!(message.contains("20000 steps"), "{message}");
    let aggregate = "query($scan: Int) { aggregate(scanLimit: $scan) {
        groups { max(of: \"$.n\") } plan { examined } } }";
    let (code, _) = client.error(aggregate, NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    let data = client.data(aggregate, json!({"scan": COUNT})).await;
    assert_eq!(data["aggregate"]["groups"], json!([{"max": COUNT - 1}]));
    assert_eq!(data["aggregate"]["plan"]["examined"], json!(COUNT));
}

async fn large_collections_are_sorted_in_the_memory_of_a_page() {
    const COUNT: i64 = 400_000;
    if skips_long("a sort of 400,000 documents, tests/graphql/sorting.rs") {
        return;
    }
    let client = client().await;
    plant(&client, COUNT).await;
    let client = client.within(with_memory(16 << 20));
    let began = Instant::now();
    let variables = json!({"scan": COUNT, "first": 100});
    let page = client.data(SORTED, variables).await["documents"].take();
    println!("{COUNT} documents are sorted in {:?}", began.elapsed());
    assert_eq!(page["nodes"], by_number(COUNT, 0, 100));
    assert_eq!(page["plan"]["examined"], json!(COUNT));
    let began = Instant::now();
    let default = json!({"first": 100});
    let (code, _) = client.error(SORTED, default).await;
    println!("they are rejected by default in {:?}", began.elapsed());
    assert_eq!(code, "TOO_COMPLEX");
}

/// Sorts that run at the same time either succeed, or are rejected with the limit of the memory.
async fn concurrent_sorts_share_the_memory() {
    let count = rounds(5_000, 400_000);
    let client = client().await;
    plant(&client, count).await;
    let variables = json!({"scan": count, "first": 1_000}).to_string();
    let sort = |client: Client| {
        let variables = variables.clone();
        async move {
            let response = client.ask(SORTED, variables).await;
            if response.get("errors").is_none() {
                let nodes = &response["data"]["documents"]["nodes"];
                assert_eq!(nodes.as_array().map(Vec::len), Some(1_000));
                assert_eq!(nodes[0], by_number(count, 0, 1)[0]);
                return true;
            }
            let error = &response["errors"][0]["extensions"];
            assert_eq!(error["code"], json!("UNAVAILABLE"), "{response}");
            assert_eq!(error["limitName"], json!("heldBytes"), "{response}");
            false
        }
    };
    // Enough for all, and for none.
    for (held_bytes, expected) in [(256 << 20, true), (64 << 10, false)] {
        let client = client.within(with_memory(held_bytes));
        let sorts = (0..8).map(|_| tokio::spawn(sort(client.clone())));
        for sorted in join_all(sorts).await {
            assert_eq!(sorted.expect("it ends"), expected, "{held_bytes}");
        }
        client.assert_serves().await;
    }
}
