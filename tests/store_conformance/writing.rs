//! Writes of one transaction, as seen by itself and by later readers.

use phyllo::store::{RangeRead, Transaction};

use super::engines::{Fresh, Pair, get, pair, pairs};

on_every_engine!(
    a_transaction_reads_its_own_writes,
    later_writes_of_a_transaction_win,
    empty_or_inverted_ranges_clear_nothing,
    clearing_a_range_keeps_its_end,
    reads_without_conflict_return_the_same,
    a_dropped_transaction_has_no_effect,
    an_aborted_transaction_has_no_effect,
    read_only_transactions_commit,
    conflict_ranges_do_not_change_reads,
    adding_begins_at_zero_and_wraps_around,
    additions_treat_any_value_as_eight_bytes,
    additions_are_visible_in_the_same_transaction,
    every_kind_of_write_increases_the_transaction_size,
);

async fn a_transaction_reads_its_own_writes(fresh: Fresh) {
    fresh
        .write(|transaction| {
            for key in ["a", "b", "c", "d"] {
                transaction.set(&fresh.key(key), b"old");
            }
        })
        .await;
    let transaction = fresh.transaction().await;
    let key = |key: &str| fresh.key(key);
    transaction.set(&key("b"), b"new");
    assert_eq!(get(&*transaction, &key("b")).await, Some(b"new".to_vec()));
    transaction.set(&key("aa"), b"new");
    transaction.clear(&key("a"));
    assert_eq!(get(&*transaction, &key("a")).await, None);
    let expected = [
        pair("aa", "new"),
        pair("b", "new"),
        pair("c", "old"),
        pair("d", "old"),
    ];
    assert_eq!(fresh.all_in(&*transaction).await, expected);
    transaction.clear_range(&key("b"), &key("d"));
    transaction.set(&key("c"), b"again");
    let expected = [pair("aa", "new"), pair("c", "again"), pair("d", "old")];
    assert_eq!(fresh.all_in(&*transaction).await, expected);

    let (begin, end) = (fresh.begin(), fresh.end());
    let last = RangeRead {
        reverse: true,
        ..RangeRead::new(&begin, &end).at_most(2)
    };
    let last = fresh.without_prefix(pairs(&*transaction, last).await);
    assert_eq!(last, [pair("d", "old"), pair("c", "again")]);
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.all().await, expected);
}

async fn later_writes_of_a_transaction_win(fresh: Fresh) {
    type Step = fn(&dyn Transaction, &[u8], &[u8]);
    let set: Step = |transaction, key, _| transaction.set(key, &5_i64.to_le_bytes());
    let clear: Step = |transaction, key, _| transaction.clear(key);
    let clear_range: Step = |transaction, key, end| transaction.clear_range(key, end);
    let add: Step = |transaction, key, _| transaction.add(key, 2);
    let steps = [set, clear, clear_range, add];
    let after = |value: Option<i64>, step: usize| match step {
        0 => Some(5),
        1 | 2 => None,
        _ => Some(value.unwrap_or(0) + 2),
    };
    // Every sequence of three, with and without a read after each step, for an existing and a
    // missing key.
    for case in 0..(4 * 4 * 4 * 2 * 2) {
        let (reads, there) = (case & 1 == 1, case & 2 == 2);
        let sequence = [case >> 2 & 3, case >> 4 & 3, case >> 6 & 3];
        let part = fresh.part(case);
        let (key, end) = (part.key("key"), part.key("kez"));
        let mut expected = there.then_some(100);
        let transaction = part.transaction().await;
        if let Some(value) = expected {
            transaction.set(&key, &i64::to_le_bytes(value));
        }
        for step in sequence {
            steps[step](&*transaction, &key, &end);
            expected = after(expected, step);
            if reads {
                let found = get(&*transaction, &key).await;
                assert_eq!(found, bytes(expected), "{sequence:?}, {there}");
            }
        }
        transaction.commit().await.expect("nobody else writes");
        let found = part.get("key").await;
        assert_eq!(found, bytes(expected), "{sequence:?}, {there}, {reads}");
    }
}

async fn empty_or_inverted_ranges_clear_nothing(fresh: Fresh) {
    fresh.set("b", "").await;
    fresh
        .write(|transaction| {
            for (begin, end) in [("b", "b"), ("c", "a"), ("z", "b")] {
                transaction.clear_range(&fresh.key(begin), &fresh.key(end));
            }
        })
        .await;
    assert_eq!(fresh.all().await, [pair("b", "")]);
}

async fn clearing_a_range_keeps_its_end(fresh: Fresh) {
    let expected = [&b"a"[..], b"b", b"b\0", b"b\xFF", b"c", b"c\0"].map(|key| fresh.key(key));
    fresh
        .write(|transaction| expected.iter().for_each(|key| transaction.set(key, b"")))
        .await;
    let (begin, end) = (fresh.key("b"), fresh.key("c"));
    fresh
        .write(|transaction| transaction.clear_range(&begin, &end))
        .await;
    let expected: Vec<Pair> = ["a", "c", "c\0"].map(|key| pair(key, "")).into();
    assert_eq!(fresh.all().await, expected);
}

async fn reads_without_conflict_return_the_same(fresh: Fresh) {
    fresh.set("a", "old").await;
    let transaction = fresh.transaction().await;
    transaction.set(&fresh.key("b"), b"new");
    let reads = transaction.without_conflict();
    assert_eq!(get(reads, &fresh.key("a")).await, Some(b"old".to_vec()));
    let expected = [pair("a", "old"), pair("b", "new")];
    assert_eq!(fresh.all_in(reads).await, expected);
}

async fn a_dropped_transaction_has_no_effect(fresh: Fresh) {
    fresh.set("there", "before").await;
    for read in [false, true] {
        let transaction = fresh.transaction().await;
        write_everything(&fresh, &*transaction);
        if read {
            get(&*transaction, &fresh.key("there")).await;
        }
        drop(transaction);
        assert_eq!(fresh.all().await, [pair("there", "before")]);
    }
}

async fn an_aborted_transaction_has_no_effect(fresh: Fresh) {
    fresh.set("there", "before").await;
    for read in [false, true] {
        let transaction = fresh.transaction().await;
        write_everything(&fresh, &*transaction);
        if read {
            get(&*transaction, &fresh.key("there")).await;
        }
        transaction.abort().await.expect("the store serves");
        assert_eq!(fresh.all().await, [pair("there", "before")]);
        fresh.set("there", "before").await;
    }
}

async fn read_only_transactions_commit(fresh: Fresh) {
    fresh.set("there", "before").await;
    let transaction = fresh.transaction().await;
    assert!(get(&*transaction, &fresh.key("there")).await.is_some());
    transaction.commit().await.expect("nothing can conflict");
    let transaction = fresh.transaction().await;
    transaction.commit().await.expect("nothing can conflict");
    assert_eq!(fresh.all().await, [pair("there", "before")]);
}

async fn conflict_ranges_do_not_change_reads(fresh: Fresh) {
    fresh
        .write(|transaction| {
            let (begin, end) = (fresh.begin(), fresh.end());
            transaction.add_read_conflict(&begin, &end);
            transaction.add_write_conflict(&begin, &end);
            transaction.without_write_conflicts(true);
            transaction.set(&fresh.key("a"), b"1");
            transaction.without_write_conflicts(false);
            transaction.set(&fresh.key("b"), b"2");
        })
        .await;
    assert_eq!(fresh.all().await, [pair("a", "1"), pair("b", "2")]);
}

async fn adding_begins_at_zero_and_wraps_around(fresh: Fresh) {
    let key = fresh.key("sum");
    for (by, sum) in [
        (5, 5),
        (-7, -2),
        (i64::MIN, i64::MAX - 1),
        (3, i64::MIN + 1),
        (i64::MAX, 0),
        (256, 256),
    ] {
        fresh.write(|transaction| transaction.add(&key, by)).await;
        assert_eq!(fresh.get("sum").await, bytes(Some(sum)), "{by}");
    }
    assert_eq!(fresh.get("sum").await, Some(vec![0, 1, 0, 0, 0, 0, 0, 0]));
}

async fn additions_treat_any_value_as_eight_bytes(fresh: Fresh) {
    let key = fresh.key("sum");
    for (before, after) in [
        (&b""[..], [1, 0, 0, 0, 0, 0, 0, 0]),
        (b"\x01", [2, 0, 0, 0, 0, 0, 0, 0]),
        (b"\xFF\xFF", [0, 0, 1, 0, 0, 0, 0, 0]),
        (b"\xFF\0\0\0\0\0\0\x01\x01", [0, 1, 0, 0, 0, 0, 0, 1]),
    ] {
        fresh
            .write(|transaction| transaction.set(&key, before))
            .await;
        fresh.write(|transaction| transaction.add(&key, 1)).await;
        assert_eq!(fresh.get("sum").await, Some(after.to_vec()), "{before:?}");
    }
}

async fn additions_are_visible_in_the_same_transaction(fresh: Fresh) {
    let key = fresh.key("sum");
    let transaction = fresh.transaction().await;
    transaction.add(&key, 1);
    transaction.add(&key, 1);
    assert_eq!(get(&*transaction, &key).await, bytes(Some(2)));
    transaction.add(&key, 40);
    assert_eq!(
        fresh.all_in(&*transaction).await,
        [pair("sum", 42_i64.to_le_bytes())]
    );
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.get("sum").await, bytes(Some(42)));
}

async fn every_kind_of_write_increases_the_transaction_size(fresh: Fresh) {
    let transaction = fresh.transaction().await;
    let key = |key: &str| fresh.key(key);
    let mut before = bytes_of(&*transaction).await;
    let writes: [&dyn Fn(); 6] = [
        &|| transaction.set(&key("a"), &[0; 1_000]),
        &|| transaction.clear(&key("b")),
        &|| transaction.clear_range(&key("c"), &key("d")),
        &|| transaction.add(&key("e"), 1),
        &|| transaction.set_versionstamped_value(&key("f"), &[0; 10], 0),
        &|| {
            transaction.set_versionstamped_key(
                &key("log 0123456789"),
                fresh.key("log ").len(),
                b"",
            );
        },
    ];
    for (kind, write) in writes.iter().enumerate() {
        write();
        let bytes = bytes_of(&*transaction).await;
        assert!(bytes > before, "write {kind}: {before} and then {bytes}");
        before = bytes;
    }
    assert!(before >= 1_000 + 6 * fresh.begin().len());
    // A read does not change the size of the writes.
    get(&*transaction, &key("a")).await;
    assert!(bytes_of(&*transaction).await >= before);
}

async fn bytes_of(transaction: &dyn Transaction) -> usize {
    transaction.bytes().await.expect("the store serves")
}

fn write_everything(fresh: &Fresh, transaction: &dyn Transaction) {
    let stamp_at = fresh.key("key ").len();
    transaction.set(&fresh.key("set"), b"new");
    transaction.clear(&fresh.key("there"));
    transaction.clear_range(&fresh.begin(), &fresh.key("t"));
    transaction.add(&fresh.key("sum"), 1);
    transaction.set_versionstamped_value(&fresh.key("value"), &[0; 12], 1);
    transaction.set_versionstamped_key(&fresh.key("key 0123456789"), stamp_at, b"");
}

fn bytes(value: Option<i64>) -> Option<Vec<u8>> {
    value.map(|value| value.to_le_bytes().to_vec())
}
