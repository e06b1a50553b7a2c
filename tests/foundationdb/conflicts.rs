//! Conflicts between transactions.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use phyllo::budget::{Budget, Steps};
use phyllo::database::{
    Answer, Bulk, Check, Database, DocumentKey, Existing, Extent, MissingParents, ReadRequest,
    TypeState, Update, UpdateOperation, UpdateOperator, ValueSource, bulk, define_type, insert,
    load, merge, patch, put, replace, test_document,
};
use phyllo::document::filter::{Condition, Filter, Test};
use phyllo::document::id::DocumentId;
use phyllo::document::jsonpath::Query;
use phyllo::document::parse_merge_patch::MergePatch;
use phyllo::document::patch::parse;
use phyllo::document::path::{Path, Place, Segment};
use phyllo::document::tree::Tree;
use phyllo::error::{Error, ErrorKind};
use phyllo::key::{Family, Leaves, Version};
use phyllo::operations::set_type;
use phyllo::store::{Decision, Observed, Store, Transaction, TransactionResult, transact};
use phyllo::types::CollectionType;
use tokio::sync::Barrier;
use tokio::time::Instant;

use super::shared::empty_store;

cases!(
    threads [
        changes_of_different_leaves_of_a_document_do_not_conflict,
        changes_of_a_leaf_that_the_other_reads_conflict_and_both_succeed,
        concurrent_changes_equal_a_sequential_order,
        disjoint_changes_do_not_conflict,
        updates_without_a_place_conflict_with_changes_that_make_one,
        writes_conflict_with_a_type_that_is_set_meanwhile,
        a_type_of_an_empty_collection_conflicts_with_its_first_document,
    ]
    damaged("the format is of a later program") [
        writes_conflict_with_a_concurrent_format_upgrade,
    ]
);

const ROUNDS: usize = 50;

async fn changes_of_different_leaves_of_a_document_do_not_conflict() {
    assert_eq!(conflicts(["a", "b"]).await, 0);
}

async fn changes_of_a_leaf_that_the_other_reads_conflict_and_both_succeed() {
    assert!(conflicts(["a", "a"]).await > 0);
}

/// Two clients change leaves of one document concurrently, each time after both have read. Returns
/// the number of conflicts.
async fn conflicts(leaves: [&'static str; 2]) -> u64 {
    let store = Observed::new(empty_store().await);
    let operations = store.operations();
    let store: Arc<dyn Store> = Arc::new(store);
    let database = Database::open(store.clone(), soon()).await.expect("opened");
    let document = Leaves::from_json(r#"{"a": 0, "b": 0, "c": [1, 2, 3]}"#).expect("JSON");
    let document = Arc::new(document);
    let inserted = database.transact(soon(), |transaction| {
        let document = document.clone();
        Box::pin(async move {
            insert(
                &*transaction,
                &Budget::of_background(),
                "D",
                Some(DocumentId::Integer(1)),
                &document,
            )
            .await?;
            Ok(Decision::Commit(()))
        })
    });
    inserted.await.expect("nobody else writes");
    let before = operations.conflicts.load(Relaxed);
    let both = Arc::new(Barrier::new(2));
    let clients = leaves.map(|leaf| {
        let (store, both) = (store.clone(), both.clone());
        tokio::spawn(async move {
            for round in 0..ROUNDS {
                let both = both.clone();
                let mut first = true;
                let set = transact(&*store, soon(), |transaction| {
                    let both = std::mem::take(&mut first).then(|| both.clone());
                    Box::pin(async move {
                        change_leaf(&*transaction, leaf, round).await?;
                        if let Some(both) = both {
                            both.wait().await;
                        }
                        Ok(Decision::Commit(()))
                    })
                });
                set.await.expect("it succeeds in the end");
            }
        })
    });
    for client in clients {
        client.await.expect("no panic");
    }
    operations.conflicts.load(Relaxed) - before
}

/// A patch of one leaf. It reads the existence of the document and the leaf, and writes the leaf
/// and the document's version.
async fn change_leaf(
    transaction: &dyn Transaction,
    leaf: &str,
    round: usize,
) -> phyllo::error::Result<()> {
    let id = DocumentId::Integer(1);
    let existence = transaction.get(&Family::Existence("D", &id).key()?).await?;
    assert!(existence.is_some());
    let document = DocumentKey::new("D", id.clone())?;
    let key = document.place(&Place(vec![Segment::Key(leaf.to_owned())]))?;
    assert!(transaction.get(&key).await?.is_some());
    transaction.set(&key, &foundationdb_tuple::pack(&(round,)));
    let version = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
    let at = Version::VALUE_PREFIX.len();
    transaction.set_versionstamped_value(&Family::Version("D", &id).key()?, &version, at);
    Ok(())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

async fn stored(database: &Database, collection: &'static str, id: i64) {
    let inserted = database.transact(soon(), |transaction| {
        Box::pin(async move {
            let leaves = Leaves::from_json(r#"{"a": 1}"#)?;
            let id = Some(DocumentId::Integer(id));
            let budget = Budget::of_background();
            insert(&*transaction, &budget, collection, id, &leaves).await?;
            Ok(Decision::Commit(()))
        })
    });
    inserted.await.expect("nobody else writes");
}

async fn writes_conflict_with_a_type_that_is_set_meanwhile() {
    let store: Arc<dyn Store> = Arc::new(empty_store().await);
    let database = Database::open(store.clone(), soon()).await.expect("opened");
    // The first type raises the format, with which each write conflicts.
    let set = set_type(&database, "D", r#"{"type": "object"}"#, false);
    set.await.expect("set");
    stored(&database, "D", 1).await;
    for write in ["insert", "replace", "put"] {
        let mut tries = 0;
        // The process has parsed the type, so that a write reads nothing of it but its head.
        let written = database.transact(soon(), |transaction| {
            tries += 1;
            let (database, is_first) = (database.clone(), tries == 1);
            Box::pin(async move {
                change_typed(&*transaction, write).await?;
                if is_first {
                    let schema = format!(r#"{{"type": "object", "title": {write:?}}}"#);
                    set_type(&database, "D", &schema, false).await?;
                }
                Ok(Decision::Commit(()))
            })
        });
        written.await.expect("it succeeds in the end");
        assert_eq!(tries, 2, "{write}");
    }
}

/// Changes a collection with a type.
async fn change_typed(transaction: &dyn Transaction, write: &str) -> phyllo::error::Result<()> {
    let budget = Budget::of_background();
    let document = Arc::new(DocumentKey::new("D", DocumentId::Integer(1))?);
    let object = Leaves::from_json(r#"{"a": 2}"#)?;
    match write {
        "insert" => {
            let id = Some(DocumentId::Integer(2));
            insert(transaction, &budget, "D", id, &object).await?;
        }
        "replace" => {
            let leaf = Leaves::from_json("3")?;
            let member = Path::of_segments(&[Segment::Key("a".to_owned())]);
            let parents = MissingParents::Fail;
            replace(transaction, &budget, &document, &member, &leaf, parents).await?;
        }
        _ => {
            let existing = Existing::Replace;
            put(transaction, &budget, &document, &object, existing).await?;
        }
    }
    Ok(())
}

async fn a_type_of_an_empty_collection_conflicts_with_its_first_document() {
    let store: Arc<dyn Store> = Arc::new(empty_store().await);
    let database = Database::open(store.clone(), soon()).await.expect("opened");
    let set = set_type(&database, "D", r#"{"type": "object"}"#, false);
    set.await.expect("set");
    let budget = Budget::of_background();
    let parse = |steps: &Steps<'_>| CollectionType::parse("E", r#"{"required": ["b"]}"#, steps);
    let of = budget.compute(parse).await.expect("a type");
    let transaction = store.begin().await.expect("begun");
    let defined = define_type(&*transaction, &budget, &of).await;
    assert_eq!(defined.expect("defined").state, TypeState::Enforced);
    stored(&database, "E", 1).await;
    let error = transaction.commit().await.expect_err("there is a document");
    assert_eq!(Error::from(error).kind(), ErrorKind::Conflict);
}

const BEFORE: &str =
    r#"{"a":0,"b":0,"e":{},"el":[],"l":[1,{"x":2},[3,4]],"o":{"x":1,"y":{"z":2}},"one":{"k":1}}"#;

/// JSON Patches and, as objects, merge patches that overlap in every way: next to, above and below
/// each other, first and last members, ends of arrays.
const CHANGES: &[&str] = &[
    r#"[{"op":"replace","path":"/a","value":7}]"#,
    r#"[{"op":"replace","path":"/b","value":8}]"#,
    r#"[{"op":"replace","path":"","value":[1]}]"#,
    r#"[{"op":"add","path":"/o/p","value":1}]"#,
    r#"[{"op":"add","path":"/o/q","value":{"r":1}}]"#,
    r#"[{"op":"replace","path":"/o/x","value":9}]"#,
    r#"[{"op":"replace","path":"/o/y/z","value":9}]"#,
    r#"[{"op":"remove","path":"/o/x"}]"#,
    r#"[{"op":"remove","path":"/o/y"}]"#,
    r#"[{"op":"remove","path":"/o"}]"#,
    r#"[{"op":"replace","path":"/o","value":[{"w":1}]}]"#,
    r#"[{"op":"replace","path":"/o","value":{"x":1,"v":3}}]"#,
    r#"[{"op":"replace","path":"/o","value":5}]"#,
    r#"[{"op":"remove","path":"/one/k"}]"#,
    r#"[{"op":"add","path":"/one/m","value":2}]"#,
    r#"[{"op":"add","path":"/e/p","value":1}]"#,
    r#"[{"op":"add","path":"/e/q","value":1}]"#,
    r#"[{"op":"add","path":"/el/-","value":1}]"#,
    r#"[{"op":"add","path":"/l/-","value":5}]"#,
    r#"[{"op":"add","path":"/l/0","value":0}]"#,
    r#"[{"op":"replace","path":"/l/0","value":[]}]"#,
    r#"[{"op":"replace","path":"/l/2/1","value":6}]"#,
    r#"[{"op":"remove","path":"/l/0"}]"#,
    r#"[{"op":"remove","path":"/l/2"}]"#,
    r#"[{"op":"move","from":"/o/x","path":"/one/x"}]"#,
    r#"[{"op":"remove","path":"/l/2/0"},{"op":"remove","path":"/l/2/0"}]"#,
    r#"{"o":{"y":{"z":4}}}"#,
    r#"{"o":{"x":null,"s":1},"one":{"k":null}}"#,
    r#"{"e":{"t":{"u":1}},"b":null}"#,
    r#"{"l":{"v":1},"a":{"w":null}}"#,
    // So many members that they are read together.
    MANY_MEMBERS,
    MANY_MEMBERS_BELOW,
    "copy /o /e/c",
    "copy /l /o/x",
    "copy  /one/whole",
    "copy /none /a",
    "append $.l [5,[6]]",
    "append $.el [7]",
    "remove $.l [1,[3,4],5]",
    "test /a 0 /one/k",
    "test /o/x 1 /b",
];

/// Pairs of changes that do not conflict in either order.
const APART_TEXTS: &[(&str, &str)] = &[
    (
        "copy /o /e/c",
        r#"[{"op":"replace","path":"/one/k","value":2}]"#,
    ),
    (
        "copy /o/y /e/c",
        r#"[{"op":"replace","path":"/o/x","value":9}]"#,
    ),
    (
        "append $.l [5,[6]]",
        r#"[{"op":"replace","path":"/l/2/1","value":6}]"#,
    ),
    (
        "remove $.l [1]",
        r#"[{"op":"replace","path":"/o/x","value":9}]"#,
    ),
    (
        "test /a 0 /one/k",
        r#"[{"op":"replace","path":"/b","value":8}]"#,
    ),
    (
        "test /a 0 /one/k",
        r#"[{"op":"add","path":"/o/p","value":1}]"#,
    ),
];

const MANY_MEMBERS: &str = r#"{"a":1,"b":null,"c":2,
    "f00":0,"f01":1,"f02":2,"f03":3,"f04":4,"f05":5,"f06":6,"f07":7,
    "f08":8,"f09":9,"f10":10,"f11":11,"f12":12,"f13":13,"f14":14,"f15":15,
    "f16":16,"f17":17,"f18":18,"f19":19,"f20":20,"f21":21,"f22":22,"f23":23,
    "f24":24,"f25":25,"f26":26,"f27":27,"f28":28,"f29":29,"f30":30,"f31":31,
    "n":{"m":1},"o":{"x":3,"y":{"z":5}},"p":4}"#;
const MANY_MEMBERS_BELOW: &str = r#"{"o":{"e":1,
    "f00":0,"f01":1,"f02":2,"f03":3,"f04":4,"f05":5,"f06":6,"f07":7,
    "f08":8,"f09":9,"f10":10,"f11":11,"f12":12,"f13":13,"f14":14,"f15":15,
    "f16":16,"f17":17,"f18":18,"f19":19,"f20":20,"f21":21,"f22":22,"f23":23,
    "f24":24,"f25":25,"f26":26,"f27":27,"f28":28,"f29":29,"f30":30,"f31":31,
    "p":1,"q":null,"r":{"s":1},"v":2,"x":4}}"#;

/// Pairs of them, by number, that do not conflict in either order.
const APART: &[(usize, usize)] = &[
    (0, 1),
    (0, 7),
    (3, 4),
    (3, 5),
    (3, 6),
    (3, 7),
    (4, 6),
    (5, 6),
    (5, 8),
    (6, 7),
    (14, 3),
    (17, 18),
    (18, 20),
    (18, 21),
    (0, 22),
    (0, 26),
    (3, 26),
    (5, 26),
    (26, 27),
    (26, 28),
    (3, 30),
    (14, 30),
    (15, 30),
    (17, 30),
    (18, 30),
    (0, 31),
    (6, 31),
    (8, 31),
    (17, 31),
    (28, 31),
];

async fn concurrent_changes_equal_a_sequential_order() {
    let database = Database::open(Arc::new(empty_store().await), soon()).await;
    let database = database.expect("opened");
    for first in CHANGES {
        for second in CHANGES {
            let (id, other) = (DocumentId::Integer(1), DocumentId::Integer(2));
            store(&database, &id).await;
            store(&database, &other).await;
            let told = at_the_same_time(&database, &id, first, second).await.0;
            let expected = (
                one(&database, &other, first).await,
                one(&database, &other, second).await,
            );
            assert_eq!(told, expected, "{first} and {second}");
            let found = json(&database, &id).await;
            assert_eq!(found, json(&database, &other).await, "{first} and {second}");
        }
    }
    let check = Check::of_store(database.store().clone(), None).await;
    let mut check = check.expect("a check");
    assert_eq!(check.next_finding().await.expect("a check"), None);
}

async fn disjoint_changes_do_not_conflict() {
    let database = Database::open(Arc::new(empty_store().await), soon()).await;
    let database = database.expect("opened");
    for (a, b) in APART {
        for (first, second) in [(CHANGES[*a], CHANGES[*b]), (CHANGES[*b], CHANGES[*a])] {
            let id = DocumentId::Integer(1);
            store(&database, &id).await;
            let (_, conflict) = at_the_same_time(&database, &id, first, second).await;
            assert!(!conflict, "{first} and {second}");
        }
    }
    for (a, b) in APART_TEXTS {
        for (first, second) in [(*a, *b), (*b, *a)] {
            let id = DocumentId::Integer(1);
            store(&database, &id).await;
            let (_, conflict) = at_the_same_time(&database, &id, first, second).await;
            assert!(!conflict, "{first} and {second}");
        }
    }
}

async fn updates_without_a_place_conflict_with_changes_that_make_one() {
    let database = Database::open(Arc::new(empty_store().await), soon()).await;
    let database = database.expect("opened");
    let budget = Budget::of_background();
    let set = |at: &str| {
        let query = Query::parse(at).expect("a query");
        let leaves = Leaves::from_json("1").expect("JSON");
        Update::new(query, UpdateOperation::Set(leaves)).expect("an update")
    };
    for (path, change, conflict) in [
        (
            "$.none.x",
            r#"[{"op":"add","path":"/none","value":{}}]"#,
            true,
        ),
        (
            "$.none.x",
            r#"[{"op":"add","path":"/other","value":1}]"#,
            false,
        ),
        (
            "$.el[1]",
            r#"[{"op":"add","path":"/el/-","value":1}]"#,
            true,
        ),
        (
            "$.a.x",
            r#"[{"op":"replace","path":"/a","value":{}}]"#,
            true,
        ),
        (
            "$.a.x",
            r#"[{"op":"replace","path":"/a","value":7}]"#,
            false,
        ),
        (
            "$.o[0]",
            r#"[{"op":"replace","path":"/o","value":[]}]"#,
            true,
        ),
    ] {
        let id = DocumentId::Integer(1);
        store(&database, &id).await;
        let (a, b) = (database.store().begin(), database.store().begin());
        let (a, b) = (a.await.expect("begun"), b.await.expect("begun"));
        let document = Arc::new(DocumentKey::new("D", id.clone()).expect("a key"));
        let updates = Bulk::Update(vec![set(path), set("$.q")]);
        let updated = bulk(&*a, &budget, vec![document], &updates, None).await;
        assert_eq!(updated.expect("updated").places, [0, 1], "{path}");
        apply(&*b, &id, change).await.expect(change);
        b.commit().await.expect("nobody else has committed");
        assert_eq!(a.commit().await.is_err(), conflict, "{path} and {change}");
    }
}

/// Whether a change was applied, or the code of its error.
type Told = Result<(), &'static str>;

/// Makes both changes in transactions that read before either commits, and retries the second after
/// a conflict. Returns both results and whether they conflicted.
async fn at_the_same_time(
    database: &Database,
    id: &DocumentId,
    first: &'static str,
    second: &'static str,
) -> ((Told, Told), bool) {
    let store = database.store();
    let (a, b) = (store.begin().await, store.begin().await);
    let (a, b) = (a.expect("begun"), b.expect("begun"));
    let first = apply(&*a, id, first).await;
    let tried = apply(&*b, id, second).await;
    if first.is_ok() {
        a.commit().await.expect("nobody else has committed");
    }
    match (&tried, tried.is_ok() && b.commit().await.is_err()) {
        // The error may be due to the state before the first change, so the change is repeated.
        (Err(_), _) => ((first, one(database, id, second).await), false),
        (Ok(()), true) => ((first, one(database, id, second).await), true),
        (Ok(()), false) => ((first, tried), false),
    }
}

async fn apply(transaction: &dyn Transaction, id: &DocumentId, change: &str) -> Told {
    let document = Arc::new(DocumentKey::new("D", id.clone()).expect("a key"));
    let root = Path::default();
    let changed = if change.starts_with(char::is_alphabetic) {
        apply_words(transaction, &document, change).await
    } else if change.starts_with('{') {
        let changes = MergePatch::parse(&change.to_owned().into()).expect("a merge patch");
        merge(
            transaction,
            &Budget::of_background(),
            &document,
            &root,
            &changes,
        )
        .await
    } else {
        let operations = parse(&change.to_owned().into()).expect("a patch");
        patch(
            transaction,
            &Budget::of_background(),
            &document,
            &root,
            &operations,
            MissingParents::Fail,
        )
        .await
    };
    changed.map(|_| ()).map_err(|error| error.kind().code())
}

/// Applies `copy FROM TO`, `append PATH ARRAY`, `remove PATH ARRAY`, or `test AT VALUE TO`, which
/// stores a value if the test holds.
async fn apply_words(
    transaction: &dyn Transaction,
    document: &Arc<DocumentKey>,
    change: &str,
) -> phyllo::error::Result<bool> {
    let budget = Budget::of_background();
    let memory = budget.reserve();
    let words: Vec<&str> = change.split(' ').collect();
    let path = |text: &str| Path::parse(text).expect("a pointer");
    let leaves = |json: &str| Leaves::from_json(json).expect("JSON");
    if words[0] == "copy" {
        let source = ValueSource {
            document: document.clone(),
            path: path(words[1]),
        };
        let copied = source.read(transaction, &memory).await?;
        let (to, parents) = (path(words[2]), MissingParents::Fail);
        return replace(transaction, &budget, document, &to, &copied, parents).await;
    }
    if words[0] == "test" {
        let at = Query::parse(&format!("${}", words[1].replace('/', ".")))?;
        let tests = vec![Test::Equal(Tree::from_json(words[2])?)].into();
        let filter = Filter::Where(Condition { at, tests });
        test_document(transaction, &budget, document, &filter).await?;
        return replace(
            transaction,
            &budget,
            document,
            &path(words[3]),
            &leaves("3"),
            MissingParents::Fail,
        )
        .await;
    }
    let operator = UpdateOperator::parse(words[0]).expect("an operator");
    let operation = UpdateOperation::of_value(operator, leaves(words[2]), &memory).await?;
    let update = Bulk::Update(vec![Update::new(Query::parse(words[1])?, operation)?]);
    let changes = bulk(transaction, &budget, vec![document.clone()], &update, None).await?;
    Ok(!changes.changed.is_empty())
}

async fn one(database: &Database, id: &DocumentId, change: &'static str) -> Told {
    let id = id.clone();
    let settled = database.transact(soon(), move |transaction| {
        let id = id.clone();
        Box::pin(async move {
            let told = apply(&*transaction, &id, change).await;
            Ok(match told {
                Ok(()) => Decision::Commit(told),
                Err(_) => Decision::Abort(told),
            })
        })
    });
    match settled.await.expect("settled") {
        TransactionResult::Committed(told, _) | TransactionResult::Aborted(told) => told,
    }
}

async fn store(database: &Database, id: &DocumentId) {
    let id = id.clone();
    let stored = database.transact(soon(), move |transaction| {
        let document = DocumentKey::new("D", id.clone());
        Box::pin(async move {
            let leaves = Leaves::from_json(BEFORE)?;
            put(
                &*transaction,
                &Budget::of_background(),
                &document?,
                &leaves,
                Existing::Replace,
            )
            .await?;
            Ok(Decision::Commit(()))
        })
    });
    stored.await.expect("stored");
}

async fn json(database: &Database, id: &DocumentId) -> Option<String> {
    let document = Arc::new(DocumentKey::new("D", id.clone()).expect("a key"));
    let snapshot = database.snapshot().await.expect("a snapshot");
    let want = ReadRequest::Value(document, Path::default(), Extent::Whole);
    match load(&*snapshot, &[&want], &Budget::of_background().reserve())
        .await
        .remove(0)
        .expect("readable")
    {
        Answer::Value(part) => {
            part.map(|part| String::from_utf8(part.json().expect("a document")).expect("UTF-8"))
        }
        Answer::Remainder(_) | Answer::Between(_) | Answer::Version(_) => None,
    }
}

async fn writes_conflict_with_a_concurrent_format_upgrade() {
    const UNKNOWN_FORMAT: i64 = 1_000;
    let store: Arc<dyn Store> = Arc::new(empty_store().await);
    let database = Database::open(store.clone(), soon()).await.expect("opened");
    let mut tries = 0;
    let written = database.transact(soon(), |transaction| {
        tries += 1;
        let store = store.clone();
        Box::pin(async move {
            transaction.set(b"\x02written\x00", b"");
            // Between the read of the format and the commit.
            transaction.get(b"\x02other\x00").await?;
            let other = store.begin().await?;
            let key = Family::Format.key()?;
            other.set(&key, &foundationdb_tuple::pack(&(UNKNOWN_FORMAT,)));
            other.commit().await?;
            Ok(Decision::Commit(()))
        })
    });
    let error = written.await.err().expect("it is refused");
    assert_eq!(error.kind(), phyllo::error::ErrorKind::Unavailable);
    let named = format!("format {UNKNOWN_FORMAT}");
    assert!(error.message().contains(&named), "{error}");
    assert!(tries >= 2, "the first try met a conflict");
    let snapshot = store.snapshot().await.expect("taken");
    let found = snapshot.get(b"\x02written\x00").await.expect("read");
    assert_eq!(found, None);
}
