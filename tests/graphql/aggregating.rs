//! `aggregate`: what is read for it, its limits and its errors. That its results are right whatever is
//! asked, `random_aggregates` checks at random.

use std::fmt::Write;

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        distinct_values_read_one_entry_each,
        an_index_with_all_paths_answers_without_documents,
        a_set_of_keys_is_applied_to_entries,
        counts_of_whole_collections_read_nothing,
        sums_are_exact,
        objects_are_read_from_one_document_of_their_group,
        documents_over_the_limit_are_not_examined,
        groups_of_one_document_are_limited,
        arguments_are_checked,
    ]
);

const DOCUMENTS: usize = 600;
const NO_FILTER: &str = "where: {}";

/// Documents of three kinds with numbers.
async fn numbered() -> Client {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "kind_n", on: ["$.kind", "$.n"]) { state }"#)
        .await;
    let mut fields = String::new();
    for id in 0..DOCUMENTS {
        if id == DOCUMENTS / 2 {
            client.mutate(&std::mem::take(&mut fields)).await;
        }
        let kind = ["a", "b", "c"][id % 3];
        write!(
            fields,
            "d{id}: insertDocument(id: {id}, document: {{kind: \"{kind}\", n: {id}, m: {id}}}) {{ key }} "
        )
        .expect("a string takes all");
    }
    client.mutate(&fields).await;
    client
}

async fn aggregate(client: &Client, arguments: &str, groups: &str) -> Value {
    let query = format!(
        "{{ aggregate({arguments}) {{ groups {{ {groups} }} groupCount plan {{ index scanned covered }} }} }}"
    );
    client.data(&query, NONE).await["aggregate"].clone()
}

async fn a_set_of_keys_is_applied_to_entries() {
    let client = numbered().await;
    let kinds = r#"groupBy: ["$.kind"]"#;
    let found = aggregate(
        &client,
        &format!("{kinds}, keys: {{gte: 2, lt: 303}}"),
        "key count",
    )
    .await;
    let groups = json!([
        {"key": ["a"], "count": 100},
        {"key": ["b"], "count": 100},
        {"key": ["c"], "count": 101},
    ]);
    assert_eq!(found["groups"], groups);
    assert_eq!(found["plan"]["covered"], json!(true));
    assert_eq!(found["plan"]["index"], json!("kind_n"));
    // The key alone: the first entry of a group may not be in the set.
    let found = aggregate(&client, &format!("{kinds}, keys: {{gt: 300}}"), "key").await;
    let keys = json!([{"key": ["a"]}, {"key": ["b"]}, {"key": ["c"]}]);
    assert_eq!(found["groups"], keys);
    assert_eq!(found["plan"]["covered"], json!(true));
    // Few documents are cheaper than all entries.
    for keys in ["{gte: 7, lt: 9}", r#"{in: ["7", "8", "x"]}"#] {
        let found = aggregate(&client, &format!("{kinds}, keys: {keys}"), "key count").await;
        let groups = json!([{"key": ["b"], "count": 1}, {"key": ["c"], "count": 1}]);
        assert_eq!(found["groups"], groups, "{keys}");
        assert_eq!(found["plan"]["covered"], json!(false), "{keys}");
    }
    let fixed = r#"where: {all: [{at: "$.kind", eq: "a"}, {at: "$.n", in: [0, 300, 303]}]}"#;
    let found = aggregate(&client, &format!("{fixed}, keys: {{gt: 200}}"), "count").await;
    assert_eq!(found["groups"], json!([{"count": 2}]));
    assert_eq!(found["plan"]["covered"], json!(true));
}

async fn distinct_values_read_one_entry_each() {
    let client = numbered().await;
    let found = aggregate(&client, r#"groupBy: ["$.kind"]"#, "key").await;
    let expected = json!([{"key": ["a"]}, {"key": ["b"]}, {"key": ["c"]}]);
    assert_eq!(found["groups"], expected);
    let scanned = found["plan"]["scanned"].as_u64().expect("a number");
    assert!(scanned <= 3 * 64, "{scanned} entries for 3 values");
    let counted = aggregate(&client, r#"groupBy: ["$.kind"]"#, "key count").await;
    assert_eq!(counted["plan"]["scanned"], json!(DOCUMENTS));
    assert_eq!(counted["groups"][1], json!({"key": ["b"], "count": 200}));
}

async fn an_index_with_all_paths_answers_without_documents() {
    let client = numbered().await;
    let sums = r#"key sum(of: "$.n") average(of: "$.n") min(of: "$.n") max(of: "$.n")"#;
    let one = r#"where: {at: "$.kind", eq: "b"}, groupBy: ["$.kind"]"#;
    let found = aggregate(&client, one, sums).await;
    let group = json!({"key": ["b"], "sum": 59_900, "average": 299.5, "min": 1, "max": 598});
    assert_eq!(found["groups"], json!([group]));
    let plan = json!({"index": "kind_n", "scanned": 200, "covered": true});
    assert_eq!(found["plan"], plan);
    let other = sums.replace("$.n", "$.m");
    let read = aggregate(&client, one, &other).await;
    assert_eq!(read["groups"], found["groups"]);
    let plan = json!({"index": "kind_n", "scanned": 400, "covered": false});
    assert_eq!(read["plan"], plan, "200 entries and 200 documents");
    let all = r#"where: {at: "$.kind", eq: "b"}"#;
    let found = aggregate(&client, all, r#"key count max(of: "$.n")"#).await;
    assert_eq!(
        found["groups"],
        json!([{"key": [], "count": 200, "max": 598}])
    );
    assert_eq!(found["plan"]["covered"], true);
}

async fn counts_of_whole_collections_read_nothing() {
    let client = numbered().await;
    let found = aggregate(&client, NO_FILTER, "key count").await;
    assert_eq!(found["groups"], json!([{"key": [], "count": DOCUMENTS}]));
    assert_eq!(
        found["plan"],
        json!({"index": null, "scanned": 0, "covered": true})
    );
    let none = aggregate(&client, r#"collection: "none""#, r#"count sum(of: "$.n")"#).await;
    assert_eq!(none["groups"], json!([{"count": 0, "sum": null}]));
    let none = aggregate(&client, r#"collection: "none", groupBy: ["$.n"]"#, "count").await;
    assert_eq!(none["groups"], json!([]));
}

async fn sums_are_exact() {
    let client = client().await;
    let numbers = [
        "9007199254740993",
        "1",
        "0.5",
        "-9007199254740993",
        "1e300",
        "-1e300",
        "0.25",
    ];
    for (id, number) in numbers.iter().enumerate() {
        client
            .insert(
                &id.to_string(),
                format!("{{\"n\": [{number}, \"text\", null]}}"),
            )
            .await;
    }
    let found = aggregate(
        &client,
        NO_FILTER,
        r#"sum(of: "$.n[*]") average(of: "$.n[0]")"#,
    )
    .await;
    assert_eq!(found["groups"], json!([{"sum": 1.75, "average": 0.25}]));
}

async fn objects_are_read_from_one_document_of_their_group() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "o", on: ["$.o"]) { state }"#)
        .await;
    for id in 0..40 {
        client
            .insert(&id.to_string(), format!("{{\"o\": {{\"x\": {}}}}}", id % 2))
            .await;
    }
    let found = aggregate(
        &client,
        r#"groupBy: ["$.o"], orderBy: COUNT, first: 5"#,
        "key count",
    )
    .await;
    let mut keys: Vec<String> = found["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| group["key"].to_string())
        .collect();
    keys.sort();
    assert_eq!(keys, [r#"[{"x":0}]"#, r#"[{"x":1}]"#]);
    assert_eq!(
        found["plan"],
        json!({"index": "o", "scanned": 42, "covered": false})
    );
}

async fn documents_over_the_limit_are_not_examined() {
    let client = numbered().await;
    let query = r#"{ aggregate(groupBy: ["$.m"], where: {at: "$.n", gt: 3}, scanLimit: 100) { groups { key } } }"#;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    let advice = r#"createIndex(collection: "D", name: "n_m", on: ["$.n", "$.m"]) would create an index that serves this query"#;
    assert!(message.contains(advice), "{message}");
    let enough = query.replace("100)", "600)");
    let data = client.data(&enough, NONE).await;
    assert_eq!(
        data["aggregate"]["groups"].as_array().map(Vec::len),
        Some(100)
    );
}

async fn groups_of_one_document_are_limited() {
    let client = client().await;
    let numbers: Vec<usize> = (0..150).collect();
    client.insert("1", json!({"a": numbers})).await;
    let query = r#"{ aggregate(groupBy: ["$.a[*]", "$.a[*]"]) { groupCount } }"#;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(message.contains("22500 groups"), "{message}");
    let found = aggregate(
        &client,
        r#"groupBy: ["$.a[*]", "$.a[:60]"], first: 1"#,
        "key",
    )
    .await;
    assert_eq!(found["groupCount"], 9_000);
}

async fn arguments_are_checked() {
    let client = client().await;
    client.insert("1", "{\"n\": 1}").await;
    let of = |count: usize| {
        let fields = (0..count).map(|at| format!("s{at}: sum(of: \"$.n{at}\") "));
        format!(
            "{{ aggregate {{ groups {{ {} }} }} }}",
            fields.collect::<String>()
        )
    };
    client.data(&of(32), NONE).await;
    let group_by = format!(
        "{{ aggregate(groupBy: [{}]) {{ groupCount }} }}",
        "\"$.a\" ".repeat(9)
    );
    for (query, code, part) in [
        (&of(33)[..], "TOO_COMPLEX", "the limit is 32"),
        (
            &group_by,
            "TOO_COMPLEX",
            "9 paths in the argument `groupBy`",
        ),
        (
            r#"{ aggregate { groups { sum(of: "n") } } }"#,
            "BAD_USER_INPUT",
            "the argument `of`",
        ),
        (
            r#"{ aggregate(groupBy: "$[") { groupCount } }"#,
            "BAD_USER_INPUT",
            "the argument `groupBy`",
        ),
        (
            "{ aggregate(first: 10001) { groupCount } }",
            "BAD_USER_INPUT",
            "10000",
        ),
        (
            "{ aggregate(scanLimit: 0) { groupCount } }",
            "BAD_USER_INPUT",
            "scanLimit",
        ),
        (
            "{ aggregate(collection: \"\") { groupCount } }",
            "BAD_USER_INPUT",
            "collection",
        ),
    ] {
        let (found, message) = client.error(query, NONE).await;
        assert_eq!(found, code, "{query}: {message}");
        assert!(message.contains(part), "{query}: {message}");
    }
    let fragments = r#"{ aggregate { ...a } }
        fragment a on DocumentAggregation { groups { ... on DocumentGroup { one: sum(of: "$.n") ...g } } }
        fragment g on DocumentGroup { two: max(of: "$.n") skipped: sum(of: "$.m") @skip(if: true) }"#;
    let data = client.data(fragments, NONE).await;
    assert_eq!(data["aggregate"]["groups"], json!([{"one": 1, "two": 1}]));
}
