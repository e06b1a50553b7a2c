//! Random subscriptions, and random writes that their streams notice.

use std::collections::BTreeMap;

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Value, json};

use super::documents::{KEYS, random_document, random_value};
use super::followed::FollowedPlace;
use super::oracle::Documents;
use super::requests::{Focus, live_field, mutation};

/// What a stream sends.
#[derive(Clone)]
pub(super) enum Followed {
    /// The value at a place of a document, or null.
    Document(FollowedPlace),
    /// The keys of a collection, and the value at a place of each document.
    Page(FollowedPlace),
    /// What the field returns as a query.
    Field(String),
    /// Changes, after so many of the log. Without a number, from now on.
    Changes(FollowedPlace, Option<usize>),
}

impl Followed {
    pub(super) fn is_live(&self) -> bool {
        !matches!(self, Self::Changes(..))
    }
}

/// A cursor, with the number of changes of each collection before it.
pub(super) type Cursor = (String, BTreeMap<&'static str, usize>);

/// A random subscription, at or near a place.
pub(super) fn subscription(
    random: &mut StdRng,
    documents: &Documents,
    focus: Focus,
    cursors: &[Cursor],
) -> (Followed, String) {
    let kind = random.random_range(0..10);
    if kind < 2 {
        let field = live_field(random, documents, focus);
        let query = format!("subscription {{ {field} }}");
        return (Followed::Field(field), query);
    }
    let place = FollowedPlace::random(focus, random);
    let (followed, field) = match kind {
        2..5 => {
            let field = format!("document({}) {{ value }}", place.arguments());
            (Followed::Document(place), field)
        }
        5 | 6 => {
            let (collection, path) = (&place.collection, place.path_text());
            let field = format!(
                r#"documents(collection: "{collection}") {{ nodes {{ key value(path: {path}) }} }}"#
            );
            (Followed::Page(place), field)
        }
        _ => {
            let place = if random.random_bool(0.3) {
                place.of_collection()
            } else {
                place
            };
            let cursor = cursors.choose(random).filter(|_| random.random_bool(0.3));
            let (after, from) = match cursor {
                Some((cursor, counts)) => {
                    let count = counts[&*place.collection];
                    (format!(r#", after: "{cursor}""#), Some(count))
                }
                None => (String::new(), None),
            };
            let field = format!(
                "changes({}{after}) {{ kind key paths patch resync }}",
                place.arguments()
            );
            (Followed::Changes(place, from), field)
        }
    };
    (followed, format!("subscription {{ {field} }}"))
}

/// A random mutation and its variables.
pub(super) fn write(random: &mut StdRng, next: &mut u64, documents: &Documents) -> (String, Value) {
    let kind = random.random_range(0..12);
    if kind < 4 {
        return (mutation(random, documents, Focus::none()), json!({}));
    }
    let mut one = |choices: &[&str]| (*choices.choose(random).expect("some")).to_owned();
    let (collection, id) = (one(&["c", "d"]), one(&KEYS));
    let path = one(&[
        "/a", "/b", "/c", "/a/a", "/a/b", "/b/0", "/a/7", "/b/-", "/a/a/0",
    ]);
    let (status, owner) = (one(&["p", "p", "q"]), one(&["a", "b", "7"]));
    let place = format!(r#"collection: "{collection}", id: "{id}""#);
    let replace = |path: &str| {
        format!(
            r#"mutation($d: JSON) {{ replaceDocument({place}, path: "{path}", document: $d) {{ key }} }}"#
        )
    };
    let (text, document) = match kind {
        4..7 => (replace(&path), random_value(random, next, 3)),
        7 | 8 => (replace("/s"), json!(status)),
        9 => (replace("/o"), json!(owner)),
        10 => (replace(""), random_document(random, next)),
        _ => {
            let field = match random.random_range(0..10) {
                0 => format!(
                    r#"dropCollection(collection: "{collection}", everything: true) {{ documents }}"#
                ),
                1..6 => format!("deleteDocument({place}) {{ deleted }}"),
                _ => format!(r#"deleteDocument({place}, path: "{path}") {{ deleted }}"#),
            };
            return (format!("mutation {{ {field} }}"), json!({}));
        }
    };
    (text, json!({ "d": document }))
}
