//! Random batches of lines, as uploads over HTTP write them, and exports.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use phyllo::budget::Pool;
use phyllo::database::Existing;
use phyllo::document::id::DocumentId;
use phyllo::document::parse_merge_patch::MergePatch;
use phyllo::document::path::Path;
use phyllo::key::Leaves;
use phyllo::limits::Bounds;
use phyllo::operations::{BatchChanges, BatchSender, Export, NewDocument, NewPatch, change_batch};
use phyllo::rights::RequestRights;
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Value, json};

use super::Client;
use super::oracle::{Documents, Oracle};
use super::requests::Focus;

const HELD_BYTES_MAX: usize = 1 << 30;

/// Lines for one collection.
#[derive(Debug)]
pub(super) struct Lines {
    collection: String,
    mode: LineMode,
    path: String,
    contents: Vec<(String, Value)>,
}

#[derive(Clone, Copy, Debug)]
enum LineMode {
    Insert,
    Replace,
    Merge,
}

impl Lines {
    /// Random lines, at or near the place of a rule.
    pub(super) fn random(focus: &Focus, random: &mut StdRng) -> Self {
        let one = |choices: &[&str], random: &mut StdRng| {
            (*choices.choose(random).expect("some")).to_owned()
        };
        let focused = focus
            .collection
            .clone()
            .filter(|name| ["c", "d"].contains(&&**name));
        let collection = focused.unwrap_or_else(|| one(&["c", "d"], random));
        let mode = [LineMode::Insert, LineMode::Replace, LineMode::Merge];
        let mode = *mode.choose(random).expect("some");
        let path = match mode {
            LineMode::Merge if random.random_bool(0.7) => focus.path.clone(),
            LineMode::Merge => one(&["", "/a", "/b", "/a/a"], random),
            _ => String::new(),
        };
        let count = random.random_range(1..5);
        // Each document once: the oracle compares the states before and after all lines.
        let mut lines = BTreeMap::new();
        for _ in 0..count {
            let id = match &focus.id {
                Some(id) if random.random_bool(0.6) => id.clone(),
                _ => one(&["a", "b", "7", "e", "x", "y"], random),
            };
            let (status, owner) = (one(&["p", "q"], random), one(&["a", "b", "7"], random));
            let number = random.random_range(0..1_000);
            let content = match random.random_range(0..4) {
                0 => json!(number),
                1 => json!({"a": number, "s": null}),
                2 => json!({"s": status, "o": owner, "a": {"a": number}}),
                _ => json!({"s": "p", "o": owner, "b": [number]}),
            };
            lines.insert(id, content);
        }
        Self {
            contents: lines.into_iter().collect(),
            collection,
            mode,
            path,
        }
    }

    fn changes(&self) -> BatchChanges {
        let id = |id: &str| DocumentId::parse(id).expect("an id");
        if matches!(self.mode, LineMode::Merge) {
            let path = Path::pointer(&self.path).expect("a path");
            let patches = self.contents.iter().map(|(key, patch)| NewPatch {
                id: id(key),
                path: path.clone(),
                patch: MergePatch::parse(&Bytes::from(patch.to_string())),
            });
            return BatchChanges::Merge(patches.collect());
        }
        let documents = self.contents.iter().map(|(key, document)| NewDocument {
            id: id(key),
            leaves: Leaves::from_json(&document.to_string()),
        });
        let existing = match self.mode {
            LineMode::Replace => Existing::Replace,
            _ => Existing::Fail,
        };
        BatchChanges::Put(Arc::new(documents.collect()), existing)
    }

    /// Writes the lines. Returns what the sender is told, and whether each line was written.
    pub(super) async fn write(
        &self,
        client: &Client,
        rights: &RequestRights,
    ) -> (String, Vec<bool>) {
        let sender = BatchSender {
            rights: rights.clone(),
            bounds: Bounds::DEFAULT,
            pool: Pool::new(HELD_BYTES_MAX),
        };
        let changes = Arc::new(self.changes());
        let (database, collection) = (&client.database, &self.collection);
        let results = change_batch(database, collection, changes, true, None, Some(sender)).await;
        let results = results.expect("the store works");
        let written = results.iter().map(Result::is_ok).collect();
        let told = results.iter().filter_map(|result| {
            let error = result.as_ref().err()?;
            Some(format!("{}: {error}\n", error.kind().code()))
        });
        (told.collect(), written)
    }
}

/// The lines of an export of a collection. `None` if the rules do not allow it.
pub(super) async fn exported(
    client: &Client,
    collection: &str,
    rights: &RequestRights,
) -> Option<String> {
    let pool = Pool::new(HELD_BYTES_MAX);
    let limits = (&Bounds::DEFAULT, &pool);
    let begun = Export::begin(&client.database, collection, (None, false), rights, limits).await;
    let mut export = match begun {
        Ok(export) => export,
        Err(error) => {
            assert_eq!(error.kind().code(), "FORBIDDEN", "{error}");
            return None;
        }
    };
    let (mut text, mut is_ended) = (Vec::new(), false);
    while !is_ended {
        let mut piece = Vec::new();
        let filled = export.fill(&mut piece, 100).await;
        is_ended = filled.expect("the store works");
        text.extend(piece);
    }
    Some(String::from_utf8(text).expect("JSON"))
}

/// The lines that an export should have, by the rules. `None` if they do not allow it.
pub(super) fn expected_export(
    oracle: &Oracle,
    documents: &Documents,
    collection: &str,
) -> Option<Vec<Value>> {
    let covers = ["list", "read"].map(|action| oracle.cover(action, collection, None, &[]));
    if covers.iter().any(super::oracle::Cover::is_empty) {
        return None;
    }
    let of_collection = documents.iter().filter(|((name, _), _)| name == collection);
    let found =
        of_collection.filter(|(_, document)| covers.iter().all(|cover| cover.passes(document)));
    Some(
        found
            .map(|((_, id), document)| json!({"id": id, "document": document}))
            .collect(),
    )
}
