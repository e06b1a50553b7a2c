//! Compares planned execution with the general executor. The general executor gets the same query
//! with one more field that cannot be planned, and must return the same bytes except for that
//! field.
//!
//! A failure prints the seed and the query.

use std::fmt::Write;

use bytes::Bytes;
use phyllo::graphql::{GraphQlResponse, Methods, Request, RequestStats};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::support::{Client, NONE, client, parse};

cases!(
    damaged("a document is malformed") [
        errors_at_one_path_do_not_affect_the_others,
        errors_of_listed_paths_are_equal,
    ]
    async [
        random_planned_queries_equal_general_execution,
        only_introspection_uses_the_general_executor,
        skipped_entities_do_not_count,
        both_executions_reject_too_many_entities,
    ]
);

const QUERIES: u64 = 2_000;

const DOCUMENT: &str = r#"{"a": {"b": [1, {"c": "x"}, []], "0": "zero", "": null}, "list": [[1, 2], "text", 1.5e300],
    "empty": {}, "t": true, "long name with \"quotes\" and \\": {"7": {"a": 7}}}"#;

/// As written in a query, or as variables.
const PATHS: [&str; 14] = [
    r#""""#,
    "[]",
    "null",
    r#""/a""#,
    r#""/a/b/1/c""#,
    r#""/a/0""#,
    r#"["a", "0"]"#,
    r#"["list", 0]"#,
    r#""/list/0/1""#,
    r#""/list/0""#,
    r#""/empty""#,
    r#""/nothing/here""#,
    r#"["long name with \"quotes\" and \\"]"#,
    r#"["a", "b", 1]"#,
];

const IDS: [&str; 6] = ["1", "2", r#""1""#, r#""two""#, r#""\"7\"""#, "404"];

/// Generates queries. Each argument is a literal or a variable.
struct Maker {
    random: StdRng,
    variables: Vec<(String, &'static str, String)>,
    fragments: String,
    names: usize,
}

impl Maker {
    fn new(seed: u64) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            variables: Vec::new(),
            fragments: String::new(),
            names: 0,
        }
    }

    fn one_of(&mut self, several: &[&'static str]) -> &'static str {
        several.choose(&mut self.random).expect("there are several")
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn given(&mut self, literal: &str, ty: &'static str) -> String {
        if self.random.random_ratio(1, 3) {
            let name = self.name();
            self.variables.push((name.clone(), ty, literal.to_owned()));
            return format!("${name}");
        }
        literal.to_owned()
    }

    fn path(&mut self, required: bool) -> String {
        let paths = if required { &PATHS[3..] } else { &PATHS[..] };
        let path = self.one_of(paths);
        if path.starts_with("[\"a\", \"b\"") && self.random.random() {
            let index = self.given("1", "Int!");
            return format!(r#"["a", "b", {index}]"#);
        }
        self.given(path, if required { "Path!" } else { "Path" })
    }

    /// A list of paths, or a variable that is one.
    fn paths(&mut self) -> String {
        let count = self.random.random_range(0..4);
        if self.random.random() {
            let paths: Vec<&str> = (0..count).map(|_| self.one_of(&PATHS[3..])).collect();
            return self.given(&format!("[{}]", paths.join(", ")), "[Path!]!");
        }
        let paths: Vec<String> = (0..count).map(|_| self.path(true)).collect();
        format!("[{}]", paths.join(", "))
    }

    fn directive(&mut self) -> String {
        if self.random.random_ratio(3, 4) {
            return String::new();
        }
        let name = self.one_of(&["skip", "include"]);
        let flag = self.one_of(&["true", "false"]);
        let flag = self.given(flag, "Boolean!");
        format!(" @{name}(if: {flag})")
    }

    /// A selection on a `Subdocument` or a `Document`.
    fn selection(&mut self, whole: bool, levels: usize) -> String {
        let mut fields = String::from("{ ");
        for _ in 0..self.random.random_range(1..5) {
            let (alias, directive) = (self.name(), self.directive());
            let field = match self.random.random_range(0..11) {
                0 => "__typename".to_owned(),
                2 => "kind".to_owned(),
                1 => self.one_of(&["version", "id"]).to_owned(),
                3 if whole => "key".to_owned(),
                4 if whole => "collection".to_owned(),
                3 => "path".to_owned(),
                4 | 5 if levels > 0 => {
                    let path = self.path(true);
                    let below = self.selection(false, levels - 1);
                    let _ = write!(
                        fields,
                        "{alias}: subdocument(path: {path}){directive} {below} "
                    );
                    continue;
                }
                6 if levels > 0 && !whole => {
                    let below = self.selection(true, levels - 1);
                    let _ = write!(fields, "{alias}: document{directive} {below} ");
                    continue;
                }
                7 if levels > 0 => {
                    let below = self.selection(whole, levels - 1);
                    let ty = if whole { "Document" } else { "Subdocument" };
                    if self.random.random() {
                        let _ = write!(fields, "... on {ty}{directive} {below} ");
                    } else {
                        let _ = write!(self.fragments, "fragment {alias} on {ty} {below} ");
                        let _ = write!(fields, "...{alias}{directive} ");
                    }
                    continue;
                }
                8 | 9 => {
                    let name = self.one_of(&["values", "pick"]);
                    let paths = self.paths();
                    format!("{name}(paths: {paths})")
                }
                _ => {
                    let path = self.path(false);
                    format!("value(path: {path})")
                }
            };
            let _ = write!(fields, "{alias}: {field}{directive} ");
        }
        fields.push('}');
        fields
    }

    fn root(&mut self) -> String {
        let mut fields = String::new();
        for _ in 0..self.random.random_range(1..4) {
            let (alias, directive) = (self.name(), self.directive());
            if self.random.random_ratio(1, 6) {
                let _ = write!(fields, "{alias}: __typename{directive} ");
                continue;
            }
            if self.random.random_ratio(1, 5) {
                let mut representations = Vec::new();
                for _ in 0..self.random.random_range(0..5) {
                    let id: Value = parse(self.one_of(&IDS));
                    let collection = self.one_of(&["D", "D", "D", "D", "E", ""]);
                    let by_key =
                        json!({"__typename": "Document", "collection": collection, "key": id});
                    let by_id = json!({"__typename": "Document", "id": "D/two", "more": {}});
                    let malformed = json!({"__typename": "Other", "id": id});
                    let representation = match self.random.random_range(0..12) {
                        0 => malformed.clone(),
                        1..4 => by_id,
                        _ => by_key,
                    };
                    representations.push(representation);
                }
                let name = self.name();
                let given = Value::from(representations).to_string();
                self.variables.push((name.clone(), "[_Any!]!", given));
                let below = self.selection(true, 2);
                let _ = write!(
                    fields,
                    "{alias}: _entities(representations: ${name}){directive} {{ ... on Document {below} }} "
                );
            } else {
                let id = self.one_of(&IDS);
                let (id, path) = (self.given(id, "ID!"), self.path(false));
                let collection = self.one_of(&["", r#", collection: "D""#, r#", collection: "E""#]);
                let below = self.selection(false, 3);
                let _ = write!(
                    fields,
                    "{alias}: document(id: {id}, path: {path}{collection}){directive} {below} "
                );
            }
        }
        fields
    }

    fn declared(&self) -> String {
        let each = |(name, ty, _): &(String, &str, String)| format!("${name}: {ty} ");
        match &self.variables[..] {
            [] => String::new(),
            variables => format!("({})", variables.iter().map(each).collect::<String>()),
        }
    }

    fn variables(&self) -> String {
        let each = |(name, _, value): &(String, &str, String)| format!("\"{name}\":{value}");
        let each: Vec<String> = self.variables.iter().map(each).collect();
        format!("{{{}}}", each.join(","))
    }
}

async fn filled() -> Client {
    let client = client().await;
    for id in ["1", "two", "\"7\""] {
        client.insert(id, DOCUMENT).await;
    }
    // A document that Phyllo has not written.
    client.plant(2, &[(json!(["a", "b"]), "5")]).await;
    let other = "mutation { insertDocument(id: 1, collection: \"E\", document: [1, 2]) { key } }";
    client.data(other, NONE).await;
    client
}

/// The response, and whether it was planned.
pub(super) async fn answer(client: &Client, query: &str, variables: &str) -> (String, bool) {
    let body = format!("{{\"query\":{},\"variables\":{variables}}}", json!(query));
    let request = Request::from_json(&Bytes::from(body)).expect("a request");
    let mut report = RequestStats::default();
    let graphql = &client.graphql;
    let answer = graphql.answer_and_tell(request, Methods::All, &mut report);
    let (GraphQlResponse::Executed(json) | GraphQlResponse::Refused(json)) = answer.await else {
        panic!("{query} is a query");
    };
    let json = String::from_utf8(json).expect("a response is UTF-8");
    (json, report.planned)
}

async fn random_planned_queries_equal_general_execution() {
    let client = filled().await;
    let mut nulls = 0;
    for seed in 0..QUERIES {
        let mut maker = Maker::new(seed);
        let root = maker.root();
        let (declared, fragments) = (maker.declared(), &maker.fragments);
        let query = format!("query{declared} {{ {root} }} {fragments}");
        let general = format!(
            "query{declared} {{ {root} more: __type(name: \"Path\") {{ name }} }} {fragments}"
        );
        let variables = maker.variables();
        let (found, planned) = answer(&client, &query, &variables).await;
        assert!(planned, "seed {seed}: {query}\n{variables}\n{found}");
        let (expected, planned) = answer(&client, &general, &variables).await;
        assert!(!planned, "seed {seed}: {general}");
        let more = r#""more":{"name":"Path"}"#;
        let expected = expected.replace(&format!(",{more}"), "").replace(more, "");
        assert_eq!(found, expected, "seed {seed}: {query}\n{variables}");
        nulls += usize::from(found.contains(":null"));
    }
    assert!(nulls > 200, "{nulls} queries came to where nothing is");
}

async fn errors_at_one_path_do_not_affect_the_others() {
    let client = filled().await;
    let array = json!([0, "b"]);
    // Index and key side by side, which no document has.
    client
        .plant(9, &[(json!(["odd", 0]), "1"), (array, "2")])
        .await;
    client.plant(9, &[(json!(["odd", "key"]), "3")]).await;
    let query = r#"query($r: [_Any!]!) {
        fine: document(id: 1) { t: value(path: "/t") }
        broken: document(id: 9) { kind wrong: value(path: "/odd") right: value(path: ["odd", 0]) }
        _entities(representations: $r) { ... on Document { value(path: "/odd") } }
    }"#;
    let representations = ["1", "9"]
        .map(|id| json!({"__typename": "Document", "collection": "D", "key": id}))
        .to_vec();
    let variables = json!({"r": representations}).to_string();
    let (found, planned) = answer(&client, query, &variables).await;
    assert!(planned, "{found}");
    let found = parse(&found);
    let data = json!({
        "fine": {"t": true},
        "broken": {"kind": found["data"]["broken"]["kind"], "wrong": null, "right": 1},
        "_entities": [{"value": null}, {"value": null}],
    });
    assert_eq!(found["data"], data);
    let errors = found["errors"].as_array().expect("errors");
    let told = |error: &Value| {
        let code = error["extensions"]["code"].as_str().map(str::to_owned);
        (
            code,
            error["path"].clone(),
            error["locations"][0]["line"].clone(),
        )
    };
    let told: Vec<_> = errors.iter().map(told).collect();
    let internal = Some("INTERNAL".to_owned());
    let expected = [
        (internal.clone(), json!(["broken", "wrong"]), json!(3)),
        (internal, json!(["_entities", 1, "value"]), json!(4)),
    ];
    assert_eq!(told, expected);
}

async fn errors_of_listed_paths_are_equal() {
    let client = filled().await;
    client
        .plant(9, &[(json!(["odd", 0]), "1"), (json!(["odd", "key"]), "3")])
        .await;
    for (field, value, path) in [
        (
            r#"values(paths: ["/odd", ["odd", 0], "/none"])"#,
            json!([null, 1, null]),
            json!(["broken", "x", 0]),
        ),
        (
            r#"pick(paths: [["odd", 0], "/odd/key"])"#,
            json!(null),
            json!(["broken", "x"]),
        ),
    ] {
        let fields = format!(
            "broken: document(id: 9) {{ x: {field} }} _entities(representations: $r) {{ __typename }}"
        );
        let found = both(&client, &fields, &json!({"r": []})).await;
        assert_eq!(found["data"]["broken"]["x"], value);
        assert_eq!(found["errors"].as_array().map(Vec::len), Some(1), "{found}");
        assert_eq!(found["errors"][0]["path"], path);
        assert_eq!(found["errors"][0]["extensions"]["code"], "INTERNAL");
    }
}

async fn only_introspection_uses_the_general_executor() {
    let client = filled().await;
    let query = "{ __schema { queryType { name } } }";
    let (found, planned) = answer(&client, query, NONE).await;
    assert!(!planned, "{query}");
    assert_eq!(parse(&found).get("errors"), None, "{query}: {found}");
    for (query, code) in [
        ("{ document(id: 1, path: \"a\") { kind } }", "INVALID_PATH"),
        (
            "{ document(id: 1, collection: \"\") { kind } }",
            "BAD_USER_INPUT",
        ),
    ] {
        let (found, planned) = answer(&client, query, NONE).await;
        assert!(planned, "{query}");
        let found = parse(&found);
        assert_eq!(found["errors"][0]["extensions"]["code"], code, "{found}");
        assert_eq!(found["errors"][0]["path"], json!(["document"]), "{found}");
    }
}

/// This many representations of an existing document, each followed by one that matches no key.
fn representations(count: usize) -> Value {
    let known = json!({"__typename": "Document", "collection": "D", "key": "1"});
    let unknown = json!({"__typename": "Other", "id": "1"});
    (0..count)
        .map(|at| [&known, &unknown][at % 2].clone())
        .collect()
}

/// The response, which both executions must return.
async fn both(client: &Client, fields: &str, variables: &Value) -> Value {
    let mut responses = Vec::new();
    for more in ["__typename", "collections @skip(if: $no) { name }"] {
        let query = format!(
            "query($r: [_Any!]!, $no: Boolean = false) {{ {fields} more: {more} other: __typename @skip(if: $no) }}"
        );
        let (found, _) = answer(client, &query, &variables.to_string()).await;
        let mut found = parse(&found);
        if let Some(data) = found["data"].as_object_mut() {
            data.remove("more");
            data.remove("other");
        }
        responses.push(found);
    }
    let [planned, general] = &responses[..] else {
        unreachable!("two queries are asked")
    };
    assert_eq!(planned, general, "{fields}");
    planned.clone()
}

async fn skipped_entities_do_not_count() {
    let client = filled().await;
    let many = json!({"r": representations(1_001)});
    let none = json!({"data": {}});
    for fields in [
        "_entities(representations: $r) @skip(if: true) { __typename }",
        "_entities(representations: $r) @include(if: false) { __typename }",
        "_entities(representations: $r) @include(if: $no) { __typename }",
        "... on Query @include(if: $no) { _entities(representations: $r) { __typename } }",
    ] {
        assert_eq!(both(&client, fields, &many).await, none, "{fields}");
    }
    // The selected one counts on its own.
    let fields = "a: _entities(representations: $r) @include(if: $no) { __typename } \
                  b: _entities(representations: $r) { __typename }";
    let found = both(&client, fields, &json!({"r": representations(1_000)})).await;
    assert_eq!(found["data"]["b"].as_array().map(Vec::len), Some(1_000));
}

async fn both_executions_reject_too_many_entities() {
    let client = filled().await;
    for (count, fields) in [
        (1_001, "_entities(representations: $r) { __typename }"),
        (
            501,
            "a: _entities(representations: $r) { __typename } \
             b: _entities(representations: $r) @skip(if: $no) { __typename }",
        ),
    ] {
        let found = both(&client, fields, &json!({"r": representations(count)})).await;
        assert_eq!(found["errors"][0]["extensions"]["code"], "TOO_COMPLEX");
        assert_eq!(found["data"], Value::Null, "{found}");
    }
}
