//! Durability of the embedded engine: acknowledged and visible data is on disk, whatever the disk
//! does, and a directory that cannot be opened is not modified.

mod corrupt_files;
mod crash;
mod damaged_files;
mod deadline;
mod directory;
mod disk;
mod documents;
mod faults;
mod full_disk;
mod generations;
mod kill;
mod large;
mod log;
mod log_format;
mod machine;
mod pages;
mod process;
mod read_only;
mod reclaim;
mod recorder;
mod room;
mod salvage;
#[path = "../seed/mod.rs"]
mod seed;
mod sessions;
#[path = "../skip/mod.rs"]
mod skip;
mod sync;
mod upgrade;
mod waits;

use std::sync::Arc;

use phyllo::error::{Error, ErrorKind, Result};
use phyllo::store::{Embedded, Read, Store, Transaction};

/// Commits one pair.
async fn set(store: &Embedded, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
    let transaction = store.begin().await?;
    transaction.set(key.as_ref(), value.as_ref());
    Ok(transaction.commit().await.map(|_| ())?)
}

/// A store whose log has begun.
async fn logged(machine: &machine::Machine) -> Embedded {
    let store = begun_by(machine.open().expect("a store")).await;
    assert!(machine.has_log());
    store
}

/// Lets a store have a log, which begins with the second of its commits.
async fn begun_by(store: Embedded) -> Embedded {
    store.enable_log().await.expect("enabled");
    for number in 0..2 {
        set(&store, format!("first {number}"), "value")
            .await
            .expect("committed");
    }
    store
}

/// Reads from a new snapshot.
async fn get(store: &Embedded, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    let snapshot = store.snapshot().await.expect("the store serves");
    snapshot.get(key.as_ref()).await.expect("read")
}

async fn begin(store: &Embedded) -> Arc<dyn Transaction> {
    store.begin().await.expect("the store serves")
}

fn assert_unavailable<T>(result: Result<T>) -> Error {
    let error = result.err().expect("the store does not serve");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    error
}

/// Asserts that a write failed: it was refused, or its sync failed and its outcome is unknown.
fn assert_not_acknowledged<T>(result: Result<T>) -> Error {
    let error = result.err().expect("the store does not write");
    let kinds = [ErrorKind::Unavailable, ErrorKind::OutcomeUnknown];
    assert!(kinds.contains(&error.kind()), "{error}");
    error
}

/// Asserts that the store has failed and rejects every operation.
async fn assert_failed(store: &Embedded) -> Error {
    assert_unavailable(store.begin().await.map(|_| ()));
    assert_unavailable(store.snapshot().await.map(|_| ()));
    assert_unavailable(store.ready().await);
    store.failed().await
}

/// All pairs, in order.
async fn all(store: &Embedded) -> Vec<(Vec<u8>, Vec<u8>)> {
    let snapshot = store.snapshot().await.expect("the store serves");
    all_in(&*snapshot).await.expect("read")
}

async fn all_in(read: &dyn Read) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut found: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut begin = Vec::new();
    loop {
        let range = phyllo::store::RangeRead::new(&begin, &[0xFF]);
        let batch = read.range(range).await?;
        let owned = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
        found.extend(batch.pairs.iter().map(owned));
        match batch.pairs.last() {
            Some((last, _)) if batch.more => begin = [last, b"\0"].concat(),
            _ => return Ok(found),
        }
    }
}
