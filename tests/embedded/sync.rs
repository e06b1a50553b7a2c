//! Group commit: nothing is reported or visible before the sync that covers it, and waiting commits
//! share a sync.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, join_all, select};
use futures::{FutureExt, poll};
use phyllo::error::Result;
use phyllo::store::{Embedded, RangeRead, Store};

use crate::disk::{Disk, Sync};
use crate::machine::Machine;
use crate::{all, assert_failed, assert_unavailable, begin, get, set};

#[tokio::test]
async fn commits_are_neither_reported_nor_visible_before_their_sync() {
    let (disk, store) = opened().await;
    set(&store, "key", "old").await.expect("committed");
    let before = store.snapshot().await.expect("taken");
    disk.let_syncs(Sync::Waits);
    let syncs = disk.syncs();
    let mut commit = pin!(set(&store, "key", "new"));
    until_sync(&disk, syncs + 1, &mut commit).await;
    assert!(poll!(&mut commit).is_pending());
    assert_eq!(get(&store, "key").await, Some(b"old".to_vec()));
    let range = RangeRead::new(b"", b"\xFF");
    let batch = before.range(range).await.expect("read");
    assert_eq!(batch.pairs.first(), Some((&b"key"[..], &b"old"[..])));

    disk.let_syncs(Sync::Succeeds);
    commit.await.expect("committed");
    assert_eq!(get(&store, "key").await, Some(b"new".to_vec()));
    let value = before.get(b"key").await.expect("read");
    assert_eq!(value, Some(b"old".to_vec()));
}

/// The sync thread then waits for a transaction that ends only after the store is closed. The commit
/// was not reported as successful, so it can be lost.
#[tokio::test]
async fn a_store_closes_while_an_open_transaction_delays_a_sync() {
    let (_disk, store) = opened().await;
    let first = begin(&store).await;
    first.set(b"key", b"value");
    let mut queued = Box::pin(begin(&store));
    assert!(poll!(&mut queued).is_pending());
    let mut commit = pin!(first.commit());
    // The lock goes to the queued transaction, before the sync thread.
    assert!(poll!(&mut commit).is_pending());
    let open = queued.await;
    drop(store);
    assert!(commit.await.is_err());
    drop(open);
}

/// Reads of another transaction's unsynced commit are not reported before its sync, whether the
/// transaction commits or aborts.
#[tokio::test]
async fn transactions_that_read_an_unsynced_commit_end_after_its_sync() {
    for aborts in [true, false] {
        let (disk, store) = opened().await;
        disk.let_syncs(Sync::Waits);
        let writer = begin(&store).await;
        writer.set(b"key", b"value");
        // It waits in the queue, so that it runs before the thread that syncs.
        let mut next = pin!(store.begin());
        assert!(poll!(&mut next).is_pending());
        let mut commit = pin!(writer.commit());
        assert!(poll!(&mut commit).is_pending());
        let reader = next.await.expect("its turn");
        let value = reader.get(b"key").await.expect("read");
        assert_eq!(value, Some(b"value".to_vec()));
        assert_eq!(get(&store, "key").await, None);

        let syncs = disk.syncs();
        let mut end: Pin<Box<dyn Future<Output = Result<()>>>> = if aborts {
            Box::pin(reader.abort())
        } else {
            Box::pin(async { Ok(reader.commit().await.map(|_| ())?) })
        };
        until_sync(&disk, syncs + 1, &mut end).await;
        assert!(poll!(&mut end).is_pending());
        assert!(poll!(&mut commit).is_pending());
        disk.let_syncs(Sync::Succeeds);
        end.await.expect("synced");
        commit.await.expect("synced");
    }
}

#[tokio::test]
async fn transactions_that_read_only_synced_data_end_immediately() {
    let (disk, store) = opened().await;
    set(&store, "key", "value").await.expect("committed");
    let syncs = disk.syncs();
    disk.let_syncs(Sync::Fails);
    let reader = begin(&store).await;
    assert!(reader.get(b"key").await.expect("read").is_some());
    reader.commit().await.expect("nothing to sync");
    let reader = begin(&store).await;
    reader.set(b"key", b"undone");
    reader.abort().await.expect("nothing to sync");
    assert_eq!(disk.syncs(), syncs);
    disk.let_syncs(Sync::Succeeds);
}

#[tokio::test]
async fn waiting_commits_share_a_sync() {
    let (disk, store) = opened().await;
    let syncs = disk.syncs();
    set(&store, "one", "").await.expect("committed");
    let syncs_of_one = disk.syncs() - syncs;

    disk.let_syncs(Sync::Waits);
    let mut first = pin!(set(&store, "first", ""));
    until_sync(&disk, syncs + syncs_of_one + 1, &mut first).await;
    let store = &store;
    let mut waiting: Vec<_> = (0..64)
        .map(|number| Box::pin(set(store, format!("key {number}"), "")))
        .collect();
    for commit in &mut waiting {
        assert!(poll!(commit).is_pending());
    }
    let before = disk.syncs();
    disk.let_syncs(Sync::Succeeds);
    for committed in join_all(waiting).await {
        committed.expect("committed");
    }
    first.await.expect("committed");
    let syncs = disk.syncs() - before;
    println!("64 commits: {syncs} syncs; one commit: {syncs_of_one}");
    assert!(
        syncs <= 3 * syncs_of_one,
        "{syncs} syncs, {syncs_of_one} for one commit"
    );
    assert_eq!(all(store).await.len(), 66);
}

#[tokio::test]
async fn a_commit_is_synced_even_if_its_caller_is_gone() {
    let (disk, store) = opened().await;
    disk.let_syncs(Sync::Waits);
    let syncs = disk.syncs();
    let mut abandoned = Box::pin(set(&store, "abandoned", ""));
    until_sync(&disk, syncs + 1, &mut abandoned).await;
    drop(abandoned);
    disk.let_syncs(Sync::Succeeds);
    set(&store, "next", "").await.expect("committed");
    assert_eq!(get(&store, "abandoned").await, Some(Vec::new()));
}

#[tokio::test]
async fn a_failed_sync_is_reported_to_all_waiters_and_fails_the_store() {
    for sync in [Sync::Fails, Sync::Panics] {
        let (disk, store) = opened().await;
        set(&store, "before", "").await.expect("committed");
        disk.let_syncs(Sync::Waits);
        let syncs = disk.syncs();
        // Eight transactions wait for the same sync, and eight for their turn.
        let blocker = begin(&store).await;
        blocker.set(b"blocker", b"");
        let mut waiting = commits(&store, "first");
        for commit in &mut waiting {
            assert!(poll!(commit).is_pending());
        }
        let mut commit = pin!(blocker.commit());
        assert!(poll!(&mut commit).is_pending());
        let mut all = poll_fn(|context| {
            let polled = waiting.iter_mut().map(|commit| commit.poll_unpin(context));
            assert!(polled.into_iter().all(|polled| polled.is_pending()));
            commit.as_mut().poll(context).map(|_| ())
        });
        until_sync(&disk, syncs + 1, &mut all).await;
        let mut late = commits(&store, "late");
        for commit in &mut late {
            assert!(poll!(commit).is_pending());
        }
        disk.let_syncs(sync);
        for failed in join_all(waiting).await {
            assert_unavailable(failed);
        }
        for failed in join_all(late).await {
            assert_unavailable(failed);
        }
        let failure = assert_unavailable(commit.await.map_err(phyllo::error::Error::from));
        assert!(failure.message().contains("failed"), "{failure}");
        let reason = assert_failed(&store).await;
        let expected = match sync {
            Sync::Fails => "the disk is gone",
            _ => "panicked",
        };
        let detail = reason.detail().unwrap_or_default();
        assert!(detail.contains(expected), "{reason}");
        disk.let_syncs(Sync::Fails);
        drop(store);

        let store = Embedded::on_backend(disk.copy()).expect("it is whole");
        assert_eq!(get(&store, "before").await, Some(Vec::new()));
    }
}

#[tokio::test]
async fn a_transaction_cannot_commit_after_the_store_is_dropped() {
    let (disk, store) = opened().await;
    set(&store, "before", "").await.expect("committed");
    let snapshot = store.snapshot().await.expect("taken");
    let transaction = begin(&store).await;
    transaction.set(b"key", b"value");
    drop(store);
    assert_unavailable(
        transaction
            .commit()
            .await
            .map_err(phyllo::error::Error::from),
    );
    drop(transaction);
    // The snapshot may return the value, or fail as unavailable.
    if let Err(error) = snapshot.get(b"before").await {
        assert_unavailable::<()>(Err(error));
    }
    let store = Embedded::on_backend(disk.copy()).expect("it is whole");
    assert_eq!(all(&store).await.len(), 1);
}

#[tokio::test]
async fn an_ended_transaction_rejects_writes() {
    let (_disk, store) = opened().await;
    let transaction = begin(&store).await;
    transaction.set(b"key", b"value");
    transaction.commit().await.expect("committed");
    transaction.set(b"key", b"late");
    transaction.clear(b"key");
    assert!(transaction.get(b"key").await.is_err());
    assert!(transaction.commit().await.is_err());
    assert_eq!(transaction.bytes().await.expect("it has an answer"), 0);
    transaction.abort().await.expect("there is nothing to undo");
    assert_eq!(get(&store, "key").await, Some(b"value".to_vec()));
}

#[tokio::test]
async fn the_empty_key_is_valid() {
    let (disk, store) = opened().await;
    set(&store, "", "").await.expect("committed");
    assert_eq!(get(&store, "").await, Some(Vec::new()));
    drop(store);
    let store = Embedded::on_backend(disk.copy()).expect("it is whole");
    assert_eq!(all(&store).await.len(), 1);
    let transaction = begin(&store).await;
    transaction.clear(b"");
    transaction.commit().await.expect("committed");
    assert_eq!(get(&store, "").await, None);
}

/// The published snapshot advances, so that pages of old states are reused.
#[tokio::test]
async fn overwriting_does_not_grow_the_file() {
    let (disk, store) = opened().await;
    let mut sizes = Vec::new();
    for round in 0_u8..120 {
        let transaction = begin(&store).await;
        for number in 0..200 {
            transaction.set(format!("{number}").as_bytes(), &[round; 4_000]);
        }
        transaction.commit().await.expect("committed");
        sizes.push(disk.bytes());
    }
    println!(
        "{} bytes after 20 rounds, {} after 120",
        sizes[20], sizes[119]
    );
    assert_eq!(sizes[119], sizes[20], "the same pairs take the same place");
}

/// A snapshot keeps all pages that were freed since, but only until it is dropped.
#[tokio::test]
async fn pages_of_a_dropped_snapshot_are_reused() {
    let (disk, store) = opened().await;
    let mut kept = None;
    let mut sizes = Vec::new();
    for round in 0_u8..90 {
        match round {
            30 => kept = Some(store.snapshot().await.expect("taken")),
            60 => drop(kept.take()),
            _ => {}
        }
        let transaction = begin(&store).await;
        for number in 0..200 {
            transaction.set(format!("{number}").as_bytes(), &[round; 4_000]);
        }
        transaction.commit().await.expect("committed");
        sizes.push(disk.bytes());
    }
    println!(
        "{} before, {} with, {} after",
        sizes[29], sizes[59], sizes[89]
    );
    assert!(sizes[89] <= sizes[59], "what it held is free again");
}

/// Polls a commit until the disk begins the sync with this number, which does not end. The commit may
/// have to wait for the write lock first, which the reclaim thread takes when it starts.
async fn until_sync(disk: &Disk, number: usize, commit: &mut (impl Future + Unpin)) {
    let begun = pin!(disk.begins_sync(number));
    let first = select(begun, commit).await;
    assert!(matches!(first, Either::Left(_)), "the commit has not ended");
}

async fn opened() -> (Disk, Embedded) {
    let disk = Disk::new();
    let store = Embedded::on_backend(disk.clone()).expect("a new store");
    store.ready().await.expect("it serves");
    (disk, store)
}

type Commit<'s> = Pin<Box<dyn Future<Output = Result<()>> + 's>>;

fn commits<'s>(store: &'s Embedded, name: &'s str) -> Vec<Commit<'s>> {
    let commit = |number| Box::pin(set(store, format!("{name} {number}"), "")) as Commit<'s>;
    (0..8).map(commit).collect()
}

/// A transaction that is written to redb directly syncs its file before it ends.
#[test]
fn a_large_commit_does_not_block_other_tasks() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a thread");
    runtime.block_on(async {
        let machine = Machine::new();
        let store = Arc::new(machine.open().expect("a store"));
        store.enable_log().await.expect("enabled");
        machine.hold_database_syncs(true);
        let begun = machine.database_syncs();
        let committing = {
            let store = store.clone();
            tokio::spawn(async move { crate::set(&store, "large", vec![0; 300_000]).await })
        };
        while machine.database_syncs() == begun {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // The only thread of the runtime is not blocked.
        let others = tokio::spawn(async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        let others = tokio::time::timeout(Duration::from_secs(20), others).await;
        machine.hold_database_syncs(false);
        others.expect("other tasks continue").expect("no panic");
        committing.await.expect("no panic").expect("committed");
    });
}
