//! `transact`: when a body is retried.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use phyllo::error::{Error, ErrorKind, Result};
use phyllo::limits::TRANSACTION_TRIES_MAX;
use phyllo::store::{Decision, Transaction, TransactionResult, transact};
use tokio::time::Instant;

use super::engines::{Fresh, get, late, pair};
use super::injected::{Fault, Injected};

on_every_engine!(
    a_body_runs_once_without_failures,
    a_body_is_retried_after_conflicts_and_takes_effect_once,
    a_body_is_retried_after_a_conflicting_read,
    attempts_are_limited,
    only_conflicts_are_retried,
    an_error_of_the_body_rolls_back,
    an_abort_rolls_back_and_returns_the_result,
    a_body_that_exceeds_the_deadline_is_rolled_back,
    the_deadline_applies_to_waiting_for_a_transaction,
    the_deadline_applies_to_retries,
);

async fn a_body_runs_once_without_failures(fresh: Fresh) {
    let tries = Tries::default();
    let settled = tries.add_one(&fresh, late()).await.expect("committed");
    let TransactionResult::Committed(1, version) = settled else {
        panic!("it is the first try that commits");
    };
    assert!(version.0 > [0; 10]);
    assert_added(&fresh, 1).await;
}

async fn a_body_is_retried_after_conflicts_and_takes_effect_once(fresh: Fresh) {
    for conflicts in [1, 3, 7] {
        let part = fresh.part(conflicts);
        let faulty = injected(&part, Fault::Commit(ErrorKind::Conflict), conflicts);
        let tries = Tries::default();
        let settled = tries.add_one(&faulty, late()).await.expect("committed");
        assert!(
            matches!(settled, TransactionResult::Committed(tries, _) if tries == conflicts + 1)
        );
        assert_added(&part, 1).await;
    }
}

async fn a_body_is_retried_after_a_conflicting_read(fresh: Fresh) {
    let faulty = injected(&fresh, Fault::Get(ErrorKind::Conflict), 2);
    let tries = Tries::default();
    tries.add_one(&faulty, late()).await.expect("committed");
    assert_eq!(tries.count(), 3);
    assert_added(&fresh, 1).await;
}

async fn attempts_are_limited(fresh: Fresh) {
    let unknown = Fault::CommitUnknown {
        takes_effect: false,
    };
    for (fault, kind, why) in [
        (
            Fault::Commit(ErrorKind::Conflict),
            ErrorKind::Conflict,
            "injected",
        ),
        (
            unknown,
            ErrorKind::OutcomeUnknown,
            "20 tries of the operation failed",
        ),
    ] {
        let faulty = injected(&fresh, fault, usize::MAX);
        let tries = Tries::default();
        let error = tries.add_one(&faulty, late()).await.err();
        let error = error.expect("no try succeeds");
        assert_eq!(error.kind(), kind);
        assert!(error.message().contains(why), "{}", error.message());
        assert_eq!(tries.count(), TRANSACTION_TRIES_MAX);
        assert_eq!(fresh.all().await, []);
    }
}

async fn only_conflicts_are_retried(fresh: Fresh) {
    for kind in [
        ErrorKind::Unavailable,
        ErrorKind::Timeout,
        ErrorKind::TooLarge,
        ErrorKind::Internal,
    ] {
        for fault in [Fault::Commit(kind), Fault::Get(kind)] {
            let faulty = injected(&fresh, fault, 1);
            let tries = Tries::default();
            let error = tries.add_one(&faulty, late()).await.err();
            assert_eq!(error.expect("it is told").kind(), kind, "{fault:?}");
            assert_eq!(tries.count(), 1, "{fault:?}");
        }
    }
    assert_eq!(fresh.all().await, []);
}

async fn an_error_of_the_body_rolls_back(fresh: Fresh) {
    let tries = Tries::default();
    let settled: Result<TransactionResult<usize>> = tries
        .run(&fresh, late(), |_| {
            Err(Error::new(ErrorKind::AlreadyExists, "it is there"))
        })
        .await;
    let error = settled.err().expect("the body's own");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(error.message(), "it is there");
    assert_eq!(tries.count(), 1);
    assert_eq!(fresh.all().await, []);
    fresh.set("next", "").await;
}

async fn an_abort_rolls_back_and_returns_the_result(fresh: Fresh) {
    let tries = Tries::default();
    let settled = tries.run(&fresh, late(), |_| Ok(Decision::Abort("answer")));
    let settled = settled.await.expect("not an error");
    assert!(matches!(settled, TransactionResult::Aborted("answer")));
    assert_eq!(tries.count(), 1);
    assert_eq!(fresh.all().await, []);
    fresh.set("next", "").await;
}

async fn a_body_that_exceeds_the_deadline_is_rolled_back(fresh: Fresh) {
    let key = fresh.key("key");
    let soon = Instant::now() + Duration::from_millis(20);
    let settled = transact(&*fresh.store, soon, move |transaction| {
        let key = key.clone();
        Box::pin(async move {
            transaction.set(&key, b"");
            get(&*transaction, &key).await;
            std::future::pending::<Result<Decision<()>>>().await
        })
    });
    let error = settled.await.err().expect("the body never ends");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(fresh.all().await, []);
    fresh.set("next", "").await;
}

async fn the_deadline_applies_to_waiting_for_a_transaction(fresh: Fresh) {
    let faulty = injected(&fresh, Fault::BeginNever, 1);
    let soon = Instant::now() + Duration::from_millis(20);
    let tries = Tries::default();
    let error = tries.add_one(&faulty, soon).await.err();
    assert_eq!(error.expect("none begins").kind(), ErrorKind::Timeout);
    assert_eq!(tries.count(), 0);
    assert_eq!(fresh.all().await, []);
}

async fn the_deadline_applies_to_retries(fresh: Fresh) {
    let faulty = injected(&fresh, Fault::Commit(ErrorKind::Conflict), usize::MAX);
    // The pauses of all attempts take about fifty times as long.
    let soon = Instant::now() + Duration::from_millis(20);
    let tries = Tries::default();
    let error = tries.add_one(&faulty, soon).await.err();
    assert_eq!(error.expect("none succeeds").kind(), ErrorKind::Timeout);
    assert!(tries.count() < TRANSACTION_TRIES_MAX);
    assert_eq!(fresh.all().await, []);
}

fn injected(fresh: &Fresh, fault: Fault, times: usize) -> Fresh {
    fresh.through(Arc::new(Injected::new(fresh.store.clone(), fault, times)))
}

async fn assert_added(fresh: &Fresh, sum: i64) {
    assert_eq!(fresh.all().await, [pair("sum", sum.to_le_bytes())]);
}

/// Counts how often a body ran.
#[derive(Default)]
struct Tries(Arc<AtomicUsize>);

impl Tries {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Adds one to `sum` after a read. Returns the number of the attempt.
    async fn add_one(&self, fresh: &Fresh, deadline: Instant) -> Result<TransactionResult<usize>> {
        self.run(fresh, deadline, |tries| Ok(Decision::Commit(tries)))
            .await
    }

    async fn run<T: Send + 'static>(
        &self,
        fresh: &Fresh,
        deadline: Instant,
        outcome: fn(usize) -> Result<Decision<T>>,
    ) -> Result<TransactionResult<T>> {
        let key = fresh.key("sum");
        transact(
            &*fresh.store,
            deadline,
            |transaction: Arc<dyn Transaction>| {
                let tries = self.0.fetch_add(1, Ordering::SeqCst) + 1;
                let key = key.clone();
                Box::pin(async move {
                    transaction.get(&key).await?;
                    transaction.add(&key, 1);
                    outcome(tries)
                })
            },
        )
        .await
    }
}
