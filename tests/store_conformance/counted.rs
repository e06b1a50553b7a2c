//! The store wrapper that counts operations.

use std::sync::atomic::Ordering;

use phyllo::store::{Observed, RangeRead, Read, Store};

use super::engines::in_memory;

#[tokio::test]
async fn the_counting_store_counts_every_kind_of_read() {
    let store = Observed::new(in_memory());
    let operations = store.operations();
    let transaction = store.begin().await.expect("begun");
    transaction.set(b"a", b"12");
    let range = RangeRead::new(b"a", b"b");
    let snapshot = store.snapshot().await.expect("taken");
    let reads: [&dyn Read; 3] = [&*transaction, transaction.without_conflict(), &*snapshot];
    for read in reads {
        read.get(b"a").await.expect("read");
        read.range(range).await.expect("read");
        let resumed = RangeRead {
            resumed: true,
            ..range
        };
        read.range(resumed).await.expect("read");
        let several = read.ranges(&[range, RangeRead::new(b"b", b"c")]).await;
        assert_eq!(several.batches.len(), 2);
    }
    transaction.commit().await.expect("committed");
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    assert_eq!(count(&operations.transactions), 2);
    assert_eq!(count(&operations.gets), 3);
    assert_eq!(count(&operations.ranges), 9);
    assert_eq!(count(&operations.batches), 12);
    assert_eq!(count(&operations.pairs), 6);
    assert_eq!(count(&operations.bytes), 2 * 2 + 6 * 3);
    assert_eq!(count(&operations.commits), 1);
    assert_eq!(count(&operations.conflicts), 0);
}
