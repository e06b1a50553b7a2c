//! `select` and `updateDocuments` by JSONPaths that begin with names, indexes and slices: they read
//! only what these name, and select the same as an evaluation of the query on the whole document.
//!
//! A failure prints its seed.

use std::fmt::Write;

use phyllo::budget::{Budget, Steps};
use phyllo::document::jsonpath::Query;
use phyllo::document::path::Place;
use phyllo::document::tree::Tree;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

use super::support::{Client, NONE, client, only_error};

cases!(
    damaged("an array has a hole") [
        documents_of_other_programs_are_read_as_far_as_the_query_names,
    ]
    async [
        slices_and_negative_indexes_read_only_what_they_name,
        a_part_that_is_read_anyway_serves_its_slices,
        random_queries_select_what_an_evaluation_of_the_whole_document_selects,
        random_updates_change_what_an_evaluation_of_the_whole_document_selects,
    ]
);

const NAMES: [&str; 6] = ["a", "b", "0", "-1", "", "é'\u{0}"];

async fn slices_and_negative_indexes_read_only_what_they_name() {
    let client = client().await;
    let many: Vec<Value> = (0..2_000).map(|n| json!({"n": n, "m": [n, n]})).collect();
    client
        .insert("1", json!({"a": many, "b": {"c": 1, "d": 2, "e": many}}))
        .await;
    let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { value } } }";
    // In addition to the first pair of the document, which shows that it exists. An element has
    // three pairs, and a length takes one.
    for (select, selected, pairs) in [
        ("$.a[500:510]", 10, 30),
        ("$.a[500:510].n", 10, 10),
        ("$.a[509:499:-1].m[1]", 10, 10),
        ("$.a[500:510:3]", 4, 30),
        ("$.a[500:510][?@ > 0]", 10, 30),
        ("$.a[1990:]", 10, 30),
        ("$.a[-1]", 1, 4),
        ("$.a[-1].n", 1, 2),
        ("$.a[-1].m[-1]", 1, 3),
        ("$.a[-2:]", 2, 7),
        ("$.a[:-1998]", 2, 7),
        ("$.a[-1:-3:-1].n", 2, 3),
        ("$.a[::500].n", 4, 5),
        ("$.a[::-500].n", 4, 5),
        ("$.a[0,1,-1,0].n", 4, 4),
        ("$.b['c','d','x']", 2, 2),
        ("$.b['c',0,-1]", 1, 2),
        ("$.a[2000:]", 0, 0),
        ("$.a[-3000]", 0, 1),
        ("$.a[::0]", 0, 0),
        ("$.x[-1]", 0, 0),
    ] {
        let (data, cost) = client.cost(query, json!({"q": select})).await;
        let found = data["document"]["select"].as_array().map(Vec::len);
        assert_eq!((found, cost.pairs), (Some(selected), 1 + pairs), "{select}");
    }
}

async fn a_part_that_is_read_anyway_serves_its_slices() {
    let client = client().await;
    client
        .insert("1", r#"{"a": [{"n": [1, 2]}, {"n": [3]}]}"#)
        .await;
    let query = "{ document(id: 1) { value(path: \"/a\") select(query: \"$.a[-1:].n[-1]\") { value } \
                 other: select(query: \"$.a[*]\") { value(path: \"/n\") select(query: \"$.n[-1]\") { path } } } }";
    let (data, cost) = client.cost(query, NONE).await;
    assert_eq!(
        data["document"],
        json!({
            "value": [{"n": [1, 2]}, {"n": [3]}],
            "select": [{"value": 3}],
            "other": [
                {"value": [1, 2], "select": [{"path": ["a", 0, "n", 1]}]},
                {"value": [3], "select": [{"path": ["a", 1, "n", 0]}]},
            ],
        })
    );
    assert_eq!(
        (cost.ranges, cost.pairs),
        (2, 4),
        "the document's first pair and `a`"
    );
}

async fn documents_of_other_programs_are_read_as_far_as_the_query_names() {
    let client = client().await;
    let element = |index: u32| (json!(["a", index]), "7");
    let members = [(json!(["b", "0"]), "8"), (json!(["b", "1"]), "9")];
    let pairs: Vec<_> = [0, 1, 5, 6]
        .map(element)
        .into_iter()
        .chain(members)
        .collect();
    client.plant(1, &pairs).await;
    let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { path } } }";
    for (select, paths) in [
        ("$.a[0:2]", json!([["a", 0], ["a", 1]])),
        ("$.a[-1,2]", json!([["a", 6]])),
        ("$.a[5:][?@]", json!([])),
        ("$.b[-1]", json!([])),
        ("$.b[0:2]", json!([])),
        ("$.b['0']", json!([["b", "0"]])),
    ] {
        let data = client.data(query, json!({"q": select})).await;
        let selected = data["document"]["select"].as_array().expect("a list");
        let found: Vec<&Value> = selected.iter().map(|part| &part["path"]).collect();
        assert_eq!(json!(found), paths, "{select}");
    }
    for select in ["$.a[0:6]", "$.a[2:]", "$.a[::-1]", "$.a[-4:]"] {
        let response = client.ask(query, json!({"q": select})).await;
        assert_eq!(
            only_error(&response).0,
            "INTERNAL",
            "{select}: an element is missing"
        );
    }
}

/// What documents and queries are made of.
struct Random(StdRng);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    fn name(&mut self) -> &'static str {
        NAMES.choose(&mut self.0).expect("some")
    }

    fn value(&mut self, levels: usize) -> Value {
        match self.below(if levels == 0 { 5 } else { 14 }) {
            0 => json!(null),
            1 => json!(self.below(9)),
            2 => json!(self.name()),
            3 => json!([]),
            4 => json!({}),
            5..=6 => {
                let members =
                    (0..self.below(4)).map(|_| (self.name().to_owned(), self.value(levels - 1)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            _ => {
                let elements = if self.below(4) == 0 {
                    self.below(80)
                } else {
                    self.below(6)
                };
                let levels = if elements > 6 { 1 } else { levels };
                Value::Array((0..elements).map(|_| self.value(levels - 1)).collect())
            }
        }
    }

    /// A document. Some have a string that is stored in pieces.
    fn document(&mut self) -> Value {
        let value = self.value(4);
        match self.below(12) {
            0 => json!({"a": "é".repeat(60_000), "b": value}),
            1 => json!(["é".repeat(60_000), value]),
            _ => json!({"a": value, "b": [self.value(3), self.value(3)]}),
        }
    }

    fn bound(&mut self) -> String {
        match self.below(4) {
            0 => String::new(),
            1 => format!("-{}", 1 + self.below(8)),
            2 => self.below(90).to_string(),
            _ => self.below(6).to_string(),
        }
    }

    fn selector(&mut self) -> String {
        match self.below(10) {
            0..=2 => {
                let name = self.name().replace('\'', "\\'").replace('\0', "\\u0000");
                format!("'{name}'")
            }
            3 => self.below(6).to_string(),
            4 => format!("-{}", 1 + self.below(4)),
            5..=7 => {
                let steps = [
                    "", ":", ":1", ":-1", ":2", ":-2", ":0", ":16", ":-16", ":40",
                ];
                let step = steps.choose(&mut self.0).expect("some");
                let (begin, end) = (self.bound(), self.bound());
                format!("{begin}:{end}{step}")
            }
            8 => "*".to_owned(),
            _ => {
                let filters = [
                    "?@",
                    "?@ > 3",
                    "?@.a",
                    "?@[-1]",
                    "?@ == $.b[0]",
                    "?$.a",
                    "?$.b[-1]",
                ];
                (*filters.choose(&mut self.0).expect("some")).to_owned()
            }
        }
    }

    fn query(&mut self) -> String {
        let mut query = "$".to_owned();
        if self.below(3) > 0 {
            query.push_str(["['a']", "['b']", "['b'][0]"][self.below(3)]);
        }
        for _ in 0..self.below(4) {
            let dots = if self.below(12) == 0 { ".." } else { "" };
            let selectors = if self.below(3) == 0 {
                self.below(4) + 1
            } else {
                1
            };
            let selectors: Vec<String> = (0..selectors).map(|_| self.selector()).collect();
            write!(query, "{dots}[{}]", selectors.join(",")).expect("a string");
        }
        query
    }
}

/// What a query selects in a whole document: paths and values.
fn selected(query: &str, document: &Value) -> Vec<(Value, Value)> {
    let query = Query::parse(query).expect(query);
    let tree = Tree::from_json(&document.to_string()).expect("JSON");
    let prefix = query.prefix();
    let Some(below) = tree.at(prefix) else {
        return Vec::new();
    };
    let nodes = query.select(below, &Steps::of(&Budget::of_background()));
    let node = |(place, value): (Vec<_>, &Tree)| {
        let path = phyllo::document::path::Path::from(&Place(prefix.to_vec()).join(&place));
        let path = path
            .place()
            .expect("a place")
            .0
            .into_iter()
            .map(|segment| match segment {
                phyllo::document::path::Segment::Key(name) => json!(name),
                phyllo::document::path::Segment::Index(index) => json!(index),
            });
        let value = serde_json::from_str(&value.to_json()).expect("JSON");
        (Value::Array(path.collect()), value)
    };
    nodes
        .expect("few nodes")
        .into_nodes()
        .into_iter()
        .map(node)
        .collect()
}

async fn random_queries_select_what_an_evaluation_of_the_whole_document_selects() {
    let (mut found, mut nothing) = (0, 0);
    for seed in 0..u64::from(4 * super::sequences()) {
        let mut random = Random(StdRng::seed_from_u64(seed));
        let client = client().await;
        let document = random.document();
        client.insert("1", &document).await;
        for _ in 0..8 {
            let queries: Vec<String> = (0..3).map(|_| random.query()).collect();
            let mut text = "query(".to_owned();
            for at in 0..queries.len() {
                write!(text, "$q{at}: JSONPath! ").expect("a string");
            }
            // In some requests a part is read whole, so that it serves the queries, too.
            text.push_str(") { document(id: 1) { ");
            text.push_str(["", "v: value ", "v: value(path: \"/b\") "][random.below(3)]);
            for at in 0..queries.len() {
                write!(text, "s{at}: select(query: $q{at}) {{ path kind value }} ")
                    .expect("a string");
            }
            text.push_str("} }");
            let variables: Map<String, Value> = queries
                .iter()
                .enumerate()
                .map(|(at, query)| (format!("q{at}"), json!(query)))
                .collect();
            let data = client.data(&text, Value::Object(variables)).await;
            for (at, query) in queries.iter().enumerate() {
                let parts = data["document"][format!("s{at}")]
                    .as_array()
                    .expect("a list");
                let parts = parts.iter().map(|part| {
                    assert_eq!(part["kind"], kind(&part["value"]));
                    (part["path"].clone(), part["value"].clone())
                });
                let parts: Vec<_> = parts.collect();
                let expected = selected(query, &document);
                assert!(
                    parts == expected,
                    "seed {seed}: {query} in {document:.2000}: {parts:.2000?}"
                );
                found += usize::from(!expected.is_empty());
                nothing += usize::from(expected.is_empty());
            }
        }
    }
    assert!(
        found > nothing / 3,
        "{found} of {nothing} queries select something"
    );
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Bool(_) => "BOOLEAN",
        Value::Number(_) => "NUMBER",
        Value::String(_) => "STRING",
        Value::Array(_) => "ARRAY",
        Value::Object(_) => "OBJECT",
    }
}

async fn updated(client: &Client, query: &str) -> Value {
    let update = "mutation($q: JSONPath!) { \
                  updateDocuments(where: {}, everything: true, set: [{at: $q, value: \"new\"}]) { matched } }";
    client.data(update, json!({"q": query})).await;
    serde_json::from_str(&client.stored("1").await).expect("JSON")
}

async fn random_updates_change_what_an_evaluation_of_the_whole_document_selects() {
    for seed in 0..u64::from(2 * super::sequences()) {
        let mut random = Random(StdRng::seed_from_u64(1_000_000 + seed));
        let client = client().await;
        let mut document = random.document();
        client.insert("1", &document).await;
        for _ in 0..4 {
            let query = random.query();
            let mut places = selected(&query, &document);
            if places.is_empty() {
                // A query of names and indexes may create a member.
                continue;
            }
            // The outermost places, and not those inside them.
            places.sort_by_key(|(path, _)| path.as_array().map(Vec::len));
            let mut expected = document.clone();
            for (path, _) in places {
                let mut at = Some(&mut expected);
                for segment in path.as_array().expect("a path") {
                    at = at.and_then(|at| match segment {
                        Value::String(name) => at.get_mut(name),
                        index => at.get_mut(usize::try_from(index.as_u64()?).ok()?),
                    });
                }
                if let Some(at) = at {
                    *at = json!("new");
                }
            }
            assert_eq!(
                updated(&client, &query).await,
                expected,
                "seed {seed}: {query}"
            );
            document = expected;
        }
    }
}
