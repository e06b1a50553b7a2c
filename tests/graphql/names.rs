//! Indexes on the names of members: which documents have a member of a name.

use phyllo::key::IndexKey;
use serde_json::{Value, json};

use super::support::{Client, NONE, all_pairs, client};

cases!(
    async [
        an_index_on_names_finds_the_documents_that_have_a_member,
        names_can_be_combined_with_other_paths,
        entries_follow_the_members_and_not_what_is_below_them,
        changes_below_a_member_read_one_pair_of_it,
        large_members_are_passed_over,
        names_can_be_unique,
        tildes_elsewhere_are_rejected,
    ]
);

async fn client_with(on: &str) -> Client {
    let client = client().await;
    client
        .mutate(&format!("createIndex(name: \"i\", on: {on}) {{ state }}"))
        .await;
    client
}

/// The keys of the documents that match, and the plan.
async fn found(client: &Client, arguments: &str) -> (Vec<String>, Value) {
    let query =
        format!("{{ documents({arguments}) {{ nodes {{ key }} plan {{ index covered }} }} }}");
    let mut data = client.data(&query, NONE).await;
    let page = data["documents"].take();
    let nodes = page["nodes"].as_array().expect("nodes").iter();
    let keys = nodes.map(|node| node["key"].as_str().expect("a key").to_owned());
    (keys.collect(), page["plan"].clone())
}

/// The number of entries.
async fn entries(client: &Client) -> usize {
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let (begin, end) = IndexKey::new("D", 1).expect("short").all();
    all_pairs(&*snapshot, &begin, &end).await.len()
}

async fn an_index_on_names_finds_the_documents_that_have_a_member() {
    for on in [r#"["$.tags.*~"]"#, r#"["$['tags'][*]~"]"#] {
        let client = client_with(on).await;
        for (id, document) in [
            ("1", r#"{"tags":{"red":1,"blue":{"x":1,"y":2},"":[]}}"#),
            ("2", r#"{"tags":{"red":{},"a.b":[1,2]}}"#),
            ("3", r#"{"tags":["red"],"red":1}"#),
            ("4", r#"{"tags":"red"}"#),
            ("5", r#"{"tags":{}}"#),
            ("6", "{}"),
        ] {
            client.insert(id, document).await;
        }
        assert_eq!(entries(&client).await, 5);
        let covered = json!({"index": "i", "covered": true});
        let examined = json!({"index": "i", "covered": false});
        for (filter, keys, plan) in [
            (
                r#"{at: "$.tags.red", exists: true}"#,
                &["1", "2"][..],
                &covered,
            ),
            (r#"{at: "$.tags['a.b']", exists: true}"#, &["2"], &covered),
            (r#"{at: "$.tags['']", exists: true}"#, &["1"], &covered),
            (r#"{at: "$.tags.green", exists: true}"#, &[], &covered),
            (r#"{at: "$.tags.red", eq: 1}"#, &["1"], &examined),
            (r#"{at: "$.tags.blue.y", gt: 1}"#, &["1"], &examined),
            (
                r#"{at: "$.tags.blue[?@ > 1]", exists: true}"#,
                &["1"],
                &examined,
            ),
            (
                r#"{all: [{at: "$.tags.red", exists: true}, {at: "$.tags.blue", exists: true}]}"#,
                &["1"],
                &examined,
            ),
            (
                r#"{any: [{at: "$.tags.blue", exists: true}, {at: "$.tags['a.b']", exists: true}]}"#,
                &["1", "2"],
                &covered,
            ),
        ] {
            let (found, used) = found(&client, &format!("where: {filter}")).await;
            assert_eq!(found, keys, "{filter}");
            if !keys.is_empty() {
                assert_eq!(&used, plan, "{filter}");
            }
        }
        let (keys, plan) = found(&client, r#"where: {at: "$.tags[0]", exists: true}"#).await;
        assert_eq!((keys, &plan["index"]), (vec!["3".to_owned()], &Value::Null));
        let count = r#"{ aggregate(where: {at: "$.tags.red", exists: true}) {
            groups { count } plan { covered } } }"#;
        let counted = json!({"groups": [{"count": 2}], "plan": {"covered": true}});
        assert_eq!(client.data(count, NONE).await["aggregate"], counted);
        assert_eq!(client.check().await, []);
    }
}

async fn names_can_be_combined_with_other_paths() {
    let client = client_with(r#"["$.kind", "$.tags.*~", "$.age"]"#).await;
    for (id, document) in [
        ("1", r#"{"kind":"a","age":2,"tags":{"x":1,"y":1}}"#),
        ("2", r#"{"kind":"a","age":1,"tags":{"x":1}}"#),
        ("3", r#"{"kind":"b","age":3,"tags":{"x":1}}"#),
        ("4", r#"{"kind":"a","tags":{"x":1}}"#),
        ("5", r#"{"kind":"a","age":4}"#),
    ] {
        client.insert(id, document).await;
    }
    let tagged = r#"where: {all: [{at: "$.kind", eq: "a"}, {at: "$.tags.x", exists: true}]}"#;
    let (keys, plan) = found(&client, &format!("{tagged}, orderBy: {{by: \"$.age\"}}")).await;
    assert_eq!(keys, ["2", "1"]);
    assert_eq!(plan, json!({"index": "i", "covered": true}));
    let (keys, _) = found(&client, r#"where: {at: "$.kind", eq: "a"}"#).await;
    assert_eq!(keys, ["1", "2", "4", "5"]);
    client
        .mutate(r#"deleteDocument(id: 1, path: "/tags/x") { deleted }"#)
        .await;
    client
        .mutate(r#"deleteDocument(id: 2, path: "/tags") { deleted }"#)
        .await;
    client
        .mutate(r#"replaceDocument(id: 5, path: "/tags", document: {x: {}}) { key }"#)
        .await;
    let (keys, _) = found(&client, &format!("{tagged}, orderBy: {{by: \"$.age\"}}")).await;
    assert_eq!(keys, ["5"]);
    assert_eq!(client.check().await, []);
}

async fn entries_follow_the_members_and_not_what_is_below_them() {
    let client = client_with(r#"["$.t.*~"]"#).await;
    client.insert("1", r#"{"t":{"a":1}}"#).await;
    let put = |path: &str, value: &str| {
        format!(r#"replaceDocument(id: 1, path: "{path}", document: {value}) {{ key }}"#)
    };
    for (change, count) in [
        (put("/t/b", "{}"), 2),
        (put("/t/b/x", "1"), 2),
        (put("/t/b", "[]"), 2),
        (put("/t/a", "null"), 2),
        (
            r#"deleteDocument(id: 1, path: "/t/a") { deleted }"#.to_owned(),
            1,
        ),
        (
            r#"deleteDocument(id: 1, path: "/t/b") { deleted }"#.to_owned(),
            0,
        ),
        (put("/t", "[1, {c: 1}]"), 0),
        (put("/t", "{c: 1, d: {e: 1}}"), 2),
        (
            r#"mergeDocument(id: 1, patch: {t: {c: null, d: {f: 1}, g: 1}}) { key }"#.to_owned(),
            2,
        ),
        (
            r#"deleteDocument(id: 1, path: "/t/d/e") { deleted }"#.to_owned(),
            2,
        ),
        (put("", "{}"), 0),
        (put("/t", "{h: 1}"), 1),
        ("deleteDocument(id: 1) { deleted }".to_owned(), 0),
    ] {
        client.mutate(&change).await;
        assert_eq!(entries(&client).await, count, "{change}");
        assert_eq!(client.check().await, [], "{change}");
    }
}

async fn changes_below_a_member_read_one_pair_of_it() {
    let elements: Vec<u32> = (0..3_000).collect();
    let document = json!({"t": {"big": elements, "other": elements}});
    let change = r#"mutation { replaceDocument(id: 1, path: "/t/big/7", document: 0) { key } }"#;
    let mut costs = Vec::new();
    for on in [r#"["$.none.*~"]"#, r#"["$.t.*~"]"#] {
        let client = client_with(on).await;
        client.insert("1", &document).await;
        let (_, cost) = client.cost(change, NONE).await;
        costs.push((cost.pairs, cost.writes));
    }
    // Before and after the change.
    assert_eq!(costs[1], (costs[0].0 + 2, costs[0].1));
}

async fn large_members_are_passed_over() {
    let client = client().await;
    let elements: Vec<u32> = (0..2_000).collect();
    let document = json!({"t": {"a": elements, "b": 1, "c": elements, "d": {}}});
    client.insert("1", &document).await;
    let many: serde_json::Map<String, Value> =
        (0..600).map(|at| (format!("m{at}"), json!(at))).collect();
    client.insert("2", json!({"t": many})).await;
    client
        .mutate(r#"createIndex(name: "i", on: ["$.t.*~"]) { state }"#)
        .await;
    let before = client.counts().pairs;
    client.build().await;
    let read = client.counts().pairs - before;
    assert!(read < 2_400, "{read} pairs");
    assert_eq!(entries(&client).await, 604);
    assert_eq!(client.check().await, []);
    client
        .mutate("d1: deleteDocument(id: 1) { deleted } d2: deleteDocument(id: 2) { deleted }")
        .await;
    assert_eq!(entries(&client).await, 0);
}

async fn names_can_be_unique() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "i", on: ["$.hosts.*~"], unique: true) { state }"#)
        .await;
    client.insert("1", r#"{"hosts":{"a":{},"b":{}}}"#).await;
    let query = r#"mutation { insertDocument(document: {hosts: {c: 1, b: 2}}) { key } }"#;
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "UNIQUE_VIOLATION");
    assert!(message.contains(r#""b" at $.hosts.*~"#), "{message}");
}

async fn tildes_elsewhere_are_rejected() {
    let client = client().await;
    for path in ["$.a~", "$~", "$.*~.a", "$.a[0]~", "$.*.*~", "$.*~~"] {
        let query =
            format!("mutation {{ createIndex(name: \"i\", on: [\"{path}\"]) {{ state }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{path}: {message}");
    }
    for field in [
        r#"documents(orderBy: {by: "$.a.*~"}) { nodes { key } }"#,
        r#"aggregate(groupBy: ["$.a.*~"]) { groupCount }"#,
        r#"documents(where: {at: "$.a.*~", eq: "x"}) { nodes { key } }"#,
    ] {
        let (code, message) = client.error(&format!("{{ {field} }}"), NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{field}");
        assert!(
            message.contains("the end of a path of an index"),
            "{message}"
        );
    }
}
