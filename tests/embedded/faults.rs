//! A full disk, and an unreadable file.

use std::fs::File;

use phyllo::store::{Embedded, EmbeddedOptions, FILE_NAME, Store};

use crate::disk::{Disk, Sync};
use crate::{all, assert_failed, assert_unavailable, get, set};

#[tokio::test]
async fn a_full_disk_fails_the_store_and_loses_nothing_acknowledged() {
    for full in [
        Disk::fill as fn(&Disk),
        |disk| disk.take_only(0),
        |disk| disk.take_only(20_000),
        |disk| disk.take_only(300_000),
    ] {
        let disk = Disk::new();
        let store = Embedded::on_backend(disk.clone()).expect("a new store");
        set(&store, "before", "value").await.expect("committed");
        full(&disk);
        let mut acknowledged = 1;
        let error = loop {
            let value = vec![0x55; 20_000];
            match set(&store, format!("{acknowledged:06}"), value).await {
                Ok(()) => acknowledged += 1,
                Err(error) => break error,
            }
            assert!(acknowledged < 10_000, "the disk is full");
        };
        assert_unavailable::<()>(Err(error));
        let reason = assert_failed(&store).await;
        println!("after {acknowledged} commits: {reason}");
        assert!(reason.detail().is_some_and(|detail| !detail.is_empty()));
        drop(store);

        let store = Embedded::on_backend(disk.copy()).expect("there is room again");
        assert!(all(&store).await.len() >= acknowledged);
        assert_eq!(get(&store, "before").await, Some(b"value".to_vec()));
        set(&store, "after", "").await.expect("committed");
    }
}

#[tokio::test]
async fn a_store_cannot_be_created_on_a_full_disk() {
    let disk = Disk::new();
    disk.fill();
    let error = assert_unavailable(Embedded::on_backend(disk).map(|_| ()));
    assert!(error.message().contains("cannot be opened"), "{error}");
}

#[test]
fn a_panic_while_opening_is_reported_as_an_error() {
    let disk = Disk::new();
    disk.let_syncs(Sync::Panics);
    let error = assert_unavailable(Embedded::on_backend(disk.clone()).map(|_| ()));
    assert!(
        error.message().contains("that the test asked for"),
        "{error}"
    );
    disk.let_syncs(Sync::Succeeds);
}

#[tokio::test]
async fn an_unreadable_file_fails_the_store() {
    for in_transaction in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let options = EmbeddedOptions {
            cache_bytes: 0,
            ..EmbeddedOptions::default()
        };
        let store = Embedded::open(directory.path(), options, |_| {}).expect("a new store");
        for number in 0..20 {
            let value = vec![number; 50_000];
            set(&store, format!("{number:03}"), value)
                .await
                .expect("committed");
        }
        let snapshot = store.snapshot().await.expect("taken");
        let transaction = store.begin().await.expect("begun");
        let file = directory.path().join(FILE_NAME);
        let file = File::options().write(true).open(file).expect("opened");
        file.set_len(4096).expect("cut off");
        let read = if in_transaction {
            transaction.get(b"013").await
        } else {
            snapshot.get(b"013").await
        };
        assert_unavailable(read);
        drop(transaction);
        let reason = assert_failed(&store).await;
        let detail = reason.detail().unwrap_or_default();
        assert!(detail.contains("buffer"), "{reason}");
    }
}
