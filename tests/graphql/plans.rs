//! Query plans: the indexes that are used, their cost in the store, and the suggestions if there is
//! no index.

use std::fmt::Write;

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        plans_name_the_indexes_used,
        plans_name_the_index_that_provides_the_order,
        an_equality_by_index_reads_one_short_range,
        pages_read_their_documents_in_one_round,
        listings_read_the_catalog_and_no_document,
        pages_in_index_order_read_only_the_page,
        indexes_are_read_at_most_once_in_a_snapshot,
        scans_stop_at_their_limit_and_suggest_an_index,
        sets_of_keys_read_only_their_ranges,
        one_index_serves_orders_by_its_first_columns_in_all_directions,
        listed_values_before_the_order_are_merged,
        plans_tell_whether_a_document_was_read,
        indexes_being_built_are_not_used_but_named,
        values_too_long_for_an_index_are_not_found,
    ]
);

const DOCUMENTS: i64 = 600;

/// 600 documents, whose contents follow from their numbers.
async fn numbered() -> Client {
    let client = client().await;
    client
        .mutate(
            r#"a: createIndex(name: "a", on: ["$.a"]) { state }
            b: createIndex(name: "b", on: ["$.b"]) { state }
            c: createIndex(name: "c", on: ["$.c"]) { state }
            ab: createIndex(name: "xy", on: ["$.x", "$.y"]) { state }
            tags: createIndex(name: "tags", on: ["$.tags[*]"]) { state }"#,
        )
        .await;
    let ids: Vec<i64> = (0..DOCUMENTS).collect();
    for ids in ids.chunks(100) {
        let mut fields = String::new();
        for id in ids {
            write!(
                fields,
                "d{id}: insertDocument(id: {id}, document: {{a: {}, b: {}, c: {id}, x: {}, y: {}, tags: [{}, \"all\"], z: {id}}}) {{ key }} ",
                id % 2,
                id % 3,
                id % 10,
                id / 10,
                id % 100,
            )
            .expect("a string takes all");
        }
        client.mutate(&fields).await;
    }
    client
}

async fn planned(client: &Client, arguments: &str) -> (Vec<i64>, Value) {
    let query = format!(
        "{{ documents({arguments}) {{ nodes {{ key }} plan {{ index scanned returned }} }} }}"
    );
    let data = client.data(&query, NONE).await;
    let nodes = data["documents"]["nodes"].as_array().expect("nodes");
    let id = |node: &Value| {
        node["key"]
            .as_str()
            .expect("an id")
            .parse()
            .expect("an integer")
    };
    (
        nodes.iter().map(id).collect(),
        data["documents"]["plan"].clone(),
    )
}

/// Whether the document of this number matches.
type Test = fn(i64) -> bool;

async fn plans_name_the_indexes_used() {
    let client = numbered().await;
    let cases: [(&str, Option<&str>, Test); 17] = [
        (r#"{at: "$.a", eq: 1}"#, Some("a"), |id| id % 2 == 1),
        (r#"{at: "$['a']", eq: 1.0}"#, Some("a"), |id| id % 2 == 1),
        // Each index has too many entries to check the other condition in the documents of one.
        (
            r#"{all: [{at: "$.a", eq: 1}, {at: "$.b", eq: 2}]}"#,
            Some("a & b"),
            |id| id % 6 == 5,
        ),
        // One index has few entries, so the other condition is checked in the documents.
        (
            r#"{all: [{at: "$.a", eq: 1}, {at: "$.c", eq: 7}]}"#,
            Some("c"),
            |id| id == 7,
        ),
        (
            r#"{all: [{at: "$.a", eq: 1}, {at: "$.c", gte: 7, lt: 12}]}"#,
            Some("c"),
            |id| [7, 9, 11].contains(&id),
        ),
        (
            r#"{any: [{at: "$.a", eq: 1}, {at: "$.c", lt: 4}]}"#,
            Some("a | c"),
            |id| id % 2 == 1 || id < 4,
        ),
        (
            r#"{at: "$.c", in: [3, 5, 5.0, 900, "x"]}"#,
            Some("c"),
            |id| id == 3 || id == 5,
        ),
        (r#"{at: "$.c", gt: 590}"#, Some("c"), |id| id > 590),
        (r#"{at: "$.x", eq: 3}"#, Some("xy"), |id| id % 10 == 3),
        (
            r#"{all: [{at: "$.x", eq: 3}, {at: "$.y", gte: 50}]}"#,
            Some("xy"),
            |id| id % 10 == 3 && id >= 500,
        ),
        (
            r#"{all: [{at: "$.x", in: [3, 4]}, {at: "$.y", in: [1, 2]}]}"#,
            Some("xy"),
            |id| [13, 14, 23, 24].contains(&id),
        ),
        (r#"{at: "$.tags[*]", eq: 42}"#, Some("tags"), |id| {
            id % 100 == 42
        }),
        (
            r#"{all: [{at: "$.tags[*]", eq: 42}, {at: "$.tags[*]", eq: "all"}]}"#,
            Some("tags"),
            |id| id % 100 == 42,
        ),
        // An index is not used for its second path alone, or for a path that it does not have.
        (r#"{at: "$.y", eq: 50}"#, None, |id| id / 10 == 50),
        (r#"{not: {at: "$.a", eq: 1}}"#, None, |id| id % 2 == 0),
        (r#"{at: "$.a", ne: 1}"#, None, |id| id % 2 == 0),
        (
            r#"{any: [{at: "$.a", eq: 1}, {at: "$.z", eq: 2}]}"#,
            None,
            |id| id % 2 == 1 || id == 2,
        ),
    ];
    for (filter, index, passes) in cases {
        let expected: Vec<i64> = (0..DOCUMENTS).filter(|id| passes(*id)).collect();
        let (ids, plan) = planned(&client, &format!("where: {filter}, first: 1000")).await;
        assert_eq!(ids, expected, "{filter}");
        assert_eq!(plan["index"], json!(index), "{filter}");
        assert_eq!(plan["returned"], json!(expected.len()));
        let (ids, _) = planned(&client, &format!("where: {filter}, last: 3")).await;
        assert_eq!(
            ids,
            expected[expected.len().saturating_sub(3)..],
            "{filter}"
        );
    }
}

async fn plans_name_the_index_that_provides_the_order() {
    let client = numbered().await;
    for (arguments, index, expected) in [
        (
            r#"orderBy: {by: "$.c", descending: true}, first: 2"#,
            Some("c"),
            [599, 598],
        ),
        (
            r#"orderBy: {by: "$.c"}, where: {at: "$.c", gt: 7}, first: 2"#,
            Some("c"),
            [8, 9],
        ),
        (
            r#"orderBy: {by: "$.y"}, where: {at: "$.x", eq: 3}, first: 2"#,
            Some("xy"),
            [3, 13],
        ),
        (
            r#"orderBy: {by: "$.z"}, where: {at: "$.c", gt: 7, lt: 12}, first: 2"#,
            Some("c"),
            [8, 9],
        ),
        (
            r#"orderBy: {by: "$.c"}, where: {at: "$.z", gt: 7}, first: 2"#,
            Some("c"),
            [8, 9],
        ),
        (
            r#"orderBy: {by: "$.z", descending: true}, first: 2"#,
            None,
            [599, 598],
        ),
    ] {
        let (ids, plan) = planned(&client, arguments).await;
        assert_eq!(ids, expected, "{arguments}");
        assert_eq!(plan["index"], json!(index), "{arguments}");
    }
}

async fn an_equality_by_index_reads_one_short_range() {
    let client = numbered().await;
    let query = r#"{ documents(where: {at: "$.tags[*]", eq: 42}) { nodes { key } plan { scanned returned } } }"#;
    let (data, cost) = client.cost(query, NONE).await;
    assert_eq!(
        data["documents"]["plan"],
        json!({"scanned": 6, "returned": 6})
    );
    // One range has the definitions of five indexes, the other one the six entries.
    assert_eq!(
        (cost.transactions, cost.gets, cost.ranges, cost.pairs),
        (1, 0, 2, 5 + 6)
    );
}

async fn pages_read_their_documents_in_one_round() {
    let client = numbered().await;
    let query = r#"{ documents(where: {at: "$.a", eq: 1}, first: 50) {
        nodes { z: value(path: "/z") y: value(path: "/y") } edges { node { z: value(path: "/z") } cursor }
        plan { scanned }
    } }"#;
    let (data, cost) = client.cost(query, NONE).await;
    assert_eq!(data["documents"]["plan"]["scanned"], json!(51));
    assert_eq!(data["documents"]["nodes"][49], json!({"z": 99, "y": 9}));
    // Definitions, entries, and two ranges of each document, of one leaf each.
    assert_eq!((cost.transactions, cost.gets, cost.ranges), (1, 0, 2 + 100));
    assert_eq!(cost.pairs, 5 + 51 + 100);
    client.renew_snapshot().await;
    let query = r#"{ documents(where: {at: "$.a", eq: 1}, first: 50) { nodes { key version } } }"#;
    let (_, cost) = client.cost(query, NONE).await;
    assert_eq!((cost.transactions, cost.gets, cost.ranges), (1, 50, 2));
}

async fn listings_read_the_catalog_and_no_document() {
    let client = numbered().await;
    let query = "{ documents(first: 50) { nodes { key collection } pageInfo { hasNextPage } plan { index scanned covered } } }";
    let (data, cost) = client.cost(query, NONE).await;
    let plan = json!({"index": null, "scanned": 51, "covered": true});
    assert_eq!(data["documents"]["plan"], plan);
    assert_eq!((cost.gets, cost.ranges, cost.pairs), (0, 1, 51));
    let (data, cost) = client
        .cost(
            "{ documents(first: 10000, scanLimit: 1) { nodes { key } } }",
            NONE,
        )
        .await;
    let nodes = data["documents"]["nodes"].as_array().map(Vec::len);
    assert_eq!((nodes, cost.pairs), (Some(600), 600));
}

async fn pages_in_index_order_read_only_the_page() {
    let client = numbered().await;
    for order in ["", ", descending: true"] {
        client.renew_snapshot().await;
        let query = format!(
            r#"{{ documents(orderBy: {{by: "$.c"{order}}}, first: 20) {{ nodes {{ key }} plan {{ scanned }} }} }}"#
        );
        let (data, cost) = client.cost(&query, NONE).await;
        assert_eq!(
            data["documents"]["nodes"].as_array().map(Vec::len),
            Some(20)
        );
        let scanned = data["documents"]["plan"]["scanned"]
            .as_u64()
            .expect("a count");
        assert!((21..100).contains(&scanned), "{scanned}");
        assert_eq!(cost.pairs, 5 + scanned);
        assert_eq!(cost.gets, 0);
    }
}

async fn indexes_are_read_at_most_once_in_a_snapshot() {
    let client = numbered().await;
    let query = r#"{ documents(where: {at: "$.z", eq: 7}, scanLimit: 1000) { nodes { key } plan { index } } }"#;
    let (_, first) = client.cost(query, NONE).await;
    let (data, second) = client.cost(query, NONE).await;
    assert_eq!(data["documents"]["plan"]["index"], Value::Null);
    assert!(
        // A snapshot of a cluster keeps nothing for others.
        [first.ranges, first.ranges - 1].contains(&second.ranges),
        "{} and {}",
        first.ranges,
        second.ranges
    );
    let query = r#"{ documents(where: {at: "$.c", eq: 7}) { nodes { key } plan { index } } }"#;
    for index in [json!("c"), Value::Null] {
        let data = client.data(query, NONE).await;
        assert_eq!(data["documents"]["nodes"], json!([{"key": "7"}]));
        assert_eq!(data["documents"]["plan"]["index"], index);
        client.mutate(r#"dropIndex(name: "c")"#).await;
    }
}

async fn scans_stop_at_their_limit_and_suggest_an_index() {
    let client = numbered().await;
    for (arguments, told) in [
        (
            r#"where: {at: "$.z", eq: 550}"#,
            r#"createIndex(collection: "D", name: "z", on: ["$.z"])"#,
        ),
        (
            r#"where: {all: [{at: "$.z", gt: 550}, {at: "$.w.v", eq: 1}, {at: "$.q[*]", eq: 2}]}"#,
            r#"createIndex(collection: "D", name: "w_v_q_z", on: ["$.w.v", "$.q[*]", "$.z"])"#,
        ),
        (
            r#"where: {at: "$.w", eq: 550}, orderBy: {by: "$.z"}"#,
            r#"createIndex(collection: "D", name: "w_z", on: ["$.w", "$.z"])"#,
        ),
        (
            r#"orderBy: {by: "$['z\"']"}"#,
            r#"name: "z\"", on: ["$['z\"']"])"#,
        ),
        (
            r#"where: {any: [{at: "$.c", eq: 1}, {at: "$.z", eq: 2}]}"#,
            r#"createIndex(collection: "D", name: "z", on: ["$.z"])"#,
        ),
        (
            r#"where: {all: [{at: "$.a", eq: 1}, {at: "$.z", eq: 598}]}"#,
            r#"createIndex(collection: "D", name: "a_z", on: ["$.a", "$.z"])"#,
        ),
        (r#"where: {not: {at: "$.z", gte: 0}}"#, "no index can serve"),
        (r#"where: {at: "$..z", eq: -1}"#, "no index can serve"),
    ] {
        let query = format!("{{ documents({arguments}, scanLimit: 200) {{ nodes {{ key }} }} }}");
        let before = client.counts();
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "TOO_COMPLEX", "{message}");
        assert!(
            message.starts_with("200 documents were examined"),
            "{message}"
        );
        assert!(message.contains(told), "{message}");
        let ranges = client.counts().ranges - before.ranges;
        assert!(ranges < 1_000, "{ranges}");
        if let Some(create) = message.find("createIndex(") {
            let create = &message[create..];
            let create = &create[..=create.find("])").expect("an end") + 1];
            client.mutate(&format!("{create} {{ state }}")).await;
            client.build().await;
            client.data(&query, NONE).await;
            let names = create.split("name: ").nth(1).expect("a name");
            let name = names.split(", on").next().expect("a name");
            client.mutate(&format!("dropIndex(name: {name})")).await;
        }
    }
    // A full page needs no more.
    let query = r#"{ documents(where: {at: "$.z", lt: 100}, first: 100, scanLimit: 100) {
        plan { index scanned returned } pageInfo { hasNextPage }
    } }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["documents"]["plan"]["returned"], json!(100));
    assert_eq!(data["documents"]["pageInfo"]["hasNextPage"], json!(true));
}

async fn indexes_being_built_are_not_used_but_named() {
    let client = numbered().await;
    let state = client
        .mutate(r#"createIndex(name: "by z", on: ["$.z"]) { state }"#)
        .await;
    assert_eq!(state["createIndex"]["state"], json!("BUILDING"));
    let arguments = r#"where: {at: "$.z", eq: 5}"#;
    let (ids, plan) = planned(&client, arguments).await;
    assert_eq!((&ids[..], &plan["index"]), (&[5][..], &Value::Null));
    let query = format!("{{ documents({arguments}, scanLimit: 10) {{ nodes {{ key }} }} }}");
    let (code, message) = client.error(&query, NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(
        message.contains("\"by z\", which would help, is being built"),
        "{message}"
    );
    client.build().await;
    let (ids, plan) = planned(&client, arguments).await;
    assert_eq!((&ids[..], &plan["index"]), (&[5][..], &json!("by z")));
}

async fn values_too_long_for_an_index_are_not_found() {
    let client = numbered().await;
    let long = "x".repeat(20_000);
    for (test, expected) in [("eq", 0), ("gte", 0), ("lte", 0), ("startsWith", 0)] {
        let query = format!(
            "query($v: {}) {{ documents(where: {{at: \"$.tags[*]\", {test}: $v}}) {{ nodes {{ key }} plan {{ index }} }} }}",
            if test == "startsWith" {
                "String"
            } else {
                "JSON"
            }
        );
        let data = client.data(&query, json!({"v": long})).await;
        let nodes = data["documents"]["nodes"].as_array().map(Vec::len);
        let expected = if test == "lte" { 100 } else { expected };
        assert_eq!(nodes, Some(expected), "{test}");
        assert_eq!(data["documents"]["plan"]["index"], json!("tags"), "{test}");
    }
}

/// The keys, and how many keys and documents were scanned.
async fn keyed(client: &Client, arguments: &str) -> (Vec<String>, u64) {
    let query = format!("{{ documents({arguments}) {{ nodes {{ key }} plan {{ scanned }} }} }}");
    let data = client.data(&query, NONE).await;
    let nodes = data["documents"]["nodes"].as_array().expect("nodes");
    let keys = nodes
        .iter()
        .map(|node| node["key"].as_str().expect("a key"));
    let scanned = &data["documents"]["plan"]["scanned"];
    (
        keys.map(str::to_owned).collect(),
        scanned.as_u64().expect("a number"),
    )
}

async fn sets_of_keys_read_only_their_ranges() {
    let client = client().await;
    for tenant in ["a", "b", "c"] {
        let mut fields = String::new();
        for number in 100..400 {
            write!(
                fields,
                "d{number}: insertDocument(id: \"{tenant}/{number}\", document: {{n: {number}, t: {}}}) {{ key }} ",
                number % 2
            )
            .expect("a string takes all");
        }
        client.mutate(&fields).await;
    }
    client
        .mutate(r#"createIndex(name: "t", on: ["$.t"]) { state }"#)
        .await;
    client.build().await;
    let key = |number: u64| format!("b/{number}");
    let cases: [(&str, Vec<String>, u64); 8] = [
        (
            r#"keys: {prefix: "b/"}, first: 50"#,
            (100..150).map(key).collect(),
            51,
        ),
        (
            r#"keys: {prefix: "b/"}, orderBy: {descending: true}, first: 50"#,
            (350..400).rev().map(key).collect(),
            51,
        ),
        (
            r#"keys: {prefix: "b/"}, last: 50"#,
            (350..400).map(key).collect(),
            51,
        ),
        (
            r#"keys: {prefix: "b/", gte: "b/250", lt: "b/260"}"#,
            (250..260).map(key).collect(),
            10,
        ),
        // Half of the documents of the tenant are read through the index.
        (
            r#"keys: {prefix: "b/"}, where: {at: "$.t", eq: 1}, first: 5"#,
            [101, 103, 105, 107, 109].map(key).to_vec(),
            6,
        ),
        (
            r#"keys: {in: ["b/300", "b/7", "b/100"]}, where: {at: "$.t", eq: 0}"#,
            [100, 300].map(key).to_vec(),
            10,
        ),
        // Ten keys and ten documents.
        (
            r#"keys: {gt: "b/109", lt: "b/120"}, where: {at: "$.n", gte: 115}"#,
            (115..120).map(key).collect(),
            20,
        ),
        (r#"keys: {gt: "b", lt: "a"}"#, Vec::new(), 0),
    ];
    for (arguments, expected, scanned_max) in cases {
        let (keys, scanned) = keyed(&client, arguments).await;
        assert_eq!(keys, expected, "{arguments}");
        assert!(scanned <= scanned_max, "{arguments}: {scanned}");
    }
    let query = r#"{ documents(keys: {prefix: "b/"}, first: 50) { nodes { key } } }"#;
    let (_, cost) = client.cost(query, NONE).await;
    assert_eq!((cost.gets, cost.ranges, cost.pairs), (0, 1, 51));
}

async fn one_index_serves_orders_by_its_first_columns_in_all_directions() {
    let client = numbered().await;
    // `x` is the last digit of the number, and `y` the digits before it.
    let cases: [(&str, [i64; 4], u64); 7] = [
        (r#"[{by: "$.x"}, {by: "$.y"}]"#, [0, 10, 20, 30], 5),
        (
            r#"[{by: "$.x", descending: true}, {by: "$.y", descending: true}]"#,
            [599, 589, 579, 569],
            5,
        ),
        (
            r#"[{by: "$.x"}, {by: "$.y", descending: true}]"#,
            [590, 580, 570, 560],
            40,
        ),
        (
            r#"[{by: "$.x", descending: true}, {by: "$.y"}]"#,
            [9, 19, 29, 39],
            40,
        ),
        // The 60 entries of a value are sorted by key.
        (r#"{by: "$.x"}"#, [0, 10, 20, 30], 80),
        (r#"{by: "$.x", descending: true}"#, [599, 589, 579, 569], 80),
        (
            r#"[{by: "$.x", descending: true}, {}]"#,
            [9, 19, 29, 39],
            80,
        ),
    ];
    for (order, expected, scanned_max) in cases {
        let (ids, plan) = planned(&client, &format!("orderBy: {order}, first: 4")).await;
        assert_eq!(ids, expected, "{order}");
        assert_eq!(plan["index"], json!("xy"), "{order}");
        let scanned = plan["scanned"].as_u64().expect("a number");
        assert!(scanned <= scanned_max, "{order}: {scanned}");
    }
}

async fn plans_tell_whether_a_document_was_read() {
    let client = numbered().await;
    for (arguments, selected, covered) in [
        (r#"where: {at: "$.a", eq: 1}"#, "key id collection", true),
        (r#"where: {at: "$.a", eq: 1}"#, "key value", false),
        (r#"where: {at: "$.a", eq: 1}"#, "version", false),
        (r#"where: {at: "$.c", gt: 590}"#, "key", true),
        (r#"where: {at: "$.z", gt: 590}"#, "key", false),
        (r#"orderBy: {by: "$.c"}"#, "key", true),
        (r#"orderBy: {by: "$.tags[*]"}"#, "key", false),
        (r#"keys: {in: [1, 2]}"#, "key", true),
    ] {
        let query =
            format!("{{ documents({arguments}) {{ nodes {{ {selected} }} plan {{ covered }} }} }}");
        let data = client.data(&query, NONE).await;
        let found = &data["documents"]["plan"]["covered"];
        assert_eq!(*found, json!(covered), "{arguments} {selected}");
    }
}

async fn listed_values_before_the_order_are_merged() {
    let client = numbered().await;
    let filter = r#"where: {at: "$.x", in: [3, 7, 4, "none"]}"#;
    for (order, expected) in [
        (r#"{by: "$.y"}"#, [3, 4, 7, 13, 14]),
        (
            r#"{by: "$.y", descending: true}"#,
            [597, 594, 593, 587, 584],
        ),
        (
            r#"[{by: "$.x", descending: true}, {by: "$.y"}]"#,
            [7, 17, 27, 37, 47],
        ),
    ] {
        let arguments = format!("{filter}, orderBy: {order}, first: 5, scanLimit: 1");
        let (ids, plan) = planned(&client, &arguments).await;
        assert_eq!(ids, expected, "{order}");
        assert_eq!(plan["index"], json!("xy"), "{order}");
        let scanned = plan["scanned"].as_u64().expect("a number");
        assert!(scanned < 40, "{order}: {scanned}");
    }
}
