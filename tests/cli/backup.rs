//! `phyllo backup`: what it writes, and where it does not. tests/server/backup.rs makes one while
//! others write.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use super::copy::source;
use super::harness::{Ran, Store, both};
use phyllo::error::Error;
use phyllo::key::Version;
use phyllo::server::local::SOCKET_NAME;
use phyllo::server::local::backup::BackupRecord;
use phyllo::store::{Embedded, EmbeddedOptions, FILE_NAME, Pairs, Store as _};

fn backup(store: &Store, directory: &Path) -> Ran {
    store.run(&["backup", directory.to_str().expect("a plain path")])
}

/// Runs a command on a store in a directory.
fn on(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    command.args(arguments).arg("--store").arg(directory);
    Ran::from(command.output().expect("the binary runs"))
}

/// Every pair of a store that nobody holds.
fn pairs(directory: &Path) -> Pairs {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let store = Embedded::open(directory, EmbeddedOptions::default(), |_| {});
        let mut backup = store.expect("a store").backup().await.expect("a backup");
        let mut pairs = Pairs::default();
        while let Some(batch) = backup.next().await.expect("pairs") {
            pairs.append(&batch);
        }
        pairs
    })
}

/// The version of one commit more.
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
        // Nothing but the store is in the directory.
        let files = std::fs::read_dir(&target).expect("a directory");
        let files: Vec<_> = files
            .map(|file| file.expect("a file").file_name())
            .collect();
        assert_eq!(files, [FILE_NAME]);
    }
}

#[test]
fn a_restored_store_gives_no_version_that_the_original_has_given() {
    let store = Store::alone();
    store.import("[1]", &["--name", "x"]);
    let target = store.path().with_file_name("backup");
    backup(&store, &target).expect(0);
    // Both go on from there.
    let originals: Vec<Version> = (0..3).map(|_| next_version(store.path())).collect();
    let restored = next_version(&target);
    assert!(originals.iter().all(|version| *version < restored));
    // And a backup of the backup the same.
    let second = store.path().with_file_name("second");
    let path = second.to_str().expect("a plain path");
    on(&target, &["backup", path]).expect(0);
    assert!(next_version(&target) < next_version(&second));
}

#[test]
fn a_directory_that_holds_a_store_is_left_as_it_is() {
    both(|store| {
        store.import("[1]", &["--name", "x"]);
        let other = Store::alone();
        other.import("[2]", &["--name", "x"]);
        backup(store, other.path())
            .expect(1)
            .says("there is a store in");
        assert_eq!(other.out(&["get", "x-1"]), "2\n");
        // Its own directory is one, too.
        backup(store, store.path())
            .expect(1)
            .says("there is a store in");
        assert_eq!(store.out(&["get", "x-1"]), "1\n");
    });
}

#[test]
fn what_a_backup_that_was_killed_has_left_is_in_nobodys_way() {
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
fn a_place_that_cannot_be_written_is_said_and_nothing_is_left_there() {
    let store = Store::alone();
    store.import("[1]", &[]);
    let file = store.file("file", "");
    backup(&store, Path::new(&file)).expect(1).says("cannot be");
    // Without a store to back up, none is begun.
    let target = store.path().with_file_name("backup");
    let missing = Store::alone();
    backup(&missing, &target)
        .expect(1)
        .says("there is no store");
    assert!(!target.exists());
}

#[test]
fn a_backup_that_breaks_off_leaves_no_store() {
    let mut pairs = Pairs::default();
    pairs.push(b"key", b"value");
    let failed = BackupRecord::Failed(Error::unavailable("the disk is gone", ""));
    for (then, said) in [(None, "broke off"), (Some(failed), "the disk is gone")] {
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
