//! Commits with an unknown outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use phyllo::error::{Error, ErrorKind, Result};
use phyllo::key::{CommitMarker, Version};
use phyllo::limits::COMMIT_SHARDS;
use phyllo::store::{Decision, RangeRead, TransactionResult, transact};
use tokio::time::Instant;

use super::engines::{Fresh, late, pair, pairs};
use super::injected::{Fault, Injected};

on_every_engine!(
    an_unknown_commit_that_took_effect_is_not_repeated,
    an_unknown_commit_without_effect_is_repeated,
    the_attempt_that_took_effect_is_reported,
    ending_without_a_commit_prevents_unknown_commits_from_taking_effect,
    unresolved_outcomes_are_reported_as_unknown,
    read_only_transactions_leave_no_marker,
    expired_markers_are_cleared_gradually,
);

const EFFECT: Fault = Fault::CommitUnknown { takes_effect: true };
const NO_EFFECT: Fault = Fault::CommitUnknown {
    takes_effect: false,
};

async fn an_unknown_commit_that_took_effect_is_not_repeated(fresh: Fresh) {
    let settled = add_one(&injected(&fresh, EFFECT, 1), late(), Ok).await;
    let (answer, version) = committed(settled);
    assert_eq!(answer, 1, "the body ran once");
    let expected = [pair("log", version.0), pair("sum", 1_i64.to_le_bytes())];
    assert_eq!(
        fresh.all().await,
        expected,
        "the version is that of the commit"
    );
}

async fn an_unknown_commit_without_effect_is_repeated(fresh: Fresh) {
    for times in [1, 2, 5] {
        let part = fresh.part(times);
        let settled = add_one(&injected(&part, NO_EFFECT, times), late(), Ok).await;
        let (answer, version) = committed(settled);
        assert_eq!(answer, times + 1);
        let expected = [pair("log", version.0), pair("sum", 1_i64.to_le_bytes())];
        assert_eq!(part.all().await, expected);
    }
}

async fn the_attempt_that_took_effect_is_reported(fresh: Fresh) {
    for times in [1, 3] {
        let part = fresh.part(times);
        // The first attempts have no effect. The next one has, but its outcome is unknown too.
        let faulty = injected(&injected(&part, EFFECT, 1), NO_EFFECT, times);
        let (answer, version) = committed(add_one(&faulty, late(), Ok).await);
        assert_eq!(answer, times + 1);
        let expected = [pair("log", version.0), pair("sum", 1_i64.to_le_bytes())];
        assert_eq!(part.all().await, expected);
    }
}

async fn ending_without_a_commit_prevents_unknown_commits_from_taking_effect(fresh: Fresh) {
    let fails_later = |number: usize| match number {
        1 => Ok(1),
        _ => Err(Error::new(ErrorKind::AlreadyExists, "it is there")),
    };
    let settled = add_one(&injected(&fresh, NO_EFFECT, 1), late(), fails_later).await;
    let error = settled.err().expect("the second try's");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fresh.all().await, []);
    assert_eq!(markers(&fresh).await, 1, "it would meet the first try");
    // The same if that outcome is unknown too.
    let settled = add_one(&injected(&fresh, NO_EFFECT, 3), late(), fails_later).await;
    assert_eq!(
        settled.err().map(|error| error.kind()),
        Some(ErrorKind::AlreadyExists)
    );
    assert_eq!(fresh.all().await, []);
}

async fn unresolved_outcomes_are_reported_as_unknown(fresh: Fresh) {
    for (fault, sum) in [(EFFECT, 1), (NO_EFFECT, 0)] {
        let part = fresh.part(sum);
        // The marker cannot be read before the deadline.
        let faulty = injected(&part, fault, 1);
        let blind = injected(&faulty, Fault::Get(ErrorKind::Unavailable), usize::MAX);
        let soon = Instant::now() + Duration::from_millis(200);
        let settled = write_only(&blind, soon, Ok).await;
        let error = settled.err().expect("nobody knows");
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
        assert!(error.message().contains("not known"), "{error}");
        assert_eq!(part.all().await.len(), sum);
    }
}

async fn read_only_transactions_leave_no_marker(fresh: Fresh) {
    let key = fresh.key("nothing");
    let faulty = injected(&fresh, EFFECT, 0);
    let settled = transact(&*faulty.store, late(), |transaction| {
        let key = key.clone();
        Box::pin(async move { transaction.get(&key).await.map(Decision::Commit) })
    });
    assert!(matches!(
        settled.await,
        Ok(TransactionResult::Committed(None, _))
    ));
    assert_eq!(markers(&fresh).await, 0);
    committed(add_one(&faulty, late(), Ok).await);
    assert_eq!(markers(&fresh).await, 1);
}

async fn expired_markers_are_cleared_gradually(fresh: Fresh) {
    let expired = |shard| CommitMarker::new([shard; 16], 1).key().expect("short");
    fresh
        .write(|transaction| {
            for shard in 0..COMMIT_SHARDS {
                transaction.set(&expired(shard), b"");
            }
        })
        .await;
    let faulty = injected(&fresh, EFFECT, 0);
    let all = usize::from(COMMIT_SHARDS);
    for commits in 1..3_000 {
        committed(add_one(&faulty, late(), Ok).await);
        let found = markers(&fresh).await;
        assert!(found <= commits + all);
        if found < commits + all {
            return;
        }
    }
    panic!("none was cleared");
}

/// Adds one to `sum` and writes the version to `log`. `answer` receives the number of the attempt.
async fn add_one(
    fresh: &Fresh,
    deadline: Instant,
    answer: fn(usize) -> Result<usize>,
) -> Result<TransactionResult<usize>> {
    run(fresh, deadline, answer, true).await
}

/// The same without a read.
async fn write_only(
    fresh: &Fresh,
    deadline: Instant,
    answer: fn(usize) -> Result<usize>,
) -> Result<TransactionResult<usize>> {
    run(fresh, deadline, answer, false).await
}

async fn run(
    fresh: &Fresh,
    deadline: Instant,
    answer: fn(usize) -> Result<usize>,
    reads: bool,
) -> Result<TransactionResult<usize>> {
    let (sum, log) = (fresh.key("sum"), fresh.key("log"));
    let tries = AtomicUsize::new(0);
    transact(&*fresh.store, deadline, |transaction| {
        let number = tries.fetch_add(1, Ordering::SeqCst) + 1;
        let (sum, log) = (sum.clone(), log.clone());
        Box::pin(async move {
            if reads {
                transaction.get(&sum).await?;
                transaction.set_versionstamped_value(&log, &[0; 10], 0);
            }
            transaction.add(&sum, 1);
            answer(number).map(Decision::Commit)
        })
    })
    .await
}

fn committed(settled: Result<TransactionResult<usize>>) -> (usize, Version) {
    match settled.expect("it is found out") {
        TransactionResult::Committed(answer, version) => (answer, version),
        TransactionResult::Aborted(_) => panic!("nothing is aborted"),
    }
}

fn injected(fresh: &Fresh, fault: Fault, times: usize) -> Fresh {
    fresh.through(Arc::new(Injected::new(fresh.store.clone(), fault, times)))
}

/// The number of markers.
async fn markers(fresh: &Fresh) -> usize {
    let (begin, _) = CommitMarker::expired(0, 0);
    let (end, _) = CommitMarker::expired(COMMIT_SHARDS, 0);
    pairs(&*fresh.snapshot().await, RangeRead::new(&begin, &end))
        .await
        .len()
}
