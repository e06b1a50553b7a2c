//! Documents of a collection with a type, at their maxima, for hostile requests: long lists, maps with many
//! entries, and lists, maps and objects inside each other.

use serde_json::{Value, json};

use super::client::Client;
use super::referring::set_type;
use super::world::{list, numbers, store};

/// Documents of `items`.
pub(crate) const ITEMS: usize = 4;
/// Elements of `numbers`.
pub(crate) const NUMBERS: usize = 20_000;
/// Elements of `rows`, and entries of `names`.
pub(crate) const ROWS: usize = 3_000;
/// Entries of each map of `tree`.
pub(crate) const BRANCHES: usize = 12;
/// Maps inside each other in `tree`.
const TREE_LEVELS: usize = 3;
/// Elements of each list of `cube`, which has three lists inside each other: the most that are a type.
pub(crate) const CUBE: usize = 25;
/// Objects inside each other in `deep`.
pub(crate) const DEEP_LEVELS: usize = 60;

fn schema() -> Value {
    let number = json!({"type": "integer", "minimum": 0, "maximum": 1_000_000});
    let numbers = json!({"type": "array", "items": number});
    json!({
        "title": "Item",
        "type": "object",
        "properties": {
            "n": number,
            "s": {"type": "string"},
            "kind": {"enum": ["A", "B"]},
            "numbers": numbers,
            "rows": {"type": "array", "items": {"type": "object", "properties": {
                "a": number,
                "m": {"type": "object", "properties": {"x": number, "y": numbers}}
            }}},
            "names": {"type": "object", "additionalProperties": {
                "type": "object", "properties": {"a": number}}},
            "tree": {"$ref": "#/$defs/tree"},
            "cube": {"type": "array", "items": {"type": "array", "items": numbers}},
            "deep": {"$ref": "#/$defs/deep"}
        },
        "$defs": {
            "tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}},
            "deep": {"type": "object", "properties": {
                "n": number,
                "next": {"$ref": "#/$defs/deep"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/deep"}}
            }}
        }
    })
}

fn tree(levels: usize) -> String {
    let branches = (0..BRANCHES).map(|at| match levels {
        0 => format!("\"b{at}\":{{}}"),
        _ => format!("\"b{at}\":{}", tree(levels - 1)),
    });
    let branches: Vec<String> = branches.collect();
    format!("{{{}}}", branches.join(","))
}

fn deep() -> String {
    (0..DEEP_LEVELS).fold("{\"n\":0}".to_owned(), |next, level| {
        let elements = list(20, |at| format!("{{\"n\":{at}}}"));
        format!("{{\"n\":{level},\"next\":{next},\"list\":{elements}}}")
    })
}

/// Stores `items`, and gives the collection a type.
pub(super) fn store_items(client: &mut Client) {
    set_type(client, "items", &schema());
    for at in 0..ITEMS {
        let names: Vec<String> = (0..ROWS)
            .map(|at| format!("\"n{at}\":{{\"a\":{at}}}"))
            .collect();
        let rows = list(ROWS, |at| {
            format!("{{\"a\":{at},\"m\":{{\"x\":{at},\"y\":[1]}}}}")
        });
        let cube = list(CUBE, |_| list(CUBE, |_| numbers(CUBE)));
        let document = format!(
            "{{\"n\":{at},\"s\":\"s{at}\",\"kind\":\"A\",\"numbers\":{},\"rows\":{rows},\"names\":{{{}}},\
             \"tree\":{},\"cube\":{cube},\"deep\":{}}}",
            numbers(NUMBERS),
            names.join(","),
            tree(TREE_LEVELS - 1),
            deep(),
        );
        store(client, "items", &at.to_string(), &document);
    }
}
