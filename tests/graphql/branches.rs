//! The branches of a query share rounds of reads. Each must find what it finds alone. And each way to a
//! document must find the same in it.
//!
//! A failure prints the seed, the query and the variables.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use super::bindings::answer;
use super::random_store::{Random, Run, seeds};
use super::support::{Client, NONE, client, parse};

cases!(
    damaged("a document is malformed") [
        errors_in_elements_have_their_paths,
    ]
    async [
        random_fields_find_the_same_alone_and_together,
        every_way_to_a_document_finds_the_same,
        errors_of_lists_have_codes,
        selections_may_read_lengths_first,
        cursors_page_through_an_order,
        limits_of_lists_are_named,
    ]
);

/// The queries for each seed.
const QUERIES: usize = 40;

const PATHS: [&str; 9] = [
    r#""""#,
    r#""/a""#,
    r#""/b""#,
    r#"["list", 0]"#,
    r#""/list/-1""#,
    r#"["list", -1]"#,
    r#""/o/x""#,
    r#""/o""#,
    r#""/none""#,
];

const SELECTS: [&str; 12] = [
    "$",
    "$.a",
    "$.*",
    "$.list[*]",
    "$.list[-2:]",
    "$.list[1:3]",
    "$.list[::-1]",
    "$.list[-1,0,'k']",
    "$..x",
    "$['a','b','a']",
    "$.list[?@ > 1]",
    "$.none[3]",
];

const CHILDREN: [&str; 8] = [
    "",
    "(first: 2)",
    "(last: 2)",
    "(prefix: \"l\")",
    "(from: 1)",
    "(from: \"b\", to: \"o\")",
    "(first: -1)",
    "(after: \"00\")",
];

/// Generates selections.
struct Maker<'r> {
    random: &'r mut Random,
    names: usize,
}

impl Maker<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn path(&mut self) -> &'static str {
        self.random.choose::<&str>(&PATHS)
    }

    fn directive(&mut self) -> &'static str {
        self.random
            .choose::<&str>(&["", "", "", "", " @skip(if: $yes)", " @include(if: $yes)"])
    }

    /// A selection on a document or on a part of one, with lists in lists.
    fn value(&mut self, of: &str, levels: usize) -> String {
        let mut fields = String::from("{ __typename ");
        for _ in 0..self.random.up_to(4) {
            let path = self.path();
            let other = self.path();
            let field = match (self.random.up_to(16), of) {
                (0, _) => "kind".to_owned(),
                (1, _) => "id".to_owned(),
                (2, "Document") => "key".to_owned(),
                (2, _) => "path".to_owned(),
                (3, "Document") => "collection".to_owned(),
                (4, _) => "version".to_owned(),
                (5, _) => format!("omit(paths: [{path}])"),
                (6, _) => format!("values(paths: [{path}, {other}])"),
                (7, _) => format!("pick(paths: [{path}, {other}])"),
                (8, _) if levels > 0 => {
                    let below = self.value("Subdocument", levels - 1);
                    format!("subdocument(path: {path}) {below}")
                }
                (9, "Subdocument") if levels > 0 => {
                    let below = self.value("Document", levels - 1);
                    format!("document {below}")
                }
                (10, _) => "length".to_owned(),
                (15, _) => format!("range(from: {path}, to: {other})"),
                (11 | 12, _) if levels > 0 => self.children(levels - 1),
                (13, _) if levels > 0 => {
                    let query = *self.random.choose(&SELECTS);
                    let below = self.value("Subdocument", levels - 1);
                    format!("select(query: \"{query}\") {below}")
                }
                _ => format!("value(path: {path})"),
            };
            self.add(&mut fields, &field);
        }
        fields.push('}');
        fields
    }

    /// A page of children.
    fn children(&mut self, levels: usize) -> String {
        let page = *self.random.choose(&CHILDREN);
        let mut fields = String::from("{ ");
        for _ in 0..=self.random.up_to(2) {
            let field = match self.random.up_to(3) {
                0 => "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }".to_owned(),
                1 => format!(
                    "edges {{ cursor node {} }}",
                    self.value("Subdocument", levels)
                ),
                _ => format!("nodes {}", self.value("Subdocument", levels)),
            };
            self.add(&mut fields, &field);
        }
        format!("children{page} {fields}}}")
    }

    /// Adds a field with an alias, and sometimes with a condition.
    fn add(&mut self, fields: &mut String, field: &str) {
        let (alias, directive) = (self.name(), self.directive());
        // The same field twice is merged.
        let again = self.random.one_in(6).then(|| self.directive());
        if let Some(again) = again {
            let _ = match field.split_once(" {") {
                Some((field, _)) => write!(fields, "{alias}: {field}{again} {{ __typename }} "),
                None => write!(fields, "{alias}: {field}{again} "),
            };
        }
        let _ = match field.split_once(" {") {
            Some((field, below)) => write!(fields, "{alias}: {field}{directive} {{{below} "),
            None => write!(fields, "{alias}: {field}{directive} "),
        };
    }

    /// A selection on a page of documents.
    fn page(&mut self) -> String {
        let mut fields = String::from("{ ");
        for _ in 0..=self.random.up_to(3) {
            let field = match self.random.up_to(6) {
                0 => "totalCount".to_owned(),
                1 => "pageInfo { hasNextPage hasPreviousPage startCursor endCursor __typename }"
                    .to_owned(),
                2 => "plan { index partial scanned examined covered returned totalCountReason }"
                    .to_owned(),
                3 => format!("edges {{ cursor node {} }}", self.value("Document", 2)),
                _ => format!("nodes {}", self.value("Document", 2)),
            };
            self.add(&mut fields, &field);
        }
        fields.push_str("__typename }");
        fields
    }

    /// A root field.
    fn root_field(&mut self, ids: &[String]) -> String {
        if self.random.one_in(3) && !ids.is_empty() {
            let id = json!(self.random.choose(ids));
            return format!("document(id: {id}) {}", self.selects());
        }
        if self.random.one_in(4) {
            return self.other(ids);
        }
        let arguments = ["where: $where ", "keys: $keys ", "orderBy: $by "];
        let mut some = String::new();
        for argument in arguments {
            if self.random.one_in(2) {
                some.push_str(argument);
            }
        }
        let page = ["first: $first", "last: 3", "first: 7"];
        some.push_str(self.random.choose::<&str>(&page));
        format!("documents({some}) {}", self.page())
    }

    /// A root field that reads neither one document nor a page of them.
    fn other(&mut self, ids: &[String]) -> String {
        let one = ids.first().map_or("none", |id| id);
        let nodes = format!(
            "{{ __typename id ... on Document {} ... on Node {{ again: id }} ...on Subdocument {} }}",
            self.value("Document", 1),
            self.value("Subdocument", 1)
        );
        match self.random.up_to(4) {
            0 => {
                "collections { __typename name count indexes { name on unique where state error } }"
                    .to_owned()
            }
            1 => format!("node(id: {}) {nodes}", json!(format!("D/{one}#/a"))),
            2 => {
                let known = format!("D/{one}").replace('"', "%22");
                format!("nodes(ids: [{}, \"E/1\", \"?\"]) {nodes}", json!(known))
            }
            _ => {
                let by = *self
                    .random
                    .choose(&["", "groupBy: [\"$.a\"] ", "groupBy: [\"$[\"] "]);
                format!(
                    "aggregate({by}where: $where, keys: $keys, orderBy: COUNT) {{ groupCount \
                     plan {{ index scanned examined covered partial }} groups {{ key count \
                     sum(of: \"$.list[*]\") average(of: \"$.list[*]\") max(of: \"$.o.x\") \
                     least: min(of: \"$.list[*]\") }} }}"
                )
            }
        }
    }

    /// A selection on a part of a document, with JSONPath queries.
    fn selects(&mut self) -> String {
        let mut fields = String::from("{ kind ");
        for _ in 0..=self.random.up_to(2) {
            let query = *self.random.choose(&SELECTS);
            let below = self.value("Subdocument", 2);
            let select = format!("select(query: \"{query}\") {below}");
            let path = self.path();
            let field = match self.random.up_to(3) {
                0 => format!("subdocument(path: {path}) {{ {select} value }}"),
                1 => format!("document {{ {select} key }}"),
                _ => select,
            };
            self.add(&mut fields, &field);
        }
        fields.push('}');
        fields
    }
}

async fn random_fields_find_the_same_alone_and_together() {
    let (mut queries, mut covered, mut elements, mut failed) = (0, 0, 0, 0);
    for seed in seeds() {
        let mut run = Run::new(7_000_000 + seed).await;
        for _ in 0..QUERIES {
            let writes = run.random.up_to(3);
            run.write(writes, &mut BTreeSet::new()).await;
            run.client.build().await;
            let variables = json!({
                "where": run.random.filter(1),
                "keys": run.random.keys(),
                "by": run.random.order(),
                "first": run.random.up_to(6),
                "yes": true,
            });
            let ids: Vec<String> = run.documents.keys().map(ToString::to_string).collect();
            let mut maker = Maker {
                random: &mut run.random,
                names: 0,
            };
            let mut fields = Vec::new();
            for _ in 0..=maker.random.up_to(2) {
                let field = maker.root_field(&ids);
                let mut text = String::new();
                maker.add(&mut text, &field);
                fields.push(text);
            }
            let together = ask(&run.client, &fields.concat(), &variables).await;
            let mut alone = Vec::new();
            for field in &fields {
                alone.push(ask(&run.client, field, &variables).await);
            }
            let context = format!("seed {seed}: {fields:?}\n{variables}");
            assert_joined(&together, &alone, &context);
            queries += 1;
            let text = together.to_string();
            covered += usize::from(text.contains("\"covered\":true"));
            elements += usize::from(text.contains("},{"));
            failed += usize::from(together["data"].is_null());
        }
    }
    assert!(covered > 0, "no page was covered");
    assert!(elements > queries / 4, "{elements} lists had elements");
    assert!(failed < queries / 4, "{failed} responses have no data");
}

/// Asserts that a response has what the responses to its fields have.
fn assert_joined(together: &Value, alone: &[Value], context: &str) {
    if together["data"].is_null() {
        let fails = |alone: &Value| alone["data"].is_null();
        assert!(alone.iter().any(fails), "{context}\n{together}");
        return;
    }
    let mut data = serde_json::Map::new();
    let mut errors = Vec::new();
    for alone in alone {
        let of_one = alone["data"].as_object();
        data.extend(
            of_one
                .unwrap_or_else(|| panic!("{context}\n{alone}"))
                .clone(),
        );
        errors.extend(alone["errors"].as_array().cloned().unwrap_or_default());
    }
    assert_eq!(together["data"], Value::Object(data), "{context}");
    let found = together["errors"].as_array().cloned().unwrap_or_default();
    assert_eq!(found, errors, "{context}");
}

const DECLARED: &str = "query($where: DocumentFilter, $keys: DocumentKeyFilter, \
                        $by: [DocumentOrder!], $first: Int, $yes: Boolean = true)";

/// The response to these root fields. Errors have no positions in the query.
async fn ask(client: &Client, root: &str, variables: &Value) -> Value {
    // Every variable must be used.
    let used = "used: documents(where: $where, keys: $keys, orderBy: $by, first: $first) \
                @skip(if: true) { __typename } yes: __typename @skip(if: $yes)";
    let query = format!("{DECLARED} {{ {root} {used} }}");
    let mut found = parse(&answer(client, &query, &variables.to_string()).await);
    for error in found["errors"].as_array_mut().into_iter().flatten() {
        error["locations"].take();
    }
    found
}

async fn every_way_to_a_document_finds_the_same() {
    let (mut with_lists, mut failed) = (0, 0);
    for seed in seeds() {
        let mut run = Run::new(8_000_000 + seed).await;
        let ids: Vec<String> = run.documents.keys().map(ToString::to_string).collect();
        for id in ids.iter().take(QUERIES) {
            let mut maker = Maker {
                random: &mut run.random,
                names: 0,
            };
            let below = maker.value("Document", 3);
            let id = json!(id);
            let key = format!("keys: {{in: [{id}]}}");
            let query = format!("{{ document(id: {id}) {{ document {{ id }} }} }}");
            let name = run.client.data(&query, NONE).await["document"]["document"]["id"].take();
            let ways = [
                (
                    format!(
                        "query($yes: Boolean = true) {{ f: document(id: {id}) {{ document {below} }} y: __typename @skip(if: $yes) }}"
                    ),
                    "/data/f/document",
                ),
                (
                    format!(
                        "query($yes: Boolean = true) {{ f: node(id: {name}) {{ ... on Document {below} }} y: __typename @skip(if: $yes) }}"
                    ),
                    "/data/f",
                ),
                (
                    format!(
                        "query($yes: Boolean = true) {{ f: nodes(ids: [{name}]) {{ ... on Document {below} }} y: __typename @skip(if: $yes) }}"
                    ),
                    "/data/f/0",
                ),
                (
                    format!(
                        "query($yes: Boolean = true) {{ f: documents({key}) {{ nodes {below} }} y: __typename @skip(if: $yes) }}"
                    ),
                    "/data/f/nodes/0",
                ),
                (
                    format!(
                        "query($yes: Boolean = true) {{ f: documents({key}) {{ edges {{ node {below} }} }} y: __typename @skip(if: $yes) }}"
                    ),
                    "/data/f/edges/0/node",
                ),
                (
                    format!(
                        "mutation($yes: Boolean = true) {{ f: testDocument(id: {id}, matches: {{}}) {below} y: __typename @skip(if: $yes) }}"
                    ),
                    "/data/f",
                ),
            ];
            let mut found: Vec<(Value, Vec<String>)> = Vec::new();
            for (query, at) in &ways {
                let response = run.client.ask(query, "{}").await;
                let errors = response["errors"].as_array();
                let messages = errors.into_iter().flatten();
                let messages = messages.map(|error| error["message"].to_string());
                let data = response.pointer(at).cloned().unwrap_or_default();
                found.push((data, messages.collect()));
            }
            let (data, errors) = found.remove(0);
            for ((other, messages), (query, _)) in found.iter().zip(&ways[1..]) {
                let context = format!("seed {seed}: {query}\n{data}\n{other}");
                if errors.is_empty() {
                    assert_eq!(*other, data, "{context}");
                    assert!(messages.is_empty(), "{context}: {messages:?}");
                } else {
                    assert!(!messages.is_empty(), "{context}");
                    assert!(errors.contains(&messages[0]), "{errors:?} {messages:?}");
                }
            }
            with_lists += usize::from(data.to_string().contains("},{"));
            failed += usize::from(!errors.is_empty());
        }
    }
    assert!(with_lists > 5, "{with_lists} have lists with elements");
    assert!(failed > 0, "no selection failed");
}

/// The response to these root fields as text.
async fn text(client: &Client, root: &str) -> String {
    answer(client, &format!("{{ {root} }}"), NONE).await
}

async fn filled() -> Client {
    let client = client().await;
    for id in 1..=3 {
        let document = json!({"n": id, "list": [1, {"x": id}, [3, 4], "last"]});
        client.insert(&id.to_string(), document).await;
    }
    client
}

async fn errors_in_elements_have_their_paths() {
    let client = filled().await;
    // Index and key side by side, which no document has.
    client.insert("4", json!({"n": 4})).await;
    client
        .plant(4, &[(json!(["odd", 0]), "1"), (json!(["odd", "key"]), "3")])
        .await;
    let root = r#"documents { edges { node { key odd: value(path: "/odd") n: value(path: "/n") } } }
        document(id: 4) { select(query: "$") { value(path: "/odd") n: value(path: "/n") } }"#;
    let found = text(&client, root).await;
    let found = parse(&found);
    let errors = found["errors"].as_array().expect("errors");
    let paths: Vec<&Value> = errors.iter().map(|error| &error["path"]).collect();
    let expected = [
        json!(["documents", "edges", 3, "node", "odd"]),
        json!(["document", "select", 0, "value"]),
    ];
    assert_eq!(paths, expected.iter().collect::<Vec<_>>());
    let last = &found["data"]["documents"]["edges"][3]["node"];
    assert_eq!(*last, json!({"key": "4", "odd": null, "n": 4}));
}

async fn errors_of_lists_have_codes() {
    let client = filled().await;
    for (root, code) in [
        ("documents(first: -1) { totalCount }", "BAD_USER_INPUT"),
        ("documents(after: \"00\") { totalCount }", "BAD_USER_INPUT"),
        (
            "documents(collection: \"\") { totalCount }",
            "BAD_USER_INPUT",
        ),
        (
            "documents(where: {at: \"$[\", eq: 1}) { totalCount }",
            "BAD_USER_INPUT",
        ),
        (
            "document(id: 1) { select(query: \"$[\") { value } }",
            "BAD_USER_INPUT",
        ),
        (
            "documents(where: {at: \"$.n\", gt: 7}, scanLimit: 1) { nodes { key } }",
            "TOO_COMPLEX",
        ),
    ] {
        let more = "second: documents(first: 1) { totalCount }";
        for root in [root.to_owned(), format!("{root} {more}")] {
            let found = text(&client, &root).await;
            let found = parse(&found);
            assert_eq!(found["errors"][0]["extensions"]["code"], code, "{found}");
        }
    }
}

async fn selections_may_read_lengths_first() {
    let client = filled().await;
    for (query, values) in [
        ("$.list[-1]", json!(["last"])),
        ("$.list[-2:]", json!([[3, 4], "last"])),
        ("$.list[-3].x", json!([2])),
        ("$.list[-9]", json!([])),
        ("$.none[-1]", json!([])),
    ] {
        let root = format!("document(id: 2) {{ select(query: \"{query}\") {{ value }} }}");
        let found = text(&client, &root).await;
        let found = parse(&found);
        let selected = found["data"]["document"]["select"].as_array();
        let selected = selected.expect("a list").iter();
        let selected: Vec<Value> = selected.map(|part| part["value"].clone()).collect();
        assert_eq!(json!(selected), values, "{query}");
    }
    // Nothing is selected in a document that does not exist.
    let root = "document(id: 9) { select(query: \"$.list[-1]\") { value } }";
    let found = text(&client, root).await;
    assert_eq!(found, r#"{"data":{"document":null}}"#);
}

async fn cursors_page_through_an_order() {
    let client = filled().await;
    let page = "documents(first: 1, AFTER orderBy: {by: \"$.n\", descending: true}) \
                { edges { cursor node { key } } pageInfo { endCursor hasNextPage hasPreviousPage } }";
    let mut after = String::new();
    let mut keys = Vec::new();
    loop {
        let root = page.replace("AFTER", &after);
        let found = text(&client, &root).await;
        let found = &parse(&found)["data"]["documents"];
        let edge = &found["edges"][0];
        assert_eq!(edge["cursor"], found["pageInfo"]["endCursor"]);
        keys.push(edge["node"]["key"].clone());
        if found["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
        after = format!("after: {},", edge["cursor"]);
    }
    assert_eq!(json!(keys), json!(["3", "2", "1"]));
}

async fn limits_of_lists_are_named() {
    const MAX: usize = 60;
    let client = filled().await;
    for id in 4..=40 {
        client.insert(&id.to_string(), json!({"n": id})).await;
    }
    let (mut fields, mut places) = (*client.graphql.bounds(), *client.graphql.bounds());
    fields.response_fields = MAX;
    places.places = MAX;
    for (bounds, limit) in [(fields, "responseFields"), (places, "places")] {
        let client = client.within(bounds);
        for root in [
            "documents { nodes { a: value(path: \"/n\") b: value(path: \"/list\") } }",
            "a: documents { nodes { value } } b: documents { nodes { key version value } }",
        ] {
            let found = text(&client, root).await;
            let found = parse(&found);
            let error = &found["errors"][0]["extensions"];
            assert_eq!(error["code"], "TOO_COMPLEX", "{root}: {found}");
            assert_eq!(error["limitName"], limit, "{found}");
        }
    }
}
