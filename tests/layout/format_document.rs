//! Compares the examples in docs/format.md with the bytes that the code produces.

use std::sync::Arc;
use std::time::Duration;

use foundationdb_tuple::{Bytes, pack, unpack};
use futures::FutureExt;
use phyllo::budget::Budget;
use phyllo::database::{
    BuildStep, Builder as IndexBuilder, Database, FORMAT, Index, IndexFilter, IndexPath, State,
    TypeChecker, create_index, indexes, insert,
};
use phyllo::document::filter::Filter;
use phyllo::document::id::DocumentId;
use phyllo::key::{Family, IndexValue, Leaves, Version, decode_leaf, hex, tuple_text};
use phyllo::limits::{
    COUNT_SHARDS, DOCUMENT_LEVELS_MAX, INTEGER_BYTES_MAX, KEY_BYTES_MAX, PIECE_BYTES,
    VALUE_BYTES_MAX,
};
use phyllo::operations::set_type;
use phyllo::store::{Decision, Embedded, EmbeddedOptions, FILE_NAME, RangeRead};
use redb::{ReadableDatabase, TableDefinition, TableHandle};
use tokio::runtime::Builder;
use tokio::time::Instant;

use super::golden::expanded;
use super::stored;

const PAGE: &str = include_str!("../../docs/format.md");

/// The lines of each block of this kind.
fn blocks(kind: &str) -> Vec<Vec<&'static str>> {
    let fence = format!("```{kind}");
    let mut lines = PAGE.lines();
    let mut blocks = Vec::new();
    while lines.any(|line| line == fence) {
        blocks.push(lines.by_ref().take_while(|line| *line != "```").collect());
    }
    assert!(
        !blocks.is_empty(),
        "docs/format.md has examples of the kind {kind}"
    );
    blocks
}

/// Both sides of an arrow.
fn sides(line: &str) -> (&str, &str) {
    let (left, right) = line.split_once('→').expect(line);
    (left.trim(), right.trim())
}

/// Compares two texts. `…` in the page matches anything.
fn check(page: &str, actual: &str, place: &str) {
    let matches = match page.split_once('…') {
        Some((begin, end)) => actual.starts_with(begin) && actual.ends_with(end),
        None => page == actual,
    };
    assert!(
        matches,
        "{place}: the page says {page}, the code packs {actual}"
    );
}

fn check_hex(page: &str, actual: &[u8], place: &str) {
    let page: String = page.split_whitespace().collect();
    check(&page, &hex(actual), place);
}

#[test]
fn documented_documents_are_stored_as_described() {
    for block in blocks("document") {
        let mut words = block[0].splitn(3, ' ');
        let mut word = || words.next().expect("COLLECTION ID JSON");
        let (collection, id, json) = (word(), word(), expanded(word()));
        let id = DocumentId::parse(id).expect("an id");
        let pairs = stored(collection, &id, &json).expect("valid JSON");
        assert_eq!(block.len(), 1 + 2 * pairs.len(), "{}", block[0]);
        for (lines, (key, value)) in block[1..].chunks(2).zip(&pairs) {
            let (key_tuple, value_tuple) = sides(lines[0]);
            check(key_tuple, &tuple_text(key), lines[0]);
            check(value_tuple, &tuple_text(value), lines[0]);
            let (key_hex, value_hex) = sides(lines[1]);
            check_hex(key_hex, key, lines[0]);
            check_hex(value_hex, value, lines[0]);
        }
    }
}

#[test]
fn documented_leaves_are_packed_as_described_and_read_back() {
    for line in blocks("leaf").concat() {
        let (json, value_hex) = sides(line);
        let leaves = Leaves::from_json(&expanded(json)).expect(line);
        let (key, value) = leaves.iter().next().expect("one pair");
        assert!(key.is_empty() && leaves.len() == 1, "{line}");
        check_hex(value_hex, value, line);
        let leaf = decode_leaf(value).expect(line);
        assert_eq!(phyllo::key::pack_leaf(&leaf), value, "{line}");
    }
}

#[test]
fn documented_entry_values_are_packed_as_described() {
    for line in blocks("entry").concat() {
        let (json, value_hex) = sides(line);
        let leaves = Leaves::from_json(json).expect(line);
        let value = IndexValue::of_leaves(&leaves).expect("short");
        check_hex(value_hex, value.expect("some").bytes(), line);
    }
}

/// Words: the number, `unique`, the state, `where` with a filter, and the paths.
#[test]
fn documented_definitions_are_packed_as_described() {
    for lines in blocks("definition").concat().chunks(2) {
        let mut words = lines[0].trim_end_matches(" →").split(' ').peekable();
        let number = words.next().and_then(|number| number.parse().ok());
        let unique = words.next_if_eq(&"unique").is_some();
        let state = match words.next() {
            Some("ready") => State::Ready,
            Some("building") => State::Building,
            other => panic!("no state: {other:?}"),
        };
        let filter = words.next_if_eq(&"where").and_then(|_| words.next());
        let index = Index {
            name: "i".to_owned(),
            number: number.expect("a number"),
            on: words
                .map(|path| IndexPath::parse(path).expect(path))
                .collect(),
            unique,
            filter: filter.map(|json| IndexFilter::from_json(json).expect(json)),
            exact: true,
            state,
            error: None,
        };
        check_hex(lines[1], &index.encode(), lines[0]);
        assert_eq!(Index::decode("i".to_owned(), &index.encode()), Some(index));
    }
}

#[test]
fn documented_forms_are_those_of_the_values() {
    for line in blocks("forms").concat() {
        let (values, forms_hex) = sides(line);
        let form = |json: &str| match json {
            "nothing" => 0,
            json => {
                let leaves = Leaves::from_json(json).expect(line);
                let value = IndexValue::of_leaves(&leaves).expect("short");
                value.expect("some").form().byte()
            }
        };
        let mut forms: Vec<u8> = values.split(", ").map(form).collect();
        if forms.iter().all(|form| *form == 0) {
            forms.clear();
        }
        check_hex(forms_hex, &forms, line);
    }
}

#[test]
fn documented_ids_are_packed_as_described() {
    for line in blocks("id").concat() {
        let (id, id_hex) = sides(line);
        let id = DocumentId::parse(id).expect(line);
        let key = super::document_key("D", &id);
        check_hex(id_hex, &key[3..], line);
    }
}

#[test]
fn documented_limits_match_the_code() {
    let limits = [
        format!("KEY_BYTES_MAX {KEY_BYTES_MAX}"),
        format!("VALUE_BYTES_MAX {VALUE_BYTES_MAX}"),
        format!("PIECE_BYTES {PIECE_BYTES}"),
        format!("INTEGER_BYTES_MAX {INTEGER_BYTES_MAX}"),
        format!("DOCUMENT_LEVELS_MAX {DOCUMENT_LEVELS_MAX}"),
        format!("COUNT_SHARDS {COUNT_SHARDS}"),
    ];
    assert_eq!(blocks("limits"), [limits]);
    assert!(PAGE.contains(&format!("The format version is **{FORMAT}**.")));
}

#[test]
fn documented_positions_of_index_builds_are_stored_and_continued() {
    let lines = blocks("build").concat();
    let [beginning, after_two, older] = lines[..] else {
        panic!("three positions: {lines:?}");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let runtime = Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(async {
        let database = store_with_a_pending_index(directory.path()).await;
        let mut builder = IndexBuilder::new(database.clone());
        let at_the_beginning = build_value(&database).await.expect("a build");
        check_hex(
            sides(beginning).1,
            &position_of(&at_the_beginning),
            beginning,
        );
        let step = builder.step().await.expect("a batch");
        assert!(matches!(step, BuildStep::Documents(_, _, 2)), "{step:?}");
        let counted = build_value(&database).await.expect("a build");
        check_hex(sides(after_two).1, &position_of(&counted), after_two);

        let position: String = sides(older).1.split_whitespace().collect();
        let position = (0..position.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&position[at..at + 2], 16).expect(older));
        let position = Bytes::from(position.collect::<Vec<u8>>());
        let (name, owner, expiry, _): BuildValue<'_> = unpack(&counted).expect("a build");
        let old = pack(&(&name[..], owner, expiry, position));
        assert!(counted.len() > old.len());
        write(&database, &build_key(), &old).await;
        builder.finish().await.expect("the build continues");
        assert_eq!(build_value(&database).await, None);
        let snapshot = database.snapshot().await.expect("a snapshot");
        let found = indexes(&*snapshot, "D").await.expect("indexes");
        assert_eq!(found[0].state, State::Ready);
    });
}

/// The name, the owner, the expiry of the lease and the position.
type BuildValue<'v> = (String, Bytes<'v>, i64, Bytes<'v>);

fn build_key() -> Vec<u8> {
    Family::Build("D", 1).key().expect("short")
}

fn position_of(build: &[u8]) -> Vec<u8> {
    let (_, _, _, Bytes(position)): BuildValue<'_> = unpack(build).expect("a build");
    position.into_owned()
}

async fn build_value(database: &Database) -> Option<Vec<u8>> {
    let snapshot = database.snapshot().await.expect("a snapshot");
    snapshot.get(&build_key()).await.expect("readable")
}

async fn write(database: &Database, key: &[u8], value: &[u8]) {
    let transaction = database.store().begin().await.expect("a transaction");
    transaction.set(key, value);
    transaction.commit().await.expect("a commit");
}

/// Documents with the ids 0 and 1, and an index that was defined after them.
async fn store_with_a_pending_index(directory: &std::path::Path) -> Database {
    let deadline = Instant::now() + Duration::from_secs(30);
    let store = Embedded::open(directory, EmbeddedOptions::default(), |_| {});
    let store = Arc::new(store.expect("a new store"));
    let database = Database::open(store, deadline)
        .await
        .expect("a new database");
    let transaction = database.store().begin().await.expect("a transaction");
    let budget = Budget::of_background();
    for id in [0, 1] {
        let leaves = Leaves::from_json(r#"{"n":1}"#).expect("JSON");
        let id = Some(DocumentId::Integer(id));
        insert(&*transaction, &budget, "D", id, &leaves)
            .await
            .expect("inserted");
    }
    let none = Filter::default();
    let created = create_index(&*transaction, "D", "n", &["$.n"], false, none);
    created.await.expect("an index");
    transaction.commit().await.expect("a commit");
    database
}

/// Compares a block, two lines a pair, with pairs.
fn check_pairs(block: &[&str], pairs: &[(Vec<u8>, Vec<u8>)]) {
    assert_eq!(block.len(), 2 * pairs.len());
    for (lines, (key, value)) in block.chunks(2).zip(pairs) {
        let (key_tuple, value_tuple) = sides(lines[0]);
        check(key_tuple, &tuple_text(key), lines[0]);
        if value_tuple.starts_with('(') {
            check(value_tuple, &tuple_text(value), lines[0]);
        }
        let (key_hex, value_hex) = sides(lines[1]);
        check_hex(key_hex, key, lines[0]);
        check_hex(value_hex, value, lines[0]);
    }
}

#[test]
fn documented_store_has_exactly_the_pairs_after_one_insert() {
    let directory = tempfile::tempdir().expect("a directory");
    let block = blocks("store").concat();
    let pairs = store_with_one_document(directory.path());
    check_pairs(&block, &pairs);
    let version = Version::decode(&pairs[3].1).expect("a version");
    assert!(PAGE.contains(&format!("above, `{version}`.")));
    check_file(directory.path(), &pairs);
}

#[test]
fn documented_change_log_has_exactly_the_pairs_after_one_insert() {
    let directory = tempfile::tempdir().expect("a directory");
    let block = blocks("log").concat();
    let pairs: Vec<_> = store_with_one_logged_document(directory.path())
        .into_iter()
        .filter(|(key, _)| {
            let (begin, end) = Family::change_log();
            (begin..end).contains(key)
        })
        .collect();
    check_pairs(&block, &pairs);
}

#[test]
fn documented_type_has_exactly_the_pairs_after_its_check() {
    let directory = tempfile::tempdir().expect("a directory");
    let pairs = store_after(
        directory.path(),
        Duration::ZERO,
        Some(r#"{"type":"object"}"#),
    );
    let is_of_type = |key: &[u8]| {
        let families = [10_i64, 11, 12].map(|family| foundationdb_tuple::pack(&(family,)));
        let families = families.iter();
        Family::is_type(key)
            || families
                .map(|family| [&[0], &family[..]].concat())
                .any(|it| key.starts_with(&it))
    };
    let pairs: Vec<_> = pairs
        .into_iter()
        .filter(|(key, _)| is_of_type(key))
        .collect();
    check_pairs(&blocks("type").concat(), &pairs);
}

/// Every pair of the store. The shard of the count is set to 11, as on the page.
fn store_with_one_document(directory: &std::path::Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    store_after_one_insert(directory, Duration::ZERO)
}

/// As [`store_with_one_document`], with a change log.
fn store_with_one_logged_document(directory: &std::path::Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    store_after_one_insert(directory, Duration::from_secs(3600))
}

fn store_after_one_insert(
    directory: &std::path::Path,
    retention: Duration,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    store_after(directory, retention, None)
}

/// After the insert of a document, and the check against a type.
fn store_after(
    directory: &std::path::Path,
    retention: Duration,
    schema: Option<&str>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let runtime = Builder::new_current_thread().enable_time().build();
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut pairs = runtime.expect("a runtime").block_on(async {
        let store = Embedded::open(directory, EmbeddedOptions::default(), |_| {});
        let store = Arc::new(store.expect("a new store"));
        let database = Database::open(store, deadline)
            .await
            .expect("a new database");
        let set = database.set_change_retention(deadline, retention).await;
        set.expect("the retention is set");
        let inserted = database.transact(deadline, |transaction| {
            let work = async move {
                let leaves = Leaves::from_json("7")?;
                let id = Some(DocumentId::Integer(1));
                insert(&*transaction, &Budget::of_background(), "D", id, &leaves)
                    .await
                    .map(Decision::Commit)
            };
            work.boxed()
        });
        inserted.await.expect("inserted");
        if let Some(schema) = schema {
            let set = set_type(&database, "D", schema, false).await;
            set.expect("the type is set");
            let mut checker = TypeChecker::new(database.clone());
            checker.finish().await.expect("checked");
        }
        let snapshot = database.snapshot().await.expect("a snapshot");
        let batch = snapshot
            .range(RangeRead::new(&[], &[0xFF]))
            .await
            .expect("readable");
        let pair = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
        batch.pairs.iter().map(pair).collect::<Vec<_>>()
    });
    let count = pairs
        .iter_mut()
        .find(|(key, _)| Family::counted_collection(key).is_some());
    let key = &mut count.expect("a count").0;
    let counts = (0..COUNT_SHARDS).map(|shard| Family::Count("D", shard).key().expect("short"));
    assert!(counts.into_iter().any(|count| count == *key));
    *key = Family::Count("D", 11).key().expect("short");
    pairs
}

fn check_file(directory: &std::path::Path, pairs: &[(Vec<u8>, Vec<u8>)]) {
    const PAIRS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("pairs");
    const ENGINE: TableDefinition<'_, &str, u64> = TableDefinition::new("engine");
    const SESSIONS: TableDefinition<'_, u64, u64> = TableDefinition::new("sessions");
    let files = std::fs::read_dir(directory).expect("a directory");
    let files: Vec<_> = files
        .map(|file| file.expect("a file").file_name())
        .collect();
    assert!(files.contains(&FILE_NAME.into()) && PAGE.contains(&format!("`{FILE_NAME}`")));
    let file = redb::Database::open(directory.join(FILE_NAME)).expect("closed by the engine");
    let read = file.begin_read().expect("readable");
    let tables = read.list_tables().expect("tables");
    let mut names: Vec<String> = tables.map(|table| table.name().to_owned()).collect();
    names.sort();
    assert_eq!(names, ["engine", "pairs", "sessions"]);
    for name in names {
        assert!(PAGE.contains(&format!("| `{name}` |")), "{name}");
    }
    let sessions = read.open_table(SESSIONS).expect("a table of numbers");
    let mut sessions = sessions.range::<u64>(..).expect("readable");
    let first = sessions.next().expect("a session").expect("readable");
    assert_eq!(first.0.value(), 1);
    assert!(sessions.next().is_none());
    let engine = read.open_table(ENGINE).expect("a table of numbers");
    let last_commit = engine.get("last_commit").expect("readable");
    assert_eq!(last_commit.map(|number| number.value()), Some(2));
    let table = read.open_table(PAIRS).expect("a table of bytes");
    let mut expected = pairs.iter().map(|(_, value)| value.clone());
    let found = table.range::<&[u8]>(..).expect("readable");
    let values = found.map(|pair| pair.expect("a pair").1.value().to_vec());
    assert!(values.eq(expected.by_ref()));
}
