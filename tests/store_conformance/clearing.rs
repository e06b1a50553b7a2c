//! Clearing ranges of any size, and later writes into them.

use phyllo::store::{RangeRead, Transaction};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::engines::{Fresh, get};
use crate::model::pairs::Pairs;
use crate::seed::test_seed;

on_every_engine!(
    a_large_range_is_cleared_for_later_readers,
    an_uncommitted_large_clear_has_no_effect,
    clearing_an_empty_or_inverted_large_range_does_nothing,
    writes_into_a_cleared_range_are_read,
);

/// More pairs than the embedded engine removes at once.
const PAIRS: u32 = 30_000;
const ROUNDS: usize = 40;

fn name(number: u32) -> Vec<u8> {
    format!("m{number:06}").into_bytes()
}

/// Stores the pairs, and two outside the range.
async fn filled(fresh: &Fresh) -> Pairs {
    let mut model: Pairs = (0..PAIRS).map(|at| (name(at), b"old".to_vec())).collect();
    model.set(b"l".to_vec(), b"before".to_vec());
    model.set(b"n".to_vec(), b"behind".to_vec());
    for portion in model.all().chunks(10_000) {
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

async fn a_large_range_is_cleared_for_later_readers(fresh: Fresh) {
    let mut model = filled(&fresh).await;
    let before = fresh.snapshot().await;
    let transaction = fresh.transaction().await;
    transaction.set(&fresh.key("m0"), b"new, and cleared");
    clear(&fresh, &*transaction, b"m", b"n").await;
    transaction.set(&fresh.key("m0"), b"new");
    let all = model.all();
    model.clear_range(b"m", b"n");
    model.set(b"m0".to_vec(), b"new".to_vec());
    assert_eq!(fresh.all_in(&*transaction).await, model.all());
    assert_eq!(get(&*transaction, &fresh.key(name(7))).await, None);
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.all().await, model.all());
    assert_eq!(fresh.get(name(7)).await, None);
    assert_eq!(fresh.all_in(&*before).await, all);
}

async fn an_uncommitted_large_clear_has_no_effect(fresh: Fresh) {
    let model = filled(&fresh).await;
    let transaction = fresh.transaction().await;
    clear(&fresh, &*transaction, b"m", b"n").await;
    assert_eq!(fresh.all_in(&*transaction).await.len(), 2);
    drop(transaction);
    assert_eq!(fresh.all().await, model.all());
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

/// Compares with a map while the embedded engine removes the cleared pairs.
async fn writes_into_a_cleared_range_are_read(fresh: Fresh) {
    let mut chance = StdRng::seed_from_u64(test_seed());
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
        assert_eq!(fresh.all_in(&*snapshot).await, model.all());
    }
}

async fn clear_some(
    fresh: &Fresh,
    transaction: &dyn Transaction,
    model: &mut Pairs,
    chance: &mut StdRng,
) {
    let begin = name(chance.random_range(0..PAIRS / 2));
    let end = name(chance.random_range(PAIRS / 2..PAIRS + 9));
    clear(fresh, transaction, &begin, &end).await;
    model.clear_range(&begin, &end);
}

fn write(fresh: &Fresh, transaction: &dyn Transaction, model: &mut Pairs, chance: &mut StdRng) {
    let first = chance.random_range(0..PAIRS);
    match chance.random_range(0..5) {
        // A run of ascending keys, some of which exist.
        0 | 1 => {
            for number in first..first + chance.random_range(1..40) {
                let mut key = name(number);
                if chance.random() {
                    key.push(b'+');
                }
                transaction.set(&fresh.key(&key), b"new");
                model.set(key, b"new".to_vec());
            }
        }
        2 => {
            transaction.clear(&fresh.key(name(first)));
            model.clear(&name(first));
        }
        3 => {
            let end = name(first + chance.random_range(1..40));
            transaction.clear_range(&fresh.key(name(first)), &fresh.key(&end));
            model.clear_range(&name(first), &end);
        }
        _ => {
            let key = format!("m{first:06}#").into_bytes();
            transaction.add(&fresh.key(&key), 1);
            model.add(key, 1);
        }
    }
}

async fn compare(
    fresh: &Fresh,
    read: &(impl phyllo::store::Read + ?Sized),
    model: &Pairs,
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
        let expected = model.range(&begin, &end, pairs_max, reverse);
        let round = read.ranges(&[range, range]).await;
        let batches: Vec<_> = round.into_batches().collect();
        for batch in batches {
            let batch = batch.expect("the store serves");
            let found = batch.pairs.iter();
            let found = found.map(|(key, value)| (key.to_vec(), value.to_vec()));
            let found = fresh.without_prefix(found.collect());
            // A store may end a batch early.
            let come = if batch.more { found.len() } else { pairs_max };
            assert!(!batch.more || !found.is_empty());
            assert_eq!(found, expected[..come.min(expected.len())]);
        }
        assert_eq!(
            read.get(&first).await.expect("read").as_deref(),
            model.get(&begin)
        );
    }
}
