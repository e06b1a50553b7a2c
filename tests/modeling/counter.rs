//! A counter with concurrent increments, split over several documents.

use serde_json::json;

use crate::pages::Served;

cases!(
    threads [
        sharded_counters_have_the_exact_total,
    ]
);

const CLIENTS: u64 = 8;
const ROUNDS: u64 = 60;
const SHARDS: u64 = 4;

/// The sum over the shards in one snapshot.
async fn total(served: &Served) -> u64 {
    let shard = |shard| {
        format!(r#"s{shard}: document(collection: "hits", id: "home/{shard}") {{ value }} "#)
    };
    let shards: String = (0..SHARDS).map(shard).collect();
    let data = served.data(&format!("{{ {shards} }}"), &json!({})).await;
    let shards = data.as_object().expect("shards").values();
    // A shard that was never incremented is null.
    shards.filter_map(|shard| shard["value"].as_u64()).sum()
}

async fn sharded_counters_have_the_exact_total() {
    let served = Served::on(super::empty_store().await).await;
    let count = r#"mutation($shard: ID!, $by: JSON!) {
        incrementDocument(collection: "hits", id: $shard, by: $by) { key }
    }"#;
    let clients = (0..CLIENTS).map(|client| {
        let served = served.clone();
        tokio::spawn(async move {
            let mut seen = 0;
            for round in 0..ROUNDS {
                // Each client increments another shard each time, and all clients meet on each
                // shard.
                let shard = format!("home/{}", (client * 5 + round * 3) % SHARDS);
                let by = client + 1;
                served.data(count, &json!({"shard": shard, "by": by})).await;
                let sum = total(&served).await;
                assert!(sum >= seen + by, "{sum} after {seen}");
                seen = sum;
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    for client in clients {
        client.await.expect("a client that did not fail");
    }
    let all = (1..=CLIENTS).sum::<u64>() * ROUNDS;
    assert_eq!(total(&served).await, all);
    served.assert_sound().await;
}
