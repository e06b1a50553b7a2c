//! Concurrent clients: no write is lost, and all results are consistent with the order of versions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    threads [
        concurrent_transfers_keep_the_sum,
        history_is_linearizable_in_the_order_of_versions,
    ]
);

const CLIENTS: u64 = 8;
const ROUNDS: u64 = 40;

/// Runs `work` for many concurrent clients and returns their results.
async fn at_once<T, F>(client: &Client, work: impl Fn(Client, u64) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = Vec<T>> + Send + 'static,
{
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|number| tokio::spawn(work(client.clone(), number)))
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.expect("a client that did not fail"));
    }
    all
}

async fn concurrent_transfers_keep_the_sum() {
    const ACCOUNTS: u64 = 5;
    let client = client().await;
    for account in 0..ACCOUNTS {
        client
            .insert(&account.to_string(), r#"{"amount":1000}"#)
            .await;
    }
    let sums = at_once(&client, |client, number| async move {
        let mut sums = Vec::new();
        for round in 0..ROUNDS {
            let from = (number + round) % ACCOUNTS;
            let to = (number * 3 + round * 7 + 1) % ACCOUNTS;
            let by = i64::try_from(round).expect("small") + 1;
            let query = format!(
                r#"mutation {{
                    a: incrementDocument(id: {from}, path: "/amount", by: -{by}) {{ key }}
                    b: incrementDocument(id: {to}, path: "/amount", by: {by}) {{ key }}
                }}"#
            );
            client.data(&query, NONE).await;
            let all: String = (0..ACCOUNTS)
                .map(|account| {
                    format!("a{account}: document(id: {account}) {{ value(path: \"/amount\") }} ")
                })
                .collect();
            let data = client.data(&format!("{{ {all} }}"), NONE).await;
            let amounts = data.as_object().expect("accounts").values();
            sums.push(
                amounts
                    .map(|account| account["value"].as_i64().expect("an amount"))
                    .sum::<i64>(),
            );
        }
        sums
    });
    let sums = sums.await;
    assert_eq!(sums.len() as u64, CLIENTS * ROUNDS);
    assert!(sums.iter().all(|sum| *sum == 5000), "{sums:?}");
}

/// An operation of a client, and its result.
struct Acknowledged {
    version: String,
    what: What,
    /// Whether the value to change existed.
    changed: bool,
    answer: Value,
}

#[derive(Clone)]
enum What {
    Append(String),
    Increment,
    Leaf(u64, u64),
    Remove,
}

/// Applies the operation to the model.
fn apply(document: &mut Value, what: &What) {
    match what {
        What::Append(text) => document["list"]
            .as_array_mut()
            .expect("a list")
            .push(json!(text)),
        What::Increment => document["n"] = json!(document["n"].as_i64().expect("a number") + 1),
        What::Leaf(client, round) => document["leaves"][client.to_string()] = json!(round),
        What::Remove => {
            let list = document["list"].as_array_mut().expect("a list");
            if !list.is_empty() {
                list.remove(0);
            }
        }
    }
}

async fn change(client: &Client, what: &What) -> Acknowledged {
    let patch = match what {
        What::Append(text) => json!([{"op": "add", "path": "/list/-", "value": text}]),
        What::Leaf(number, round) => {
            json!([{"op": "add", "path": format!("/leaves/{number}"), "value": round}])
        }
        What::Increment | What::Remove => json!([]),
    };
    let query = match what {
        What::Append(_) | What::Leaf(..) => {
            "mutation($p: JSON) { a: patchDocument(id: 1, patch: $p) { version value } }"
        }
        What::Increment => {
            "mutation($p: JSON) { a: incrementDocument(id: 1, path: \"/n\") { version value } b: mergeDocument(id: 2, patch: $p) { key } }"
        }
        What::Remove => {
            "mutation($p: JSON) { r: deleteDocument(id: 1, path: \"/list/0\") { deleted } b: mergeDocument(id: 2, patch: $p) { key } a: mergeDocument(id: 1, patch: {}) { version value } }"
        }
    };
    let mut data = client.data(query, json!({"p": patch})).await;
    Acknowledged {
        version: data["a"]["version"].as_str().expect("a version").to_owned(),
        what: what.clone(),
        changed: data["r"]["deleted"] != json!(false),
        answer: data["a"]["value"].take(),
    }
}

async fn history_is_linearizable_in_the_order_of_versions() {
    let client = client().await;
    let empty = json!({"n": 0, "list": [], "leaves": {}});
    client.insert("1", &empty).await;
    client.insert("2", "{}").await;
    let data = client.data("{ document(id: 1) { version } }", NONE).await;
    let first = data["document"]["version"]
        .as_str()
        .expect("a version")
        .to_owned();
    let all = at_once(&client, |client, number| async move {
        let mut all = Vec::new();
        for round in 0..ROUNDS {
            let what = match (number + round) % 4 {
                0 => What::Append(format!("{number}/{round}")),
                1 => What::Increment,
                2 => What::Leaf(number, round),
                _ => What::Remove,
            };
            let done = change(&client, &what).await;
            all.push((Some(done), Value::Null));
            let mut data = client
                .data("{ document(id: 1) { version value } }", NONE)
                .await;
            all.push((None, data["document"].take()));
        }
        all
    });
    let mut changes = BTreeMap::new();
    let mut reads = Vec::new();
    let mut unchanged = Vec::new();
    for (change, read) in all.await {
        match change {
            // Removing from an empty list changes nothing, so it returns an earlier version.
            Some(change) if !change.changed => unchanged.push(change),
            Some(change) => {
                let version = change.version.clone();
                assert!(
                    changes.insert(version, change).is_none(),
                    "two with one version"
                );
            }
            None => reads.push(read),
        }
    }
    let mut model = empty;
    let mut states = BTreeMap::from([(first, model.clone())]);
    for (version, change) in changes {
        apply(&mut model, &change.what);
        assert_eq!(change.answer, model, "the answer of {version}");
        states.insert(version, model.clone());
    }
    for change in unchanged {
        assert_eq!(states.get(&change.version), Some(&change.answer));
    }
    assert_eq!(reads.len() as u64, CLIENTS * ROUNDS);
    for read in reads {
        let version = read["version"].as_str().expect("a version");
        assert_eq!(
            states.get(version),
            Some(&read["value"]),
            "a read at {version}"
        );
    }
    assert_eq!(client.stored("1").await, model.to_string());
    assert_eq!(model["n"].as_u64(), Some(CLIENTS * ROUNDS / 4));
}
