//! Random changes of typed documents, while types change, compared with the same changes of untyped ones.
//!
//! Each change is first applied to a copy of the document in a collection without a type. The copy is then
//! validated as a whole. The typed collection must accept the change exactly if the copy fits.

use phyllo::budget::{Budget, Pool, Steps};
use phyllo::database::{TypeCheckStep, TypeChecker};
use phyllo::key::Leaves;
use phyllo::limits::Bounds;
use phyllo::types::CollectionType;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::sequences;
use super::support::{Client, NONE, client};
use super::types::{set_type, stored_type};

cases!(async [random_changes_are_accepted_exactly_if_the_whole_document_fits]);

const CHANGES: usize = 60;

fn schemas() -> [Value; 3] {
    let of_list = json!({"type": "array", "minItems": 1, "maxItems": 3, "items": {
        "type": ["integer", "object"], "maximum": 5, "required": ["a"]}});
    [
        json!({"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
            "a": {"type": ["integer", "string"]}, "b": of_list,
            "c": {"type": "object", "additionalProperties": {"type": "object", "required": ["a"],
                "properties": {"a": {"type": "integer"}}}}}}),
        json!({"type": "object", "properties": {
            "a": {"type": ["integer", "string", "null"]}, "b": {"type": "array", "items": {}},
            "c": {"type": "object"}}}),
        json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": ["object", "integer", "string"],
            "properties": {"a": {"type": ["integer", "string"]}, "c": {"$ref": "#/$defs/node"},
                "b": {"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/node"}}}}}}),
    ]
}

pub(super) fn fits(schema: &Value, document: &Value) -> bool {
    let pool = Pool::new(1 << 30);
    let deadline = Instant::now() + std::time::Duration::from_secs(60);
    let budget = Budget::of_request(&Bounds::DEFAULT, &pool, deadline);
    let steps = Steps::of(&budget);
    let parsed = CollectionType::parse("D", &schema.to_string(), &steps).expect("a type");
    let leaves = Leaves::from_json(&document.to_string()).expect("JSON");
    let mut validator = parsed.validator(&[], &steps);
    for (key, value) in leaves.iter() {
        validator.push(key, value).expect("well-formed");
    }
    validator.finish().expect("validated").is_empty()
}

fn some_value(random: &mut StdRng, depth: usize) -> Value {
    match random.random_range(0..if depth > 2 { 4 } else { 8 }) {
        0 | 1 => json!(random.random_range(0..8)),
        2 => json!("s"),
        3 => json!(null),
        4 => (0..random.random_range(0..4))
            .map(|_| some_value(random, depth + 1))
            .collect(),
        _ => {
            let names = ["a", "b", "c"];
            let names = names
                .iter()
                .filter(|_| random.random_bool(0.6))
                .collect::<Vec<_>>();
            let members = names.into_iter();
            Value::Object(
                members
                    .map(|name| ((*name).to_owned(), some_value(random, depth + 1)))
                    .collect(),
            )
        }
    }
}

fn some_path(random: &mut StdRng) -> String {
    let segments = ["a", "b", "c", "0", "1", "-"];
    let length = random.random_range(1..4);
    (0..length)
        .map(|_| format!("/{}", segments.choose(random).expect("some")))
        .collect()
}

/// A change as the fields of a mutation of a collection, and its variables.
fn some_change(random: &mut StdRng, id: i64) -> (String, Value) {
    let (value, path) = (some_value(random, 0), some_path(random));
    let at = [
        "$.a", "$.b", "$.c", "$.b[*]", "$.c.*", "$.c.a", "$.b[0]", "$.c.*.a",
    ];
    let at = *at.choose(random).expect("some");
    let select = "collection: $c, where: {at: \"$\", exists: true}";
    match random.random_range(0..10) {
        0 => (
            format!("replaceDocument(collection: $c, id: {id}, document: $v) {{ key }}"),
            value,
        ),
        1 | 2 => (
            format!(
                "replaceDocument(collection: $c, id: {id}, path: {path:?}, document: $v) {{ key }}"
            ),
            value,
        ),
        3 => (
            format!("deleteDocument(collection: $c, id: {id}, path: {path:?}) {{ deleted }}"),
            value,
        ),
        4 => (
            format!("mergeDocument(collection: $c, id: {id}, patch: $v) {{ key }}"),
            value,
        ),
        5 | 6 => {
            let operations = (0..random.random_range(1..5)).map(|_| {
                let (path, from) = (some_path(random), some_path(random));
                let value = some_value(random, 1);
                match random.random_range(0..6) {
                    0 | 1 => json!({"op": "add", "path": path, "value": value}),
                    2 => json!({"op": "remove", "path": path}),
                    3 => json!({"op": "replace", "path": path, "value": value}),
                    4 => json!({"op": "move", "from": from, "path": path}),
                    _ => json!({"op": "copy", "from": from, "path": path}),
                }
            });
            let patch = operations.collect();
            (
                format!("patchDocument(collection: $c, id: {id}, patch: $v) {{ key }}"),
                patch,
            )
        }
        7 => (
            format!("updateDocuments({select}, set: [{{at: {at:?}, value: $v}}]) {{ matched }}"),
            value,
        ),
        8 => (
            format!(
                "updateDocuments({select}, unset: [{at:?}], append: [{{at: \"$.b\", value: $v}}]) {{ matched }}"
            ),
            value,
        ),
        _ => (
            format!(
                "updateDocuments({select}, remove: [{{at: \"$.b\", value: $v}}], append: [{{at: \"$.b\", values: [1, 2]}}]) {{ matched }}"
            ),
            value,
        ),
    }
}

async fn apply(client: &Client, collection: &str, (fields, value): &(String, Value)) -> Value {
    let query = format!("mutation($c: String!, $v: JSON) {{ {fields} }}");
    let query = if fields.contains("$v") {
        query
    } else {
        query.replace(", $v: JSON", "")
    };
    client
        .ask(&query, json!({"c": collection, "v": value}))
        .await
}

async fn documents(client: &Client, collection: &str) -> Vec<(String, Value)> {
    let query = format!(
        "{{ documents(collection: {collection:?}, first: 100) {{ nodes {{ key value }} }} }}"
    );
    let data = client.data(&query, NONE).await;
    let nodes = data["documents"]["nodes"].as_array().expect("a list");
    let documents = nodes
        .iter()
        .map(|node| (node["key"].to_string(), node["value"].clone()));
    documents.collect()
}

async fn random_changes_are_accepted_exactly_if_the_whole_document_fits() {
    for seed in 0..sequences() {
        let mut random = StdRng::seed_from_u64(u64::from(seed));
        run(&mut random, seed).await;
    }
}

async fn run(random: &mut StdRng, seed: u32) {
    let client = client().await;
    let schemas = schemas();
    let mut current: Option<&Value> = None;
    let mut checker = TypeChecker::new(client.database.clone());
    let (mut accepted, mut refused) = (0, 0);
    for step in 0..CHANGES {
        match random.random_range(0..20) {
            0 => {
                let schema = schemas.choose(random).expect("some");
                set_type(&client, "D", schema).await;
                current = Some(schema);
                continue;
            }
            1 if random.random_bool(0.3) => {
                client
                    .mutate(r#"dropCollectionType(collection: "D")"#)
                    .await;
                current = None;
                continue;
            }
            2 | 3 => {
                checker.step().await.expect("a step");
                continue;
            }
            // The server was killed: another one has no lease and no parsed type.
            4 => checker = TypeChecker::new(client.database.clone()),
            _ => {}
        }
        let id = random.random_range(1..4);
        let change = some_change(random, id);
        let before = documents(&client, "D").await;
        let untyped = apply(&client, "U", &change).await;
        let after = documents(&client, "U").await;
        let typed = apply(&client, "D", &change).await;
        let told = format!("seed {seed}, step {step}: {change:?}\n{typed}\n{before:?}\n{after:?}");
        if untyped.get("errors").is_some() {
            assert!(typed.get("errors").is_some(), "{told}");
            continue;
        }
        let changed = after.iter().filter(|document| !before.contains(document));
        // A change at places that fit is accepted, even if the document does not fit elsewhere.
        let all_fit = current
            .is_none_or(|schema| changed.clone().all(|(_, document)| fits(schema, document)));
        let fitted = current.is_none_or(|schema| {
            let keys: Vec<_> = changed.map(|(key, _)| key).collect();
            let mut before = before.iter().filter(|(key, _)| keys.contains(&key));
            before.all(|(_, document)| fits(schema, document))
        });
        if typed.get("errors").is_none() {
            accepted += 1;
            assert_eq!(documents(&client, "D").await, after, "{told}");
            assert!(all_fit || !fitted, "accepted, but it does not fit: {told}");
        } else {
            refused += 1;
            assert_eq!(
                typed["errors"][0]["extensions"]["code"], "TYPE_MISMATCH",
                "{told}"
            );
            assert!(!all_fit, "refused, but it fits: {told}");
            assert_eq!(documents(&client, "D").await, before, "{told}");
            reset(&client, &before).await;
        }
    }
    while checker.step().await.expect("a step") != TypeCheckStep::Nothing {}
    if let Some(schema) = current {
        let stored = documents(&client, "D").await;
        let all_fit = stored.iter().all(|(_, document)| fits(schema, document));
        let state = &stored_type(&client).await["state"];
        // A check that has failed is not repeated by a correction.
        match state.as_str() {
            Some("ENFORCED") => assert!(all_fit, "seed {seed}: {stored:?}"),
            Some("FAILED") => {
                set_type(&client, "D", schema).await;
                client.check_types().await;
                let state = stored_type(&client).await["state"] == "ENFORCED";
                assert_eq!(state, all_fit, "seed {seed}: {stored:?}");
            }
            state => panic!("seed {seed}: {state:?}"),
        }
    }
    assert!(accepted + refused > 0, "seed {seed}");
    assert_eq!(client.check().await, []);
}

/// Makes the untyped collection equal to the typed one.
async fn reset(client: &Client, documents: &[(String, Value)]) {
    client
        .mutate(r#"deleteDocuments(collection: "U", where: {}, everything: true) { matched }"#)
        .await;
    for (key, document) in documents {
        let query = "mutation($k: ID!, $d: JSON) { insertDocument(collection: \"U\", id: $k, document: $d) { key } }";
        let key: Value = serde_json::from_str(key).expect("JSON");
        client.data(query, json!({"k": key, "d": document})).await;
    }
}
