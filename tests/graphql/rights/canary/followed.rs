//! What subscribers follow, and what they may see of each change.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Value, json};

use super::super::super::replica::Responses;
use super::Client;
use super::documents::KEYS;
use super::oracle::{Oracle, Step};
use super::requests::Focus;

/// A place in a document, or in all documents of a collection.
#[derive(Clone, Debug)]
pub(super) struct FollowedPlace {
    pub(super) collection: String,
    pub(super) id: Option<String>,
    pub(super) path: Vec<Step>,
}

impl FollowedPlace {
    /// A place in a document, at or near the place of a rule.
    pub(super) fn random(focus: Focus, random: &mut StdRng) -> Self {
        let one = |choices: &[&str], random: &mut StdRng| {
            (*choices.choose(random).expect("some")).to_owned()
        };
        let Focus {
            collection,
            id,
            path,
        } = focus;
        // A claim that the caller does not have names no collection.
        let collection = collection.filter(|name| ["c", "d"].contains(&&**name));
        let collection = collection.unwrap_or_else(|| one(&["c", "d"], random));
        let id = id.unwrap_or_else(|| one(&KEYS, random));
        let below = if random.random_bool(0.2) {
            one(&["/a", "/b", "/0", "/7"], random)
        } else {
            String::new()
        };
        let path = format!("{path}{below}");
        let step = |name: &str, random: &mut StdRng| match name.parse() {
            Ok(index) if random.random_bool(0.5) => Step::Index(index),
            _ => Step::Name(name.to_owned()),
        };
        Self {
            collection,
            id: Some(id),
            path: path
                .split('/')
                .skip(1)
                .map(|name| step(name, random))
                .collect(),
        }
    }

    /// All documents of the same collection.
    pub(super) fn of_collection(&self) -> Self {
        Self {
            collection: self.collection.clone(),
            id: None,
            path: Vec::new(),
        }
    }

    /// The arguments that name the place.
    pub(super) fn arguments(&self) -> String {
        let id = match &self.id {
            Some(id) => format!(r#", id: "{id}""#),
            None => String::new(),
        };
        let (collection, path) = (&self.collection, self.path_text());
        format!(r#"collection: "{collection}"{id}, path: {path}"#)
    }

    /// The path as a list, in which each step has one meaning.
    pub(super) fn path_text(&self) -> String {
        let step = |step: &Step| match step {
            Step::Name(name) => json!(name),
            Step::Index(index) => json!(index),
        };
        Value::Array(self.path.iter().map(step).collect()).to_string()
    }

    /// Whether the rules allow to follow the changes of the place.
    pub(super) fn may_follow(&self, oracle: &Oracle) -> bool {
        let always = |action, path: &[Step]| {
            let cover = oracle.cover(action, &self.collection, self.id.as_deref(), path);
            cover.is_always()
        };
        always("read", &self.path) && (self.id.is_some() || always("list", &[]))
    }

    /// What a subscriber who may follow the place is told of a change. None if it is elsewhere.
    pub(super) fn told(&self, change: &LoggedChange, oracle: &Oracle) -> Option<Value> {
        let is_of_document = match (&self.id, &change.key) {
            (Some(id), Some(key)) => id == key,
            _ => true,
        };
        let is_related = |path: &Vec<Step>| path.starts_with(&self.path) || self.is_below(path);
        if !is_of_document || (change.key.is_some() && !change.paths.iter().any(is_related)) {
            return None;
        }
        let sees_all = oracle.cover("read", &self.collection, self.id.as_deref(), &[]);
        if sees_all.is_always() {
            return Some(change.json.clone());
        }
        let is_above = change.key.is_none()
            || change
                .paths
                .iter()
                .any(|path| path.len() < self.path.len() && self.is_below(path));
        let mut paths: Vec<Value> = Vec::new();
        let own: Value = serde_json::from_str(&self.path_text()).expect("JSON");
        if change.key.is_none() {
            paths.push(own.clone());
        }
        for (path, json) in change.paths.iter().zip(change.json["paths"].as_array()?) {
            let seen = if path.starts_with(&self.path) {
                json.clone()
            } else if self.is_below(path) {
                own.clone()
            } else {
                continue;
            };
            if !paths.contains(&seen) {
                paths.push(seen);
            }
        }
        let patch = match &change.json["patch"] {
            Value::Array(operations) if !is_above => {
                let is_seen = |operation: &&Value| {
                    let path = operation["path"].as_str().expect("a path");
                    format!("{path}/").starts_with(&format!("{}/", self.pointer()))
                };
                Value::Array(operations.iter().filter(is_seen).cloned().collect())
            }
            _ => Value::Null,
        };
        let resync = is_above || change.json["resync"] == json!(true);
        Some(json!({
            "kind": "UPDATED", "key": self.id, "paths": paths, "patch": patch, "resync": resync,
        }))
    }

    /// Whether the place is at or below a path.
    fn is_below(&self, path: &[Step]) -> bool {
        self.path.starts_with(path)
    }

    fn pointer(&self) -> String {
        let step = |step: &Step| match step {
            Step::Name(name) => format!("/{name}"),
            Step::Index(index) => format!("/{index}"),
        };
        self.path.iter().map(step).collect()
    }
}

/// A change as somebody without rules sees it.
pub(super) struct LoggedChange {
    key: Option<String>,
    paths: Vec<Vec<Step>>,
    json: Value,
}

/// All changes of a collection.
pub(super) struct ChangeLog {
    pub(super) changes: Vec<LoggedChange>,
    responses: Responses,
}

impl ChangeLog {
    pub(super) async fn new(all: &Client, collection: &str) -> Self {
        let query = format!(
            r#"subscription {{ changes(collection: "{collection}") {{ kind key paths patch resync version }} }}"#
        );
        Self {
            changes: Vec::new(),
            responses: all.subscribe(&query).await,
        }
    }

    /// Reads the changes up to the one with this version.
    pub(super) async fn read_to(&mut self, version: &Value) {
        loop {
            let mut response = self.responses.next().await;
            let mut json = response["data"]["changes"].take();
            let members = json.as_object_mut().expect("a change");
            let found = members.remove("version").expect("a version");
            let path = |path: &Value| {
                let step = |step: &Value| match step {
                    Value::String(name) => Step::Name(name.clone()),
                    index => {
                        let index = index.as_u64().map(usize::try_from);
                        Step::Index(index.expect("an integer").expect("an index"))
                    }
                };
                path.as_array().expect("a list").iter().map(step).collect()
            };
            self.changes.push(LoggedChange {
                key: json["key"].as_str().map(str::to_owned),
                paths: json["paths"]
                    .as_array()
                    .expect("paths")
                    .iter()
                    .map(path)
                    .collect(),
                json,
            });
            if found == *version {
                return;
            }
        }
    }
}
