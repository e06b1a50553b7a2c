//! Random small documents with random indexes, and random filters, sets of keys and orders for them.
//!
//! The variable `PHYLLO_FIRST_SEED` is the first seed, 0 by default.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

use phyllo::document::id::DocumentId;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

use super::support::{Client, client};
use crate::model::queries::{compare, has_key, holds, values_of_order};

pub(super) const QUERIES: usize = 10;

pub(super) fn seeds() -> Range<u64> {
    let first = std::env::var("PHYLLO_FIRST_SEED").unwrap_or_default();
    let first = first.parse().unwrap_or(0);
    first..first + u64::from(super::sequences())
}

/// What the values of documents and filters are taken from.
const VALUES: [&str; 18] = [
    "null",
    "false",
    "true",
    "-1",
    "0",
    "1",
    "1.0",
    "1.5",
    "2",
    "9007199254740993",
    r#""""#,
    r#""a""#,
    r#""ab""#,
    r#""b""#,
    "[]",
    "{}",
    "[1]",
    r#"{"x":1.0}"#,
];

/// What indexes may be on.
pub(super) const INDEXES: [&[&str]; 14] = [
    &["$.a"],
    &["$['b']"],
    &["$.list[*]"],
    &["$.a", "$.b"],
    &["$.a", "$.list[*]"],
    &["$.list[*]", "$.a"],
    &["$.o.x", "$.a", "$.b"],
    &["$"],
    &["$.o[*]"],
    &["$.b", "$.list[0]"],
    &["$.b", "$.a"],
    &["$.a", "$.b", "$.list[0]"],
    &["$.b", "$.list[*]", "$.a"],
    &["$.a", "$.o.x", "$.b"],
];

/// Indexes on names, of which the queries test the members.
const NAME_INDEXES: [&[&str]; 4] = [
    &["$.o.*~"],
    &["$.list[*]~", "$.a"],
    &["$.b", "$.o.*~"],
    &["$.*~"],
];

const PATHS: [&str; 10] = [
    "$.a",
    "$.a",
    "$.b",
    "$['b']",
    "$.list[*]",
    "$.list[0]",
    "$.o.x",
    "$.o[*]",
    "$.list[?@ > 1]",
    "$",
];

/// Members, of which queries test whether they exist.
const MEMBERS: [&str; 6] = ["$.a", "$.b", "$.o", "$.o.x", "$.o.y", "$.list.k"];

/// What makes up documents and queries, and the filters of the partial indexes.
pub(super) struct Random(pub(super) StdRng, pub(super) Vec<Value>);

impl Random {
    pub(super) fn one_in(&mut self, count: u32) -> bool {
        self.0.random_ratio(1, count)
    }

    pub(super) fn up_to(&mut self, max: usize) -> usize {
        self.0.random_range(0..=max)
    }

    pub(super) fn choose<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        choices.choose(&mut self.0).expect("some")
    }

    pub(super) fn value(&mut self) -> Value {
        let text = VALUES.choose(&mut self.0).expect("some");
        serde_json::from_str(text).expect("JSON")
    }

    pub(super) fn values(&mut self, max: usize) -> Vec<Value> {
        let count = self.0.random_range(0..=max);
        (0..count).map(|_| self.value()).collect()
    }

    fn document(&mut self) -> Value {
        if self.one_in(12) {
            return self.value();
        }
        let mut members = Map::new();
        for name in ["a", "b"] {
            if !self.one_in(5) {
                members.insert(name.to_owned(), self.value());
            }
        }
        if !self.one_in(4) {
            members.insert("list".to_owned(), json!(self.values(3)));
        }
        match self.0.random_range(0..3) {
            0 => {}
            1 => {
                members.insert(
                    "list".to_owned(),
                    json!({"k": self.value(), "l": self.value()}),
                );
            }
            _ => {
                members.insert(
                    "o".to_owned(),
                    json!({"x": self.value(), "y": self.value()}),
                );
            }
        }
        Value::Object(members)
    }

    fn id(&mut self) -> DocumentId {
        let number = self.0.random_range(-3..40);
        if self.one_in(3) {
            DocumentId::Text(format!("{number}"))
        } else {
            DocumentId::Integer(number)
        }
    }

    pub(super) fn path(&mut self) -> &'static str {
        PATHS.choose(&mut self.0).expect("some")
    }

    /// A filter, at most so many levels deep.
    pub(super) fn filter(&mut self, levels: u32) -> Value {
        if levels > 1 && self.one_in(5) {
            return self.equalities();
        }
        if levels > 1
            && self.one_in(2)
            && let Some(of_index) = self.1.choose(&mut self.0).cloned()
        {
            let of_index = self.stricter(of_index);
            return json!({"all": [of_index, self.filter(levels - 1)]});
        }
        let mut filter = Map::new();
        if levels == 0 || !self.one_in(3) {
            self.condition(&mut filter);
        }
        if levels > 0 && self.one_in(2) {
            let mut parts = |max: usize| -> Vec<Value> {
                let count = self.0.random_range(0..=max);
                (0..count).map(|_| self.filter(levels - 1)).collect()
            };
            let all = parts(3);
            let any = parts(4);
            match self.0.random_range(0..4) {
                0 => drop(filter.insert("all".to_owned(), json!(all))),
                1 => drop(filter.insert("any".to_owned(), json!(any))),
                2 => drop(filter.insert("not".to_owned(), self.filter(levels - 1))),
                _ => {
                    filter.insert("all".to_owned(), json!(all));
                    filter.insert("any".to_owned(), json!(any));
                }
            }
        }
        Value::Object(filter)
    }

    /// A filter that implies another one.
    fn stricter(&mut self, filter: Value) -> Value {
        match self.0.random_range(0..3) {
            0 => json!({"all": [filter, self.filter(0)]}),
            1 if !filter["in"].is_null() => json!({"at": filter["at"], "eq": filter["in"][0]}),
            _ => filter,
        }
    }

    /// A filter of a partial index.
    fn filter_of_index(&mut self) -> Value {
        let at = *["$.a", "$.b", "$.list[0]", "$.o.x"]
            .choose(&mut self.0)
            .expect("some");
        let mut leaves: Vec<Value> = self.values(6);
        leaves.retain(|value| !value.is_array() && !value.is_object());
        let member = *MEMBERS.choose(&mut self.0).expect("some");
        let exists = json!({"at": member, "exists": true});
        match (self.0.random_range(0..6), leaves.first()) {
            (0, Some(first)) => json!({"at": at, "ne": first}),
            (1, Some(first)) => json!({"at": at, "gte": first}),
            (2, Some(_)) => json!({"at": at, "in": leaves}),
            (3, Some(first)) => json!({"any": [{"at": at, "eq": first}, exists]}),
            (4, _) => json!({"not": exists}),
            _ => exists,
        }
    }

    /// A few equalities, of which all or any must hold: what several indexes serve together.
    fn equalities(&mut self) -> Value {
        let count = self.0.random_range(2..4);
        let mut equality = |_| {
            let index = INDEXES.choose(&mut self.0).expect("some");
            json!({"at": index[0], "eq": self.value()})
        };
        let equalities: Vec<_> = (0..count).map(&mut equality).collect();
        let which = if self.one_in(2) { "all" } else { "any" };
        json!({which: equalities})
    }

    fn condition(&mut self, filter: &mut Map<String, Value>) {
        if self.one_in(6) {
            let member = *MEMBERS.choose(&mut self.0).expect("some");
            let at = if self.one_in(2) { self.path() } else { member };
            filter.insert("at".to_owned(), json!(at));
            filter.insert("exists".to_owned(), json!(self.one_in(2)));
            return;
        }
        if !self.one_in(15) {
            filter.insert("at".to_owned(), json!(self.path()));
        }
        for _ in 0..if self.one_in(3) { 2 } else { 1 } {
            let test = [
                "eq",
                "eq",
                "eq",
                "ne",
                "lt",
                "lte",
                "gt",
                "gte",
                "in",
                "startsWith",
                "contains",
            ];
            let test = *test.choose(&mut self.0).expect("some");
            let operand = match test {
                "in" => json!(self.values(4)),
                "startsWith" | "contains" => json!(["", "a", "ab", "b"].choose(&mut self.0)),
                _ => self.value(),
            };
            filter.insert(test.to_owned(), operand);
        }
    }

    pub(super) fn order(&mut self) -> Value {
        if self.one_in(4) {
            return Value::Null;
        }
        if self.one_in(3) {
            return json!({"by": self.path(), "descending": self.one_in(2)});
        }
        // The columns of an index, or any paths.
        let index = INDEXES.choose(&mut self.0).expect("some");
        let count = self.0.random_range(0..4);
        let mut paths: Vec<&str> = if self.one_in(3) {
            (0..count).map(|_| self.path()).collect()
        } else {
            index[..index.len().min(count)].to_vec()
        };
        if paths.len() < index.len() && self.one_in(4) {
            paths.clear();
            paths.extend(index.last());
        }
        let one_direction = self.one_in(2).then(|| self.one_in(2));
        let mut descends = || one_direction.unwrap_or_else(|| self.one_in(2));
        let by = paths.iter();
        let by = by.map(|path| json!({"by": path, "descending": descends()}));
        let mut by: Vec<Value> = by.collect();
        if self.one_in(3) {
            by.push(json!({"descending": self.one_in(2)}));
        }
        json!(by)
    }

    fn key(&mut self) -> String {
        self.id().to_string()
    }

    /// A set of keys.
    pub(super) fn keys(&mut self) -> Value {
        if !self.one_in(3) {
            return Value::Null;
        }
        let mut keys = Map::new();
        for (test, excluded) in [("gt", "gte"), ("gte", "gt"), ("lt", "lte"), ("lte", "lt")] {
            if self.one_in(4) && !keys.contains_key(excluded) {
                keys.insert(test.to_owned(), json!(self.key()));
            }
        }
        if self.one_in(4) {
            let prefix = ["", "\"1\"", "\"2\"", "-", "\"12\""].choose(&mut self.0);
            keys.insert("prefix".to_owned(), json!(prefix));
        }
        if self.one_in(4) {
            let listed: Vec<_> = (0..self.0.random_range(0..30))
                .map(|_| self.key())
                .collect();
            keys.insert("in".to_owned(), json!(listed));
        }
        Value::Object(keys)
    }

    /// Equalities on the first columns of an index, and an order by the columns after them.
    pub(super) fn behind_equalities(&mut self) -> (Value, Value) {
        let index = INDEXES.choose(&mut self.0).expect("some");
        let given = self.0.random_range(0..index.len());
        let equal = index[..given].iter().map(|path| {
            if self.one_in(2) {
                json!({"at": path, "eq": self.value()})
            } else {
                json!({"at": path, "in": self.values(6)})
            }
        });
        let equal: Vec<Value> = equal.collect();
        let end = self.0.random_range(given..=index.len());
        let descending = self.one_in(2);
        let by = index[given..end].iter().map(|path| {
            let descending = descending != self.one_in(6);
            json!({"by": path, "descending": descending})
        });
        let by: Vec<Value> = by.collect();
        (json!({"all": equal}), json!(by))
    }
}

/// A database of its own, and the documents that it holds.
pub(super) struct Run {
    pub(super) client: Client,
    pub(super) random: Random,
    pub(super) documents: BTreeMap<DocumentId, Value>,
}

impl Run {
    pub(super) async fn new(seed: u64) -> Self {
        let mut run = Self {
            client: client().await,
            random: Random(StdRng::seed_from_u64(seed), Vec::new()),
            documents: BTreeMap::new(),
        };
        run.index().await;
        let documents = run.random.0.random_range(0..40);
        run.write(documents, &mut BTreeSet::new()).await;
        run.index().await;
        run.client.build().await;
        run
    }

    /// Makes up to two indexes. Some are on names, some are partial.
    async fn index(&mut self) {
        for _ in 0..self.random.0.random_range(0..3) {
            let indexes = if self.random.one_in(4) {
                &NAME_INDEXES[..]
            } else {
                &INDEXES
            };
            let on = json!(indexes.choose(&mut self.random.0).expect("some"));
            if self.random.one_in(3) {
                let filter = self.random.filter_of_index();
                self.create_partial_index(&on, filter).await;
            } else {
                self.create_index(&on).await;
            }
        }
    }

    pub(super) async fn create_index(&self, on: &Value) {
        let name = json!(on.to_string());
        let fields = format!("createIndex(name: {name}, on: {on}) {{ state }}");
        self.client.mutate(&fields).await;
    }

    async fn create_partial_index(&mut self, on: &Value, filter: Value) {
        let name = json!(format!("{on} where {filter}"));
        let create = format!(
            "mutation($where: DocumentFilter) {{
                createIndex(name: {name}, on: {on}, where: $where) {{ state }} }}"
        );
        self.client.data(&create, json!({"where": filter})).await;
        self.random.1.push(filter);
    }

    /// Inserts, replaces and deletes documents, in one operation.
    pub(super) async fn write(&mut self, count: usize, touched: &mut BTreeSet<DocumentId>) {
        let mut fields = String::new();
        let mut variables = Map::new();
        let mut declared = String::new();
        for at in 0..count {
            let id = self.random.id();
            touched.insert(id.clone());
            let text = json!(id.to_string());
            if self.random.one_in(4) {
                self.documents.remove(&id);
                write!(fields, "d{at}: deleteDocument(id: {text}) {{ deleted }} ").expect("room");
                continue;
            }
            let document = self.random.document();
            write!(declared, "$d{at}: JSON ").expect("room");
            write!(
                fields,
                "d{at}: replaceDocument(id: {text}, document: $d{at}) {{ key }} "
            )
            .expect("room");
            variables.insert(format!("d{at}"), document.clone());
            self.documents.insert(id, document);
        }
        if count > 0 {
            let declared = if declared.is_empty() {
                declared
            } else {
                format!("({declared})")
            };
            let query = format!("mutation{declared} {{ {fields} }}");
            self.client.data(&query, Value::Object(variables)).await;
        }
    }

    /// The ids of all documents that pass, in order.
    pub(super) fn expected(&self, filter: &Value, keys: &Value, by: &Value) -> Vec<DocumentId> {
        let passing = self
            .documents
            .iter()
            .filter(|(id, document)| has_key(keys, id) && holds(filter, document));
        let rows = passing.filter_map(|(id, document)| Some((values_of_order(by, document)?, id)));
        let mut rows: Vec<(Vec<&Value>, &DocumentId)> = rows.collect();
        rows.sort_by(|(a, x), (b, y)| compare(by, (a, x), (b, y)));
        rows.into_iter().map(|(_, id)| id.clone()).collect()
    }
}

/// The arguments of `createIndex` that the message of an error proposes.
pub(super) fn proposed_index(message: &str) -> Option<String> {
    let (_, behind) = message.split_once("createIndex(")?;
    let (arguments, _) = behind.split_once(") would create")?;
    Some(arguments.to_owned())
}
