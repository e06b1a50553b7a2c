//! An unavailable cluster, and one that loses a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use phyllo::error::{ErrorKind, Result};
use phyllo::limits::CLUSTER_READY_KEPT_TIME;
use phyllo::store::{Decision, FoundationDb, Store, TransactionResult, transact};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::cluster::{Cluster, Redundancy};
use super::shared::open;

cases!(
    threads [
        an_unavailable_cluster_is_reported_and_used_again_when_it_returns,
        a_commit_cut_off_by_the_deadline_has_an_unknown_outcome,
        a_commit_cut_off_takes_effect_once_when_the_cluster_returns,
        acknowledged_writes_survive_the_loss_of_one_of_three_processes,
        a_cluster_without_its_majority_is_not_ready_until_it_commits,
    ]
);

async fn an_unavailable_cluster_is_reported_and_used_again_when_it_returns() {
    let cluster = Cluster::start(Redundancy::Single);
    let store = open(&cluster);
    store.ready().await.expect("it serves");
    let snapshot = store.snapshot().await.expect("taken");
    cluster.pause(0);
    sleep(CLUSTER_READY_KEPT_TIME).await;
    let kind = |result: Result<()>| result.expect_err("it is away").kind();
    assert_eq!(kind(store.ready().await), ErrorKind::Unavailable);
    assert_eq!(
        kind(snapshot.get(b"key").await.map(|_| ())),
        ErrorKind::Unavailable
    );
    assert_eq!(
        kind(store.snapshot().await.map(|_| ())),
        ErrorKind::Unavailable
    );
    let added = add_one(&store, seconds(30), |_| {}).await;
    assert_eq!(kind(added.map(|_| ())), ErrorKind::Unavailable);
    cluster.resume(0);
    until_ready(&store).await;
    add_one(&store, seconds(30), |_| {})
        .await
        .expect("it serves");
    assert_eq!(sum(&store).await, 1);
}

async fn a_commit_cut_off_by_the_deadline_has_an_unknown_outcome() {
    let cluster = Arc::new(Cluster::start(Redundancy::Single));
    let store = open(&cluster);
    let pausing = cluster.clone();
    let added = add_one(&store, seconds(4), move |_| pausing.pause(0)).await;
    let error = added.err().expect("there is no answer");
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
    assert!(error.message().contains("not known"), "{error}");
    cluster.resume(0);
    until_ready(&store).await;
    assert!(sum(&store).await <= 1);
}

async fn a_commit_cut_off_takes_effect_once_when_the_cluster_returns() {
    let cluster = Arc::new(Cluster::start(Redundancy::Single));
    let store = open(&cluster);
    let pausing = cluster.clone();
    let resuming = cluster.clone();
    let added = add_one(&store, seconds(60), move |number| {
        if number == 1 {
            pausing.pause(0);
            let resuming = resuming.clone();
            // Longer than an attempt of a transaction takes.
            tokio::spawn(async move {
                sleep(Duration::from_secs(14)).await;
                resuming.resume(0);
            });
        }
    });
    let settled = added.await.expect("it is back in time");
    assert!(matches!(settled, TransactionResult::Committed(..)));
    assert_eq!(sum(&store).await, 1);
}

async fn acknowledged_writes_survive_the_loss_of_one_of_three_processes() {
    let mut cluster = Cluster::start(Redundancy::Double);
    let store = Arc::new(open(&cluster));
    let done = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for writer in 0_u32..4 {
        let (store, done) = (store.clone(), done.clone());
        writers.spawn(async move {
            let mut acknowledged = Vec::new();
            let mut number = 0_u32;
            while !done.load(Ordering::Acquire) {
                number += 1;
                let key = format!("{writer} {number}").into_bytes();
                let written = transact(&*store, seconds(60), |transaction| {
                    let key = key.clone();
                    Box::pin(async move {
                        transaction.set(&key, b"");
                        Ok(Decision::Commit(()))
                    })
                });
                if written.await.is_ok() {
                    acknowledged.push(key);
                }
            }
            acknowledged
        });
    }
    sleep(Duration::from_secs(1)).await;
    cluster.kill(2);
    add_one(&store, seconds(60), |_| {})
        .await
        .expect("the others continue");
    sleep(Duration::from_secs(1)).await;
    done.store(true, Ordering::Release);
    let acknowledged = writers.join_all().await.concat();
    assert!(acknowledged.len() > 10);
    for key in acknowledged {
        let snapshot = store.snapshot().await.expect("taken");
        let found = snapshot.get(&key).await.expect("read");
        assert!(found.is_some(), "{}", String::from_utf8_lossy(&key));
    }
}

async fn a_cluster_without_its_majority_is_not_ready_until_it_commits() {
    let cluster = Cluster::start(Redundancy::Double);
    let store = open(&cluster);
    store.ready().await.expect("it serves");
    cluster.pause(1);
    cluster.pause(2);
    sleep(CLUSTER_READY_KEPT_TIME).await;
    // Longer than the cluster uses what it knew before.
    let deadline = seconds(20);
    while Instant::now() < deadline {
        let ready = store.ready().await;
        assert!(ready.is_err(), "most processes are paused");
        sleep(CLUSTER_READY_KEPT_TIME).await;
    }
    cluster.resume(1);
    cluster.resume(2);
    until_ready(&store).await;
    add_one(&store, seconds(10), |_| {})
        .await
        .expect("it commits");
}

/// Adds one to the sum. `before_commit` is called with the number of the attempt.
async fn add_one(
    store: &FoundationDb,
    deadline: Instant,
    before_commit: impl Fn(usize) + Send + Sync + 'static,
) -> Result<TransactionResult<()>> {
    let before_commit = Arc::new(before_commit);
    let mut number = 0;
    transact(store, deadline, |transaction| {
        number += 1;
        let (before_commit, number) = (before_commit.clone(), number);
        Box::pin(async move {
            transaction.get(b"sum").await?;
            transaction.add(b"sum", 1);
            before_commit(number);
            Ok(Decision::Commit(()))
        })
    })
    .await
}

async fn sum(store: &FoundationDb) -> i64 {
    let snapshot = store.snapshot().await.expect("taken");
    let sum = snapshot.get(b"sum").await.expect("read");
    sum.map_or(0, |sum| {
        i64::from_le_bytes(sum.try_into().expect("eight bytes"))
    })
}

async fn until_ready(store: &FoundationDb) {
    let deadline = seconds(60);
    while let Err(error) = store.ready().await {
        assert!(Instant::now() < deadline, "it does not come back: {error}");
        sleep(CLUSTER_READY_KEPT_TIME).await;
    }
}

fn seconds(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}
