//! Checks after the hostile requests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::client::Client;
use super::world::{MARKS, SMALL};

/// The operations counted by one client's document of `ledger`.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) committed: usize,
    /// Mutations without a response, which may have been committed.
    pub(crate) unanswered: usize,
}

/// The number of index values to look up.
const LOOKED_FOR: usize = 20;

/// Checks the acknowledged operations, and compares queries with and without indexes. Returns the
/// violations.
pub(crate) fn check_answers(client: &mut Client, ledgers: &[&Ledger]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, ledger) in ledgers.iter().enumerate() {
        let query = format!(
            "{{ document(collection: \"ledger\", id: \"c{number}\") {{ value(path: \"/n\") }} }}"
        );
        let data = client.data(&query, &json!({}));
        let found = data["document"]["value"].as_u64().expect("a number");
        let found = usize::try_from(found).expect("a small one");
        let most = ledger.committed + ledger.unanswered;
        if found < ledger.committed || found > most {
            wrong.push(format!(
                "client {number} had {} mutations acknowledged and {} unanswered: {found} committed",
                ledger.committed, ledger.unanswered
            ));
        }
    }
    for number in 0..LOOKED_FOR {
        let tag = json!(format!("t{number}"));
        for (path, value) in [
            ("$.n", json!(number)),
            ("$.u", json!(number * 7)),
            ("$.tags[*]", tag),
        ] {
            wrong.extend(check_value(client, path, &value));
        }
    }
    for number in 0..MARKS {
        wrong.extend(check_mark(client, number));
    }
    wrong.extend(check_references(client));
    wrong
}

/// Checks that every reference with `exists` leads to a document, and that no chain is a circle.
fn check_references(client: &mut Client) -> Vec<String> {
    let query = "{ parts(first: 10000) { nodes { key to: of leadsTo: category { key } } }
        categories(first: 10000) { nodes { key to: parent leadsTo: above { key } } } }";
    let data = client.data(query, &json!({}));
    let (mut wrong, mut above) = (Vec::new(), BTreeMap::new());
    for collection in ["parts", "categories"] {
        let nodes = data[collection]["nodes"].as_array().expect("a list");
        println!("{} documents of {collection} remain", nodes.len());
        for node in nodes {
            if node["to"] != node["leadsTo"]["key"] {
                wrong.push(format!("{collection}: a reference to nothing: {node}"));
            }
            if let (Some(key), Some(to)) = (node["key"].as_str(), node["to"].as_str())
                && collection == "categories"
            {
                above.insert(key, to);
            }
        }
    }
    for first in above.keys() {
        let mut passed = BTreeSet::new();
        let mut at = Some(first);
        while let Some(key) = at.filter(|key| passed.insert(**key)) {
            at = above.get(key);
        }
        if at.is_some() {
            wrong.push(format!("the chain of the category {first} is a circle"));
        }
    }
    wrong
}

/// Looks up a value of `small` with its index and without.
fn check_value(client: &mut Client, path: &str, value: &Value) -> Option<String> {
    let test = json!({"at": path, "eq": value});
    let (index, by_index) = found(client, "small", &test);
    // No index supports the second filter.
    let either = json!({"any": [test, {"at": "$.never.ever", "eq": 1}]});
    let (scan, by_scan) = found(client, "small", &either);
    let wrong = index.is_null() || !scan.is_null() || by_index != by_scan;
    wrong.then(|| {
        format!("{path} = {value}: {by_index:?} by the index {index}, {by_scan:?} by {scan}")
    })
}

/// Looks up the last element of a large array with the index, and reads it in the document.
fn check_mark(client: &mut Client, number: usize) -> Option<String> {
    let mark = format!("mark-{number}");
    let (index, ids) = found(client, "marks", &json!({"at": "$.items[*]", "eq": mark}));
    let query = format!(
        "{{ document(collection: \"marks\", id: \"{mark}\", path: \"/items\") {{ \
         select(query: \"$[-1]\") {{ value }} }} }}"
    );
    let data = client.data(&query, &json!({}));
    let last = &data["document"]["select"][0]["value"];
    let right = index == "items" && ids == BTreeSet::from([mark.clone()]) && *last == mark;
    (!right).then(|| format!("{mark}: {ids:?} by the index {index}; the last element is {last}"))
}

/// The index that was used, and the ids that were found.
fn found(client: &mut Client, collection: &str, filter: &Value) -> (Value, BTreeSet<String>) {
    let query = format!(
        "query($w: DocumentFilter) {{ documents(collection: \"{collection}\", where: $w, first: {SMALL}, \
         scanLimit: 100000) {{ nodes {{ key }} plan {{ index }} }} }}"
    );
    let data = client.data(&query, &json!({"w": filter}));
    let nodes = data["documents"]["nodes"].as_array().expect("a list");
    let ids = nodes.iter().filter_map(|node| node["key"].as_str());
    let ids = ids.map(str::to_owned).collect();
    (data["documents"]["plan"]["index"].clone(), ids)
}
