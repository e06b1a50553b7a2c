//! `phyllo compact`

use std::time::Duration;

use phyllo::store::FILE_NAME;

use super::harness::Store;

const DOCUMENTS: usize = 20_000;

fn bytes(directory: &std::path::Path) -> u64 {
    let file = std::fs::metadata(directory.join(FILE_NAME));
    file.expect("a store").len()
}

/// After 90 % of the documents are deleted, and their changes have expired, the file shrinks to at most 1.5 times the size of a new
/// store with the rest.
#[test]
fn a_compacted_store_is_as_small_as_its_data() {
    let text = "x".repeat(500);
    let line = |at: usize| {
        format!(
            "{{\"doc_id\":{at},\"n\":{},\"a\":\"{text}\",\"b\":\"{text}\"}}\n",
            at % 10
        )
    };
    let lines: String = (0..DOCUMENTS).map(line).collect();
    let store = Store::alone();
    store.import(lines, &["--format", "lines"]);
    let full = bytes(store.path());
    let filter = r#"{"not":{"at":"$.n","eq":0}}"#;
    store.run(&["delete", "D", "--where", filter]).expect(0);
    store.keep_changes(Duration::from_secs(1));
    std::thread::sleep(Duration::from_secs(2));
    let ran = store.run(&["compact"]).expect(0);
    ran.says("the store has");
    let compacted = bytes(store.path());
    let backup = store.path().with_file_name("backup");
    let target = backup.to_str().expect("plain");
    store.run(&["backup", target]).expect(0);
    let live = bytes(&backup);
    println!("{full} bytes, {compacted} after, {live} in a new store");
    assert!(compacted * 2 <= live * 3, "{compacted} of {live}");
    assert_eq!(store.count(), DOCUMENTS / 10);
    store.run(&["check"]).expect(0);
    // It can be repeated, and the store can be written.
    store.run(&["compact"]).expect(0);
    store.import("[1]", &[]);
    store.run(&["check"]).expect(0);
}

#[test]
fn a_store_that_is_served_is_not_compacted() {
    let store = Store::served();
    store.import("[1]", &[]);
    store.run(&["compact"]).expect(1).says("another process");
    assert_eq!(store.count(), 1);
}

#[test]
fn compaction_requires_a_store() {
    let store = Store::alone();
    store.run(&["compact"]).expect(1).says("no store");
}
