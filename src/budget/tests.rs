use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::error::{ErrorKind, Result};
use crate::limits::{Bounds, STEPS_AT_A_TIME, STEPS_PER_DRAW};

fn kind(result: Result<()>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn after_one_resource_is_exhausted_all_requests_fail() {
    let budget = Budget::of_test(&Bounds {
        steps: 100,
        write_bytes: 10,
        ..Bounds::DEFAULT
    });
    budget.spend(100).expect("all there is");
    budget.write(10).expect("all there is");
    assert_eq!(
        kind(budget.write(1)),
        Some(ErrorKind::Exhausted(Resource::WriteBytes))
    );
    assert_eq!(
        kind(budget.spend(1)),
        Some(ErrorKind::Exhausted(Resource::WriteBytes))
    );
    assert_eq!(
        kind(budget.check()),
        Some(ErrorKind::Exhausted(Resource::WriteBytes))
    );
}

#[test]
fn each_resource_has_the_code_that_clients_know() {
    for (resource, code) in [
        (Resource::Steps, "TOO_COMPLEX"),
        (Resource::ReadBytes, "TOO_LARGE"),
        (Resource::WriteBytes, "TOO_LARGE"),
        (Resource::ResponseBytes, "TOO_LARGE"),
        (Resource::Memory, "UNAVAILABLE"),
        (Resource::Time, "TIMEOUT"),
    ] {
        assert_eq!(ErrorKind::Exhausted(resource).code(), code);
    }
}

#[test]
fn unused_steps_are_returned() {
    let budget = Budget::of_test(&Bounds {
        steps: STEPS_PER_DRAW,
        ..Bounds::DEFAULT
    });
    for _ in 0..STEPS_PER_DRAW {
        Steps::of(&budget).spend(1).expect("each spends one");
    }
    assert!(Steps::of(&budget).spend(1).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn long_work_restarts_on_a_blocking_thread_and_counts_once() {
    let steps_max = 10 * STEPS_AT_A_TIME;
    let budget = Budget::of_test(&Bounds {
        steps: steps_max,
        ..Bounds::DEFAULT
    });
    let work = |steps: &Steps<'_>| {
        for _ in 0..steps_max {
            steps.spend(1)?;
        }
        Ok(7)
    };
    assert_eq!(budget.compute(work).await.expect("within the budget"), 7);
    let error = budget.compute(work).await.expect_err("nothing is left");
    assert_eq!(error.kind(), ErrorKind::Exhausted(Resource::Steps));
}

#[tokio::test]
async fn the_deadline_ends_synchronous_work() {
    let deadline = Instant::now() + Duration::from_millis(20);
    let pool = Pool::new(usize::MAX);
    let bounds = Bounds {
        steps: u64::MAX,
        ..Bounds::DEFAULT
    };
    let budget = Budget::of_request(&bounds, &pool, deadline);
    let endless = |steps: &Steps<'_>| -> Result<()> {
        loop {
            steps.spend(1)?;
        }
    };
    let error = budget.compute(endless).await.expect_err("the time is over");
    assert_eq!(error.kind(), ErrorKind::Exhausted(Resource::Time));
}

#[test]
fn the_limit_of_one_request_comes_before_that_of_all_requests() {
    const LARGE: usize = 1 << 20;
    let pool = Pool::new(LARGE);
    let budget = Budget::of_test_in(&pool, &Bounds::DEFAULT);
    for (bytes_max, resource) in [(LARGE, Resource::ReadBytes), (8 * LARGE, Resource::Memory)] {
        let reservation = budget.reserve_at_most(bytes_max);
        reservation.hold(LARGE).expect("there is room");
        let error = kind(reservation.hold(2 * LARGE));
        assert_eq!(error, Some(ErrorKind::Exhausted(resource)));
        assert_eq!(reservation.is_full(), resource == Resource::ReadBytes);
        drop(reservation);
        assert_eq!(pool.held(), 0);
    }
}
