//! Which values of a plain JSON document a path selects, whether it passes a filter, and the order of
//! values.

use std::cmp::Ordering;

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
