//! The parser and the validator, compared with GraphQL.js on generated and changed texts.
//!
//! Both judge each text: valid or not. The literals of valid texts are stored, and read back as the
//! JSON that GraphQL.js reads. [`DIFFERENCES`] has the differences that are intended. The test is
//! skipped without Node.js.
//!
//! `PHYLLO_COMPARED_TEXTS` is the number of texts; `PHYLLO_TEST_SEED` repeats a run.

mod generate;
#[path = "../npm/mod.rs"]
mod npm;
#[path = "../seed/mod.rs"]
mod seed;
#[path = "../skip/mod.rs"]
mod skip;
#[path = "../fuzz/targets/world.rs"]
mod world;

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use generate::{Generator, INTROSPECTION};
use phyllo::graphql::{GraphQl, GraphQlResponse, Methods, Request};
use seed::test_seed;
use serde_json::{Number, Value, json};
use skip::{rounds, skipped};
use world::World;

/// A judgement that differs from that of GraphQL.js for a reason.
struct Difference {
    reason: &'static str,
    /// Whether the difference between our error and theirs, for a text, has this reason.
    explains: fn(text: &str, ours: Option<&Refused>, theirs: Option<&str>) -> bool,
}

/// Why we reject a text.
#[derive(Debug)]
struct Refused {
    message: String,
    code: String,
}

/// The intended differences.
const DIFFERENCES: &[Difference] = &[
    Difference {
        reason: "Phyllo limits the size of a query",
        explains: |_, ours, _| ours.is_some_and(|ours| ours.code == "TOO_COMPLEX"),
    },
    Difference {
        reason: "GraphQL.js limits the depth of introspection; Phyllo limits its response",
        explains: |_, ours, theirs| {
            let limit = "Maximum introspection depth exceeded";
            ours.is_none() && theirs.is_some_and(|theirs| theirs == limit)
        },
    },
    Difference {
        reason: "the specification forbids @skip, @include and introspection at the root of a \
                 subscription (5.2.4.1); GraphQL.js 16 accepts them, and then a field that is left out",
        explains: |text, ours, theirs| {
            let forbidden = [
                "the root field of a subscription cannot have directives",
                "Unknown field \"__typename\" on type \"Subscription\".",
            ];
            let has_directive = text.contains("skip") || text.contains("include");
            theirs.is_none()
                && has_directive
                && ours.is_some_and(|ours| forbidden.contains(&&*ours.message))
        },
    },
    Difference {
        reason: "the specification forbids a nullable variable as the one field of an input object \
                 (5.8.5); GraphQL.js 16 does not see it in an object of a type that is not null",
        explains: |_, ours, theirs| {
            let forbidden = "of which exactly one field is given.";
            theirs.is_none() && ours.is_some_and(|ours| ours.message.ends_with(forbidden))
        },
    },
    Difference {
        reason: "the keys of documents are integers of 64 bits: another integer is no ID, because it \
                 would be a string",
        explains: |_, ours, theirs| {
            let expected = "expected type \"ID\"";
            theirs.is_none() && ours.is_some_and(|ours| ours.message.ends_with(expected))
        },
    },
    Difference {
        reason: "the specification allows any number of digits in \\u{…}; GraphQL.js allows eight",
        explains: |text, ours, theirs| {
            let invalid = "Invalid Unicode escape sequence";
            ours.is_none()
                && text.contains("\\u{0")
                && theirs.is_some_and(|it| it.contains(invalid))
        },
    },
    Difference {
        reason: "arguments are the same if their values are; GraphQL.js compares a string and a block \
                 string as they are written",
        explains: |text, ours, theirs| {
            let differing = "they have differing arguments";
            ours.is_none()
                && text.contains("\"\"\"")
                && theirs.is_some_and(|theirs| theirs.contains(differing))
        },
    },
    Difference {
        reason: "a variable in a list in a literal of a scalar may have any type, as in an object; \
                 GraphQL.js expects the scalar's own type in lists",
        explains: |_, ours, theirs| {
            let scalars = [
                "JSON",
                "Path",
                "PathSegment",
                "_Any",
                "JSONPath",
                "DocumentVersion",
            ];
            let expects = |it: &str| {
                let mut scalars = scalars.iter();
                scalars.any(|name| {
                    let ends = ["", "!"].map(|null| format!("expecting type \"{name}{null}\"."));
                    ends.iter().any(|end| it.ends_with(end))
                })
            };
            ours.is_none() && theirs.is_some_and(expects)
        },
    },
];

/// GraphQL.js in a process.
struct Judge {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The error of a text, if it is not valid, and the literals of a valid text, each with its JSON.
type Judgement = (Option<String>, Vec<(String, String)>);

impl Judge {
    /// Starts the process; none if Node.js or the package could not be installed.
    fn start() -> Option<Self> {
        let folder = npm::install("graphql_js")?;
        fs::copy("schema.graphql", folder.join("schema.graphql")).expect("a copy");
        Self::run(&folder)
    }

    fn run(folder: &Path) -> Option<Self> {
        let mut process = Command::new("node")
            .arg("judge.mjs")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        Some(Self {
            input: process.stdin.take()?,
            output: BufReader::new(process.stdout.take()?),
            process,
        })
    }

    fn send(&mut self, texts: &[String]) {
        let line = serde_json::to_string(texts).expect("texts are JSON");
        writeln!(self.input, "{line}").expect("Node.js reads");
    }

    fn receive(&mut self) -> Vec<Judgement> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("Node.js answers");
        serde_json::from_str(&line).expect("judgements")
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        let ended = self.process.kill().and_then(|()| self.process.wait());
        ended.expect("the process ends");
    }
}

/// Phyllo on an empty database.
struct Phyllo {
    world: World,
    graphql: GraphQl,
}

impl Phyllo {
    fn new() -> Self {
        let world = World::new();
        let graphql = GraphQl::new(world.database.clone());
        Self { world, graphql }
    }

    fn answer(&self, query: &str, operation: Option<&str>) -> Value {
        let request = Request {
            query: query.to_owned(),
            operation_name: operation.map(str::to_owned),
            ..Request::default()
        };
        let answer = self.graphql.answer(request, Methods::All);
        let (GraphQlResponse::Executed(json)
        | GraphQlResponse::Refused(json)
        | GraphQlResponse::MutationRefused(json)
        | GraphQlResponse::Forbidden(json)) = self.world.runtime.block_on(answer);
        serde_json::from_slice(&json).expect("a response is JSON")
    }

    /// Why a text is not valid. It is not executed, because no operation has this name.
    fn refuses(&self, text: &str) -> Option<Refused> {
        let response = self.answer(text, Some(" "));
        let error = &response["errors"][0];
        let message = error["message"].as_str().expect("an error");
        (message != "the query has no operation named \" \"").then(|| Refused {
            message: message.to_owned(),
            code: error["extensions"]["code"].to_string().replace('"', ""),
        })
    }

    /// Stores literals as the elements of a list, and reads them back.
    fn stored(&self, literals: &[(String, String)]) -> Option<Vec<Value>> {
        let elements: Vec<&str> = literals.iter().map(|(text, _)| text.as_str()).collect();
        let list = elements.join(" ");
        let query = format!("mutation {{ insertDocument(document: [{list}]) {{ value }} }}");
        let mut response = self.answer(&query, None);
        match response["data"]["insertDocument"]["value"].take() {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Asserts that literals are stored as these JSON texts.
    fn check_stored(&self, literals: &[(String, String)]) {
        let Some(stored) = self.stored(literals) else {
            match literals {
                [] => {}
                [(text, json)] => assert!(has_no_binary64(json), "{text} is stored"),
                _ => {
                    let (one, other) = literals.split_at(literals.len() / 2);
                    self.check_stored(one);
                    self.check_stored(other);
                }
            }
            return;
        };
        for ((text, json), stored) in literals.iter().zip(&stored) {
            let expected: Value = serde_json::from_str(json).expect("JSON");
            assert!(
                is_same(&expected, stored),
                "{text} is {json}, stored as {stored}"
            );
        }
    }
}

/// Whether a number of the JSON text is past the range of binary64 (docs/json.md).
fn has_no_binary64(json: &str) -> bool {
    fn any(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_none_or(f64::is_infinite),
            Value::Array(elements) => elements.iter().any(any),
            Value::Object(members) => members.values().any(any),
            _ => false,
        }
    }
    any(&serde_json::from_str(json).expect("JSON"))
}

/// Whether a value is stored. Integers are exact, and other numbers the nearest binary64.
fn is_same(expected: &Value, stored: &Value) -> bool {
    match (expected, stored) {
        (Value::Number(expected), Value::Number(stored)) => is_same_number(expected, stored),
        (Value::Array(expected), Value::Array(stored)) => {
            let mut pairs = expected.iter().zip(stored);
            expected.len() == stored.len()
                && pairs.all(|(expected, stored)| is_same(expected, stored))
        }
        (Value::Object(expected), Value::Object(stored)) => {
            let mut members = expected.iter();
            expected.len() == stored.len()
                && members.all(|(name, expected)| {
                    let stored = stored.get(name);
                    stored.is_some_and(|stored| is_same(expected, stored))
                })
        }
        _ => expected == stored,
    }
}

fn is_same_number(expected: &Number, stored: &Number) -> bool {
    let (expected, stored) = (expected.to_string(), stored.to_string());
    let is_integer = |text: &str| !text.contains(['.', 'e', 'E']);
    if is_integer(&expected) {
        return expected == stored || (expected == "-0" && stored == "0");
    }
    let number = |text: &str| text.parse::<f64>().expect("a number");
    !is_integer(&stored) && number(&expected).to_bits() == number(&stored).to_bits()
}

/// Asserts that Phyllo and GraphQL.js judge a text alike, or differ for a reason.
fn check_judged(text: &str, ours: Option<&Refused>, theirs: Option<&str>) {
    if ours.is_some() == theirs.is_some() {
        return;
    }
    let mut differences = DIFFERENCES.iter();
    let known = differences.find(|it| (it.explains)(text, ours, theirs));
    assert!(
        known.is_some_and(|known| !known.reason.is_empty()),
        "{text:?}\nPhyllo: {ours:?}\nGraphQL.js: {theirs:?}"
    );
}

#[test]
fn generated_texts_are_judged_like_graphql_js_judges_them() {
    const BATCH: usize = 500;
    let Some(mut judge) = Judge::start() else {
        skipped(
            "tests/graphql_js",
            "npm or its package could not be installed",
        );
        return;
    };
    let phyllo = Phyllo::new();
    let mut introspected = phyllo.answer(INTROSPECTION, None);
    let schema = introspected["data"]["__schema"].take();
    let mut generator = Generator::new(schema, test_seed());
    let given = std::env::var("PHYLLO_COMPARED_TEXTS").ok();
    let given = given.map(|given| given.parse().expect("a number"));
    let texts: usize = given.unwrap_or_else(|| rounds(2_000, 20_000));
    let (mut judged, mut valid) = (0, 0);
    let mut seen = HashSet::new();
    while judged < texts {
        let batch: Vec<String> = (0..BATCH).map(|_| generator.text()).collect();
        judge.send(&batch);
        let ours: Vec<Option<Refused>> = batch.iter().map(|text| phyllo.refuses(text)).collect();
        let mut literals = Vec::new();
        for ((text, ours), (theirs, found)) in batch.iter().zip(&ours).zip(judge.receive()) {
            check_judged(text, ours.as_ref(), theirs.as_deref());
            valid += usize::from(ours.is_none());
            literals.extend(
                found
                    .into_iter()
                    .filter(|(text, _)| seen.insert(text.clone())),
            );
        }
        for literals in literals.chunks(50) {
            phyllo.check_stored(literals);
        }
        judged += BATCH;
    }
    println!(
        "{valid} of {judged} texts are valid; {} literals were stored",
        seen.len()
    );
    assert!(valid > judged / 10, "{valid} of {judged} are valid");
    assert!(
        seen.len() > judged / 100,
        "{} literals were stored",
        seen.len()
    );
}

#[test]
fn literals_are_stored_with_the_value_of_the_specification() {
    let phyllo = Phyllo::new();
    let insert =
        |literal: &str| format!("mutation {{ insertDocument(document: {literal}) {{ value }} }}");
    for (literal, value) in [
        (r#""""a \""" b""""#, json!("a \"\"\" b")),
        ("\"\"\"\n    a\n  \n    b\n\"\"\"", json!("a\n\nb")),
        ("[0, 7]", json!([0, 7])),
        ("{a: true b: 2}", json!({"a": true, "b": 2})),
    ] {
        let stored =
            phyllo.answer(&insert(literal), None)["data"]["insertDocument"]["value"].take();
        assert_eq!(stored, value, "{literal}");
    }
    for (literal, message) in [
        ("[01]", "syntax error: the number 0 is followed by \"1\""),
        ("[007]", "syntax error: the number 0 is followed by \"0\""),
        (
            "{a: trueb: 2}",
            "syntax error: expected a name, found \":\"",
        ),
        (
            "{a: 1, a: 2}",
            "There can only be one input field named \"a\"",
        ),
        (r#""\q""#, r"syntax error: invalid escape in a string: \q"),
    ] {
        let refused = phyllo.refuses(&insert(literal)).expect(literal);
        assert_eq!(refused.message, message, "{literal}");
    }
    // One enum value, which is no JSON.
    let response = phyllo.answer(&insert("[true1]"), None);
    let message = response["errors"][0]["message"].as_str().expect("an error");
    assert!(message.contains("an enum value is not JSON"), "{message}");
}

#[test]
fn types_may_contain_white_space_and_comments() {
    let phyllo = Phyllo::new();
    for ty in ["ID !", "ID\n!", "ID # the key\n!", "ID,!"] {
        let query = format!("query Q($i: {ty}) {{ document(id: $i) {{ kind }} }}");
        let refused = phyllo.refuses(&query);
        assert!(refused.is_none(), "{ty:?}: {refused:?}");
    }
    let query = "query Q($i: [ ID! ] !) { nodes(ids: $i) { id } }";
    assert!(phyllo.refuses(query).is_none());
}

#[test]
fn documents_that_break_a_rule_of_the_specification_are_rejected() {
    let phyllo = Phyllo::new();
    for (query, message) in [
        (
            "{ document(id: 1) { __typename { index } } }",
            "Field \"__typename\" must not have a selection since type \"String\" has no subfields",
        ),
        (
            "{ document(id: 1) { __typename(a: 1) } }",
            "Unknown argument \"a\" on field \"__typename\" of type \"Subdocument\".",
        ),
        (
            "query($a: ID! @skip(if: true)) { document(id: $a) { kind } }",
            "Directive \"skip\" may not be used on \"VARIABLE_DEFINITION\"",
        ),
        (
            "query($a: ID! @b) { document(id: $a) { kind } }",
            "Unknown directive \"b\"",
        ),
        (
            "query($a: JSON) { documents(where: {eq: $a, b: 1}) { totalCount } }",
            "Invalid value for argument \"where\", unknown field \"b\" of type \"DocumentFilter\"",
        ),
        (
            "query($a: JSON) { documents(where: {any: [{eq: $a, at: 1, exists: 1}]}) { totalCount } }",
            "Invalid value for argument \"where.any.0.exists\", expected type \"Boolean\"",
        ),
        (
            "{ documents(where: 1) { totalCount } }",
            "Invalid value for argument \"where\", expected type \"DocumentFilter\"",
        ),
        (
            "query($a: DocumentFilter = \"b\") { documents(where: $a) { totalCount } }",
            "Invalid default value for argument: \"a\", expected type \"DocumentFilter\"",
        ),
        (
            "{ aggregate(orderBy: \"KEY\") { groupCount } }",
            "Invalid value for argument \"orderBy\", expected type \"DocumentGroupOrder\"",
        ),
        (
            "{ documents(first: 2147483648) { totalCount } }",
            "Invalid value for argument \"first\", expected type \"Int\"",
        ),
        (
            "{ document(id: 1) { ... { a: length } a: kind } }",
            "Fields \"a\" conflict because \"length\" and \"kind\" are different fields. Use different \
             aliases on the fields to fetch both if this was intentional.",
        ),
        (
            "subscription { document(id: 1) { kind } documents { nodes { key } } }",
            "a subscription has one root field, which is no introspection field",
        ),
    ] {
        let refused = phyllo.refuses(query).expect(query);
        assert_eq!(refused.message, message, "{query}");
        assert_eq!(refused.code, "BAD_USER_INPUT", "{query}");
    }
    for query in [
        "{ node(id: \"a/1\") { ... on Document { ... { a: key } } ... on Subdocument { ... { a: id } } } }",
        "subscription { document(id: 1) { kind } document(id: 1) { length } }",
        "\"a\" query Q(\"b\" $a: ID = 1 ) { document(id: $a) { kind } }",
    ] {
        let refused = phyllo.refuses(query);
        assert!(refused.is_none(), "{query}: {refused:?}");
    }
}
