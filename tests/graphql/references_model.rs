//! Random changes of documents that refer to each other, compared with a model in memory.
//!
//! The model applies an operation to a copy of all documents, does what the deletions do until nothing changes,
//! and then checks every reference of every document. The store must accept exactly the operations that leave the
//! model without a violation, and have the same documents after each.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

use super::sequences;
use super::support::{Client, NONE, client};
use super::types::set_type;
use crate::seed::test_seed;

cases!(async [random_changes_keep_references_as_their_types_say]);

const OPERATIONS: usize = 40;
const KEYS: [&str; 6] = ["a", "b", "c", "d", "7", "8"];
const ACTIONS: [&str; 3] = ["restrict", "nullify", "cascade"];

/// A member with references.
struct Member {
    collection: &'static str,
    name: &'static str,
    target: &'static str,
    /// Whether it is a list.
    is_list: bool,
    on_delete: &'static str,
    exists: bool,
    is_chain: bool,
}

type Documents = BTreeMap<(&'static str, &'static str), Map<String, Value>>;

struct Model {
    members: Vec<Member>,
    documents: Documents,
}

impl Model {
    fn new(random: &mut StdRng) -> Self {
        let mut member = |collection, name, target, is_list, is_chain| Member {
            collection,
            name,
            target,
            is_list,
            on_delete: ACTIONS.choose(random).expect("some"),
            exists: random.random_bool(0.7),
            is_chain,
        };
        let members = vec![
            member("categories", "parent", "categories", false, true),
            member("products", "category", "categories", false, false),
            member("products", "others", "products", true, false),
            member("notes", "about", "products", false, false),
            member("notes", "in", "categories", true, false),
        ];
        Self {
            members,
            documents: Documents::new(),
        }
    }

    fn schema(&self, collection: &str) -> Value {
        let mut properties = json!({"n": {"type": "integer"}});
        for member in self.members.iter().filter(|it| it.collection == collection) {
            let mut reference = json!({"collection": member.target, "as": format!("of_{}", member.name),
                "inverse": format!("{}_{}", collection, member.name), "onDelete": member.on_delete, "exists": member.exists});
            if member.is_chain {
                reference["chain"] = json!("ancestors");
            }
            let key = json!({"type": ["string", "null"], "x-reference": reference});
            properties[member.name] = if member.is_list {
                json!({"type": "array", "items": key})
            } else {
                key
            };
        }
        let title = format!(
            "{}{}",
            collection[..1].to_uppercase(),
            &collection[1..collection.len() - 1]
        );
        json!({"title": title, "type": "object", "properties": properties,
            "x-graphql": {"name": title, "plural": collection}})
    }

    /// A document with random references.
    fn document(&self, collection: &str, random: &mut StdRng) -> Map<String, Value> {
        let mut document = Map::new();
        document.insert("n".to_owned(), json!(random.random_range(0..9)));
        for member in self.members.iter().filter(|it| it.collection == collection) {
            let mut key = || match random.random_range(0..10) {
                0 => json!("nothing"),
                1..3 => json!(null),
                _ => json!(KEYS.choose(random).expect("some")),
            };
            let value = if member.is_list {
                (0..3).map(|_| key()).collect()
            } else {
                key()
            };
            if random.random_bool(0.6) {
                document.insert(member.name.to_owned(), value);
            }
        }
        document
    }

    /// Does what the deletion of documents does. Returns all that are deleted.
    fn act(
        &mut self,
        mut deleted: BTreeSet<(&'static str, &'static str)>,
    ) -> Vec<(String, String)> {
        loop {
            let mut further = Vec::new();
            for member in self.members.iter().filter(|it| it.on_delete != "restrict") {
                let is_gone = |value: &Value| {
                    let mut gone = deleted.iter();
                    gone.any(|(collection, key)| *collection == member.target && value == key)
                };
                for (of, document) in &mut self.documents {
                    let Some(value) = document
                        .get_mut(member.name)
                        .filter(|_| of.0 == member.collection)
                    else {
                        continue;
                    };
                    let values = match value {
                        Value::Array(values) => values.iter_mut().collect(),
                        value => vec![value],
                    };
                    for value in values {
                        if is_gone(value) && member.on_delete == "nullify" {
                            *value = json!(null);
                        } else if is_gone(value) {
                            further.push(*of);
                        }
                    }
                }
            }
            further.retain(|of| self.documents.remove(of).is_some());
            if further.is_empty() {
                let deleted = deleted.into_iter();
                return deleted
                    .map(|(of, key)| (of.to_owned(), key.to_owned()))
                    .collect();
            }
            deleted.extend(further);
        }
    }

    /// The keys in a member of a document.
    fn keys(document: &Map<String, Value>, member: &Member) -> Vec<String> {
        let values = match document.get(member.name) {
            Some(Value::Array(values)) => values.iter().collect(),
            Some(value) => vec![value],
            None => Vec::new(),
        };
        let keys = values.into_iter().filter_map(Value::as_str);
        keys.map(str::to_owned).collect()
    }

    /// The codes of the errors that the documents are. If there are several, the store reports one of them.
    fn violations(&self, deleted: &[(String, String)]) -> BTreeSet<&'static str> {
        let mut codes = BTreeSet::new();
        for member in &self.members {
            for ((collection, key), document) in &self.documents {
                if *collection != member.collection {
                    continue;
                }
                for to in Self::keys(document, member) {
                    let mut stored = self.documents.keys();
                    let exists = stored.any(|it| it.0 == member.target && it.1 == to);
                    let returns = member.is_chain && self.returns(key, &to, member);
                    if member.exists && !exists || returns {
                        codes.insert("TYPE_MISMATCH");
                    }
                    let is_deleted = deleted.contains(&(member.target.to_owned(), to));
                    if member.on_delete == "restrict" && is_deleted {
                        codes.insert("REFERENCE_VIOLATION");
                    }
                }
            }
        }
        codes
    }

    /// Whether a chain from a key leads to a document.
    fn returns(&self, document: &str, from: &str, member: &Member) -> bool {
        let mut at = Some(from.to_owned());
        for _ in 0..=self.documents.len() {
            let Some(key) = at else {
                return false;
            };
            if key == document {
                return true;
            }
            let mut documents = self.documents.iter();
            let next = documents.find(|(of, _)| of.0 == member.collection && of.1 == key);
            at = next.and_then(|(_, next)| Self::keys(next, member).pop());
        }
        false
    }

    fn of_collection(&self, collection: &str) -> Value {
        let documents = self.documents.iter().filter(|(of, _)| of.0 == collection);
        let documents = documents.map(|(of, document)| (of.1.to_owned(), json!(document)));
        Value::Object(documents.collect())
    }
}

const COLLECTIONS: [&str; 3] = ["categories", "products", "notes"];

/// Makes a random operation, in the store and in the model.
async fn operate(client: &Client, model: &mut Model, random: &mut StdRng) {
    let before = model.documents.clone();
    let (mut writes, mut deleted) = (Vec::new(), BTreeSet::new());
    for _ in 0..random.random_range(1..5) {
        let collection = *COLLECTIONS.choose(random).expect("some");
        let key = *KEYS.choose(random).expect("some");
        let of = (collection, key);
        match random.random_range(0..10) {
            0..4 => {
                writes.push(json!({"delete": {"collection": collection, "id": key}}));
                if model.documents.remove(&of).is_some() {
                    deleted.insert(of);
                }
            }
            4..6 if model.documents.contains_key(&of) => {
                let patch = model.document(collection, random);
                writes
                    .push(json!({"merge": {"collection": collection, "id": key, "patch": patch}}));
                let document = model.documents.get_mut(&of).expect("it is stored");
                for (name, value) in patch {
                    if value.is_null() {
                        document.remove(&name);
                    } else {
                        document.insert(name, value);
                    }
                }
            }
            _ => {
                let document = model.document(collection, random);
                writes.push(
                    json!({"replace": {"collection": collection, "id": key, "document": document}}),
                );
                model.documents.insert(of, document);
            }
        }
    }
    deleted.retain(|of| !model.documents.contains_key(of));
    let deleted = model.act(deleted);
    let expected = model.violations(&deleted);
    let query = "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
    let response = client.ask(query, json!({"w": writes})).await;
    let code = response["errors"][0]["extensions"]["code"].as_str();
    let is_expected = match code {
        Some(code) => expected.contains(code),
        None => expected.is_empty(),
    };
    assert!(
        is_expected,
        "{expected:?}: {writes:?} on {before:?}: {response}"
    );
    if code.is_some() {
        model.documents = before;
    }
}

async fn assert_same(client: &Client, model: &Model) {
    for collection in COLLECTIONS {
        let query =
            "query($c: String) { documents(collection: $c, first: 1000) { nodes { key value } } }";
        let data = client.data(query, json!({"c": collection})).await;
        let nodes = data["documents"]["nodes"].as_array().expect("a list");
        let nodes = nodes.iter().map(|node| {
            let key = node["key"].as_str().expect("a key").to_owned();
            (key, node["value"].clone())
        });
        assert_eq!(
            Value::Object(nodes.collect()),
            model.of_collection(collection)
        );
    }
}

/// Compares what the fields of references return with the model.
async fn assert_fields(client: &Client, model: &Model) {
    for member in &model.members {
        let Member {
            collection,
            name,
            target,
            ..
        } = member;
        let query = format!(
            "{{ from: {collection}(first: 1000) {{ nodes {{ key of_{name} {{ key }} }} }}
            to: {target}(first: 1000) {{ nodes {{ key {collection}_{name}(first: 1000) {{ totalCount nodes {{ key }} }} }} }} }}"
        );
        let data = client.data(&query, NONE).await;
        let node = |key: &str| {
            let mut stored = model.documents.keys();
            let exists = stored.any(|of| of.0 == *target && of.1 == key);
            if exists {
                json!({"key": key})
            } else {
                json!(null)
            }
        };
        for found in data["from"]["nodes"].as_array().expect("a list") {
            let key = found["key"].as_str().expect("a key");
            let mut documents = model.documents.iter();
            let (_, document) = documents
                .find(|(of, _)| of.0 == *collection && of.1 == key)
                .expect("it is stored");
            let follow = |value: &Value| value.as_str().map_or(json!(null), node);
            let expected = match document.get(*name) {
                Some(Value::Array(values)) => values.iter().map(follow).collect(),
                Some(value) => follow(value),
                None => json!(null),
            };
            assert_eq!(
                found[format!("of_{name}")],
                expected,
                "{name} of {document:?}"
            );
        }
        for found in data["to"]["nodes"].as_array().expect("a list") {
            let key = found["key"].as_str().expect("a key");
            let referring = model.documents.iter().filter(|(of, document)| {
                of.0 == *collection && Model::keys(document, member).iter().any(|to| to == key)
            });
            let mut expected: Vec<&str> = referring.map(|(of, _)| of.1).collect();
            expected.sort_by_key(|key| (key.parse::<i64>().is_ok(), *key));
            let page = &found[format!("{collection}_{name}")];
            let nodes = page["nodes"].as_array().expect("a list").iter();
            let nodes: Vec<&str> = nodes
                .map(|node| node["key"].as_str().expect("a key"))
                .collect();
            assert_eq!(nodes, expected, "{collection}.{name} to {key}");
            assert_eq!(page["totalCount"], expected.len());
        }
    }
}

async fn random_changes_keep_references_as_their_types_say() {
    let seed = test_seed();
    for sequence in 0..sequences().div_ceil(10) {
        let mut random = StdRng::seed_from_u64(seed.wrapping_add(u64::from(sequence)));
        let client = client().await;
        let mut model = Model::new(&mut random);
        for collection in COLLECTIONS {
            set_type(&client, collection, &model.schema(collection)).await;
        }
        for at in 0..OPERATIONS {
            operate(&client, &mut model, &mut random).await;
            assert_same(&client, &model).await;
            match at % 10 {
                3 => assert_fields(&client, &model).await,
                // Without an index, and while it is built.
                5 => {
                    let fields = r#"dropIndex(collection: "products", name: "reference_category")
                        x: dropIndex(collection: "notes", name: "reference_in")"#;
                    client.mutate(fields).await;
                }
                7 => {
                    for collection in COLLECTIONS {
                        set_type(&client, collection, &model.schema(collection)).await;
                    }
                }
                9 => client.build().await,
                _ => {}
            }
        }
        assert_fields(&client, &model).await;
    }
}
