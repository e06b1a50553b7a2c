//! Documents that refer to each other, at their maxima, for hostile requests.
//!
//! | collection | documents | references |
//! |---|---|---|
//! | `categories` | `chain0` to `chain99`, each below the one before; `hub`; `leaf0`, … below it | `parent`: exists, cascade, a chain |
//! | `parts` | `p0`, …, most of which refer to `hub`; each of the first refers to all of these | `of`: exists, nullify; `in`: a list |
//! | `guards` | one for each of the first `chain` categories | `of`: restrict; `also`: a list, exists |
//! | `ring` | without a type: each has the key of the next one | |

use serde_json::{Value, json};

use super::client::{Client, body, post};

/// Categories that are below each other: the most that a chain has.
pub(crate) const CHAIN: usize = 100;
/// Categories directly below `hub`.
pub(crate) const LEAVES: usize = 1_000;
/// Documents of `parts`.
pub(crate) const PARTS: usize = 4_000;
/// Documents of `parts` that refer to each other.
pub(crate) const DENSE: usize = 100;
/// Documents of `guards`.
pub(crate) const GUARDS: usize = 20;
/// Documents of `ring`.
pub(crate) const RING: usize = 300;
/// The documents that one request stores.
const STORED_AT_ONCE: usize = 500;

/// The schemas of the collections.
pub(crate) fn schemas() -> [(&'static str, Value); 3] {
    let number = json!({"type": "integer", "minimum": 0, "maximum": 1_000_000});
    let key = |reference: Value| json!({"type": ["string", "null"], "x-reference": reference});
    let of = |on_delete: &str, inverse: &str| {
        key(
            json!({"collection": "categories", "as": "category", "inverse": inverse, "exists": on_delete != "restrict",
            "onDelete": on_delete}),
        )
    };
    let parent = json!({"collection": "categories", "as": "above", "inverse": "below", "chain": "ancestors",
        "exists": true, "onDelete": "cascade"});
    let inside = json!({"collection": "parts", "as": "inParts", "inverse": "contains"});
    let also = json!({"collection": "categories", "as": "alsoOf", "exists": true});
    let object = |title: &str, properties: Value| json!({"title": title, "type": "object", "properties": properties});
    [
        (
            "categories",
            object(
                "Category",
                json!({"name": {"type": "string"}, "rank": number, "parent": key(parent)}),
            ),
        ),
        (
            "parts",
            object(
                "Part",
                json!({"n": number, "of": of("nullify", "parts"), "in": {"type": "array", "items": key(inside)}}),
            ),
        ),
        (
            "guards",
            object(
                "Guard",
                json!({"n": number, "of": of("restrict", "guards"), "also": {"type": "array", "items": key(also)}}),
            ),
        ),
    ]
}

/// A category that is stored.
pub(crate) fn category(key: &str) -> Value {
    let number = |prefix: &str| {
        let digits = key.strip_prefix(prefix);
        digits.and_then(|digits| digits.parse::<usize>().ok())
    };
    let (parent, rank) = match (number("chain"), number("leaf")) {
        (Some(0), _) => (None, 0),
        (Some(at), _) => (Some(format!("chain{}", at - 1)), at),
        (_, Some(at)) => (Some("hub".to_owned()), at),
        _ => (None, 0),
    };
    json!({"name": key.to_uppercase(), "rank": rank, "parent": parent})
}

/// A part that is stored.
pub(crate) fn part(at: usize) -> Value {
    let of = match at {
        ..DENSE => format!("chain{at}"),
        _ => "hub".to_owned(),
    };
    let inside: Vec<String> = match at {
        ..DENSE => (0..DENSE).map(|to| format!("p{to}")).collect(),
        _ => vec![format!("p{}", at % DENSE), "nothing".to_owned()],
    };
    json!({"n": at, "of": of, "in": inside})
}

/// The keys of all categories, each behind the one above it.
pub(crate) fn categories() -> Vec<String> {
    let chain = (0..CHAIN).map(|at| format!("chain{at}"));
    let leaves = (0..LEAVES).map(|at| format!("leaf{at}"));
    chain.chain(["hub".to_owned()]).chain(leaves).collect()
}

/// A list for `writeDocuments` that stores documents.
pub(crate) fn stored(
    collection: &str,
    documents: impl IntoIterator<Item = (String, Value)>,
) -> Vec<Value> {
    let documents = documents.into_iter();
    let writes = documents.map(|(id, document)| {
        json!({"replace": {"collection": collection, "id": id, "document": document}})
    });
    writes.collect()
}

/// Stores the documents and sets the types.
pub(crate) fn store_referring(client: &mut Client) {
    for (collection, schema) in schemas() {
        set_type(client, collection, &schema);
    }
    let categories = categories();
    let categories = categories.into_iter().map(|key| {
        let category = category(&key);
        (key, category)
    });
    let parts = (0..PARTS).map(|at| (format!("p{at}"), part(at)));
    let guards = (0..GUARDS).map(|at| {
        (
            format!("g{at}"),
            json!({"n": at, "of": format!("chain{at}")}),
        )
    });
    let ring = (0..RING).map(|at| {
        let next = format!("r{}", (at + 1) % RING);
        (
            format!("r{at}"),
            json!({"next": next, "text": "x".repeat(at)}),
        )
    });
    let mut writes = stored("categories", categories);
    writes.extend(stored("parts", parts));
    writes.extend(stored("guards", guards));
    writes.extend(stored("ring", ring));
    write(client, &writes);
}

/// Executes the elements of a list for `writeDocuments`.
pub(crate) fn write(client: &mut Client, writes: &[Value]) {
    for writes in writes.chunks(STORED_AT_ONCE) {
        let query =
            "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
        let request = post(&body(query, &json!({"w": writes}).to_string()));
        let answer = client.send(&request).expect("it answers");
        assert!(answer.is_data(), "{:.1000}", answer.text());
    }
}

/// Sets the type of a collection.
pub(crate) fn set_type(client: &mut Client, collection: &str, schema: &Value) {
    let query = "mutation($c: String!, $s: JSON!) { setCollectionType(collection: $c, schema: $s) { state } }";
    client.data(query, &json!({"c": collection, "s": schema}));
}
