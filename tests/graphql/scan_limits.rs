//! The limits of ordered scans: entries that are left out, and entries of equal values that are
//! sorted by key. The store has entries without documents, which such a scan does not read.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::key::{Family, IndexKey, IndexValue};
use phyllo::limits::SORTED_IDS_MAX;
use phyllo::store::{Decision, Transaction, TransactionResult};
use serde_json::json;
use tokio::time::Instant;

use super::support::{Client, NONE, client};

cases!(
    damaged("entries have no documents") [
        scans_that_leave_out_or_sort_too_many_entries_are_rejected,
    ]
);

/// Writes entries of the index 1 on `$.a` and `$.b`, with equal values, for the keys from 0 to
/// before `count`, and their keys in the catalog.
async fn plant(client: &Client, count: usize) {
    let one = IndexValue::of_leaf(&Leaf::Integer(1));
    let values = [one.bytes(), one.bytes()].concat();
    let key = IndexKey::new("D", 1).expect("short");
    let ids: Vec<i64> = (0..i64::try_from(count).expect("few")).collect();
    for ids in ids.chunks(10_000) {
        let keys = ids.iter().flat_map(|id| {
            let id = DocumentId::Integer(*id);
            let existence = Family::Existence("D", &id).key();
            [key.entry(&values, &id), existence].map(|key| key.expect("short"))
        });
        let keys: Vec<Vec<u8>> = keys.collect();
        let write = move |transaction: Arc<dyn Transaction>| {
            for key in &keys {
                transaction.set(key, b"");
            }
            Box::pin(std::future::ready(Ok(Decision::Commit(())))) as BoxFuture<'static, _>
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        let written = client.database.transact(deadline, write).await;
        assert!(matches!(written, Ok(TransactionResult::Committed((), _))));
    }
}

async fn scans_that_leave_out_or_sort_too_many_entries_are_rejected() {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "a_b", on: ["$.a", "$.b"]) { state }"#)
        .await;
    plant(&client, SORTED_IDS_MAX).await;
    let sorted = r#"{ documents(orderBy: {by: "$.a"}, first: 2) { nodes { key } } }"#;
    let page = client.data(sorted, NONE).await;
    let first = json!([{"key": "0"}, {"key": "1"}]);
    assert_eq!(page["documents"]["nodes"], first);
    // More documents with these keys than may be examined.
    plant(&client, SORTED_IDS_MAX + 1_500).await;
    let from = |key: usize| {
        format!(
            r#"{{ documents(orderBy: [{{by: "$.a"}}, {{by: "$.b"}}], keys: {{gte: {key}}}, first: 2,
                scanLimit: 1000) {{
                nodes {{ key }} }} }}"#
        )
    };
    let page = client.data(&from(SORTED_IDS_MAX), NONE).await;
    let first = json!([{"key": "100000"}, {"key": "100001"}]);
    assert_eq!(page["documents"]["nodes"], first);
    for (query, told) in [
        (sorted, "would have to be sorted by key"),
        (&from(SORTED_IDS_MAX + 1)[..], "leaves out"),
    ] {
        let (code, message) = client.error(query, NONE).await;
        assert_eq!(code, "TOO_COMPLEX", "{message}");
        assert!(message.contains(told), "{message}");
        assert!(message.contains("100000 entries"), "{message}");
    }
}
