//! `phyllo drop`

use super::harness::{Store, both};

#[test]
fn drop_removes_one_whole_collection() {
    both(|store| {
        store.import("[1,2,3]", &["--collection", "logs"]);
        store.import("[1,2]", &[]);
        let ran = store.run(&["drop", "logs"]).expect(2);
        ran.says("--everything");
        assert_eq!(store.ids("logs").len(), 3);
        let ran = store.run(&["drop", "logs", "--everything"]).expect(0);
        assert_eq!(ran.out, "");
        ran.says("the collection \"logs\" is dropped; it held 3 documents");
        assert_eq!(store.out(&["collections"]), "D\t2\n");
        store
            .run(&["drop", "logs", "--everything"])
            .expect(2)
            .says("no collection");
        store
            .run(&["drop", "", "--everything"])
            .expect(2)
            .says("name is empty");
        store.run(&["check"]).expect(0);
    });
}

#[test]
fn large_collections_can_be_dropped_and_imported_again() {
    both(|store| {
        let items: Vec<String> = (0..100).map(|item| item.to_string()).collect();
        let line = format!("[{}]\n", items.join(","));
        let lines = line.repeat(400);
        for _ in 0..2 {
            store.import(&lines, &["--format", "lines", "--name", "x"]);
            assert_eq!(store.count(), 400);
            store
                .run(&["drop", "D", "--everything"])
                .expect(0)
                .says("held 400 documents");
            assert_eq!(store.count(), 0);
        }
        store.import(&lines, &["--format", "lines", "--name", "x"]);
        assert_eq!(store.out(&["get", "x-400"]), line);
        let checked = store.run(&["check"]).expect(0);
        assert!(
            checked.out.contains("400 documents, 40000 leaves"),
            "{}",
            checked.out
        );
    });
}

#[test]
fn drop_requires_a_store() {
    let store = Store::alone();
    store
        .run(&["drop", "D", "--everything"])
        .expect(1)
        .says("there is no store");
    assert!(!store.path().exists());
}
