//! Versions: the version that a commit reports, and the versionstamps that it writes.

use phyllo::error::{ErrorKind, Result};
use phyllo::store::{Batch, RangeRead, Read, Transaction};

use super::engines::{Fresh, get, pair, pairs};

on_every_engine!(
    stamps_equal_the_version_that_the_commit_reports,
    versions_ascend_in_the_order_of_commits_and_as_text,
    stamped_keys_are_in_commit_order,
    reading_a_stamped_value_in_its_transaction_fails,
    reading_a_stamped_key_in_its_transaction_fails,
    a_stamped_value_can_be_read_once_it_is_overwritten_or_cleared,
    a_rejected_read_does_not_affect_the_transaction,
);

async fn stamps_equal_the_version_that_the_commit_reports(fresh: Fresh) {
    let stamp_at = fresh.key("log ").len();
    let version = fresh
        .write(|transaction| {
            transaction.set_versionstamped_value(&fresh.key("alone"), &[0xFF; 10], 0);
            transaction.set_versionstamped_value(&fresh.key("within"), b"<0123456789>", 1);
            transaction.set_versionstamped_key(&fresh.key("log 0123456789 end"), stamp_at, b"v");
        })
        .await;
    let within = [b"<", &version.0[..], b">"].concat();
    let log = [b"log ", &version.0[..], b" end"].concat();
    let expected = [
        pair("alone", version.0),
        pair(log, "v"),
        pair("within", within),
    ];
    assert_eq!(fresh.all().await, expected);
}

async fn versions_ascend_in_the_order_of_commits_and_as_text(fresh: Fresh) {
    let mut versions = Vec::new();
    for round in 0..300 {
        versions.push(fresh.set("key", round.to_string()).await);
    }
    assert!(versions.is_sorted_by(|earlier, later| earlier.0 < later.0));
    let texts: Vec<_> = versions.iter().map(ToString::to_string).collect();
    assert!(texts.is_sorted_by(|earlier, later| earlier < later));
}

async fn stamped_keys_are_in_commit_order(fresh: Fresh) {
    let stamp_at = fresh.begin().len();
    let mut expected = Vec::new();
    for round in 0..50 {
        let value = round.to_string();
        let version = fresh
            .write(|transaction| {
                let key = fresh.key("0123456789");
                transaction.set_versionstamped_key(&key, stamp_at, value.as_bytes());
            })
            .await;
        expected.push(pair(version.0, value));
    }
    assert_eq!(fresh.all().await, expected);
}

async fn reading_a_stamped_value_in_its_transaction_fails(fresh: Fresh) {
    fresh.set("stamped", "before").await;
    fresh.set("other", "before").await;
    let transaction = fresh.transaction().await;
    let key = fresh.key("stamped");
    transaction.set_versionstamped_value(&key, &[0; 10], 0);
    assert_refused(&fresh, &*transaction, &key).await;
    assert_refused(&fresh, transaction.without_conflict(), &key).await;
    // Other keys, before and after it, can be read.
    let other = get(&*transaction, &fresh.key("other")).await;
    assert_eq!(other, Some(b"before".to_vec()));
    let (begin, behind, end) = (fresh.begin(), fresh.key("stamped\0"), fresh.end());
    let before = pairs(&*transaction, RangeRead::new(&begin, &key)).await;
    assert_eq!(fresh.without_prefix(before), [pair("other", "before")]);
    let after = pairs(&*transaction, RangeRead::new(&behind, &end)).await;
    assert_eq!(after, []);
    // An addition does not make the stamp readable.
    transaction.add(&key, 1);
    assert_refused(&fresh, &*transaction, &key).await;
}

async fn reading_a_stamped_key_in_its_transaction_fails(fresh: Fresh) {
    fresh.set("a", "before").await;
    let transaction = fresh.transaction().await;
    let key = fresh.key("log 0123456789");
    transaction.set_versionstamped_key(&key, fresh.key("log ").len(), b"");
    let (begin, end) = (fresh.begin(), fresh.end());
    for reverse in [false, true] {
        let range = RangeRead {
            reverse,
            ..RangeRead::new(&begin, &end)
        };
        let refused = transaction.range(range).await.expect_err("not known yet");
        assert_eq!(refused.kind(), ErrorKind::BadUserInput);
    }
    let log = fresh.key("log ");
    let before = pairs(&*transaction, RangeRead::new(&begin, &log)).await;
    assert_eq!(fresh.without_prefix(before), [pair("a", "before")]);
    // Ranges that contain it cannot be read.
    let ranges = [(&begin, &log), (&begin, &end), (&log, &end)];
    let ranges = ranges.map(|(begin, end)| RangeRead::new(begin, end));
    for times in [1, 20] {
        let round = transaction.ranges(&ranges.repeat(times)).await;
        let readable = |batch: Result<Batch>| match batch {
            Ok(batch) => batch.pairs.len() == 1,
            Err(refused) => {
                assert_eq!(refused.kind(), ErrorKind::BadUserInput);
                false
            }
        };
        let readable: Vec<bool> = round.into_batches().map(readable).collect();
        assert_eq!(readable, [true, false, false].repeat(times));
    }
    transaction.clear_range(&begin, &end);
    assert_eq!(fresh.all_in(&*transaction).await, []);
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.all().await, []);
}

/// FoundationDB's client keeps failing after an overwrite, so that engine must clear the key first.
async fn a_stamped_value_can_be_read_once_it_is_overwritten_or_cleared(fresh: Fresh) {
    type Mend = fn(&dyn Transaction, &[u8], &[u8]);
    let mends: [(Mend, Option<&str>); 4] = [
        (|transaction, key, _| transaction.clear(key), None),
        (
            |transaction, key, end| transaction.clear_range(key, end),
            None,
        ),
        (
            |transaction, key, _| transaction.set(key, b"plain"),
            Some("plain"),
        ),
        (
            |transaction, key, _| {
                transaction.clear(key);
                transaction.set(key, b"plain");
            },
            Some("plain"),
        ),
    ];
    for (case, (mend, expected)) in mends.into_iter().enumerate() {
        let part = fresh.part(case);
        part.set("key", "before").await;
        let (key, end) = (part.key("key"), part.key("kez"));
        let expected = expected.map(|value| value.as_bytes().to_vec());
        let transaction = part.transaction().await;
        transaction.set_versionstamped_value(&key, &[0; 10], 0);
        mend(&*transaction, &key, &end);
        assert_eq!(get(&*transaction, &key).await, expected, "case {case}");
        let all = part.all_in(&*transaction).await;
        assert_eq!(all.len(), usize::from(expected.is_some()), "case {case}");
        transaction.commit().await.expect("nobody else writes");
        assert_eq!(part.get("key").await, expected, "case {case}");
    }
}

async fn a_rejected_read_does_not_affect_the_transaction(fresh: Fresh) {
    let transaction = fresh.transaction().await;
    let key = fresh.key("stamped");
    transaction.set_versionstamped_value(&key, &[0; 10], 0);
    assert_refused(&fresh, &*transaction, &key).await;
    transaction.set(&fresh.key("more"), b"");
    let version = transaction.commit().await.expect("nobody else writes");
    let expected = [pair("more", ""), pair("stamped", version.0)];
    assert_eq!(fresh.all().await, expected);
}

async fn assert_refused(fresh: &Fresh, read: &dyn Read, key: &[u8]) {
    let refused = read.get(key).await.expect_err("the stamp is not known yet");
    assert_eq!(refused.kind(), ErrorKind::Internal);
    let (begin, end) = (fresh.begin(), fresh.end());
    for reverse in [false, true] {
        let range = RangeRead {
            reverse,
            ..RangeRead::new(&begin, &end)
        };
        let refused = read.range(range).await.expect_err("it holds the stamp");
        assert_eq!(refused.kind(), ErrorKind::Internal);
    }
}
