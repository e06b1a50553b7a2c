//! Documents as plain JSON values, and what each change does to them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::change::{Change, Kind};

/// The documents of the model, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Documents(BTreeMap<i64, Value>);

/// What a change comes to.
pub(crate) enum Decision {
    /// The whole document afterwards.
    Document(Value),
    Deleted(bool),
    /// Nothing is changed, and the error has one of these codes.
    Refused(&'static [&'static str]),
}

const NOT_FOUND: &[&str] = &["NOT_FOUND"];
const INVALID_PATH: &[&str] = &["INVALID_PATH"];
const BAD_USER_INPUT: &[&str] = &["BAD_USER_INPUT"];
/// `json-patch` does not tell these apart.
const PATCH_FAILS: &[&str] = &["NOT_FOUND", "INVALID_PATH", "TEST_FAILED", "BAD_USER_INPUT"];

impl Documents {
    pub(crate) const IDS: [i64; 2] = [1, 2];

    pub(crate) fn get(&self, id: i64) -> Option<&Value> {
        self.0.get(&id)
    }

    /// The documents, by the text of their keys.
    pub(crate) fn by_key(&self) -> BTreeMap<String, Value> {
        let documents = self.0.iter();
        documents
            .map(|(id, it)| (id.to_string(), it.clone()))
            .collect()
    }

    pub(crate) fn apply(&mut self, change: &Change) -> Decision {
        let mut document = self.0.get(&change.id).cloned();
        let path = &change.path;
        let done = match change.kind {
            Kind::Insert if document.is_some() => Err(&["ALREADY_EXISTS"][..]),
            Kind::Insert => {
                document = Some(change.document.clone());
                Ok(())
            }
            Kind::Replace => put_at(&mut document, change, change.document.clone()),
            Kind::Increment => increment(&mut document, change, &change.document),
            Kind::Merge => merge(&mut document, path, change.as_pointer, &change.document),
            Kind::Patch => patch(&mut document, path, &change.document),
            Kind::Delete => {
                let deleted = delete(&mut document, path);
                self.set(change.id, document);
                return Decision::Deleted(deleted);
            }
        };
        match done {
            Ok(()) => {
                self.set(change.id, document.clone());
                Decision::Document(document.unwrap_or_default())
            }
            Err(codes) => Decision::Refused(codes),
        }
    }

    fn set(&mut self, id: i64, document: Option<Value>) {
        match document {
            Some(document) => self.0.insert(id, document),
            None => self.0.remove(&id),
        };
    }
}

/// What is stored at a path in list form.
pub(crate) fn at<'v>(document: &'v Value, path: &[Value]) -> Option<&'v Value> {
    path.iter()
        .try_fold(document, |value, segment| match (value, segment) {
            (Value::Object(members), Value::String(key)) => members.get(key),
            (Value::Array(elements), Value::Number(index)) => elements.get(to_index(index)),
            _ => None,
        })
}

fn at_mut<'v>(document: &'v mut Value, path: &[Value]) -> Option<&'v mut Value> {
    path.iter()
        .try_fold(document, |value, segment| match (value, segment) {
            (Value::Object(members), Value::String(key)) => members.get_mut(key),
            (Value::Array(elements), Value::Number(index)) => elements.get_mut(to_index(index)),
            _ => None,
        })
}

/// What a path means that is sent as a JSON Pointer: an index is one in an array only.
pub(crate) fn as_a_pointer_means(document: Option<&Value>, path: Vec<Value>) -> Vec<Value> {
    let mut here = document;
    let step = |segment: Value| {
        let segment = match here {
            Some(Value::Array(_)) => segment,
            _ => json!(segment.as_str().map_or(segment.to_string(), str::to_owned)),
        };
        here = here.and_then(|here| at(here, std::slice::from_ref(&segment)));
        segment
    };
    path.into_iter().map(step).collect()
}

/// One of the paths at which something is stored.
pub(crate) fn some_path(document: &Value, pick: usize) -> Vec<Value> {
    let mut paths = Vec::new();
    collect(document, &mut Vec::new(), &mut paths);
    let at = pick % paths.len();
    paths.swap_remove(at)
}

fn collect(value: &Value, path: &mut Vec<Value>, paths: &mut Vec<Vec<Value>>) {
    paths.push(path.clone());
    let mut below = |segment: Value, value: &Value| {
        path.push(segment);
        collect(value, path, paths);
        path.pop();
    };
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                below(json!(name), member);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                below(json!(index), element);
            }
        }
        _ => {}
    }
}

fn to_index(number: &serde_json::Number) -> usize {
    number.as_u64().map_or(usize::MAX, |index| {
        usize::try_from(index).unwrap_or(usize::MAX)
    })
}

type Done = Result<(), &'static [&'static str]>;

fn put(document: &mut Option<Value>, path: &[Value], value: Value) -> Done {
    let Some((last, above)) = path.split_last() else {
        *document = Some(value);
        return Ok(());
    };
    let parent = document
        .as_mut()
        .and_then(|document| at_mut(document, above));
    match (parent.ok_or(NOT_FOUND)?, last) {
        (Value::Object(members), Value::String(key)) => {
            members.insert(key.clone(), value);
            Ok(())
        }
        (Value::Array(elements), Value::Number(index)) => {
            let index = to_index(index);
            match index.cmp(&elements.len()) {
                Ordering::Less => elements[index] = value,
                Ordering::Equal => elements.push(value),
                Ordering::Greater => return Err(INVALID_PATH),
            }
            Ok(())
        }
        _ => Err(INVALID_PATH),
    }
}

fn put_at(document: &mut Option<Value>, change: &Change, value: Value) -> Done {
    if change.create_parents {
        put_below_missing(document, &change.path, change.as_pointer, value)
    } else {
        put(document, &change.path, value)
    }
}

/// Puts a value, and creates its parents: an array for `-` and the index 0, and objects.
fn put_below_missing(
    document: &mut Option<Value>,
    path: &[Value],
    as_pointer: bool,
    mut value: Value,
) -> Done {
    let mut path = path.to_vec();
    while let Some((last, above)) = path.split_last() {
        let parent = document.as_ref().and_then(|document| at(document, above));
        if parent.is_some() {
            break;
        }
        value = match last {
            Value::String(name) if as_pointer && matches!(name.as_str(), "-" | "0") => {
                json!([value])
            }
            Value::String(name) if as_pointer && can_be_an_element(name) => {
                return Err(INVALID_PATH);
            }
            Value::String(name) => Value::Object(Map::from_iter([(name.clone(), value)])),
            index if *index == json!(0) => json!([value]),
            _ => return Err(INVALID_PATH),
        };
        path.pop();
    }
    put(document, &path, value)
}

fn increment(document: &mut Option<Value>, change: &Change, by: &Value) -> Done {
    let present = document
        .as_mut()
        .and_then(|document| at_mut(document, &change.path));
    let Some(present) = present else {
        return put_at(document, change, by.clone());
    };
    let sum = match (present.as_i64(), by.as_i64()) {
        (Some(a), Some(b)) => json!(a + b),
        _ => json!(present.as_f64().ok_or(BAD_USER_INPUT)? + by.as_f64().ok_or(BAD_USER_INPUT)?),
    };
    *present = sum;
    Ok(())
}

/// Whether a token of a JSON Pointer names an element if its parent is an array.
fn can_be_an_element(name: &str) -> bool {
    name == "-"
        || name
            .parse::<u64>()
            .is_ok_and(|index| index.to_string() == name)
}

fn merge(document: &mut Option<Value>, path: &[Value], as_pointer: bool, patch: &Value) -> Done {
    if let Some(present) = document
        .as_mut()
        .and_then(|document| at_mut(document, path))
    {
        json_patch::merge(present, patch);
        return Ok(());
    }
    let mut value = Value::Null;
    json_patch::merge(&mut value, patch);
    // Members that are missing on the way are made; elements are not.
    let mut path = path.to_vec();
    loop {
        let Some(last) = path.last() else {
            *document = Some(value);
            return Ok(());
        };
        let above = &path[..path.len() - 1];
        let parent = document.as_ref().and_then(|document| at(document, above));
        if parent.is_some() {
            return match put(document, &path, value) {
                Err(_) => Err(INVALID_PATH),
                done => done,
            };
        }
        let Value::String(name) = last else {
            return Err(INVALID_PATH);
        };
        // Nothing says whether a missing parent would be an array.
        if as_pointer && can_be_an_element(name) {
            return Err(INVALID_PATH);
        }
        value = Value::Object(Map::from_iter([(name.clone(), value)]));
        path.pop();
        // An element at the end of an array is made only if it is what the path names.
        let Some((element @ Value::Number(_), array)) = path.split_last() else {
            continue;
        };
        let there = document.as_ref().and_then(|document| at(document, array));
        if there.is_none_or(|array| {
            array
                .get(to_index(element.as_number().expect("a number")))
                .is_none()
        }) {
            return Err(INVALID_PATH);
        }
    }
}

fn patch(document: &mut Option<Value>, path: &[Value], patch: &Value) -> Done {
    let present = document
        .as_mut()
        .and_then(|document| at_mut(document, path));
    let present = present.ok_or(NOT_FOUND)?;
    let patch: json_patch::Patch =
        serde_json::from_value(patch.clone()).map_err(|_| BAD_USER_INPUT)?;
    // The crate panics when it undoes some patches: it may fail half-way on a copy.
    let mut patched = present.clone();
    json_patch::patch_unsafe(&mut patched, &patch).map_err(|_| PATCH_FAILS)?;
    *present = patched;
    Ok(())
}

fn delete(document: &mut Option<Value>, path: &[Value]) -> bool {
    let Some((last, above)) = path.split_last() else {
        return document.take().is_some();
    };
    let parent = document
        .as_mut()
        .and_then(|document| at_mut(document, above));
    match (parent, last) {
        (Some(Value::Object(members)), Value::String(key)) => members.remove(key).is_some(),
        (Some(Value::Array(elements)), Value::Number(index)) => {
            let index = to_index(index);
            let there = index < elements.len();
            if there {
                elements.remove(index);
            }
            there
        }
        _ => false,
    }
}
