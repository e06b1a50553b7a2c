//! Compares random steps with a map in memory.

use phyllo::store::{RangeRead, Transaction};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::engines::{Fresh, get, pairs};
use crate::model::pairs::Pairs;
use crate::seed::test_seed;
use crate::skip::rounds;

on_every_engine!(random_steps_do_what_they_do_to_a_map);

#[derive(Clone, Debug)]
enum Step {
    Set(Vec<u8>, Vec<u8>),
    /// Many ascending keys, like those of a document.
    SetRun(Vec<u8>, u8),
    Clear(Vec<u8>),
    ClearRange(Vec<u8>, Vec<u8>),
    Add(Vec<u8>, i64),
    Get(Vec<u8>),
    Range(Vec<u8>, Vec<u8>, usize, bool),
    Commit,
    Abort,
    Drop,
}

async fn random_steps_do_what_they_do_to_a_map(fresh: Fresh) {
    let seed = test_seed();
    tokio::task::spawn_blocking(move || run(&fresh, seed))
        .await
        .expect("the store does what the map does");
}

fn run(fresh: &Fresh, seed: u64) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: rounds(60, 400),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let runtime = tokio::runtime::Handle::current();
    let case = std::cell::Cell::new(0);
    let result = runner.run(&vec(step(), 1..40), |steps| {
        case.set(case.get() + 1);
        runtime.block_on(compare(&fresh.part(case.get()), steps))
    });
    if let Err(failure) = result {
        panic!("PHYLLO_TEST_SEED={seed}: {failure}");
    }
}

async fn compare(fresh: &Fresh, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut committed = Pairs::default();
    let mut own = Pairs::default();
    let mut open: Option<std::sync::Arc<dyn Transaction>> = None;
    for step in steps {
        let transaction = match &open {
            Some(transaction) => transaction.clone(),
            None => fresh.transaction().await,
        };
        open = Some(transaction.clone());
        match step {
            Step::Set(key, value) => {
                transaction.set(&fresh.key(&key), &value);
                own.set(key, value);
            }
            Step::SetRun(key, count) => {
                for last in 0..count {
                    let key = [&key[..], &[last]].concat();
                    transaction.set(&fresh.key(&key), &[last]);
                    own.set(key, vec![last]);
                }
            }
            Step::Clear(key) => {
                transaction.clear(&fresh.key(&key));
                own.clear(&key);
            }
            Step::ClearRange(begin, end) => {
                transaction.clear_range(&fresh.key(&begin), &fresh.key(&end));
                own.clear_range(&begin, &end);
            }
            Step::Add(key, by) => {
                transaction.add(&fresh.key(&key), by);
                own.add(key, by);
            }
            Step::Get(key) => {
                let found = get(&*transaction, &fresh.key(&key)).await;
                prop_assert_eq!(found.as_deref(), own.get(&key));
            }
            Step::Range(begin, end, pairs_max, reverse) => {
                let (first, last) = (fresh.key(&begin), fresh.key(&end));
                let range = RangeRead {
                    reverse,
                    ..RangeRead::new(&first, &last).at_most(pairs_max)
                };
                let found = fresh.without_prefix(pairs(&*transaction, range).await);
                prop_assert_eq!(found, own.range(&begin, &end, pairs_max, reverse));
            }
            Step::Commit => {
                let done = transaction.commit().await;
                prop_assert!(done.is_ok(), "{done:?}");
                committed.clone_from(&own);
                open = None;
            }
            Step::Abort => {
                let done = transaction.abort().await;
                prop_assert!(done.is_ok(), "{done:?}");
                own.clone_from(&committed);
                open = None;
            }
            Step::Drop => {
                own.clone_from(&committed);
                open = None;
            }
        }
        drop(transaction);
        prop_assert_eq!(fresh.all().await, committed.all());
    }
    if let Some(transaction) = open {
        prop_assert_eq!(fresh.all_in(&*transaction).await, own.all());
    }
    Ok(())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (key(), value()).prop_map(|(key, value)| Step::Set(key, value)),
        2 => (key(), 2_u8..40).prop_map(|(key, count)| Step::SetRun(key, count)),
        2 => key().prop_map(Step::Clear),
        2 => (key(), key()).prop_map(|(begin, end)| Step::ClearRange(begin, end)),
        2 => (key(), any::<i64>()).prop_map(|(key, by)| Step::Add(key, by)),
        2 => key().prop_map(Step::Get),
        2 => (key(), key(), limit(), any::<bool>())
            .prop_map(|(begin, end, limit, reverse)| Step::Range(begin, end, limit, reverse)),
        2 => Just(Step::Commit),
        1 => Just(Step::Abort),
        1 => Just(Step::Drop),
    ]
}

/// Few different keys, so that steps affect one another.
fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop::sample::select(vec![0, 1, 5, b'a', 0xFE, 0xFF]), 0..4)
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(any::<u8>(), 0..12),
        1 => (any::<u8>(), 1_000_usize..9_000).prop_map(|(byte, length)| vec![byte; length]),
    ]
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), Just(1), 2_usize..6, Just(usize::MAX)]
}
