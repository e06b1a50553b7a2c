//! One request reads one snapshot. One mutation operation is one transaction.

use std::time::Duration;

use futures::future::BoxFuture;
use phyllo::budget::Budget;
use phyllo::database::{DocumentKey, Existing, put};
use phyllo::document::id::DocumentId;
use phyllo::key::Leaves;
use phyllo::store::Decision;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::{Client, NONE, client};

cases!(
    threads [
        queries_never_see_half_of_a_transaction,
        one_of_many_concurrent_inserts_of_an_id_succeeds,
        acknowledged_writes_are_visible_to_later_queries,
    ]
);

/// Replaces the documents 1 and 2 by the same number, in one transaction.
async fn write_both(client: &Client, number: u64) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let write =
        |transaction: std::sync::Arc<dyn phyllo::store::Transaction>| -> BoxFuture<'static, _> {
            Box::pin(async move {
                let leaves = Leaves::from_json(&format!(r#"{{"n": [{number}, {number}]}}"#))?;
                for id in [1, 2] {
                    let document = DocumentKey::new("D", DocumentId::Integer(id))?;
                    put(
                        &*transaction,
                        &Budget::of_background(),
                        &document,
                        &leaves,
                        Existing::Replace,
                    )
                    .await?;
                }
                Ok(Decision::Commit(()))
            })
        };
    client
        .database
        .transact(deadline, write)
        .await
        .expect("both are written");
}

async fn queries_never_see_half_of_a_transaction() {
    let client = client().await;
    write_both(&client, 0).await;
    let writer = tokio::spawn({
        let client = client.clone();
        async move {
            for number in 1..=150 {
                write_both(&client, number).await;
            }
        }
    });
    let query = r#"{
        a: document(id: 1) { version value(path: "/n/0") children { nodes { children { nodes { value } } } } }
        b: document(id: 2, path: "/n") { version value(path: "/1") document { children { nodes { children { nodes { value } } } } } }
    }"#;
    let mut seen: Vec<Value> = Vec::new();
    while !writer.is_finished() {
        let data = client.data(query, NONE).await;
        let (a, b) = (&data["a"], &data["b"]);
        assert_eq!((&a["version"], &a["value"]), (&b["version"], &b["value"]));
        assert_eq!(a["children"], b["document"]["children"]);
        assert_eq!(
            a["children"]["nodes"][0]["children"]["nodes"][1]["value"],
            a["value"]
        );
        assert!(
            seen.last()
                .is_none_or(|last| last.as_u64() <= a["value"].as_u64()),
            "time passes"
        );
        seen.push(a["value"].clone());
    }
    writer.await.expect("the writer ends");
    let data = client.data(query, NONE).await;
    assert_eq!(data["a"]["value"], json!(150));
}

async fn one_of_many_concurrent_inserts_of_an_id_succeeds() {
    let client = client().await;
    let insert = |at: usize| {
        let client = client.clone();
        tokio::spawn(async move {
            let query = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
            client.ask(query, json!({"d": at})).await
        })
    };
    let inserts: Vec<_> = (0..16).map(insert).collect();
    let mut won = Vec::new();
    for (at, insert) in inserts.into_iter().enumerate() {
        let response = insert.await.expect("an answer");
        if response["errors"] == Value::Null {
            won.push(at);
        } else {
            assert_eq!(
                response["errors"][0]["extensions"]["code"],
                json!("ALREADY_EXISTS")
            );
        }
    }
    assert_eq!(won.len(), 1);
    assert_eq!(client.stored("1").await, won[0].to_string());
}

async fn acknowledged_writes_are_visible_to_later_queries() {
    let client = client().await;
    let insert = |at: usize| {
        let client = client.clone();
        tokio::spawn(async move {
            let id = at.to_string();
            client.insert(&id, at).await;
            assert_eq!(client.stored(&id).await, id);
        })
    };
    let inserts: Vec<_> = (0..64).map(insert).collect();
    for insert in inserts {
        insert.await.expect("it reads what it wrote");
    }
    let data = client.data("{ collections { count } }", NONE).await;
    assert_eq!(data["collections"][0]["count"], json!(64));
}
