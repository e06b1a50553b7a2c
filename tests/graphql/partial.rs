//! Partial indexes: which documents have entries, which queries use them, and uniqueness among the
//! documents that pass.

use foundationdb_tuple::unpack;
use phyllo::database::{Builder, FORMAT_SELECTIVE_INDEXES};
use phyllo::key::{Family, IndexKey};
use phyllo::store::Read;
use serde_json::{Value, json};

use super::support::{Client, NONE, all_pairs, client};

cases!(
    async [
        queries_whose_filter_implies_that_of_an_index_use_it,
        conditions_that_the_filter_of_an_index_proves_are_covered,
        values_are_unique_among_the_documents_that_pass,
        every_change_that_a_filter_depends_on_changes_the_entries,
        documents_that_do_not_pass_may_have_any_value,
        existing_documents_that_pass_get_entries,
        definitions_have_their_filter,
        invalid_filters_are_rejected,
        errors_propose_an_index_that_the_query_can_use,
        older_programs_reject_stores_with_selective_indexes,
    ]
    threads [
        entries_agree_with_documents_after_concurrent_changes,
    ]
);

const ACTIVE: &str = r#"createIndex(name: "active age", on: ["$.age"],
    where: {at: "$.status", eq: "active"}) { state }"#;

/// The keys of the documents that match, and the index of the plan.
async fn found(client: &Client, arguments: &str) -> (Vec<String>, Value) {
    let query = format!(
        "{{ documents({arguments}) {{ nodes {{ key }} plan {{ index partial covered }} }} }}"
    );
    let mut data = client.data(&query, NONE).await;
    let page = data["documents"].take();
    let nodes = page["nodes"].as_array().expect("nodes").iter();
    let keys = nodes.map(|node| node["key"].as_str().expect("a key").to_owned());
    (keys.collect(), page["plan"].clone())
}

/// The documents that have entries in the index of this number.
async fn entries(client: &Client, number: u64) -> Vec<String> {
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let key = IndexKey::new("D", number).expect("short");
    let (begin, end) = key.all();
    let pairs = all_pairs(&*snapshot, &begin, &end).await;
    let entries = pairs.iter().map(|(entry, _)| {
        let (_, id) = key.parse(entry, 1).expect("an entry");
        id.to_string()
    });
    entries.collect()
}

async fn people() -> Client {
    let client = client().await;
    client.mutate(ACTIVE).await;
    for (id, person) in [
        ("1", r#"{"age":40,"status":"active","name":"a"}"#),
        ("2", r#"{"age":30,"status":"active"}"#),
        ("3", r#"{"age":20,"status":"gone"}"#),
        ("4", r#"{"age":10}"#),
        ("5", r#"{"status":"active"}"#),
    ] {
        client.insert(id, person).await;
    }
    assert_eq!(entries(&client, 1).await, ["2", "1"]);
    client
}

async fn queries_whose_filter_implies_that_of_an_index_use_it() {
    let client = people().await;
    let used = json!("active age");
    for (filter, keys, index) in [
        (
            r#"{all: [{at: "$.age", gt: 30}, {at: "$.status", eq: "active"}]}"#,
            &["1"][..],
            &used,
        ),
        (
            r#"{all: [{at: "$.age", gt: 5}, {at: "$.status", in: ["active"]}, {at: "$.name", exists: true}]}"#,
            &["1"],
            &used,
        ),
        (
            r#"{all: [{any: [{at: "$.age", eq: 30}, {at: "$.age", eq: 20}]}, {at: "$.status", eq: "active"}]}"#,
            &["2"],
            &json!("active age"),
        ),
        (r#"{at: "$.age", gt: 15}"#, &["1", "2", "3"], &Value::Null),
        (
            r#"{all: [{at: "$.age", gt: 15}, {at: "$.status", exists: true}]}"#,
            &["1", "2", "3"],
            &Value::Null,
        ),
        (
            r#"{all: [{at: "$.age", gt: 15}, {at: "$.status", in: ["active", "gone"]}]}"#,
            &["1", "2", "3"],
            &Value::Null,
        ),
        (
            r#"{at: "$.status", eq: "active"}"#,
            &["1", "2", "5"],
            &Value::Null,
        ),
    ] {
        let (found, plan) = found(&client, &format!("where: {filter}")).await;
        assert_eq!(found, keys, "{filter}");
        assert_eq!(&plan["index"], index, "{filter}");
        assert_eq!(plan["partial"], json!(!index.is_null()), "{filter}");
    }
}

async fn conditions_that_the_filter_of_an_index_proves_are_covered() {
    let client = people().await;
    let active = r#"where: {at: "$.status", eq: "active"}"#;
    let (keys, plan) = found(&client, &format!("{active}, orderBy: {{by: \"$.age\"}}")).await;
    assert_eq!(keys, ["2", "1"]);
    assert_eq!(
        plan,
        json!({"index": "active age", "partial": true, "covered": true})
    );
    let (keys, _) = found(&client, "orderBy: {by: \"$.age\"}").await;
    assert_eq!(keys, ["4", "3", "2", "1"]);
    let query = format!(
        "{{ documents({active}, orderBy: {{by: \"$.age\", descending: true}}, first: 1) {{
            totalCount nodes {{ value(path: \"/age\") }} plan {{ covered }} }}
            aggregate({active}, groupBy: [\"$.age\"]) {{
            groups {{ key count }} plan {{ index partial covered }} }} }}"
    );
    let data = client.data(&query, NONE).await;
    let page = json!({"totalCount": 2, "nodes": [{"value": 40}], "plan": {"covered": true}});
    assert_eq!(data["documents"], page);
    let groups = json!({
        "groups": [{"key": [30], "count": 1}, {"key": [40], "count": 1}],
        "plan": {"index": "active age", "partial": true, "covered": true},
    });
    assert_eq!(data["aggregate"], groups);
    // A document without an age counts, and has no entry.
    let query = format!("{{ aggregate({active}) {{ groups {{ count }} plan {{ index }} }} }}");
    let data = client.data(&query, NONE).await;
    let all = json!({"groups": [{"count": 3}], "plan": {"index": null}});
    assert_eq!(data["aggregate"], all);
}

async fn values_are_unique_among_the_documents_that_pass() {
    let client = client().await;
    client
        .mutate(
            r#"createIndex(name: "login", on: ["$.login"], unique: true,
                where: {not: {at: "$.deleted", exists: true}}) { state }"#,
        )
        .await;
    client.insert("1", r#"{"login":"a"}"#).await;
    client.insert("2", r#"{"login":"a","deleted":true}"#).await;
    client
        .insert("3", r#"{"login":"a","deleted":{"by":1}}"#)
        .await;
    let restore = r#"mutation { deleteDocument(id: 2, path: "/deleted") { deleted } }"#;
    let insert = r#"mutation { insertDocument(document: {login: "a"}) { key } }"#;
    for violation in [restore, insert] {
        let (code, message) = client.error(violation, NONE).await;
        assert_eq!(code, "UNIQUE_VIOLATION", "{message}");
    }
    client
        .mutate(r#"replaceDocument(id: 1, path: "/deleted", document: null) { key }"#)
        .await;
    client.data(restore, NONE).await;
    let (code, _) = client
        .error(
            r#"mutation { deleteDocument(id: 3, path: "/deleted") { deleted } }"#,
            NONE,
        )
        .await;
    assert_eq!(code, "UNIQUE_VIOLATION");
    assert_eq!(entries(&client, 1).await, ["2"]);
    assert_eq!(client.check().await, []);
}

async fn every_change_that_a_filter_depends_on_changes_the_entries() {
    let client = client().await;
    client
        .mutate(
            r#"createIndex(name: "i", on: ["$.tags[*]"], where: {any: [
                {at: "$.a.b", gte: 1}, {at: "$.list[1]", startsWith: "x"}]}) { state }"#,
        )
        .await;
    client
        .insert("1", r#"{"tags":["s","t"],"a":{"b":0},"list":[]}"#)
        .await;
    let put = |path: &str, value: &str| {
        format!(r#"replaceDocument(id: 1, path: "{path}", document: {value}) {{ key }}"#)
    };
    let long = format!("\"x{}\"", "y".repeat(30_000));
    for (change, count) in [
        (put("/a/b", "1.5"), 2),
        (put("/a", "null"), 0),
        (put("/a", "{b: 3}"), 2),
        (put("/tags/0", "\"t\""), 1),
        (put("/a/b", "[1]"), 0),
        (put("/list/0", "\"x\""), 0),
        (put("/list/1", "\"x\""), 1),
        (
            r#"deleteDocument(id: 1, path: "/list/0") { deleted }"#.to_owned(),
            0,
        ),
        (put("/list/1", &long), 1),
        (
            r#"mergeDocument(id: 1, patch: {list: null, tags: ["u"]}) { key }"#.to_owned(),
            0,
        ),
        (
            r#"mergeDocument(id: 1, patch: {a: {b: 1}}) { key }"#.to_owned(),
            1,
        ),
        (
            r#"incrementDocument(id: 1, path: "/a/b", by: -1) { key }"#.to_owned(),
            0,
        ),
        (
            r#"incrementDocument(id: 1, path: "/a/b", by: 1) { key }"#.to_owned(),
            1,
        ),
        (put("", "{a: {b: 2}, tags: [1, 2, 3]}"), 3),
        ("deleteDocument(id: 1) { deleted }".to_owned(), 0),
    ] {
        client.mutate(&change).await;
        assert_eq!(entries(&client, 1).await.len(), count, "{change:.100}");
        assert_eq!(client.check().await, [], "{change:.100}");
    }
}

async fn documents_that_do_not_pass_may_have_any_value() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "i", on: ["$.a"], where: {at: "$.b", eq: 1}) { state }"#)
        .await;
    let long = "x".repeat(20_000);
    client.insert("1", format!("{{\"a\":\"{long}\"}}")).await;
    let pass = r#"mutation { replaceDocument(id: 1, path: "/b", document: 1) { key } }"#;
    let (code, message) = client.error(pass, NONE).await;
    assert_eq!(code, "TOO_LARGE", "{message}");
    assert!(message.contains("\"i\""), "{message}");
    assert_eq!(client.check().await, []);
}

async fn existing_documents_that_pass_get_entries() {
    let client = client().await;
    let fields = (0..50).map(|id| {
        let n = id % 5;
        format!("i{id}: insertDocument(id: {id}, document: {{a: {id}, n: {n}}}) {{ key }} ")
    });
    client.mutate(&fields.collect::<String>()).await;
    let create = r#"createIndex(name: "i", on: ["$.a"], where: {at: "$.n", lt: 2}) { state }"#;
    assert_eq!(
        client.mutate(create).await["createIndex"]["state"],
        "BUILDING"
    );
    client
        .mutate(r#"mergeDocument(id: 49, patch: {n: 0}) { key }"#)
        .await;
    client.build().await;
    assert_eq!(entries(&client, 1).await.len(), 21);
    assert_eq!(client.check().await, []);
    client.mutate(r#"dropIndex(name: "i")"#).await;
    assert_eq!(entries(&client, 1).await.len(), 0);
}

async fn definitions_have_their_filter() {
    let client = client().await;
    client.mutate(ACTIVE).await;
    let fields = "{ collections { indexes { where } } }";
    let listed = client.data(fields, NONE).await;
    let filter = json!({"at": "$.status", "eq": "active"});
    assert_eq!(listed["collections"][0]["indexes"][0]["where"], filter);
    // As it is listed, it creates the same index.
    let again = r#"mutation($where: DocumentFilter) {
        createIndex(name: "active age", on: ["$.age"], where: $where) { where state } }"#;
    let made = client.data(again, json!({"where": filter})).await;
    assert_eq!(
        made["createIndex"],
        json!({"where": filter, "state": "READY"})
    );
    for other in [Value::Null, json!({}), json!({"at": "$.status", "eq": "a"})] {
        let (code, _) = client.error(again, json!({"where": other})).await;
        assert_eq!(code, "ALREADY_EXISTS", "{other}");
    }
    let empty = client
        .mutate(r#"createIndex(name: "all", on: ["$.age"], where: {all: []}) { where }"#)
        .await;
    assert_eq!(empty["createIndex"]["where"], Value::Null);
}

async fn invalid_filters_are_rejected() {
    let client = client().await;
    for (filter, code, told) in [
        (json!({"at": "$.a[*]", "eq": 1}), "BAD_USER_INPUT", "$.a[*]"),
        (json!({"at": "$..a", "eq": 1}), "BAD_USER_INPUT", "$..a"),
        (
            json!({"not": {"at": "$.a", "contains": "x"}}),
            "BAD_USER_INPUT",
            "contains",
        ),
        (
            json!({"at": "$.a", "eq": {}}),
            "BAD_USER_INPUT",
            "an object",
        ),
        (
            json!({"at": "$.a", "in": [1, [1]]}),
            "BAD_USER_INPUT",
            "an array",
        ),
        (json!({"at": "$.a"}), "BAD_USER_INPUT", "`where`"),
        (
            json!({"at": "$.a", "eq": "x".repeat(4096)}),
            "TOO_LARGE",
            "4096",
        ),
    ] {
        let query = r#"mutation($where: DocumentFilter) {
            createIndex(name: "i", on: ["$.a"], where: $where) { state } }"#;
        let (found, message) = client.error(query, json!({"where": filter})).await;
        assert_eq!(found, code, "{filter:.100}: {message}");
        assert!(message.contains(told), "{message}");
    }
}

async fn errors_propose_an_index_that_the_query_can_use() {
    let client = people().await;
    let query =
        "{ documents(where: {at: \"$.age\", gt: 15}, scanLimit: 1, first: 5) { nodes { key } } }";
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(
        message.contains(r#"on: ["$.age"]) would create an index that"#),
        "{message}"
    );
    let query = "{ documents(where: {all: [{at: \"$.age\", exists: true}, {at: \"$.status\", eq: \"active\"}, {at: \"$.name\", eq: 1}]}, scanLimit: 1, first: 5) { nodes { key } } }";
    let (_, message) = client.error(query, NONE).await;
    assert!(
        message.contains(r#"on: ["$.status", "$.name", "$.age"]"#),
        "{message}"
    );
}

async fn format(read: &dyn Read) -> i64 {
    let key = Family::Format.key().expect("short");
    let stored = read.get(&key).await.expect("readable").expect("a format");
    let (format,) = unpack(&stored).expect("a number");
    format
}

async fn older_programs_reject_stores_with_selective_indexes() {
    for (arguments, is_raised) in [
        (r#"on: ["$.a"]"#, false),
        (r#"on: ["$.a[*]"], where: {}"#, false),
        (r#"on: ["$.a"], where: {at: "$.b", exists: true}"#, true),
        (r#"on: ["$.a.*~"]"#, true),
    ] {
        let client = client().await;
        client
            .mutate(&format!(
                "createIndex(name: \"i\", {arguments}) {{ state }}"
            ))
            .await;
        let snapshot = client.database.snapshot().await.expect("a snapshot");
        let format = format(&*snapshot).await;
        assert_eq!(format == FORMAT_SELECTIVE_INDEXES, is_raised, "{arguments}");
    }
}

async fn entries_agree_with_documents_after_concurrent_changes() {
    let client = client().await;
    for id in 0..20 {
        client
            .insert(&id.to_string(), r#"{"n":0,"on":true,"tags":{}}"#)
            .await;
    }
    client
        .mutate(
            r#"a: createIndex(name: "n", on: ["$.n"], where: {at: "$.on", eq: true}) { state }
               b: createIndex(name: "tags", on: ["$.tags.*~"], where: {at: "$.n", lt: 5}) { state }"#,
        )
        .await;
    let writers = (0..4).map(|writer| {
        let client = client.clone();
        tokio::spawn(async move {
            for round in 0..40_i32 {
                let id = (round * 7 + writer) % 20;
                let field = match (round + writer) % 5 {
                    0 => format!("replaceDocument(id: {id}, path: \"/on\", document: {}) {{ key }}", round % 3 == 0),
                    1 => format!("incrementDocument(id: {id}, path: \"/n\") {{ key }}"),
                    2 => format!("replaceDocument(id: {id}, path: \"/tags/t{}\", document: 1) {{ key }}", round % 4),
                    3 => format!("mergeDocument(id: {id}, patch: {{tags: {{t{}: null, t{}: {{}}}}}}) {{ key }}", (round + 1) % 7, round % 7),
                    _ => format!("mergeDocument(id: {id}, patch: {{n: {}}}) {{ key }}", round % 9),
                };
                client.mutate(&field).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut builder = Builder::new(client.database.clone());
    for writer in writers {
        let _step = builder.step().await;
        writer.await.expect("no writer fails");
    }
    client.build().await;
    assert_eq!(client.check().await, []);
}
