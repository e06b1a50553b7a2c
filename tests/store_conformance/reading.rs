//! Keys, ranges, batches, snapshots.

use phyllo::limits::{BATCH_PAIRS_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use phyllo::store::{Batches, RangeRead, Read, key_after};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::engines::{Fresh, Pair, get, pair, pairs};

on_every_engine!(
    keys_are_ordered_by_their_bytes,
    ranges_include_their_beginning_and_exclude_their_end,
    limits_apply_in_both_directions,
    empty_or_inverted_ranges_are_empty,
    several_ranges_return_the_same_as_each_alone,
    prefetching_does_not_change_what_is_read,
    ranges_with_more_pairs_than_a_batch_are_continued,
    ranges_with_more_bytes_than_a_batch_are_continued,
    batches_cover_a_range_and_are_never_empty,
    batches_skip_sought_keys_and_continue_in_another_snapshot,
    missing_keys_differ_from_empty_values,
    the_longest_key_and_value_are_returned,
    snapshots_do_not_change_while_others_commit,
    snapshots_show_earlier_commits,
    versions_of_snapshots_separate_commits,
    commits_are_reported_once_they_are_visible,
    snapshots_do_not_show_uncommitted_writes,
    lazy_snapshots_are_fixed_at_their_first_read,
    split_points_ascend_within_their_range,
    an_open_store_is_ready,
);

const AWKWARD: [&[u8]; 12] = [
    b"",
    b"\0",
    b"\0\0",
    b"\0\xFF",
    b"\x01",
    b"a",
    b"a\0",
    b"a\0b",
    b"a\xFF",
    b"b",
    b"\xFE\xFF",
    b"\xFF\xFF",
];

async fn keys_are_ordered_by_their_bytes(fresh: Fresh) {
    for key in AWKWARD.iter().rev().step_by(2).chain(AWKWARD.iter()) {
        let whole = fresh.key(key);
        fresh
            .write(|transaction| transaction.set(&whole, key))
            .await;
    }
    let expected: Vec<Pair> = AWKWARD.iter().map(|key| pair(key, key)).collect();
    assert_eq!(fresh.all().await, expected);
    for key in AWKWARD {
        assert_eq!(fresh.get(key).await.as_deref(), Some(key));
    }
    assert_eq!(fresh.get(b"\xFF").await, None);
    assert_eq!(fresh.get(b"a\0b\0").await, None);
}

async fn ranges_include_their_beginning_and_exclude_their_end(fresh: Fresh) {
    letters(&fresh).await;
    let snapshot = fresh.snapshot().await;
    for (begin, end, expected) in [
        ("b", "d", "bc"),
        ("b\0", "d", "c"),
        ("b", "d\0", "bcd"),
        ("a", "b", "a"),
        ("0", "a", ""),
        ("e\0", "z", ""),
        ("0", "z", "abcde"),
    ] {
        let (begin, end) = (fresh.key(begin), fresh.key(end));
        let found = pairs(&*snapshot, RangeRead::new(&begin, &end)).await;
        assert_eq!(keys(&fresh, found), expected, "{begin:?} to {end:?}");
    }
}

async fn limits_apply_in_both_directions(fresh: Fresh) {
    letters(&fresh).await;
    let (begin, end) = (fresh.key("b"), fresh.key("e"));
    let range = RangeRead::new(&begin, &end);
    let snapshot = fresh.snapshot().await;
    for (pairs_max, forward, backward) in [
        (0, "", ""),
        (1, "b", "d"),
        (2, "bc", "dc"),
        (3, "bcd", "dcb"),
        (4, "bcd", "dcb"),
        (usize::MAX, "bcd", "dcb"),
    ] {
        for (reverse, expected) in [(false, forward), (true, backward)] {
            let range = RangeRead {
                reverse,
                ..range.at_most(pairs_max)
            };
            let batch = snapshot.range(range).await.expect("the store serves");
            assert!(
                !batch.more || batch.pairs.len() < pairs_max,
                "nothing more is within the limit of {pairs_max}"
            );
            let found = pairs(&*snapshot, range).await;
            assert_eq!(keys(&fresh, found), expected, "{pairs_max}, {reverse}");
        }
    }
}

async fn empty_or_inverted_ranges_are_empty(fresh: Fresh) {
    letters(&fresh).await;
    let transaction = fresh.transaction().await;
    transaction.set(&fresh.key("bb"), b"");
    let snapshot = fresh.snapshot().await;
    for (begin, end) in [("b", "b"), ("c", "b"), ("z", "a"), ("b\0", "b")] {
        for reverse in [false, true] {
            let (begin, end) = (fresh.key(begin), fresh.key(end));
            let range = RangeRead {
                reverse,
                ..RangeRead::new(&begin, &end)
            };
            for batch in [snapshot.range(range).await, transaction.range(range).await] {
                let batch = batch.expect("not an error");
                assert!(batch.pairs.is_empty() && !batch.more);
            }
        }
    }
}

/// In any order, nested, near and far, empty, of few pairs and of more than a batch.
async fn several_ranges_return_the_same_as_each_alone(fresh: Fresh) {
    let mut random = StdRng::seed_from_u64(7);
    // Keys of documents, each with some of the numbers: engines may read near ones together.
    let collection = [&[0x02][..], &fresh.begin(), &[0x00]].concat();
    let key = |number: usize| {
        let id = u8::try_from(1 + number / 400).expect("small");
        let name = format!("\x02{number:05}\0");
        [&collection[..], &[0x15, id], name.as_bytes()].concat()
    };
    let count = BATCH_PAIRS_MAX + 500;
    fresh
        .write(|transaction| {
            for number in (0..count).filter(|number| number % 3 > 0 || number % 7 > 3) {
                transaction.set(&key(number), &number.to_le_bytes());
            }
        })
        .await;
    let snapshot = fresh.snapshot().await;
    let transaction = fresh.transaction().await;
    transaction.set(&key(17), b"changed");
    transaction.clear(&key(18));
    for round in 0..200 {
        let mut bounds = Vec::new();
        let near = random.random_ratio(2, 3);
        let first = random.random_range(0..count);
        for _ in 0..random.random_range(0..20) {
            let begin = if near {
                first + random.random_range(0..200)
            } else {
                random.random_range(0..count)
            };
            let long = if random.random_ratio(1, 20) {
                count
            } else {
                12
            };
            bounds.push((begin, begin + random.random_range(0..long)));
        }
        if round % 2 == 0 {
            bounds.sort_unstable();
        }
        let keys = bounds.iter().map(|(begin, end)| (key(*begin), key(*end)));
        let keys: Vec<_> = keys.collect();
        let ranges: Vec<RangeRead<'_>> = keys
            .iter()
            .map(|(begin, end)| RangeRead {
                pairs_max: *[0, 1, 2, usize::MAX, usize::MAX]
                    .choose(&mut random)
                    .expect("some"),
                reverse: random.random_ratio(1, 20),
                adjacent: near && random.random_ratio(1, 2),
                ..RangeRead::new(begin, end)
            })
            .collect();
        let reads: [&dyn Read; 2] = [&*snapshot, &*transaction];
        for read in reads {
            let together = read.ranges(&ranges).await;
            assert_eq!(together.batches.len(), ranges.len());
            for (found, range) in together.into_batches().zip(&ranges) {
                let found = found.expect("the store serves");
                let owned = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
                let mut brought: Vec<Pair> = found.pairs.iter().map(owned).collect();
                // Engines choose where a batch ends, except for the limit of the read.
                if found.more {
                    assert!(brought.len() < range.pairs_max, "{bounds:?}");
                    let last = brought.last().expect("more than nothing").0.clone();
                    let rest = if range.reverse {
                        (range.begin.to_vec(), last)
                    } else {
                        (key_after(&last), range.end.to_vec())
                    };
                    let rest = RangeRead {
                        begin: &rest.0,
                        end: &rest.1,
                        pairs_max: range.pairs_max - brought.len(),
                        ..*range
                    };
                    brought.extend(pairs(read, rest).await);
                }
                assert_eq!(brought, pairs(read, *range).await, "{bounds:?}");
            }
        }
    }
}

async fn prefetching_does_not_change_what_is_read(fresh: Fresh) {
    letters(&fresh).await;
    let transaction = fresh.transaction().await;
    transaction.set(&fresh.key("bb"), b"new");
    transaction.clear(&fresh.key("c"));
    let expected = fresh.all_in(&*transaction).await;
    let (begin, end) = (fresh.begin(), fresh.end());
    let whole = RangeRead::new(&begin, &end);
    let last = RangeRead {
        reverse: true,
        ..whole.at_most(1)
    };
    transaction
        .read_ahead(&[whole.at_most(2), whole, last, whole.at_most(0)])
        .await;
    assert_eq!(fresh.all_in(&*transaction).await, expected);
    // Later writes are seen as well.
    transaction.set(&fresh.key("bc"), b"newer");
    transaction.clear_range(&begin, &fresh.key("b"));
    let found = fresh.all_in(&*transaction).await;
    let later = pair("bc", "newer");
    assert!(found.contains(&later) && found.contains(&pair("bb", "new")));
    assert!(found.iter().all(|(key, _)| key[..] >= b"b"[..]));
    transaction.read_ahead(&[whole]).await;
    assert_eq!(fresh.all_in(&*transaction).await, found);
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.all().await, found);
}

async fn ranges_with_more_pairs_than_a_batch_are_continued(fresh: Fresh) {
    let count = BATCH_PAIRS_MAX + 3_000;
    let expected: Vec<Pair> = (0..count)
        .map(|number| pair(format!("{number:06}"), number.to_string()))
        .collect();
    let half = count / 2;
    fresh
        .write(|transaction| {
            for (key, value) in &expected[..half] {
                transaction.set(&fresh.key(key), value);
            }
        })
        .await;
    let transaction = fresh.transaction().await;
    for (key, value) in &expected[half..] {
        transaction.set(&fresh.key(key), value);
    }
    assert_eq!(fresh.all_in(&*transaction).await, expected);
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.all().await, expected);

    let (begin, end) = (fresh.begin(), fresh.end());
    let range = RangeRead {
        reverse: true,
        ..RangeRead::new(&begin, &end)
    };
    let snapshot = fresh.snapshot().await;
    let first = snapshot.range(range).await.expect("the store serves");
    assert!(first.more && first.pairs.len() <= BATCH_PAIRS_MAX);
    let mut backward = fresh.without_prefix(pairs(&*snapshot, range).await);
    backward.reverse();
    assert_eq!(backward, expected);

    for pairs_max in [BATCH_PAIRS_MAX, BATCH_PAIRS_MAX + 1, count - 1, count] {
        let range = RangeRead::new(&begin, &end).at_most(pairs_max);
        let found = fresh.without_prefix(pairs(&*snapshot, range).await);
        assert_eq!(found, expected[..pairs_max], "at most {pairs_max}");
    }
}

async fn ranges_with_more_bytes_than_a_batch_are_continued(fresh: Fresh) {
    let expected = three_megabytes(&fresh).await;
    let (begin, end) = (fresh.begin(), fresh.end());
    let snapshot = fresh.snapshot().await;
    let first = snapshot.range(RangeRead::new(&begin, &end)).await;
    let first = first.expect("the store serves");
    assert!(first.more, "three megabytes are more than a batch");
    assert!(!first.pairs.is_empty());
    assert_eq!(fresh.all_in(&*snapshot).await, expected);
}

async fn three_megabytes(fresh: &Fresh) -> Vec<Pair> {
    let pairs: Vec<Pair> = (0_u8..30)
        .map(|number| pair([number], vec![number; VALUE_BYTES_MAX]))
        .collect();
    fresh
        .write(|transaction| {
            for (key, value) in &pairs {
                transaction.set(&fresh.key(key), value);
            }
        })
        .await;
    pairs
}

async fn batches_cover_a_range_and_are_never_empty(fresh: Fresh) {
    let expected = three_megabytes(&fresh).await;
    let (snapshot, transaction) = (fresh.snapshot().await, fresh.transaction().await);
    let reads: [&dyn Read; 2] = [&*snapshot, &*transaction];
    let third = fresh.key([3]);
    for read in reads {
        for (begin, rest) in [
            (fresh.begin(), &expected[..]),
            (third.clone(), &expected[3..]),
            (key_after(&third), &expected[4..]),
            (fresh.end(), &[]),
        ] {
            for batches in [
                Batches::new(read, &begin[..], fresh.end()),
                Batches::new(read, &begin[..], fresh.end()).resumed(),
            ] {
                assert!(to_the_end(&fresh, batches).await == rest, "other pairs");
            }
        }
    }
}

async fn to_the_end(fresh: &Fresh, mut batches: Batches<&dyn Read>) -> Vec<Pair> {
    let mut found = Vec::new();
    while let Some(batch) = batches.next().await.expect("the store serves") {
        assert!(!batch.is_empty());
        found.extend(batch.iter().map(|(key, value)| pair(key, value)));
    }
    assert!(batches.next().await.expect("not an error").is_none());
    fresh.without_prefix(found)
}

async fn batches_skip_sought_keys_and_continue_in_another_snapshot(fresh: Fresh) {
    let expected = three_megabytes(&fresh).await;
    let mut batches = Batches::new(fresh.snapshot().await, fresh.begin(), fresh.end());
    let first = batches.next().await.expect("the store serves");
    let read = first.expect("there are pairs").len();
    assert!(read < 28, "three megabytes are more than a batch");
    batches.seek(&fresh.key([0]));
    batches.seek(&fresh.key([28]));
    fresh
        .write(|transaction| transaction.set(&fresh.key([28, 1]), b"new"))
        .await;
    batches.renew(fresh.snapshot().await);
    let mut rest = Vec::new();
    while let Some(batch) = batches.next().await.expect("the store serves") {
        rest.extend(batch.iter().map(|(key, value)| pair(key, value)));
    }
    let new = pair([28, 1], "new");
    let expected = [expected[28].clone(), new, expected[29].clone()];
    assert!(fresh.without_prefix(rest) == expected, "other pairs");
    batches.seek(&fresh.key([29]));
    assert!(batches.next().await.expect("not an error").is_none());
}

async fn missing_keys_differ_from_empty_values(fresh: Fresh) {
    fresh.set("empty", "").await;
    assert_eq!(fresh.get("empty").await, Some(Vec::new()));
    assert_eq!(fresh.get("missing").await, None);
    assert_eq!(fresh.all().await, [pair("empty", "")]);
}

async fn the_longest_key_and_value_are_returned(fresh: Fresh) {
    let mut key = fresh.begin();
    key.resize(KEY_BYTES_MAX, 0xFF);
    let sibling = [&key[..KEY_BYTES_MAX - 1], b"\xFE"].concat();
    let value: Vec<u8> = (0_u8..=255).cycle().take(VALUE_BYTES_MAX).collect();
    fresh
        .write(|transaction| {
            transaction.set(&key, &value);
            transaction.set(&sibling, b"sibling");
        })
        .await;
    let snapshot = fresh.snapshot().await;
    assert_eq!(get(&*snapshot, &key).await, Some(value.clone()));
    let end = fresh.end();
    let found = pairs(&*snapshot, RangeRead::new(&sibling, &end)).await;
    assert_eq!(found, [pair(&sibling, "sibling"), pair(&key, value)]);
    fresh.write(|transaction| transaction.clear(&key)).await;
    let snapshot = fresh.snapshot().await;
    assert_eq!(get(&*snapshot, &key).await, None);
}

async fn snapshots_do_not_change_while_others_commit(fresh: Fresh) {
    letters(&fresh).await;
    let before = fresh.all().await;
    let snapshot = fresh.snapshot().await;
    for round in 0_u32..20 {
        fresh
            .write(|transaction| {
                transaction.clear(&fresh.key("a"));
                transaction.set(&fresh.key("b"), &round.to_be_bytes());
                transaction.set(&fresh.key(format!("new {round}")), b"");
                transaction.clear_range(&fresh.key("c"), &fresh.key("e"));
                transaction.add(&fresh.key("e"), 1);
            })
            .await;
        assert_eq!(fresh.all_in(&*snapshot).await, before);
        assert!(get(&*snapshot, &fresh.key("a")).await.is_some());
    }
    assert_ne!(fresh.all().await, before);
}

async fn snapshots_show_earlier_commits(fresh: Fresh) {
    for round in 0..50 {
        let value = round.to_string();
        fresh.set("key", &value).await;
        assert_eq!(fresh.get("key").await, Some(value.into_bytes()));
    }
}

async fn versions_of_snapshots_separate_commits(fresh: Fresh) {
    let mut last = fresh.set("key", "0").await;
    for round in 1..10 {
        let snapshot = fresh.snapshot().await;
        let version = snapshot.version().await.expect("a version");
        assert!(version >= last, "{version} shows {last}");
        last = fresh.set("key", round.to_string()).await;
        assert!(version < last, "{version} does not show {last}");
        assert_eq!(snapshot.version().await.expect("a version"), version);
    }
    let transaction = fresh.transaction().await;
    let version = transaction.version().await.expect("a version");
    assert!(version >= last);
    transaction.abort().await.expect("it ends");
}

async fn commits_are_reported_once_they_are_visible(fresh: Fresh) {
    let Some(mut commits) = fresh.store.commits() else {
        return;
    };
    for round in 0..50 {
        commits.mark_unchanged();
        let value = round.to_string();
        let (_, reported) = tokio::join!(fresh.set("key", &value), commits.changed());
        reported.expect("the store is open");
        while fresh.get("key").await != Some(value.clone().into_bytes()) {
            commits.changed().await.expect("the store is open");
        }
    }
}

async fn snapshots_do_not_show_uncommitted_writes(fresh: Fresh) {
    fresh.set("key", "old").await;
    let transaction = fresh.transaction().await;
    transaction.set(&fresh.key("key"), b"new");
    assert_eq!(
        get(&*transaction, &fresh.key("key")).await,
        Some(b"new".to_vec())
    );
    assert_eq!(fresh.get("key").await, Some(b"old".to_vec()));
    transaction.commit().await.expect("nobody else writes");
    assert_eq!(fresh.get("key").await, Some(b"new".to_vec()));
}

async fn lazy_snapshots_are_fixed_at_their_first_read(fresh: Fresh) {
    let key = fresh.key(b"key");
    let (begin, end) = (fresh.begin(), fresh.end());
    let range = RangeRead::new(&begin, &end);
    for first in 0..3_u8 {
        let value = [first];
        fresh
            .write(|transaction| transaction.set(&key, &value))
            .await;
        let snapshot = fresh.store.lazy_snapshot().await.expect("it will be");
        let found = match first {
            0 => get(&*snapshot, &key).await,
            1 => {
                let batch = snapshot.range(range).await.expect("the store serves");
                batch.pairs.first().map(|(_, value)| value.to_vec())
            }
            _ => {
                let batches = snapshot.ranges(&[range, range]).await;
                let batch = batches.into_batches().last().expect("two");
                let batch = batch.expect("the store serves");
                batch.pairs.first().map(|(_, value)| value.to_vec())
            }
        };
        assert_eq!(found.as_deref(), Some(&value[..]));
        fresh
            .write(|transaction| transaction.set(&key, b"later"))
            .await;
        assert_eq!(get(&*snapshot, &key).await.as_deref(), Some(&value[..]));
        assert_eq!(
            pairs(&*snapshot, range).await,
            [(key.clone(), value.to_vec())]
        );
    }
}

async fn split_points_ascend_within_their_range(fresh: Fresh) {
    letters(&fresh).await;
    let (begin, end) = (fresh.begin(), fresh.end());
    let snapshot = fresh.snapshot().await;
    let points = snapshot.split_points(&begin, &end).await;
    let points = points.expect("the store serves");
    assert!(points.is_sorted());
    assert!(points.iter().all(|point| (&begin..=&end).contains(&point)));
}

async fn an_open_store_is_ready(fresh: Fresh) {
    fresh.store.ready().await.expect("ready");
    if let Some(bytes_max) = fresh.store.limits().transaction_bytes_max {
        assert!(bytes_max >= 1 << 20, "room for a document");
    }
}

/// The pairs `a` to `e`.
async fn letters(fresh: &Fresh) {
    fresh
        .write(|transaction| {
            for letter in ["d", "a", "e", "b", "c"] {
                transaction.set(&fresh.key(letter), letter.as_bytes());
            }
        })
        .await;
}

/// The keys of some pairs, joined.
fn keys(fresh: &Fresh, pairs: Vec<Pair>) -> String {
    let keys = fresh.without_prefix(pairs).into_iter().map(|pair| pair.0);
    let keys = keys.collect::<Vec<_>>().concat();
    String::from_utf8(keys).expect("letters")
}
