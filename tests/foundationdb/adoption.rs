//! Adoption during concurrent writes, and with the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foundationdb_tuple::pack;
use futures::FutureExt;
use phyllo::database::{Database, adopt, collections};
use phyllo::store::{Decision, Store, TransactionResult};
use tokio::time::Instant;

use super::cluster::{Cluster, Redundancy, phyllo};
use super::servers::run;
use super::shared::{empty_store, open};

cases!(
    threads [
        concurrently_deleted_documents_are_not_adopted,
        documents_in_a_foreign_cluster_are_adopted_by_the_command,
    ]
);

fn leaf(id: i64) -> (Vec<u8>, Vec<u8>) {
    (pack(&("D", id, "n")), pack(&(id,)))
}

async fn write(store: &dyn Store, ids: std::ops::Range<i64>) {
    let transaction = store.begin().await.expect("a transaction");
    for (key, value) in ids.map(leaf) {
        transaction.set(&key, &value);
    }
    transaction.commit().await.expect("nobody else writes");
}

async fn concurrently_deleted_documents_are_not_adopted() {
    let store = Arc::new(empty_store().await);
    write(&*store, 1..3).await;
    let deadline = Instant::now() + std::time::Duration::from_secs(30);
    let database = Database::open(store.clone(), deadline).await;
    let database = database.expect("a new database");
    let tries = AtomicUsize::new(0);
    let adopted = database.transact(deadline, |transaction| {
        let first = tries.fetch_add(1, Ordering::Relaxed) == 0;
        let store = store.clone();
        async move {
            let adopted = adopt(&*transaction, "D", None).await?;
            if first {
                assert_eq!(adopted.entered, 2);
                let other = store.begin().await?;
                other.clear(&leaf(1).0);
                other.commit().await?;
            }
            Ok(Decision::Commit(adopted))
        }
        .boxed()
    });
    let Ok(TransactionResult::Committed(adopted, _)) = adopted.await else {
        panic!("it can be adopted");
    };
    assert_eq!((adopted.entered, tries.into_inner()), (1, 2));
    let snapshot = database.snapshot().await.expect("a snapshot");
    let counted = collections(&*snapshot).await.expect("readable");
    assert_eq!(counted.len(), 1);
    assert_eq!(counted[0].count, 1);
}

async fn documents_in_a_foreign_cluster_are_adopted_by_the_command() {
    let cluster = Cluster::start(Redundancy::Single);
    write(&open(&cluster), 0..1_500).await;
    let file = cluster.file();
    run(&mut phyllo(&file, "collections")).expect_err("it is no store yet");
    run(phyllo(&file, "adopt").arg("D")).expect("it runs");
    let counted = run(&mut phyllo(&file, "collections")).expect("it is one now");
    assert_eq!(counted, "D\t1500\n");
    run(&mut phyllo(&file, "check")).expect("catalog and counts are right");
}
