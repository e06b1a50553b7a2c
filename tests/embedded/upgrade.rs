//! Stores of programs without a log: they are opened, and those programs reject them from then on.

use std::sync::Arc;
use std::time::Duration;

use foundationdb_tuple::pack;
use phyllo::database::{Database, FORMAT, FORMAT_LOG, FORMAT_VERSIONSTAMPS};
use phyllo::store::{Embedded, Store};
use redb::{ReadableDatabase, TableDefinition};
use tokio::time::Instant;

use crate::disk::{Disk, chance};
use crate::machine::{Image, Machine};
use crate::{all, get, set};

const PAIRS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("pairs");
const ENGINE: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");

fn format_key() -> Vec<u8> {
    pack(&(None::<()>, 0))
}

/// A store as an older program leaves it: closed, or killed.
async fn old_store(format: i64, closed: bool) -> Machine {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    set(&store, format_key(), pack(&(format,)))
        .await
        .expect("committed");
    for number in 0..3 {
        let key = pack(&("D", number));
        set(&store, key, pack(&("value",)))
            .await
            .expect("committed");
    }
    let killed = machine.image();
    drop(store);
    Machine::holding(if closed { machine.image() } else { killed })
}

async fn open(store: Embedded) -> Database {
    let deadline = Instant::now() + Duration::from_secs(30);
    let opened = Database::open(Arc::new(store), deadline).await;
    opened.expect("a known format")
}

#[tokio::test]
async fn stores_of_older_programs_are_opened_and_raised() {
    for (format, closed) in [
        (FORMAT, true),
        (FORMAT, false),
        (FORMAT_VERSIONSTAMPS, true),
    ] {
        let machine = old_store(format, closed).await;
        let database = open(machine.open().expect("a store")).await;
        let snapshot = database.snapshot().await.expect("it serves");
        let stored = snapshot.get(&format_key()).await.expect("read");
        assert_eq!(stored, Some(pack(&(FORMAT_LOG,))));
        drop((snapshot, database));
        let store = machine.open().expect("a store");
        assert!(!store.lacks_log());
        assert_eq!(all(&store).await.len(), 4);
        let key = pack(&("D", 2));
        assert_eq!(get(&store, key).await, Some(pack(&("value",))));
    }
}

/// Whatever moment a crash leaves, an older program that opens the file rejects it if there is a log.
#[tokio::test]
async fn the_format_is_durable_before_there_is_a_log() {
    let chance = &mut chance(crate::seed::test_seed());
    let machine = old_store(FORMAT, true).await;
    let database = open(machine.open().expect("a store")).await;
    for number in 3..6 {
        let transaction = database.store().begin().await.expect("begun");
        transaction.set(&pack(&("D", number)), &pack(&("value",)));
        transaction.commit().await.expect("committed");
    }
    let mut with_log = 0;
    for call in 0..=machine.calls() {
        let image = machine.after_crash(call, chance);
        let (format, log) = records(image);
        if log.is_some_and(|log| log != 0) {
            with_log += 1;
            assert_eq!(format, pack(&(FORMAT_LOG,)), "before the call {call}");
        }
    }
    assert!(with_log > 0);
}

/// The format and the number of the log, as in the redb file.
fn records(image: Image) -> (Vec<u8>, Option<u64>) {
    let [_, _, file] = image;
    let disk = Disk::holding(file.expect("a store"));
    let database = redb::Builder::new().create_with_backend(disk);
    let database = database.expect("a store");
    let read = database.begin_read().expect("read");
    let pairs = read.open_table(PAIRS).expect("a table");
    let format = pairs.get(&format_key()[..]).expect("read");
    let engine = read.open_table(ENGINE).expect("a table");
    let log = engine.get("log").expect("read");
    let format = format.expect("a format").value().to_vec();
    (format, log.map(|log| log.value()))
}
