//! `phyllo backup`. tests/server/backup.rs tests a backup during writes.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use phyllo::key::Version;
use phyllo::server::local::SOCKET_NAME;
use phyllo::server::local::backup_records::BackupRecord;
use phyllo::store::{Embedded, EmbeddedOptions, FILE_NAME, Pairs, Store as _};

use super::copy::source;
use super::harness::{Ran, Store, both};

fn backup(store: &Store, directory: &Path) -> Ran {
    store.run(&["backup", directory.to_str().expect("a plain path")])
}

/// Runs a command on a store in a directory.
fn on(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    command.args(arguments).arg("--store").arg(directory);
    Ran::from(command.output().expect("the binary runs"))
}

/// All pairs of a store that no process holds.
fn pairs(directory: &Path) -> Pairs {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let store = Embedded::open(directory, EmbeddedOptions::default(), |_| {});
        // It is open until all pairs are read.
        let store = store.expect("a store");
        let mut backup = store.backup().await.expect("a backup");
        let mut pairs = Pairs::default();
        while let Some(batch) = backup.next().await.expect("pairs") {
            pairs.append(&batch);
        }
        pairs
    })
}

/// The version of one more commit.
fn next_version(directory: &Path) -> Version {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let store = Embedded::open(directory, EmbeddedOptions::default(), |_| {});
        let store = store.expect("a store");
        let transaction = store.begin().await.expect("a transaction");
        transaction.set(b"key", b"value");
        transaction.commit().await.expect("a commit")
    })
}

#[test]
fn a_backup_is_a_store_with_the_same_pairs() {
    for served in [false, true] {
        let mut store = source();
        // Of the change log, only the setting is in a backup.
        store.keep_changes(Duration::ZERO);
        if served {
            store.serve();
        }
        let target = store.path().with_file_name("backup");
        backup(&store, &target).expect(0).says("pairs");
        store.stop();
        let (original, copy) = (pairs(store.path()), pairs(&target));
        assert!(original.len() > 40_000);
        assert!(original.iter().eq(copy.iter()), "served: {served}");
        let checked = on(&target, &["check"]).expect(0);
        assert_eq!(checked.out, store.out(&["check"]));
        // The directory contains only the store.
        let files = std::fs::read_dir(&target).expect("a directory");
        let files: Vec<_> = files
            .map(|file| file.expect("a file").file_name())
            .collect();
        assert_eq!(files, [FILE_NAME]);
    }
}

#[test]
fn restored_stores_never_reuse_versions_of_the_original() {
    let store = Store::alone();
    store.import("[1]", &["--name", "x"]);
    let target = store.path().with_file_name("backup");
    backup(&store, &target).expect(0);
    // Both stores continue from there.
    let originals: Vec<Version> = (0..3).map(|_| next_version(store.path())).collect();
    let restored = next_version(&target);
    assert!(originals.iter().all(|version| *version < restored));
    // The same for a backup of the backup.
    let second = store.path().with_file_name("second");
    let path = second.to_str().expect("a plain path");
    on(&target, &["backup", path]).expect(0);
    assert!(next_version(&target) < next_version(&second));
}

#[test]
fn directories_with_a_store_are_not_overwritten() {
    both(|store| {
        store.import("[1]", &["--name", "x"]);
        let other = Store::alone();
        other.import("[2]", &["--name", "x"]);
        backup(store, other.path())
            .expect(1)
            .says("there is a store in");
        assert_eq!(other.out(&["get", "x-1"]), "2\n");
        // The store's own directory has a store, too.
        backup(store, store.path())
            .expect(1)
            .says("there is a store in");
        assert_eq!(store.out(&["get", "x-1"]), "1\n");
    });
}

#[test]
fn leftovers_of_a_killed_backup_do_not_prevent_the_next() {
    let store = source();
    let target = store.path().with_file_name("backup");
    for after in [0, 1, 1 << 16, 1 << 20] {
        let path = target.to_str().expect("a plain path");
        let mut killed = store.spawn(&["backup", path]);
        let making = target.join("phyllo.redb.new");
        while !target.join(FILE_NAME).exists()
            && making.metadata().map_or(0, |making| making.len()) < after
        {
            std::thread::yield_now();
        }
        killed.kill().expect("it was started");
        killed.wait().expect("it ends");
        let _removed = std::fs::remove_file(target.join(FILE_NAME));
        backup(&store, &target).expect(0);
        on(&target, &["check"]).expect(0);
        std::fs::remove_file(target.join(FILE_NAME)).expect("the backup");
    }
}

#[test]
fn unwritable_targets_are_reported_and_stay_empty() {
    let store = Store::alone();
    store.import("[1]", &[]);
    let file = store.file("file", "");
    backup(&store, Path::new(&file)).expect(1).says("cannot be");
    // Without a store to back up, no target is created.
    let target = store.path().with_file_name("backup");
    let missing = Store::alone();
    backup(&missing, &target)
        .expect(1)
        .says("there is no store");
    assert!(!target.exists());
}

#[test]
fn incomplete_backups_leave_no_store() {
    let mut pairs = Pairs::default();
    pairs.push(b"key", b"value");
    let failed = BackupRecord::Failed("the disk is gone".to_owned());
    for (then, said) in [(None, "closed"), (Some(failed), "the disk is gone")] {
        let store = Store::alone();
        store.import("[1]", &[]);
        let socket = UnixListener::bind(store.path().join(SOCKET_NAME)).expect("a socket");
        let mut records = [
            BackupRecord::Begin(1).to_field(),
            BackupRecord::Pairs(pairs.clone()).to_field(),
        ]
        .concat();
        records.extend(then.iter().flat_map(BackupRecord::to_field));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = socket.accept().expect("a client");
            let _read = stream.read(&mut [0; 4096]).expect("a request");
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
                records.len()
            );
            stream.write_all(head.as_bytes()).expect("a client");
            stream.write_all(&records).expect("a client");
        });
        let target = store.path().with_file_name("backup");
        backup(&store, &target).expect(1).says(said);
        server.join().expect("the server");
        let left = std::fs::read_dir(&target).expect("a directory");
        assert_eq!(left.count(), 0, "{said}");
    }
}
