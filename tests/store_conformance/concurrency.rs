//! Concurrent transactions are serializable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use phyllo::key::Version;
use phyllo::store::{Decision, Transaction, TransactionResult, transact};
use tokio::task::{JoinSet, yield_now};

use super::engines::{Fresh, get, late};

on_every_engine!(
    no_increment_is_lost,
    no_addition_is_lost,
    write_skew_is_a_conflict,
    snapshots_never_show_half_a_transaction,
    commits_are_ordered_by_their_versions,
    an_abandoned_waiting_transaction_blocks_no_other,
);

const TASKS: u64 = 16;
const ROUNDS: u64 = 15;

async fn no_increment_is_lost(fresh: Fresh) {
    let key = fresh.key("counter");
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (fresh, key) = (fresh.clone(), key.clone());
        tasks.spawn(async move {
            for _ in 0..ROUNDS {
                let key = key.clone();
                commit(&fresh, move |transaction| {
                    let key = key.clone();
                    async move {
                        let before = number(get(&*transaction, &key).await);
                        yield_now().await;
                        transaction.set(&key, &(before + 1).to_be_bytes());
                    }
                })
                .await;
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(number(fresh.get("counter").await), TASKS * ROUNDS);
}

async fn no_addition_is_lost(fresh: Fresh) {
    let key = fresh.key("sum");
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (fresh, key) = (fresh.clone(), key.clone());
        tasks.spawn(async move {
            for _ in 0..ROUNDS {
                let key = key.clone();
                let by = i64::try_from(task).expect("small");
                commit(&fresh, move |transaction| {
                    transaction.add(&key, by);
                    async {}
                })
                .await;
            }
        });
    }
    tasks.join_all().await;
    let sum = (0..TASKS).sum::<u64>() * ROUNDS;
    assert_eq!(fresh.get("sum").await, Some(sum.to_le_bytes().to_vec()));
}

/// Write skew: each transaction may take the last item of one shelf only while the other shelf has
/// one.
async fn write_skew_is_a_conflict(fresh: Fresh) {
    for round in 0..40 {
        let part = fresh.part(round);
        part.set("left", "1").await;
        part.set("right", "1").await;
        let mut tasks = JoinSet::new();
        for (mine, other) in [("left", "right"), ("right", "left")] {
            let part = part.clone();
            tasks.spawn(async move {
                let keys = (part.key(mine), part.key(other));
                commit(&part, move |transaction| {
                    let (mine, other) = keys.clone();
                    async move {
                        let there = get(&*transaction, &other).await.is_some();
                        yield_now().await;
                        if there {
                            transaction.clear(&mine);
                        }
                    }
                })
                .await;
            });
        }
        tasks.join_all().await;
        assert_eq!(part.all().await.len(), 1, "round {round}");
    }
}

async fn snapshots_never_show_half_a_transaction(fresh: Fresh) {
    let accounts = 8;
    let account = |number: u64| format!("account {number}");
    for number in 0..accounts {
        fresh.set(&account(number), 1_000_u64.to_be_bytes()).await;
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for task in 0..4 {
        let fresh = fresh.clone();
        writers.spawn(async move {
            for round in 0..30 {
                let from = fresh.key(account((task + round) % accounts));
                let to = fresh.key(account((task + round * 3 + 1) % accounts));
                commit(&fresh, move |transaction| {
                    let (from, to) = (from.clone(), to.clone());
                    async move {
                        let rest = number(get(&*transaction, &from).await) - 7;
                        transaction.set(&from, &rest.to_be_bytes());
                        let more = number(get(&*transaction, &to).await) + 7;
                        transaction.set(&to, &more.to_be_bytes());
                    }
                })
                .await;
            }
        });
    }
    let reader = tokio::spawn({
        let (fresh, done) = (fresh.clone(), done.clone());
        async move {
            loop {
                let last = done.load(Ordering::Acquire);
                let sum: u64 = fresh
                    .all()
                    .await
                    .into_iter()
                    .map(|p| number(Some(p.1)))
                    .sum();
                assert_eq!(sum, accounts * 1_000);
                if last {
                    break;
                }
                yield_now().await;
            }
        }
    });
    writers.join_all().await;
    done.store(true, Ordering::Release);
    reader
        .await
        .expect("the reader saw whole transactions only");
}

async fn commits_are_ordered_by_their_versions(fresh: Fresh) {
    let key = fresh.key("last");
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (fresh, key) = (fresh.clone(), key.clone());
        tasks.spawn(async move {
            let taken = Arc::new(std::sync::Mutex::new(0));
            let mut turns = Vec::new();
            for _ in 0..ROUNDS {
                let (key, note) = (key.clone(), taken.clone());
                let version = commit(&fresh, move |transaction| {
                    let (key, note) = (key.clone(), note.clone());
                    async move {
                        let turn = number(get(&*transaction, &key).await) + 1;
                        transaction.set(&key, &turn.to_be_bytes());
                        *note.lock().expect("no panic") = turn;
                    }
                })
                .await;
                turns.push((*taken.lock().expect("no panic"), version));
            }
            turns
        });
    }
    let mut turns: Vec<(u64, Version)> = tasks.join_all().await.concat();
    turns.sort_by_key(|turn| turn.0);
    let numbers = turns.iter().map(|turn| turn.0);
    assert!(numbers.eq(1..=TASKS * ROUNDS));
    assert!(turns.is_sorted_by(|earlier, later| earlier.1.0 < later.1.0));
}

async fn an_abandoned_waiting_transaction_blocks_no_other(fresh: Fresh) {
    let first = fresh.transaction().await;
    first.set(&fresh.key("first"), b"");
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let mut begin = Box::pin(fresh.store.begin());
        // The transaction is abandoned, whether the engine makes it wait or begins it at once.
        let _begun = futures::poll!(&mut begin);
        waiting.push(begin);
    }
    drop(waiting);
    first.commit().await.expect("nobody else writes");
    fresh.set("second", "").await;
    assert_eq!(fresh.all().await.len(), 2);
}

/// Commits `body`, and repeats it after each conflict.
async fn commit<F: Future<Output = ()> + Send + 'static>(
    fresh: &Fresh,
    mut body: impl FnMut(Arc<dyn Transaction>) -> F + Send,
) -> Version {
    let settled = transact(&*fresh.store, late(), move |transaction| {
        let body = body(transaction);
        Box::pin(async move {
            body.await;
            Ok(Decision::Commit(()))
        })
    });
    match settled.await.expect("tries enough") {
        TransactionResult::Committed((), version) => version,
        TransactionResult::Aborted(()) => unreachable!("nothing is aborted"),
    }
}

fn number(value: Option<Vec<u8>>) -> u64 {
    value.map_or(0, |value| {
        u64::from_be_bytes(value.try_into().expect("eight bytes"))
    })
}
