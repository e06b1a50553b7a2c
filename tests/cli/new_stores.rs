//! New stores: they have a change log, which a backup and a copy keep, and they are reported.
//! Locations that are no directories are rejected.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::harness::{Ran, Store};

fn on(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    command.args(arguments).arg("--store").arg(directory);
    Ran::from(command.output().expect("the binary runs"))
}

/// The history and the number of changes of a store that no process holds.
fn changes(directory: &Path) -> (String, usize) {
    let changes = on(directory, &["changes"]).expect(0).out;
    let first = changes.lines().next().unwrap_or_default();
    let cursor = first.split("\"cursor\":\"").nth(1).unwrap_or_default();
    let history = cursor.split('-').next().unwrap_or_default();
    (history.to_owned(), changes.lines().count())
}

#[test]
fn a_new_store_keeps_changes_and_its_creation_is_reported() {
    for command in [&["import", "-", "--name", "d"][..], &["sample"]] {
        let store = Store::alone();
        let made = store.run_on("1", command).expect(0);
        let place = store.path().display().to_string();
        made.says(&format!("created a new store in {place}"));
        let collection = if command[0] == "sample" {
            "guides"
        } else {
            "D"
        };
        let kept = store.out(&["changes", "--collection", collection]);
        assert_eq!(kept.lines().count(), 1, "{kept}");
        let again = store.run_on("1", command).expect(0);
        assert!(!again.err.contains("new store"), "{}", again.err);
        store.out(&["check"]);
    }
}

#[test]
fn an_older_store_stays_without_a_change_log() {
    let store = Store::without_log();
    store.import("1", &["--name", "d"]);
    store.run(&["changes"]).expect(1).says("is off");
    // Neither has its backup one.
    let backup = store.path().with_file_name("backup");
    store.out(&["backup", backup.to_str().expect("a plain path")]);
    on(&backup, &["changes"]).expect(1).says("is off");
}

#[test]
fn a_backup_keeps_the_change_log_on_with_a_history_of_its_own() {
    for served in [false, true] {
        let mut store = Store::alone();
        store.import("1", &["--name", "d"]);
        let (history, count) = changes(store.path());
        assert_eq!((history.len(), count), (16, 1));
        let cursor = store.out(&["changes"]);
        let cursor = cursor.split("\"cursor\":\"").nth(1).expect("a cursor");
        let cursor = cursor.split('"').next().expect("its end").to_owned();
        if served {
            store.serve();
        }
        let backup = store.path().with_file_name("backup");
        store.out(&["backup", backup.to_str().expect("a plain path")]);
        // It begins with nothing, and logs the next change.
        assert_eq!(changes(&backup).1, 0);
        on(&backup, &["check"]).expect(0);
        let file = store.file("e.json", "2");
        on(&backup, &["import", &file, "--existing", "replace"]).expect(0);
        let (restored, count) = changes(&backup);
        assert_eq!(count, 1);
        assert_ne!(restored, history);
        let foreign = on(&backup, &["changes", "--after", &cursor]).expect(1);
        foreign.says("another history");
        // A backup of the backup too.
        let second = store.path().with_file_name("second");
        on(&backup, &["backup", second.to_str().expect("a plain path")]).expect(0);
        let file = store.file("e.json", "3");
        on(&second, &["import", &file, "--existing", "replace"]).expect(0);
        let (third, count) = changes(&second);
        assert_eq!(count, 1);
        assert!(third != restored && third != history);
    }
}

#[test]
fn a_copy_has_the_retention_of_its_source() {
    for (logged, source) in [(true, Store::alone()), (false, Store::alone())] {
        source.import("1", &["--name", "d"]);
        if !logged {
            source.keep_changes(Duration::ZERO);
        }
        let target = source.path().with_file_name("copy");
        let (from, to) = (source.path().to_str(), target.to_str());
        let (from, to) = (from.expect("a plain path"), to.expect("a plain path"));
        source.out(&["copy", "--from", from, "--to", to]);
        let code = i32::from(!logged);
        on(&target, &["changes"]).expect(code);
    }
}

#[test]
fn urls_are_rejected_where_a_path_is_expected() {
    let store = Store::alone();
    store.import("1", &["--name", "d"]);
    let url = "s3://bucket/name";
    for arguments in [
        &["backup", url][..],
        &["export", "--output", url],
        &["import", url],
        &["copy", "--from", "here", "--to", url],
        &["copy", "--from", url, "--to", "there"],
        &["serve", "--token-file", url],
        &["serve", "--tls-cert", url, "--tls-key", "key"],
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = store.command(arguments);
        command.current_dir(directory.path());
        let ran = Ran::from(command.output().expect("the binary runs")).expect(2);
        ran.says("a URL (s3://) is not a path");
        let left = std::fs::read_dir(directory.path()).expect("a directory");
        assert_eq!(left.count(), 0, "{arguments:?}");
    }
    for arguments in [&["get", "d"][..], &["sample"], &["serve"]] {
        let ran = on(Path::new(url), arguments).expect(2);
        ran.says("a URL (s3://) is not a path");
    }
}

#[test]
fn a_file_as_the_store_is_called_a_file() {
    let store = Store::alone();
    store.import("1", &["--name", "d"]);
    let file = store.file("data.json", "1");
    for arguments in [
        &["get", "d"][..],
        &["sample"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["compact"],
    ] {
        let ran = on(Path::new(&file), arguments).expect(1);
        assert!(!ran.err.contains("socket"), "{}", ran.err);
        ran.says("data.json is a file: a store is a directory with the file phyllo.redb");
    }
    let inner = store.path().join("phyllo.redb");
    let ran = on(&inner, &["get", "d"]).expect(1);
    ran.says("phyllo.redb is a file: name the directory that has it, ");
    let below = Path::new(&file).join("below");
    on(&below, &["get", "d"])
        .expect(1)
        .says("there is no store");
    let ran = on(&below, &["sample"]).expect(1);
    ran.says("Not a directory");
}
