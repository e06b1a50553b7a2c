//! Arguments in a query and in variables: both bind a plan to the same reads.
//!
//! A failure prints the seed and the query.

use std::fmt::Write;

use bytes::Bytes;
use phyllo::graphql::{GraphQlResponse, Methods, Request};
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
        random_variables_equal_literals,
        introspection_changes_no_other_field,
        skipped_entities_do_not_count,
        too_many_entities_are_rejected,
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
    /// Whether arguments that can be literals are.
    literal: bool,
}

impl Maker {
    fn new(seed: u64, literal: bool) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            variables: Vec::new(),
            fragments: String::new(),
            names: 0,
            literal,
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
            if self.literal {
                return literal.to_owned();
            }
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

/// The response as text.
pub(super) async fn answer(client: &Client, query: &str, variables: &str) -> String {
    let body = format!("{{\"query\":{},\"variables\":{variables}}}", json!(query));
    let request = Request::from_json(&Bytes::from(body)).expect("a request");
    let answer = client.graphql.answer(request, Methods::All).await;
    let (GraphQlResponse::Executed(json) | GraphQlResponse::Refused(json)) = answer else {
        panic!("{query} is a query");
    };
    String::from_utf8(json).expect("a response is UTF-8")
}

/// The response without the positions of errors in the query.
fn without_locations(response: &str) -> Value {
    let mut response = parse(response);
    for error in response["errors"].as_array_mut().into_iter().flatten() {
        error["locations"].take();
    }
    response
}

async fn random_variables_equal_literals() {
    let client = filled().await;
    let (mut nulls, mut with_variables) = (0, 0);
    for seed in 0..QUERIES {
        let mut found = Vec::new();
        for literal in [false, true] {
            let mut maker = Maker::new(seed, literal);
            let root = maker.root();
            let (declared, fragments) = (maker.declared(), &maker.fragments);
            let query = format!("query{declared} {{ {root} }} {fragments}");
            let response = answer(&client, &query, &maker.variables()).await;
            found.push((without_locations(&response), query, maker.variables));
        }
        let ((bound, query, variables), (written, literals, _)) = (&found[0], &found[1]);
        assert_eq!(bound, written, "seed {seed}: {query}\n{literals}");
        nulls += usize::from(bound.to_string().contains(":null"));
        with_variables += usize::from(!variables.is_empty());
    }
    assert!(nulls > 200, "{nulls} queries came to where nothing is");
    assert!(with_variables > 1_000, "{with_variables} have variables");
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
    let found = parse(&answer(&client, query, &variables).await);
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
        let found = response(&client, &fields, &json!({"r": []})).await;
        assert_eq!(found["data"]["broken"]["x"], value);
        assert_eq!(found["errors"].as_array().map(Vec::len), Some(1), "{found}");
        assert_eq!(found["errors"][0]["path"], path);
        assert_eq!(found["errors"][0]["extensions"]["code"], "INTERNAL");
    }
}

async fn introspection_changes_no_other_field() {
    let client = filled().await;
    let more = r#"more: __type(name: "Path") { name ...Kind } "#;
    let fragments = "fragment Kind on __Type { kind ofType { name } }";
    let expected = r#""more":{"name":"Path","kind":"SCALAR","ofType":null}"#;
    for fields in [
        r#"document(id: 1) { kind value(path: "/t") }"#,
        "documents(first: 2) { nodes { key select(query: \"$.list[*]\") { kind } } }",
        "__typename collections { name count }",
        "document(id: 1, path: \"a\") { kind }",
    ] {
        let alone = answer(&client, &format!("{{ {fields} }}"), NONE).await;
        let query = format!("{{ {more} {fields} }} {fragments}");
        let beside = answer(&client, &query, NONE).await;
        assert!(beside.contains(expected), "{beside}");
        let beside = beside.replace(&format!("{expected},"), "");
        assert_eq!(without_locations(&beside), without_locations(&alone));
    }
    // Conditions and merged selections are those of the query.
    let query = r#"query($no: Boolean = false, $name: String!, $all: Boolean) {
        __schema @include(if: $no) { queryType { name } }
        a: __type(name: $name) { kind }
        ... @skip(if: $no) { a: __type(name: $name) { fields(includeDeprecated: $all) { name } } }
        ... @include(if: $no) { a: __type(name: $name) { description } }
    }"#;
    let found = answer(&client, query, r#"{"name": "_Service"}"#).await;
    let expected = r#"{"data":{"a":{"kind":"OBJECT","fields":[{"name":"sdl"}]}}}"#;
    assert_eq!(found, expected);
}

/// This many representations of an existing document, each followed by one that matches no key.
fn representations(count: usize) -> Value {
    let known = json!({"__typename": "Document", "collection": "D", "key": "1"});
    let unknown = json!({"__typename": "Other", "id": "1"});
    (0..count)
        .map(|at| [&known, &unknown][at % 2].clone())
        .collect()
}

/// The response to these fields.
async fn response(client: &Client, fields: &str, variables: &Value) -> Value {
    let query = format!(
        "query($r: [_Any!]!, $no: Boolean = false) {{ {fields} other: __typename @include(if: $no) }}"
    );
    parse(&answer(client, &query, &variables.to_string()).await)
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
        assert_eq!(response(&client, fields, &many).await, none, "{fields}");
    }
    // The selected one counts on its own.
    let fields = "a: _entities(representations: $r) @include(if: $no) { __typename } \
                  b: _entities(representations: $r) { __typename }";
    let found = response(&client, fields, &json!({"r": representations(1_000)})).await;
    assert_eq!(found["data"]["b"].as_array().map(Vec::len), Some(1_000));
}

async fn too_many_entities_are_rejected() {
    let client = filled().await;
    for (count, fields) in [
        (1_001, "_entities(representations: $r) { __typename }"),
        (
            501,
            "a: _entities(representations: $r) { __typename } \
             b: _entities(representations: $r) @skip(if: $no) { __typename }",
        ),
    ] {
        let found = response(&client, fields, &json!({"r": representations(count)})).await;
        assert_eq!(found["errors"][0]["extensions"]["code"], "TOO_COMPLEX");
        assert_eq!(found["data"], Value::Null, "{found}");
    }
}
