//! Which values of a plain JSON document a path selects, whether it passes a filter, whether a set has
//! its key, and the order of values and of documents.

use std::cmp::Ordering;

use phyllo::document::id::DocumentId;
use phyllo::key::{IndexValue, Leaves};
use serde_json::{Value, json};

/// What one of the paths of the random queries selects.
pub(crate) fn select<'v>(path: &str, document: &'v Value) -> Vec<&'v Value> {
    let each = |value: Option<&'v Value>| match value {
        Some(Value::Array(elements)) => elements.iter().collect(),
        Some(Value::Object(members)) => members.values().collect(),
        _ => Vec::new(),
    };
    match path {
        "$" => vec![document],
        "$.a" => document.get("a").into_iter().collect(),
        "$.b" | "$['b']" => document.get("b").into_iter().collect(),
        "$.list[*]" => each(document.get("list")),
        "$.list[0]" => document.pointer("/list/0").into_iter().collect(),
        "$.o.x" => document.pointer("/o/x").into_iter().collect(),
        "$.o[*]" => each(document.get("o")),
        "$.o" => document.get("o").into_iter().collect(),
        "$.o.y" => document.pointer("/o/y").into_iter().collect(),
        "$.list.k" => document.pointer("/list/k").into_iter().collect(),
        "$.list[?@ > 1]" => {
            let mut found = each(document.get("list"));
            found.retain(|value| within(value, &json!(1)) == Some(Ordering::Greater));
            found
        }
        other => panic!("no path of these: {other}"),
    }
}

fn number(value: &Value) -> f64 {
    value.to_string().parse().expect("a number of few digits")
}

/// The order of two values of one type; all numbers in use but one are exact as binary64.
fn within(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Number(_), Value::Number(_)) => number(a).partial_cmp(&number(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let in_b =
                |(name, value): (&String, &Value)| b.get(name).is_some_and(|b| equal(value, b));
            a.len() == b.len() && a.iter().all(in_b)
        }
        _ => within(a, b) == Some(Ordering::Equal),
    }
}

/// The order of all values; of containers that of the indexes, which is no other's business.
pub(crate) fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) | Value::Object(_) => 4,
    };
    let digest = |value: &Value| {
        let leaves = Leaves::from_json(&value.to_string()).expect("JSON");
        IndexValue::of_leaves(&leaves).expect("short")
    };
    rank(a).cmp(&rank(b)).then_with(|| match within(a, b) {
        Some(order) => order,
        None => digest(a).cmp(&digest(b)),
    })
}

/// Whether a document passes a filter, which is given as JSON.
pub(crate) fn holds(filter: &Value, document: &Value) -> bool {
    let members = filter.as_object().expect("a filter");
    let path = members
        .get("at")
        .map_or("$", |at| at.as_str().expect("a path"));
    let tests = members
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "at" | "all" | "any" | "not" | "exists"));
    let tests: Vec<_> = tests.collect();
    let selected = select(path, document);
    let passed = match members.get("exists") {
        Some(Value::Bool(false)) => selected.is_empty(),
        exists => {
            (exists.is_none() && tests.is_empty())
                || selected.iter().any(|value| {
                    tests
                        .iter()
                        .all(|(test, operand)| passes(test, operand, value))
                })
        }
    };
    let list = |name: &str| members.get(name).and_then(Value::as_array);
    passed
        && list("all").is_none_or(|all| all.iter().all(|filter| holds(filter, document)))
        && list("any").is_none_or(|any| any.iter().any(|filter| holds(filter, document)))
        && members.get("not").is_none_or(|not| !holds(not, document))
}

fn passes(test: &str, operand: &Value, value: &Value) -> bool {
    let order = within(value, operand);
    match test {
        "eq" => equal(value, operand),
        "ne" => !equal(value, operand),
        "lt" => order == Some(Ordering::Less),
        "lte" => order.is_some_and(Ordering::is_le),
        "gt" => order == Some(Ordering::Greater),
        "gte" => order.is_some_and(Ordering::is_ge),
        "in" => operand
            .as_array()
            .is_some_and(|all| all.iter().any(|one| equal(value, one))),
        "startsWith" => match (value, operand) {
            (Value::String(text), Value::String(beginning)) => text.starts_with(beginning),
            _ => false,
        },
        "contains" => match (value, operand) {
            (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
            _ => false,
        },
        other => panic!("no test: {other}"),
    }
}

/// Whether a set of keys, which is given as JSON, has a key.
pub(crate) fn has_key(keys: &Value, key: &DocumentId) -> bool {
    let Some(tests) = keys.as_object() else {
        return true;
    };
    let parsed = |text: &Value| DocumentId::parse(text.as_str().expect("a key")).expect("a key");
    tests.iter().all(|(test, bound)| match &test[..] {
        "gt" => *key > parsed(bound),
        "gte" => *key >= parsed(bound),
        "lt" => *key < parsed(bound),
        "lte" => *key <= parsed(bound),
        "in" => {
            let mut listed = bound.as_array().expect("a list").iter();
            listed.any(|one| *key == parsed(one))
        }
        "prefix" => {
            let prefix = match bound.as_str() {
                Some("") => String::new(),
                _ => match parsed(bound) {
                    DocumentId::Text(prefix) => prefix,
                    other => panic!("no prefix: {other}"),
                },
            };
            matches!(key, DocumentId::Text(text) if text.starts_with(&prefix))
        }
        other => panic!("no test: {other}"),
    })
}

/// The orders of a list, or of a single one, or of none: the path, none for the key, and whether it
/// descends.
fn orders(by: &Value) -> Vec<(Option<&str>, bool)> {
    let list = match by {
        Value::Null => &[],
        Value::Array(list) => &list[..],
        single => std::slice::from_ref(single),
    };
    let order = |order: &'_ Value| order["descending"] == json!(true);
    list.iter()
        .map(|one| (one["by"].as_str(), order(one)))
        .collect()
}

/// The values by which a document is ordered. None if one of them is missing.
pub(crate) fn values_of_order<'v>(by: &Value, document: &'v Value) -> Option<Vec<&'v Value>> {
    let orders = orders(by).into_iter();
    let paths = orders.filter_map(|(path, descending)| Some((path?, descending)));
    let values = paths.map(|(path, descending)| {
        let values = select(path, document).into_iter();
        if descending {
            values.max_by(|a, b| order(a, b))
        } else {
            values.min_by(|a, b| order(a, b))
        }
    });
    values.collect()
}

/// The order of two documents, by the values of an order and then by key.
pub(crate) fn compare(
    by: &Value,
    (a_values, a): (&[&Value], &DocumentId),
    (b_values, b): (&[&Value], &DocumentId),
) -> Ordering {
    let directed = |descending: bool, order: Ordering| {
        if descending { order.reverse() } else { order }
    };
    let orders = orders(by);
    let values = a_values.iter().zip(b_values).zip(&orders);
    let values = values.map(|((a, b), (_, descending))| directed(*descending, order(a, b)));
    let keys = directed(orders.last().is_some_and(|(_, last)| *last), a.cmp(b));
    values.fold(Ordering::Equal, Ordering::then).then(keys)
}
