//! `phyllo copy` between directories. tests/foundationdb copies to a cluster and back.

use std::fmt::Write as _;

use foundationdb_tuple::{Bytes, pack};
use phyllo::database::{Builder, State, create_index, indexes};
use phyllo::document::filter::Filter;
use phyllo::key::Entry;

use super::harness::{Ran, Store, open};

/// A store with all cases that a copy must handle: several collections, a document larger than a
/// transaction of a copy, a document that was never adopted, and one with an unsupported id.
pub(crate) fn source() -> Store {
    let store = Store::alone();
    store.import(
        "[1, {}, [], \"text\", {\"a\": [null, {\"b\": -0.0}]}]",
        &["--name", "x"],
    );
    store.import(
        "{\"k\":1}\n".repeat(2_500),
        &["--collection", "many", "--name", "m"],
    );
    store.import(
        "{\"id\":\"@00000000000002f100000003\",\"document\":[1]}\n",
        &["--collection", "log", "--format", "export"],
    );
    let mut large = String::from("[0");
    for n in 0..40_000 {
        write!(large, ",\"the leaf of the number {n}, long enough\"").expect("a string");
    }
    store.import(large + "]", &["--name", "large", "--format", "document"]);
    write_raw(
        &store,
        &[
            (pack(&("D", "not adopted", "n")), pack(&(1,))),
            (pack(&("D", Bytes::from(&b"\x00\xFF"[..]), 0)), pack(&(1,))),
            (pack(&("D", Bytes::from(&b"\x01"[..]))), pack(&(1,))),
            (pack(&("D", Bytes::from(&b"\x01"[..]), "k")), pack(&(1,))),
        ],
    );
    index(&store);
    store
}

/// Creates two indexes in a store and builds them.
fn index(store: &Store) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let database = open(store.path()).await;
        let transaction = database.store().begin().await.expect("a transaction");
        for (collection, unique, filter) in [("many", false, FILTER), ("empty", true, "{}")] {
            let filter = Filter::from_json(filter).expect("a filter");
            create_index(&*transaction, collection, "by k", &["$.k"], unique, filter)
                .await
                .expect("an index");
        }
        transaction.commit().await.expect("a commit");
        Builder::new(database).finish().await.expect("built");
    });
}

/// The filter of the partial index.
const FILTER: &str = r#"{"at":"$.k","gte":0}"#;

/// The indexes of a collection, with their filters, and whether each is ready.
fn indexed(store: &Store, collection: &str) -> Vec<(String, bool)> {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        // It is open until the definitions are read.
        let database = open(store.path()).await;
        let snapshot = database.snapshot().await;
        let indexes = indexes(&*snapshot.expect("a snapshot"), collection).await;
        let indexes = indexes.expect("definitions").into_iter();
        let shown = indexes.map(|index| {
            let filter = index
                .filter
                .map(|filter| format!(" where {}", filter.json()));
            let name = index.name + &filter.unwrap_or_default();
            (name, index.state == State::Ready)
        });
        shown.collect()
    })
}

fn write_raw(store: &Store, pairs: &[(Vec<u8>, Vec<u8>)]) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let database = open(store.path()).await;
        let transaction = database.store().begin().await.expect("a transaction");
        for (key, value) in pairs {
            transaction.set(key, value);
        }
        transaction.commit().await.expect("a commit");
    });
}

fn copy(from: &Store, to: &Store) -> Ran {
    let path = |store: &Store| store.path().to_str().expect("a plain path").to_owned();
    from.run(&["copy", "--from", &path(from), "--to", &path(to)])
}

fn exports(store: &Store) -> [String; 3] {
    // One document has an unsupported id, so the export reports it and continues.
    let export = |name| store.run(&["export", "--collection", name]).out;
    ["D", "many", "log"].map(export)
}

/// The output of a copy about one side, without the store's location.
fn side(out: &str, at: usize) -> Vec<&str> {
    let lines: Vec<_> = out.lines().collect();
    lines.chunks(lines.len() / 2).nth(at).expect("two sides")[1..].to_vec()
}

#[test]
fn copy_reports_equal_digests() {
    let (from, to) = (source(), Store::alone());
    let ran = copy(&from, &to).expect(0);
    assert_eq!(side(&ran.out, 0), side(&ran.out, 1));
    assert!(ran.out.contains("documents\t2507\n"), "{}", ran.out);
    assert!(ran.out.contains("collection\tD\t6\n"), "{}", ran.out);
    ran.says("0 already present; leaves and catalog are equal");
    assert_eq!(exports(&from), exports(&to));
    assert_eq!(from.out(&["collections"]), to.out(&["collections"]));
    to.run(&["check"]).expect(0);
    for collection in ["many", "empty"] {
        assert_eq!(indexed(&to, collection), indexed(&from, collection));
    }
    // A second copy only writes the document that is not in the catalog.
    let ran = copy(&from, &to).expect(0);
    ran.says("2507 already present; leaves and catalog are equal");
}

#[test]
fn interrupted_copies_can_be_resumed() {
    let (from, to) = (source(), Store::alone());
    to.import("1", &["--name", "x-1", "--format", "document"]);
    // The first leaves of a document, without its catalog entry.
    let leaf = |n: i64, value: &str| (pack(&("D", "large", n)), pack(&(value,)));
    let zero = (pack(&("D", "large", 0)), pack(&(0,)));
    let first = leaf(1, "the leaf of the number 0, long enough");
    write_raw(&to, &[zero.clone(), first]);
    copy(&from, &to)
        .expect(0)
        .says("1 already present; leaves and catalog are equal");
    assert_eq!(exports(&from), exports(&to));
    assert_eq!(to.count(), 6);
}

#[test]
fn targets_with_other_contents_are_rejected_and_unchanged() {
    let from = source();
    let refused = |to: &Store, key: &str| {
        let before = exports(to);
        let ran = copy(&from, to).expect(1);
        assert_eq!(ran.out, "");
        ran.says("the target holds a different document").says(key);
        assert_eq!(exports(to), before);
    };
    let other_value = Store::alone();
    other_value.import("2", &["--name", "x-1", "--format", "document"]);
    refused(&other_value, "(\"D\", \"x-1\")");
    let other_document = Store::alone();
    other_document.import("1", &["--name", "y", "--format", "document"]);
    refused(&other_document, "(\"D\", \"y\")");
    let part = Store::alone();
    part.import("[0]", &["--name", "large", "--format", "document"]);
    refused(&part, "(\"D\", \"large\")");
    let not_the_first_leaf = Store::alone();
    not_the_first_leaf.damaged("an array lacks its first element");
    not_the_first_leaf.import("1", &["--name", "x-1", "--format", "document"]);
    let hole = pack(&("D", "large", 1));
    write_raw(
        &not_the_first_leaf,
        &[(hole, pack(&("the leaf of the number 0, long enough",)))],
    );
    refused(&not_the_first_leaf, "(\"D\", \"large\")");
    let entry_only = Store::alone();
    entry_only.damaged("a catalog entry has no document");
    entry_only.import("1", &["--name", "x-1", "--format", "document"]);
    let entry = Entry::Existence.key_of(&pack(&("D", "x-2")));
    write_raw(&entry_only, &[(entry, Vec::new())]);
    refused(&entry_only, "(\"D\", \"x-2\")");
}

#[test]
fn differences_after_a_copy_are_reported() {
    let (from, to) = (source(), Store::alone());
    copy(&from, &to).expect(0);
    to.damaged("a count is wrong");
    // A wrong count, which no comparison of documents detects.
    let count = pack(&(None::<i64>, 2, "D", 0, 15));
    write_raw(&to, &[(count, 77_i64.to_le_bytes().to_vec())]);
    let ran = copy(&from, &to).expect(1);
    assert_ne!(side(&ran.out, 0), side(&ran.out, 1));
    ran.says("leaves and catalog differ")
        .says("the target differs from the source");
}

#[test]
fn copy_requires_an_existing_store_that_no_server_holds() {
    let (from, mut to) = (source(), Store::alone());
    copy(&to, &from).expect(1).says("there is no store");
    assert!(!to.path().exists());
    to.serve();
    copy(&from, &to)
        .expect(1)
        .says("another process holds the store");
    let same = from.path().to_str().expect("a plain path").to_owned();
    let ran = from.run(&["copy", "--from", &same, "--to", &same]);
    ran.expect(1).says("another process holds the store");
}
