//! What callers may know at one time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Value, json};

use super::documents::canary;
use super::oracle::{Documents, Leaf, Oracle, Step, leaves, value_at};
use super::subscriptions::Followed;

/// The places where canaries were stored, by their numbers.
#[derive(Default)]
pub(super) struct CanaryPlaces {
    leaves: BTreeMap<u64, BTreeSet<CanaryPlace>>,
    /// Documents that a mutation has named by a canary, with `idFrom`.
    named: BTreeMap<u64, BTreeSet<(String, String)>>,
}

/// A document, by its collection and key, and a path in it.
type CanaryPlace = ((String, String), Vec<Step>);

impl CanaryPlaces {
    /// Adds the places of documents that differ from those of before.
    pub(super) fn add(&mut self, documents: &Documents, before: &Documents) {
        let changed = |(key, document): &(&_, &Value)| before.get(*key) != Some(*document);
        for (key, document) in documents.iter().filter(changed) {
            if let Some(number) = named_by(&key.1) {
                self.named.entry(number).or_default().insert(key.clone());
            }
            for Leaf { path, value } in leaves(document) {
                if let Some(number) = canary(&value) {
                    let places = self.leaves.entry(number).or_default();
                    places.insert((key.clone(), path));
                }
            }
        }
    }

    fn of(&self, number: u64) -> impl Iterator<Item = &CanaryPlace> {
        self.leaves.get(&number).into_iter().flatten()
    }

    fn named(&self, number: u64) -> impl Iterator<Item = &(String, String)> {
        self.named.get(&number).into_iter().flatten()
    }

    /// Whether the canary was stored. Other numbers are part of a query, or of a cursor by chance.
    pub(super) fn is_stored(&self, number: u64) -> bool {
        self.of(number).next().is_some() || self.named(number).next().is_some()
    }

    /// Whether a rule without a condition covers a place where the canary was stored, or the canary is the
    /// key of a document, which its followers are told.
    pub(super) fn is_always_read(&self, number: u64, oracle: &Oracle) -> bool {
        let covers = |((collection, id), path): &CanaryPlace| {
            oracle.cover("read", collection, Some(id), path).is_always()
        };
        self.of(number).any(covers) || self.named(number).next().is_some()
    }
}

/// The canary that is the key of a document.
fn named_by(key: &str) -> Option<u64> {
    let value = key
        .parse()
        .map_or_else(|_| json!(key), |number: u64| json!(number));
    canary(&value)
}

/// The documents, and the rights of the callers, at one time.
pub(super) struct Moment {
    pub(super) documents: Rc<Documents>,
    pub(super) oracles: Rc<[Oracle; 2]>,
}

impl Moment {
    /// Whether the caller may read the canary at one of its places, or know a document of this key.
    pub(super) fn is_read(&self, number: u64, places: &CanaryPlaces, caller: usize) -> bool {
        let oracle = &self.oracles[caller];
        let of_leaf = |(key, path): &CanaryPlace| {
            self.documents.get(key).is_some_and(|document| {
                let stored = value_at(document, path).and_then(canary);
                stored == Some(number) && oracle.reads((&*key.0, &*key.1), document, path)
            })
        };
        let of_key = |key: &(String, String)| {
            let document = self.documents.get(key);
            document.is_some_and(|document| oracle.knows((&*key.0, &*key.1), document))
        };
        places.of(number).any(of_leaf) || places.named(number).any(of_key)
    }

    /// The response of a live query, according to the oracle. None if the rules do not allow it.
    pub(super) fn response(&self, followed: &Followed, caller: usize) -> Option<Value> {
        let oracle = &self.oracles[caller];
        match followed {
            Followed::Document(place) => {
                let id = place.id.as_deref().expect("a document");
                let read = oracle.cover("read", &place.collection, Some(id), &place.path);
                if read.is_empty() {
                    return None;
                }
                let key = (place.collection.clone(), id.to_owned());
                let document = self.documents.get(&key);
                let document = document.filter(|document| read.passes(document));
                let value = document.and_then(|document| value_at(document, &place.path));
                let value = value.map(|value| json!({ "value": value }));
                Some(json!({"data": {"document": value}}))
            }
            Followed::Page(place) => {
                let list = oracle.cover("list", &place.collection, None, &[]);
                let read = oracle.cover("read", &place.collection, None, &place.path);
                if list.is_empty() || read.is_empty() {
                    return None;
                }
                let documents = self.documents.iter();
                let found = documents.filter(|((collection, _), document)| {
                    *collection == place.collection
                        && list.passes(document)
                        && read.passes(document)
                });
                let nodes = found.map(|((_, key), document)| {
                    json!({"key": key, "value": value_at(document, &place.path)})
                });
                let nodes: Vec<Value> = nodes.collect();
                Some(json!({"data": {"documents": {"nodes": nodes}}}))
            }
            Followed::Field(_) | Followed::Changes(..) => panic!("the oracle knows no response"),
        }
    }
}
