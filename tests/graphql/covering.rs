//! Pages whose values come from the entries of an index: `plan { covered }`.

use std::sync::Arc;
use std::time::Duration;

use foundationdb_tuple::{Element, pack, unpack};
use futures::future::BoxFuture;
use phyllo::key::Family;
use phyllo::store::{Decision, Transaction, TransactionResult};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::random_store::{INDEXES, QUERIES, Run, seeds};
use super::support::{Client, NONE, all_pairs, client};

cases!(
    async [
        entries_have_the_values_of_the_documents,
        changes_of_the_form_of_a_number_change_the_entry,
        entries_of_older_indexes_are_not_used_for_values,
        random_pages_have_the_values_of_the_documents,
        pages_in_the_order_of_keys_have_values_from_entries,
    ]
);

/// The nodes of a page ordered by `$.a`, and whether it is covered.
async fn page(client: &Client, fields: &str) -> (String, bool) {
    let query = format!(
        "{{ documents(orderBy: {{by: \"$.a\"}}) {{ nodes {{ {fields} }} plan {{ covered }} }} }}"
    );
    let text = client.text(&query, NONE).await;
    let (nodes, plan) = text.split_once("],\"plan\":").expect(&text);
    (
        nodes.replace(r#"{"data":{"documents":{"nodes":["#, ""),
        plan.contains("true"),
    )
}

const A_AND_B: &str = r#"a: value(path: "/a") b: value(path: "/b")"#;

async fn client_with_index() -> Client {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "a_b", on: ["$.a", "$.b"]) { state }"#)
        .await;
    client
}

async fn entries_have_the_values_of_the_documents() {
    let client = client_with_index().await;
    let values = [
        "null",
        "false",
        "true",
        "-1.5",
        "-0.0",
        "1",
        "2.0",
        "9007199254740993",
        "1e300",
        r#""a\u0000\"é""#,
    ];
    let mut expected = Vec::new();
    for (id, value) in values.iter().enumerate() {
        client
            .insert(&id.to_string(), format!("{{\"a\":{value},\"c\":{id}}}"))
            .await;
        let value = client
            .text(
                &format!("{{ document(id: {id}) {{ value(path: \"/a\") }} }}"),
                NONE,
            )
            .await;
        let value = value
            .replace(r#"{"data":{"document":{"value":"#, "")
            .replace("}}}", "");
        expected.push(format!("{{\"a\":{value},\"b\":null}}"));
    }
    assert_eq!(page(&client, A_AND_B).await, (expected.join(","), true));
    let (_, covered) = page(&client, r#"a: value(path: "/a") c: value(path: "/c")"#).await;
    assert!(!covered, "$.c is not in the index");
    for fields in ["value", "version", r#"subdocument(path: "/a") { kind }"#] {
        let (_, covered) = page(&client, fields).await;
        assert!(!covered, "{fields}");
    }
    client.insert("o", r#"{"a":{"x":1.0}}"#).await;
    expected.push(r#"{"a":{"x":1.0},"b":null}"#.to_owned());
    assert_eq!(page(&client, A_AND_B).await, (expected.join(","), false));
    assert_eq!(client.check().await, []);
}

async fn changes_of_the_form_of_a_number_change_the_entry() {
    let client = client_with_index().await;
    for (number, value) in ["1", "1.0", "1", "-0.0", "0", "0.0"].iter().enumerate() {
        let document = format!("{{\"a\":{value},\"b\":\"{number}\"}}");
        let mutation = "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { key } }";
        client.data(mutation, format!("{{\"d\":{document}}}")).await;
        assert_eq!(page(&client, A_AND_B).await, (document, true));
        assert_eq!(client.check().await, []);
    }
    client.mutate("deleteDocument(id: 1) { deleted }").await;
    assert_eq!(client.check().await, []);
}

/// Removes the mark of exact indexes from all definitions, and the values of all entries: an index
/// as programs that know formats to 4 create it.
async fn age(client: &Client) {
    let store = client.database.store().clone();
    let snapshot = store.snapshot().await.expect("a snapshot");
    let (begin, end) = Family::definitions("D");
    let definitions = all_pairs(&*snapshot, &begin, &end).await;
    let aged = definitions.iter().map(|(key, value)| {
        let mut elements: Vec<Element<'_>> = unpack(value).expect("a tuple");
        elements.retain(|element| *element != Element::Bool(true));
        (key.to_vec(), pack(&elements))
    });
    let aged: Vec<(Vec<u8>, Vec<u8>)> = aged.collect();
    let write = move |transaction: Arc<dyn Transaction>| {
        for (key, value) in &aged {
            transaction.set(key, value);
        }
        Box::pin(std::future::ready(Ok(Decision::Commit(())))) as BoxFuture<'static, _>
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    let written = client.database.transact(deadline, write).await;
    assert!(matches!(written, Ok(TransactionResult::Committed((), _))));
}

async fn entries_of_older_indexes_are_not_used_for_values() {
    let client = client_with_index().await;
    age(&client).await;
    client.insert("1", r#"{"a":1.0}"#).await;
    client.insert("2", r#"{"a":2}"#).await;
    let expected = r#"{"a":1.0,"b":null},{"a":2,"b":null}"#;
    assert_eq!(page(&client, A_AND_B).await, (expected.to_owned(), false));
    assert_eq!(client.check().await, []);
    let change = r#"replaceDocument(id: 1, path: "/a", document: 3.0) { key }"#;
    client.mutate(change).await;
    assert_eq!(client.check().await, []);
    client
        .mutate(r#"dropIndex(name: "a_b") createIndex(name: "a_b", on: ["$.a", "$.b"]) { state }"#)
        .await;
    client.build().await;
    let expected = r#"{"a":2,"b":null},{"a":3.0,"b":null}"#;
    assert_eq!(page(&client, A_AND_B).await, (expected.to_owned(), true));
    assert_eq!(client.check().await, []);
}

/// The path in list form of a JSONPath of names and indexes.
fn list_path(path: &str) -> Option<Value> {
    Some(match path {
        "$" => json!([]),
        "$.a" => json!(["a"]),
        "$.b" | "$['b']" => json!(["b"]),
        "$.o.x" => json!(["o", "x"]),
        "$.list[0]" => json!(["list", 0]),
        _ => return None,
    })
}

async fn random_pages_have_the_values_of_the_documents() {
    let mut covered = [0, 0];
    for seed in seeds() {
        let mut run = Run::new(5_000_000 + seed).await;
        for number in 0..QUERIES {
            let index = *run.random.choose(&INDEXES);
            let paths: Option<Vec<Value>> = index.iter().map(|path| list_path(path)).collect();
            let Some(paths) = paths else {
                continue;
            };
            run.create_index(&json!(index)).await;
            run.client.build().await;
            let writes = run.random.up_to(5);
            run.write(writes, &mut std::collections::BTreeSet::new())
                .await;
            let (by, filter) = if run.random.one_in(2) {
                let by = index.iter().map(|path| json!({"by": path}));
                (by.collect(), json!({}))
            } else {
                // In the order of keys.
                let tested = 1 + run.random.up_to(index.len() - 1);
                let tested = index[..tested].iter();
                let tests = tested.map(|path| {
                    if run.random.one_in(3) {
                        json!({"at": path, "gte": run.random.value()})
                    } else {
                        json!({"at": path, "in": run.random.values(12)})
                    }
                });
                (Vec::new(), json!({"all": tests.collect::<Vec<_>>()}))
            };
            let keys = run.random.keys();
            let fields = paths.iter().enumerate();
            let fields = fields.map(|(at, path)| format!("v{at}: value(path: {path}) "));
            let query = format!(
                "query($by: [DocumentOrder!], $where: DocumentFilter, $keys: DocumentKeyFilter) {{
                    documents(orderBy: $by, where: $where, keys: $keys) {{ nodes {{ key {} }} plan {{ covered }} }} }}",
                fields.collect::<String>()
            );
            let variables = json!({"by": by, "where": filter, "keys": keys});
            let told = format!("seed {seed}, query {number}: {query} {variables}");
            let data = run.client.data(&query, variables).await;
            let page = &data["documents"];
            for node in page["nodes"].as_array().expect("nodes") {
                let key = node["key"].as_str().expect("a key");
                let id = phyllo::document::id::DocumentId::parse(key).expect("an id");
                for (at, path) in index.iter().enumerate() {
                    let stored = crate::model::queries::select(path, &run.documents[&id]);
                    let stored = stored
                        .first()
                        .map_or("null".to_owned(), ToString::to_string);
                    assert_eq!(node[format!("v{at}")].to_string(), stored, "{told}: {node}");
                }
            }
            let has_nodes = page["nodes"] != json!([]);
            let is_covered = has_nodes && page["plan"]["covered"] == json!(true);
            covered[usize::from(by.is_empty())] += usize::from(is_covered);
        }
        assert_eq!(run.client.check().await, [], "seed {seed}");
    }
    assert!(!covered.contains(&0), "{covered:?} were covered");
}

async fn pages_in_the_order_of_keys_have_values_from_entries() {
    let client = client_with_index().await;
    for (id, document) in [
        ("1", r#"{"a":1.0,"b":"x"}"#),
        ("2", r#"{"a":2,"b":-0.0}"#),
        ("3", r#"{"a":1,"b":{"c":1}}"#),
        ("4", r#"{"a":1}"#),
        ("5", r#"{"a":1,"b":"x","c":2}"#),
    ] {
        client.insert(id, document).await;
    }
    let x = r#"{at: "$.b", eq: "x"}"#;
    for (filter, expected, covered) in [
        (
            format!(r#"{{all: [{{at: "$.a", eq: 1}}, {x}]}}"#),
            r#"{"a":1.0,"b":"x"},{"a":1,"b":"x"}"#,
            true,
        ),
        (
            format!(r#"{{all: [{{at: "$.a", in: [2, 1]}}, {x}]}}"#),
            r#"{"a":1.0,"b":"x"},{"a":1,"b":"x"}"#,
            true,
        ),
        (
            r#"{at: "$.a", gt: 1}"#.to_owned(),
            r#"{"a":2,"b":-0.0}"#,
            true,
        ),
        (
            r#"{all: [{at: "$.a", gte: 0}, {at: "$.b", ne: {c: 1}}]}"#.to_owned(),
            r#"{"a":1.0,"b":"x"},{"a":2,"b":-0.0},{"a":1,"b":"x"}"#,
            false,
        ),
        (
            r#"{at: "$.a", eq: 1}"#.to_owned(),
            r#"{"a":1.0,"b":"x"},{"a":1,"b":{"c":1}},{"a":1,"b":null},{"a":1,"b":"x"}"#,
            false,
        ),
    ] {
        for (direction, backward) in [("first", false), ("last", true)] {
            let query = format!(
                "{{ documents(where: {filter}, {direction}: 10) {{
                    nodes {{ {A_AND_B} }} plan {{ covered }} }} }}"
            );
            let text = client.text(&query, NONE).await;
            assert_eq!(
                text,
                format!(
                    r#"{{"data":{{"documents":{{"nodes":[{expected}],"plan":{{"covered":{covered}}}}}}}}}"#
                ),
                "{query} {backward}"
            );
        }
    }
    // A page is covered if its own entries have the values.
    let query = format!(
        r#"{{ documents(where: {{at: "$.a", eq: 1}}, keys: {{gte: 4}}, first: 1) {{
            nodes {{ {A_AND_B} }} plan {{ covered }} }} }}"#
    );
    let page = client.data(&query, NONE).await["documents"].take();
    assert_eq!(page["nodes"], json!([{"a": 1, "b": null}]));
}
