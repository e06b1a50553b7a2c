//! Reads over redb, tombstones and overlays, compared with a map; and what they step over, counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use redb::Database;
use redb::backends::InMemoryBackend;

use super::portions;
use super::view::{Base, View};
use super::writes::{Clearing, WriteKind, WriteList, WriteTables};
use crate::budget::Budget;
use crate::error::ErrorKind;
use crate::limits::{Bounds, READ_STEPS_AT_A_TIME, STEPS_PER_HIDDEN_RANGE};
use crate::store::{Batch, RangeRead, key_after};

const KEYS: usize = 400;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn key(number: usize) -> Vec<u8> {
    format!("{number:05}").into_bytes()
}

/// A store whose redb tables have these writes.
fn database(writes: &mut WriteList) -> Database {
    let database = Database::builder().create_with_backend(InMemoryBackend::new());
    let database = database.expect("a database");
    let transaction = database.begin_write().expect("begun");
    let mut written = WriteTables::open(&transaction, false, Clearing::new(true)).expect("tables");
    writes.apply(&mut written).expect("written");
    drop(written);
    transaction.commit().expect("committed");
    database
}

fn view(database: &Database) -> View {
    View::new(Arc::new(Base::open(database, 1).expect("a base")))
}

fn commit(view: &mut View, writes: &mut WriteList) {
    let mut changed = view.clone();
    assert!(changed.apply(writes).expect("applied"));
    let number = view.last_commit + 1;
    view.commit(changed, number);
}

async fn read(view: &View, range: RangeRead<'_>) -> crate::error::Result<Batch> {
    portions::range(range, |portion| {
        let read = portion.read(view.tables());
        Ok(read.expect("memory is read without faults"))
    })
    .await
}

/// Appends a random write. The model has its effect.
fn push_random(random: &mut StdRng, writes: &mut WriteList, model: &mut Model, base: bool) {
    let first = random.random_range(0..KEYS);
    let end = key(first + random.random_range(1..40));
    let first = key(first);
    match random.random_range(0..4) {
        0 => {
            let kind = if base {
                WriteKind::CoverTo(&end)
            } else {
                WriteKind::ClearTo(&end)
            };
            writes.push(&first, kind);
            model.retain(|key, _| *key < first || *key >= end);
        }
        1 => {
            writes.push(&first, WriteKind::Clear);
            model.remove(&first);
        }
        _ => {
            let value = vec![random.random(); random.random_range(0..60)];
            writes.push(&first, WriteKind::Set(&value));
            model.insert(first, value);
        }
    }
}

async fn check(random: &mut StdRng, view: &View, model: &Model) {
    let one = random.random_range(0..KEYS);
    let (begin, end) = (key(one), key(one + random.random_range(1..KEYS)));
    let pairs_max = [1, 7, KEYS][random.random_range(0..3)];
    let all = RangeRead::new(&begin, &end).at_most(pairs_max);
    for reverse in [false, true] {
        let range = RangeRead { reverse, ..all };
        let mut expected: Vec<_> = model.range(begin.clone()..end.clone()).collect();
        if reverse {
            expected.reverse();
        }
        let expected: Vec<_> = expected
            .into_iter()
            .take(pairs_max)
            .map(|(key, value)| (&key[..], &value[..]))
            .collect();
        let batch = read(view, range).await.expect("read");
        assert_eq!(batch.pairs.iter().collect::<Vec<_>>(), expected);
        let round = portions::ranges(&[range, range], |portion| {
            portion.read(view.tables(), |_| Ok(()), |error| panic!("{error}"));
            Ok(())
        })
        .await;
        for batch in round.into_batches() {
            let pairs = batch.expect("read").pairs;
            assert_eq!(pairs.iter().collect::<Vec<_>>(), expected);
        }
    }
    let value = super::pairs::get(view.tables(), &begin).expect("read");
    assert_eq!(value.as_ref(), model.get(&begin));
}

#[tokio::test]
async fn reads_over_all_layers_equal_a_map() {
    let mut random = StdRng::seed_from_u64(40);
    for _ in 0..30 {
        let (mut writes, mut model) = (WriteList::default(), Model::new());
        for _ in 0..random.random_range(1..600) {
            push_random(&mut random, &mut writes, &mut model, true);
        }
        let mut view = view(&database(&mut writes));
        for round in 0..20 {
            let mut writes = WriteList::default();
            for _ in 0..random.random_range(1..30) {
                push_random(&mut random, &mut writes, &mut model, false);
            }
            commit(&mut view, &mut writes);
            if round == 10 {
                view.freeze();
            }
            check(&mut random, &view, &model).await;
        }
    }
}

/// A view of `count` pairs in redb, and of one pair after them.
fn filled(count: usize) -> View {
    let mut writes = WriteList::default();
    for number in 0..=count {
        writes.push(&key(number), WriteKind::Set(b"value"));
    }
    view(&database(&mut writes))
}

/// The steps that a read of everything spends, and the number of pairs.
async fn steps(view: &View, reverse: bool) -> (u64, usize) {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let range = RangeRead {
        budget: Some(&budget),
        reverse,
        ..RangeRead::new(b"", b"\xff")
    };
    let batch = read(view, range).await.expect("read");
    let spent = Bounds::DEFAULT.steps - budget.steps_left();
    (spent, batch.pairs.len())
}

#[tokio::test]
async fn a_cleared_range_is_stepped_over_at_once() {
    let count = 10_000;
    let mut view = filled(count);
    let mut writes = WriteList::default();
    writes.push(&key(0), WriteKind::ClearTo(&key(count)));
    commit(&mut view, &mut writes);
    for _ in 0..2 {
        for reverse in [false, true] {
            assert_eq!(steps(&view, reverse).await, (STEPS_PER_HIDDEN_RANGE, 1));
        }
        view.freeze();
    }
}

#[tokio::test]
async fn cleared_keys_that_are_stepped_over_are_charged_and_end_a_read_without_steps() {
    let count = 10_000;
    let mut view = filled(count);
    let mut writes = WriteList::default();
    for number in 0..count {
        writes.push(&key(number), WriteKind::Clear);
    }
    commit(&mut view, &mut writes);
    for reverse in [false, true] {
        assert_eq!(steps(&view, reverse).await, (count as u64, 1));
    }
    let bounds = Bounds {
        steps: READ_STEPS_AT_A_TIME,
        ..Bounds::DEFAULT
    };
    let budget = Budget::of_test(&bounds);
    let range = RangeRead {
        budget: Some(&budget),
        ..RangeRead::new(b"", b"\xff")
    };
    let error = read(&view, range).await.expect_err("no steps are left");
    assert!(matches!(error.kind(), ErrorKind::Exhausted(_)), "{error:?}");
    let round = portions::ranges(&[range, range], |portion| {
        portion.read(view.tables(), |_| Ok(()), |error| panic!("{error}"));
        Ok(())
    })
    .await;
    assert!(round.batches.iter().all(Result::is_err));
}

#[test]
fn a_transaction_deletes_a_bounded_number_of_pairs_and_covers_the_rest() {
    use redb::{ReadableDatabase, ReadableTableMetadata};

    use super::{PAIRS, TOMBSTONES};
    use crate::limits::{DELETED_PAIRS_MAX, DELETED_PAIRS_PART};

    let large = DELETED_PAIRS_MAX / DELETED_PAIRS_PART + 1;
    let mut writes = WriteList::default();
    for number in 0..large + 10 {
        writes.push(&key(number), WriteKind::Set(b""));
    }
    writes.push(&key(0), WriteKind::ClearTo(&key(large)));
    writes.push(&key(large), WriteKind::ClearTo(&key(large + 4)));
    let database = database(&mut writes);
    let read = database.begin_read().expect("begun");
    let tombstones = read.open_table(TOMBSTONES).expect("a table");
    assert_eq!(tombstones.len().expect("read"), 1);
    let pairs = read.open_table(PAIRS).expect("a table");
    assert_eq!(pairs.len().expect("read"), large as u64 + 6);
    let first = key_after(&key(large + 3));
    let visible = view(&database);
    let left = super::pairs::keys(visible.tables(), b"", b"\xff", 10).expect("read");
    assert!(left.is_some_and(|left| left.len() == 6 && left[0] > first));
}

/// Each range is too large to be deleted. Together they have many more pairs than may be read.
#[test]
fn a_transaction_counts_a_bounded_number_of_pairs() {
    use super::writes::{Clearing, WriteTables};
    use crate::limits::{DELETED_PAIRS_MAX, DELETED_PAIRS_PART};

    let large = DELETED_PAIRS_MAX / DELETED_PAIRS_PART + 1;
    let mut writes = WriteList::default();
    for number in 0..large {
        writes.push(&key(number), WriteKind::Set(b""));
    }
    let database = database(&mut writes);
    let transaction = database.begin_write().expect("begun");
    let mut tables = WriteTables::open(&transaction, false, Clearing::new(true)).expect("opened");
    let mut counted = Vec::new();
    for _ in 0..1000 {
        let left = tables.clearing().pairs_left;
        tables.clear(&key(0), &key(large)).expect("cleared");
        counted.push(left.unwrap_or(0) - tables.clearing().pairs_left.unwrap_or(0));
    }
    assert_eq!(counted[0], large);
    assert!(counted.iter().sum::<usize>() <= DELETED_PAIRS_MAX);
    assert!(counted[999] <= 1, "{counted:?}");
}
