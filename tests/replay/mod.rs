//! Replays the lines of `phyllo changes` on plain JSON values.

use std::collections::BTreeMap;

use serde_json::Value;

/// The documents of a collection as its changes tell.
#[derive(Default)]
pub(crate) struct Replay {
    /// The documents, by their keys.
    pub(crate) documents: BTreeMap<String, Value>,
    /// How many changes each document has had.
    pub(crate) changes: BTreeMap<String, usize>,
    /// The cursor after the last change.
    pub(crate) cursor: Option<String>,
}

impl Replay {
    /// The arguments of the command that prints the changes after those so far.
    pub(crate) fn arguments(&self, collection: &str) -> Vec<String> {
        let mut arguments = vec!["--collection".to_owned(), collection.to_owned()];
        if let Some(cursor) = &self.cursor {
            arguments.extend(["--after".to_owned(), cursor.clone()]);
        }
        arguments
    }

    /// Applies the changes of these lines.
    pub(crate) fn apply(&mut self, lines: &str) {
        for line in lines.lines() {
            let change: Value = serde_json::from_str(line).expect("a line of JSON");
            self.apply_change(&change);
        }
    }

    fn apply_change(&mut self, change: &Value) {
        let cursor = change["cursor"].as_str().expect("a cursor");
        assert!(
            self.cursor.as_deref().map(position) < Some(position(cursor)),
            "{cursor} after {:?}",
            self.cursor
        );
        self.cursor = Some(cursor.to_owned());
        let key = change["key"].as_str().expect("a key").to_owned();
        *self.changes.entry(key.clone()).or_default() += 1;
        assert_eq!(change["resync"], false, "{cursor}");
        let before = self.documents.remove(&key);
        match change["kind"].as_str() {
            Some("DELETED") => {
                assert!(before.is_some(), "{cursor}");
                return;
            }
            Some("CREATED") => assert!(before.is_none(), "{cursor}"),
            Some("UPDATED") => assert!(before.is_some(), "{cursor}"),
            _ => panic!("{cursor}"),
        }
        let mut document = before.unwrap_or_default();
        let patch: json_patch::Patch =
            serde_json::from_value(change["patch"].clone()).expect("a JSON Patch");
        json_patch::patch(&mut document, &patch).expect("the patch fits");
        self.documents.insert(key, document);
    }

    /// Asserts that the replayed documents are those of an export.
    pub(crate) fn assert_equals(&self, export: &str) {
        let exported = export.lines().map(|line| {
            let mut record: Value = serde_json::from_str(line).expect("a line of JSON");
            let id = record["id"].as_str().expect("an id").to_owned();
            (id, record["document"].take())
        });
        let exported: BTreeMap<String, Value> = exported.collect();
        assert_eq!(
            self.documents.keys().collect::<Vec<_>>(),
            exported.keys().collect::<Vec<_>>()
        );
        for (key, document) in &exported {
            assert_eq!(self.documents[key], *document, "{key}");
        }
    }
}

/// The version of a cursor, and the number of its last change. A cursor without a number is after
/// all changes of its commit.
fn position(cursor: &str) -> (&str, u64) {
    let mut parts = cursor.split('-').skip(1);
    let version = parts.next().expect("a version");
    let change = parts.next().map(|number| number.parse().expect("a number"));
    (version, change.unwrap_or(u64::MAX))
}
