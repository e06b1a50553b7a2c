//! An older copy of a store's files is put back: cursors of commits that it lacks are rejected.

use std::fs;

use phyllo::store::FILE_NAME;
use serde_json::Value;

use super::harness::Store;

/// Imports documents, each by a command of its own. Returns the cursor of the last change.
fn import(store: &Store, prefix: &str, count: usize) -> String {
    for number in 0..count {
        let name = format!("{prefix}{number}");
        store.import("1", &["--name", &name, "--format", "document"]);
    }
    let changes = store.out(&["changes"]);
    let last = changes.lines().last().expect("changes");
    let last: Value = serde_json::from_str(last).expect("JSON");
    last["cursor"].as_str().expect("a cursor").to_owned()
}

#[test]
fn cursors_of_commits_that_a_restored_copy_lacks_are_rejected() {
    let store = Store::alone();
    let path = store.path().join(FILE_NAME);
    let kept = import(&store, "kept", 3);
    let copy = fs::read(&path).expect("read");
    let lost: Vec<String> = (0..3)
        .map(|at| import(&store, &format!("lost{at}-"), 1))
        .collect();
    fs::write(&path, copy).expect("written");
    let rejects = |cursor: &String| {
        let ran = store.run(&["changes", "--after", cursor]);
        ran.expect(1).says("another history of the store");
    };
    lost.iter().for_each(rejects);
    import(&store, "new", 6);
    // The numbers of the commits are the same as of the lost ones, or higher.
    lost.iter().for_each(rejects);
    let after = store.out(&["changes", "--after", &kept]);
    let names: Vec<&str> = after.lines().collect();
    assert_eq!(names.len(), 6, "{after}");
    assert!(names.iter().all(|line| line.contains("new")), "{after}");
}
