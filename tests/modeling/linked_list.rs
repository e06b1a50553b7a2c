//! A linked list with concurrent changes.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::pages::Served;

cases!(
    threads [
        concurrent_changes_keep_one_connected_list,
    ]
);

const CLIENTS: u64 = 4;
const ROUNDS: u64 = 40;

/// All nodes of one snapshot, each with its successor.
async fn nodes(served: &Served) -> BTreeMap<String, Value> {
    let query = r#"{ documents(collection: "nodes", first: 1000) { nodes { key next: value(path: "/next") } } }"#;
    let mut data = served.data(query, &json!({})).await;
    let nodes = data["documents"]["nodes"].as_array_mut().expect("nodes");
    nodes
        .iter_mut()
        .map(|node| {
            let id = node["key"].as_str().expect("an id").to_owned();
            (id, node["next"].take())
        })
        .collect()
}

/// A node's version and its successor. Both are null if it does not exist.
async fn read(served: &Served, id: &str) -> (Value, Value) {
    let query = r#"query($id: ID!) {
        document(collection: "nodes", id: $id) { version next: value(path: "/next") }
    }"#;
    let mut data = served.data(query, &json!({"id": id})).await;
    let node = &mut data["document"];
    (node["version"].take(), node["next"].take())
}

/// Inserts a node after another, or removes the one after it, if both are unchanged since they were
/// read. Returns the change of the list's length, or `None` if nothing was done.
async fn change(served: &Served, id: &str, new: Option<&str>) -> Option<i64> {
    let (version, next) = read(served, id).await;
    if version.is_null() {
        return None;
    }
    let (query, variables) = if let Some(new) = new {
        let query = r#"mutation($id: ID!, $version: DocumentVersion, $new: ID, $next: JSON, $node: JSON) {
            replaceDocument(collection: "nodes", id: $id, path: "/next", document: $next, ifVersion: $version) { key }
            insertDocument(collection: "nodes", id: $new, document: $node) { key }
        }"#;
        let node = json!({"next": next});
        (
            query,
            json!({"id": id, "version": version, "new": new, "next": new, "node": node}),
        )
    } else {
        let gone = next.as_str()?;
        let (gone_version, behind) = read(served, gone).await;
        if gone_version.is_null() {
            return None;
        }
        let query = r#"mutation($id: ID!, $version: DocumentVersion, $gone: ID!, $goneVersion: DocumentVersion, $behind: JSON) {
            replaceDocument(collection: "nodes", id: $id, path: "/next", document: $behind, ifVersion: $version) { key }
            deleteDocument(collection: "nodes", id: $gone, ifVersion: $goneVersion) { deleted }
        }"#;
        (
            query,
            json!({"id": id, "version": version, "gone": gone, "goneVersion": gone_version, "behind": behind}),
        )
    };
    let response = served.ask(query, &variables).await;
    match response["errors"][0]["extensions"]["code"].as_str() {
        None => Some(if new.is_some() { 1 } else { -1 }),
        Some("VERSION_MISMATCH" | "CONFLICT") => None,
        Some(code) => panic!("{code}"),
    }
}

async fn concurrent_changes_keep_one_connected_list() {
    let served = Served::on(super::empty_store().await).await;
    let first = r#"mutation {
        insertDocument(collection: "nodes", id: "first", document: {next: null}) { key }
    }"#;
    served.data(first, &json!({})).await;
    let clients = (0..CLIENTS).map(|client| {
        let served = served.clone();
        tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(client);
            let mut grown = 0;
            for round in 0..ROUNDS {
                let new = format!("{client}-{round}");
                let known: Vec<String> = nodes(&served).await.into_keys().collect();
                let id = &known[random.random_range(0..known.len())];
                let new = random.random_ratio(2, 3).then_some(&*new);
                grown += change(&served, id, new).await.unwrap_or_default();
            }
            grown
        })
    });
    let clients: Vec<_> = clients.collect();
    let mut length = 1;
    for client in clients {
        length += client.await.expect("a client that did not fail");
    }
    let nodes = nodes(&served).await;
    assert_eq!(nodes.len(), usize::try_from(length).expect("a length"));
    assert!(length > 1, "nothing was inserted");
    // Every node is reachable from the first.
    let mut next = &json!("first");
    for _ in 0..nodes.len() {
        next = &nodes[next.as_str().expect("the list ends too early")];
    }
    assert_eq!(*next, Value::Null);
    served.assert_sound().await;
}
