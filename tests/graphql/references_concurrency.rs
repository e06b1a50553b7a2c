//! Clients that write references while others delete and move what these lead to.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::support::{Client, NONE, client};
use super::types::set_type;
use crate::seed::test_seed;

cases!(threads[concurrent_changes_keep_every_reference_and_no_circle]);

const CLIENTS: u64 = 6;
const ROUNDS: usize = 40;
const CATEGORIES: usize = 5;

fn reference(members: &Value) -> Value {
    let mut reference = json!({"collection": "categories", "exists": true});
    for (name, value) in members.as_object().expect("an object") {
        reference[name] = value.clone();
    }
    json!({"type": ["string", "null"], "x-reference": reference})
}

async fn shop() -> Client {
    let client = client().await;
    let parent = reference(&json!({"as": "above", "chain": "ancestors", "onDelete": "nullify"}));
    let category = json!({"title": "Category", "type": "object", "properties": {"parent": parent}});
    set_type(&client, "categories", &category).await;
    let properties = json!({
        "one": reference(&json!({"as": "inOne", "onDelete": "restrict"})),
        "two": reference(&json!({"as": "inTwo", "onDelete": "cascade"}))
    });
    let product = json!({"title": "Product", "type": "object", "properties": properties});
    set_type(&client, "products", &product).await;
    client
}

/// Makes random changes, of which some are refused.
async fn change(client: Client, seed: u64) -> BTreeMap<String, usize> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut outcomes = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut category = || format!("c{}", random.random_range(0..CATEGORIES));
        let (one, other) = (category(), category());
        let write = match random.random_range(0..10) {
            0..3 => {
                json!({"replace": {"collection": "categories", "id": one, "document": {"parent": null}}})
            }
            3..5 => {
                json!({"replace": {"collection": "categories", "id": one, "path": "/parent", "document": other}})
            }
            5..7 => json!({"delete": {"collection": "categories", "id": one}}),
            7 => {
                json!({"delete": {"collection": "products", "id": format!("p{}", random.random_range(0..20))}})
            }
            _ => {
                let member = if random.random_bool(0.5) {
                    "one"
                } else {
                    "two"
                };
                let id = format!("p{}", (seed.wrapping_add(round as u64)) % 20);
                json!({"replace": {"collection": "products", "id": id, "document": {member: one}}})
            }
        };
        let query =
            "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
        let response = client.ask(query, json!({"w": [write]})).await;
        let code = response["errors"][0]["extensions"]["code"].as_str();
        let code = code.unwrap_or("none");
        assert!(
            [
                "none",
                "TYPE_MISMATCH",
                "REFERENCE_VIOLATION",
                "NOT_FOUND",
                "CONFLICT"
            ]
            .contains(&code),
            "{response}"
        );
        *outcomes.entry(code.to_owned()).or_default() += 1;
    }
    outcomes
}

/// The members of all documents of a collection, by their keys.
async fn all(client: &Client, collection: &str) -> BTreeMap<String, Value> {
    let query =
        "query($c: String) { documents(collection: $c, first: 1000) { nodes { key value } } }";
    let data = client.data(query, json!({"c": collection})).await;
    let nodes = data["documents"]["nodes"].as_array().expect("a list");
    let nodes = nodes.iter().map(|node| {
        let key = node["key"].as_str().expect("a key").to_owned();
        (key, node["value"].clone())
    });
    nodes.collect()
}

async fn concurrent_changes_keep_every_reference_and_no_circle() {
    let client = shop().await;
    let seed = test_seed();
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|number| tokio::spawn(change(client.clone(), seed.wrapping_add(number))))
        .collect();
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks {
        for (code, count) in task.await.expect("a client that did not fail") {
            *outcomes.entry(code).or_default() += count;
        }
    }
    for code in ["none", "TYPE_MISMATCH", "REFERENCE_VIOLATION"] {
        assert!(outcomes.contains_key(code), "{outcomes:?}");
    }
    let (categories, products) = (
        all(&client, "categories").await,
        all(&client, "products").await,
    );
    for (key, product) in &products {
        for member in ["one", "two"] {
            if let Some(to) = product[member].as_str() {
                assert!(categories.contains_key(to), "{member} of {key}: {product}");
            }
        }
    }
    for first in categories.keys() {
        let mut at = first;
        for _ in 0..CATEGORIES {
            let Some(Value::String(parent)) = categories[at].get("parent") else {
                break;
            };
            assert!(categories.contains_key(parent), "{parent} above {at}");
            assert_ne!(parent, first, "{categories:?}");
            at = parent;
        }
    }
    let data = client
        .data("{ products { nodes { inOne { key } } } }", NONE)
        .await;
    assert_eq!(
        data["products"]["nodes"].as_array().map(Vec::len),
        Some(products.len())
    );
}
