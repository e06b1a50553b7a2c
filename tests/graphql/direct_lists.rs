//! Compares planned execution of lists with the general executor: pages of documents, and parts
//! that JSONPath queries select. The general executor gets the same query with one more field that
//! cannot be planned, and must return the same bytes except for that field.
//!
//! A failure prints the seed, the query and the variables.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use super::direct::answer;
use super::random_store::{Random, Run, seeds};
use super::support::{Client, NONE, client, parse};

cases!(
    damaged("a document is malformed") [
        errors_in_elements_have_their_paths,
    ]
    async [
        random_lists_equal_general_execution,
        errors_of_lists_are_equal,
        selections_that_read_lengths_first_are_planned,
        cursors_of_both_executions_are_the_same,
        limits_of_lists_are_those_of_the_general_executor,
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

    /// A selection on a document, on a part of it, or on a selected part.
    fn value(&mut self, of: &str, levels: usize) -> String {
        let mut fields = String::from("{ __typename ");
        for _ in 0..self.random.up_to(4) {
            let path = self.path();
            let other = self.path();
            let field = match (self.random.up_to(11), of) {
                (0, _) => "kind".to_owned(),
                (1, _) => "id".to_owned(),
                (2, "Document") => "key".to_owned(),
                (2, _) => "path".to_owned(),
                (3, "Document") => "collection".to_owned(),
                (4, "Document" | "Subdocument") => "version".to_owned(),
                (5, "Document" | "Subdocument") => format!("omit(paths: [{path}])"),
                (6, _) => format!("values(paths: [{path}, {other}])"),
                (7, _) => format!("pick(paths: [{path}, {other}])"),
                (8, _) if levels > 0 => {
                    let of = if of == "Selected" { of } else { "Subdocument" };
                    let below = self.value(of, levels - 1);
                    format!("subdocument(path: {path}) {below}")
                }
                (9, "Subdocument") if levels > 0 => {
                    let below = self.value("Document", levels - 1);
                    format!("document {below}")
                }
                _ => format!("value(path: {path})"),
            };
            self.add(&mut fields, &field);
        }
        fields.push('}');
        fields
    }

    /// Adds a field with an alias, and sometimes with a condition.
    fn add(&mut self, fields: &mut String, field: &str) {
        let (alias, directive) = (self.name(), self.directive());
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

    /// A selection on a part of a document, with JSONPath queries.
    fn selects(&mut self) -> String {
        let mut fields = String::from("{ kind ");
        for _ in 0..=self.random.up_to(2) {
            let query = *self.random.choose(&SELECTS);
            let below = self.value("Selected", 2);
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

async fn random_lists_equal_general_execution() {
    let (mut planned_queries, mut covered, mut elements) = (0, 0, 0);
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
            let mut root = String::new();
            for _ in 0..=maker.random.up_to(2) {
                let field = if maker.random.one_in(3) && !ids.is_empty() {
                    let id = json!(maker.random.choose(&ids));
                    format!("document(id: {id}) {}", maker.selects())
                } else {
                    let arguments = ["where: $where ", "keys: $keys ", "orderBy: $by "];
                    let mut some: String = arguments
                        .iter()
                        .filter(|_| maker.random.one_in(2))
                        .copied()
                        .collect();
                    let page = maker
                        .random
                        .choose(&["first: $first", "last: 3", "first: 7"]);
                    some.push_str(page);
                    format!("documents({some}) {}", maker.page())
                };
                maker.add(&mut root, &field);
            }
            let (found, planned) = both(&run.client, &root, &variables, seed).await;
            planned_queries += usize::from(planned);
            covered += usize::from(found.contains("\"covered\":true"));
            elements += usize::from(found.contains("},{"));
        }
    }
    let queries = QUERIES * seeds().count();
    assert!(
        planned_queries > queries / 2,
        "{planned_queries} were planned"
    );
    assert!(covered > 0, "no page was covered");
    assert!(elements > queries / 4, "{elements} lists had elements");
}

const DECLARED: &str = "query($where: DocumentFilter, $keys: DocumentKeyFilter, \
                        $by: [DocumentOrder!], $first: Int, $yes: Boolean = true)";

/// The response that both executions return, and whether the query was planned.
async fn both(client: &Client, root: &str, variables: &Value, seed: u64) -> (String, bool) {
    // Every variable must be used.
    let used = "used: documents(where: $where, keys: $keys, orderBy: $by, first: $first) \
                @skip(if: true) { __typename } yes: __typename @skip(if: $yes)";
    let query = format!("{DECLARED} {{ {root} {used} }}");
    let general = format!("{DECLARED} {{ {root} {used} more: collections {{ name }} }}");
    let variables = variables.to_string();
    let (found, planned) = answer(client, &query, &variables).await;
    let (expected, by_plan) = answer(client, &general, &variables).await;
    assert!(!by_plan, "{general}");
    let more = json!(client.data("{ collections { name } }", NONE).await["collections"]);
    let more = format!("\"more\":{more}");
    let expected = expected.replace(&format!(",{more}"), "").replace(&more, "");
    if found != expected {
        // On a cluster the general executor reports errors in the order in which its reads arrive.
        assert_eq!(
            with_sorted_errors(&found),
            with_sorted_errors(&expected),
            "seed {seed}: {query}\n{variables}"
        );
    }
    (found, planned)
}

/// A response with at least two errors, in an order of their own.
fn with_sorted_errors(response: &str) -> Value {
    let mut response = parse(response);
    let errors = response["errors"].as_array_mut();
    let errors = errors.expect("the order of errors is the only difference");
    assert!(errors.len() > 1, "{errors:?}");
    errors.sort_by_key(Value::to_string);
    response
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
    let (found, planned) = both(&client, root, &json!({"yes": true}), 0).await;
    assert!(planned, "{found}");
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

async fn errors_of_lists_are_equal() {
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
            let (found, _) = both(&client, &root, &json!({"yes": true}), 0).await;
            let found = parse(&found);
            assert_eq!(found["errors"][0]["extensions"]["code"], code, "{found}");
        }
    }
}

async fn selections_that_read_lengths_first_are_planned() {
    let client = filled().await;
    for (query, values) in [
        ("$.list[-1]", json!(["last"])),
        ("$.list[-2:]", json!([[3, 4], "last"])),
        ("$.list[-3].x", json!([2])),
        ("$.list[-9]", json!([])),
        ("$.none[-1]", json!([])),
    ] {
        let root = format!("document(id: 2) {{ select(query: \"{query}\") {{ value }} }}");
        let (found, planned) = both(&client, &root, &json!({"yes": true}), 0).await;
        assert!(planned, "{query}");
        let found = parse(&found);
        let selected = found["data"]["document"]["select"].as_array();
        let selected = selected.expect("a list").iter();
        let selected: Vec<Value> = selected.map(|part| part["value"].clone()).collect();
        assert_eq!(json!(selected), values, "{query}");
    }
    // Nothing is selected in a document that does not exist.
    let root = "document(id: 9) { select(query: \"$.list[-1]\") { value } }";
    let (found, planned) = both(&client, root, &json!({"yes": true}), 0).await;
    assert!(planned);
    assert_eq!(found, r#"{"data":{"document":null}}"#);
}

async fn cursors_of_both_executions_are_the_same() {
    let client = filled().await;
    let page = "documents(first: 1, AFTER orderBy: {by: \"$.n\", descending: true}) \
                { edges { cursor node { key } } pageInfo { endCursor hasNextPage hasPreviousPage } }";
    let mut after = String::new();
    let mut keys = Vec::new();
    loop {
        let root = page.replace("AFTER", &after);
        let (found, planned) = both(&client, &root, &json!({"yes": true}), 0).await;
        assert!(planned, "{found}");
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

async fn limits_of_lists_are_those_of_the_general_executor() {
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
            let (found, _) = both(&client, root, &json!({"yes": true}), 0).await;
            let found = parse(&found);
            let error = &found["errors"][0]["extensions"];
            assert_eq!(error["code"], "TOO_COMPLEX", "{root}: {found}");
            assert_eq!(error["limitName"], limit, "{found}");
        }
    }
}
