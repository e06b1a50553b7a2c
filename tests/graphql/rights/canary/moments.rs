//! What callers may know at one time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Value, json};

use super::documents::canary;
use super::oracle::{Documents, Leaf, Oracle, Step, leaves, value_at};
use super::subscriptions::Followed;

/// The places where canaries were stored, by their numbers.
#[derive(Default)]
pub(super) struct CanaryPlaces(BTreeMap<u64, BTreeSet<CanaryPlace>>);

/// A document, by its collection and key, and a path in it.
type CanaryPlace = ((String, String), Vec<Step>);

impl CanaryPlaces {
    /// Adds the places of documents that differ from those of before.
    pub(super) fn add(&mut self, documents: &Documents, before: &Documents) {
        let changed = |(key, document): &(&_, &Value)| before.get(*key) != Some(*document);
        for (key, document) in documents.iter().filter(changed) {
            for Leaf { path, value } in leaves(document) {
                if let Some(number) = canary(&value) {
                    let places = self.0.entry(number).or_default();
                    places.insert((key.clone(), path));
                }
            }
        }
    }

    fn of(&self, number: u64) -> impl Iterator<Item = &CanaryPlace> {
        self.0.get(&number).into_iter().flatten()
    }

    /// Whether a rule without a condition covers a place where the canary was stored.
    pub(super) fn is_always_read(&self, number: u64, oracle: &Oracle) -> bool {
        self.of(number).any(|((collection, id), path)| {
            let read = oracle.cover("read", collection, Some(id), path);
            read.is_always()
        })
    }
}

/// The documents, and the rights of the callers, at one time.
pub(super) struct Moment {
    pub(super) documents: Rc<Documents>,
    pub(super) oracles: Rc<[Oracle; 2]>,
}

impl Moment {
    /// Whether the caller may read the canary at one of its places.
    pub(super) fn is_read(&self, number: u64, places: &CanaryPlaces, caller: usize) -> bool {
        places.of(number).any(|(key, path)| {
            self.documents.get(key).is_some_and(|document| {
                let stored = value_at(document, path).and_then(canary);
                let place = (&*key.0, &*key.1);
                stored == Some(number) && self.oracles[caller].reads(place, document, path)
            })
        })
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
