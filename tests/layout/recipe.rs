//! `recipe_vectors.json`: pairs that the "Hierarchical Documents" recipe stores.

use std::collections::BTreeMap;

use phyllo::document::id::DocumentId;
use phyllo::key::{Family, hex};

use super::model::json::Json;
use super::{assembled, document_key, stored, unhex};

struct Vector {
    name: String,
    collection: String,
    id: DocumentId,
    json: String,
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

fn vectors() -> Vec<Vector> {
    let Json::Array(vectors) = Json::parse(include_str!("../recipe_vectors.json")) else {
        panic!("an array of vectors");
    };
    vectors.into_iter().map(vector).collect()
}

fn vector(vector: Json) -> Vector {
    let Json::Object(mut members) = vector else {
        panic!("a vector is an object");
    };
    let id = match members.remove("id") {
        Some(Json::String(text)) => DocumentId::Text(text),
        Some(Json::Integer(integer)) => {
            DocumentId::Integer(integer.try_into().expect("an id of 64 bits"))
        }
        other => panic!("no id: {other:?}"),
    };
    let Some(Json::Array(pairs)) = members.remove("pairs") else {
        panic!("a vector has pairs");
    };
    Vector {
        name: string(&mut members, "name"),
        collection: string(&mut members, "collection"),
        id,
        json: string(&mut members, "json"),
        pairs: pairs.into_iter().map(pair).collect(),
    }
}

fn pair(pair: Json) -> (Vec<u8>, Vec<u8>) {
    match pair {
        Json::Array(pair) => match &pair[..] {
            [Json::String(key), Json::String(value)] => (unhex(key), unhex(value)),
            other => panic!("no pair: {other:?}"),
        },
        other => panic!("no pair: {other:?}"),
    }
}

fn string(members: &mut BTreeMap<String, Json>, name: &str) -> String {
    match members.remove(name) {
        Some(Json::String(text)) => text,
        other => panic!("{name} is no string: {other:?}"),
    }
}

#[test]
fn the_recipe_stores_the_same_bytes() {
    let vectors = vectors();
    assert!(vectors.len() >= 20, "the vectors are there");
    for vector in vectors {
        let pairs = stored(&vector.collection, &vector.id, &vector.json).expect(&vector.name);
        let hexed = |pairs: &[(Vec<u8>, Vec<u8>)]| -> Vec<String> {
            let line = |(key, value): &(Vec<u8>, Vec<u8>)| hex(key) + " " + &hex(value);
            pairs.iter().map(line).collect()
        };
        for (ours, recipe) in hexed(&pairs).iter().zip(hexed(&vector.pairs)) {
            assert_eq!(*ours, recipe, "{}", vector.name);
        }
        assert_eq!(pairs.len(), vector.pairs.len(), "{}", vector.name);
    }
}

#[test]
fn pairs_of_the_recipe_are_read_as_the_same_document() {
    for vector in vectors() {
        let prefix = document_key(&vector.collection, &vector.id);
        let text = assembled(&prefix, &vector.pairs);
        let expected = Json::parse(&vector.json);
        assert_eq!(Json::parse(&text), expected, "{}", vector.name);
        assert_eq!(text, expected.text(), "{}", vector.name);
    }
}

#[test]
fn keys_of_the_recipe_have_the_collection_and_the_id() {
    for vector in vectors() {
        let (begin, end) = Family::documents(&vector.collection);
        for (key, _) in &vector.pairs {
            assert!(begin < *key && *key < end, "{}", vector.name);
            let found = Family::document_id(key, begin.len());
            let expected = document_key(&vector.collection, &vector.id).len();
            assert_eq!(found, Ok((vector.id.clone(), expected)), "{}", vector.name);
        }
    }
}
