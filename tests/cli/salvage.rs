//! `phyllo salvage`

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use phyllo::store::FILE_NAME;
use serde_json::Value;

use super::harness::{Ran, Store};

/// A store with two collections and an index.
fn written() -> Store {
    let store = Store::alone();
    store.create_indexes(&[("by name", "$.name", true)]);
    let documents = |prefix: &str| -> String {
        let document = |number| {
            let name = format!("{prefix}{number:04}");
            format!("{{\"doc_id\":\"{name}\",\"name\":\"name of {name}\",\"tags\":[1,{{}}]}}\n")
        };
        (0..1_500).map(document).collect()
    };
    store.import(documents("first-"), &["--collection", "a \"b\""]);
    store.import(documents("second-"), &[]);
    store
}

fn salvage(store: &Store, name: &str) -> (PathBuf, Ran) {
    let directory = store.path().with_file_name(name);
    let ran = store.run(&["salvage", "--to", directory.to_str().expect("a plain path")]);
    (directory, ran)
}

/// Inverts the bytes of all copies of a text in the store's file.
fn damage(store: &Store, text: &str) {
    store.damaged("the test damages its file");
    let path = store.path().join(FILE_NAME);
    let mut file = fs::read(&path).expect("read");
    let at: Vec<_> = (0..file.len())
        .filter(|at| file[*at..].starts_with(text.as_bytes()))
        .collect();
    assert!(!at.is_empty(), "{text} is in the file");
    for at in at {
        file[at] ^= 0x20;
    }
    fs::write(&path, file).expect("written");
}

fn lines(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).expect("a file");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn all_of_an_intact_store_is_exported() {
    let store = written();
    let (directory, ran) = salvage(&store, "salvaged");
    let ran = ran.expect(0).says("nothing is damaged");
    assert_eq!(
        ran.out,
        "1,500 documents of \"D\" in 1-D.ndjson\n1,500 documents of \"a \\\"b\\\"\" in 2-ab.ndjson\n\
         1 indexes in indexes.ndjson\n"
    );
    for (collection, file) in [("D", "1-D.ndjson"), ("a \"b\"", "2-ab.ndjson")] {
        let exported = store.out(&["export", "--collection", collection]);
        let salvaged = fs::read_to_string(directory.join(file)).expect("a file");
        assert_eq!(salvaged, exported, "{file}");
    }
    let indexes = fs::read_to_string(directory.join("indexes.ndjson")).expect("a file");
    let request: Value = serde_json::from_str(&indexes).expect("one request");
    let variables = serde_json::json!(
        {"collection": "D", "name": "by name", "on": ["$.name"], "unique": true}
    );
    assert_eq!(request["variables"], variables);
    // Nothing is written to a directory that has something.
    let (_, ran) = salvage(&store, "salvaged");
    ran.expect(1).says("is not empty");
}

#[test]
fn documents_on_intact_pages_are_exported_and_the_others_are_named() {
    let store = written();
    let exported: BTreeSet<String> = store.out(&["export"]).lines().map(str::to_owned).collect();
    let others = store.out(&["export", "--collection", "a \"b\""]);
    damage(&store, "name of second-0700");
    let (directory, ran) = salvage(&store, "salvaged");
    let ran = ran
        .expect(1)
        .says("damaged: phyllo.redb: the page at offset ");
    let salvaged = lines(&directory.join("1-D.ndjson"));
    assert!(salvaged.is_subset(&exported));
    let lost: Vec<_> = exported.difference(&salvaged).collect();
    assert!((1..500).contains(&lost.len()), "{} are lost", lost.len());
    for line in lost {
        let id = serde_json::from_str::<Value>(line).expect("JSON")["id"].to_string();
        let named = format!("lost: (\"D\", {id}): ");
        assert!(ran.err.contains(&named), "{named} in {}", ran.err);
    }
    let second = fs::read_to_string(directory.join("2-ab.ndjson")).expect("a file");
    assert_eq!(second, others);
    // What was exported can be imported.
    let new = Store::alone();
    let file = directory.join("1-D.ndjson");
    new.run(&["import", file.to_str().expect("a plain path")])
        .expect(0);
    let imported: BTreeSet<String> = new.out(&["export"]).lines().map(str::to_owned).collect();
    assert_eq!(imported, salvaged);
}

#[test]
fn the_error_of_a_damaged_store_names_the_command() {
    let store = written();
    store.damaged("the test damages its file");
    let path = store.path().join(FILE_NAME);
    let file = fs::read(&path).expect("read");
    fs::write(&path, &file[..file.len() / 2]).expect("written");
    store.run(&["export"]).expect(1).says("`phyllo salvage`");
    let (_, ran) = salvage(&store, "salvaged");
    ran.expect(1).says("damaged: ");
    let empty = Store::alone();
    let (_, ran) = salvage(&empty, "salvaged");
    ran.expect(1).says("there is no store in");
}
