//! What conflicts and what does not.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use phyllo::database::{Database, DocumentKey, insert};
use phyllo::document::id::DocumentId;
use phyllo::document::path::{Place, Segment};
use phyllo::key::{Family, Leaves, Version};
use phyllo::store::{Observed, Outcome, Store, Transaction, transact};
use tokio::sync::Barrier;
use tokio::time::Instant;

use super::shared::empty_store;

cases!(
    threads [
        clients_that_set_different_leaves_of_one_document_do_not_conflict,
        clients_that_set_a_leaf_that_the_other_reads_conflict_and_both_succeed,
    ]
);

const ROUNDS: usize = 50;

async fn clients_that_set_different_leaves_of_one_document_do_not_conflict() {
    assert_eq!(conflicts(["a", "b"]).await, 0);
}

async fn clients_that_set_a_leaf_that_the_other_reads_conflict_and_both_succeed() {
    assert!(conflicts(["a", "a"]).await > 0);
}

/// Two clients change leaves of one document at the same time, each time from a state that both
/// have read; how often that conflicted.
async fn conflicts(leaves: [&'static str; 2]) -> u64 {
    let store = Observed::new(empty_store().await);
    let operations = store.operations();
    let store: Arc<dyn Store> = Arc::new(store);
    let database = Database::open(store.clone(), soon()).await.expect("opened");
    let document = Leaves::from_json(r#"{"a": 0, "b": 0, "c": [1, 2, 3]}"#).expect("JSON");
    let document = Arc::new(document);
    let inserted = database.transact(soon(), |transaction| {
        let document = document.clone();
        Box::pin(async move {
            insert(&*transaction, "D", Some(DocumentId::Integer(1)), &document).await?;
            Ok(Outcome::Commit(()))
        })
    });
    inserted.await.expect("nobody else writes");
    let before = operations.conflicts.load(Relaxed);
    let both = Arc::new(Barrier::new(2));
    let clients = leaves.map(|leaf| {
        let (store, both) = (store.clone(), both.clone());
        tokio::spawn(async move {
            for round in 0..ROUNDS {
                let both = both.clone();
                let mut first = true;
                let set = transact(&*store, soon(), |transaction| {
                    let both = std::mem::take(&mut first).then(|| both.clone());
                    Box::pin(async move {
                        change_leaf(&*transaction, leaf, round).await?;
                        if let Some(both) = both {
                            both.wait().await;
                        }
                        Ok(Outcome::Commit(()))
                    })
                });
                set.await.expect("it succeeds in the end");
            }
        })
    });
    for client in clients {
        client.await.expect("no panic");
    }
    operations.conflicts.load(Relaxed) - before
}

/// What a patch of one leaf does: whether the document exists and what stands at the leaf is read;
/// the leaf and the document's version are written.
async fn change_leaf(
    transaction: &dyn Transaction,
    leaf: &str,
    round: usize,
) -> phyllo::error::Result<()> {
    let id = DocumentId::Integer(1);
    let existence = transaction.get(&Family::Existence("D", &id).key()?).await?;
    assert!(existence.is_some());
    let document = DocumentKey::new("D", id.clone())?;
    let key = document.place(&Place(vec![Segment::Key(leaf.to_owned())]))?;
    assert!(transaction.get(&key).await?.is_some());
    transaction.set(&key, &foundationdb_tuple::pack(&(round,)));
    let version = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
    let at = Version::VALUE_PREFIX.len();
    transaction.set_versionstamped_value(&Family::Version("D", &id).key()?, &version, at);
    Ok(())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}
