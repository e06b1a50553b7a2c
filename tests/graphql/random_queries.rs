//! Random filters, orders and pages on random small documents with random indexes, on one hand
//! through GraphQL, on the other evaluated on plain JSON values in memory.
//!
//! A failure prints its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use phyllo::document::id::DocumentId;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

use super::support::{Client, client};
use crate::model::queries::{equal, holds, order, select};

cases!(
    async [
        random_queries_find_what_a_plain_evaluation_finds,
        what_is_there_all_along_comes_once_whatever_is_written_between_pages,
    ]
);

const QUERIES: usize = 10;

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
const INDEXES: [&[&str]; 11] = [
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

/// What makes up documents and queries.
struct Random(StdRng);

impl Random {
    fn one_in(&mut self, count: u32) -> bool {
        self.0.random_ratio(1, count)
    }

    fn value(&mut self) -> Value {
        let text = VALUES.choose(&mut self.0).expect("some");
        serde_json::from_str(text).expect("JSON")
    }

    fn values(&mut self, max: usize) -> Vec<Value> {
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

    fn path(&mut self) -> &'static str {
        PATHS.choose(&mut self.0).expect("some")
    }

    /// A filter, at most so many levels deep.
    fn filter(&mut self, levels: u32) -> Value {
        if levels > 1 && self.one_in(5) {
            return self.equalities();
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
        if self.one_in(10) {
            filter.insert("at".to_owned(), json!(self.path()));
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

    fn order(&mut self) -> Value {
        if self.one_in(2) {
            return Value::Null;
        }
        json!({"by": self.path(), "descending": self.one_in(2)})
    }
}

/// A database of its own, and the documents that it holds.
struct Run {
    client: Client,
    random: Random,
    documents: BTreeMap<DocumentId, Value>,
}

impl Run {
    async fn new(seed: u64) -> Self {
        let mut run = Self {
            client: client().await,
            random: Random(StdRng::seed_from_u64(seed)),
            documents: BTreeMap::new(),
        };
        run.index().await;
        let documents = run.random.0.random_range(0..40);
        run.write(documents, &mut BTreeSet::new()).await;
        run.index().await;
        run.client.build().await;
        run
    }

    /// Makes up to two indexes.
    async fn index(&mut self) {
        for _ in 0..self.random.0.random_range(0..3) {
            let on = json!(INDEXES.choose(&mut self.random.0).expect("some"));
            let name = json!(on.to_string());
            let fields = format!("createIndex(name: {name}, on: {on}) {{ state }}");
            self.client.mutate(&fields).await;
        }
    }

    /// Inserts, replaces and deletes documents, in one operation.
    async fn write(&mut self, count: usize, touched: &mut BTreeSet<DocumentId>) {
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
    fn expected(&self, filter: &Value, by: &Value) -> Vec<DocumentId> {
        let passing = self
            .documents
            .iter()
            .filter(|(_, document)| holds(filter, document));
        if by.is_null() {
            return passing.map(|(id, _)| id.clone()).collect();
        }
        let descending = by["descending"] == json!(true);
        let path = by["by"].as_str().expect("a path");
        let mut rows: Vec<(&Value, &DocumentId)> = Vec::new();
        for (id, document) in passing {
            let values = select(path, document).into_iter();
            let value = if descending {
                values.max_by(|a, b| order(a, b))
            } else {
                values.min_by(|a, b| order(a, b))
            };
            rows.extend(value.map(|value| (value, id)));
        }
        rows.sort_by(|(a, x), (b, y)| {
            let values = order(a, b);
            let values = if descending { values.reverse() } else { values };
            values.then_with(|| x.cmp(y))
        });
        rows.into_iter().map(|(_, id)| id.clone()).collect()
    }
}

/// A query that is paged through.
struct Paging {
    filter: Value,
    order: Value,
    backward: bool,
    size: usize,
    cursor: Value,
    /// What the pages brought, in the order in which they came.
    rows: Vec<DocumentId>,
    indexes: BTreeSet<String>,
    /// Pages that are not all, of which the total was given.
    totals: usize,
}

const PAGE: &str = "query($where: DocumentFilter, $by: DocumentOrder, $first: Int, $after: String, $last: Int, $before: String) {
    documents(where: $where, orderBy: $by, first: $first, after: $after, last: $last, before: $before) {
        nodes { key value } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        totalCount plan { index returned totalCountReason }
    }
}";

impl Paging {
    fn new(random: &mut Random) -> Self {
        Self {
            filter: random.filter(2),
            order: random.order(),
            backward: random.one_in(2),
            size: random.0.random_range(1..12),
            cursor: Value::Null,
            rows: Vec::new(),
            indexes: BTreeSet::new(),
            totals: 0,
        }
    }

    /// Reads a page; whether there are more.
    async fn page(&mut self, run: &Run) -> bool {
        let Self { filter, order, .. } = self;
        let mut variables = json!({"where": filter, "by": order});
        let (size, cursor) = if self.backward {
            ("last", "before")
        } else {
            ("first", "after")
        };
        variables[size] = json!(self.size);
        variables[cursor] = self.cursor.clone();
        let data = run.client.data(PAGE, variables).await;
        let page = &data["documents"];
        let mut rows = Vec::new();
        for node in page["nodes"].as_array().expect("nodes") {
            let id = DocumentId::parse(node["key"].as_str().expect("an id")).expect("an id");
            let stored = &run.documents[&id];
            assert!(equal(&node["value"], stored), "{node} and {stored}");
            rows.push(id);
        }
        assert_eq!(page["plan"]["returned"], json!(rows.len()));
        let index = page["plan"]["index"].as_str();
        self.indexes.insert(index.unwrap_or_default().to_owned());
        if self.backward {
            rows.reverse();
        }
        let rows_of_page = rows.len();
        self.rows.extend(rows);
        let total = &page["totalCount"];
        if total.is_null() {
            assert!(page["plan"]["totalCountReason"].is_string());
        } else {
            let passing = run.expected(&self.filter, &self.order).len();
            assert_eq!(*total, json!(passing), "{} by {}", self.filter, self.order);
            assert_eq!(page["plan"]["totalCountReason"], Value::Null);
            self.totals += usize::from(rows_of_page < passing);
        }
        let info = &page["pageInfo"];
        let (more, next) = if self.backward {
            ("hasPreviousPage", "startCursor")
        } else {
            ("hasNextPage", "endCursor")
        };
        self.cursor = info[next].clone();
        info[more] == json!(true)
    }
}

async fn random_queries_find_what_a_plain_evaluation_finds() {
    let mut indexes = BTreeSet::new();
    let mut totals = 0;
    for seed in 0..u64::from(super::sequences()) {
        let mut run = Run::new(seed).await;
        for query in 0..QUERIES {
            let mut paging = Paging::new(&mut run.random);
            while paging.page(&run).await {}
            let mut expected = run.expected(&paging.filter, &paging.order);
            if paging.backward {
                expected.reverse();
            }
            let Paging {
                filter,
                order,
                rows,
                ..
            } = &paging;
            assert_eq!(
                *rows, expected,
                "seed {seed}, query {query}: {filter} by {order}"
            );
            totals += paging.totals;
            indexes.append(&mut paging.indexes);
        }
    }
    assert!(indexes.contains(""), "some looked at every document");
    assert!(
        indexes.iter().any(|index| index.contains(" | ")),
        "some used several indexes"
    );
    assert!(indexes.len() > INDEXES.len(), "{indexes:?}");
    let queries = super::sequences() as usize * QUERIES;
    assert!(totals > queries / 10, "{totals} totals were given");
}

async fn what_is_there_all_along_comes_once_whatever_is_written_between_pages() {
    for seed in 0..u64::from(super::sequences()) {
        let mut run = Run::new(1_000_000 + seed).await;
        let mut paging = Paging::new(&mut run.random);
        let before = run.expected(&paging.filter, &paging.order);
        let mut touched = BTreeSet::new();
        while paging.page(&run).await {
            let writes = run.random.0.random_range(0..4);
            run.write(writes, &mut touched).await;
        }
        let told = format!("seed {seed}: {} by {}", paging.filter, paging.order);
        let mut all_along: Vec<_> = before
            .into_iter()
            .filter(|id| !touched.contains(id))
            .collect();
        if paging.backward {
            all_along.reverse();
        }
        let came = paging.rows.iter().filter(|id| !touched.contains(*id));
        assert!(came.eq(&all_along), "{told}");
        if paging.order.is_null() {
            let ascending = paging
                .rows
                .is_sorted_by(|a, b| if paging.backward { a > b } else { a < b });
            assert!(ascending, "{told}: {:?}", paging.rows);
        }
    }
}
