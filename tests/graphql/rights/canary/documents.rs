//! Documents of which every leaf is a unique canary.

use std::ops::Range;

use phyllo::rights::Principal;
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Map, Value, json};

use super::oracle::{Caller, Documents};
use super::{Client, NONE};

pub(super) async fn store(client: &Client, documents: &Documents) {
    for ((collection, id), document) in documents {
        let variables = json!({"c": collection, "i": id, "d": document});
        let query = "mutation($c: String!, $i: ID, $d: JSON) { insertDocument(collection: $c, id: $i, document: $d) { key } }";
        client.data(query, variables).await;
    }
}

/// All documents of a store.
pub(super) async fn dump(client: &Client) -> Documents {
    let mut documents = Documents::new();
    let data = client
        .data(
            r#"{ c: documents(collection: "c", first: 100) { nodes { key value } }
                 d: documents(collection: "d", first: 100) { nodes { key value } } }"#,
            NONE,
        )
        .await;
    for collection in ["c", "d"] {
        for node in data[collection]["nodes"].as_array().expect("nodes") {
            let key = node["key"].as_str().expect("a key").to_owned();
            documents.insert((collection.to_owned(), key), node["value"].clone());
        }
    }
    documents
}

/// The numbers of canaries. They have nine digits.
const CANARIES: Range<u64> = 700_000_000..800_000_000;

/// A canary: a text or a number.
pub(super) fn new_canary(random: &mut StdRng, next: &mut u64) -> Value {
    *next += 1;
    let number = CANARIES.start + *next;
    if random.random_bool(0.5) {
        json!(number)
    } else {
        json!(format!("canary{number}"))
    }
}

/// The number of a canary.
pub(super) fn canary(value: &Value) -> Option<u64> {
    let number = match value {
        Value::String(text) => text.strip_prefix("canary")?.parse().ok()?,
        other => other.as_u64()?,
    };
    CANARIES.contains(&number).then_some(number)
}

/// The numbers of the canaries in a text.
pub(super) fn canaries(text: &str) -> Vec<u64> {
    let numbers = text.as_bytes().split(|byte| !byte.is_ascii_digit());
    let numbers = numbers.filter(|digits| digits.len() == 9);
    let numbers = numbers.filter_map(|digits| str::from_utf8(digits).ok()?.parse().ok());
    numbers.filter(|number| CANARIES.contains(number)).collect()
}

/// The keys of the documents of each collection.
pub(super) const KEYS: [&str; 4] = ["a", "b", "7", "e"];

/// The documents of the collections `c` and `d`.
pub(super) fn random_documents(random: &mut StdRng, next: &mut u64) -> Documents {
    let mut documents = Documents::new();
    for collection in ["c", "d"] {
        for id in KEYS {
            if random.random_bool(0.9) {
                let document = random_document(random, next);
                documents.insert((collection.to_owned(), id.to_owned()), document);
            }
        }
    }
    documents
}

pub(super) fn random_document(random: &mut StdRng, next: &mut u64) -> Value {
    let mut document = Map::new();
    document.insert("s".to_owned(), json!(["p", "q"].choose(random)));
    document.insert("o".to_owned(), json!(["a", "b"].choose(random)));
    for name in ["a", "b", "c"] {
        if random.random_bool(0.8) {
            document.insert(name.to_owned(), random_value(random, next, 3));
        }
    }
    Value::Object(document)
}

pub(super) fn random_value(random: &mut StdRng, next: &mut u64, levels: usize) -> Value {
    match random.random_range(0..4) {
        0 if levels > 0 => {
            let elements = random.random_range(0..4);
            (0..elements)
                .map(|_| random_value(random, next, levels - 1))
                .collect()
        }
        1 | 2 if levels > 0 => {
            let names = ["a", "b", "0"].into_iter();
            let names: Vec<&str> = names.filter(|_| random.random_bool(0.75)).collect();
            let members = names
                .into_iter()
                .map(|name| (name.to_owned(), random_value(random, next, levels - 1)));
            Value::Object(members.collect())
        }
        _ => new_canary(random, next),
    }
}

impl Caller {
    pub(super) fn principal(&self) -> Principal {
        match self {
            Self::Anonymous => Principal::Anonymous,
            Self::User { sub, team, scope } => {
                super::user(json!({"sub": sub, "team": team, "scope": scope}))
            }
        }
    }
}
