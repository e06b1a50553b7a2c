//! Clearing ranges of any size, and what is written into them afterwards.

use std::collections::BTreeMap;

use phyllo::store::{RangeRead, Transaction};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::engines::{Fresh, Pair, get};

on_every_engine!(
    a_large_range_is_cleared_for_whoever_reads_later,
    a_large_range_that_is_not_committed_stays,
    clearing_an_empty_or_inverted_large_range_does_nothing,
    what_is_written_into_a_cleared_range_is_read,
);

/// More than what the embedded engine removes at once.
const PAIRS: u32 = 30_000;
const ROUNDS: usize = 40;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn name(number: u32) -> Vec<u8> {
    format!("m{number:06}").into_bytes()
}

/// Stores the pairs, and two beside them.
async fn filled(fresh: &Fresh) -> Model {
    let mut model: Model = (0..PAIRS).map(|at| (name(at), b"old".to_vec())).collect();
    model.insert(b"l".to_vec(), b"before".to_vec());
    model.insert(b"n".to_vec(), b"behind".to_vec());
    let listed: Vec<_> = model.iter().collect();
    for portion in listed.chunks(10_000) {
        fresh
            .write(|transaction| {
                for (key, value) in portion {
                    transaction.set(&fresh.key(key), value);
                }
            })
            .await;
    }
    model
}

async fn clear(fresh: &Fresh, transaction: &dyn Transaction, begin: &[u8], end: &[u8]) {
    let (begin, end) = (fresh.key(begin), fresh.key(end));
    let cleared = transaction.clear_large_range(&begin, &end).await;
    cleared.expect("the store serves");
}

fn listed(model: &Model) -> Vec<Pair> {
    let pairs = model.iter();
    pairs
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

async fn a_large_range_is_cleared_for_whoever_reads_later(fresh: Fresh) {
    let mut model = filled(&fresh).await;
    let before = fresh.snapshot().await;
    let transaction = fresh.transaction().await;
    transaction.set(&fresh.key("m0"), b"new, and cleared");
    clear(&fresh, &*transaction, b"m", b"n").await;
    transaction.set(&fresh.key("m0"), b"new");
    let all = listed(&model);
    model.retain(|key, _| !key.starts_with(b"m"));
    model.insert(b"m0".to_vec(), b"new".to_vec());
    assert_eq!(fresh.all_in(&*transaction).await, listed(&model));
    assert_eq!(get(&*transaction, &fresh.key(name(7))).await, None);
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.all().await, listed(&model));
    assert_eq!(fresh.get(name(7)).await, None);
    assert_eq!(fresh.all_in(&*before).await, all);
}

async fn a_large_range_that_is_not_committed_stays(fresh: Fresh) {
    let model = filled(&fresh).await;
    let transaction = fresh.transaction().await;
    clear(&fresh, &*transaction, b"m", b"n").await;
    assert_eq!(fresh.all_in(&*transaction).await.len(), 2);
    drop(transaction);
    assert_eq!(fresh.all().await, listed(&model));
}

async fn clearing_an_empty_or_inverted_large_range_does_nothing(fresh: Fresh) {
    fresh.set("a", "value").await;
    let transaction = fresh.transaction().await;
    clear(&fresh, &*transaction, b"a", b"a").await;
    clear(&fresh, &*transaction, b"b", b"a").await;
    clear(&fresh, &*transaction, b"b", b"c").await;
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.get("a").await, Some(b"value".to_vec()));
}

/// Compares with a map while the embedded engine removes what was cleared.
async fn what_is_written_into_a_cleared_range_is_read(fresh: Fresh) {
    let seed = std::env::var("PHYLLO_TEST_SEED").map_or_else(
        |_| rand::random(),
        |seed| seed.parse().expect("PHYLLO_TEST_SEED is a number"),
    );
    println!("PHYLLO_TEST_SEED={seed} repeats these steps");
    let mut chance = StdRng::seed_from_u64(seed);
    let mut model = filled(&fresh).await;
    for round in 0..ROUNDS {
        let transaction = fresh.transaction().await;
        if round % 10 == 0 {
            clear_some(&fresh, &*transaction, &mut model, &mut chance).await;
        }
        for _ in 0..chance.random_range(1..30) {
            write(&fresh, &*transaction, &mut model, &mut chance);
        }
        compare(&fresh, &*transaction, &model, &mut chance).await;
        transaction.commit().await.expect("nobody else writes");
        let snapshot = fresh.snapshot().await;
        compare(&fresh, &*snapshot, &model, &mut chance).await;
        assert_eq!(fresh.all_in(&*snapshot).await, listed(&model));
    }
}

async fn clear_some(
    fresh: &Fresh,
    transaction: &dyn Transaction,
    model: &mut Model,
    chance: &mut StdRng,
) {
    let begin = name(chance.random_range(0..PAIRS / 2));
    let end = name(chance.random_range(PAIRS / 2..PAIRS + 9));
    clear(fresh, transaction, &begin, &end).await;
    model.retain(|key, _| *key < begin || *key >= end);
}

fn write(fresh: &Fresh, transaction: &dyn Transaction, model: &mut Model, chance: &mut StdRng) {
    let first = chance.random_range(0..PAIRS);
    match chance.random_range(0..5) {
        // A run of ascending keys, some of which were there and some not.
        0 | 1 => {
            for number in first..first + chance.random_range(1..40) {
                let mut key = name(number);
                if chance.random() {
                    key.push(b'+');
                }
                transaction.set(&fresh.key(&key), b"new");
                model.insert(key, b"new".to_vec());
            }
        }
        2 => {
            transaction.clear(&fresh.key(name(first)));
            model.remove(&name(first));
        }
        3 => {
            let end = name(first + chance.random_range(1..40));
            transaction.clear_range(&fresh.key(name(first)), &fresh.key(&end));
            model.retain(|key, _| *key < name(first) || *key >= end);
        }
        _ => {
            let key = format!("m{first:06}#").into_bytes();
            transaction.add(&fresh.key(&key), 1);
            let before = model.get(&key).map_or(0, |value| {
                i64::from_le_bytes(value[..].try_into().expect("eight bytes"))
            });
            model.insert(key, (before + 1).to_le_bytes().to_vec());
        }
    }
}

async fn compare(
    fresh: &Fresh,
    read: &(impl phyllo::store::Read + ?Sized),
    model: &Model,
    chance: &mut StdRng,
) {
    for _ in 0..8 {
        let begin = name(chance.random_range(0..PAIRS));
        let end = name(chance.random_range(0..PAIRS + 9)).max(begin.clone());
        let pairs_max = chance.random_range(1..200);
        let reverse = chance.random();
        let (first, last) = (fresh.key(&begin), fresh.key(&end));
        let range = RangeRead {
            reverse,
            ..RangeRead::new(&first, &last).at_most(pairs_max)
        };
        let within = model.range(begin.clone()..end);
        let own = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        let expected: Vec<Pair> = if reverse {
            within.rev().take(pairs_max).map(own).collect()
        } else {
            within.take(pairs_max).map(own).collect()
        };
        let round = read.ranges(&[range, range]).await;
        let batches: Vec<_> = round.into_batches().collect();
        for batch in batches {
            let batch = batch.expect("the store serves");
            let found = batch.pairs.iter();
            let found = found.map(|(key, value)| (key.to_vec(), value.to_vec()));
            let found = fresh.without_prefix(found.collect());
            // A store may end a batch before the read ends.
            let come = if batch.more { found.len() } else { pairs_max };
            assert!(!batch.more || !found.is_empty());
            assert_eq!(found, expected[..come.min(expected.len())]);
        }
        assert_eq!(
            read.get(&first).await.expect("read").as_ref(),
            model.get(&begin)
        );
    }
}
